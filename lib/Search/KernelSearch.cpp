// The first round spreads: it takes the critical points whose occupancy is nearest to the
// default's, then the other knobs, each alone, by expected gain. Later rounds take what is one knob
// away from the best variant, and only then anything else, again by expected gain. Expected gain is
// large if the model predicts a fast variant or is uncertain.
#include "Search/KernelSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace carve;

namespace {

/// A variant whose expected gain, in the logarithm of time, is below this is not worth a run. It is
/// a hundredth of the gain that selection requires of a winner.
constexpr double LeastExpectedGain = 1e-4;

/// A ratio outside these bounds says only "far away". Its exact value would distort the model.
constexpr double LeastRatio = 0.1, LargestRatio = 3;

bool isCriticalPoint(const VariantSetting &V) {
  VariantSetting CapAlone;
  CapAlone.Cap = V.Cap;
  return V.Cap && V == CapAlone;
}

} // namespace

KernelSearch::KernelSearch(const KnobSpace &Space, SearchLimits Limits, const ModelScale &Scale)
    : Space(Space), Limits(Limits), Scale(Scale), Model(Space, Scale) {
  // Each level is timed once alone before it can be combined, which uses up variants of the budget.
  constexpr unsigned LeastForLevels = 9;
  if (Limits.MaxTimed < LeastForLevels)
    this->Limits.Effort = std::min(Limits.Effort, 2u);
}

unsigned KernelSearch::rounds() const {
  return Limits.Effort == 0 ? 1 : Limits.Effort >= 3 ? 3 : 2;
}

/// Returns how many variants the current round times. Earlier rounds are larger: 7 and 5 of 12, or
/// 5, 4 and 3.
unsigned KernelSearch::roundSize() const {
  unsigned Left = Limits.MaxTimed - Timed;
  switch (rounds() - Round) {
  case 1:
    return Left;
  case 2:
    return (Left * 4 + 6) / 7;
  default:
    return (Left * 5 + 11) / 12;
  }
}

const Candidate *KernelSearch::made(const VariantSetting &V) const {
  auto Found = Candidates.find(V);
  return Found == Candidates.end() ? nullptr : &Found->second;
}

ModelPoint KernelSearch::point(const VariantSetting &V) const {
  const Candidate *Made = made(V), *Default = made({});
  return Model.point(V, Made ? &Made->Metrics : nullptr, Default ? &Default->Metrics : nullptr);
}

/// Returns true if \p Knob alone could not be compiled or gave the default's code. A cicc that does
/// not take its option never does, and a loop that it leaves alone it leaves alone at all caps.
bool KernelSearch::frontEndKnobIdle(FrontEndKnob Knob) const {
  VariantSetting Alone;
  Alone.FrontEnd = Knob;
  if (Knob == FrontEndKnob::None || !Gone.count(Alone))
    return false;
  const Candidate *Made = made(Alone), *Default = made({});
  return !Made || (Default && !Made->CodeDigest.empty() && Made->CodeDigest == Default->CodeDigest);
}

/// Returns true if a setting may be tried now. A register-usage level must have been timed alone
/// before it is combined with other knobs.
bool KernelSearch::worthwhile(const VariantSetting &V) const {
  if (Gone.count(V) || frontEndKnobIdle(V.FrontEnd))
    return false;
  VariantSetting Alone;
  Alone.RegisterUsageLevel = V.RegisterUsageLevel;
  return !V.RegisterUsageLevel || V == Alone || llvm::any_of(Chosen, [&](const VariantSetting &W) {
    return W.RegisterUsageLevel == V.RegisterUsageLevel;
  });
}

/// Returns true if \p V spills to shared memory beside a register cap that was not compiled alone.
/// What spills there shows in that code, and caps themselves promise more.
bool KernelSearch::early(const VariantSetting &V) const {
  VariantSetting CapAlone;
  CapAlone.Cap = V.Cap;
  return V.SmemSpilling && V.Cap && !made(CapAlone);
}

