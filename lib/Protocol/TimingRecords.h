/// \file
/// What a process writes that ran with a plan (PlanRecords.h): how variants were compared and timed
/// inside the program. Times are those of the GPU unless a field says otherwise.
#pragma once

#include "Protocol/LaunchShape.h"
#include "Protocol/ProtocolKind.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace carve {

/// Variants have names. A variant that is neither of these two is named after its setting, for
/// example `r40-f255`.
inline constexpr char DefaultVariant[] = "default"; ///< The kernel itself.
inline constexpr char ControlVariant[] = "control"; ///< An identical copy of it.
/// Returns whether the other variants are compared with \p Variant: whether it is the default or
/// its control copy.
inline bool isReference(std::string_view Variant) {
  return Variant == DefaultVariant || Variant == ControlVariant;
}

/// Lists of a kernel's variants begin with these two.
inline constexpr size_t DefaultPlace = 0, ControlPlace = 1, FirstPlace = 2;

/// A launch: the kernel, its launch shape, and the number of the launch in its process.
struct LaunchPlace {
  std::string Kernel; ///< Mangled.
  LaunchShape Shape;
  uint64_t Launch = 0; ///< The number of the launch of this kernel and shape, from 0.
  auto operator<=>(const LaunchPlace &) const = default;

  template <class R, class V> static void fields(R &Place, V &Visit) {
    Visit.name("kernel", Place.Kernel);
    Visit.shape(Place.Shape);
    Visit.number("LAUNCH", Place.Launch);
  }
};

/// One launch that was replayed.
struct ReplayedLaunch {
  static constexpr ProtocolKind Kind{ProbeFile, "replayed", Often::Many};
  LaunchPlace Place;
  bool Deterministic = true; ///< Whether all runs of the default left the same bytes.
  bool Idempotent = false;   ///< Whether two runs without restoring in between also did.
  uint64_t SavedBytes = 0, DirtyBytes = 0, DirtyRanges = 0;
  uint64_t SaveNs = 0, CompareNs = 0, RestoreNs = 0;
  uint64_t WholeNs = 0; ///< The elapsed time, including all variants.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    LaunchPlace::fields(Record.Place, Visit);
    Visit.flag("deterministic", Record.Deterministic);
    Visit.flag("idempotent", Record.Idempotent);
    Visit.number("saved bytes", Record.SavedBytes);
    Visit.number("dirty bytes", Record.DirtyBytes);
    Visit.number("dirty ranges", Record.DirtyRanges);
    Visit.number("save ns", Record.SaveNs);
    Visit.number("compare ns", Record.CompareNs);
    Visit.number("restore ns", Record.RestoreNs);
    Visit.number("whole ns", Record.WholeNs);
  }
};

/// How a variant's output compares with the default's.
enum class Verdict {
  Equal, ///< It is the default's output, bit for bit.
  /// The default's output differs from run to run, and the variant's differs no more than that.
  WithinSpread,
  Differs,
  Stray,   ///< The variant wrote to places to which the default does not write.
  Refused, ///< The driver refused to launch the variant.
};
template <> struct RecordWords<Verdict> {
  static constexpr std::string_view All[] = {"equal", "within-spread", "differs", "stray",
                                             "refused"};
};

/// Whether a variant with the verdict \p V computes what the default does.
constexpr bool isSound(Verdict V) { return V == Verdict::Equal || V == Verdict::WithinSpread; }

struct VerifiedVariant {
  static constexpr ProtocolKind Kind{ProbeFile, "verified", Often::Many};
  LaunchPlace Place;
  std::string Variant;
  Verdict Result = Verdict::Equal;
  std::string Detail;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    LaunchPlace::fields(Record.Place, Visit);
    Visit.name("VARIANT", Record.Variant);
    Visit.word("verdict", Record.Result);
    Visit.text("detail", Record.Detail);
  }
};

/// The time of one variant in one round of a replay.
struct TimedSample {
  static constexpr ProtocolKind Kind{ProbeFile, "timed", Often::Many};
  LaunchPlace Place;
  bool Confirming = false; ///< Whether the round was held out from the choice.
  unsigned Round = 0;
  std::string Variant;
  double ColdNs = 0; ///< The time with no data of it in L2, or the only one of a long launch.
  /// The time right after a run of the same variant, or of the default and a restore if the kernel
  /// cannot run twice without one; 0 if it was not measured.
  double WarmNs = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    LaunchPlace::fields(Record.Place, Visit);
    Visit.either("phase", Record.Confirming, "screen", "confirm");
    Visit.number("round", Record.Round);
    Visit.name("VARIANT", Record.Variant);
    Visit.number("cold ns", Record.ColdNs);
    Visit.number("warm ns", Record.WarmNs);
  }
};

/// One of the program's own launches, which rotation made a variant. Cycle n of a shape has every
/// variant once.
struct RotatedSample {
  static constexpr ProtocolKind Kind{ProbeFile, "rotated", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  unsigned Cycle = 0;
  std::string Variant;
  double Ns = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("cycle", Record.Cycle);
    Visit.name("VARIANT", Record.Variant);
    Visit.number("ns", Record.Ns);
  }
};

/// A kernel that is not replayed in this process, or not any more, and why; or that is not rotated
/// any more, because the driver refuses a variant in a graph.
struct StoodBackKernel {
  static constexpr ProtocolKind Kind{ProbeFile, "stood-back", Often::Many};
  std::string Kernel, Why;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.text("reason", Record.Why);
  }
};

/// A variant that hung or failed, so that the probe ended the process.
struct VariantFault {
  static constexpr ProtocolKind Kind{ProbeFile, "fault", Often::Many};
  std::string Kernel;
  std::string Variant;
  std::string Why;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.name("VARIANT", Record.Variant);
    Visit.text("reason", Record.Why);
  }
};

} // namespace carve
