// F^H d of an iterative reconstruction of magnetic resonance images: for every voxel the sum over
// all samples of k-space, each turned by its phase there. After the space "MRI-FHD" of Ryoo et al.,
// "Program optimization carving for GPU computing" (JPDC 2008).
//
//   BLOCK   threads of a block, each with a voxel
//   UNROLL  copies of the loop over samples
//   CHUNK   samples that one launch takes, which lie in constant memory
#include "Space.h"

#include <cmath>

#ifndef BLOCK
#define BLOCK 64
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef CHUNK
#define CHUNK 256
#endif

constexpr int Voxels = 1 << 19;
constexpr int Samples = 4096;
constexpr float TwoPi = 6.2831853f;
// The preprocessor leaves pragmas alone, so they need constants.
constexpr int Unroll = UNROLL;

// A place in k-space, times 2 pi, and the measured value there.
struct Sample {
  float Kx, Ky, Kz, Real, Imaginary;
};

struct Voxel {
  float X, Y, Z;
};

__constant__ Sample Chunk[CHUNK];

__global__ void accumulate(const Voxel *Place, float2 *Sum) {
  const int At = blockIdx.x * BLOCK + threadIdx.x;
  const Voxel V = Place[At];
  float2 S = Sum[At];
#pragma unroll Unroll
  for (int I = 0; I < CHUNK; ++I) {
    float Sine, Cosine;
    __sincosf(Chunk[I].Kx * V.X + Chunk[I].Ky * V.Y + Chunk[I].Kz * V.Z, &Sine, &Cosine);
    S.x += Chunk[I].Real * Cosine - Chunk[I].Imaginary * Sine;
    S.y += Chunk[I].Imaginary * Cosine + Chunk[I].Real * Sine;
  }
  Sum[At] = S;
}

static std::vector<Sample> randomSamples() {
  Generator Random{1};
  std::vector<Sample> List(Samples);
  for (Sample &S : List)
    S = {TwoPi * (Random.unit() - 0.5f), TwoPi * (Random.unit() - 0.5f),
         TwoPi * (Random.unit() - 0.5f), Random.unit() - 0.5f, Random.unit() - 0.5f};
  return List;
}

static std::vector<Voxel> randomVoxels() {
  Generator Random{2};
  std::vector<Voxel> List(Voxels);
  for (Voxel &V : List)
    V = {Random.unit(), Random.unit(), Random.unit()};
  return List;
}

// Compares some voxels with sums made here, within what fast sines leave of them.
static void compare(const std::vector<Sample> &List, const std::vector<Voxel> &Places,
                    const std::vector<float2> &Sums) {
  Generator Random{3};
  for (int Point = 0; Point < 100; ++Point) {
    const int At = Random.below(Voxels);
    double Real = 0, Imaginary = 0, Magnitude = 0;
    for (const Sample &S : List) {
      const Voxel &V = Places[At];
      const double Phase =
          double(S.Kx) * V.X + double(S.Ky) * V.Y + double(S.Kz) * V.Z;
      Real += S.Real * std::cos(Phase) - S.Imaginary * std::sin(Phase);
      Imaginary += S.Imaginary * std::cos(Phase) + S.Real * std::sin(Phase);
      Magnitude += std::hypot(S.Real, S.Imaginary);
    }
    if (!(std::hypot(Sums[At].x - Real, Sums[At].y - Imaginary) <= 1e-4 * Magnitude)) {
      std::fprintf(stderr, "voxel %d is %g + %gi, expected %g + %gi\n", At, Sums[At].x, Sums[At].y,
                   Real, Imaginary);
      std::exit(1);
    }
  }
}

int main() {
  const std::vector<Sample> List = randomSamples();
  const std::vector<Voxel> Places = randomVoxels();
  const Sample *DeviceList = onDevice(List);
  const Voxel *DevicePlaces = onDevice(Places);
  float2 *Sums = nullptr;
  CHECK(cudaMalloc(&Sums, Voxels * sizeof(float2)));
  CHECK(cudaMemset(Sums, 0, Voxels * sizeof(float2)));
  for (int First = 0; First < Samples; First += CHUNK) {
    CHECK(cudaMemcpyToSymbolAsync(Chunk, DeviceList + First, CHUNK * sizeof(Sample), 0,
                                  cudaMemcpyDeviceToDevice));
    accumulate<<<Voxels / BLOCK, BLOCK>>>(DevicePlaces, Sums);
  }
  CHECK(cudaGetLastError());
  compare(List, Places, fromDevice(Sums, Voxels));
  std::printf("fhd ok\n");
  return 0;
}
