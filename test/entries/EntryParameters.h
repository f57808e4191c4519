/// \file
/// The parameters of the kernels in random programs (EntryPrograms.h), and values for them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace carve::test {

template <class T> const T &oneOf(std::mt19937 &Random, const std::vector<T> &Among) {
  return Among[Random() % Among.size()];
}
/// True in \p Percent of all cases.
inline bool chance(std::mt19937 &Random, unsigned Percent) { return Random() % 100 < Percent; }

enum class ParameterKind {
  Output, ///< `unsigned *`, the first parameter of every kernel.
  Input,  ///< `const unsigned *`
  Int,
  Unsigned,
  LongLong,
  Size,
  Bool,
  Char,
  Short,
  Mode,  ///< A scoped enumeration over int.
  Level, ///< An old enumeration over unsigned char.
  Float,
  Double,
  Structure,
};

/// What a kernel does with an integer, which says what values it may have.
enum class ParameterRole {
  Any,
  Count,   ///< Iterations of a loop.
  Divisor, ///< Never 0.
  Words,   ///< Of dynamic shared memory.
};

/// A member of a structure: a number, or an array of them. The input may be one, but not the first.
struct RandomField {
  ParameterKind Kind = ParameterKind::Int;
  unsigned Count = 0; ///< Elements; 0 if it is no array.
};

struct RandomParameter {
  ParameterKind Kind = ParameterKind::Int;
  ParameterRole Role = ParameterRole::Any;
  bool Const = false;
  bool Template = false;                ///< Its type is the template's.
  std::vector<RandomField> Fields = {}; ///< Of a structure.
};

/// Where a pointer leads. EntryProgram.cuh has the same, in this order.
enum class PointerTarget : unsigned {
  Own,          ///< Memory of its own kind: the output or the input. They are two allocations.
  BehindOutput, ///< What the input has, in the allocation of the output, where nobody writes.
  Output,       ///< The output.
  Pinned,       ///< What the input has, in memory of the host.
};

/// Returns the number of a pointer that leads to \p Target, and \p Words behind its beginning,
/// which is a multiple of 256.
constexpr uint64_t pointerNumber(PointerTarget Target, uint64_t Words) {
  return uint64_t(Target) << 40 | Words;
}
constexpr PointerTarget targetOf(uint64_t Pointer) { return PointerTarget(Pointer >> 40); }
constexpr uint64_t wordsOf(uint64_t Pointer) { return Pointer & ((1ull << 40) - 1); }

/// A number that a launch passes: an argument, or a part of a structure. A pointer is a number,
/// too (pointerNumber).
struct RandomNumber {
  ParameterKind Kind = ParameterKind::Int;
  ParameterRole Role = ParameterRole::Any;
  unsigned Offset = 0; ///< In the parameter, in bytes.
  std::string Access;  ///< What follows the parameter's name: nothing, or `.F2[1]`.
};

/// Returns the numbers of \p P, in their order in memory.
std::vector<RandomNumber> numbersOf(const RandomParameter &P);

/// Returns the size of a number of this kind in bytes; 0 for structures.
unsigned bytesOf(ParameterKind Kind);
/// Returns the size of a parameter in bytes.
unsigned bytesOf(const RandomParameter &P);
/// Whether it is an integer type for the compiler, bool included.
bool isInteger(ParameterKind Kind);
/// Whether it is a floating-point type.
bool isFloat(ParameterKind Kind);

/// Returns the bytes of an argument whose numbers are \p Values, as a launch passes them. What is
/// between numbers gets the value \p Padding.
std::vector<uint8_t> argumentBytes(const RandomParameter &P, const std::vector<uint64_t> &Values,
                                   uint8_t Padding = 0);

/// Returns the number whose bytes are those of \p Bytes from \p Offset on, \p Count of them.
uint64_t numberAt(const std::vector<uint8_t> &Bytes, unsigned Offset, unsigned Count);

/// Returns the bits of a value that is worth trying. \p FreeWords is how much of the shared memory
/// that needs no attribute is left to a kernel, in words.
uint64_t someValue(const RandomNumber &N, unsigned FreeWords, std::mt19937 &Random);

/// Returns a value beside \p Bits: one more or less, or one that differs only in its highest bits.
uint64_t neighbour(const RandomNumber &N, uint64_t Bits, std::mt19937 &Random);

} // namespace carve::test
