/// \file
/// Whether bytes hold addresses of what cannot be put at the same place in another process: host
/// memory, managed memory, variables of modules. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace carve::probe {

class PointerScan {
public:
  /// \p What is for a person: `host memory`, `the variable Table`.
  void forbid(uint64_t Base, size_t Bytes, std::string What);
  /// Before the first find().
  void prepare();

  struct Hit {
    size_t Offset = 0;
    uint64_t Address = 0;
    const std::string *What = nullptr;
  };
  /// The first aligned word of \p Data that is a forbidden address; \p Data starts at a multiple
  /// of 8 on the device.
  std::optional<Hit> find(const void *Data, size_t Bytes) const;

private:
  struct Range {
    uint64_t Base = 0, End = 0;
    std::string What;
  };
  std::vector<Range> Ranges;
};

} // namespace carve::probe
