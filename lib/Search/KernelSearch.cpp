// The first round spreads: it takes the critical points whose occupancy is nearest to the
// default's, then the other knobs, each alone, by expected gain. Later rounds take what is one knob
// away from the best variant, and only then anything else, again by expected gain. Expected gain is
// large if the model predicts a fast variant or is uncertain.
#include "Search/KernelSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

using namespace carve;

namespace {

/// A ratio outside these bounds says only "far away". Its exact value would distort the model.
constexpr double LeastRatio = 0.1, LargestRatio = 3;

/// Beyond so many points, a batch is ordered by what each point promises alone: to choose each as
/// if the ones before had turned out as predicted takes time that grows with the cube of their
/// number.
constexpr size_t MostBelieved = 64;

/// A round with fewer variants has no room for settings of the assembler that promise little.
constexpr size_t RoomyRound = 8;

bool isCriticalPoint(const VariantSetting &V) {
  VariantSetting CapAlone;
  CapAlone.Cap = V.Cap;
  return V.Cap && V == CapAlone;
}

} // namespace

KernelSearch::KernelSearch(const KnobSpace &Space, unsigned Effort, const ModelScale &Scale)
    : Space(Space), Effort(Effort), Scale(Scale), Model(Space, Scale) {
  // So that a setting can be judged before anything is timed.
  Model.learn(Measured{point({}), 0});
}

const Candidate *KernelSearch::made(const VariantSetting &V) const {
  auto Found = Candidates.find(V);
  return Found == Candidates.end() ? nullptr : &Found->second;
}

ModelPoint KernelSearch::point(const VariantSetting &V) const {
  const Candidate *Made = made(V), *Default = made({});
  return Model.point(V, Made ? &Made->Metrics : nullptr, Default ? &Default->Metrics : nullptr);
}

/// Returns true if the knob that \p Alone sets could not be compiled or gave the default's code. A
/// cicc that does not take its option never does, and a loop that it leaves alone it leaves alone
/// at all caps.
bool KernelSearch::isIdle(const VariantSetting &Alone) const {
  if (Alone.isDefault() || !Gone.count(Alone))
    return false;
  const Candidate *Made = made(Alone), *Default = made({});
  return !Made || (Default && !Made->CodeDigest.empty() && Made->CodeDigest == Default->CodeDigest);
}

/// Returns the settings that have one of those knobs of \p V alone that are tried alone before they
/// are combined with others: the front-end knob, restrict pointers, and constants in the PTX. A
/// knob that \p V does not set gives the default.
static std::array<VariantSetting, 3> aloneOf(const VariantSetting &V) {
  return {VariantSetting{.FrontEnd = V.FrontEnd}, VariantSetting{.KnownPtx = V.KnownPtx},
          VariantSetting{.Restrict = V.Restrict}};
}

/// Returns true if a setting may be tried now. A register-usage level, and the optimization level,
/// must have been timed alone before it is combined with other knobs.
bool KernelSearch::worthwhile(const VariantSetting &V) const {
  if (Gone.count(V) ||
      llvm::any_of(aloneOf(V), [&](const VariantSetting &Alone) { return isIdle(Alone); }))
    return false;
  auto MayBeSet = [&](std::optional<unsigned> VariantSetting::*Knob) {
    VariantSetting Alone;
    Alone.*Knob = V.*Knob;
    return !(V.*Knob) || V == Alone ||
           llvm::any_of(Chosen, [&](const VariantSetting &W) { return W.*Knob == V.*Knob; });
  };
  return MayBeSet(&VariantSetting::RegisterUsageLevel) &&
         MayBeSet(&VariantSetting::OptimizationLevel);
}

/// Returns true if \p V spills to shared memory beside a register cap that was not compiled alone,
/// or has a front-end knob, restrict pointers or constants in the PTX that were not tried alone.
/// What spills there shows in the cap's code, and these knobs often do nothing.
bool KernelSearch::early(const VariantSetting &V) const {
  VariantSetting CapAlone;
  CapAlone.Cap = V.Cap;
  auto NotAlone = [&](const VariantSetting &Alone) {
    return !Alone.isDefault() && V != Alone && !Gone.count(Alone);
  };
  return (V.SmemSpilling && V.Cap && !made(CapAlone)) || llvm::any_of(aloneOf(V), NotAlone);
}

