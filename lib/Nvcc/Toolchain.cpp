#include "Nvcc/Toolchain.h"

#include "Nvcc/BuildPlan.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace carve {

/// Returns \p Path with its links resolved; empty if nothing exists there.
static std::string realPath(const Twine &Path) {
  SmallString<128> Real;
  return sys::fs::real_path(Path, Real) ? "" : Real.str().str();
}

/// Returns the toolchain whose nvcc is \p Path; nothing if that is not a program, or is one of \p
/// Drivers.
static std::optional<Toolchain> toolchainAt(StringRef Path, ArrayRef<StringRef> Drivers) {
  std::string Real = realPath(Path);
  if (Real.empty() || is_contained(Drivers, StringRef(Real)) || !sys::fs::can_execute(Real) ||
      sys::fs::is_directory(Real))
    return std::nullopt;
  SmallString<128> Absolute(Path);
  if (sys::fs::make_absolute(Absolute))
    return std::nullopt;
  return Toolchain{Absolute.str().str(), sys::path::parent_path(Absolute).str()};
}

/// Returns true if \p File, the real program behind an nvcc in PATH, is an nvcc. A link to ccache
/// is a compiler cache, which would look for the next nvcc in PATH and does nothing under its own
/// name.
static bool isNamedNvcc(StringRef File) {
  StringRef Name = sys::path::filename(File);
  return Name.consume_front("nvcc") && (Name.empty() || !isAlpha(Name.front()));
}

/// Returns the nvcc candidates of \p Env in their order, without `CARVE_NVCC`.
static std::vector<std::string> candidates(GetEnv Env) {
  std::vector<std::string> Paths;
  std::string Path = Env("PATH").value_or("");
  SmallVector<StringRef> Dirs;
  StringRef(Path).split(Dirs, ':');
  for (StringRef Dir : Dirs)
    // nvcc, which looks for itself in PATH, drops the same slashes.
    Paths.push_back(((Dir.empty() ? "." : Dir.rtrim('/')) + "/nvcc").str());
  for (StringRef Name : {"CUDA_PATH", "CUDA_HOME"})
    if (std::optional<std::string> Root = Env(Name); Root && !Root->empty())
      Paths.push_back(*Root + "/bin/nvcc");
  Paths.push_back("/usr/local/cuda/bin/nvcc");
  return Paths;
}

Expected<Toolchain> findToolchain(GetEnv Env, StringRef OwnPath) {
  // Otherwise two copies of us called nvcc would find each other for ever.
  std::string Callers = Env(CallersVariable).value_or("");
  SmallVector<StringRef> Drivers;
  StringRef(Callers).split(Drivers, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  Drivers.push_back(OwnPath);
  if (std::optional<std::string> Given = Env("CARVE_NVCC"); Given && !Given->empty()) {
    if (std::optional<Toolchain> T = toolchainAt(*Given, Drivers))
      return *T;
    return usageError("CARVE_NVCC is '" + *Given + "', expected the path of nvcc");
  }
  std::vector<std::string> Paths = candidates(Env);
  for (const std::string &Path : Paths)
    if (std::optional<Toolchain> T = toolchainAt(Path, Drivers); T && isNamedNvcc(realPath(Path)))
      return *T;
  return usageError("no nvcc found; looked for CARVE_NVCC, " + join(Paths, ", "));
}

bool isScript(StringRef Path) {
  auto Start = MemoryBuffer::getFileSlice(Path, /*MapSize=*/2, /*Offset=*/0);
  return Start && (*Start)->getBuffer() == "#!";
}

std::string callersBehind(GetEnv Env, StringRef OwnPath, const Toolchain &T) {
  std::string Callers = Env(CallersVariable).value_or("");
  Callers += (":" + OwnPath).str();
  if (isScript(T.Nvcc))
    Callers += ":" + realPath(T.Nvcc);
  return Callers;
}

static bool isProgram(const Twine &Path) {
  return sys::fs::can_execute(Path) && !sys::fs::is_directory(Path);
}

std::string Toolchain::tool(StringRef Name) const {
  for (StringRef Dir : ToolDirs)
    if (isProgram(Dir + "/" + Name))
      return (Dir + "/" + Name).str();
  return BinDir + "/" + Name.str();
}

/// Returns \p Dir as an absolute path, because nvcc runs its tools in our own directory.
static std::string absoluteDir(StringRef Dir) {
  SmallString<128> Path(Dir);
  return sys::fs::make_absolute(Path) ? Dir.str() : Path.str().str();
}

void takeToolDirs(Toolchain &T, ArrayRef<std::string> Variables) {
  StringRef Here, Path;
  // nvcc sets some variables twice; the last value applies.
  for (StringRef Variable : Variables) {
    auto [Name, Value] = Variable.split('=');
    if (Name == "_HERE_")
      Here = Value;
    if (Name == "PATH")
      Path = Value;
  }
  if (Here.empty())
    return;
  T.BinDir = absoluteDir(Here);
  T.ToolDirs.clear();
  // Without a profile nvcc leaves PATH unchanged, and PATH need not hold the tools.
  SmallVector<StringRef> Dirs;
  Path.split(Dirs, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef Dir : Dirs)
    T.ToolDirs.push_back(absoluteDir(Dir));
}

bool hasToolsBeside(const Toolchain &T) {
  StringRef Dir = sys::path::parent_path(T.Nvcc);
  // A script may call an nvcc elsewhere although other tools are beside it.
  return !isScript(T.Nvcc) && sys::fs::exists(Dir + "/nvcc.profile") && isProgram(Dir + "/ptxas") &&
         isProgram(Dir + "/fatbinary");
}

void locateTools(Toolchain &T, CommandRunner &Runner) {
  if (!T.Wrapped.empty() || hasToolsBeside(T))
    return;
  Command C;
  // With --keep the files have no names that are invented for one run.
  C.Argv = {T.Nvcc, "--dryrun", "--keep", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"};
  C.Environment = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};
  C.StdinPath = "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  Expected<CommandResult> Result = Runner.run(C);
  if (!Result) {
    logLine(T.Nvcc + " does not say where its tools are: " + toString(Result.takeError()));
    return;
  }
  takeToolDirs(T, dryrunVariables(Result->Stderr));
  T.Wrapped = digestOf(Result->Stderr);
}

Expected<std::string> nvccVersion(const Toolchain &T, CommandRunner &Runner) {
  Command C;
  C.Argv = {T.Nvcc, "--version"};
  Expected<CommandResult> Result = runChecked(Runner, C);
  if (!Result)
    return Result.takeError();
  // The line is `Cuda compilation tools, release 13.0, V13.0.88`.
  StringRef Text(Result->Stdout);
  size_t At = Text.find(", V");
  StringRef Version = At == StringRef::npos ? StringRef() : Text.substr(At + 3);
  Version = Version.take_while([](char Ch) { return isDigit(Ch) || Ch == '.'; });
  if (Version.empty())
    return malformed(T.Nvcc + " --version prints no release, expected 'release X.Y, VX.Y.Z'");
  return Version.str();
}

} // namespace carve
