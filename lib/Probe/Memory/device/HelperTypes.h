/// \file
/// What the probe and its kernels on the device (Helper.cu) say to each other, and the arithmetic
/// of comparing outputs, which the tests run on the host. No standard headers but these: nvcc reads
/// it, too.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define CARVE_ANYWHERE __host__ __device__ inline
#else
#define CARVE_ANYWHERE inline
#endif

namespace carve::probe::helper {

/// Granularity of dirty tracking, and the work of one block at a time.
inline constexpr uint64_t ChunkBytes = 64 << 10;

/// Threads of a block of every kernel here.
inline constexpr uint32_t BlockThreads = 256;

/// Memory of the program and our copy of it. Both addresses have the same remainder by 16.
struct Piece {
  uint64_t Live, Shadow, Bytes;
  uint64_t FirstChunk; ///< Chunks of all pieces before it in the table.
};

CARVE_ANYWHERE uint64_t chunksOf(uint64_t Bytes) { return (Bytes + ChunkBytes - 1) / ChunkBytes; }

/// Addresses from Begin up to End.
struct Interval {
  uint64_t Begin, End;
};

/// Of two words, as floating-point numbers whose bits they are: |a-b| / max(|a|,|b|), infinity
/// where one is not a number or only one is infinite.
CARVE_ANYWHERE double relativeDifference(double A, double B) {
  constexpr double Infinity = __builtin_huge_val();
  double AbsA = A < 0 ? -A : A, AbsB = B < 0 ? -B : B;
  double Larger = AbsA < AbsB ? AbsB : AbsA;
  if (A != A || B != B)
    return Infinity;
  if (A == B)
    return 0;
  if (Larger == Infinity)
    return Infinity;
  double Apart = A < B ? B - A : A - B;
  // Of opposite signs and next to the largest number.
  if (Apart == Infinity)
    return (A / 2 < B / 2 ? B / 2 - A / 2 : A / 2 - B / 2) / (Larger / 2);
  return Apart / Larger;
}

CARVE_ANYWHERE double relativeF32(uint32_t A, uint32_t B) {
  float FloatA, FloatB;
  memcpy(&FloatA, &A, sizeof A);
  memcpy(&FloatB, &B, sizeof B);
  return relativeDifference(FloatA, FloatB);
}

CARVE_ANYWHERE double relativeF64(uint64_t A, uint64_t B) {
  double DoubleA, DoubleB;
  memcpy(&DoubleA, &A, sizeof A);
  memcpy(&DoubleB, &B, sizeof B);
  return relativeDifference(DoubleA, DoubleB);
}

/// Spreads a word over 64 bits, so that sums of it tell multisets of words apart.
CARVE_ANYWHERE uint64_t hashOfWord(uint32_t Word) {
  uint64_t Hash = (Word + uint64_t(0x9e3779b9)) * 0xbf58476d1ce4e5b9;
  Hash ^= Hash >> 32;
  return Hash * 0x94d049bb133111eb;
}

/// What the comparison of an output with the reference adds up to.
struct Tally {
  uint64_t Words = 0;
  double RelativeF32 = 0, RelativeF64 = 0; ///< As bits on the device: they order as integers.
  uint64_t Multiset = 0;

  /// A word of the output and of the reference.
  CARVE_ANYWHERE bool word(uint32_t Output, uint32_t Reference) {
    Multiset += hashOfWord(Output);
    if (Output == Reference)
      return false;
    ++Words;
    double Relative = relativeF32(Output, Reference);
    RelativeF32 = RelativeF32 < Relative ? Relative : RelativeF32;
    return true;
  }
  /// Two neighbours, which may be one double: the low word comes first.
  CARVE_ANYWHERE void pair(uint32_t LowOutput, uint32_t HighOutput, uint32_t LowReference,
                           uint32_t HighReference) {
    bool Low = word(LowOutput, LowReference);
    bool High = word(HighOutput, HighReference);
    if (!Low && !High)
      return;
    double Relative = relativeF64(uint64_t(HighOutput) << 32 | LowOutput,
                                  uint64_t(HighReference) << 32 | LowReference);
    RelativeF64 = RelativeF64 < Relative ? Relative : RelativeF64;
  }
};

} // namespace carve::probe::helper
