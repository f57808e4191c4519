#include "Doctor/MachineLook.h"

#include "Compile/DriverOptions.h"
#include "Device/DeviceModel.h"
#include "Doctor/DriverLook.h"
#include "Nvcc/BuildPlan.h"
#include "Store/DecisionFiles.h"
#include "Store/StoreFolder.h"
#include "Store/StoreUpkeep.h"
#include "Store/UserProfile.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

/// What \p Argv prints on both streams, and whether it succeeds.
struct Answer {
  bool Succeeded = false;
  std::string Text;
};
Answer ask(std::vector<std::string> Argv, CommandRunner &Runner) {
  Command C;
  C.Argv = std::move(Argv);
  C.StdinPath = "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  llvm::Expected<CommandResult> R = Runner.run(C);
  if (!R)
    return {false, llvm::toString(R.takeError())};
  std::string Text = R->Stdout + R->Stderr;
  if (!R->succeeded() && llvm::StringRef(Text).trim().empty())
    Text = "exit status " + std::to_string(R->ExitStatus);
  return {R->succeeded(), std::move(Text)};
}

std::string realPath(const llvm::Twine &Path) {
  llvm::SmallString<256> Real;
  return fs::real_path(Path, Real) ? "" : Real.str().str();
}

/// The programs called \p Name in the folders of PATH, each folder once.
std::vector<std::string> programsInPath(llvm::StringRef Name, GetEnv Env) {
  std::vector<std::string> Found;
  std::string Path = Env("PATH").value_or("");
  for (llvm::StringRef Dir : llvm::split(llvm::StringRef(Path), ':')) {
    std::string File = ((Dir.empty() ? "." : Dir.rtrim('/')) + "/" + Name).str();
    if (fs::can_execute(File) && !fs::is_directory(File) && !llvm::is_contained(Found, File))
      Found.push_back(std::move(File));
  }
  return Found;
}

std::string firstInPath(llvm::StringRef Name, GetEnv Env) {
  std::vector<std::string> Found = programsInPath(Name, Env);
  return Found.empty() ? "" : Found.front();
}

SeenNvcc lookAtNvcc(const CommandContext &Context, llvm::StringRef OwnNvcc, Toolchain &T,
                    CommandRunner &Runner) {
  SeenNvcc Seen;
  for (const std::string &Path : programsInPath("nvcc", Context.Env)) {
    std::string Target = realPath(Path);
    Seen.InPath.push_back({Path, Target, Target == OwnNvcc});
  }
  // As carve-nvcc looks, which takes no link to itself.
  llvm::Expected<Toolchain> Found = findToolchain(Context.Env, OwnNvcc);
  if (!Found) {
    Seen.Failure = llvm::toString(Found.takeError());
    return Seen;
  }
  T = std::move(*Found);
  locateTools(T, Runner);
  Seen.Path = T.Nvcc;
  for (NvccInPath &N : Seen.InPath)
    N.IsUsed = N.Path == T.Nvcc;
  if (isScript(T.Nvcc))
    Seen.Behind = T.BinDir + "/nvcc";
  llvm::Expected<std::string> Version = nvccVersion(T, Runner);
  if (Version)
    Seen.Version = *Version;
  else
    Seen.Failure = llvm::toString(Version.takeError());
  return Seen;
}

/// The host compiler that a dryrun of nvcc names: the program of its preprocessing.
std::string hostCompilerOf(llvm::StringRef Dryrun) {
  for (llvm::StringRef Line : llvm::split(Dryrun, '\n')) {
    if (!Line.consume_front("#$ ") || !Line.contains(" -x c++ "))
      continue;
    llvm::Expected<std::vector<std::string>> Words = splitCommand(Line, {});
    if (Words && !Words->empty())
      return Words->front();
    if (!Words)
      llvm::consumeError(Words.takeError());
  }
  return "";
}

