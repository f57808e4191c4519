// The electric potential of point charges on slices of a regular grid, each point the sum over all
// atoms (direct Coulomb summation). After the space "CP" of Ryoo et al., "Program optimization
// carving for GPU computing" (JPDC 2008).
//
//   POINTS     grid points that a thread computes, along x
//   BLOCKX     threads of a block along x
//   BLOCKY     and along y
//   COALESCED  1: a thread's points lie BLOCKX apart, so that a warp writes neighbours together;
//              0: they lie side by side
//   UNROLL     copies of the loop over atoms
#include "Space.h"

#include <cmath>

#ifndef POINTS
#define POINTS 1
#endif
#ifndef BLOCKX
#define BLOCKX 16
#endif
#ifndef BLOCKY
#define BLOCKY 16
#endif
#ifndef COALESCED
#define COALESCED 1
#endif
#ifndef UNROLL
#define UNROLL 1
#endif

constexpr int Size = 1024; // Points of a slice in x and y.
constexpr int Slices = 4;
constexpr int Atoms = 4000; // As many as constant memory holds.
constexpr float Spacing = 0.1f;
// The preprocessor leaves pragmas alone, so they need constants.
constexpr int Unroll = UNROLL;

// Position, and charge in w.
__constant__ float4 Atom[Atoms];

__global__ void potential(float *Grid, float Z) {
  constexpr int Stride = COALESCED ? BLOCKX : 1;
  const int First = blockIdx.x * BLOCKX * POINTS + threadIdx.x * (COALESCED ? 1 : POINTS);
  const int Row = blockIdx.y * BLOCKY + threadIdx.y;
  const float X = First * Spacing, Y = Row * Spacing;
  float Sum[POINTS] = {};
#pragma unroll Unroll
  for (int I = 0; I < Atoms; ++I) {
    const float4 A = Atom[I];
    const float Dy = Y - A.y, Dz = Z - A.z;
    const float OffLine = Dy * Dy + Dz * Dz;
    float Dx = X - A.x;
#pragma unroll
    for (int P = 0; P < POINTS; ++P) {
      Sum[P] += A.w * rsqrtf(Dx * Dx + OffLine);
      Dx += Stride * Spacing;
    }
  }
#pragma unroll
  for (int P = 0; P < POINTS; ++P)
    Grid[Row * Size + First + P * Stride] = Sum[P];
}

// Atoms beside the slices, so that no distance is near 0.
static std::vector<float4> randomAtoms() {
  Generator Random{1};
  std::vector<float4> List(Atoms);
  for (float4 &A : List) {
    A.x = Random.unit() * Size * Spacing;
    A.y = Random.unit() * Size * Spacing;
    A.z = -1 - 10 * Random.unit();
    A.w = 2 * Random.unit() - 1;
  }
  return List;
}

// Compares points of a slice with sums made here, within what single precision leaves of them.
static void compare(const std::vector<float4> &List, const std::vector<float> &Grid, float Z) {
  Generator Random{2};
  for (int Point = 0; Point < 100; ++Point) {
    const int Row = Random.below(Size), Col = Random.below(Size);
    double Sum = 0, Magnitude = 0;
    for (const float4 &A : List) {
      const double Dx = Col * double(Spacing) - A.x, Dy = Row * double(Spacing) - A.y;
      const double Term = A.w / std::sqrt(Dx * Dx + Dy * Dy + (double(Z) - A.z) * (Z - A.z));
      Sum += Term;
      Magnitude += std::fabs(Term);
    }
    const float Found = Grid[size_t(Row) * Size + Col];
    if (!(std::fabs(Found - Sum) <= 1e-4 * Magnitude)) {
      std::fprintf(stderr, "point %d, %d is %g, expected %g\n", Col, Row, Found, Sum);
      std::exit(1);
    }
  }
}

int main() {
  const std::vector<float4> List = randomAtoms();
  CHECK(cudaMemcpyToSymbol(Atom, List.data(), Atoms * sizeof(float4)));
  float *Grid = nullptr;
  CHECK(cudaMalloc(&Grid, sizeof(float) * Size * Size));
  const dim3 Block(BLOCKX, BLOCKY), Blocks(Size / (BLOCKX * POINTS), Size / BLOCKY);
  for (int Slice = 0; Slice < Slices; ++Slice)
    potential<<<Blocks, Block>>>(Grid, Slice * Spacing);
  CHECK(cudaGetLastError());
  compare(List, fromDevice(Grid, size_t(Size) * Size), (Slices - 1) * Spacing);
  std::printf("coulomb ok\n");
  return 0;
}
