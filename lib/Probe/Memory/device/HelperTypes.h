/// \file
/// The types that the probe and its kernels on the device (Helper.cu) exchange, and the arithmetic
/// that compares outputs, which the tests run on the host. It may include no other standard
/// headers, because nvcc reads it, too.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define CARVE_ANYWHERE __host__ __device__ inline
#else
#define CARVE_ANYWHERE inline
#endif

namespace carve::probe::helper {

/// The granularity in which changes are found, and the work of one block at a time.
inline constexpr uint64_t ChunkBytes = 64 << 10;

/// The threads per block of every kernel here.
inline constexpr uint32_t BlockThreads = 256;

/// A piece of the program's memory (Live) and the probe's copy of it (Shadow). Both addresses have
/// the same remainder by 16.
struct Piece {
  uint64_t Live, Shadow, Bytes;
  uint64_t FirstChunk; ///< The number of chunks of all pieces before this one in the table.
};

CARVE_ANYWHERE uint64_t chunksOf(uint64_t Bytes) { return (Bytes + ChunkBytes - 1) / ChunkBytes; }

/// The addresses from Begin up to, but not including, End.
struct Interval {
  uint64_t Begin, End;
};

/// Returns |a-b| / max(|a|,|b|) of two numbers. The result is infinite if one is not a number or
/// only one is infinite.
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
  // The difference overflows if both numbers are large and have opposite signs.
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

/// Spreads a word over 64 bits, so that different multisets of words have different sums.
CARVE_ANYWHERE uint64_t hashOfWord(uint32_t Word) {
  uint64_t Hash = (Word + uint64_t(0x9e3779b9)) * 0xbf58476d1ce4e5b9;
  Hash ^= Hash >> 32;
  return Hash * 0x94d049bb133111eb;
}

/// The sums over a comparison of an output with the reference.
struct Tally {
  uint64_t Words = 0;
  /// On the device they are handled as bits: non-negative numbers are ordered like their bits as
  /// integers.
  double RelativeF32 = 0, RelativeF64 = 0;
  uint64_t Multiset = 0;

  /// Adds a word of the output and the reference's word. Returns whether they differ.
  CARVE_ANYWHERE bool word(uint32_t Output, uint32_t Reference) {
    Multiset += hashOfWord(Output);
    if (Output == Reference)
      return false;
    ++Words;
    double Relative = relativeF32(Output, Reference);
    RelativeF32 = RelativeF32 < Relative ? Relative : RelativeF32;
    return true;
  }
  /// Adds two neighbouring words, which may be one double. The low word comes first.
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
