/// \file
/// The parameters of the kernels in random programs (EntryPrograms.h), and values for them.
#pragma once

#include <cstdint>
#include <random>
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
  Pair, ///< A structure.
};

/// What a kernel does with an integer, which says what values it may have.
enum class ParameterRole {
  Any,
  Count,   ///< Iterations of a loop.
  Divisor, ///< Never 0.
  Words,   ///< Of dynamic shared memory.
};

struct RandomParameter {
  ParameterKind Kind = ParameterKind::Int;
  ParameterRole Role = ParameterRole::Any;
  bool Const = false;
  bool Template = false; ///< Its type is the template's.
};

/// Returns the size of a parameter whose value a guard may name; 0 for others.
unsigned bytesOf(ParameterKind Kind);
/// Whether it is an integer type for the compiler, bool included.
bool isInteger(ParameterKind Kind);

/// Returns the bits of a value that is worth trying. \p FreeWords is how much of the shared memory
/// that needs no attribute is left to a kernel, in words.
uint64_t someValue(const RandomParameter &P, unsigned FreeWords, std::mt19937 &Random);

/// Returns a value beside \p Bits: one more or less, or one that differs only in its highest bits.
uint64_t neighbour(const RandomParameter &P, uint64_t Bits, std::mt19937 &Random);

} // namespace carve::test