/// Returns the settings that are one knob away from the best variant, or from one so close to it
/// that a single knob may reverse their order.
std::vector<VariantSetting> KernelSearch::aroundTheBest() const {
  std::vector<VariantSetting> Around;
  if (Round == 0)
    return Around;
  double Close = BestRatio * std::exp(Scale.FrontEnd);
  auto AppendBeside = [&](const VariantSetting &Middle) {
    for (const VariantSetting &V : neighboursOf(Space, Effort, Middle))
      if (worthwhile(V) && !early(V) && !llvm::is_contained(Around, V))
        Around.push_back(V);
  };
  if (Close >= 1)
    AppendBeside({});
  for (const auto &[V, Ratio] : Ratios)
    if (Ratio <= Close)
      AppendBeside(V);
  return Around;
}

/// Returns at most \p Most critical points of \p Among, those first whose occupancy is nearest to
/// the default's.
std::vector<VariantSetting> KernelSearch::nearestPoints(llvm::ArrayRef<VariantSetting> Among,
                                                        size_t Most) const {
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
  std::vector<VariantSetting> Nearest;
  for (const auto &[Distance, V] : Points)
    if (Nearest.size() < Most)
      Nearest.push_back(V);
  return Nearest;
}

/// Returns the settings that a round of \p Count contains whatever the model predicts: critical
/// points in the first round, each front-end knob, restrict pointers and constants in the PTX alone
/// as early as there is room, later each register-usage level and the optimization level alone, and
/// shared memory for what spills at a cap. What spilling costs in either memory shows neither in
/// the cap's time nor in that of other caps.
std::vector<VariantSetting> KernelSearch::landmarks(llvm::ArrayRef<VariantSetting> Among,
                                                    size_t Count) const {
  std::vector<VariantSetting> Alone;
  if (Round == 0)
    Alone = nearestPoints(Among, Effort == 0 ? Count : (Count + 2) / 3);
  for (const VariantSetting &V : Among)
    if (llvm::is_contained(aloneOf(V), V) && 2 * Alone.size() < Count)
      Alone.push_back(V);
  if (Round == 0)
    return Alone;
  for (const VariantSetting &V : Among) {
    VariantSetting Landmark;
    if (V.OptimizationLevel)
      Landmark.OptimizationLevel = V.OptimizationLevel;
    else
      Landmark.RegisterUsageLevel = V.RegisterUsageLevel;
    if (V.SmemSpilling) {
      Landmark.SmemSpilling = true;
      Landmark.Cap = V.Cap;
    }
    // Few runs go to what gains least on average.
    bool Crowded = !V.assembler().isDefault() && Effort < 3
                       ? Count < RoomyRound || 4 * Alone.size() >= Count
                       : 2 * Alone.size() >= Count;
    if (V == Landmark && !Crowded)
      Alone.push_back(V);
  }
  return Alone;
}

/// Returns the places in \p Pool of the settings from which \p By expects at least \p Least, each
/// behind its expected gain with the sign reversed, the largest gain first.
std::vector<std::pair<double, size_t>> KernelSearch::byGain(llvm::ArrayRef<VariantSetting> Pool,
                                                            const VariantModel &By,
                                                            double Least) const {
  std::vector<std::pair<double, size_t>> Gains;
  for (size_t I = 0; I < Pool.size(); ++I)
    if (double Gain = By.expectedGain(point(Pool[I])); Gain >= Least)
      Gains.push_back({-Gain, I});
  llvm::sort(Gains);
  return Gains;
}

/// Returns up to \p Count settings of \p Among: the landmarks, then the most promising settings
/// around the best variant, then the most promising others. Each is chosen as if the ones before it
/// had turned out as predicted.
std::vector<VariantSetting> KernelSearch::pick(llvm::ArrayRef<VariantSetting> Among,
                                               size_t Count) const {
  VariantModel Believer = Model;
  std::vector<VariantSetting> Picked;
  std::vector<VariantSetting> Landmarks = landmarks(Among, Count);
  std::vector<VariantSetting> Around = aroundTheBest();
  auto Take = [&](const VariantSetting &V) {
    if (Believer.points() < MostBelieved)
      Believer.believe(point(V));
    Picked.push_back(V);
  };
  for (const VariantSetting &V : Landmarks)
    if (Picked.size() < Count)
      Take(V);
  for (bool Beside : {true, false}) {
    std::vector<VariantSetting> Pool;
    for (const VariantSetting &V : Among)
      if (!llvm::is_contained(Picked, V) && (!Beside || llvm::is_contained(Around, V)))
        Pool.push_back(V);
    while (Picked.size() < Count && !Pool.empty()) {
      std::vector<std::pair<double, size_t>> Gains = byGain(Pool, Believer, LeastPromise);
      if (Gains.empty())
        break;
      bool Believes = Believer.points() < MostBelieved;
      if (Believes)
        Gains.resize(1);
      std::set<size_t> Taken;
      for (const auto &[Gain, I] : Gains)
        if (Picked.size() < Count) {
          Take(Pool[I]);
          Taken.insert(I);
        }
      if (!Believes)
        break;
      Pool.erase(Pool.begin() + long(*Taken.begin()));
    }
  }
  return Picked;
}

