// Transient heat of a chip: an explicit 2-D stencil over temperature, power and a conductivity that
// varies in space.
//
// Every block of 32 x 8 threads advances its 32 x 32 tile by two time steps in shared memory,
// recomputing a border of two cells, so that the grid is read and written once per two steps. A
// thread keeps the conductances to the four neighbours of each of its four cells in registers over
// both steps. Latency of the loads, the divisions and the barriers limits it: what counts is how
// many blocks share a multiprocessor, and with 256 threads a block 40 registers allow six, 48 five,
// 64 four.
//
// Usage: thermal [N], the grid's edge, 3072 by default.

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
  std::fprintf(stderr, "thermal: %s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(1);
}

constexpr int Edge = 32;
constexpr int BlockRows = 8;
constexpr int CellsPerThread = Edge / BlockRows;
constexpr int StepsPerLaunch = 2;
constexpr int Inner = Edge - 2 * StepsPerLaunch;

struct Chip {
  int Size;
  float TimeStep;
  float Cooling;
  float Ambient;
};

// The conductance between two cells is the harmonic mean of their conductivities.
__device__ float conductance(float Left, float Right) {
  return 2.0f * Left * Right / (Left + Right);
}

// One cell of margin around the tile: its contents reach only cells that are not written.
using Tile = float[Edge + 2][Edge + 2];

// Sets every cell of the tiles that lies outside the grid, margin included, to conductivity 0.
__device__ void clearTiles(Tile &Old, Tile &New, Tile &Conduct) {
  const int Thread = threadIdx.y * Edge + threadIdx.x;
  for (int I = Thread; I < (Edge + 2) * (Edge + 2); I += Edge * BlockRows) {
    const int Row = I / (Edge + 2), Col = I % (Edge + 2);
    Old[Row][Col] = New[Row][Col] = Conduct[Row][Col] = 0.0f;
  }
}

// The conductances between a thread's cells and their neighbours. Without conductivity on either
// side they are not a number, which concerns only cells outside the grid, and those are never
// written.
struct Conductances {
  float North[CellsPerThread], South[CellsPerThread], West[CellsPerThread], East[CellsPerThread];

  __device__ void set(int Cell, const Tile &Conduct, int X, int Y) {
    North[Cell] = conductance(Conduct[Y][X], Conduct[Y - 1][X]);
    South[Cell] = conductance(Conduct[Y][X], Conduct[Y + 1][X]);
    West[Cell] = conductance(Conduct[Y][X], Conduct[Y][X - 1]);
    East[Cell] = conductance(Conduct[Y][X], Conduct[Y][X + 1]);
  }

  // Heat that flows into the cell at (X, Y) per unit of time.
  __device__ float flow(int Cell, const Tile &From, int X, int Y) const {
    const float Here = From[Y][X];
    return North[Cell] * (From[Y - 1][X] - Here) + South[Cell] * (From[Y + 1][X] - Here) +
           West[Cell] * (From[Y][X - 1] - Here) + East[Cell] * (From[Y][X + 1] - Here);
  }
};

// Next <- Current after StepsPerLaunch steps; all arrays are Size x Size. No heat flows over the
// grid's border.
__global__ void heat(const float *__restrict__ Current, const float *__restrict__ Power,
                     const float *__restrict__ Conductivity, float *__restrict__ Next, Chip Die) {
  __shared__ Tile Temperature[2];
  __shared__ Tile Conduct;
  const int TX = threadIdx.x + 1;
  const int X = blockIdx.x * Inner + threadIdx.x - StepsPerLaunch;
  const int FirstY = blockIdx.y * Inner + threadIdx.y - StepsPerLaunch;
  const bool InsideX = X >= 0 && X < Die.Size;
  clearTiles(Temperature[0], Temperature[1], Conduct);
  __syncthreads();
  float Heating[CellsPerThread] = {};
#pragma unroll
  for (int Cell = 0; Cell < CellsPerThread; ++Cell) {
    const int TY = threadIdx.y + 1 + Cell * BlockRows, Y = FirstY + Cell * BlockRows;
    if (!InsideX || Y < 0 || Y >= Die.Size)
      continue;
    Temperature[0][TY][TX] = Current[Y * Die.Size + X];
    Conduct[TY][TX] = Conductivity[Y * Die.Size + X];
    Heating[Cell] = Power[Y * Die.Size + X];
  }
  __syncthreads();

  Conductances G;
#pragma unroll
  for (int Cell = 0; Cell < CellsPerThread; ++Cell)
    G.set(Cell, Conduct, TX, threadIdx.y + 1 + Cell * BlockRows);
#pragma unroll
  for (int Step = 0; Step < StepsPerLaunch; ++Step) {
    const Tile &From = Temperature[Step & 1];
    const int Border = Step + 1;
    const bool ActiveX = InsideX && TX > Border && TX <= Edge - Border;
#pragma unroll
    for (int Cell = 0; Cell < CellsPerThread; ++Cell) {
      const int TY = threadIdx.y + 1 + Cell * BlockRows, Y = FirstY + Cell * BlockRows;
      if (!ActiveX || TY <= Border || TY > Edge - Border || Y < 0 || Y >= Die.Size)
        continue;
      const float Here = From[TY][TX];
      const float Flow = G.flow(Cell, From, TX, TY);
      const float New =
          Here + Die.TimeStep * (Flow + Heating[Cell] + Die.Cooling * (Die.Ambient - Here));
      Temperature[(Step + 1) & 1][TY][TX] = New;
      if (Step == StepsPerLaunch - 1)
        Next[Y * Die.Size + X] = New;
    }
    __syncthreads();
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

static std::vector<float> randomGrid(size_t Count, float Low, float High, std::uint32_t Seed) {
  std::vector<float> Values(Count);
  for (float &Value : Values) {
    Seed = Seed * 1664525u + 1013904223u;
    Value = Low + (High - Low) * (static_cast<float>(Seed >> 8) / (1 << 24));
  }
  return Values;
}

static float *upload(const std::vector<float> &Values) {
  float *Device;
  CHECK(cudaMalloc(&Device, Values.size() * sizeof(float)));
  CHECK(cudaMemcpy(Device, Values.data(), Values.size() * sizeof(float), cudaMemcpyHostToDevice));
  return Device;
}

int main(int argc, char **argv) {
  const int Size = argc > 1 ? std::atoi(argv[1]) : 3072;
  if (Size < Edge || Size > 32768) {
    std::fprintf(stderr, "usage: thermal [N], N from %d to 32768\n", Edge);
    return 1;
  }
  const size_t Count = static_cast<size_t>(Size) * Size;
  std::vector<float> Host = randomGrid(Count, 320.0f, 340.0f, 1);
  float *Current = upload(Host);
  float *Next = upload(Host);
  float *Power = upload(randomGrid(Count, 0.0f, 5.0f, 2));
  float *Conductivity = upload(randomGrid(Count, 0.2f, 1.0f, 3));

  const Chip Die = {Size, 0.2f, 0.05f, 300.0f};
  const int Blocks = (Size + Inner - 1) / Inner;
  for (int Launch = 0; Launch < 250; ++Launch) {
    heat<<<dim3(Blocks, Blocks), dim3(Edge, BlockRows)>>>(Current, Power, Conductivity, Next, Die);
    std::swap(Current, Next);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(Host.data(), Current, Count * sizeof(float), cudaMemcpyDeviceToHost));
  for (float *Array : {Current, Next, Power, Conductivity})
    CHECK(cudaFree(Array));
  std::printf("checksum=%016llx\n", static_cast<unsigned long long>(checksum(Host)));
  return 0;
}
