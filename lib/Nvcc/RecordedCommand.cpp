#include "Nvcc/RecordedCommand.h"

#include "Nvcc/ArgumentList.h"
#include "Nvcc/StepOptions.h"
#include "Nvcc/ToolArguments.h"
#include "Support/Error.h"
#include "Support/RegularFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace carve {

// Harmless options by their long names. An option that is missing here names a program
// (--compiler-bindir is checked below), a file to be written, or a place from which code or
// settings are loaded, or it is not known to be harmless.
static constexpr StringLiteral Harmless[] = {
    "--Ofast-compile",
    "--Wdefault-stream-launch",
    "--Werror",
    "--Wext-lambda-captures-this",
    "--Wmissing-launch-bounds",
    "--Wno-deprecated-declarations",
    "--Wno-deprecated-gpu-targets",
    "--Wreorder",
    "--aggressive-inline",
    "--allow-unsupported-compiler",
    "--brief-diagnostics",
    "--compile",
    "--compress-mode",
    "--cudadevrt",
    "--cudart",
    "--debug",
    "--default-stream",
    "--define-macro",
    "--device-c",
    "--device-entity-has-hidden-visibility",
    "--device-stack-protector",
    "--device-w",
    "--diag-error",
    "--diag-suppress",
    "--diag-warn",
    "--disable-warnings",
    "--display-error-number",
    "--dopt",
    "--expt-extended-lambda",
    "--expt-relaxed-constexpr",
    "--extended-lambda",
    "--extra-device-vectorization",
    "--fassociative-math",
    "--fmad",
    "--forward-unknown-opts",
    "--forward-unknown-to-host-compiler",
    "--forward-unknown-to-host-linker",
    "--frandom-seed",
    "--ftemplate-backtrace-limit",
    "--ftemplate-depth",
    "--ftz",
    "--generate-code",
    "--generate-line-info",
    "--gpu-architecture",
    "--gpu-code",
    "--include-path",
    "--jump-table-density",
    "--keep-device-functions",
    "--legacy-launch-seq",
    "--library",
    "--library-path",
    "--link",
    "--linker-options", // The repeated commands only compile.
    "--m64",
    "--machine",
    "--maxrregcount",
    "--no-compress",
    "--no-device-inline",
    "--no-display-error-number",
    "--no-exceptions",
    "--no-host-device-initializer-list",
    "--no-host-device-move-forward",
    "--no-lineinfo-inlined-at",
    "--no-shadow-functions",
    "--nvlink-options",
    "--optimization-info",
    "--optimize",
    "--output-file", // The output is replaced.
    "--pre-include",
    "--prec-div",
    "--prec-sqrt",
    "--profile",
    "--relaxed-constexpr",
    "--relocatable-device-code",
    "--resource-usage",
    "--restrict",
    "--restrict-in-struct",
    "--shared",
    "--source-in-ptx",
    "--split-compile",
    "--split-compile-extended",
    "--static-global-template-stub",
    "--std",
    "--system-include",
    "--threads",
    "--undefine-macro",
    "--use_fast_math",
    "--version-ident",
    "--x",
};

/// Returns true if host compilers use \p Name, possibly with a target before it and a version after
/// it.
static bool isCompilerName(StringRef Name) {
  Name = Name.rtrim("0123456789.");
  Name.consume_back("-");
  size_t Target = Name.rfind('-');
  if (Target != StringRef::npos)
    Name = Name.drop_front(Target + 1);
  static constexpr StringLiteral Names[] = {"g++",  "gcc",   "c++",  "cc",    "clang++",
                                            "icpx", "icx",   "icpc", "clang", "icc",
                                            "nvc",  "nvc++", "CC",   "xlC",   "armclang++"};
  return is_contained(Names, Name);
}

/// Returns true if the host compiler \p Path, a program or its directory, may be run because a
/// record names it. It must be a compiler that only this user or root can have put there.
static bool mayBeHostCompiler(StringRef Path) {
  struct stat Status;
  // A name in PATH is accepted. A relative path would be chosen by the record.
  if (!sys::path::is_absolute(Path))
    return !Path.contains('/') && isCompilerName(Path);
  if (::stat(Path.str().c_str(), &Status) != 0 || !whyNotOurs(Status, Path).empty())
    return false;
  return S_ISDIR(Status.st_mode) || isCompilerName(sys::path::filename(Path));
}

/// Returns true if \p Word does no more than change how a host compiler compiles.
static bool isHarmlessHostWord(StringRef Word) {
  static constexpr StringLiteral Whole[] = {
      "-pthread", "-pipe",     "-pedantic", "-pedantic-errors", "-ansi",
      "-w",       "-rdynamic", "-shared",   "-static",          "-static-libgcc"};
  static constexpr StringLiteral Starts[] = {"-D", "-I", "-U",    "-O", "-W",
                                             "-g", "-m", "-std=", "-l", "-L"};
  // These load plugins, write profiles and reports, run other programs, or read or write files.
  static constexpr StringLiteral Never[] = {
      "-Wa,",          "-Wp,",           "-fplugin",
      "-fpass-plugin", "-fprofile",      "-fauto-profile",
      "-fdump",        "-fuse-ld",       "-fcallgraph",
      "-fmodule",      "-fstack-usage",  "-ftest",
      "-fsave",        "-fcoverage",     "-foffload",
      "-flto",         "-fexec-charset", "-fdiagnostics-format",
      "-mllvm",        "-fcompare"};
  if (is_contained(Whole, Word))
    return true;
  if (any_of(Never, [&](StringRef Start) { return Word.starts_with(Start); }))
    return false;
  if (Word.starts_with("-f"))
    return !Word.contains('/') || Word.contains("-prefix-map=");
  return any_of(Starts, [&](StringRef Start) { return Word.starts_with(Start); });
}

/// Returns true if a record may contain \p A: the words that it passes to a tool and the program
/// that it names are harmless.
static bool isHarmless(const Argument &A) {
  if (A.Is == Argument::Kind::Input)
    return true;
  if (A.Is == Argument::Kind::Unknown) // An unknown word is forwarded to the host compiler.
    return isHarmlessHostWord(A.Value);
  StringRef Name = A.Option->Long;
  if (Name == "--compiler-bindir")
    return mayBeHostCompiler(A.Value);
  if (Name == "--compiler-options")
    return all_of(hostCompilerWords(A.Value), isHarmlessHostWord);
  if (isPtxasOptions(A))
    return !refusedPtxasOption(ptxasWords(A));
  if (Name == "--cicc-options" || Name == "--cudafe-options") {
    FrontEndStep Step;
    Step.Arguments = splitList(A.Value);
    return !refusedFrontEndArgument(Step);
  }
  if (Name == "--fatbin-options")
    return !refusedFatbinaryOption(splitList(A.Value), "");
  // Dependency options are accepted because no depfile is written.
  return A.is(Effect::Dependency) || is_contained(Harmless, Name);
}

Expected<CommandLine> parseRecordedCommand(ArrayRef<std::string> Words, StringRef Directory) {
  NvccEnvironment Env;
  Env.WorkDir = Directory.str();
  Expected<CommandLine> Line = parseCommandLine(Words, Env);
  if (!Line)
    return Line;
  for (const Argument &A : splitArguments(Line->AllWords))
    if (!isHarmless(A))
      return unsupported("recorded-command", "'" + join(A.Words, " ") +
                                                 "' is not taken from a record: compile and tune "
                                                 "in one command instead");
  return parseCommandLine(Line->AllWords, Env);
}

} // namespace carve
