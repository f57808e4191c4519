#include "Nvcc/OptionTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace carve {

// The options of nvcc 13.0.88. test/Inputs/nvcc lists the undocumented ones, too. A test with the
// real nvcc checks that nvcc knows every spelling here and takes values as the table says.
// clang-format off
static constexpr OptionInfo Table[] = {
    {"--Ofast-compile", "-Ofc", Arity::Optional, Join::No, Effect::None, ""},
    {"--Wdefault-stream-launch", "-Wdefault-stream-launch", Arity::Flag, Join::No, Effect::None, ""},
    {"--Werror", "-Werror", Arity::List, Join::No, Effect::None, ""},
    {"--Wext-lambda-captures-this", "-Wext-lambda-captures-this", Arity::Flag, Join::No, Effect::None, ""},
    {"--Wmissing-launch-bounds", "-Wmissing-launch-bounds", Arity::Flag, Join::No, Effect::None, ""},
    {"--Wno-deprecated-declarations", "-Wno-deprecated-declarations", Arity::Flag, Join::No, Effect::None, ""},
    {"--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", Arity::Flag, Join::No, Effect::None, ""},
    {"--Wreorder", "-Wreorder", Arity::Flag, Join::No, Effect::None, ""},
    {"--aggressive-inline", "-aggressive-inline", Arity::Flag, Join::No, Effect::None, ""},
    {"--all-prefix", "", Arity::Value, Join::No, Effect::TooHard, "tool-prefix"},
    {"--allow-unsupported-compiler", "-allow-unsupported-compiler", Arity::Flag, Join::No, Effect::None, ""},
    {"--archive-options", "-Xarchive", Arity::List, Join::No, Effect::None, ""},
    {"--archiver-binary", "-arbin", Arity::Value, Join::No, Effect::None, ""},
    {"--augment-host-linker-script", "-aug-hls", Arity::Flag, Join::No, Effect::TooHard, "host-linker-script"},
    {"--brief-diagnostics", "-brief-diag", Arity::Value, Join::No, Effect::None, ""},
    {"--cicc-options", "-Xcicc", Arity::List, Join::No, Effect::Opaque, ""},
    {"--cicc-prefix", "", Arity::Value, Join::No, Effect::TooHard, "tool-prefix"},
    {"--cl-version", "", Arity::Value, Join::No, Effect::None, ""},
    {"--clean-targets", "-clean", Arity::Flag, Join::No, Effect::Phase, "clean"},
    {"--compile", "-c", Arity::Flag, Join::No, Effect::Phase, ""},
    {"--compile-as-tools-patch", "-astoolspatch", Arity::Flag, Join::No, Effect::TooHard, "tools-patch"},
    {"--compiler-bindir", "-ccbin", Arity::Value, Join::No, Effect::None, ""},
    {"--compiler-options", "-Xcompiler", Arity::List, Join::No, Effect::ToolOptions, ""},
    {"--compress-mode", "-compress-mode", Arity::Value, Join::No, Effect::None, ""},
    {"--cpp-prefix", "", Arity::Value, Join::No, Effect::TooHard, "tool-prefix"},
    {"--cubin", "-cubin", Arity::Flag, Join::No, Effect::Phase, "device-image-output"},
    {"--cuda", "-cuda", Arity::Flag, Join::No, Effect::Phase, "front-end-output"},
    {"--cuda-api-version", "-cuda-api-version", Arity::Value, Join::No, Effect::None, ""},
    {"--cudadevrt", "-cudadevrt", Arity::Value, Join::No, Effect::None, ""},
    {"--cudafe-options", "-Xcudafe", Arity::List, Join::No, Effect::Opaque, ""},
    {"--cudafe-prefix", "", Arity::Value, Join::No, Effect::TooHard, "tool-prefix"},
    {"--cudart", "-cudart", Arity::Value, Join::No, Effect::None, ""},
    {"--dD", "-dD", Arity::Flag, Join::No, Effect::TooHard, "undocumented"},
    {"--debug", "-g", Arity::Flag, Join::No, Effect::None, ""},
    {"--default-stream", "-default-stream", Arity::Value, Join::No, Effect::None, ""},
    {"--define-macro", "-D", Arity::List, Join::Text, Effect::None, ""},
    {"--dependency-drive-prefix", "-ddp", Arity::Value, Join::No, Effect::None, ""},
    {"--dependency-output", "-MF", Arity::Value, Join::No, Effect::Dependency, ""},
    {"--dependency-target-name", "-MT", Arity::Value, Join::No, Effect::Dependency, ""},
    {"--device-c", "-dc", Arity::Flag, Join::No, Effect::Phase, ""},
    {"--device-compilation", "", Arity::Value, Join::No, Effect::None, ""},
    {"--device-debug", "-G", Arity::Flag, Join::No, Effect::TooHard, "device-debug"},
    {"--device-entity-has-hidden-visibility", "-device-entity-has-hidden-visibility", Arity::Value, Join::No, Effect::None, ""},
    {"--device-link", "-dlink", Arity::Flag, Join::No, Effect::Phase, "device-link"},
    {"--device-stack-protector", "-device-stack-protector", Arity::Value, Join::No, Effect::None, ""},
    {"--device-w", "-dw", Arity::Flag, Join::No, Effect::Phase, ""},
    {"--diag-error", "-diag-error", Arity::List, Join::No, Effect::None, ""},
    {"--diag-suppress", "-diag-suppress", Arity::List, Join::No, Effect::None, ""},
    {"--diag-warn", "-diag-warn", Arity::List, Join::No, Effect::None, ""},
    {"--disable-warnings", "-w", Arity::Flag, Join::No, Effect::None, ""},
    {"--display-error-number", "-err-no", Arity::Flag, Join::No, Effect::None, ""},
    {"--dlink-time-opt", "-dlto", Arity::Flag, Join::No, Effect::TooHard, "device-lto"},
    {"--dont-use-profile", "-noprof", Arity::Flag, Join::No, Effect::None, ""},
    {"--dopt", "-dopt", Arity::Value, Join::No, Effect::None, ""},
    {"--drive-prefix", "-dp", Arity::Value, Join::No, Effect::None, ""},
    {"--dryrun", "-dryrun", Arity::Flag, Join::No, Effect::Phase, "dryrun"},
    {"--entries", "-e", Arity::List, Join::No, Effect::TooHard, "entries"},
    {"--export-dir", "-dir", Arity::Value, Join::No, Effect::TooHard, "code-repository"},
    {"--expt-extended-lambda", "-expt-extended-lambda", Arity::Flag, Join::No, Effect::None, ""},
    {"--expt-relaxed-constexpr", "-expt-relaxed-constexpr", Arity::Flag, Join::No, Effect::None, ""},
    {"--extended-lambda", "-extended-lambda", Arity::Flag, Join::No, Effect::None, ""},
    {"--extensible-whole-program", "-ewp", Arity::Flag, Join::No, Effect::TooHard, "extensible-whole-program"},
    {"--extern-mode", "-ext", Arity::Value, Join::No, Effect::TooHard, "code-repository"},
    {"--extra-device-vectorization", "-extra-device-vectorization", Arity::Flag, Join::No, Effect::None, ""},
    {"--fassociative-math", "-fassociative-math", Arity::Flag, Join::No, Effect::None, ""},
    {"--fatbin", "-fatbin", Arity::Flag, Join::No, Effect::Phase, "device-image-output"},
    {"--fatbin-options", "-Xfatbin", Arity::List, Join::No, Effect::Opaque, ""},
    {"--fdevice-syntax-only", "-fdevice-syntax-only", Arity::Flag, Join::No, Effect::TooHard, "syntax-only"},
    {"--fdevice-time-trace", "-fdevice-time-trace", Arity::Value, Join::No, Effect::TooHard, "time"},
    {"--fmad", "-fmad", Arity::Value, Join::No, Effect::None, ""},
    {"--force-cl-env-setup", "-force-cl-env-setup", Arity::Flag, Join::No, Effect::None, ""},
    {"--forward-unknown-opts", "-forward-unknown-opts", Arity::Flag, Join::No, Effect::ForwardUnknown, ""},
    {"--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", Arity::Flag, Join::No, Effect::ForwardUnknown, ""},
    {"--forward-unknown-to-host-linker", "-forward-unknown-to-host-linker", Arity::Flag, Join::No, Effect::ForwardUnknown, ""},
    {"--frandom-seed", "-frandom-seed", Arity::Value, Join::No, Effect::None, ""},
    {"--ftemplate-backtrace-limit", "-ftemplate-backtrace-limit", Arity::Value, Join::No, Effect::None, ""},
    {"--ftemplate-depth", "-ftemplate-depth", Arity::Value, Join::No, Effect::None, ""},
    {"--ftz", "-ftz", Arity::Value, Join::No, Effect::None, ""},
    {"--gen-opt-lto", "-gen-opt-lto", Arity::Flag, Join::No, Effect::TooHard, "device-lto"},
    {"--generate-code", "-gencode", Arity::List, Join::No, Effect::Target, ""},
    {"--generate-dependencies", "-M", Arity::Flag, Join::No, Effect::Phase, "dependencies-only"},
    {"--generate-dependencies-with-compile", "-MD", Arity::Flag, Join::No, Effect::Dependency, ""},
    {"--generate-dependency-targets", "-MP", Arity::Flag, Join::No, Effect::Dependency, ""},
    {"--generate-line-info", "-lineinfo", Arity::Flag, Join::No, Effect::None, ""},
    {"--generate-nonsystem-dependencies", "-MM", Arity::Flag, Join::No, Effect::Phase, "dependencies-only"},
    {"--generate-nonsystem-dependencies-with-compile", "-MMD", Arity::Flag, Join::No, Effect::Dependency, ""},
    {"--global_var", "-global_var", Arity::Flag, Join::No, Effect::TooHard, "undocumented"},
    {"--gpu-architecture", "-arch", Arity::Value, Join::No, Effect::Target, ""},
    {"--gpu-code", "-code", Arity::List, Join::No, Effect::Target, ""},
    {"--help", "-h", Arity::Flag, Join::No, Effect::Phase, "information"},
    {"--host-linker-script", "-hls", Arity::Optional, Join::No, Effect::TooHard, "host-linker-script"},
    {"--host-relocatable-link", "-host-r", Arity::Flag, Join::No, Effect::TooHard, "relocatable-link"},
    {"--include-path", "-I", Arity::List, Join::Text, Effect::None, ""},
    {"--input-drive-prefix", "-idp", Arity::Value, Join::No, Effect::None, ""},
    {"--intern-mode", "-int", Arity::Value, Join::No, Effect::TooHard, "code-repository"},
    {"--jobserver", "-jobserver", Arity::Flag, Join::No, Effect::None, ""},
    {"--jump-table-density", "-jtd", Arity::Value, Join::No, Effect::None, ""},
    {"--keep", "-keep", Arity::Flag, Join::No, Effect::TooHard, "keep"},
    {"--keep-device-functions", "-keep-device-functions", Arity::Flag, Join::No, Effect::None, ""},
    {"--keep-dir", "-keep-dir", Arity::Value, Join::No, Effect::TooHard, "keep"},
    {"--legacy-launch-seq", "-legacy-launch-seq", Arity::Flag, Join::No, Effect::None, ""},
    {"--lib", "-lib", Arity::Flag, Join::No, Effect::Phase, "library-output"},
    {"--libdevice-directory", "-ldir", Arity::Value, Join::No, Effect::Opaque, ""},
    {"--library", "-l", Arity::List, Join::Text, Effect::None, ""},
    {"--library-path", "-L", Arity::List, Join::Text, Effect::None, ""},
    {"--link", "-link", Arity::Flag, Join::No, Effect::Phase, ""},
    {"--linker-options", "-Xlinker", Arity::List, Join::No, Effect::None, ""},
    {"--list-gpu-arch", "-arch-ls", Arity::Flag, Join::No, Effect::Phase, "information"},
    {"--list-gpu-code", "-code-ls", Arity::Flag, Join::No, Effect::Phase, "information"},
    {"--lto", "-lto", Arity::Flag, Join::No, Effect::TooHard, "device-lto"},
    {"--ltoir", "-ltoir", Arity::Flag, Join::No, Effect::Phase, "front-end-output"},
    {"--m64", "-m64", Arity::Flag, Join::No, Effect::None, ""},
    {"--machine", "-m", Arity::Value, Join::No, Effect::None, ""},
    {"--maxrregcount", "-maxrregcount", Arity::Value, Join::No, Effect::RegisterCap, ""},
    {"--no-align-double", "--no-align-double", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-compress", "-no-compress", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-device-inline", "-nodinline", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-device-link", "-nodlink", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-display-error-number", "-no-err-no", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-exceptions", "-noeh", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-host-device-initializer-list", "-nohdinitlist", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-host-device-move-forward", "-nohdmoveforward", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-libdevice", "-no-libdevice", Arity::Value, Join::No, Effect::None, ""},
    {"--no-lineinfo-inlined-at", "-no-lineinfo-ia", Arity::Flag, Join::No, Effect::None, ""},
    {"--no-shadow-functions", "-no-shadow-functions", Arity::Flag, Join::No, Effect::None, ""},
    {"--nvasm-loopback", "-nvasm-loopback", Arity::Flag, Join::No, Effect::TooHard, "undocumented"},
    {"--nvasm-options", "-Xnvasm", Arity::List, Join::No, Effect::TooHard, "undocumented"},
    {"--nvdisasm-options", "-Xnvdisasm", Arity::List, Join::No, Effect::TooHard, "undocumented"},
    {"--nvlink-options", "-Xnvlink", Arity::List, Join::No, Effect::None, ""},
    {"--nvlink-prefix", "", Arity::Value, Join::No, Effect::TooHard, "tool-prefix"},
    {"--nvvm-version", "-nvvm-version", Arity::Value, Join::No, Effect::None, ""},
    {"--objdir-as-tempdir", "-objtemp", Arity::Flag, Join::No, Effect::TooHard, "objdir"},
    {"--optimization-info", "-opt-info", Arity::List, Join::No, Effect::None, ""},
    {"--optimize", "-O", Arity::Value, Join::Number, Effect::None, ""},
    {"--options-file", "-optf", Arity::List, Join::No, Effect::OptionsFile, ""},
    {"--optix-ir", "-optix-ir", Arity::Flag, Join::No, Effect::Phase, "front-end-output"},
    {"--output-directory", "-odir", Arity::Value, Join::No, Effect::TooHard, "output-directory"},
    {"--output-file", "-o", Arity::Value, Join::No, Effect::Output, ""},
    {"--pre-include", "-include", Arity::List, Join::No, Effect::None, ""},
    {"--prec-div", "-prec-div", Arity::Value, Join::No, Effect::None, ""},
    {"--prec-sqrt", "-prec-sqrt", Arity::Value, Join::No, Effect::None, ""},
    {"--preprocess", "-E", Arity::Flag, Join::No, Effect::Phase, "preprocess"},
    {"--profile", "-pg", Arity::Flag, Join::No, Effect::None, ""},
    {"--ptx", "-ptx", Arity::Flag, Join::No, Effect::Phase, "device-image-output"},
    {"--ptxas-options", "-Xptxas", Arity::List, Join::No, Effect::ToolOptions, ""},
    {"--ptxas-prefix", "", Arity::Value, Join::No, Effect::TooHard, "tool-prefix"},
    {"--qpp-config", "-qpp-config", Arity::Value, Join::No, Effect::Opaque, ""},
    {"--relaxed-constexpr", "-relaxed-constexpr", Arity::Flag, Join::No, Effect::None, ""},
    {"--relocatable-device-code", "-rdc", Arity::Value, Join::No, Effect::Relocatable, ""},
    {"--relocatable-link", "-r", Arity::Flag, Join::No, Effect::TooHard, "relocatable-link"},
    {"--relocatable-ptx", "-reloc-ptx", Arity::Flag, Join::No, Effect::TooHard, "relocatable-ptx"},
    {"--resource-usage", "-res-usage", Arity::Flag, Join::No, Effect::None, ""},
    {"--restrict", "-restrict", Arity::Flag, Join::No, Effect::None, ""},
    {"--restrict-in-struct", "-restrict-in-struct", Arity::Flag, Join::No, Effect::None, ""},
    {"--run", "-run", Arity::Flag, Join::No, Effect::Phase, "run"},
    {"--run-args", "-run-args", Arity::List, Join::No, Effect::TooHard, "run"},
    {"--sanitize", "-sanitize", Arity::Value, Join::No, Effect::TooHard, "sanitize"},
    {"--save-temps", "-save-temps", Arity::Flag, Join::No, Effect::TooHard, "keep"},
    {"--shared", "-shared", Arity::Flag, Join::No, Effect::Phase, ""},
    {"--source-in-ptx", "-src-in-ptx", Arity::Flag, Join::No, Effect::None, ""},
    {"--split-compile", "-split-compile", Arity::Value, Join::No, Effect::None, ""},
    {"--split-compile-extended", "-split-compile-extended", Arity::Value, Join::No, Effect::None, ""},
    {"--static-global-template-stub", "-static-global-template-stub", Arity::Value, Join::No, Effect::None, ""},
    {"--std", "-std", Arity::Value, Join::No, Effect::None, ""},
    {"--system-include", "-isystem", Arity::List, Join::No, Effect::None, ""},
    {"--target-directory", "-target-dir", Arity::Value, Join::No, Effect::None, ""},
    {"--tdump", "-tdump", Arity::Flag, Join::No, Effect::TooHard, "undocumented"},
    {"--threads", "-t", Arity::Value, Join::Number, Effect::None, ""},
    {"--time", "-time", Arity::Value, Join::No, Effect::TooHard, "time"},
    {"--tool-name", "-tool-name", Arity::Value, Join::No, Effect::TooHard, "undocumented"},
    {"--undefine-macro", "-U", Arity::List, Join::Text, Effect::None, ""},
    {"--use-cubin", "-use-cubin", Arity::List, Join::No, Effect::TooHard, "code-repository"},
    {"--use-local-env", "-use-local-env", Arity::Flag, Join::No, Effect::None, ""},
    {"--use_fast_math", "-use_fast_math", Arity::Flag, Join::No, Effect::None, ""},
    {"--uumn", "-uumn", Arity::Flag, Join::No, Effect::TooHard, "undocumented"},
    {"--verbose", "-v", Arity::Flag, Join::No, Effect::TooHard, "verbose"},
    {"--version", "-V", Arity::Flag, Join::No, Effect::Phase, "information"},
    {"--version-ident", "-dQ", Arity::Value, Join::No, Effect::None, ""},
    {"--x", "-x", Arity::Value, Join::No, Effect::Language, ""},
};
// clang-format on

