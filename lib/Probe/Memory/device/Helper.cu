// The probe's own kernels. Each works through a table of pieces of memory, in chunks of 64 KiB. A
// block takes neighbouring chunks, so that it looks up its piece once, and accesses 16 bytes at a
// time if the addresses allow it. The names begin with HelperKernelPrefix (HelperImage.h).

#include "HelperTypes.h"

using namespace carve::probe::helper;

// The number of loads in flight per thread and stream of data.
static constexpr int Unroll = 4;

namespace {

struct Chunk {
  char *Live, *Shadow;
  uint64_t Bytes;  // At most ChunkBytes.
  uint64_t Beyond; // The bytes of the piece from Live on.
};

// Returns the piece that holds chunk Index: the last one whose first chunk is not after it.
__device__ uint32_t pieceOf(const Piece *Pieces, uint32_t Count, uint64_t Index) {
  uint32_t Low = 0, High = Count;
  while (High - Low > 1) {
    uint32_t Middle = Low + (High - Low) / 2;
    if (Pieces[Middle].FirstChunk <= Index)
      Low = Middle;
    else
      High = Middle;
  }
  return Low;
}

// Calls Visit(chunk, its index) for the chunks of this block.
template <class Function>
__device__ void forEachChunk(const Piece *Pieces, uint32_t Count, uint64_t Chunks, Function Visit) {
  uint64_t First = Chunks * blockIdx.x / gridDim.x;
  uint64_t Last = Chunks * (blockIdx.x + 1) / gridDim.x;
  if (First == Last)
    return;
  uint32_t Position = pieceOf(Pieces, Count, First);
  for (uint64_t Index = First; Index < Last; ++Index) {
    while (Position + 1 < Count && Pieces[Position + 1].FirstChunk <= Index)
      ++Position;
    const Piece &P = Pieces[Position];
    uint64_t Offset = (Index - P.FirstChunk) * ChunkBytes;
    uint64_t Left = P.Bytes - Offset;
    Visit(Chunk{reinterpret_cast<char *>(P.Live + Offset),
                reinterpret_cast<char *>(P.Shadow + Offset), Left < ChunkBytes ? Left : ChunkBytes,
                Left},
          Index);
  }
}

// Returns the number of bytes before the first address that is a multiple of 16.
__device__ uint32_t headOf(const char *Address, uint64_t Bytes) {
  uint32_t Head = -reinterpret_cast<uint64_t>(Address) & 15;
  return Head < Bytes ? Head : Bytes;
}

__device__ uint4 load(const char *Address) {
  return __ldcs(reinterpret_cast<const uint4 *>(Address));
}

__device__ void copyChunk(char *To, const char *From, uint32_t Bytes) {
  uint32_t Head = headOf(To, Bytes);
  if (threadIdx.x < Head)
    To[threadIdx.x] = From[threadIdx.x];
  To += Head, From += Head, Bytes -= Head;
  uint32_t Vectors = Bytes / 16;
  uint32_t I = threadIdx.x;
  for (; I + (Unroll - 1) * BlockThreads < Vectors; I += Unroll * BlockThreads) {
    uint4 Data[Unroll];
#pragma unroll
    for (int U = 0; U < Unroll; ++U)
      Data[U] = load(From + (I + U * BlockThreads) * 16);
#pragma unroll
    for (int U = 0; U < Unroll; ++U)
      __stcs(reinterpret_cast<uint4 *>(To + (I + U * BlockThreads) * 16), Data[U]);
  }
  for (; I < Vectors; I += BlockThreads)
    __stcs(reinterpret_cast<uint4 *>(To + I * 16), load(From + I * 16));
  uint32_t Tail = Vectors * 16 + threadIdx.x;
  if (Tail < Bytes)
    To[Tail] = From[Tail];
}

__device__ uint32_t differ(uint4 A, uint4 B) {
  return (A.x ^ B.x) | (A.y ^ B.y) | (A.z ^ B.z) | (A.w ^ B.w);
}

// Returns a number other than zero if this thread has seen a difference.
__device__ uint32_t compareChunk(const char *A, const char *B, uint32_t Bytes) {
  uint32_t Head = headOf(A, Bytes), Seen = 0;
  if (threadIdx.x < Head)
    Seen |= A[threadIdx.x] ^ B[threadIdx.x];
  A += Head, B += Head, Bytes -= Head;
  uint32_t Vectors = Bytes / 16;
  uint32_t I = threadIdx.x;
  for (; I + (Unroll - 1) * BlockThreads < Vectors; I += Unroll * BlockThreads) {
    uint4 DataA[Unroll], DataB[Unroll];
#pragma unroll
    for (int U = 0; U < Unroll; ++U) {
      DataA[U] = load(A + (I + U * BlockThreads) * 16);
      DataB[U] = load(B + (I + U * BlockThreads) * 16);
    }
#pragma unroll
    for (int U = 0; U < Unroll; ++U)
      Seen |= differ(DataA[U], DataB[U]);
  }
  for (; I < Vectors; I += BlockThreads)
    Seen |= differ(load(A + I * 16), load(B + I * 16));
  uint32_t Tail = Vectors * 16 + threadIdx.x;
  if (Tail < Bytes)
    Seen |= A[Tail] ^ B[Tail];
  return Seen;
}

// Returns a word of up to four bytes at any address. Bytes after the end count as zero.
__device__ uint32_t wordAt(const char *Address, uint32_t Bytes) {
  uint32_t Word = 0;
  for (uint32_t I = 0; I < Bytes && I < 4; ++I)
    Word |= uint32_t(static_cast<unsigned char>(Address[I])) << 8 * I;
  return Word;
}

// Adds the pairs of words from Offset on, one pair per thread.
__device__ void tallySlowly(Tally &Sum, const Chunk &C, uint32_t Offset) {
  for (uint32_t At = Offset + threadIdx.x * 8; At < C.Bytes; At += BlockThreads * 8) {
    uint32_t Left = C.Bytes - At;
    uint32_t LowOutput = wordAt(C.Live + At, Left), LowReference = wordAt(C.Shadow + At, Left);
    if (Left >= 8)
      Sum.pair(LowOutput, wordAt(C.Live + At + 4, 4), LowReference, wordAt(C.Shadow + At + 4, 4));
    else
      Sum.word(LowOutput, LowReference);
    if (Left > 4 && Left < 8)
      Sum.word(wordAt(C.Live + At + 4, Left - 4), wordAt(C.Shadow + At + 4, Left - 4));
  }
}

__device__ void tallyChunk(Tally &Sum, const Chunk &C) {
  uint32_t Vectors = headOf(C.Live, C.Bytes) == 0 ? C.Bytes / 16 : 0;
#pragma unroll 4
  for (uint32_t I = threadIdx.x; I < Vectors; I += BlockThreads) {
    uint4 Output = load(C.Live + I * 16), Reference = load(C.Shadow + I * 16);
    Sum.pair(Output.x, Output.y, Reference.x, Reference.y);
    Sum.pair(Output.z, Output.w, Reference.z, Reference.w);
  }
  tallySlowly(Sum, C, Vectors * 16);
}

template <class Number> __device__ Number other(Number Value, int Distance) {
  return __shfl_down_sync(0xffffffffu, Value, Distance);
}

__device__ void addUp(Tally &Sum, Tally *Total) {
  for (int Distance = 16; Distance > 0; Distance /= 2) {
    Sum.Words += other(Sum.Words, Distance);
    Sum.Multiset += other(Sum.Multiset, Distance);
    Sum.RelativeF32 = fmax(Sum.RelativeF32, other(Sum.RelativeF32, Distance));
    Sum.RelativeF64 = fmax(Sum.RelativeF64, other(Sum.RelativeF64, Distance));
  }
  if (threadIdx.x % 32 != 0)
    return;
  using Atomic = unsigned long long;
  atomicAdd(reinterpret_cast<Atomic *>(&Total->Multiset), Atomic(Sum.Multiset));
  if (Sum.Words == 0)
    return;
  atomicAdd(reinterpret_cast<Atomic *>(&Total->Words), Atomic(Sum.Words));
  atomicMax(reinterpret_cast<Atomic *>(&Total->RelativeF32),
            Atomic(__double_as_longlong(Sum.RelativeF32)));
  atomicMax(reinterpret_cast<Atomic *>(&Total->RelativeF64),
            Atomic(__double_as_longlong(Sum.RelativeF64)));
}

// Returns whether Address is in one of the intervals, which are sorted and do not touch.
__device__ bool isIn(const Interval *Intervals, uint32_t Count, uint64_t Address) {
  uint32_t Low = 0, High = Count;
  while (High - Low > 1) {
    uint32_t Middle = Low + (High - Low) / 2;
    if (Intervals[Middle].Begin <= Address)
      Low = Middle;
    else
      High = Middle;
  }
  return Address >= Intervals[Low].Begin && Address < Intervals[Low].End;
}

} // namespace

