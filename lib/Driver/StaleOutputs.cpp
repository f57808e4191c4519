#include "Driver/StaleOutputs.h"

#include "Store/Profile.h"
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

static std::string choicesNow(const Unit &U, const UnitStore &Store) {
  auto Text = Store.decisions(U.Key);
  llvm::Expected<Profile> P =
      Text ? (*Text ? parseProfile(**Text, U.Key) : Profile()) : Text.takeError();
  if (P)
    return digestOf(choicesOf(*P));
  llvm::consumeError(P.takeError()); // Emitted by nobody.
  return digestOf("");
}

std::vector<StaleOutput> carve::staleOutputs(const UnitStore &Store,
                                             llvm::ArrayRef<std::string> Folders) {
  std::vector<StaleOutput> Stale;
  for (const Unit &U : Store.units()) {
    StaleOutput S{normalisedPath(U.Source, U.Directory), normalisedPath(U.Output, U.Directory),
                  U.Cue};
    bool Wanted = Folders.empty() || llvm::any_of(Folders, [&](llvm::StringRef Folder) {
                    return liesIn(S.Output, Folder) || liesIn(S.Source, Folder);
                  });
    if (Wanted && fs::exists(S.Source) && fs::exists(S.Output) && choicesNow(U, Store) != U.Choices)
      Stale.push_back(std::move(S));
  }
  llvm::sort(Stale, [](const StaleOutput &A, const StaleOutput &B) {
    return std::tie(A.Source, A.Output) < std::tie(B.Source, B.Output);
  });
  return Stale;
}

std::string carve::rebuildAdvice(llvm::ArrayRef<StaleOutput> Stale, const UnitStore &Store) {
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
    OS << N << " output(s) have a new decision and came through a compiler cache, which would "
       << "return them as they were: set CCACHE_EXTRAFILES=" << Store.decisionsDigestFile()
       << ", run 'carve touch', then build\n";
  return Text;
}

llvm::Error carve::touchSource(llvm::StringRef Source) {
  if (::utimensat(AT_FDCWD, Source.str().c_str(), nullptr, 0) == 0)
    return llvm::Error::success();
  return llvm::createFileError(Source, std::error_code(errno, std::generic_category()));
}
