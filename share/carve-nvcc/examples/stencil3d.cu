// Acoustic wave equation on a 3-D grid: eighth order in space, second order in time.
//
// A thread walks along z and keeps the nine values of its column in a queue of registers, so that
// every value is read from memory once; the neighbours in x and y come from a tile in shared
// memory. Memory latency limits it. The unrolled walk invites the compiler to load far ahead, which
// costs registers and with them resident blocks, and it is the blocks that hide the latency: lower
// register counts may win by a wide margin.
//
// Usage: stencil3d [NX], the interior's size in x, a multiple of 32, 512 by default; NY = 384 and
// NZ = 128 stay.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define CHECK(Call) check((Call), #Call)

static void check(cudaError_t Status, const char *Call) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "stencil3d: %s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(1);
}

constexpr int Radius = 4;
constexpr int BlockX = 32;
constexpr int BlockY = 16;
constexpr int SizeY = 384;
constexpr int SizeZ = 128;

__constant__ float Coefficients[Radius + 1];

using PlaneTile = float[BlockY + 2 * Radius][BlockX + 2 * Radius];

// Every thread stores its own value Here; those of the first rows and columns also load the border
// around the block.
__device__ void fill(PlaneTile &Tile, const float *Own, int Pitch, float Here) {
  const int TileX = threadIdx.x + Radius;
  const int TileY = threadIdx.y + Radius;
  Tile[TileY][TileX] = Here;
  if (threadIdx.y < Radius) {
    Tile[threadIdx.y][TileX] = Own[-Radius * Pitch];
    Tile[threadIdx.y + BlockY + Radius][TileX] = Own[BlockY * Pitch];
  }
  if (threadIdx.x < Radius) {
    Tile[TileY][threadIdx.x] = Own[-Radius];
    Tile[TileY][threadIdx.x + BlockX + Radius] = Own[BlockX];
  }
}

// Current and Previous hold (SizeX + 2R) x (SizeY + 2R) x (SizeZ + 2R) values, x fastest. The new
// field overwrites Previous, of which a thread reads only the values that it replaces. The border
// of R values stays as it is.
__global__ void propagate(const float *__restrict__ Current, float *__restrict__ Previous,
                          int SizeX, float Courant) {
  __shared__ PlaneTile Tile;
  const int Pitch = SizeX + 2 * Radius;
  const int Plane = Pitch * (SizeY + 2 * Radius);
  const int X = blockIdx.x * BlockX + threadIdx.x + Radius;
  const int Y = blockIdx.y * BlockY + threadIdx.y + Radius;
  const int TileX = threadIdx.x + Radius;
  const int TileY = threadIdx.y + Radius;
  int Index = Y * Pitch + X;

  // Queue[Radius] is the value at the current plane.
  float Queue[2 * Radius + 1];
#pragma unroll
  for (int I = 0; I < 2 * Radius; ++I)
    Queue[I + 1] = Current[Index + I * Plane];
  Index += Radius * Plane;
  int Ahead = Index + Radius * Plane;

  // As many turns as the queue is long, so that its shifts cost no instruction.
#pragma unroll 9
  for (int Z = 0; Z < SizeZ; ++Z, Index += Plane, Ahead += Plane) {
#pragma unroll
    for (int I = 0; I < 2 * Radius; ++I)
      Queue[I] = Queue[I + 1];
    Queue[2 * Radius] = Current[Ahead];

    __syncthreads();
    fill(Tile, Current + Index, Pitch, Queue[Radius]);
    __syncthreads();

    float Laplacian = 3.0f * Coefficients[0] * Queue[Radius];
#pragma unroll
    for (int R = 1; R <= Radius; ++R) {
      const float InX = Tile[TileY][TileX - R] + Tile[TileY][TileX + R];
      const float InY = Tile[TileY - R][TileX] + Tile[TileY + R][TileX];
      const float InZ = Queue[Radius - R] + Queue[Radius + R];
      Laplacian += Coefficients[R] * (InX + InY + InZ);
    }
    Previous[Index] = 2.0f * Queue[Radius] - Previous[Index] + Courant * Laplacian;
  }
}

static std::uint64_t checksum(const std::vector<float> &Values) {
  std::uint64_t Hash = 14695981039346656037ull;
  for (float Value : Values) {
    std::uint32_t Bits;
    std::memcpy(&Bits, &Value, sizeof(Bits));
    Hash = (Hash ^ Bits) * 1099511628211ull;
  }
  return Hash;
}

// A smooth pulse in the middle of the box.
static std::vector<float> initialField(int SizeX) {
  const int Pitch = SizeX + 2 * Radius, Rows = SizeY + 2 * Radius, Planes = SizeZ + 2 * Radius;
  std::vector<float> Field(static_cast<size_t>(Pitch) * Rows * Planes);
  constexpr int Reach = 24;
  for (int Z = -Reach; Z <= Reach; ++Z)
    for (int Y = -Reach; Y <= Reach; ++Y)
      for (int X = -Reach; X <= Reach; ++X) {
        const float Distance = static_cast<float>(X * X + Y * Y + Z * Z) / (Reach * Reach);
        const size_t Row = static_cast<size_t>(Planes / 2 + Z) * Rows + Rows / 2 + Y;
        if (Distance < 1.0f && Pitch / 2 + X >= Radius && Pitch / 2 + X < SizeX + Radius)
          Field[Row * Pitch + Pitch / 2 + X] = (1.0f - Distance) * (1.0f - Distance);
      }
  return Field;
}

int main(int argc, char **argv) {
  const int SizeX = argc > 1 ? std::atoi(argv[1]) : 512;
  if (SizeX < BlockX || SizeX > 8192 || SizeX % BlockX != 0) {
    std::fprintf(stderr, "usage: stencil3d [NX], NX a multiple of %d up to 8192\n", BlockX);
    return 1;
  }
  const float HostCoefficients[Radius + 1] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315,
                                              -1.0f / 560};
  CHECK(cudaMemcpyToSymbol(Coefficients, HostCoefficients, sizeof(HostCoefficients)));
  std::vector<float> Host = initialField(SizeX);
  const size_t Bytes = Host.size() * sizeof(float);
  float *Current, *Previous;
  CHECK(cudaMalloc(&Current, Bytes));
  CHECK(cudaMalloc(&Previous, Bytes));
  CHECK(cudaMemcpy(Current, Host.data(), Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(Previous, Current, Bytes, cudaMemcpyDeviceToDevice));

  const dim3 Block(BlockX, BlockY);
  const dim3 Grid(SizeX / BlockX, SizeY / BlockY);
  for (int Step = 0; Step < 120; ++Step) {
    propagate<<<Grid, Block>>>(Current, Previous, SizeX, 0.1f);
    std::swap(Current, Previous);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(Host.data(), Current, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(Current));
  CHECK(cudaFree(Previous));
  std::printf("checksum=%016llx\n", static_cast<unsigned long long>(checksum(Host)));
  return 0;
}
