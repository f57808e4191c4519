/// \file
/// Decides which variant each of a kernel's own launches becomes, and to which launch a time
/// belongs. Launches form cycles, and each cycle has every variant once, in an order of its own. It
/// is pure: it knows no driver.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace carve::probe {

/// The rotated launches of one kernel in one shape. Not synchronised: the caller locks.
class Rotation {
public:
  static constexpr unsigned MaxCycles = 64;

  struct Turn {
    unsigned Cycle = 0;
    size_t Variant = 0;
    /// False if the launch could not run the variant whose turn it was, and runs the default, or if
    /// it comes before one that counts. It is outside of all cycles then, and waits for its record
    /// so that no other launch gets it.
    bool Counts = true;
  };

  /// Rotates the variants \p Active, among which the default must be. Each runs \p InARow times in
  /// a row, and only the last of these launches counts: how long a short launch takes depends on
  /// what the launches before it have left in L2 and in the caches for instructions. In the tuned
  /// program these are launches of the same variant, and those of other kernels do not change
  /// either. Each cycle begins with up to \p InARow - 1 launches more, by chance. Otherwise
  /// launches that come in turn, such as those of two kinds, might always count for the same
  /// variants, or never.
  Rotation(std::vector<size_t> Active, uint64_t Seed, unsigned InARow = 1);
  /// Takes note that the kernel has been launched outside of the rotation since the last turn.
  void interrupt() { Leads = std::max(Leads, InARow - 1); }
  /// Returns how many times in a row each of \p Variants may run if all cycles are to be made in \p
  /// Launches of a kernel: eight at most. If there are fewer launches than launchesForCycles(), it
  /// is 1, and otherwise at least two.
  static unsigned mostInARow(uint64_t Launches, size_t Variants);

  /// Returns what the next launch becomes, or nothing after the last cycle.
  std::optional<Turn> next();
  /// Returns whether next() will return nothing.
  bool ended() const {
    return Active.size() < 2 || Cycle >= MaxCycles ||
           (Begun && Cycle + 1 == MaxCycles && At >= Order.size());
  }
  /// How a launch is submitted: by a call of the program, by a call that the probe makes inside one
  /// of the program, or by a node of a graph. The record may have another id unless it is the
  /// first.
  enum class By { Call, NestedCall, Node };
  /// Takes note that the launch with \p Correlation has been submitted as \p T. \p Number rises
  /// from launch to launch over all rotations.
  void launched(const Turn &T, uint64_t Correlation, By How = By::Call, uint64_t Number = 0);
  /// Takes note that the launches with this id were not submitted.
  void failed(uint64_t Correlation);

  /// Forgets the launches without a record, because none will come.
  void forgetLaunches();

  /// How well a record belongs to a launch that waits. Of several launches the least is it.
  struct Match {
    bool ByOrder = false; ///< Only the order of the records says so, and not their ids.
    uint64_t Number = 0;
    auto operator<=>(const Match &) const = default;
  };
  /// Returns how well a record belongs to the launch that recorded() would take for it; nothing if
  /// it would take none.
  std::optional<Match> match(size_t Variant, uint64_t Correlation, bool InGraph) const;

  /// Returns the turn to which a record of a launch of \p Variant belongs. If a waiting launch has
  /// its correlation, it is that one. Otherwise the order of the records decides, because the ids
  /// of the runtime's calls are not those of the driver's calls. \p InGraph says that a node of a
  /// graph made the launch. Returns nothing if no launch waits.
  std::optional<Turn> recorded(size_t Variant, uint64_t Correlation, bool InGraph = false);

  /// Takes \p Variant out of all further launches.
  void drop(size_t Variant);
  /// Returns whether a variant other than the default was launched and has not been seen to end;
  /// \p Oldest is then the first such variant, and \p Number, if not null, that launch's number.
  bool pending(size_t &Oldest, uint64_t *Number = nullptr) const;

private:
  struct Waiting {
    Turn T;
    uint64_t Correlation;
    By How;
    uint64_t Number;
  };

  using Iterator = std::deque<Waiting>::const_iterator;
  Iterator find(size_t Variant, uint64_t Correlation, bool InGraph) const;
  void remove(const Iterator &It);

  std::vector<size_t> Active, Order;
  size_t At = 0;
  unsigned Cycle = 0;
  bool Begun = false;
  unsigned InARow;
  unsigned Leads = 0; ///< How many launches come before the one that counts.
  /// Set once ids of the program's calls have matched; from then on only ids count for these.
  bool Correlated = false;
  std::mt19937_64 Random;
  std::deque<Waiting> Launches;
  size_t WithoutOwnId = 0;  ///< How many of Launches are not by a call of the program.
  bool IdsAreSorted = true; ///< Whether the ids of Launches rise. Threads may exchange some.
};

/// Shuffles \p Values with \p Random. The order is the same with every standard library.
void permute(std::vector<size_t> &Values, std::mt19937_64 &Random);

} // namespace carve::probe
