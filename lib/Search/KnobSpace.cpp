#include "Search/KnobSpace.h"

#include <algorithm>
#include <set>

using namespace carve;

namespace {

/// Registers are allocated in steps of 8 per thread. A cap between two steps changes the code but
/// not the occupancy.
constexpr unsigned RegisterStep = 8;

/// Returns the register caps that \p Effort allows: the critical points, and from effort 2 on caps
/// close to them and to the default, every multiple of the allocation step, and the ends of the
/// register region.
std::set<unsigned> capsOf(const KnobSpace &Space, unsigned Effort) {
  std::set<unsigned> Caps(Space.Caps.begin(), Space.Caps.end());
  if (Effort < 2)
    return Caps;
  auto Add = [&](unsigned Cap) {
    if (Cap >= Space.MinRegs && Cap <= Space.MaxRegs)
      Caps.insert(Cap);
  };
  std::vector<unsigned> Middles = Space.Caps;
  Middles.push_back(Space.DefaultRegs);
  for (unsigned Middle : Middles)
    for (unsigned Distance : {2u, 4u}) {
      Add(Middle + Distance);
      if (Middle > Distance)
        Add(Middle - Distance);
    }
  Add(Space.MinRegs);
  Add(Space.MaxRegs);
  for (unsigned Cap = RegisterStep; Cap <= Space.MaxRegs; Cap += RegisterStep)
    Add(Cap);
  return Caps;
}

/// Returns true if the assembler's settings of \p V are set beside others with which they are not
/// tried at \p Effort. The product of all would be large, and each run of ptxas costs.
bool crowdsAssembler(const VariantSetting &V, unsigned Effort) {
  VariantSetting Caps;
  Caps.Cap = V.Cap;
  Caps.RegisterUsageLevel = V.RegisterUsageLevel;
  Caps.OptimizationLevel = V.OptimizationLevel;
  if (V.OptimizationLevel)
    return V.RegisterUsageLevel || V != Caps;
  return V.RegisterUsageLevel && Effort < 3 && V != Caps;
}

/// Returns true if \p V is compiled for known launches in two ways, of which one is enough.
bool isKnownTwice(const VariantSetting &V) { return V.KnownPtx && isForKnownLaunches(V.FrontEnd); }

/// Returns those of \p Settings that \p Space contains and \p Effort allows, without the default.
std::vector<VariantSetting> possible(std::vector<VariantSetting> Settings, const KnobSpace &Space,
                                     unsigned Effort) {
  std::set<VariantSetting> Possible(Space.Only.begin(), Space.Only.end());
  std::erase_if(Settings, [&](const VariantSetting &V) {
    return V.isDefault() || crowdsAssembler(V, Effort) || isKnownTwice(V) ||
           (!Possible.empty() && !Possible.count(V));
  });
  return Settings;
}

/// Returns the front-end caps that are tried with the register cap \p Cap. No front-end cap is the
/// first of them.
std::vector<std::optional<unsigned>> frontEndCapsWith(const KnobSpace &Space, unsigned Effort,
                                                      std::optional<unsigned> Cap) {
  std::vector<std::optional<unsigned>> FrontEnds{std::nullopt};
  if (!Space.FrontEndCaps || Effort < 1)
    return FrontEnds;
  FrontEnds.push_back(FreeFrontEndCap);
  if (Cap && *Cap != FreeFrontEndCap)
    FrontEnds.push_back(Cap);
  return FrontEnds;
}

/// Adds the nearest element of \p Caps above \p Cap and the nearest below it.
void appendBeside(std::set<unsigned> &To, const std::set<unsigned> &Caps, unsigned Cap) {
  if (auto Above = Caps.upper_bound(Cap); Above != Caps.end())
    To.insert(*Above);
  if (auto Below = Caps.lower_bound(Cap); Below != Caps.begin())
    To.insert(*std::prev(Below));
}

} // namespace

bool KnobSpace::allows(const VariantSetting &V) const {
  auto OneOf = [](const auto &Values, const auto &Value) {
    return std::find(Values.begin(), Values.end(), Value) != Values.end();
  };
  if (isKnownTwice(V) || (!Only.empty() && !OneOf(Only, V)))
    return false;
  if (V.Cap && !OneOf(Caps, *V.Cap) && (*V.Cap < MinRegs || *V.Cap > MaxRegs))
    return false;
  return (!V.FrontEndCap || FrontEndCaps) &&
         (V.FrontEnd == FrontEndKnob::None || OneOf(FrontEndKnobs, V.FrontEnd)) &&
         (!V.Restrict || Restrict) && (!V.KnownPtx || KnownPtx) &&
         (!V.SmemSpilling || maySpillBeside(V)) &&
         (V.Loads == LoadCaching::AsCompiled || OneOf(LoadCachings, V.Loads)) &&
         (!V.RegisterUsageLevel || OneOf(RegisterUsageLevels, *V.RegisterUsageLevel)) &&
         (!V.OptimizationLevel || LessOptimized);
}

