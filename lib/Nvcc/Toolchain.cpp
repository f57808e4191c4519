#include "Nvcc/Toolchain.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace carve {

/// The toolchain whose nvcc is \p Path, links resolved; none where that is no program, or is one of
/// \p Drivers.
static std::optional<Toolchain> toolchainAt(const Twine &Path, ArrayRef<StringRef> Drivers) {
  SmallString<128> Real;
  if (sys::fs::real_path(Path, Real) || is_contained(Drivers, Real.str()) ||
      !sys::fs::can_execute(Real) || sys::fs::is_directory(Real))
    return std::nullopt;
  return Toolchain{Real.str().str(), sys::path::parent_path(Real).str()};
}

/// Whether a program that PATH offers as nvcc, and that is really \p File, is one. A link to ccache
/// is a compiler cache, which would look for nvcc behind itself; called by its own name it is none.
static bool isNamedNvcc(StringRef File) {
  StringRef Name = sys::path::filename(File);
  return Name.consume_front("nvcc") && (Name.empty() || !isAlpha(Name.front()));
}

/// The nvcc candidates of \p Env in their order, `CARVE_NVCC` excepted.
static std::vector<std::string> candidates(GetEnv Env) {
  std::vector<std::string> Paths;
  std::string Path = Env("PATH").value_or("");
  SmallVector<StringRef> Dirs;
  StringRef(Path).split(Dirs, ':');
  for (StringRef Dir : Dirs)
    Paths.push_back(((Dir.empty() ? "." : Dir) + "/nvcc").str());
  for (StringRef Name : {"CUDA_PATH", "CUDA_HOME"})
    if (std::optional<std::string> Root = Env(Name); Root && !Root->empty())
      Paths.push_back(*Root + "/bin/nvcc");
  Paths.push_back("/usr/local/cuda/bin/nvcc");
  return Paths;
}

Expected<Toolchain> findToolchain(GetEnv Env, StringRef OwnPath) {
  // Two copies of us called nvcc must not find each other for ever.
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
    if (std::optional<Toolchain> T = toolchainAt(Path, Drivers); T && isNamedNvcc(T->Nvcc))
      return *T;
  return usageError("no nvcc found; looked for CARVE_NVCC, " + join(Paths, ", "));
}

std::string callersBehind(GetEnv Env, StringRef OwnPath, const Toolchain &T) {
  std::string Callers = Env(CallersVariable).value_or("");
  Callers += (":" + OwnPath).str();
  auto Start = MemoryBuffer::getFileSlice(T.Nvcc, /*MapSize=*/2, /*Offset=*/0);
  if (Start && (*Start)->getBuffer() == "#!")
    Callers += ":" + T.Nvcc;
  return Callers;
}

Expected<std::string> nvccVersion(const Toolchain &T, CommandRunner &Runner) {
  Command C;
  C.Argv = {T.Nvcc, "--version"};
  Expected<CommandResult> Result = runChecked(Runner, C);
  if (!Result)
    return Result.takeError();
  // `Cuda compilation tools, release 13.0, V13.0.88`
  StringRef Text(Result->Stdout);
  size_t At = Text.find(", V");
  StringRef Version = At == StringRef::npos ? StringRef() : Text.substr(At + 3);
  Version = Version.take_while([](char Ch) { return isDigit(Ch) || Ch == '.'; });
  if (Version.empty())
    return malformed(T.Nvcc + " --version prints no release, expected 'release X.Y, VX.Y.Z'");
  return Version.str();
}

} // namespace carve