SeenHostCompiler lookAtHostCompiler(const Toolchain &T, GetEnv Env, CommandRunner &Runner) {
  SeenHostCompiler Seen;
  llvm::Expected<TempDir> Dir = TempDir::create("carve-doctor");
  if (!Dir) {
    Seen.Failure = llvm::toString(Dir.takeError());
    return Seen;
  }
  std::vector<std::string> Compile = {
      T.Nvcc, "-x", "cu", "-c", "/dev/null", "-o", Dir->path() + "/empty.o"};
  Answer Done = ask(Compile, Runner);
  if (!Done.Succeeded)
    Seen.Failure = Done.Text;
  Compile.insert(Compile.begin() + 1, "--dryrun");
  Seen.Path = hostCompilerOf(ask(Compile, Runner).Text);
  if (Seen.Path.empty())
    return Seen;
  if (!llvm::StringRef(Seen.Path).contains('/'))
    if (std::string Found = firstInPath(Seen.Path, Env); !Found.empty())
      Seen.Path = Found;
  if (Answer Version = ask({Seen.Path, "--version"}, Runner); Version.Succeeded)
    Seen.Version = llvm::StringRef(Version.Text).split('\n').first.trim().str();
  return Seen;
}

SeenInstallation lookAtInstallation(const CommandContext &Context, const std::string &OwnNvcc) {
  SeenInstallation Seen;
  Seen.Probe = Context.Install.Probe;
  Seen.DevicesDir = Context.Install.DevicesDir;
  Seen.Launch = Context.Install.Launch;
  // Read and not loaded: it is made for other processes than this one.
  llvm::Expected<std::string> Library = readFile(Seen.Probe);
  if (!Library)
    Seen.ProbeFailure = llvm::toString(Library.takeError());
  else if (!llvm::StringRef(*Library).starts_with("\177ELF"))
    Seen.ProbeFailure = Seen.Probe + " is no library";
  Seen.Architectures = knownArchitectures(Seen.DevicesDir).size();
  Seen.HasLaunch = fs::can_execute(Seen.Launch);
  Seen.OwnNvcc = OwnNvcc;
  Seen.NvccInPath = realPath(firstInPath("carve-nvcc", Context.Env));
  return Seen;
}

/// \p Folder, or the nearest one above it that exists.
std::string existingFolder(llvm::StringRef Folder) {
  while (!Folder.empty() && !fs::exists(Folder))
    Folder = path::parent_path(Folder);
  return Folder.empty() ? "/" : Folder.str();
}

std::string ownerOf(const std::string &Path) {
  struct stat Status;
  if (::stat(Path.c_str(), &Status) != 0)
    return "";
  const passwd *User = ::getpwuid(Status.st_uid);
  return User ? User->pw_name : "user " + std::to_string(Status.st_uid);
}

SeenStore lookAtStore(GetEnv Env) {
  SeenStore Seen;
  std::optional<std::string> Root = storeRoot(Env);
  if (!Root)
    return Seen;
  UnitStore Store(*Root);
  Seen.Root = *Root;
  Seen.Refusal = Store.refusal();
  Seen.Exists = fs::is_directory(*Root);
  std::string Folder = existingFolder(*Root);
  Seen.Writable = fs::is_directory(Folder) && ::access(Folder.c_str(), W_OK | X_OK) == 0;
  if (llvm::ErrorOr<fs::space_info> Space = fs::disk_space(Folder))
    Seen.FreeBytes = Space->available;
  Seen.LimitBytes = storeLimit(Env);
  if (!Seen.Exists || !Seen.Refusal.empty())
    return Seen;
  Seen.Owner = ownerOf(*Root);
  Seen.Bytes = storeStats(Store).Bytes;
  llvm::Expected<std::string> Digest = readFile(decisionsDigestFile(Store), FileLimit::Record);
  if (Digest)
    Seen.Digest = llvm::StringRef(*Digest).trim().str();
  else
    llvm::consumeError(Digest.takeError());
  return Seen;
}