std::vector<VariantSetting> carve::settingsOf(const KnobSpace &Space, unsigned Effort) {
  std::vector<std::optional<unsigned>> Caps{std::nullopt};
  for (unsigned Cap : capsOf(Space, Effort))
    Caps.push_back(Cap);
  std::vector<VariantSetting> Settings;
  for (std::optional<unsigned> Cap : Caps) {
    for (std::optional<unsigned> FrontEnd : frontEndCapsWith(Space, Effort, Cap)) {
      // Each further front-end cap costs a run of the front end. Caps at critical points are worth
      // it, because several kernels of a unit share them.
      if (FrontEnd && FrontEnd == Cap &&
          !std::binary_search(Space.Caps.begin(), Space.Caps.end(), *Cap))
        continue;
      VariantSetting V;
      V.Cap = Cap;
      V.FrontEndCap = FrontEnd;
      Settings.push_back(V);
      if (Effort >= 3)
        for (unsigned Level : Space.RegisterUsageLevels) {
          V.RegisterUsageLevel = Level;
          Settings.push_back(V);
        }
    }
    if (Effort >= 2 && Space.maySpillBeside({.Cap = Cap}))
      Settings.push_back({.Cap = Cap, .SmemSpilling = true});
  }
  if (Effort >= 2)
    for (FrontEndKnob Knob : Space.FrontEndKnobs)
      Settings.push_back({.Cap = {}, .FrontEnd = Knob});
  if (Effort >= 2 && Space.Restrict)
    Settings.push_back({.Cap = {}, .Restrict = true});
  if (Effort >= 2 && Space.KnownPtx)
    Settings.push_back({.Cap = {}, .KnownPtx = true});
  if (Effort >= 2)
    for (LoadCaching Loads : Space.LoadCachings)
      Settings.push_back({.Cap = {}, .Loads = Loads});
  if (Effort >= 2 && Space.LessOptimized)
    Settings.push_back({.Cap = {}, .OptimizationLevel = 1});
  if (Effort == 2)
    for (unsigned Level : Space.RegisterUsageLevels)
      Settings.push_back({.Cap = {}, .RegisterUsageLevel = Level});
  return possible(std::move(Settings), Space, Effort);
}

std::vector<VariantSetting> carve::neighboursOf(const KnobSpace &Space, unsigned Effort,
                                                const VariantSetting &V) {
  std::vector<VariantSetting> Neighbours;
  auto Append = [&](auto Change) {
    VariantSetting W = V;
    Change(W);
    if (W != V)
      Neighbours.push_back(W);
  };
  for (std::optional<unsigned> FrontEnd : frontEndCapsWith(Space, Effort, V.Cap))
    Append([&](VariantSetting &W) { W.FrontEndCap = FrontEnd; });
  if (Effort >= 2 && !Space.FrontEndKnobs.empty()) {
    Append([](VariantSetting &W) { W.FrontEnd = FrontEndKnob::None; });
    for (FrontEndKnob Knob : Space.FrontEndKnobs)
      Append([&](VariantSetting &W) { W.FrontEnd = Knob; });
  }
  if (Effort >= 2 && (V.Restrict || Space.Restrict))
    Append([](VariantSetting &W) { W.Restrict = !W.Restrict; });
  if (Effort >= 2 && (V.KnownPtx || Space.KnownPtx))
    Append([](VariantSetting &W) { W.KnownPtx = !W.KnownPtx; });
  if (Effort >= 2 && (V.SmemSpilling || Space.maySpillBeside(V)))
    Append([](VariantSetting &W) { W.SmemSpilling = !W.SmemSpilling; });
  if (Effort >= 2 && !Space.LoadCachings.empty()) {
    Append([](VariantSetting &W) { W.Loads = LoadCaching::AsCompiled; });
    for (LoadCaching Loads : Space.LoadCachings)
      Append([&](VariantSetting &W) { W.Loads = Loads; });
  }
  if (Effort >= 2 && Space.LessOptimized)
    Append([](VariantSetting &W) { W.OptimizationLevel = 1; });
  if (Effort >= 2) {
    for (unsigned Level : Space.RegisterUsageLevels)
      Append([&](VariantSetting &W) { W.RegisterUsageLevel = Level; });
  }
  std::set<unsigned> Beside;
  unsigned Cap = V.Cap.value_or(Space.DefaultRegs);
  appendBeside(Beside, {Space.Caps.begin(), Space.Caps.end()}, Cap);
  appendBeside(Beside, capsOf(Space, Effort), Cap);
  for (unsigned Other : Beside)
    Append([&](VariantSetting &W) {
      if (V.FrontEndCap && V.FrontEndCap == V.Cap)
        W.FrontEndCap = Other;
      W.Cap = Other;
      W.SmemSpilling = W.SmemSpilling && Space.maySpillBeside(W);
    });
  return possible(std::move(Neighbours), Space, Effort);
}