ArrayRef<OptionInfo> optionTable() { return Table; }

static const OptionInfo *findExact(StringRef Name) {
  const OptionInfo *ByLong =
      lower_bound(Table, Name, [](const OptionInfo &O, StringRef N) { return O.Long < N; });
  if (ByLong != std::end(Table) && ByLong->Long == Name)
    return ByLong;
  const OptionInfo *ByShort = find_if(Table, [&](const OptionInfo &O) { return O.Short == Name; });
  return ByShort == std::end(Table) ? nullptr : ByShort;
}

static bool joins(const OptionInfo &Option, StringRef Arg) {
  if (Option.Joins == Join::No || !Arg.consume_front(Option.Short) || Arg.empty())
    return false;
  return Option.Joins == Join::Text || all_of(Arg, isDigit);
}

const OptionInfo *findOption(StringRef Arg) {
  if (Arg.size() < 2 || Arg[0] != '-')
    return nullptr;
  // An exact name precedes a joined value: `-lineinfo` is not the library `ineinfo`.
  auto [Name, Value] = Arg.split('=');
  if (const OptionInfo *Option = findExact(Name)) {
    bool HasValue = Name.size() != Arg.size();
    // nvcc refuses `-c=true`.
    return HasValue && Option->Values == Arity::Flag ? nullptr : Option;
  }
  const OptionInfo *Joined = find_if(Table, [&](const OptionInfo &O) { return joins(O, Arg); });
  return Joined == std::end(Table) ? nullptr : Joined;
}

std::optional<StringRef> attachedValue(const OptionInfo &Option, StringRef Arg) {
  auto [Name, Value] = Arg.split('=');
  if (Name == Option.Long || Name == Option.Short)
    return Name.size() == Arg.size() ? std::nullopt : std::optional(Value);
  return Arg.substr(Option.Short.size());
}

} // namespace carve
