#include "Metrics/Counts/WarpAccess.h"

#include <algorithm>
#include <set>

using namespace carve;

static constexpr unsigned Banks = 32, BankBytes = 4;

double carve::movedBytes(int64_t Stride, unsigned Bytes, unsigned Row) {
  if (!Bytes || !Row)
    return Bytes;
  Row = std::min(Row, WarpLanes);
  uint64_t Step = Stride < 0 ? -static_cast<uint64_t>(Stride) : static_cast<uint64_t>(Stride);
  std::set<uint64_t> Sectors;
  for (uint64_t Lane = 0; Lane < Row; ++Lane)
    for (uint64_t At = Lane * Step / SectorBytes; At <= (Lane * Step + Bytes - 1) / SectorBytes;
         ++At)
      Sectors.insert(At);
  return double(Sectors.size()) * SectorBytes / Row;
}

/// Returns the maximum number of different words of one bank that \p Lanes threads ask for.
static unsigned conflicts(uint64_t Step, unsigned Bytes, unsigned Lanes) {
  std::set<uint64_t> Words;
  for (uint64_t Lane = 0; Lane < Lanes; ++Lane)
    for (uint64_t At = Lane * Step / BankBytes; At <= (Lane * Step + Bytes - 1) / BankBytes; ++At)
      Words.insert(At);
  unsigned OfBank[Banks] = {};
  for (uint64_t Word : Words)
    ++OfBank[Word % Banks];
  return *std::max_element(std::begin(OfBank), std::end(OfBank));
}

double carve::sharedRounds(int64_t Stride, unsigned Bytes) {
  if (!Bytes)
    return 1;
  uint64_t Step = Stride < 0 ? -static_cast<uint64_t>(Stride) : static_cast<uint64_t>(Stride);
  // Accesses of 8 bytes are done by halves of the warp, and accesses of 16 bytes by quarters. An
  // address that all threads share is read at once.
  unsigned Parts = Step ? std::max(1u, Bytes / BankBytes) : 1;
  return double(Parts) * conflicts(Step, Bytes, std::max(1u, WarpLanes / Parts));
}
