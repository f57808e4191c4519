#include "Compile/CompilerCache.h"
#include "Nvcc/ArgumentList.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Store/PublishedDecisions.h"
#include "Store/StoreLayout.h"
#include "Support/Clock.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

const char carve::CacheAdvice[] =
    "ccache: its depend mode notices neither profiles nor decisions; set "
    "CCACHE_COMPILERCHECK='%compiler% --carve-cache-key'";

static constexpr llvm::StringLiteral KeyOption = "--carve-cache-key";

CompilerCache carve::compilerCacheInFront(GetEnv Env) {
  llvm::SmallString<256> Parent;
  if (!fs::real_path("/proc/" + llvm::Twine(::getppid()) + "/exe", Parent)) {
    llvm::StringRef Name = path::filename(Parent);
    if (Name.starts_with("ccache"))
      return {CacheKind::Ccache, Parent.str().str()};
    if (Name.starts_with("sccache"))
      return {CacheKind::Sccache, Parent.str().str()};
  }
  // Another program of the cache may be between us, e.g. distcc, or /proc may be hidden.
  if (Env("UNCACHED_ERR_FD"))
    return {CacheKind::Ccache, "ccache"};
  return {};
}

/// Returns the size and date of a program, by which ccache distinguishes compilers by default.
static std::string stampOfProgram(llvm::StringRef Path) {
  fs::file_status Status;
  if (fs::status(Path, Status))
    return "missing";
  return std::to_string(Status.getSize()) + " " +
         std::to_string(Status.getLastModificationTime().time_since_epoch().count());
}

/// Returns the part of the profile's state that an object depends on.
static std::string profileState(const UserProfile &P) {
  if (P.Path.empty())
    return "none";
  // A compile warns about a missing profile, and its depfile lists only an existing one.
  if (!P.Read)
    return "missing " + P.Named;
  return digestOfFields({P.Named, choicesOf(*P.Read)});
}

/// Returns the digest of all that the site has published; empty if there is no site's store.
static std::string siteState(const std::optional<UnitStore> &Store) {
  const UnitStore *Site = Store ? Store->site() : nullptr;
  if (!Site)
    return "";
  llvm::Expected<std::string> Digest = Site->readEntry(allPublishedFile(*Site));
  if (Digest)
    return llvm::StringRef(*Digest).trim().str();
  llvm::consumeError(Digest.takeError());
  return "";
}

/// Returns a digest of the decisions of the whole store. An absent store and an empty one have the
/// same digest.
static std::string storeState(const std::optional<UnitStore> &Store) {
  llvm::Expected<std::string> Digest =
      Store ? readFile(decisionsDigestFile(*Store), FileLimit::Record) : std::string();
  if (Digest && !Digest->empty())
    return llvm::StringRef(*Digest).trim().str();
  if (!Digest)
    llvm::consumeError(Digest.takeError());
  return digestOfFields({});
}

std::string carve::cacheKey(llvm::StringRef OwnPath, const Toolchain &T, const UserProfile &Profile,
                            const std::optional<UnitStore> &Store) {
  const std::string Site = siteState(Store);
  return "carve-nvcc " + stampOfProgram(OwnPath) + "\nnvcc " + T.Nvcc + " " +
         stampOfProgram(T.Nvcc) + "\nprofile " + profileState(Profile) + "\ndecisions " +
         storeState(Store) + "\n" + (Site.empty() ? "" : "site " + Site + "\n");
}

/// Returns a setting of ccache, from the environment or its files; empty if it cannot be asked.
static std::string ccacheSetting(llvm::StringRef Name, const CompilerCache &Cache,
                                 CommandRunner &Runner) {
  Command C;
  C.Argv = {Cache.Program, "--get-config", Name.str()};
  C.StdinPath = "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  llvm::Expected<CommandResult> R = Runner.run(C);
  if (R && R->succeeded())
    return llvm::StringRef(R->Stdout).trim().str();
  if (!R)
    llvm::consumeError(R.takeError());
  return "";
}

/// Returns true if ccache calls cacheKey() to identify the compiler.
static bool asksForKey(const CompilerCache &Cache, GetEnv Env, CommandRunner &Runner) {
  std::optional<std::string> Check = Env("CCACHE_COMPILERCHECK");
  std::string Setting = Check ? *Check : ccacheSetting("compiler_check", Cache, Runner);
  return llvm::StringRef(Setting).contains(KeyOption);
}

bool carve::cacheWouldNotNotice(const CompilerCache &Cache, GetEnv Env, CommandRunner &Runner) {
  return Cache.Kind == CacheKind::Ccache && !Env("CCACHE_NODEPEND") &&
         (Env("CCACHE_DEPEND") || ccacheSetting("depend_mode", Cache, Runner) == "true") &&
         !asksForKey(Cache, Env, Runner);
}

static bool hasPhase(llvm::ArrayRef<Argument> Words, llvm::StringRef Reason) {
  return llvm::any_of(Words, [&](const Argument &A) {
    return (A.is(Effect::Phase) && A.Option->Reason == Reason) || hasPhase(A.Nested, Reason);
  });
}

bool carve::isCacheStep(llvm::ArrayRef<std::string> Argv, const CompilerCache &Cache) {
  if (Cache.Kind == CacheKind::None)
    return false;
  std::vector<Argument> Words = splitArguments(Argv);
  return hasPhase(Words, "preprocess") ||
         (Cache.Kind == CacheKind::Sccache && hasPhase(Words, "dryrun"));
}

