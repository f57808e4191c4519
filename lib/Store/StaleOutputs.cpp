#include "Store/StaleOutputs.h"
#include "Store/DecisionFiles.h"
#include "Store/Profile.h"
#include "Store/PublishedDecisions.h"
#include "Store/StoreLayout.h"
#include "Support/Digest.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <fcntl.h>
#include <sys/stat.h>

using namespace carve;
namespace fs = llvm::sys::fs;

static bool liesIn(llvm::StringRef Path, llvm::StringRef Folder) {
  return Path.consume_front(Folder) && (Path.empty() || Folder == "/" || Path.front() == '/');
}

bool carve::isInOneOf(const Unit &U, llvm::ArrayRef<std::string> Folders) {
  std::string Source = normalisedPath(U.Source, U.Directory);
  std::string Output = normalisedPath(U.Output, U.Directory);
  return Folders.empty() || llvm::any_of(Folders, [&](llvm::StringRef Folder) {
           return liesIn(Output, Folder) || liesIn(Source, Folder);
         });
}

static std::string choicesNow(const Unit &U, const UnitStore &Store) {
  return digestOf(choicesOf(withSiteDecisions(storedDecisions(U, Store), U, Store)));
}

static llvm::sys::TimePoint<> dateOf(llvm::StringRef Path) {
  fs::file_status Status;
  return fs::status(Path, Status) ? llvm::sys::TimePoint<>() : Status.getLastModificationTime();
}

/// Returns true if the build system does not see that the decisions for \p U have changed: none of
/// the files is newer than the output. So it is with what a site publishes for the first time, and
/// if the clocks of two machines differ.
static bool isUnseen(const Unit &U, llvm::StringRef Output, const UnitStore &Store) {
  std::vector<std::string> Files = publishedDigests(U, Store);
  if (Files.empty() && Store.siteRoot().empty())
    return false;
  Files.push_back(entryPath(Store.root(), EntryKind::Decision, U.Key));
  const llvm::sys::TimePoint<> Made = dateOf(Output);
  return llvm::none_of(Files, [&](llvm::StringRef File) { return dateOf(File) > Made; });
}

/// Returns true if the current profile says something else about \p U than at its last compile.
static bool hasOtherProfile(const Unit &U, const UnitStore &Store, CurrentProfiles &Profiles) {
  if (U.Cue == RebuildCue::Depfile && Profiles.isNewTo(U))
    return true;
  const Profile *P = Profiles.of(U);
  return (P ? profileChoices(*P, U, Store) : "") != U.ProfileChoices;
}

std::vector<StaleOutput> carve::staleOutputs(const UnitStore &Store,
                                             llvm::ArrayRef<std::string> Folders,
                                             CurrentProfiles *Profiles) {
  std::vector<StaleOutput> Stale;
  for (const Unit &U : Store.units()) {
    StaleOutput S{normalisedPath(U.Source, U.Directory), normalisedPath(U.Output, U.Directory),
                  U.Cue, U.Key};
    if (!isInOneOf(U, Folders) || !fs::exists(S.Source) || !fs::exists(S.Output))
      continue;
    S.ByDecision = choicesNow(U, Store) != U.Choices;
    S.ByProfile = Profiles && hasOtherProfile(U, Store, *Profiles);
    S.Unseen = S.ByDecision && U.Cue == RebuildCue::Depfile && isUnseen(U, S.Output, Store);
    if (S.ByDecision || S.ByProfile)
      Stale.push_back(std::move(S));
  }
  llvm::sort(Stale, [](const StaleOutput &A, const StaleOutput &B) {
    return std::tie(A.Source, A.Output) < std::tie(B.Source, B.Output);
  });
  return Stale;
}

std::string carve::rebuildAdvice(llvm::ArrayRef<StaleOutput> Stale) {
  auto Count = [&](RebuildCue Cue) {
    return llvm::count_if(Stale, [&](const StaleOutput &S) { return S.Cue == Cue; });
  };
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  if (auto N = Count(RebuildCue::Depfile))
    OS << N << " output(s) have a new decision: build again\n";
  if (auto N = Count(RebuildCue::None))
    OS << N << " output(s) have a new decision and no depfile: run 'carve touch', then build\n";
  if (auto N = Count(RebuildCue::Cache))
    OS << N << " output(s) have a new decision and went through ccache's depend mode, which would "
       << "return the old outputs: set CCACHE_COMPILERCHECK='%compiler% --carve-cache-key', run "
       << "'carve touch', then build\n";
  return Text;
}

llvm::Expected<std::string> carve::cueFile(const StaleOutput &S, UnitStore &Store) {
  if (S.Cue == RebuildCue::Depfile)
    return decisionFile(Store, S.Key);
  return S.Source;
}

llvm::Error carve::touchFile(llvm::StringRef File) {
  if (::utimensat(AT_FDCWD, File.str().c_str(), nullptr, 0) == 0)
    return llvm::Error::success();
  return llvm::createFileError(File, std::error_code(errno, std::generic_category()));
}
