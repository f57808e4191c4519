/// \file
/// Looks in bytes for addresses of memory that cannot be at the same place in another process: host
/// memory, managed memory, variables of modules. A launch that holds such an address cannot be
/// captured (Capture/LaunchWriter). It is pure: it reads bytes and calls nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace carve::probe {

/// Searches for addresses in forbidden ranges.
class PointerScan {
public:
  /// Forbids the addresses of \p Bytes bytes from \p Base on. \p What names them for a person:
  /// `host memory`, `the variable Table`.
  void forbid(uint64_t Base, size_t Bytes, std::string What);
  /// Sorts the ranges; must be called before the first find().
  void prepare();

  /// A forbidden address and where it was found.
  struct Hit {
    size_t Offset = 0;
    uint64_t Address = 0;
    const std::string *What = nullptr;
  };
  /// Returns the first aligned word of \p Data that is a forbidden address. The address of \p Data
  /// on the device must be a multiple of 8.
  std::optional<Hit> find(const void *Data, size_t Bytes) const;

private:
  struct Range {
    uint64_t Base = 0, End = 0;
    std::string What;
  };
  std::vector<Range> Ranges;
};

} // namespace carve::probe