/// Returns all settings that may be tried now: those around the best variant first.
std::vector<VariantSetting> KernelSearch::left() const {
  std::vector<VariantSetting> Among = aroundTheBest();
  for (const VariantSetting &V : settingsOf(Space, Effort))
    if (worthwhile(V) && !early(V) && !llvm::is_contained(Among, V))
      Among.push_back(V);
  return Among;
}

void KernelSearch::suggest(llvm::ArrayRef<VariantSetting> Settings) {
  std::vector<VariantSetting> Usual = settingsOf(Space, Effort);
  for (const VariantSetting &V : Settings)
    if (!V.isDefault() && !llvm::is_contained(Suggested, V) &&
        (Effort == 0 ? llvm::is_contained(Usual, V) : Space.allows(V)))
      Suggested.push_back(V);
}

std::vector<VariantSetting> KernelSearch::propose(size_t Most) {
  if (Effort == 0 && Round > 0)
    return {};
  std::vector<VariantSetting> Settings;
  for (const VariantSetting &V : Suggested)
    if (!Gone.count(V) && Settings.size() < Most)
      Settings.push_back(V);
  std::vector<VariantSetting> Among = left();
  llvm::erase_if(Among, [&](const VariantSetting &V) { return llvm::is_contained(Settings, V); });
  llvm::append_range(Settings, pick(Among, Most - Settings.size()));
  return Settings;
}

void KernelSearch::fill(std::vector<VariantSetting> &Proposed, size_t Most) const {
  if (Proposed.empty() || Proposed.size() >= Most)
    return;
  std::vector<VariantSetting> Others = left();
  const std::set<VariantSetting> Taken(Proposed.begin(), Proposed.end());
  llvm::erase_if(Others, [&](const VariantSetting &V) { return Taken.count(V) > 0; });
  for (const auto &[Gain, I] : byGain(Others, Model, 0))
    if (Proposed.size() < Most)
      Proposed.push_back(Others[I]);
}

/// What is left is judged by a model in which no time is further above what was expected than the
/// fastest is below it, or than caps usually differ. Spilling makes some variants several times
/// slower, which does not make it likelier that others are several times faster, but the model's
/// scale is symmetric. This never makes a time better than the default's: otherwise code that was
/// expected to be fast, and was slow, would count as fast, and nothing else could promise more. The
/// search itself uses the times as they are: to overrate what is uncertain makes it explore.
KernelSearch::Rest KernelSearch::rest(llvm::ArrayRef<VariantSetting> Also) const {
  Rest Left;
  if (Effort == 0 && Round > 0)
    return Left;
  std::vector<Measured> Seen = {{point({}), 0}};
  double Furthest = Scale.Cap;
  for (const auto &[V, Ratio] : Ratios) {
    Seen.push_back({point(V), std::log(std::clamp(Ratio, LeastRatio, LargestRatio))});
    Furthest = std::max(Furthest, Seen.back().Point.Prior - Seen.back().LogRatio);
  }
  for (Measured &M : Seen)
    M.LogRatio = std::min(M.LogRatio, std::max(0.0, M.Point.Prior + Furthest));
  VariantModel Sober(Space, Scale);
  Sober.learn(Seen);
  std::vector<VariantSetting> Settings = left();
  llvm::append_range(Settings, Also);
  for (const VariantSetting &V : Settings)
    if (double Gain = Sober.expectedGain(point(V)); Gain >= LeastPromise) {
      ++Left.Settings;
      Left.Promise = std::max(Left.Promise, Gain);
    }
  return Left;
}

void KernelSearch::cut(const VariantSetting &V, std::string Reason) {
  if (Gone.insert(V).second)
    Carved.push_back({V, std::move(Reason), /*SameCode=*/false});
}