SeenSite lookAtSite(GetEnv Env) {
  SeenSite Seen;
  std::optional<std::string> Root = siteRoot(Env);
  if (!Root)
    return Seen;
  Seen.Root = *Root;
  UnitStore Site = UnitStore::siteAt(*Root);
  if (::access(Root->c_str(), R_OK | X_OK) != 0)
    Seen.Failure = std::generic_category().message(errno);
  else if (!fs::is_directory(*Root))
    Seen.Failure = "it is not a directory";
  else
    Seen.Failure = Site.refusal();
  if (!Seen.Failure.empty())
    return Seen;
  Seen.Owner = ownerOf(*Root);
  Seen.Decisions = storeStats(Site).Published;
  return Seen;
}

/// A setting of ccache, from the environment or its files; empty if it cannot be asked.
std::string ccacheSetting(const std::string &Ccache, llvm::StringRef Name, CommandRunner &Runner) {
  Answer A = ask({Ccache, "--get-config", Name.str()}, Runner);
  return A.Succeeded ? llvm::StringRef(A.Text).trim().str() : "";
}

void lookAtCaches(Machine &M, GetEnv Env, CommandRunner &Runner) {
  if (std::string Path = firstInPath("ccache", Env); !Path.empty()) {
    SeenCache C{Path};
    C.DependMode = ccacheSetting(Path, "depend_mode", Runner) == "true";
    C.AsksForKey = llvm::StringRef(ccacheSetting(Path, "compiler_check", Runner))
                       .contains("--carve-cache-key");
    M.Ccache = C;
  }
  if (std::string Path = firstInPath("sccache", Env); !Path.empty())
    M.Sccache = SeenCache{Path};
}

void lookAtVariables(Machine &M, GetEnv Env, llvm::ArrayRef<std::string> Variables) {
  constexpr llvm::StringLiteral Others[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN",
                                            "CMAKE_CUDA_COMPILER_LAUNCHER", "PYTORCH_NVCC"};
  for (llvm::StringRef Variable : Variables) {
    auto [Name, Value] = Variable.split('=');
    if (Name.starts_with("CARVE_") || llvm::is_contained(Others, Name))
      M.Variables.push_back({Name.str(), Value.str()});
  }
  llvm::sort(M.Variables,
             [](const SeenVariable &A, const SeenVariable &B) { return A.Name < B.Name; });
  std::vector<std::string> ForNvcc;
  llvm::Expected<DriverOptions> Options = takeDriverOptions({}, Env, ForNvcc);
  if (!Options) {
    M.VariablesFailure = llvm::toString(Options.takeError());
    return;
  }
  llvm::SmallString<256> WorkDir;
  (void)fs::current_path(WorkDir);
  llvm::Expected<UserProfile> Profile =
      UserProfile::read(Options->ProfilePath, Options->ProfileByOption, WorkDir);
  M.ProfileFailure = Profile ? Profile->warning() : llvm::toString(Profile.takeError());
}

} // namespace

Machine carve::lookAtMachine(const CommandContext &Context, llvm::ArrayRef<std::string> Variables,
                             CommandRunner &Runner) {
  Machine M;
  Toolchain T;
  const std::string OwnNvcc = realPath(path::parent_path(Context.OwnPath) + "/carve-nvcc");
  M.Nvcc = lookAtNvcc(Context, OwnNvcc, T, Runner);
  if (!M.Nvcc.Version.empty())
    M.HostCompiler = lookAtHostCompiler(T, Context.Env, Runner);
  M.Driver = lookAtDriver(Context.Env, Context.Install.DevicesDir);
  if (!M.Nvcc.Path.empty())
    M.Cupti = lookAtCupti(T.BinDir);
  M.Installation = lookAtInstallation(Context, OwnNvcc);
  M.Store = lookAtStore(Context.Env);
  M.Site = lookAtSite(Context.Env);
  lookAtCaches(M, Context.Env, Runner);
  lookAtVariables(M, Context.Env, Variables);
  return M;
}
