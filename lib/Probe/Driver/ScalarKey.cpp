#include "Probe/Driver/ScalarKey.h"

#include "Probe/Driver/LaunchCall.h"
#include "Protocol/TraceRecords.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

/// Adds \p Word to \p Key: the steps of FNV-1a, for words instead of bytes, and with the high bits
/// mixed into the low ones.
static void mix(uint64_t &Key, uint64_t Word) {
  Key = (Key ^ Word) * 0x100000001b3;
  Key ^= Key >> 29;
}

uint64_t carve::probe::scalarKey(const std::vector<size_t> &Bytes, const void *const *Arguments) {
  constexpr size_t WordBytes = 8;
  uint64_t Key = 0xcbf29ce484222325;
  for (size_t I = 0; I < Bytes.size(); ++I) {
    if (Bytes[I] > ArgumentRecord::MostBytes)
      continue;
    const bool MayHaveAddress = Bytes[I] % WordBytes == 0;
    for (size_t At = 0; At < Bytes[I]; At += WordBytes) {
      const uint64_t Word = argumentBits(static_cast<const char *>(Arguments[I]) + At,
                                         std::min(WordBytes, Bytes[I] - At));
      mix(Key, MayHaveAddress && mayBeAddress(Word) ? UINT64_MAX : Word);
    }
  }
  return Key ? Key : 1;
}
