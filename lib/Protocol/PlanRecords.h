/// \file
/// What the tools ask of the probe in one run: the plan of what is timed, the hardware counters,
/// and the launches to capture.
#pragma once

#include "Protocol/TimingRecords.h"
#include "Protocol/TraceRecords.h"

#include <optional>

namespace carve {

// The records of the plan (PlanFile). The lines of one kernel may be in any order.

/// The seed of all random orders.
struct SeedRecord {
  static constexpr ProtocolKind Kind{PlanFile, "seed", Often::Once};
  uint64_t Seed = 1;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("seed", Record.Seed);
  }
};

/// The time limit for all replays of a process; 0 means no limit.
struct ReplayLimitRecord {
  static constexpr ProtocolKind Kind{PlanFile, "replay-ms", Often::Once};
  uint64_t Ms = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("ms", Record.Ms);
  }
};

/// The time after which a run of a variant counts as hung.
struct HangLimitRecord {
  static constexpr ProtocolKind Kind{PlanFile, "hang-ms", Often::Once};
  uint64_t Ms = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("ms", Record.Ms);
  }
};

/// How a kernel's variants are timed.
enum class TimingMode {
  Fixed,        ///< One variant runs for a whole run of the program. It is in no plan.
  Rotate,       ///< Each launch of the program takes the next variant.
  Replay,       ///< A launch is repeated with every variant on the same inputs.
  VerifyRotate, ///< Outputs are compared by replaying once per shape; times come from rotating.
  /// A choice is confirmed in a whole run: each launch that may run the kernel's only variant
  /// besides the default and the control runs it, with the code that is for the launch.
  Dispatch
};
template <> struct RecordWords<TimingMode> {
  static constexpr std::string_view All[] = {"fixed", "rotate", "replay", "verify-rotate",
                                             "dispatch"};
};

/// Whether launches are repeated in \p Mode, and outputs compared.
constexpr bool isReplayed(TimingMode Mode) {
  return Mode == TimingMode::Replay || Mode == TimingMode::VerifyRotate;
}

/// A kernel that is timed.
struct KernelRecord {
  static constexpr ProtocolKind Kind{PlanFile, "kernel", Often::Many};
  std::string Kernel;
  TimingMode Mode = TimingMode::Replay;
  bool MayRotate = false; ///< Whether launches may be rotated if the kernel cannot be replayed.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.word("mode", Record.Mode);
    Visit.either("fall-back", Record.MayRotate, "none", "rotate");
  }
};

/// A variant of a kernel besides the default. One of them is the control. A variant whose code
/// depends on the launch has several such records with one name, each with a guard. The first of
/// them whose guard holds is for the launch, and if there is none, the default is.
struct VariantRecord {
  static constexpr ProtocolKind Kind{PlanFile, "variant", Often::Many};
  std::string Kernel, Variant;
  std::string Clone; ///< The name of its kernel in the module.
  /// The number of the kernel's guard (GuardRecord, GuardedShape) that must hold at launches that
  /// run it; 0 if it may run at all launches.
  unsigned Guard = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("VARIANT", Record.Variant);
    Visit.name("clone", Record.Clone);
    Visit.number("guard", Record.Guard);
  }
};

/// A value that an argument must have where a guard of the kernel holds.
struct GuardRecord : KernelArgument {
  static constexpr ProtocolKind Kind{PlanFile, "guard", Often::Many};
  unsigned Guard = 1; ///< The number of the guard.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.number("guard", Record.Guard);
    Visit.number("parameter", Record.Parameter);
    Visit.number("bytes", Record.Bytes);
    Visit.number("bits", Record.Bits);
    Visit.number("offset", Record.Offset);
  }
};

/// The grid and block that a launch must have where a guard of the kernel holds. Zeros mean any.
struct GuardedShape {
  static constexpr ProtocolKind Kind{PlanFile, "guard-shape", Often::Many};
  std::string Kernel;
  unsigned Guard = 1; ///< The number of the guard.
  std::array<uint32_t, 3> Grid{0, 0, 0}, Block{0, 0, 0};

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.number("guard", Record.Guard);
    Visit.triple("grid", Record.Grid);
    Visit.triple("block", Record.Block);
  }
};

/// An address in the arguments that, where a guard of the kernel holds, leads into plain device
/// memory and into another allocation than the guard's other addresses.
struct GuardedPointer {
  static constexpr ProtocolKind Kind{PlanFile, "guard-pointer", Often::Many};
  std::string Kernel;
  unsigned Guard = 1; ///< The number of the guard.
  unsigned Parameter = 0, Offset = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.number("guard", Record.Guard);
    Visit.number("parameter", Record.Parameter);
    Visit.number("offset", Record.Offset);
  }
};

/// The fewest rounds of a replay that tell something.
struct LeastRounds {
  unsigned Choosing;  ///< Rounds that choose the best variants.
  unsigned HeldOut;   ///< Rounds that have no part in the choice, and tell how fast the best is.
  unsigned Finalists; ///< How many variants these have beside the default and its control.
  /// How many variants the choosing rounds have behind the first, the default and its control among
  /// them, if there is no time for all that are within reach of the best.
  unsigned WithinReach = 14;
};

/// The launches of a shape that are replayed, where these are others than the very first one and
/// the one in the middle (TypicalLaunches).
struct LaunchesToReplay {
  static constexpr ProtocolKind Kind{PlanFile, "replay", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t First = 0, Second = 0; ///< From 0. If they are the same, one is replayed.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("first LAUNCH", Record.First);
    Visit.number("second LAUNCH", Record.Second);
  }
};

