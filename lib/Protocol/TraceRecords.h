/// \file
/// What every traced process writes about itself (ProtocolKind.h): its devices, what it loads and
/// launches, and what it does that affects how its kernels may be timed.
#pragma once

#include "Protocol/LaunchShape.h"
#include "Protocol/ProtocolKind.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace carve {

/// The first line of a process's file.
struct ProcessRecord {
  static constexpr ProtocolKind Kind{ProbeFile, ProbeFile.Head, Often::Once};
  int Version = ProbeFile.Version;
  unsigned Pid = 0;
  std::string Executable;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("version", Record.Version);
    Visit.number("pid", Record.Pid);
    Visit.text("executable", Record.Executable);
  }
};

/// A GPU as the driver describes it.
struct DeviceInfo {
  static constexpr ProtocolKind Kind{ProbeFile, "device", Often::Many};
  unsigned Ordinal = 0;
  std::string Name, Uuid;
  unsigned Major = 0, Minor = 0, Sms = 0;
  uint64_t MemoryBytes = 0;
  unsigned RegsPerSm = 0, RegsPerBlock = 0, ThreadsPerSm = 0, BlocksPerSm = 0;
  unsigned SmemPerSmBytes = 0, SmemPerBlockOptinBytes = 0, SmemPerBlockBytes = 0;
  unsigned ReservedSmemPerBlockBytes = 0;
  unsigned CudaVersion = 0; ///< The number that cuDriverGetVersion returns, for example 13000.
  std::string KernelDriver = "-"; ///< For example `580.159.03`; `-` if it is unknown.
  /// The highest clock rates and the width of the memory bus; 0 if the driver does not tell. The
  /// memory's rate is as the driver counts it, with two transfers in each clock.
  unsigned ClockKHz = 0, MemoryClockKHz = 0, BusBits = 0;
  uint64_t L2Bytes = 0;

  std::string arch() const { return "sm_" + std::to_string(Major) + std::to_string(Minor); }
  /// Returns the version of the kernel driver if it is known, otherwise CUDA's version.
  std::string driverVersion() const {
    return KernelDriver == "-" ? "CUDA " + std::to_string(CudaVersion) : KernelDriver;
  }

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("ordinal", Record.Ordinal);
    Visit.text("name", Record.Name);
    Visit.text("uuid", Record.Uuid);
    Visit.number("major", Record.Major);
    Visit.number("minor", Record.Minor);
    Visit.number("SMs", Record.Sms);
    Visit.number("memory bytes", Record.MemoryBytes);
    Visit.number("registers per SM", Record.RegsPerSm);
    Visit.number("registers per block", Record.RegsPerBlock);
    Visit.number("threads per SM", Record.ThreadsPerSm);
    Visit.number("blocks per SM", Record.BlocksPerSm);
    Visit.number("shared memory per SM", Record.SmemPerSmBytes);
    Visit.number("shared memory per block with opt-in", Record.SmemPerBlockOptinBytes);
    Visit.number("shared memory per block", Record.SmemPerBlockBytes);
    Visit.number("reserved shared memory per block", Record.ReservedSmemPerBlockBytes);
    Visit.number("CUDA version", Record.CudaVersion);
    Visit.text("kernel driver", Record.KernelDriver);
    Visit.number("SM clock kHz", Record.ClockKHz);
    Visit.number("memory clock kHz", Record.MemoryClockKHz);
    Visit.number("memory bus bits", Record.BusBits);
    Visit.number("L2 bytes", Record.L2Bytes);
  }
};

/// A device container that the program loads.
struct ContainerRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "container", Often::Many};
  std::string Digest;
  uint64_t Bytes = 0;
  std::string Call;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.text("digest", Record.Digest);
    Visit.number("bytes", Record.Bytes);
    Visit.text("driver call", Record.Call);
  }
};

/// Says that the program got the image at Path instead of a container.
struct SwappedRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "swapped", Often::Many};
  std::string Digest, Path;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.text("digest", Record.Digest);
    Visit.text("path", Record.Path);
  }
};

