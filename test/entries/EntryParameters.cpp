#include "EntryParameters.h"

#include <algorithm>

using namespace carve::test;

using Random = std::mt19937;

unsigned carve::test::bytesOf(ParameterKind Kind) {
  switch (Kind) {
  case ParameterKind::Bool:
  case ParameterKind::Char:
  case ParameterKind::Level:
    return 1;
  case ParameterKind::Short:
    return 2;
  case ParameterKind::Int:
  case ParameterKind::Unsigned:
  case ParameterKind::Mode:
  case ParameterKind::Float:
    return 4;
  case ParameterKind::LongLong:
  case ParameterKind::Size:
  case ParameterKind::Double:
  case ParameterKind::Output:
  case ParameterKind::Input:
    return 8;
  case ParameterKind::Structure:
    return 0;
  }
  return 0;
}

bool carve::test::isInteger(ParameterKind Kind) {
  return Kind >= ParameterKind::Int && Kind <= ParameterKind::Short;
}

bool carve::test::isFloat(ParameterKind Kind) {
  return Kind == ParameterKind::Float || Kind == ParameterKind::Double;
}

std::vector<RandomNumber> carve::test::numbersOf(const RandomParameter &P) {
  if (P.Kind != ParameterKind::Structure)
    return {{P.Kind, P.Role, 0, ""}};
  std::vector<RandomNumber> All;
  unsigned End = 0;
  for (size_t I = 0; I < P.Fields.size(); ++I) {
    const RandomField &F = P.Fields[I];
    unsigned Bytes = bytesOf(F.Kind);
    End = (End + Bytes - 1) / Bytes * Bytes; // A number is aligned to its size.
    for (unsigned Element = 0; Element < std::max(F.Count, 1u); ++Element, End += Bytes)
      All.push_back({F.Kind, P.Role, End,
                     ".F" + std::to_string(I) +
                         (F.Count ? "[" + std::to_string(Element) + "]" : std::string())});
  }
  return All;
}

unsigned carve::test::bytesOf(const RandomParameter &P) {
  unsigned End = 0, Alignment = 1;
  for (const RandomNumber &N : numbersOf(P)) {
    End = N.Offset + bytesOf(N.Kind);
    Alignment = std::max(Alignment, bytesOf(N.Kind));
  }
  return (End + Alignment - 1) / Alignment * Alignment;
}

std::vector<uint8_t> carve::test::argumentBytes(const RandomParameter &P,
                                                const std::vector<uint64_t> &Values,
                                                uint8_t Padding) {
  std::vector<uint8_t> All(bytesOf(P), Padding);
  std::vector<RandomNumber> Numbers = numbersOf(P);
  for (size_t I = 0; I < Numbers.size(); ++I) {
    bool Pointer = Numbers[I].Kind <= ParameterKind::Input;
    uint64_t Bits = Pointer ? Values[I] * sizeof(unsigned) : Values[I];
    for (unsigned Byte = 0; Byte < bytesOf(Numbers[I].Kind); ++Byte)
      All[Numbers[I].Offset + Byte] = uint8_t(Bits >> 8 * Byte);
  }
  return All;
}

uint64_t carve::test::numberAt(const std::vector<uint8_t> &Bytes, unsigned Offset, unsigned Count) {
  uint64_t Bits = 0;
  for (unsigned Byte = 0; Byte < Count; ++Byte)
    Bits |= uint64_t(Bytes.at(Offset + Byte)) << 8 * Byte;
  return Bits;
}

static bool isSigned(ParameterKind Kind) {
  return Kind == ParameterKind::Int || Kind == ParameterKind::LongLong ||
         Kind == ParameterKind::Char || Kind == ParameterKind::Short;
}

/// Returns the low bytes of \p Value that a parameter has.
static uint64_t bitsOf(ParameterKind Kind, int64_t Value) {
  unsigned Bytes = bytesOf(Kind);
  return Bytes == 8 || !Bytes ? uint64_t(Value) : uint64_t(Value) & ((1ull << 8 * Bytes) - 1);
}

/// Returns the number whose bits are \p Bits. Large values of unsigned types become negative.
static int64_t numberOf(ParameterKind Kind, uint64_t Bits) {
  unsigned Unused = 64 - 8 * bytesOf(Kind);
  return isSigned(Kind) ? int64_t(Bits << Unused) >> Unused : int64_t(Bits);
}

