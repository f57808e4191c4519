#include "Probe/Memory/PointerScan.h"

#include <algorithm>
#include <cstring>

using namespace carve::probe;

void PointerScan::forbid(uint64_t Base, size_t Bytes, std::string What) {
  Ranges.push_back({Base, Base + Bytes, std::move(What)});
}

void PointerScan::prepare() {
  std::sort(Ranges.begin(), Ranges.end(),
            [](const Range &A, const Range &B) { return A.Base < B.Base; });
}

std::optional<PointerScan::Hit> PointerScan::find(const void *Data, size_t Bytes) const {
  if (Ranges.empty())
    return std::nullopt;
  const uint64_t First = Ranges.front().Base;
  uint64_t Last = 0;
  for (const Range &R : Ranges)
    Last = std::max(Last, R.End);
  const auto *From = static_cast<const char *>(Data);
  for (size_t At = 0; At + sizeof(uint64_t) <= Bytes; At += sizeof(uint64_t)) {
    uint64_t Word;
    std::memcpy(&Word, From + At, sizeof Word);
    if (Word < First || Word >= Last)
      continue;
    auto Next = std::upper_bound(Ranges.begin(), Ranges.end(), Word,
                                 [](uint64_t W, const Range &R) { return W < R.Base; });
    const Range &R = *std::prev(Next);
    if (Word < R.End)
      return Hit{At, Word, &R.What};
  }
  return std::nullopt;
}
