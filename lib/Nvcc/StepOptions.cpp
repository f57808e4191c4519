#include "Nvcc/StepOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

/// Says how an option takes its value. ptxas, fatbinary and nvlink accept any value after `=` or as
/// the next word; cicc accepts the form that is listed here.
enum class Form { Flag, Value, Joined, Next, File };

struct StepOption {
  llvm::StringLiteral Long, Short; ///< Short may be empty.
  Form Is;
};

} // namespace

// The options of the tools' --help, 13.0 to 13.5, except those that name a file (options-file,
// output-file, input-as-string, time, uidx-file, register-link-binaries, gen-host-linker-script) or
// a place from which code is loaded (nvvmpath, Xnvvm, host-ccbin).
static constexpr StepOption PtxasTable[] = {
    {"--Ofast-compile", "-Ofc", Form::Value},
    {"--allow-expensive-optimizations", "-allow-expensive-optimizations", Form::Value},
    {"--compile-as-tools-patch", "-astoolspatch", Form::Flag},
    {"--compile-only", "-c", Form::Flag},
    {"--compiler-annotations", "-annotate", Form::Flag},
    {"--def-load-cache", "-dlcm", Form::Value},
    {"--def-store-cache", "-dscm", Form::Value},
    {"--device-debug", "-g", Form::Flag},
    {"--device-function-maxrregcount", "-func-maxrregcount", Form::Value},
    {"--device-stack-protector", "-device-stack-protector", Form::Value},
    {"--disable-optimizer-constants", "-disable-optimizer-consts", Form::Flag},
    {"--disable-warnings", "-w", Form::Flag},
    {"--dont-merge-basicblocks", "-no-bb-merge", Form::Flag},
    {"--entry", "-e", Form::Value},
    {"--extensible-whole-program", "-ewp", Form::Flag},
    {"--fmad", "-fmad", Form::Value},
    {"--force-load-cache", "-flcm", Form::Value},
    {"--force-store-cache", "-fscm", Form::Value},
    {"--g-tensor-memory-access-check", "-g-tmem-access-check", Form::Flag},
    {"--generate-line-info", "-lineinfo", Form::Flag},
    {"--gno-tensor-memory-access-check", "-gno-tmem-access-check", Form::Flag},
    {"--gpu-name", "-arch", Form::Value},
    {"--legacy-bar-warp-wide-behavior", "-legacy-bar-warp-wide-behavior", Form::Flag},
    {"--machine", "-m", Form::Value},
    {"--make-errors-visible-at-exit", "-make-errors-visible-at-exit", Form::Flag},
    {"--maxntid", "-maxntid", Form::Value},
    {"--maxrregcount", "-maxrregcount", Form::Value},
    {"--minnctapersm", "-minnctapersm", Form::Value},
    {"--opt-level", "-O", Form::Value},
    {"--optimize-float-atomics", "-opt-fp-atomics", Form::Flag},
    {"--override-directive-values", "-override-directive-values", Form::Flag},
    {"--position-independent-code", "-pic", Form::Value},
    {"--preserve-relocs", "-preserve-relocs", Form::Flag},
    {"--register-usage-level", "-regUsageLevel", Form::Value},
    {"--return-at-end", "-ret-end", Form::Flag},
    {"--sanitize", "-sanitize", Form::Value},
    {"--sp-bounds-check", "-sp-bounds-check", Form::Flag},
    {"--split-compile", "-split-compile", Form::Value},
    {"--suppress-async-bulk-multicast-advisory-warning",
     "-suppress-async-bulk-multicast-advisory-warning", Form::Flag},
    {"--suppress-debug-info", "-suppress-debug-info", Form::Flag},
    {"--suppress-double-demote-warning", "-suppress-double-demote-warning", Form::Flag},
    {"--suppress-sparse-mma-advisory-info", "-suppress-sparse-mma-advisory-info", Form::Flag},
    {"--suppress-stack-size-warning", "-suppress-stack-size-warning", Form::Flag},
    {"--uumn", "-uumn", Form::Flag},
    {"--verbose", "-v", Form::Flag},
    {"--warn-on-double-precision-use", "-warn-double-usage", Form::Flag},
    {"--warn-on-local-memory-usage", "-warn-lmem-usage", Form::Flag},
    {"--warn-on-spills", "-warn-spills", Form::Flag},
    {"--warning-as-error", "-Werror", Form::Flag},
};

