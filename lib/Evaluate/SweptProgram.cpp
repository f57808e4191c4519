#include "Evaluate/SweptProgram.h"

#include "Device/CriticalPoints.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace carve;

namespace {

/// A kernel with at least this share of the program's time is tuned.
constexpr double HotShare = 0.001;
/// A setting may lack shapes with at most this share of a kernel's time.
constexpr double SmallShare = 0.01;

/// The rows of one kernel: for each setting and shape the time of one launch.
struct KernelRows {
  struct Launches {
    double NsPerLaunch = 0;
    uint64_t Count = 0;
    SweepMetrics Metrics;
  };
  struct Setting {
    std::map<LaunchShape, Launches> Shapes;
    unsigned RegsPerThread = 0;
    unsigned StaticSmemBytes = 0;
  };
  std::map<SweepSetting, Setting> Settings;

  void add(const SweepRow &R) {
    if (R.Launches == 0 || R.TotalNs <= 0)
      return;
    Setting &S = Settings[R.Setting];
    double NsPerLaunch = R.TotalNs / double(R.Launches);
    auto [At, New] = S.Shapes.try_emplace(R.Shape, Launches{NsPerLaunch, R.Launches, R.Metrics});
    if (!New && NsPerLaunch < At->second.NsPerLaunch)
      At->second = {NsPerLaunch, R.Launches, R.Metrics};
    S.RegsPerThread = std::max(S.RegsPerThread, R.RegsPerThread);
    S.StaticSmemBytes = std::max(S.StaticSmemBytes, R.StaticSmemBytes);
  }
};

/// Returns the time of \p S for the launches of \p Default, or nothing if too much is missing.
std::optional<double> comparableNs(const KernelRows::Setting &S,
                                   const KernelRows::Setting &Default) {
  double Sum = 0, Missing = 0, Whole = 0;
  for (const auto &[Shape, L] : Default.Shapes) {
    double DefaultNs = L.NsPerLaunch * double(L.Count);
    Whole += DefaultNs;
    auto Found = S.Shapes.find(Shape);
    if (Found == S.Shapes.end())
      Missing += DefaultNs;
    else
      Sum += Found->second.NsPerLaunch * double(L.Count);
  }
  if (Missing > SmallShare * Whole)
    return std::nullopt;
  return Sum + Missing;
}

/// Returns the kernel made of \p Rows, or nothing if they have no time of the default.
std::optional<SweptKernel> sweptKernel(const std::string &Name, const KernelRows &Rows) {
  auto Default = Rows.Settings.find({});
  if (Default == Rows.Settings.end())
    return std::nullopt;
  SweptKernel K;
  K.Name = Name;
  K.StaticSmemBytes = Default->second.StaticSmemBytes;
  K.Shape = llvm::max_element(Default->second.Shapes, [](const auto &A, const auto &B) {
              return A.second.NsPerLaunch * double(A.second.Count) <
                     B.second.NsPerLaunch * double(B.second.Count);
            })->first;
  K.MeanNs = Default->second.Shapes.at(K.Shape).NsPerLaunch;
  for (const auto &[Setting, S] : Rows.Settings)
    if (std::optional<double> Ns = comparableNs(S, Default->second))
      K.Variants[Setting] = {*Ns, S.RegsPerThread,
                             S.Shapes.count(K.Shape) ? S.Shapes.at(K.Shape).Metrics
                                                     : SweepMetrics()};
  return K;
}

/// Returns true if \p S sets at most a cap for ptxas.
bool isCapAlone(const SweepSetting &S) {
  SweepSetting Capped;
  Capped.PtxasCap = S.PtxasCap;
  return S == Capped;
}

/// Returns the row that answers to \p Cap with the other knobs as in \p Knobs. If \p FrontEndAsCap,
/// the front-end cap is the same as the cap of ptxas.
std::optional<SweepSetting> rowOfCap(const SweptKernel &K, SweepSetting Knobs, unsigned Cap,
                                     bool FrontEndAsCap) {
  std::optional<SweepSetting> Nearest;
  for (const auto &[S, V] : K.Variants) {
    if (!S.PtxasCap || *S.PtxasCap < Cap || (Nearest && *Nearest->PtxasCap <= *S.PtxasCap))
      continue;
    Knobs.PtxasCap = S.PtxasCap;
    if (FrontEndAsCap)
      Knobs.FrontEndCap = S.PtxasCap;
    if (S == Knobs && (*S.PtxasCap == Cap || V.RegsPerThread <= Cap))
      Nearest = S;
  }
  return Nearest;
}

/// Adds the rows for \p V combined with all caps. \p V has all knobs but caps, and \p Knobs is the
/// same setting as the table writes it.
void addRows(SweptSpace &To, const SweptKernel &K, VariantSetting V, SweepSetting Knobs) {
  auto AddRow = [&](const VariantSetting &Setting, std::optional<SweepSetting> Row) {
    if (Row && K.Variants.count(*Row) && !Setting.isDefault())
      To.Rows[Setting] = *Row;
  };
  for (bool Free : {false, true}) {
    V.Cap = std::nullopt;
    V.FrontEndCap = Knobs.FrontEndCap =
        Free ? std::optional<unsigned>(FreeFrontEndCap) : std::nullopt;
    AddRow(V, Knobs);
    for (unsigned Cap = To.Space.MinRegs; Cap <= To.Space.MaxRegs; ++Cap) {
      V.Cap = Cap;
      AddRow(V, rowOfCap(K, Knobs, Cap, /*FrontEndAsCap=*/false));
    }
  }
  Knobs.FrontEndCap = std::nullopt;
  for (unsigned Cap = To.Space.MinRegs; Cap <= To.Space.MaxRegs; ++Cap) {
    V.Cap = V.FrontEndCap = Cap;
    AddRow(V, rowOfCap(K, Knobs, Cap, /*FrontEndAsCap=*/true));
  }
}

} // namespace

