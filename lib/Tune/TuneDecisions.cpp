// What a tuning decided, into the store and the user's profile.

#include "Tune/TuneDecisions.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;

/// \p Tuned into the user's profile, beside what stands there.
static llvm::Error writeProfile(const TuneRequest &Request, const Profile &Tuned) {
  if (Request.ProfilePath.empty())
    return llvm::Error::success();
  Profile All;
  std::string Before;
  if (llvm::sys::fs::exists(Request.ProfilePath)) {
    llvm::Expected<std::string> Text = readFile(Request.ProfilePath, FileLimit::Record);
    llvm::Expected<Profile> Old =
        Text ? parseProfile(*Text, Request.ProfilePath) : Text.takeError();
    if (!Old)
      return Old.takeError(); // Never overwrite what cannot be read.
    All = std::move(*Old);
    Before = printProfile(All);
  }
  All.adopt(Tuned);
  if (Tuned.FileCap)
    All.FileCap = Tuned.FileCap;
  // Where nothing changed, comments and layout of people stay too.
  std::string After = printProfile(All);
  return After == Before ? llvm::Error::success() : writeFileAtomically(Request.ProfilePath, After);
}

/// \p New into the store, beside the unit's decisions for other architectures and kernels.
static Profile rememberUnit(UnitStore &Store, const std::string &Key, const Profile &New) {
  Profile All, Before;
  if (auto Old = readDecisions(Store, Key); Old && *Old) {
    if (auto Read = parseProfile(**Old, Key))
      All = Before = std::move(*Read);
    else
      llvm::consumeError(Read.takeError()); // Damaged: the new ones replace it.
  } else if (!Old) {
    llvm::consumeError(Old.takeError());
  }
  All.adopt(New);
  All.FileCap = New.FileCap;
  // What changes nothing in an object rebuilds nothing.
  DecisionDate Date = choicesOf(All) == choicesOf(Before) ? DecisionDate::Kept : DecisionDate::New;
  if (llvm::Error E = writeDecisions(Store, Key, printProfile(All), Date))
    logLine("decisions not kept: " + llvm::toString(std::move(E)));
  return All;
}

llvm::Error carve::rememberDecisions(const TuneRequest &Request, const TuningJob &Job,
                                     llvm::ArrayRef<DecidedUnit> Decided, const Circumstances &When,
                                     UnitStore &Store, std::map<std::string, Profile> &InForce) {
  Profile Tuned;
  for (size_t M = 0; M < Job.Modules.size(); ++M) {
    Profile New = decisionsFor(Job, M, Request.Options.Scope, Decided[M], When);
    if (New.Kernels.empty()) // All were put aside when it could not be linked.
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
  return writeProfile(Request, Tuned);
}