/// A shape in which a kernel is timed. Launches with other shapes run the default.
struct PlannedShape {
  static constexpr ProtocolKind Kind{PlanFile, "shape", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t Launches = 0; ///< The number of launches in one process, as traced.
  /// The mean time of the default, in the launches that are replayed if these are other ones. It is
  /// a whole number because reading fractions would need libm.
  uint64_t MeanNs = 0;
  std::optional<LaunchesToReplay> Replayed = {}; ///< It is a record of its own.
  /// A shape of which nothing but the mean time \p Ns is known.
  static PlannedShape ofMean(double Ns) {
    PlannedShape Shape;
    Shape.MeanNs = uint64_t(Ns);
    return Shape;
  }
  /// Whether a replay times it cold and warm. Filling all of L2 takes some 20 us, which is less
  /// than 1 % of a longer launch with many blocks. A longer one is timed in one of the two ways.
  bool hasWarmTimes() const { return MeanNs < 2'000'000; }
  /// Whether the runs that compare the variants' outputs are timed, and are the first choosing
  /// round. What they find in L2 seldom matters, and the times of such launches scatter little.
  bool isChosenByComparisons() const { return !hasWarmTimes(); }
  /// Whether each run takes so long that few can be made.
  bool isLong() const { return MeanNs >= 20'000'000; }
  /// Whether a second launch is replayed and timed, because launches of one shape may differ.
  bool isTimedTwice() const { return secondReplayed() > firstReplayed() && !isLong(); }
  /// The launches from which on one is replayed, and then a second one.
  uint64_t firstReplayed() const { return Replayed ? Replayed->First : 0; }
  uint64_t secondReplayed() const { return Replayed ? Replayed->Second : Launches / 2; }
  LeastRounds leastRounds() const { return isLong() ? LeastRounds{1, 3, 1} : LeastRounds{3, 5, 2}; }
  /// How many runs the fewest rounds take for \p Variants, the default and the control among them:
  /// one of all, unless comparing them is that one, further ones of those within reach of the best,
  /// and the held-out ones.
  size_t leastRuns(size_t Variants) const {
    LeastRounds Least = leastRounds();
    size_t First = isChosenByComparisons() ? 0 : Variants;
    size_t Further =
        (Least.Choosing - 1) * (Variants < Least.WithinReach ? Variants : Least.WithinReach);
    return First + Further + Least.HeldOut * (FirstPlace + Least.Finalists);
  }

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("launches", Record.Launches);
    Visit.number("mean ns", Record.MeanNs);
  }
};

/// Divides the launches of a shape into classes: those whose scalar arguments have the key Key are
/// of the class that Shape names. Several keys may lead to one class. Launches with other keys are
/// of the class with the key 0, if there is one, and otherwise of none.
struct PlannedClass {
  static constexpr ProtocolKind Kind{PlanFile, "class", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t Key = 0; ///< As TracedClass has it.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("key", Record.Key);
  }
};

/// Divides the launches of a shape into classes by their order: those from number First on, up to
/// the next such record of the shape, are of the class that Shape names.
struct PlannedSegment {
  static constexpr ProtocolKind Kind{PlanFile, "segment", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t First = 0; ///< Counted over all launches of the shape in a process, from 0.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("first LAUNCH", Record.First);
  }
};

/// A variant that must not run, because it was at fault in an earlier run.
struct ExcludeRecord {
  static constexpr ProtocolKind Kind{PlanFile, "exclude", Often::Many};
  std::string Kernel;
  std::string Variant;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("VARIANT", Record.Variant);
  }
};

/// A variant that computes something else and is timed all the same. It is only replayed, and is
/// left out only if it writes to other places than the kernel.
struct MeasureRecord {
  static constexpr ProtocolKind Kind{PlanFile, "measure", Often::Many};
  std::string Kernel;
  std::string Variant;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("VARIANT", Record.Variant);
  }
};

/// A variant that may compute something else, such as other last bits. Launches of the program may
/// run it only after a replay in the same process, at the same shape, has found its output equal.
struct CompareRecord {
  static constexpr ProtocolKind Kind{PlanFile, "compare", Often::Many};
  std::string Kernel;
  std::string Variant;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("VARIANT", Record.Variant);
  }
};

/// A `__constant__` variable that the kernel's code names, so that the kernel may follow an address
/// in it. It names no other ones.
struct ConstantRecord {
  static constexpr ProtocolKind Kind{PlanFile, "constant", Often::Many};
  std::string Kernel;
  std::string Variable;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("variable", Record.Variable);
  }
};

// The records that ask for hardware counters (MetricsFile).

/// The number of the pass that is counted, from 0.
struct PassRecord {
  static constexpr ProtocolKind Kind{MetricsFile, "pass", Often::Once};
  uint64_t Pass = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("pass", Record.Pass);
  }
};

/// A metric to count. The most important one comes first, and is part of every pass.
struct MetricRecord {
  static constexpr ProtocolKind Kind{MetricsFile, "metric", Often::Many};
  std::string Metric;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("metric", Record.Metric);
  }
};

/// The launches of one kernel that are to be counted.
struct CountWish {
  static constexpr ProtocolKind Kind{MetricsFile, "kernel", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t First = 0, Launches = 1; ///< Launches many, from launch First on.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("LAUNCH", Record.First);
    Visit.number("launches", Record.Launches);
  }
};

// The records that ask for captures (CapturePlanFile).

/// The directory for the captures.
struct DirectoryRecord {
  static constexpr ProtocolKind Kind{CapturePlanFile, "directory", Often::Once};
  std::string Path;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("path", Record.Path);
  }
};

/// A launch to capture. The n-th such record, from 0, is capture n.
struct CaptureWish {
  static constexpr ProtocolKind Kind{CapturePlanFile, "capture", Often::Many};
  std::string Kernel; ///< Mangled.
  LaunchShape Shape;
  uint64_t Launch = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("LAUNCH", Record.Launch);
  }
};

} // namespace carve