double SweptProgram::defaultNs() const {
  double Sum = 0;
  for (const SweptKernel &K : Kernels)
    Sum += K.defaultNs();
  return Sum;
}

bool SweptProgram::isHot(const SweptKernel &K) const {
  return K.defaultNs() >= HotShare * defaultNs();
}

std::vector<SweptProgram> carve::sweptPrograms(llvm::ArrayRef<SweepRow> Rows,
                                               std::vector<std::string> &LeftOut) {
  struct ProgramRows {
    std::string Name;
    std::vector<std::pair<std::string, KernelRows>> Kernels;
    std::map<std::string, size_t> Places;
  };
  std::vector<ProgramRows> All;
  std::map<std::string, size_t> Places;
  for (const SweepRow &R : Rows) {
    auto [At, New] = Places.try_emplace(R.Program, All.size());
    if (New)
      All.push_back({R.Program, {}, {}});
    ProgramRows &P = All[At->second];
    auto [KernelAt, NewKernel] = P.Places.try_emplace(R.Kernel, P.Kernels.size());
    if (NewKernel)
      P.Kernels.push_back({R.Kernel, {}});
    P.Kernels[KernelAt->second].second.add(R);
  }
  std::vector<SweptProgram> Programs;
  for (const ProgramRows &P : All) {
    SweptProgram Swept{P.Name, {}};
    for (const auto &[Name, KernelRows] : P.Kernels)
      if (std::optional<SweptKernel> K = sweptKernel(Name, KernelRows))
        Swept.Kernels.push_back(std::move(*K));
    if (Swept.Kernels.empty())
      LeftOut.push_back(P.Name);
    else
      Programs.push_back(std::move(Swept));
  }
  return Programs;
}

/// The setting that the table writes as \p Row, without caps; nothing if it has a value that no
/// variant has.
static std::optional<VariantSetting> withoutCaps(const SweepSetting &Row) {
  VariantSetting V;
  if (!Row.Dlcm.empty()) {
    std::optional<LoadCaching> Loads = loadCachingNamed(Row.Dlcm);
    if (!Loads)
      return std::nullopt;
    V.Loads = *Loads;
  }
  if (Row.RegisterUsageLevel != SweepSetting::DefaultRegisterUsageLevel)
    V.RegisterUsageLevel = Row.RegisterUsageLevel;
  V.OptimizationLevel = Row.OptimizationLevel;
  V.SmemSpilling = Row.SmemSpilling;
  V.FrontEnd = Row.FrontEnd;
  V.Restrict = Row.Restrict;
  V.KnownPtx = Row.KnownPtx;
  return V;
}

/// Adds \p Value to \p Values if it is not there and not \p Default.
template <class T> static void addTo(std::vector<T> &Values, const T &Value, const T &Default) {
  if (Value != Default && !llvm::is_contained(Values, Value))
    Values.push_back(Value);
}