// Copies live memory to the shadow, or the shadow to live memory if ToLive is set.
extern "C" __global__ void __launch_bounds__(BlockThreads)
    __carve_probe_copy(const Piece *Pieces, uint32_t Count, uint64_t Chunks, uint32_t ToLive) {
  forEachChunk(Pieces, Count, Chunks, [&](const Chunk &C, uint64_t) {
    copyChunk(ToLive ? C.Live : C.Shadow, ToLive ? C.Shadow : C.Live, C.Bytes);
  });
}

// Sets Flags[i] to whether chunk i differs.
extern "C" __global__ void __launch_bounds__(BlockThreads)
    __carve_probe_compare(const Piece *Pieces, uint32_t Count, uint64_t Chunks, uint8_t *Flags) {
  forEachChunk(Pieces, Count, Chunks, [&](const Chunk &C, uint64_t Index) {
    int Differs = __syncthreads_or(compareChunk(C.Live, C.Shadow, C.Bytes) != 0);
    if (threadIdx.x == 0)
      Flags[Index] = Differs != 0;
  });
}

// Adds to Total how live memory differs from the shadow.
extern "C" __global__ void __launch_bounds__(BlockThreads)
    __carve_probe_difference(const Piece *Pieces, uint32_t Count, uint64_t Chunks, Tally *Total) {
  Tally Sum;
  forEachChunk(Pieces, Count, Chunks, [&](const Chunk &C, uint64_t) { tallyChunk(Sum, C); });
  addUp(Sum, Total);
}

