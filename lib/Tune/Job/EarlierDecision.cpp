#include "Tune/Job/EarlierDecision.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

std::vector<VariantSetting> EarlierDecision::settings() const {
  std::vector<VariantSetting> Settings;
  auto Add = [&](const VariantSetting &V) {
    if (!V.isDefault() && !llvm::is_contained(Settings, V))
      Settings.push_back(V);
  };
  Add(Decided.Variant);
  for (const FurtherEntry &E : Decided.Entries) {
    VariantSetting V = E.Variant;
    // One variant with several codes became these entries.
    if (Decided.Entries.size() > 1 && V.FrontEnd == FrontEndKnob::KnownLaunch)
      V.FrontEnd = FrontEndKnob::KnownShapes;
    Add(V);
  }
  return Settings;
}

std::optional<EarlierDecision> carve::earlierDecision(llvm::ArrayRef<const Profile *> Profiles,
                                                      llvm::StringRef KernelName,
                                                      llvm::StringRef Mangled,
                                                      const KernelState &Now) {
  DecisionChoice Choice = chooseDecision(Profiles, KernelName, Mangled, Now);
  const Decision *Newest = Choice.Chosen;
  std::string Stale;
  if (!Newest)
    for (const IgnoredDecision &I : Choice.Ignored)
      if (isOfSamePtx(*I.Entry, Now) && (!Newest || Newest->Basis->Date < I.Entry->Basis->Date)) {
        Newest = I.Entry;
        Stale = I.Reason;
      }
  if (!Newest || Newest->isDefault())
    return std::nullopt;
  return EarlierDecision{*Newest, std::move(Stale)};
}
