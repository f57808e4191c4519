#include "Tune/Variants/SettingCodes.h"

#include <algorithm>

using namespace carve;

std::string carve::cloneName(llvm::StringRef Kernel, const VariantSetting &Setting) {
  std::string Name = Setting.isDefault() ? "control" : variantName(Setting);
  std::replace(Name.begin(), Name.end(), '-', '_');
  return (Kernel + "__carve_" + Name).str();
}

/// The name of the clones of \p Kernel with \p Composed, before their numbers.
static std::string composedCloneName(llvm::StringRef Kernel, const Composition &Composed) {
  std::string Name;
  for (char C : Composed.Name)
    Name += C == '+' ? "_and_" : C == '-' ? "_" : std::string(1, C);
  return (Kernel + "__carve_" + Name).str();
}

std::vector<GuardedCode> carve::guardedCodesOf(const TuningJob &Job, const SettingRequest &R) {
  const JobKernel &K = Job.Kernels[R.Kernel];
  std::vector<GuardedCode> Codes;
  VariantSetting OfEach = R.Setting;
  if (!R.Composed.Codes.empty()) {
    for (const Composition::Code &C : R.Composed.Codes)
      Codes.push_back({C.Launch, C.Setting, "", {}, ""});
  } else if (R.Setting.FrontEnd == FrontEndKnob::KnownShapes) {
    OfEach.FrontEnd = FrontEndKnob::KnownLaunch;
    for (const KnownLaunch &Known : K.KnownShapes)
      Codes.push_back({Known, OfEach, "", {}, ""});
  } else if (R.Setting.isForKnownLaunches()) {
    KnownLaunch Known;
    if (R.Setting.KnownPtx)
      Known = K.KnownPtx;
    else if (isForKnownLaunches(R.Setting.FrontEnd))
      Known = K.Known;
    Codes.push_back({std::move(Known), OfEach, "", {}, ""});
  }
  for (GuardedCode &C : Codes)
    if (C.Setting.Restrict)
      C.Launch.Apart = K.Apart;
  std::string Name = cloneName(K.Traced.Kernel, R.Setting);
  if (!R.Composed.Codes.empty())
    Name = composedCloneName(K.Traced.Kernel, R.Composed);
  for (size_t C = 0; C < Codes.size(); ++C)
    Codes[C].CloneName = Name + (Codes.size() > 1 ? "_" + std::to_string(C + 1) : "");
  return Codes;
}

SettingCode carve::codeFor(size_t Kernel, const VariantSetting &Setting, KnownLaunch Launch) {
  if (Setting.isForKnownLaunches())
    return {Kernel, Setting, std::move(Launch)};
  // What is spilled to shared memory is as much as a block of the guard needs (DecisionEdits).
  return {Kernel, Setting, {{}, Setting.SmemSpilling ? Launch.Block : std::nullopt, {}}};
}

std::vector<SettingCode> carve::codesOf(const TuningJob &Job, const SettingRequest &R) {
  std::vector<SettingCode> Codes;
  for (GuardedCode &C : guardedCodesOf(Job, R))
    Codes.push_back(codeFor(R.Kernel, C.Setting, std::move(C.Launch)));
  if (Codes.empty())
    Codes.push_back({R.Kernel, R.Setting, {}});
  return Codes;
}

std::vector<SettingCode> carve::codesOf(size_t Kernel, const JobVariant &Variant) {
  std::vector<SettingCode> Codes;
  for (const GuardedCode &C : Variant.Codes)
    Codes.push_back(codeFor(Kernel, C.Setting, C.Launch));
  if (Codes.empty())
    Codes.push_back({Kernel, Variant.Setting, {}});
  return Codes;
}

FrontEndSetting carve::flavourOf(const TuningJob &Job, const SettingCode &C) {
  const JobKernel &K = Job.Kernels[C.Kernel];
  return C.Setting.frontEnd().forKernel({K.Traced.Kernel, C.Known, K.Restrict});
}
