#include "Tune/EntriesInForce.h"

#include "Emit/DecisionChoice.h"
#include "Ptx/ProfileName.h"
#include "Ptx/PtxModule.h"
#include "Store/UserProfile.h"
#include "Support/Log.h"
#include "Tune/Job/GuardHolds.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

using HoldsByKernel = std::map<std::string, std::vector<EntryHold>>;

/// Returns the entries of \p Chosen, with how much of the run of \p Kernel their guards held in.
static std::vector<EntryHold> holdsOf(const Decision &Chosen, const TracedKernel &Kernel) {
  std::vector<EntryHold> Holds;
  for (const FurtherEntry &E : Chosen.Entries)
    Holds.push_back({guardText(E.When), variantName(E.Variant), E.Held, holdOf(E.When, Kernel)});
  return Holds;
}

/// Adds the entries of the kernels of \p U to \p Holds. Fails if its PTX cannot be read.
static llvm::Error addUnit(const Unit &U, llvm::ArrayRef<TracedKernel> Kernels,
                           const DeviceInfo &Device, const UnitStore &Store, HoldsByKernel &Holds) {
  llvm::Expected<UserProfile> User = UserProfile::read(U.ProfilePath, U.ProfileByOption, "");
  if (!User)
    return User.takeError();
  Profile Stored = withSiteDecisions(storedDecisions(U, Store), U, Store);
  std::vector<const Profile *> Asked;
  if (User->Read)
    Asked.push_back(&*User->Read);
  Asked.push_back(&Stored);
  auto HasEntries = [](const Profile *P) {
    return llvm::any_of(P->Kernels, [](const Decision &D) { return !D.Entries.empty(); });
  };
  std::optional<UnitImage> Image = imageForDevice(U, Device);
  if (!Image || llvm::none_of(Asked, HasEntries))
    return llvm::Error::success();
  llvm::Expected<std::string> Text = Store.blob(Image->PtxDigest);
  llvm::Expected<PtxModule> Ptx = Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
  if (!Ptx)
    return Ptx.takeError();
  ImageOrigin Origin = Image->CubinDigest.empty() ? ImageOrigin::FromPtx : ImageOrigin::Compiled;
  for (const TracedKernel &K : Kernels) {
    if (!Ptx->find(K.Kernel))
      continue;
    llvm::Expected<std::string> Digest = Ptx->kernelDigest(K.Kernel);
    if (!Digest)
      return Digest.takeError();
    KernelState Now{*Digest, Image->Arch, U.NvccVersion, Image->PtxasOptions, Origin};
    DecisionChoice Choice = chooseDecision(Asked, profileName(K.Kernel), K.Kernel, Now);
    if (Choice.Chosen && !Choice.Chosen->Entries.empty())
      Holds.try_emplace(K.Kernel, holdsOf(*Choice.Chosen, K));
  }
  return llvm::Error::success();
}

HoldsByKernel carve::entriesInForce(const ProbeRecord &Trace, const UnitStore &Store) {
  HoldsByKernel Holds;
  if (Trace.Devices.empty())
    return Holds;
  std::vector<TracedKernel> Kernels = tracedKernels(Trace);
  for (const std::string &Container : Trace.Containers)
    for (const Unit &U : Store.unitsOfContainer(Container))
      if (llvm::Error E = addUnit(U, Kernels, Trace.Devices.front(), Store, Holds))
        logLine(U.Output + ": its further entries are not known: " + llvm::toString(std::move(E)));
  return Holds;
}