/// Whether a kernel may get the value with the bits \p Bits: no loop must take forever, and nothing
/// is divided by 0.
static bool allowed(const RandomNumber &N, uint64_t Bits) {
  int64_t Number = numberOf(N.Kind, Bits);
  switch (N.Role) {
  case ParameterRole::Any:
    return true;
  case ParameterRole::Count:
    return Number >= (isSigned(N.Kind) ? -1 : 0) && Number <= 64;
  case ParameterRole::Divisor:
    return Number != 0;
  case ParameterRole::Words:
    return Number >= 0 && Number <= 16000;
  }
  return false;
}

/// Both zeros, denormal and normal numbers, infinities, and several values that are no number.
static std::vector<uint64_t> floatPool() {
  return {0,          0x80000000, 0x3f800000, 0x3f000000, 0xc0200000, 0x4048f5c3, 0x7fc00000,
          0x7fc00001, 0xffc00000, 0x7fa00000, 0x7f800000, 0xff800000, 1,          0x807fffff};
}
static std::vector<uint64_t> doublePool() {
  return {0,
          1ull << 63,
          0x3ff0000000000000,
          0x3fe0000000000000,
          1ull << 62,
          0x7ff8000000000000,
          0x7ff8000000000001,
          0xfff8000000000000,
          0x7ff0000000000000,
          1,
          0x800fffffffffffff};
}

/// Returns values of an integer that are worth trying.
static std::vector<uint64_t> integerPool(const RandomNumber &N, unsigned FreeWords) {
  int64_t Most = isSigned(N.Kind) ? int64_t(~0ull >> (65 - 8 * bytesOf(N.Kind))) : -1;
  std::vector<int64_t> Numbers;
  switch (N.Role) {
  case ParameterRole::Any:
    Numbers = {0, 1, 2, 5, 64, 100, -1, -2, Most, Most + 1, Most - 1, 4096};
    if (bytesOf(N.Kind) == 8)
      Numbers.insert(Numbers.end(), {1ll << 32, (1ll << 32) + 5, (1ll << 32) + 100, 1ll << 40});
    break;
  case ParameterRole::Count:
    Numbers = {-1, 0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 60};
    break;
  case ParameterRole::Divisor:
    Numbers = {1, 2, 3, 5, 7, 8, 64, 100, 127, -1, -3, -8, Most};
    break;
  case ParameterRole::Words: {
    int64_t Free = FreeWords;
    Numbers = {0, 1, 33, 100, 256, 256, 1000, Free, Free + 1, 15000};
  }
  }
  std::vector<uint64_t> Values;
  for (int64_t Number : Numbers)
    if (uint64_t Bits = bitsOf(N.Kind, Number); allowed(N, Bits))
      Values.push_back(Bits);
  return Values;
}

uint64_t carve::test::someValue(const RandomNumber &N, unsigned FreeWords, Random &R) {
  switch (N.Kind) {
  case ParameterKind::Output:
    return 0;
  case ParameterKind::Input: // Words behind an aligned address; 64 words are aligned again.
    return oneOf<uint64_t>(R, {0, 0, 0, 1, 2, 4, 63, 64});
  case ParameterKind::Bool:
    return R() % 2;
  case ParameterKind::Mode:
    return R() % 4;
  case ParameterKind::Level:
    return R() % 3;
  case ParameterKind::Float:
    return oneOf(R, floatPool());
  case ParameterKind::Double:
    return oneOf(R, doublePool());
  default:
    return oneOf(R, integerPool(N, FreeWords));
  }
}

uint64_t carve::test::neighbour(const RandomNumber &N, uint64_t Bits, Random &R) {
  switch (N.Kind) {
  case ParameterKind::Output:
    return Bits;
  case ParameterKind::Input: {
    uint64_t Words = wordsOf(Bits) % 64 ? 64 : oneOf<uint64_t>(R, {1, 2, 32, 63});
    // A thread that reads the output at another place than its own would read what others write.
    PointerTarget Target = targetOf(Bits);
    return pointerNumber(Target == PointerTarget::Output ? PointerTarget::Own : Target, Words);
  }
  case ParameterKind::Bool:
    return Bits ^ 1;
  case ParameterKind::Mode:
    return (Bits + 1) % 4;
  case ParameterKind::Level:
    return (Bits + 1) % 3;
  default:
    break;
  }
  uint64_t Top = 1ull << (8 * bytesOf(N.Kind) - 1);
  std::vector<uint64_t> Near;
  for (uint64_t Value : {Bits + 1, Bits - 1, Bits ^ Top, Bits ^ uint64_t(1) << 32})
    if (uint64_t Kept = bitsOf(N.Kind, int64_t(Value)); Kept != Bits && allowed(N, Kept))
      Near.push_back(Kept);
  return Near.empty() ? Bits : oneOf(R, Near);
}