// Sets *Found to the address of a word of live memory that is in an interval. Words are at
// multiples of 8.
extern "C" __global__ void __launch_bounds__(BlockThreads)
    __carve_probe_scan(const Piece *Pieces, uint32_t Count, uint64_t Chunks,
                       const Interval *Intervals, uint32_t IntervalCount, uint64_t *Found) {
  uint64_t Least = Intervals[0].Begin, End = Intervals[IntervalCount - 1].End;
  forEachChunk(Pieces, Count, Chunks, [&](const Chunk &C, uint64_t) {
    if (*static_cast<volatile uint64_t *>(Found))
      return;
    uint32_t Head = -reinterpret_cast<uint64_t>(C.Live) & 7;
    // A word may begin in this chunk and end in the next one.
#pragma unroll 8
    for (uint32_t At = Head + threadIdx.x * 8; At < C.Bytes; At += BlockThreads * 8) {
      if (At + 8 > C.Beyond)
        return;
      uint64_t Word = __ldcs(reinterpret_cast<const unsigned long long *>(C.Live + At));
      if (Word >= Least && Word < End && isIn(Intervals, IntervalCount, Word))
        *static_cast<volatile uint64_t *>(Found) = reinterpret_cast<uint64_t>(C.Live + At);
    }
  });
}

// Reads all Vectors * 16 bytes, bypassing L1, and with EvictFirst lets L2 give up their lines
// first. Sink is written only if the sum is a number that it hardly ever is. Without that store the
// compiler would remove the reads.
extern "C" __global__ void __launch_bounds__(BlockThreads)
    __carve_probe_read(const uint4 *Data, uint64_t Vectors, uint32_t *Sink, uint32_t EvictFirst) {
  uint64_t Threads = uint64_t(gridDim.x) * BlockThreads;
  uint32_t Sum = 0;
#pragma unroll 4
  for (uint64_t I = uint64_t(blockIdx.x) * BlockThreads + threadIdx.x; I < Vectors; I += Threads) {
    uint4 Value = EvictFirst ? __ldcs(Data + I) : __ldcg(Data + I);
    Sum ^= Value.x ^ Value.y ^ Value.z ^ Value.w;
  }
  if (Sum == 0x9e3779b9)
    *Sink = Sum;
}