static constexpr StepOption FatbinaryTable[] = {
    {"--32", "-32", Form::Flag},
    {"--64", "-64", Form::Flag},
    {"--cicc-cmdline", "", Form::Value},
    {"--cmdline", "-cmdline", Form::Value},
    {"--compress", "-compress", Form::Value},
    {"--compress-all", "-compress-all", Form::Flag},
    {"--compress-mode", "-compress-mode", Form::Value},
    {"--create", "-create", Form::File},
    {"--debug", "-g", Form::Flag},
    {"--device-c", "-c", Form::Flag},
    {"--ident", "-ident", Form::Value},
    {"--image", "-image", Form::File},
    {"--image2", "-image2", Form::File},
    {"--image3", "-image3", Form::File},
    {"--link", "-link", Form::Flag},
    {"--no-asm", "-no-asm", Form::Flag},
    {"--uumn", "-uumn", Form::Flag},
};

static constexpr StepOption NvlinkTable[] = {
    {"--Ofast-compile", "-Ofc", Form::Value},
    {"--arch", "-arch", Form::Value},
    {"--cpu-arch", "-cpu-arch", Form::Value},
    {"--debug", "-g", Form::Flag},
    {"--device-stack-protector", "-device-stack-protector", Form::Flag},
    {"--disable-infos", "-disable-infos", Form::Flag},
    {"--disable-warnings", "-w", Form::Flag},
    {"--dump-callgraph", "-dump-callgraph", Form::Flag},
    {"--dump-callgraph-no-demangle", "-dump-callgraph-no-demangle", Form::Flag},
    {"--extra-warnings", "-extrawarn", Form::Flag},
    {"--ignore-host-info", "-ignore-host-info", Form::Flag},
    {"--keep-system-libraries", "-keep-system-libraries", Form::Flag},
    {"--kernels-used", "-kernels-used", Form::Value},
    // These are archives of device code, which are read like the inputs.
    {"--library", "-l", Form::Value},
    {"--library-path", "-L", Form::Value},
    {"--machine", "-m", Form::Value},
    {"--maxrregcount", "-maxrregcount", Form::Value},
    {"--preserve-relocs", "-preserve-relocs", Form::Flag},
    {"--report-arch", "-report-arch", Form::Flag},
    // nvcc passes it on for a shared library, although nvlink's --help does not name it.
    {"--shared", "-shared", Form::Flag},
    {"--split-compile", "-split-compile", Form::Value},
    {"--split-compile-extended", "-split-compile-extended", Form::Value},
    {"--suppress-arch-warning", "-suppress-arch-warning", Form::Flag},
    {"--suppress-debug-info", "-suppress-debug-info", Form::Flag},
    {"--suppress-stack-size-warning", "-suppress-stack-size-warning", Form::Flag},
    {"--use-host-info", "-use-host-info", Form::Flag},
    {"--variables-used", "-variables-used", Form::Value},
    {"--verbose", "-v", Form::Flag},
    {"--warning-as-error", "-Werror", Form::Flag},
};

