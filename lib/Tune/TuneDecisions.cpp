// New decisions are merged into those that the store and the user's profile already have.

#include "Tune/TuneDecisions.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;

llvm::Error carve::adoptIntoProfile(const std::string &Path, const Profile &Tuned) {
  Profile All;
  std::string Before;
  if (llvm::sys::fs::exists(Path)) {
    llvm::Expected<std::string> Text = readFile(Path, FileLimit::Record);
    llvm::Expected<Profile> Old = Text ? parseProfile(*Text, Path) : Text.takeError();
    if (!Old)
      return Old.takeError(); // A profile that cannot be read must not be overwritten.
    All = std::move(*Old);
    Before = printProfile(All);
  }
  All.adopt(Tuned);
  if (Tuned.FileCap)
    All.FileCap = Tuned.FileCap;
  // If nothing changed, the file is not written, so that people's comments and layout stay.
  std::string After = printProfile(All);
  return After == Before ? llvm::Error::success() : writeFileAtomically(Path, After);
}

Profile carve::rememberUnit(UnitStore &Store, const std::string &Key, const Profile &New) {
  Profile All, Before;
  if (auto Old = readDecisions(Store, Key); Old && *Old) {
    if (auto Read = parseProfile(**Old, Key))
      All = Before = std::move(*Read);
    else
      llvm::consumeError(Read.takeError()); // Damaged decisions are replaced by the new ones.
  } else if (!Old) {
    llvm::consumeError(Old.takeError());
  }
  All.adopt(New);
  All.FileCap = New.FileCap;
  // The date tells which objects are stale. If no choice changed, it stays, and nothing is rebuilt.
  DecisionDate Date = choicesOf(All) == choicesOf(Before) ? DecisionDate::Kept : DecisionDate::New;
  if (llvm::Error E = writeDecisions(Store, Key, printProfile(All), Date))
    logLine("the decisions were not stored: " + llvm::toString(std::move(E)));
  return All;
}

llvm::Error carve::rememberDecisions(const TuneRequest &Request, const TuningJob &Job,
                                     const JobBuild &Built, llvm::ArrayRef<DecidedUnit> Decided,
                                     const Circumstances &When, UnitStore &Store,
                                     std::map<std::string, Profile> &InForce) {
  Profile Tuned;
  for (size_t M = 0; M < Job.Modules.size(); ++M) {
    Profile New = decisionsFor(Job, Built, M, Request.Options.Scope, Decided[M], When);
    if (New.Kernels.empty()) // The module could not be linked, so no kernel was tuned.
      continue;
    for (const Decision &D : New.Kernels)
      Tuned.put(D);
    if (New.FileCap)
      Tuned.FileCap = New.FileCap;
    const std::string &Key = Job.Modules[M].Source.Key;
    InForce[Key] = rememberUnit(Store, Key, New);
    for (const Unit &Twin : Job.Modules[M].Twins)
      InForce[Twin.Key] = rememberUnit(Store, Twin.Key, New);
  }
  return Request.ProfilePath.empty() ? llvm::Error::success()
                                     : adoptIntoProfile(Request.ProfilePath, Tuned);
}