/// Says that a container could not be replaced, so that the default runs, and why.
struct UnswappedRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "unswapped", Often::Many};
  std::string Digest, Why;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.text("digest", Record.Digest);
    Visit.text("reason", Record.Why);
  }
};

/// An image that the driver has loaded.
struct ModuleRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "module", Often::Many};
  std::string Digest;
  uint64_t Bytes = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.text("digest", Record.Digest);
    Visit.number("bytes", Record.Bytes);
  }
};

/// The launches of one kernel with one shape. In a record they are those of one flush; the tools
/// sum them over a run and all its processes.
struct KernelLaunches {
  static constexpr ProtocolKind Kind{ProbeFile, "kernel", Often::Many};
  std::string Kernel; ///< The mangled name.
  LaunchShape Shape;
  bool Cooperative = false;
  unsigned StaticSmemBytes = 0;
  unsigned RegsPerThread = 0;
  unsigned LocalBytesPerThread = 0;
  uint64_t LocalBytesTotal = 0; ///< The bytes that the driver reserved for all resident threads.
  uint64_t Launches = 0;
  uint64_t TotalNs = 0, MinNs = 0;
  /// The number of processes that launched it with this shape. It is in no record.
  unsigned Processes = 1;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.triple("grid", Record.Shape.Grid);
    Visit.triple("block", Record.Shape.Block);
    Visit.number("static shared memory", Record.StaticSmemBytes);
    Visit.number("dynamic shared memory", Record.Shape.DynamicSmemBytes);
    Visit.triple("cluster", Record.Shape.Cluster);
    Visit.flag("cooperative", Record.Cooperative);
    Visit.number("registers", Record.RegsPerThread);
    Visit.number("local bytes per thread", Record.LocalBytesPerThread);
    Visit.number("launches", Record.Launches);
    Visit.number("total ns", Record.TotalNs);
    Visit.number("least ns", Record.MinNs);
    Visit.number("local bytes in total", Record.LocalBytesTotal);
  }
};

/// The time in which the kernels of one flush ran. Busy is the time in which at least one of them
/// ran.
struct SpanRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "span", Often::Many};
  uint64_t FirstNs = 0, LastNs = 0, BusyNs = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("first start ns", Record.FirstNs);
    Visit.number("last end ns", Record.LastNs);
    Visit.number("busy ns", Record.BusyNs);
  }
};

/// Says that the program asked for attributes or the occupancy of a kernel.
struct QueryRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "query", Often::Many};
  std::string Kernel, Call;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.text("driver call", Record.Call);
  }
};

/// How many of the launches in a kernel's records graphs made, and their time.
struct GraphRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "graph", Often::Many};
  std::string Kernel;
  uint64_t Launches = 0;
  uint64_t TotalNs = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.number("launches", Record.Launches);
    Visit.number("total ns", Record.TotalNs);
  }
};

/// Why a timing run cannot launch the nodes of a graph one by one.
enum class GraphStay {
  Conditional,       ///< What runs is decided on the device.
  BesideConditional, ///< That is so for other nodes; the kernel runs once at each launch.
  DeviceLaunch,      ///< The device may launch the graph.
  DeviceUpdate,      ///< The device may change a node.
  MemoryNode,        ///< A node allocates or frees memory, whose address belongs to the graph.
  Semaphore,         ///< A node waits for or signals somebody outside of CUDA.
  MemoryOperation,   ///< A node waits for values in memory, or writes them.
  Programmatic,      ///< A node may begin before its predecessor ends.
  PageableCopy,      ///< A copy of memory that the driver does not know would make the host wait.
  OtherContext,      ///< A kernel belongs to another context than the one that launches.
  UnknownNode,       ///< The probe does not know the kind of a node.
  UnknownUpdate,     ///< The executable graph was changed in a way that the probe cannot follow.
  Unread,            ///< The driver did not tell the graph's nodes or their parameters.
};
template <> struct RecordWords<GraphStay> {
  static constexpr std::string_view All[] = {
      "conditional",  "beside-conditional", "device-launch", "device-update", "memory-node",
      "semaphore",    "memory-operation",   "programmatic",  "pageable-copy", "other-context",
      "unknown-node", "unknown-update",     "unread"};
};