// cicc has no help text. These are the options that nvcc 13.0 to 13.5 gives it for nvcc's own
// options, according to dryruns. The table leaves out a user's libdevice (-nvvmir-library), a
// report of times into a file, and included files.
static constexpr StepOption CiccTable[] = {
    {"--Ofast-compile", "", Form::Joined},
    {"--allow_managed", "", Form::Flag},
    {"--brief_diagnostics", "", Form::Flag},
    {"--c++03", "", Form::Flag},
    {"--c++11", "", Form::Flag},
    {"--c++14", "", Form::Flag},
    {"--c++17", "", Form::Flag},
    {"--c++20", "", Form::Flag},
    {"--c++23", "", Form::Flag},
    {"--clang", "", Form::Flag},
    {"--clang_version", "", Form::Joined},
    {"--context_limit", "", Form::Joined},
    {"--debug_mode", "", Form::Flag},
    {"--device-c", "", Form::Flag},
    {"--device-hidden-visibility", "", Form::Flag},
    {"--diag_error", "", Form::Value},
    {"--diag_suppress", "", Form::Value},
    {"--diag_warn", "", Form::Value},
    {"--display_error_number", "", Form::Flag},
    {"--extended-lambda", "", Form::Flag},
    {"--fassociative-math", "", Form::Flag},
    {"--frandom-seed", "", Form::Value},
    {"--gen_c_file_name", "", Form::File},
    {"--gen_device_file_name", "", Form::File},
    {"--gen_div_approx_ftz", "", Form::Flag},
    {"--gen_div_approx_no_ftz", "", Form::Flag},
    {"--global_var", "", Form::Flag},
    {"--gnu_version", "", Form::Joined},
    {"--host-stub-linkage-explicit", "", Form::Flag},
    {"--include_file_name", "", Form::Next},
    {"--keep-device-functions", "", Form::Flag},
    {"--module_id_file_name", "", Form::File},
    {"--no-shadow-functions", "", Form::Flag},
    {"--no-version-ident", "", Form::Flag},
    {"--no_host_device_initializer_list", "", Form::Flag},
    {"--no_host_device_move_forward", "", Form::Flag},
    {"--orig_src_file_name", "", Form::Next},
    {"--orig_src_path_name", "", Form::Next},
    {"--parse_templates", "", Form::Flag},
    {"--pending_instantiations", "", Form::Joined},
    {"--promote_warnings", "", Form::Flag},
    {"--relaxed_constexpr", "", Form::Flag},
    {"--simt-only", "", Form::Flag},
    {"--static-host-stub", "", Form::Flag},
    {"--stub_file_name", "", Form::File},
    {"--unicode_source_kind", "", Form::Joined},
    {"--unsigned_chars", "", Form::Flag},
    {"--unsigned_wchar_t", "", Form::Flag},
    {"--uumn", "", Form::Flag},
    {"--version-ident", "", Form::Flag},
    {"-O0", "", Form::Flag},
    {"-O1", "", Form::Flag},
    {"-O2", "", Form::Flag},
    {"-O3", "", Form::Flag},
    {"-aggressive-inline", "", Form::Flag},
    {"-arch", "", Form::Value},
    {"-cicc-restrict-in-struct", "", Form::Flag},
    {"-disable-inlining", "", Form::Flag},
    {"-extra-device-vectorization", "", Form::Flag},
    {"-fast-math", "", Form::Flag},
    {"-fmad", "", Form::Joined},
    {"-ftz", "", Form::Joined},
    {"-g", "", Form::Flag},
    {"-generate-line-info", "", Form::Flag},
    {"-inline-info", "", Form::Flag},
    {"-jump-table-density", "", Form::Joined},
    {"-kernel-params-are-restrict", "", Form::Flag},
    {"-m64", "", Form::Flag},
    {"-no-lineinfo-inlined-at", "", Form::Flag},
    {"-nvvm-version", "", Form::Joined},
    {"-o", "", Form::File},
    {"-pg", "", Form::Flag},
    {"-prec_div", "", Form::Joined},
    {"-prec_sqrt", "", Form::Joined},
    {"-show-src", "", Form::Flag},
    {"-split-compile", "", Form::Value},
    {"-tused", "", Form::Flag},
    {"-w", "", Form::Flag},
};

bool carve::isFileName(llvm::StringRef Name) {
  constexpr size_t MostBytes = 255;
  return !Name.empty() && Name.size() <= MostBytes && Name != "." && Name != ".." &&
         !Name.starts_with("-") && !Name.starts_with("@") &&
         Name.find_first_of(llvm::StringRef("/\0", 2)) == llvm::StringRef::npos;
}

bool carve::isGpuArchitecture(llvm::StringRef Arch) {
  if (!Arch.consume_front("sm_") || Arch.empty() || Arch.size() > 4)
    return false;
  Arch.consume_back("a") || Arch.consume_back("f");
  return !Arch.empty() && llvm::all_of(Arch, llvm::isDigit);
}

/// Returns true if \p Path is a file directly in \p Dir.
static bool liesIn(llvm::StringRef Path, llvm::StringRef Dir) {
  return !Dir.empty() && Path.consume_front(Dir) && Path.consume_front("/") && isFileName(Path);
}

/// Returns true if \p Word can be a value: no tool takes it for an option or a list of options.
static bool isPlainValue(llvm::StringRef Word) {
  return !Word.starts_with("-") && !Word.starts_with("@") && !Word.contains('\0');
}

namespace {

/// The option that a word matches, and the value inside the word.
struct Matched {
  const StepOption *Option = nullptr;
  std::optional<llvm::StringRef> Value; ///< Inside the word.
};

} // namespace

