// Sums of absolute differences between the 16 x 16 macroblocks of a picture and a reference picture
// displaced by -16 to 15 pixels each way: the inner work of motion estimation. After the space
// "SAD" of Ryoo et al., "Program optimization carving for GPU computing" (JPDC 2008).
//
//   THREADS   of a block
//   TILE      displacements, side by side, that a thread computes at a time
//   UNROLL_T  copies of the loop over these
//   UNROLL_Y  and of the loop over the rows of a macroblock
//   UNROLL_X  and of the loop over its columns
//   MBS       macroblocks that a block of threads takes, one after the other
//
// All numbers are whole, so that the result is exact.
#include "Space.h"

#ifndef THREADS
#define THREADS 64
#endif
#ifndef TILE
#define TILE 1
#endif
#ifndef UNROLL_T
#define UNROLL_T 1
#endif
#ifndef UNROLL_Y
#define UNROLL_Y 1
#endif
#ifndef UNROLL_X
#define UNROLL_X 1
#endif
#ifndef MBS
#define MBS 1
#endif

constexpr int Width = 1920, Height = 1088;
constexpr int Side = 16;           // Of a macroblock.
constexpr int Range = 32;          // Displacements in each direction.
constexpr int Window = Side + Range; // Of the reference that a macroblock needs, and one to spare.
constexpr int Positions = Range * Range;
constexpr int BlocksX = Width / Side, BlocksY = Height / Side;
// The reference has a margin, so that no displacement leaves it.
constexpr int ReferenceWidth = Width + Range, ReferenceHeight = Height + Range;
constexpr int Launches = 2;
// The preprocessor leaves pragmas alone, so they need constants.
constexpr int UnrollT = UNROLL_T, UnrollY = UNROLL_Y, UnrollX = UNROLL_X;

using Pixel = unsigned char;

struct Loaded {
  Pixel Current[Side][Side];
  Pixel Reference[Window][Window];
};

// Rows of the reference that lie beyond its end belong to displacements that do not exist.
__device__ void load(Loaded &L, const Pixel *Current, const Pixel *Reference, int X0, int Y0) {
#pragma unroll 1
  for (int I = 0; I < Side * Side / THREADS; ++I) {
    const int At = I * THREADS + threadIdx.x;
    L.Current[At / Side][At % Side] = Current[(Y0 + At / Side) * Width + X0 + At % Side];
  }
#pragma unroll 1
  for (int I = 0; I < Window * Window / THREADS; ++I) {
    const int At = I * THREADS + threadIdx.x;
    L.Reference[At / Window][At % Window] =
        Reference[(Y0 + At / Window) * ReferenceWidth + X0 + At % Window];
  }
}

__device__ void sumTile(const Loaded &L, int Position, unsigned short *Sums) {
  const int Dx = Position % Range, Dy = Position / Range;
#pragma unroll UnrollT
  for (int T = 0; T < TILE; ++T) {
    int Sum = 0;
#pragma unroll UnrollY
    for (int Y = 0; Y < Side; ++Y)
#pragma unroll UnrollX
      for (int X = 0; X < Side; ++X)
        Sum += abs(int(L.Current[Y][X]) - int(L.Reference[Dy + Y][Dx + T + X]));
    Sums[Position + T] = (unsigned short)Sum;
  }
}

__global__ void differences(const Pixel *Current, const Pixel *Reference, unsigned short *Sums) {
  __shared__ Loaded L;
#pragma unroll 1
  for (int M = 0; M < MBS; ++M) {
    const int Column = blockIdx.x * MBS + M;
    load(L, Current, Reference, Column * Side, blockIdx.y * Side);
    __syncthreads();
    unsigned short *Own = Sums + (blockIdx.y * BlocksX + Column) * Positions;
#pragma unroll 1
    for (int Step = 0; Step < Positions / (THREADS * TILE); ++Step)
      sumTile(L, (Step * THREADS + threadIdx.x) * TILE, Own);
    __syncthreads();
  }
}

static std::vector<Pixel> randomPixels(size_t Count, std::uint64_t Seed) {
  Generator Random{Seed};
  std::vector<Pixel> Pixels(Count);
  for (Pixel &P : Pixels)
    P = Pixel(Random.below(256));
  return Pixels;
}

// Compares sums all over the result with sums made here.
static void compare(const std::vector<Pixel> &Current, const std::vector<Pixel> &Reference,
                    const std::vector<unsigned short> &Sums) {
  Generator Random{3};
  for (int Point = 0; Point < 1000; ++Point) {
    const int Column = Random.below(BlocksX), Row = Random.below(BlocksY);
    const int Position = Random.below(Positions);
    int Sum = 0;
    for (int Y = 0; Y < Side; ++Y)
      for (int X = 0; X < Side; ++X) {
        const int AtX = Column * Side + X, AtY = Row * Side + Y;
        Sum += std::abs(int(Current[AtY * Width + AtX]) -
                        int(Reference[(AtY + Position / Range) * ReferenceWidth + AtX +
                                      Position % Range]));
      }
    const int Found = Sums[size_t(Row * BlocksX + Column) * Positions + Position];
    if (Found != Sum) {
      std::fprintf(stderr, "macroblock %d, %d at %d is %d, expected %d\n", Column, Row, Position,
                   Found, Sum);
      std::exit(1);
    }
  }
}

int main() {
  const std::vector<Pixel> Current = randomPixels(size_t(Width) * Height, 1);
  const std::vector<Pixel> Reference = randomPixels(size_t(ReferenceWidth) * ReferenceHeight, 2);
  const Pixel *DeviceCurrent = onDevice(Current), *DeviceReference = onDevice(Reference);
  const size_t Count = size_t(BlocksX) * BlocksY * Positions;
  unsigned short *Sums = nullptr;
  CHECK(cudaMalloc(&Sums, Count * sizeof(unsigned short)));
  for (int Launch = 0; Launch < Launches; ++Launch)
    differences<<<dim3(BlocksX / MBS, BlocksY), THREADS>>>(DeviceCurrent, DeviceReference, Sums);
  CHECK(cudaGetLastError());
  const std::vector<unsigned short> Found = fromDevice(Sums, Count);
  compare(Current, Reference, Found);
  std::printf("sad ok, checksum %016llx\n", (unsigned long long)checksum(Found));
  return 0;
}
