/// \file
/// What the probe writes about one captured launch: the records of its file `launch`
/// (CaptureProtocol.h), which Captures/File/RawCapture packs.
#pragma once

#include "Protocol/LaunchShape.h"
#include "Protocol/ProtocolKind.h"

#include <cstdint>
#include <string>
#include <vector>

namespace carve {

/// The kernel and the shape of the captured launch.
struct RawKernel {
  static constexpr ProtocolKind Kind{CapturedFile, "kernel", Often::Once};
  std::string Kernel;
  LaunchShape Shape;
  bool Cooperative = false;
  uint64_t Launch = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("kernel", Record.Kernel);
    Visit.shape(Record.Shape);
    Visit.flag("cooperative", Record.Cooperative);
    Visit.number("LAUNCH", Record.Launch);
  }
};

/// An attribute of the launch, the kernel or the context, under a name of CaptureProtocol.h.
struct RawAttribute {
  static constexpr ProtocolKind Kind{CapturedFile, "attribute", Often::Many};
  std::string Name;
  uint64_t Value = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("name", Record.Name);
    Visit.number("value", Record.Value);
  }
};

/// A part of the parameter buffer.
struct RawParameter {
  static constexpr ProtocolKind Kind{CapturedFile, "parameter", Often::Many};
  uint64_t Offset = 0;
  std::string Hex;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("offset", Record.Offset);
    Visit.text("hex", Record.Hex);
  }
};

/// A range of memory whose bytes are in the file `memory`.
struct RawRange {
  static constexpr ProtocolKind Kind{CapturedFile, "range", Often::Many};
  uint64_t Address = 0, Bytes = 0;
  std::string Memory; ///< `device`, `pool` or `mapped`.

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.number("address", Record.Address);
    Visit.number("bytes", Record.Bytes);
    Visit.name("memory", Record.Memory);
  }
};

/// A variable of the kernel's module. Its bytes come after those of all ranges.
struct RawVariable {
  static constexpr ProtocolKind Kind{CapturedFile, "variable", Often::Many};
  std::string Name;
  uint64_t Bytes = 0;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("name", Record.Name);
    Visit.number("bytes", Record.Bytes);
  }
};

/// The digests of every MiB of one range or variable after the default ran. The records come in the
/// order of the ranges and variables.
struct RawAfter {
  static constexpr ProtocolKind Kind{CapturedFile, "after", Often::Many};
  std::vector<std::string> Digests;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.rest("digests", Record.Digests);
  }
};

/// What the file `container` holds.
struct RawContainer {
  static constexpr ProtocolKind Kind{CapturedFile, "container", Often::Once};
  std::string Digest;
  uint64_t Bytes = 0;
  std::string Call;

  template <class R, class V> static void fields(R &Record, V &Visit) {
    Visit.name("digest", Record.Digest);
    Visit.number("bytes", Record.Bytes);
    Visit.name("driver call", Record.Call);
  }
};

/// Says that the file is complete.
struct RawEnd {
  static constexpr ProtocolKind Kind{CapturedFile, "end", Often::Once};

  template <class R, class V> static void fields(R &, V &) {}
};

} // namespace carve
