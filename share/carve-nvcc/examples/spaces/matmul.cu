// Matrix multiplication C = A * B, tiled through shared memory, with the choices that its author
// has. After the space of the same name in Ryoo et al., "Program optimization carving for GPU
// computing" (JPDC 2008).
//
//   TILE      threads of a block in x and y, and depth of a tile
//   RECT      columns of C that a thread computes, TILE apart: 1x1, 1x2, 1x4 tiling
//   UNROLL    copies of the innermost loop's body
//   PREFETCH  1: the next tiles are loaded into registers while these are multiplied
//   SPILL     1: what only the end of the kernel needs waits in shared memory, not in registers
//
// All values are small whole numbers, so every sum is exact in whatever order it is made.
#include "Space.h"

#ifndef TILE
#define TILE 16
#endif
#ifndef RECT
#define RECT 1
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef PREFETCH
#define PREFETCH 0
#endif
#ifndef SPILL
#define SPILL 0
#endif

constexpr int Size = 2048;
constexpr int Launches = 3;
// The preprocessor leaves pragmas alone, so they need constants.
constexpr int Unroll = UNROLL;

// A's tile, and RECT of B's side by side.
struct Tiles {
  float A[TILE][TILE];
  float B[TILE][TILE * RECT];
};

struct Fetched {
  float A;
  float B[RECT];
};

__device__ Fetched fetch(const float *A, const float *B, int Step) {
  Fetched F;
  const int Row = blockIdx.y * TILE + threadIdx.y;
  const int Col = blockIdx.x * TILE * RECT + threadIdx.x;
  F.A = A[Row * Size + Step * TILE + threadIdx.x];
#pragma unroll
  for (int R = 0; R < RECT; ++R)
    F.B[R] = B[(Step * TILE + threadIdx.y) * Size + Col + R * TILE];
  return F;
}

__device__ void store(Tiles &T, const Fetched &F) {
  T.A[threadIdx.y][threadIdx.x] = F.A;
#pragma unroll
  for (int R = 0; R < RECT; ++R)
    T.B[threadIdx.y][threadIdx.x + R * TILE] = F.B[R];
}

__device__ void multiplyTiles(const Tiles &T, float (&Sum)[RECT]) {
#pragma unroll Unroll
  for (int K = 0; K < TILE; ++K) {
    const float Left = T.A[threadIdx.y][K];
#pragma unroll
    for (int R = 0; R < RECT; ++R)
      Sum[R] += Left * T.B[K][threadIdx.x + R * TILE];
  }
}

__global__ void multiply(const float *A, const float *B, float *C) {
  __shared__ Tiles T;
  const int Row = blockIdx.y * TILE + threadIdx.y;
  const int Col = blockIdx.x * TILE * RECT + threadIdx.x;
  int Place = Row * Size + Col;
#if SPILL
  __shared__ int Waiting[TILE][TILE];
  Waiting[threadIdx.y][threadIdx.x] = Place;
#endif
  float Sum[RECT] = {};
#if PREFETCH
  Fetched Next = fetch(A, B, 0);
#pragma unroll 1
  for (int Step = 0; Step < Size / TILE; ++Step) {
    store(T, Next);
    __syncthreads();
    // The last step fetches the first tiles again, which nobody uses.
    Next = fetch(A, B, (Step + 1) % (Size / TILE));
    multiplyTiles(T, Sum);
    __syncthreads();
  }
#else
#pragma unroll 1
  for (int Step = 0; Step < Size / TILE; ++Step) {
    store(T, fetch(A, B, Step));
    __syncthreads();
    multiplyTiles(T, Sum);
    __syncthreads();
  }
#endif
#if SPILL
  Place = Waiting[threadIdx.y][threadIdx.x];
#endif
#pragma unroll
  for (int R = 0; R < RECT; ++R)
    C[Place + R * TILE] = Sum[R];
}

static std::vector<float> wholeNumbers(std::uint64_t Seed) {
  Generator Random{Seed};
  std::vector<float> Values(size_t(Size) * Size);
  for (float &Value : Values)
    Value = float(Random.below(9) - 4);
  return Values;
}

// Compares points all over C with sums made here.
static void compare(const std::vector<float> &A, const std::vector<float> &B,
                    const std::vector<float> &C) {
  Generator Random{3};
  for (int Point = 0; Point < 200; ++Point) {
    const int Row = Random.below(Size), Col = Random.below(Size);
    float Sum = 0;
    for (int K = 0; K < Size; ++K)
      Sum += A[size_t(Row) * Size + K] * B[size_t(K) * Size + Col];
    const float Found = C[size_t(Row) * Size + Col];
    if (Found != Sum) {
      std::fprintf(stderr, "C[%d][%d] is %g, expected %g\n", Row, Col, Found, Sum);
      std::exit(1);
    }
  }
}

int main() {
  const std::vector<float> A = wholeNumbers(1), B = wholeNumbers(2);
  float *DeviceA = onDevice(A), *DeviceB = onDevice(B);
  float *DeviceC = nullptr;
  CHECK(cudaMalloc(&DeviceC, A.size() * sizeof(float)));
  const dim3 Block(TILE, TILE), Grid(Size / (TILE * RECT), Size / TILE);
  for (int Launch = 0; Launch < Launches; ++Launch)
    multiply<<<Grid, Block>>>(DeviceA, DeviceB, DeviceC);
  CHECK(cudaGetLastError());
  const std::vector<float> C = fromDevice(DeviceC, A.size());
  compare(A, B, C);
  std::printf("matmul ok, checksum %016llx\n", (unsigned long long)checksum(C));
  return 0;
}
