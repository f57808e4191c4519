#include "Export/FileFlags.h"

#include <set>

using namespace carve;

std::vector<std::string> FileOptions::words() const {
  std::vector<std::string> Words;
  if (Cap && FrontEnd)
    Words.push_back("-maxrregcount=" + std::to_string(*Cap));
  std::string Assembler;
  auto Add = [&](const std::string &Option) {
    Assembler += (Assembler.empty() ? "" : ",") + Option;
  };
  if (Cap && !FrontEnd)
    Add("-maxrregcount=" + std::to_string(*Cap));
  if (LoadsFromL2)
    Add("-dlcm=cg");
  if (RegisterUsageLevel)
    Add("--register-usage-level=" + std::to_string(*RegisterUsageLevel));
  if (!Assembler.empty())
    Words.push_back("-Xptxas=" + Assembler);
  return Words;
}

VariantSetting FileOptions::settingOf(const FileKernel &K) const {
  VariantSetting V;
  if (Cap && !K.Bounded) {
    V.Cap = Cap;
    if (FrontEnd)
      V.FrontEndCap = Cap;
  }
  if (LoadsFromL2)
    V.Loads = LoadCaching::L2Only;
  V.RegisterUsageLevel = RegisterUsageLevel;
  return V;
}

/// Returns the expected time of \p K with \p V, relative to the default's.
static double expectedRatio(const FileKernel &K, const VariantSetting &V) {
  // The assumed ratio of a variant that was not timed and has fewer registers than the default.
  // Nothing more precise is known.
  constexpr double Pressed = 1.1;
  if (V == K.Decided)
    return K.DecidedRatio.value_or(V.isDefault() ? 1 : 0.99);
  if (std::optional<double> Timed = timedRatio(K.Report, variantName(V)))
    return *Timed;
  return V.Cap && *V.Cap < K.DefaultRegs ? Pressed : 1;
}

FileOptions carve::chooseFileOptions(const std::vector<FileKernel> &Kernels) {
  std::set<std::optional<unsigned>> Caps = {std::nullopt}, Levels = {std::nullopt};
  std::set<bool> Loads = {false};
  for (const FileKernel &K : Kernels) {
    Caps.insert(K.Decided.Cap);
    Caps.insert(K.Decided.FrontEndCap);
    Levels.insert(K.Decided.RegisterUsageLevel);
    Loads.insert(K.Decided.Loads == LoadCaching::L2Only);
  }
  FileOptions Best;
  auto Total = [&](const FileOptions &O) {
    double Sum = 0;
    // If no report knows the kernels' shares, decided kernels have equal weights and the others
    // have none.
    for (const FileKernel &K : Kernels) {
      double Weight = K.Share > 0 ? K.Share : K.Decided.isDefault() ? 0 : 1e-3;
      Sum += Weight * expectedRatio(K, O.settingOf(K));
    }
    return Sum;
  };
  double Least = Total(Best);
  for (const std::optional<unsigned> &Level : Levels)
    for (bool L2 : Loads)
      for (const std::optional<unsigned> &Cap : Caps)
        for (bool FrontEnd : {true, false}) {
          FileOptions O{Cap, FrontEnd, L2, Level};
          if (double Sum = Total(O); Sum < Least * (1 - 1e-9)) {
            Least = Sum;
            Best = O;
          }
        }
  return Best;
}