SweptSpace carve::sweptSpace(const SweptKernel &K, const DeviceModel &D) {
  RegisterRegion Region;
  Region.Default.RegsPerThread = K.Variants.at({}).RegsPerThread;
  Region.Default.StaticSmemBytes = K.StaticSmemBytes;
  Region.AtMin = Region.AtMax = Region.Default;
  std::set<SweepSetting> Combinations; // Of knobs other than caps.
  for (const auto &[Setting, V] : K.Variants) {
    SweepSetting Uncapped = Setting;
    Uncapped.FrontEndCap = Uncapped.PtxasCap = std::nullopt;
    Combinations.insert(Uncapped);
    if (!isCapAlone(Setting))
      continue;
    Region.AtMin.RegsPerThread = std::min(Region.AtMin.RegsPerThread, V.RegsPerThread);
    Region.AtMax.RegsPerThread = std::max(Region.AtMax.RegsPerThread, V.RegsPerThread);
  }
  SweptSpace Swept;
  KnobSpace &Space = Swept.Space;
  for (const CriticalPoint &P : criticalPoints(D, Region, K.Shape))
    Space.Caps.push_back(P.Regs);
  Space.DefaultRegs = Region.Default.RegsPerThread;
  Space.MinRegs = Region.rMin();
  Space.MaxRegs = Region.rMax();
  Space.FrontEndCaps = Space.SmemSpilling = true;
  for (const SweepSetting &Knobs : Combinations) {
    std::optional<VariantSetting> V = withoutCaps(Knobs);
    if (!V)
      continue;
    addTo(Space.FrontEndKnobs, V->FrontEnd, FrontEndKnob::None);
    addTo(Space.LoadCachings, V->Loads, LoadCaching::AsCompiled);
    if (V->RegisterUsageLevel)
      addTo(Space.RegisterUsageLevels, *V->RegisterUsageLevel,
            SweepSetting::DefaultRegisterUsageLevel);
    Space.Restrict |= V->Restrict;
    Space.KnownPtx |= V->KnownPtx;
    Space.LessOptimized |= V->OptimizationLevel.has_value();
    addRows(Swept, K, *V, Knobs);
  }
  for (const auto &[Setting, Row] : Swept.Rows)
    Space.Only.push_back(Setting);
  return Swept;
}

/// Returns the counts that gave \p M its efficiency and utilization. The table does not say how
/// often spills are executed, so they count as if executed once.
static KernelCounts sweptCounts(const StaticMetrics &M, const LaunchShape &Shape) {
  double Threads = double(Shape.Grid[0]) * Shape.Grid[1] * Shape.Grid[2] * Shape.threadsPerBlock();
  KernelCounts Counts;
  Counts.Instructions = 1 / (*M.Efficiency * Threads);
  // Utilization is inversely proportional to the regions.
  if (M.Utilization && M.BlocksPerSm)
    Counts.Regions =
        utilization(Counts.Instructions, 1, M.WarpsPerBlock, M.BlocksPerSm) / *M.Utilization;
  Counts.LocalLoadBytes = M.SpillBytes;
  return Counts;
}

StaticMetrics carve::sweptMetrics(const SweptKernel &K, const SweptVariant &V,
                                  const DeviceModel &D) {
  BlockFootprint B;
  B.RegsPerThread = V.RegsPerThread;
  B.ThreadsPerBlock = K.Shape.threadsPerBlock();
  B.StaticSmemBytes = K.StaticSmemBytes;
  B.DynamicSmemBytes = K.Shape.DynamicSmemBytes;
  StaticMetrics M;
  M.RegsPerThread = V.RegsPerThread;
  M.StaticSmemBytes = K.StaticSmemBytes;
  M.SpillBytes = V.Metrics.SpillBytes.value_or(0);
  M.BlocksPerSm = blocksPerSm(D, B);
  M.WarpsPerBlock = (B.ThreadsPerBlock + D.WarpSize - 1) / D.WarpSize;
  M.Occupancy = double(M.BlocksPerSm * M.WarpsPerBlock) * D.WarpSize / D.MaxThreadsPerSm;
  if (V.Metrics.Occupancy) {
    M.Occupancy = *V.Metrics.Occupancy;
    M.BlocksPerSm =
        std::lround(M.Occupancy * D.MaxThreadsPerSm / D.WarpSize / std::max(1u, M.WarpsPerBlock));
  }
  M.Efficiency = V.Metrics.Efficiency;
  M.Utilization = V.Metrics.Utilization;
  if (M.Efficiency)
    M.Counts = sweptCounts(M, K.Shape);
  return M;
}