/// Says that a graph with a kernel stays a graph in timing runs, and why.
struct StayingGraph {
  static constexpr ProtocolKind Kind{ProbeFile, "graph-stays", Often::Many};
  std::string Kernel; ///< `-` if it is not known which kernels the graph has.
  GraphStay Why = GraphStay::Unread;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.word("reason", Record.Why);
  }
};

enum class LaunchAttribute {
  Programmatic, ///< The kernel may start before its predecessor ends.
};
template <> struct RecordWords<LaunchAttribute> {
  static constexpr std::string_view All[] = {"programmatic"};
};

/// Says that a kernel is launched with an attribute because of which it cannot be timed alone.
struct AttributeRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "attribute", Often::Many};
  std::string Kernel;
  LaunchAttribute Attribute = LaunchAttribute::Programmatic;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.word("attribute", Record.Attribute);
  }
};

/// A value of an argument of a kernel, or of a part of one.
struct KernelArgument {
  std::string Kernel;
  unsigned Parameter = 0; ///< Its number, from 0.
  unsigned Bytes = 0;
  uint64_t Bits = 0;   ///< The value, zero-extended.
  unsigned Offset = 0; ///< Where the value is in the argument, in bytes.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.number("parameter", Record.Parameter);
    Visit.number("bytes", Record.Bytes);
    Visit.number("bits", Record.Bits);
    Visit.number("offset", Record.Offset);
  }
};

/// A value that a parameter of a kernel had at a launch: the first one, and the first one that was
/// different from it. A parameter of another size than 1, 2, 4 or 8 bytes is recorded in words of 4
/// bytes, and what is left at its end in smaller ones. Of a parameter of 8 bytes, which may be an
/// address, a record of 1 byte is the first lowest byte that was different from that of the first
/// value, if no other record says so. Bytes is 0 if the arguments of a launch
/// could not be read. Then nothing is known of the kernel's.
struct ArgumentRecord : KernelArgument {
  static constexpr ProtocolKind Kind{ProbeFile, "argument", Often::Many};

  /// A larger parameter is not recorded. Up to CUDA 12.0 all parameters together had no more bytes.
  static constexpr size_t MostBytes = 4096;

  /// Returns whether a value may have \p Bytes bytes.
  static constexpr bool isRecorded(size_t Bytes) {
    return Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8;
  }
  /// Returns the size of the value at \p Offset of a parameter of \p Bytes bytes.
  static constexpr size_t wordAt(size_t Offset, size_t Bytes) {
    if (isRecorded(Bytes))
      return Bytes;
    size_t Left = Bytes - Offset;
    return Left >= 4 ? 4 : Left >= 2 ? 2 : 1;
  }
};

/// The same for the launches with one grid and block, of which a kernel may have many. The probe
/// records those that come first. Of the others, only what ArgumentRecord says is known.
struct ShapeArgumentRecord : KernelArgument {
  static constexpr ProtocolKind Kind{ProbeFile, "shape-argument", Often::Many};
  std::array<uint32_t, 3> Grid{1, 1, 1}, Block{1, 1, 1};

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.triple("grid", Record.Grid);
    Visit.triple("block", Record.Block);
    Visit.number("parameter", Record.Parameter);
    Visit.number("bytes", Record.Bytes);
    Visit.number("bits", Record.Bits);
    Visit.number("offset", Record.Offset);
  }
};

/// An address in an argument of a kernel that led into plain device memory, that of cuMemAlloc, at
/// all launches at which the probe looked.
struct PointerRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "pointer", Often::Many};
  std::string Kernel;
  unsigned Parameter = 0; ///< Its number, from 0.
  unsigned Offset = 0;    ///< Where the address is in the argument, in bytes.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.number("parameter", Record.Parameter);
    Visit.number("offset", Record.Offset);
  }
};