/// Returns the settings that are one knob away from the best variant, or from one so close to it
/// that a single knob may reverse their order.
std::vector<VariantSetting> KernelSearch::aroundTheBest() const {
  std::vector<VariantSetting> Around;
  if (Round == 0)
    return Around;
  double Close = BestRatio * std::exp(Scale.FrontEnd);
  auto AppendBeside = [&](const VariantSetting &Middle) {
    for (const VariantSetting &V : neighboursOf(Space, Limits.Effort, Middle))
      if (worthwhile(V) && !llvm::is_contained(Around, V))
        Around.push_back(V);
  };
  if (Close >= 1)
    AppendBeside({});
  for (const auto &[V, Ratio] : Ratios)
    if (Ratio <= Close)
      AppendBeside(V);
  return Around;
}

/// Returns the critical points of \p Among, those first whose occupancy is nearest to the
/// default's. With effort 0 it returns all of them, else as many as a third of the budget.
std::vector<VariantSetting>
KernelSearch::nearestPoints(llvm::ArrayRef<VariantSetting> Among) const {
  std::vector<std::pair<double, VariantSetting>> Points;
  const Candidate *Default = made({});
  for (const VariantSetting &V : Among) {
    if (!isCriticalPoint(V) || !std::binary_search(Space.Caps.begin(), Space.Caps.end(), *V.Cap))
      continue;
    const Candidate *Made = made(V);
    double Levels = std::abs(std::log2(double(*V.Cap) / std::max(1u, Space.DefaultRegs)));
    if (Made && Default && Made->Metrics.BlocksPerSm && Default->Metrics.BlocksPerSm)
      Levels =
          std::abs(std::log2(double(Made->Metrics.BlocksPerSm) / Default->Metrics.BlocksPerSm));
    // Among points of one concurrency level, the one with the nearer register count comes first.
    constexpr double OfRegs = 0.01;
    Points.push_back({Levels + OfRegs * std::abs(double(*V.Cap) - Space.DefaultRegs), V});
  }
  llvm::stable_sort(Points, llvm::less_first());
  size_t Most = Limits.Effort == 0 ? Points.size() : std::max(1u, Limits.MaxTimed / 3);
  std::vector<VariantSetting> Nearest;
  for (const auto &[Distance, V] : Points)
    if (Nearest.size() < Most)
      Nearest.push_back(V);
  return Nearest;
}

/// Returns the settings that a round contains whatever the model predicts: critical points in the
/// first round, later each register-usage level alone. A level can be chosen only if it was timed
/// with all kernels of its unit.
std::vector<VariantSetting> KernelSearch::landmarks(llvm::ArrayRef<VariantSetting> Among) const {
  if (Round == 0)
    return nearestPoints(Among);
  std::vector<VariantSetting> Levels;
  for (const VariantSetting &V : Among) {
    VariantSetting LevelAlone;
    LevelAlone.RegisterUsageLevel = V.RegisterUsageLevel;
    if (V == LevelAlone && 2 * Levels.size() < roundSize())
      Levels.push_back(V);
  }
  return Levels;
}

/// Returns up to \p Count settings of \p Among: the landmarks, then the most promising settings
/// around the best variant, then the most promising others. Each is chosen as if the ones before it
/// had turned out as predicted.
std::vector<VariantSetting> KernelSearch::pick(llvm::ArrayRef<VariantSetting> Among,
                                               size_t Count) const {
  VariantModel Believer = Model;
  if (Round == 0)
    Believer.learn(Measured{point({}), 0});
  std::vector<VariantSetting> Picked;
  auto Take = [&](const VariantSetting &V) {
    Believer.believe(point(V));
    Picked.push_back(V);
  };
  for (const VariantSetting &V : landmarks(Among))
    if (Picked.size() < Count)
      Take(V);
  auto MostPromising = [&](auto MayBe) {
    double Most = LeastExpectedGain;
    const VariantSetting *Next = nullptr;
    for (const VariantSetting &V : Among)
      if (double Gain = MayBe(V) ? Believer.expectedGain(point(V)) : 0;
          Gain > Most && !llvm::is_contained(Picked, V)) {
        Most = Gain;
        Next = &V;
      }
    return Next;
  };
  std::vector<VariantSetting> Around = aroundTheBest();
  while (Picked.size() < Count) {
    const VariantSetting *Next =
        MostPromising([&](const VariantSetting &V) { return llvm::is_contained(Around, V); });
    if (!Next)
      Next = MostPromising([](const VariantSetting &) { return true; });
    if (!Next)
      break;
    Take(*Next);
  }
  return Picked;
}