/// Returns true if \p Word is \p O with its value joined: `-O3`, `-m64`, `-L/cuda/lib`,
/// `-lcudadevrt`. Other options may start with the same letter, so the value must be a number
/// unless \p O names libraries.
static bool isJoinedShort(const StepOption &O, llvm::StringRef Word) {
  if (O.Is != Form::Value || O.Short.size() != 2 || Word.size() == 2 ||
      !Word.consume_front(O.Short))
    return false;
  bool OfLibraries = O.Long == "--library" || O.Long == "--library-path";
  return OfLibraries ? Word != "to" /* -lto */ : llvm::all_of(Word, llvm::isDigit);
}

static Matched match(llvm::ArrayRef<StepOption> Table, llvm::StringRef Word) {
  auto [Name, Value] = Word.split('=');
  bool HasValue = Name.size() != Word.size();
  for (const StepOption &O : Table) {
    if (!Name.empty() && (Name == O.Long || Name == O.Short))
      return {&O, HasValue ? std::optional(Value) : std::nullopt};
    if (isJoinedShort(O, Word))
      return {&O, Word.drop_front(O.Short.size())};
  }
  return {};
}

namespace {

/// Checks the words of one tool.
class WordCheck {
public:
  WordCheck(llvm::ArrayRef<StepOption> Table, llvm::ArrayRef<std::string> Words)
      : Table(Table), Words(Words) {}

  /// \p IsFile says whether an option may name a file with this value. \p IsInput says whether a
  /// word that is not an option may appear.
  std::optional<size_t>
  refused(llvm::function_ref<bool(const StepOption &, llvm::StringRef)> IsFile,
          llvm::function_ref<bool(llvm::StringRef)> IsInput) const {
    for (size_t I = 0; I < Words.size(); ++I) {
      Matched M = match(Table, Words[I]);
      if (!M.Option) {
        if (IsInput(Words[I]))
          continue;
        return I;
      }
      const StepOption &O = *M.Option;
      if (O.Is == Form::Flag || O.Is == Form::Joined || (O.Is == Form::Next && M.Value)) {
        if (M.Value.has_value() == (O.Is == Form::Joined))
          continue;
        return I;
      }
      size_t At = I;
      if (!M.Value && ++I == Words.size())
        return At;
      llvm::StringRef Value = M.Value ? *M.Value : llvm::StringRef(Words[I]);
      bool Fits = O.Is == Form::File ? IsFile(O, Value) : M.Value || isPlainValue(Value);
      if (!Fits)
        return At;
    }
    return std::nullopt;
  }

private:
  llvm::ArrayRef<StepOption> Table;
  llvm::ArrayRef<std::string> Words;
};

} // namespace

static bool noFile(const StepOption &, llvm::StringRef) { return false; }
static bool noInput(llvm::StringRef) { return false; }

std::optional<size_t> carve::refusedPtxasOption(llvm::ArrayRef<std::string> Words) {
  return WordCheck(PtxasTable, Words).refused(noFile, noInput);
}

std::optional<size_t> carve::refusedNvlinkOption(llvm::ArrayRef<std::string> Words) {
  return WordCheck(NvlinkTable, Words).refused(noFile, noInput);
}

std::optional<size_t> carve::refusedFatbinaryOption(llvm::ArrayRef<std::string> Words,
                                                    llvm::StringRef KeepDir) {
  auto IsFile = [&](const StepOption &O, llvm::StringRef Value) {
    // The form is `kind=elf,sm=90,file=/keep/k.cubin`. The file is the last field, whatever its
    // name contains.
    return liesIn(O.Long == "--create" ? Value : Value.split(",file=").second, KeepDir);
  };
  return WordCheck(FatbinaryTable, Words).refused(IsFile, noInput);
}

std::optional<size_t> carve::refusedFrontEndArgument(const FrontEndStep &Step) {
  auto IsFile = [&](const StepOption &O, llvm::StringRef Value) {
    if (O.Long == "-o" || O.Long == "--module_id_file_name")
      return Value == Step.KeepDir + "/" + (O.Long == "-o" ? Step.PtxName : Step.ModuleIdName);
    return liesIn(Value, Step.KeepDir);
  };
  auto IsInput = [&](llvm::StringRef Word) { return Word == Step.KeepDir + "/" + Step.InputName; };
  return WordCheck(CiccTable, Step.Arguments).refused(IsFile, IsInput);
}