/// Two such addresses that led into one allocation at some launch. If both are at one place, the
/// address led into no plain device memory at some launch.
struct AliasRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "alias", Often::Many};
  std::string Kernel;
  unsigned Parameter = 0, Offset = 0;           ///< As in PointerRecord.
  unsigned OtherParameter = 0, OtherOffset = 0; ///< Those of the other address.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.number("parameter", Record.Parameter);
    Visit.number("offset", Record.Offset);
    Visit.number("other parameter", Record.OtherParameter);
    Visit.number("other offset", Record.OtherOffset);
  }
};

/// The launches of one kernel and shape whose scalar arguments have the same values, in a process
/// in which they have not always. Launches that could not be told apart are in no such record.
struct TracedClass {
  static constexpr ProtocolKind Kind{ProbeFile, "class", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t Key = 0; ///< Made of the values (Probe/Driver/ScalarKey.h). It is never 0.
  uint64_t Launches = 0;
  uint64_t TotalNs = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("key", Record.Key);
    Visit.number("launches", Record.Launches);
    Visit.number("total ns", Record.TotalNs);
  }
};

/// Two launches of a kernel that take as long as is typical of its launches with one shape in a
/// process. There is such a record if the very first launch or the one in the middle does not.
struct TypicalLaunches {
  static constexpr ProtocolKind Kind{ProbeFile, "typical", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t First = 0, Second = 0; ///< Launches, from 0. They are the same if there is one only.
  uint64_t MeanNs = 0;            ///< The mean time of the two.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("first LAUNCH", Record.First);
    Visit.number("second LAUNCH", Record.Second);
    Visit.number("mean ns", Record.MeanNs);
  }
};

/// A part of the launches of a kernel with one shape in a process, in their order. All parts take
/// about the same time together. There are such records if the launches take different times.
struct TracedSegment {
  static constexpr ProtocolKind Kind{ProbeFile, "segment", Often::Many};
  std::string Kernel;
  LaunchShape Shape;
  uint64_t First = 0; ///< Its first launch, from 0.
  uint64_t Launches = 0;
  uint64_t TotalNs = 0;
  uint64_t Replayed = 0;   ///< The launch in which half of its time is reached.
  uint64_t ReplayedNs = 0; ///< What that launch takes.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.number("first LAUNCH", Record.First);
    Visit.number("launches", Record.Launches);
    Visit.number("total ns", Record.TotalNs);
    Visit.number("replayed LAUNCH", Record.Replayed);
    Visit.number("replayed ns", Record.ReplayedNs);
  }
};

/// The kinds of driver calls after which memory is no longer the program's alone, or is not what it
/// seems.
enum class HazardKind {
  Managed,
  HostMapped,
  Ipc,
  Peer,
  Capture,
  Array,
  Gpus, ///< The program has contexts on several GPUs. No single call says so.
};
template <> struct RecordWords<HazardKind> {
  static constexpr std::string_view All[] = {"managed", "host-mapped", "ipc", "peer",
                                             "capture", "array",       "gpus"};
};

/// Says that the program makes a call of such a kind.
struct HazardRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "hazard", Often::Many};
  HazardKind Hazard = HazardKind::Managed;
  std::string Call; ///< `-` if it is not a single call.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.word("hazard", Record.Hazard);
    Visit.name("driver call", Record.Call);
  }
};

/// Says that activity records were lost, so that the times are not valid.
struct DroppedRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "dropped", Often::Many};
  uint64_t Records = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("activity records", Record.Records);
  }
};

/// Says that the probe does nothing in this process, and why.
struct AsideRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "aside", Often::Once};
  std::string Why;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.text("reason", Record.Why);
  }
};

/// Says that the file is complete.
struct EndRecord {
  static constexpr ProtocolKind Kind{ProbeFile, "end", Often::Once};

  template <class R, class V> static void fields(R &, V &) {}
};

} // namespace carve