std::vector<VariantSetting> KernelSearch::propose() {
  Proposed.clear();
  if (Round >= rounds() || Timed >= Limits.MaxTimed) {
    finish();
    return {};
  }
  std::vector<VariantSetting> Among = aroundTheBest();
  for (const VariantSetting &V : settingsOf(Space, Limits.Effort))
    if (worthwhile(V) && !early(V) && !Outdone.count(V) && !llvm::is_contained(Among, V))
      Among.push_back(V);
  // Half as many again as will be timed are proposed, because some turn out to have the same code,
  // to be forbidden, or to be carved.
  size_t Size = roundSize();
  Proposed = pick(Among, Size + (Size + 1) / 2);
  if (Proposed.empty())
    finish();
  return Proposed;
}

void KernelSearch::cut(const VariantSetting &V, std::string Reason) {
  if (Gone.insert(V).second)
    Carved.push_back({V, std::move(Reason), /*SameCode=*/false});
}

std::vector<VariantSetting> KernelSearch::carve(std::vector<Candidate> Made) {
  std::set<VariantSetting> Came;
  for (Candidate &C : Made) {
    Came.insert(C.Setting);
    if (Candidates.emplace(C.Setting, C).second && !C.Setting.isDefault())
      InOrder.push_back(C.Setting);
  }
  for (const VariantSetting &V : Proposed)
    if (!Came.count(V))
      Gone.insert(V);
  // Timed variants come first, because they are never cut and cut what equals them.
  std::vector<Candidate> All;
  if (const Candidate *Default = made({}))
    All.push_back(*Default);
  for (const VariantSetting &V : Chosen)
    All.push_back(*made(V));
  size_t Known = All.size();
  std::vector<VariantSetting> Around = aroundTheBest();
  for (const Candidate &C : Made) {
    if (C.Setting.isDefault() || Gone.count(C.Setting))
      continue;
    const Candidate *Default = made({});
    if (std::optional<std::string> Reason =
            Default ? thresholdReason(C, *Default, Space.BandwidthShare) : std::nullopt) {
      cut(C.Setting, *Reason);
      continue;
    }
    All.push_back(C);
    // Beside the best variant only equal code cuts. There, the variants of interest differ in ways
    // that metrics do not show.
    if (llvm::is_contained(Around, C.Setting))
      All.back().Metrics.Counts.reset();
  }
  for (const VariantSetting &V : Came)
    Outdone.erase(V);
  for (CarvedVariant &C : superfluous(All, Known))
    if (C.SameCode)
      cut(C.Setting, std::move(C.Reason));
    else
      Outdone[C.Setting] = std::move(C.Reason);
  std::vector<VariantSetting> Among;
  for (const Candidate &C : llvm::ArrayRef(All).drop_front(Known))
    if (!Gone.count(C.Setting) && !Outdone.count(C.Setting))
      Among.push_back(C.Setting);

  std::vector<VariantSetting> Now = pick(Among, roundSize());
  if (Round == 0)
    Model.learn(Measured{point({}), 0});
  ++Round;
  Timed += Now.size();
  Gone.insert(Now.begin(), Now.end());
  Chosen.insert(Chosen.end(), Now.begin(), Now.end());
  return Now;
}

void KernelSearch::learn(const std::map<VariantSetting, double> &New) {
  std::vector<Measured> Seen;
  for (const auto &[V, Ratio] : New) {
    if (!(Ratio > 0) || V.isDefault())
      continue;
    Seen.push_back({point(V), std::log(std::clamp(Ratio, LeastRatio, LargestRatio))});
    Ratios[V] = Ratio;
    BestRatio = std::min(BestRatio, Ratio);
  }
  Model.learn(Seen);
}

/// Cuts every setting that was compiled but not timed, and says what the model expected of it.
void KernelSearch::finish() {
  for (const VariantSetting &V : InOrder) {
    if (Gone.count(V))
      continue;
    if (auto Reason = Outdone.find(V); Reason != Outdone.end()) {
      cut(V, Reason->second);
      continue;
    }
    auto [Mean, Deviation] = Model.predict(point(V));
    cut(V,
        llvm::formatv("not timed: expected at {0:F3} of the default's time (+- {1:F3}), the best "
                      "is {2:F3}",
                      std::exp(Mean), std::exp(Mean) * Deviation, BestRatio)
            .str());
  }
}
