#include "unit/Probe/EmulatedHelper.h"

#include "Probe/Memory/HelperImage.h"
#include "Probe/Memory/device/HelperTypes.h"

#include <algorithm>
#include <cstring>

using namespace carve::probe::helper;

template <class T> static T parameter(void **Parameters, int Index) {
  T Value;
  std::memcpy(&Value, Parameters[Index], sizeof Value);
  return Value;
}

static unsigned char *at(uint64_t Address) { return reinterpret_cast<unsigned char *>(Address); }

namespace {
struct Table {
  explicit Table(void **Parameters)
      : Pieces(parameter<Piece *>(Parameters, 0)),
        End(Pieces + parameter<uint32_t>(Parameters, 1)) {}
  const Piece *begin() const { return Pieces; }
  const Piece *end() const { return End; }

private:
  Piece *Pieces, *End;
};
} // namespace

static void copy(void **Parameters) {
  bool ToLive = parameter<uint32_t>(Parameters, 3);
  for (const Piece &P : Table(Parameters))
    std::memcpy(at(ToLive ? P.Live : P.Shadow), at(ToLive ? P.Shadow : P.Live), P.Bytes);
}

static void compare(void **Parameters) {
  auto *Flags = parameter<uint8_t *>(Parameters, 3);
  for (const Piece &P : Table(Parameters))
    for (uint64_t At = 0; At < P.Bytes; At += ChunkBytes)
      Flags[P.FirstChunk + At / ChunkBytes] =
          std::memcmp(at(P.Live) + At, at(P.Shadow) + At, std::min(ChunkBytes, P.Bytes - At)) != 0;
}

static void difference(void **Parameters) {
  Tally Sum;
  for (const Piece &P : Table(Parameters))
    for (uint64_t At = 0; At < P.Bytes; At += 8) {
      uint32_t Output[2] = {}, Reference[2] = {};
      uint64_t Bytes = std::min<uint64_t>(8, P.Bytes - At);
      std::memcpy(Output, at(P.Live) + At, Bytes);
      std::memcpy(Reference, at(P.Shadow) + At, Bytes);
      if (Bytes == 8) {
        Sum.pair(Output[0], Output[1], Reference[0], Reference[1]);
        continue;
      }
      Sum.word(Output[0], Reference[0]);
      if (Bytes > 4)
        Sum.word(Output[1], Reference[1]);
    }
  auto &Total = *parameter<Tally *>(Parameters, 3);
  Total.Words += Sum.Words;
  Total.Multiset += Sum.Multiset;
  Total.RelativeF32 = std::max(Total.RelativeF32, Sum.RelativeF32);
  Total.RelativeF64 = std::max(Total.RelativeF64, Sum.RelativeF64);
}

static void scan(void **Parameters) {
  auto *Intervals = parameter<Interval *>(Parameters, 3);
  auto Count = parameter<uint32_t>(Parameters, 4);
  for (const Piece &P : Table(Parameters))
    for (uint64_t At = (P.Live + 7) / 8 * 8; At + 8 <= P.Live + P.Bytes; At += 8) {
      uint64_t Word;
      std::memcpy(&Word, at(At), sizeof Word);
      if (std::any_of(Intervals, Intervals + Count,
                      [&](const Interval &I) { return Word >= I.Begin && Word < I.End; }))
        *parameter<uint64_t *>(Parameters, 5) = At;
    }
}

static void read(void **Parameters) {
  // The copy lets the address sanitizer see a read that is too long.
  uint64_t Bytes = parameter<uint64_t>(Parameters, 1) * 16;
  volatile unsigned char Last = *(at(parameter<uint64_t>(Parameters, 0)) + Bytes - 1);
  (void)Last;
}

/// Returns what the kernels rely on, because they read and write 16 bytes at a time.
static bool aligned(void **Parameters) {
  return std::ranges::all_of(Table(Parameters),
                             [](const Piece &P) { return (P.Live - P.Shadow) % 16 == 0; });
}

bool carve::test::runEmulated(std::string_view Kernel, void **Parameters) {
  static constexpr struct {
    std::string_view Name;
    void (*Run)(void **);
    bool Shadows;
  } Kernels[] = {{"copy", copy, true},
                 {"compare", compare, true},
                 {"difference", difference, true},
                 {"scan", scan, false},
                 {"read", read, false}};
  std::string_view Prefix = carve::probe::HelperKernelPrefix;
  for (const auto &K : Kernels)
    if (Kernel.starts_with(Prefix) && Kernel.substr(Prefix.size()) == K.Name) {
      if (K.Shadows && !aligned(Parameters))
        return false;
      K.Run(Parameters);
      return true;
    }
  return false;
}
