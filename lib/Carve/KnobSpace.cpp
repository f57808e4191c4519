#include "Carve/KnobSpace.h"

#include <algorithm>
#include <set>

using namespace carve;

namespace {

/// Registers are allocated in steps of 8 per thread, so caps between them leave occupancy as it is;
/// what they change is the code.
constexpr unsigned RegisterStep = 8;

std::set<unsigned> capsOf(const KnobSpace &Space, unsigned Effort) {
  std::set<unsigned> Caps(Space.Caps.begin(), Space.Caps.end());
  if (Effort < 2)
    return Caps;
  auto add = [&](unsigned Cap) {
    if (Cap >= Space.MinRegs && Cap <= Space.MaxRegs)
      Caps.insert(Cap);
  };
  std::vector<unsigned> Middles = Space.Caps;
  Middles.push_back(Space.DefaultRegs);
  for (unsigned Middle : Middles)
    for (unsigned Distance : {2u, 4u}) {
      add(Middle + Distance);
      if (Middle > Distance)
        add(Middle - Distance);
    }
  add(Space.MinRegs);
  add(Space.MaxRegs);
  for (unsigned Cap = RegisterStep; Cap <= Space.MaxRegs; Cap += RegisterStep)
    add(Cap);
  return Caps;
}

/// Front-end caps that go with \p Cap, none of them included.
std::vector<std::optional<unsigned>> frontEndCapsWith(const KnobSpace &Space, unsigned Effort,
                                                      std::optional<unsigned> Cap,
                                                      std::optional<unsigned> BestCap) {
  std::vector<std::optional<unsigned>> FrontEnds{std::nullopt};
  if (!Space.FrontEndCaps || Effort < 1)
    return FrontEnds;
  FrontEnds.push_back(FreeFrontEndCap);
  if (!Cap)
    return FrontEnds;
  if (*Cap != FreeFrontEndCap)
    FrontEnds.push_back(*Cap);
  if (Effort < 2 || Cap != BestCap)
    return FrontEnds;
  auto Above = std::upper_bound(Space.Caps.begin(), Space.Caps.end(), *Cap);
  if (Above != Space.Caps.end() && *Above != FreeFrontEndCap)
    FrontEnds.push_back(*Above);
  auto Below = std::lower_bound(Space.Caps.begin(), Space.Caps.end(), *Cap);
  if (Below != Space.Caps.begin())
    FrontEnds.push_back(*std::prev(Below));
  return FrontEnds;
}

/// \p Base, and what else may be set beside it.
void appendWithKnobs(std::vector<VariantSetting> &To, const VariantSetting &Base,
                     const KnobSpace &Space, unsigned Effort) {
  To.push_back(Base);
  auto append = [&](auto Change) {
    VariantSetting V = Base;
    Change(V);
    To.push_back(V);
  };
  if (Effort >= 2 && Space.LoadCaching)
    append([](VariantSetting &V) { V.Loads = LoadCaching::L2Only; });
  if (Effort >= 2 && Space.SmemSpilling)
    append([](VariantSetting &V) { V.SmemSpilling = true; });
  if (Effort >= 3)
    for (unsigned Level : Space.RegisterUsageLevels)
      append([&](VariantSetting &V) { V.RegisterUsageLevel = Level; });
}

} // namespace

std::vector<VariantSetting> carve::settingsOf(const KnobSpace &Space, unsigned Effort,
                                              std::optional<unsigned> BestCap) {
  std::vector<std::optional<unsigned>> Caps{std::nullopt};
  for (unsigned Cap : capsOf(Space, Effort))
    Caps.push_back(Cap);
  std::vector<VariantSetting> Settings;
  for (std::optional<unsigned> Cap : Caps)
    for (std::optional<unsigned> FrontEnd : frontEndCapsWith(Space, Effort, Cap, BestCap)) {
      VariantSetting V;
      V.Cap = Cap;
      V.FrontEndCap = FrontEnd;
      appendWithKnobs(Settings, V, Space, Effort);
    }
  std::set<VariantSetting> Possible(Space.Only.begin(), Space.Only.end());
  std::erase_if(Settings, [&](const VariantSetting &V) {
    return V.isDefault() || (!Possible.empty() && !Possible.count(V));
  });
  return Settings;
}
