#include "Probe/Replay/Rotation.h"

#include "Probe/Replay/RotationParts.h"

#include <algorithm>

using namespace carve::probe;

void carve::probe::permute(std::vector<size_t> &Values, std::mt19937_64 &Random) {
  for (size_t I = Values.size(); I > 1; --I)
    std::swap(Values[I - 1], Values[Random() % I]);
}

Rotation::Rotation(std::vector<size_t> Active, uint64_t Seed, unsigned InARow)
    : Active(std::move(Active)), InARow(InARow), Random(Seed) {}

unsigned Rotation::mostInARow(uint64_t Launches, size_t Variants) {
  constexpr uint64_t Most = 8; // Slow variants should not take most of a long program.
  if (Launches < launchesForCycles(Variants))
    return 1;
  return unsigned(std::clamp<uint64_t>(Launches / (MaxCycles * (Variants + 1)), 2, Most));
}

std::optional<Rotation::Turn> Rotation::next() {
  if (ended())
    return std::nullopt;
  if (At >= Order.size()) {
    Cycle += Begun;
    Begun = true;
    At = 0;
    Order = Active;
    permute(Order, Random);
    Leads = InARow - 1 + unsigned(Random() % InARow);
  }
  if (Leads > 0) {
    --Leads;
    return Turn{Cycle, Order[At], /*Counts=*/false};
  }
  Leads = InARow - 1;
  return Turn{Cycle, Order[At++]};
}

void Rotation::launched(const Turn &T, uint64_t Correlation, By How, uint64_t Number) {
  IdsAreSorted = Launches.empty() || (IdsAreSorted && Launches.back().Correlation <= Correlation);
  WithoutOwnId += How != By::Call;
  Launches.push_back({T, Correlation, How, Number});
}

void Rotation::remove(const Iterator &It) {
  WithoutOwnId -= It->How != By::Call;
  Launches.erase(It);
}

void Rotation::failed(uint64_t Correlation) {
  std::erase_if(Launches, [&](const Waiting &W) { return W.Correlation == Correlation; });
  WithoutOwnId = std::count_if(Launches.begin(), Launches.end(),
                               [](const Waiting &W) { return W.How != By::Call; });
}

void Rotation::forgetLaunches() {
  Launches.clear();
  WithoutOwnId = 0;
}

/// Returns the launch to which a record belongs, or the end of Launches. Very many may wait, and
/// this is asked for each record.
Rotation::Iterator Rotation::find(size_t Variant, uint64_t Correlation, bool InGraph) const {
  auto May = [&](const Waiting &W) {
    return W.T.Variant == Variant && (W.How == By::Node) == InGraph;
  };
  Iterator Id = Launches.begin();
  if (IdsAreSorted)
    Id = std::lower_bound(Launches.begin(), Launches.end(), Correlation,
                          [](const Waiting &W, uint64_t Other) { return W.Correlation < Other; });
  for (; Id != Launches.end() && !(IdsAreSorted && Id->Correlation > Correlation); ++Id)
    if (Id->Correlation == Correlation && May(*Id))
      return Id;
  if (Correlated && WithoutOwnId == 0)
    return Launches.end();
  return std::find_if(Launches.begin(), Launches.end(), [&](const Waiting &W) {
    return May(W) && (W.How != By::Call || !Correlated);
  });
}

std::optional<Rotation::Match> Rotation::match(size_t Variant, uint64_t Correlation,
                                               bool InGraph) const {
  auto It = find(Variant, Correlation, InGraph);
  if (It == Launches.end())
    return std::nullopt;
  return Match{It->Correlation != Correlation, It->Number};
}

std::optional<Rotation::Turn> Rotation::recorded(size_t Variant, uint64_t Correlation,
                                                 bool InGraph) {
  auto It = find(Variant, Correlation, InGraph);
  if (It == Launches.end())
    return std::nullopt;
  Correlated |= It->Correlation == Correlation && It->How == By::Call;
  Turn T = It->T;
  remove(It);
  return T;
}

void Rotation::drop(size_t Variant) {
  std::erase(Active, Variant);
  if (At < Order.size() && Order[At] == Variant)
    Leads = InARow - 1;
  // The rest of this cycle goes on without the variant.
  for (size_t I = At; I < Order.size();)
    if (Order[I] == Variant)
      Order.erase(Order.begin() + std::ptrdiff_t(I));
    else
      ++I;
}

bool Rotation::pending(size_t &Oldest, uint64_t *Number) const {
  for (const Waiting &W : Launches)
    if (W.T.Variant != 0) {
      Oldest = W.T.Variant;
      if (Number)
        *Number = W.Number;
      return true;
    }
  return false;
}