/// Returns what the decision file of \p Key makes a compile do; empty if nothing.
static std::string choicesIn(llvm::StringRef Key, const UnitStore &Store) {
  llvm::Expected<std::optional<std::string>> Text = readDecisions(Store, Key);
  llvm::Expected<Profile> P =
      Text ? (*Text ? parseProfile(**Text, Key) : Profile()) : Text.takeError();
  if (P)
    return choicesOf(*P);
  llvm::consumeError(P.takeError()); // No compile emits such a profile either.
  return "";
}

/// Returns what the store has decided for the units of \p Source, and for units that are no longer
/// in it. It is not known which unit is compiled, because caches remove the output from the command
/// when they ask for text. If two units have different decisions, every result is unique, so
/// nothing is found in the cache.
static std::string decisionsOf(llvm::StringRef Source, const UnitStore &Store) {
  if (storeState(Store) == digestOfFields({}))
    return "";
  std::set<std::string> Choices;
  std::string Lost;
  for (const std::string &Key : entryNames(Store.root(), EntryKind::Decision)) {
    std::string Choice = choicesIn(Key, Store);
    if (Choice.empty())
      continue;
    llvm::Expected<std::optional<Unit>> U = Store.unit(Key);
    if (!U)
      llvm::consumeError(U.takeError());
    if (!U || !*U)
      Lost += Key + digestOf(Choice);
    else if (normalisedPath((*U)->Source, (*U)->Directory) == Source)
      Choices.insert(std::move(Choice));
  }
  if (Choices.size() > 1)
    return std::to_string(unixNanoseconds()) + " " + std::to_string(::getpid());
  return Lost + (Choices.empty() ? "" : digestOf(*Choices.begin()));
}

/// Returns the lines for the end of the preprocessed text. ccache first looks up an object by the
/// content of the source and its headers, and asks for no text if it finds one (direct mode). It
/// does not do so if a header was not a regular file; with /dev/null as a header it asks every
/// time. If ccache also calls cacheKey(), only a profile that an option names is missing there, so
/// the profile becomes a header.
static std::string textForCache(const CacheStep &Step, llvm::StringRef Source,
                                const UserProfile &Profile, const std::optional<UnitStore> &Store,
                                const Toolchain &T, CommandRunner &Runner) {
  // Which kernels the text has is not known here, so everything that the site publishes counts.
  std::string Digest =
      digestOfFields({stampOfProgram(T.Nvcc), profileState(Profile),
                      Store ? decisionsOf(Source, *Store) : std::string(), siteState(Store)});
  std::string Header = "/dev/null";
  if (Step.Cache.Kind == CacheKind::Ccache && asksForKey(Step.Cache, Step.Env, Runner))
    Header = Profile.ByOption ? Profile.Path : "";
  if (llvm::StringRef(Header).find_first_of("\"\\\n") != llvm::StringRef::npos)
    Header = "/dev/null";
  return "\n" + (Header.empty() ? "" : "# 1 \"" + Header + "\"\n") + "// carve-nvcc: " + Digest +
         "\n";
}

/// Appends \p Text to the preprocessed source that nvcc has written, in the file \p Output or on
/// standard output.
static llvm::Error append(llvm::StringRef Text, llvm::StringRef Output) {
  if (Output.empty()) {
    llvm::outs() << Text;
    llvm::outs().flush();
    return llvm::Error::success();
  }
  std::error_code Failed;
  llvm::raw_fd_ostream File(Output, Failed, fs::CD_OpenExisting, fs::FA_Write, fs::OF_Append);
  if (!Failed) {
    File << Text;
    File.flush();
    Failed = File.error();
    File.clear_error();
  }
  return Failed ? llvm::createFileError(Output, Failed) : llvm::Error::success();
}

static llvm::Expected<CommandResult> preprocess(const CacheStep &Step, const DriverOptions &Options,
                                                const std::optional<UnitStore> &Store,
                                                const Toolchain &T, CommandRunner &Runner) {
  llvm::Expected<std::vector<Argument>> Words = expandArguments(Step.Argv, Step.Flags.WorkDir);
  if (!Words)
    return Words.takeError();
  std::string Output, Source;
  for (const Argument &A : *Words) {
    if (A.is(Effect::Output))
      Output = absolutePath(A.Value, Step.Flags.WorkDir);
    if (A.Is == Argument::Kind::Input)
      Source = normalisedPath(A.Value, Step.Flags.WorkDir);
  }
  // The compile reports a profile that cannot be read; it fails and is not kept.
  llvm::Expected<UserProfile> Profile =
      UserProfile::read(Options.ProfilePath, Options.ProfileByOption, Step.Flags.WorkDir);
  if (!Profile)
    return Profile.takeError();
  Command C;
  C.Argv = {T.Nvcc};
  llvm::append_range(C.Argv, Step.Argv);
  llvm::Expected<CommandResult> R = Runner.run(C);
  if (!R || R->ExitStatus != 0)
    return R;
  if (llvm::Error E = append(textForCache(Step, Source, *Profile, Store, T, Runner), Output))
    return E;
  return R;
}

llvm::Expected<CommandResult> carve::runCacheStep(const CacheStep &Step,
                                                  const DriverOptions &Options,
                                                  const std::optional<UnitStore> &Store,
                                                  const Toolchain &T, CommandRunner &Runner) {
  if (hasPhase(splitArguments(Step.Argv), "preprocess"))
    return preprocess(Step, Options, Store, T, Runner);
  if (!Options.ProfilePath.empty())
    return usageError("sccache runs nvcc's steps by itself and leaves out what " +
                      Options.ProfilePath + " says; use ccache or no cache, or name no profile");
  return unsupported("sccache", "it runs nvcc's steps by itself");
}
