#include "Store/StaleOutputs.h"
#include "Store/DecisionFiles.h"
#include "Store/Profile.h"
#include "Store/ProfileReader.h"
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
  auto Text = readDecisions(Store, U.Key);
  llvm::Expected<Profile> P =
      Text ? (*Text ? parseProfile(**Text, U.Key) : Profile()) : Text.takeError();
  if (P)
    return digestOf(choicesOf(*P));
  llvm::consumeError(P.takeError()); // No compile emits decisions that cannot be read.
  return digestOf("");
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
