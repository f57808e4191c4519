#include "Compile/RebuildCues.h"
#include "Nvcc/Depfile.h"
#include "Store/DecisionFiles.h"
#include "Store/PublishedDecisions.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;
namespace fs = llvm::sys::fs;

static llvm::Error appendTo(llvm::StringRef Depfile, llvm::ArrayRef<std::string> Paths) {
  fs::file_status Status;
  if (fs::status(Depfile, Status) || !fs::is_regular_file(Status))
    return unsupported("no-depfile", Depfile + " is not a regular file");
  llvm::Expected<std::string> Text = readFile(Depfile);
  llvm::Expected<std::string> New = Text ? withPrerequisites(*Text, Paths) : Text.takeError();
  return New ? writeFileAtomically(Depfile, *New) : New.takeError();
}

/// Adds the files to \p Paths that change when the site decides about a kernel of \p Units.
static void listSiteDecisions(const std::vector<CompiledUnit> &Units, const UnitStore &Store,
                              std::vector<std::string> &Paths) {
  for (const CompiledUnit &U : Units)
    for (std::string &Path : publishedDigests(U.Record, Store))
      if (fitsDepfile(Path) && !llvm::is_contained(Paths, Path))
        Paths.push_back(std::move(Path));
}

void carve::listDecisions(const CommandLine &C, llvm::StringRef WorkDir,
                          llvm::StringRef ProfilePath, bool BehindCache,
                          std::vector<CompiledUnit> &Units, UnitStore &Store) {
  std::vector<std::string> Paths;
  std::vector<CompiledUnit *> Listed;
  for (CompiledUnit &U : Units) {
    U.Record.Cue = RebuildCue::None;
    llvm::Expected<std::string> File = decisionFile(Store, U.Record.Key);
    if (!File)
      logLine("not in the depfile: " + llvm::toString(File.takeError()));
    else if (BehindCache)
      U.Record.Cue = RebuildCue::Cache;
    else if (!fitsDepfile(*File))
      logLine("not in the depfile: " + *File + " cannot be written there");
    else {
      Paths.push_back(std::move(*File));
      Listed.push_back(&U);
    }
  }
  if (!BehindCache)
    listSiteDecisions(Units, Store, Paths);
  if (!ProfilePath.empty() && !BehindCache && fitsDepfile(ProfilePath))
    Paths.push_back(ProfilePath.str());
  if (C.Depfile.empty() || Paths.empty())
    return;
  if (llvm::Error E = appendTo(absolutePath(C.Depfile, WorkDir), Paths)) {
    logLine("not in the depfile: " + llvm::toString(std::move(E)));
    return;
  }
  for (CompiledUnit *U : Listed)
    U->Record.Cue = RebuildCue::Depfile;
}
