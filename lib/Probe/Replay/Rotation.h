/// \file
/// Which variant each of a kernel's own launches becomes, and which time belongs to it: launches
/// in cycles, every variant once per cycle in an order of its own. Pure: knows no driver.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace carve::probe {

/// Launches of one kernel in one shape. Not synchronised: the caller locks.
class Rotation {
public:
  static constexpr unsigned MaxCycles = 64;

  struct Turn {
    unsigned Cycle = 0;
    size_t Variant = 0;
  };

  /// Of the variants \p Active, the default among them.
  Rotation(std::vector<size_t> Active, uint64_t Seed);

  /// What the next launch becomes; nothing once all cycles are through.
  std::optional<Turn> next();
  /// Whether next() gives nothing any more.
  bool ended() const {
    return Active.size() < 2 || Cycle >= MaxCycles ||
           (Begun && Cycle + 1 == MaxCycles && At >= Order.size());
  }
  /// The launch with \p Correlation has been submitted as \p T.
  void launched(const Turn &T, uint64_t Correlation);
  /// It was not, after all.
  void failed(uint64_t Correlation);

  /// No record comes of those that are under way.
  void forgetLaunches() { Launches.clear(); }

  /// A record of a launch of \p Variant: the turn that it belongs to, by its correlation; where no
  /// waiting launch has it, the records' order decides (the ids of the runtime's calls are not
  /// those of the driver's). Nothing where none waits.
  std::optional<Turn> recorded(size_t Variant, uint64_t Correlation);

  /// Takes \p Variant out of what follows.
  void drop(size_t Variant);
  /// Whether a variant other than the default has been launched and not been seen to end; then
  /// \p Oldest is the first of them.
  bool pending(size_t &Oldest) const;

private:
  struct Waiting {
    Turn T;
    uint64_t Correlation;
  };

  std::vector<size_t> Active, Order;
  size_t At = 0;
  unsigned Cycle = 0;
  bool Begun = false;
  bool Correlated = false; ///< Ids have matched once: then only they count.
  std::mt19937_64 Random;
  std::deque<Waiting> Launches;
};

/// \p Values in an order that \p Random decides: the same on every standard library.
void permute(std::vector<size_t> &Values, std::mt19937_64 &Random);

} // namespace carve::probe