/// Returns those of \p Made that metrics put behind the default, another one, or a timed variant.
std::set<VariantSetting> KernelSearch::outdone(llvm::ArrayRef<Candidate> Made) const {
  std::vector<Candidate> All;
  const Candidate *Default = made({});
  if (Default)
    All.push_back(*Default);
  for (const VariantSetting &V : Chosen)
    All.push_back(*made(V));
  size_t Known = All.size();
  All.insert(All.end(), Made.begin(), Made.end());
  std::set<VariantSetting> Behind;
  for (const CarvedVariant &C : superfluous(All, Known))
    Behind.insert(C.Setting);
  for (const Candidate &C : Made)
    if (Default && thresholdReason(C, *Default, Space.BandwidthShare))
      Behind.insert(C.Setting);
  return Behind;
}

/// Notes \p Made, and returns those whose code is neither the default's nor that of an earlier
/// variant. Of two with the same code, the one for more launches stays.
std::vector<Candidate> KernelSearch::differentFrom(std::vector<Candidate> Made) {
  std::map<std::string, VariantSetting> ByCode;
  auto IsNew = [&](const Candidate &C) {
    if (C.CodeDigest.empty())
      return true;
    auto [Same, New] = ByCode.try_emplace(C.CodeDigest, C.Setting);
    if (!New && Same->second.mayStandFor(C.Setting))
      return false;
    Same->second = C.Setting;
    return true;
  };
  for (const Candidate &C : Made)
    if (Candidates.emplace(C.Setting, C).second && !C.Setting.isDefault())
      InOrder.push_back(C.Setting);
  if (const Candidate *Default = made({}))
    IsNew(*Default);
  for (const VariantSetting &V : Chosen)
    IsNew(*made(V));
  std::vector<Candidate> Different;
  for (Candidate &C : Made) {
    if (C.Setting.isDefault() || Gone.count(C.Setting))
      continue;
    if (IsNew(C))
      Different.push_back(std::move(C));
    else if (Gone.insert(C.Setting).second)
      Carved.push_back({C.Setting, "same code as " + variantName(ByCode.at(C.CodeDigest)),
                        /*SameCode=*/true});
  }
  return Different;
}

/// Returns at most \p Most of \p Different, in the order in which a replay verifies them. What was
/// suggested comes first, and what metrics put behind another one comes last; metrics were not
/// known when the settings were proposed. A first round that turns out to be small is not one of
/// caps alone, as in landmarks().
std::vector<VariantSetting> KernelSearch::inOrderOfPromise(llvm::ArrayRef<Candidate> Different,
                                                           size_t Most) const {
  const std::set<VariantSetting> Behind = outdone(Different);
  std::vector<VariantSetting> Order;
  std::map<VariantSetting, double> Gains;
  for (const Candidate &C : Different) {
    Order.push_back(C.Setting);
    Gains[C.Setting] = Model.expectedGain(point(C.Setting));
  }
  auto SortBy = [&](auto Key) {
    llvm::stable_sort(
        Order, [&](const VariantSetting &A, const VariantSetting &B) { return Key(A) < Key(B); });
  };
  auto IsBehind = [&](const VariantSetting &V) { return Behind.count(V) > 0; };
  if (Order.size() > Most) {
    std::vector<VariantSetting> Points;
    if (Round == 0 && Effort > 0)
      Points = nearestPoints(Order, (Most + 2) / 3);
    SortBy([&](const VariantSetting &V) {
      bool IsFar = !Points.empty() && isCriticalPoint(V) && !llvm::is_contained(Points, V);
      return std::make_tuple(!llvm::is_contained(Suggested, V), IsBehind(V), IsFar);
    });
    Order.resize(Most);
  }
  SortBy([&](const VariantSetting &V) {
    auto Suggestion = llvm::find(Suggested, V) - Suggested.begin();
    return std::make_tuple(Suggestion, IsBehind(V), -Gains.at(V));
  });
  return Order;
}

std::vector<VariantSetting> KernelSearch::admit(llvm::ArrayRef<VariantSetting> Tried,
                                                std::vector<Candidate> Made, size_t Most) {
  for (const VariantSetting &V : Tried)
    if (llvm::none_of(Made, [&](const Candidate &C) { return C.Setting == V; }))
      Gone.insert(V);
  std::vector<VariantSetting> Now = inOrderOfPromise(differentFrom(std::move(Made)), Most);
  ++Round;
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

void KernelSearch::finish() {
  for (const VariantSetting &V : InOrder) {
    if (Gone.count(V))
      continue;
    auto [Mean, Deviation] = Model.predict(point(V));
    cut(V,
        llvm::formatv("not timed: expected at {0:F3} of the default's time (+- {1:F3}), the best "
                      "is {2:F3}",
                      std::exp(Mean), std::exp(Mean) * Deviation, BestRatio)
            .str());
  }
}
