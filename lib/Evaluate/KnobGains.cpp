#include "Evaluate/KnobGains.h"

#include "Search/Variant.h"
#include "Support/Error.h"
#include "Tune/Selection/Selection.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

using namespace carve;

namespace {

/// A knob: its name, and whether a setting sets it.
struct NamedKnob {
  std::string Name;
  std::function<bool(const VariantSetting &)> IsSet;
};

/// All knobs, in the order of a variant's name.
std::vector<NamedKnob> allKnobs() {
  std::vector<NamedKnob> All = {
      {"register cap", [](const VariantSetting &V) { return V.Cap.has_value(); }},
      {"front-end cap", [](const VariantSetting &V) { return V.FrontEndCap.has_value(); }}};
  for (FrontEndKnob Knob : frontEndKnobs())
    All.push_back(
        {nameOf(Knob).str(), [Knob](const VariantSetting &V) { return V.FrontEnd == Knob; }});
  All.push_back({RestrictName.str(), [](const VariantSetting &V) { return V.Restrict; }});
  All.push_back({"knownptx", [](const VariantSetting &V) { return V.KnownPtx; }});
  All.push_back({"smem", [](const VariantSetting &V) { return V.SmemSpilling; }});
  for (LoadCaching Loads : {LoadCaching::L2Only, LoadCaching::EvictFirst, LoadCaching::NoAllocate})
    All.push_back(
        {nameOf(Loads).str(), [Loads](const VariantSetting &V) { return V.Loads == Loads; }});
  All.push_back({"register-usage level",
                 [](const VariantSetting &V) { return V.RegisterUsageLevel.has_value(); }});
  All.push_back({"optimization level",
                 [](const VariantSetting &V) { return V.OptimizationLevel.has_value(); }});
  return All;
}

/// A variant that was timed, with the ratio of its screening. Variants with a fault are left out.
struct TimedVariant {
  VariantSetting Setting;
  double Ratio = 0;
};

/// A kernel whose variants were timed.
struct TimedKernel {
  double Share = 0; ///< Of the program's GPU time.
  std::vector<TimedVariant> Variants;
  std::optional<VariantSetting> Winner; ///< Absent if the default stays.
  double Ratio = 1;                     ///< The winner's, from the confirmation.
  double Screened = 0;                  ///< The winner's screening ratio; 0 if it has none.

  bool wasTimedWith(const NamedKnob &Knob) const {
    return llvm::any_of(Variants, [&](const TimedVariant &V) { return Knob.IsSet(V.Setting); });
  }
  double ratioWithout(const NamedKnob &Knob) const;
};

using TimedKernels = std::vector<TimedKernel>;

} // namespace

/// The kernel's ratio if no variant might set \p Knob.
double TimedKernel::ratioWithout(const NamedKnob &Knob) const {
  if (!Winner || !Knob.IsSet(*Winner))
    return Ratio;
  double Least = 0;
  for (const TimedVariant &V : Variants)
    if (!Knob.IsSet(V.Setting) && (Least == 0 || V.Ratio < Least))
      Least = V.Ratio;
  if (Least == 0 || Screened == 0)
    return 1;
  double Scaled = std::max(Ratio, Ratio * Least / Screened);
  return Scaled <= SelectionLimits().WinningRatio ? Scaled : 1;
}

static llvm::Expected<TimedKernel> timedKernel(const KernelReport &K, llvm::StringRef Report) {
  TimedKernel Timed;
  Timed.Share = K.Share;
  auto SettingOf = [&](llvm::StringRef Name) -> llvm::Expected<VariantSetting> {
    llvm::Expected<VariantSetting> V = parseVariantName(Name);
    if (!V)
      return malformed(Report + ": " + K.Kernel + ": " + llvm::toString(V.takeError()));
    return V;
  };
  for (const VariantReport &V : K.Variants) {
    if (V.Ratio <= 0 || !V.Fault.empty())
      continue;
    llvm::Expected<VariantSetting> Setting = SettingOf(V.Name);
    if (!Setting)
      return Setting.takeError();
    Timed.Variants.push_back({*Setting, V.Ratio});
    if (K.Tuned && V.Name == K.Variant)
      Timed.Screened = V.Ratio;
  }
  if (!K.Tuned)
    return Timed;
  llvm::Expected<VariantSetting> Winner = SettingOf(K.Variant);
  if (!Winner)
    return Winner.takeError();
  Timed.Winner = *Winner;
  Timed.Ratio = K.Pairs ? K.Ratio.Median : Timed.Screened > 0 ? Timed.Screened : 1;
  return Timed;
}

/// The geometric mean of the speedups of \p Programs, where \p RatioOf gives each kernel's ratio.
template <typename RatioFunction>
static double meanSpeedup(llvm::ArrayRef<TimedKernels> Programs, RatioFunction RatioOf) {
  double Sum = 0;
  for (const TimedKernels &Kernels : Programs) {
    double After = 1;
    for (const TimedKernel &K : Kernels)
      After -= K.Share * (1 - RatioOf(K));
    Sum -= std::log(After);
  }
  return Programs.empty() ? 1 : std::exp(Sum / double(Programs.size()));
}

static KnobGain gainOf(const NamedKnob &Knob, llvm::ArrayRef<NamedKnob> All,
                       llvm::ArrayRef<TimedKernels> Programs) {
  KnobGain Gain;
  Gain.Knob = Knob.Name;
  for (const TimedKernels &Kernels : Programs)
    for (const TimedKernel &K : Kernels) {
      Gain.Timed += K.wasTimedWith(Knob);
      if (!K.Winner || !Knob.IsSet(*K.Winner))
        continue;
      auto Set = llvm::count_if(All, [&](const NamedKnob &Any) { return Any.IsSet(*K.Winner); });
      ++(Set > 1 ? Gain.Beside : Gain.Alone);
    }
  Gain.Without = meanSpeedup(Programs, [&](const TimedKernel &K) { return K.ratioWithout(Knob); });
  return Gain;
}

llvm::Expected<KnobGains> carve::evaluateKnobs(llvm::ArrayRef<TunedProgram> Programs) {
  KnobGains Gains;
  Gains.Programs = Programs.size();
  std::vector<TimedKernels> All;
  for (const TunedProgram &P : Programs) {
    All.emplace_back();
    for (const KernelReport &K : P.Report.Kernels) {
      llvm::Expected<TimedKernel> Timed = timedKernel(K, P.Name);
      if (!Timed)
        return Timed.takeError();
      Gains.Kernels += !Timed->Variants.empty();
      Gains.Tuned += Timed->Winner.has_value();
      All.back().push_back(std::move(*Timed));
    }
  }
  Gains.Speedup = meanSpeedup(All, [](const TimedKernel &K) { return K.Ratio; });
  const std::vector<NamedKnob> Knobs = allKnobs();
  for (const NamedKnob &Knob : Knobs)
    if (KnobGain Gain = gainOf(Knob, Knobs, All); Gain.Timed > 0)
      Gains.Knobs.push_back(std::move(Gain));
  llvm::stable_sort(Gains.Knobs,
                    [](const KnobGain &A, const KnobGain &B) { return A.Without < B.Without; });
  return Gains;
}
