// Eight different kernels in one file, which share one -maxrregcount when compiled with one.
//
// They are limited by different things: memory bandwidth (scaleAdd, transpose), barriers
// (reduceBlocks), atomics (histogram), loads in flight (convolve), arithmetic latency (mandelbrot),
// registers (invert), and double-precision throughput (kepler). The register count that suits one
// of them hurts another, so a choice per file cannot be right.
//
// Usage: eight [N], N a multiple of 256 from 256 to 8192, 2048 by default; the arrays have N * N
// elements.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(Call) check((Call), #Call)

static void check(cudaError_t Status, const char *Call) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "eight: %s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(1);
}

constexpr int BlockSize = 256;
constexpr int TileEdge = 32;
constexpr int Bins = 256;
constexpr int Taps = 17;
constexpr int OutputsPerThread = 8;
constexpr int MatrixEdge = 6;
constexpr int MatrixSize = MatrixEdge * MatrixEdge;

__constant__ float Weights[Taps];

// Y <- Y / 2 + X.
__global__ void scaleAdd(const float *__restrict__ X, float *__restrict__ Y) {
  const int I = blockIdx.x * BlockSize + threadIdx.x;
  Y[I] = 0.5f * Y[I] + X[I];
}

// Out <- the transpose of In, both Size x Size; blocks of 32 x 8 threads.
__global__ void transpose(const float *__restrict__ In, float *__restrict__ Out, int Size) {
  __shared__ float Tile[TileEdge][TileEdge + 1];
  const int X = blockIdx.x * TileEdge + threadIdx.x, Y = blockIdx.y * TileEdge + threadIdx.y;
#pragma unroll
  for (int Row = 0; Row < TileEdge; Row += 8)
    Tile[threadIdx.y + Row][threadIdx.x] = In[(Y + Row) * Size + X];
  __syncthreads();
  const int OutX = blockIdx.y * TileEdge + threadIdx.x, OutY = blockIdx.x * TileEdge + threadIdx.y;
#pragma unroll
  for (int Row = 0; Row < TileEdge; Row += 8)
    Out[(OutY + Row) * Size + OutX] = Tile[threadIdx.x][threadIdx.y + Row];
}

// Sums[b] <- the sum of the 4 * BlockSize values of block b, in a fixed order.
__global__ void reduceBlocks(const float *__restrict__ Values, float *__restrict__ Sums) {
  __shared__ float Partial[BlockSize];
  const float *First = Values + blockIdx.x * 4 * BlockSize + threadIdx.x;
  Partial[threadIdx.x] = First[0] + First[BlockSize] + First[2 * BlockSize] + First[3 * BlockSize];
  for (int Half = BlockSize / 2; Half > 0; Half /= 2) {
    __syncthreads();
    if (threadIdx.x < Half)
      Partial[threadIdx.x] += Partial[threadIdx.x + Half];
  }
  if (threadIdx.x == 0)
    Sums[blockIdx.x] = Partial[0];
}

// Adds to Counts how many of the values fall into each of Bins equal parts of [-8, 8).
__global__ void histogram(const float *__restrict__ Values, unsigned *Counts, int Count) {
  __shared__ unsigned Local[Bins];
  Local[threadIdx.x] = 0;
  __syncthreads();
  for (int I = blockIdx.x * BlockSize + threadIdx.x; I < Count; I += gridDim.x * BlockSize) {
    const int Bin = static_cast<int>((Values[I] + 8.0f) * (Bins / 16.0f));
    atomicAdd(&Local[min(max(Bin, 0), Bins - 1)], 1u);
  }
  __syncthreads();
  atomicAdd(&Counts[threadIdx.x], Local[threadIdx.x]);
}

// Out <- In convolved with Weights, periodic; every thread computes OutputsPerThread neighbouring
// values.
__global__ void convolve(const float *__restrict__ In, float *__restrict__ Out, int Count) {
  const int First = (blockIdx.x * BlockSize + threadIdx.x) * OutputsPerThread;
  float Window[OutputsPerThread + Taps - 1];
#pragma unroll
  for (int I = 0; I < OutputsPerThread + Taps - 1; ++I) {
    const int At = First + I - Taps / 2;
    Window[I] = In[At < 0 ? At + Count : At >= Count ? At - Count : At];
  }
#pragma unroll
  for (int O = 0; O < OutputsPerThread; ++O) {
    float Sum = 0.0f;
#pragma unroll
    for (int T = 0; T < Taps; ++T)
      Sum += Weights[T] * Window[O + T];
    Out[First + O] = Sum;
  }
}

// Iterations until z <- z * z + c escapes, at most 128, for the four points of a thread side by
// side.
__global__ void mandelbrot(unsigned *__restrict__ Iterations, int Size) {
  const int Threads = Size * Size / 4;
  const int Thread = blockIdx.x * BlockSize + threadIdx.x;
  float CX[4], CY[4], ZX[4] = {}, ZY[4] = {};
  unsigned Steps[4] = {};
#pragma unroll
  for (int P = 0; P < 4; ++P) {
    const int Pixel = Thread + P * Threads;
    CX[P] = -2.2f + 3.0f * (Pixel % Size) / Size;
    CY[P] = -1.5f + 3.0f * (Pixel / Size) / Size;
  }
#pragma unroll 4
  for (int Step = 0; Step < 128; ++Step) {
#pragma unroll
    for (int P = 0; P < 4; ++P) {
      const float X2 = ZX[P] * ZX[P], Y2 = ZY[P] * ZY[P];
      const bool Inside = X2 + Y2 <= 4.0f;
      ZY[P] = Inside ? 2.0f * ZX[P] * ZY[P] + CY[P] : ZY[P];
      ZX[P] = Inside ? X2 - Y2 + CX[P] : ZX[P];
      Steps[P] += Inside;
    }
  }
#pragma unroll
  for (int P = 0; P < 4; ++P)
    Iterations[Thread + P * Threads] = Steps[P];
}

// Replaces every matrix by the inverse of itself with its diagonal raised by MatrixEdge, by
// Gauss-Jordan elimination in registers. Matrices is MatrixSize x Count.
__global__ void invert(float *__restrict__ Matrices, int Count) {
  const int Matrix = blockIdx.x * BlockSize + threadIdx.x;
  float M[MatrixEdge][MatrixEdge];
#pragma unroll
  for (int I = 0; I < MatrixSize; ++I)
    M[I / MatrixEdge][I % MatrixEdge] = Matrices[I * Count + Matrix];
#pragma unroll
  for (int D = 0; D < MatrixEdge; ++D)
    M[D][D] += MatrixEdge;
#pragma unroll
  for (int P = 0; P < MatrixEdge; ++P) {
    const float Pivot = 1.0f / M[P][P];
    M[P][P] = 1.0f;
#pragma unroll
    for (int C = 0; C < MatrixEdge; ++C)
      M[P][C] *= Pivot;
#pragma unroll
    for (int R = 0; R < MatrixEdge; ++R) {
      if (R == P)
        continue;
      const float Factor = M[R][P];
      M[R][P] = 0.0f;
#pragma unroll
      for (int C = 0; C < MatrixEdge; ++C)
        M[R][C] -= Factor * M[P][C];
    }
  }
#pragma unroll
  for (int I = 0; I < MatrixSize; ++I)
    Matrices[I * Count + Matrix] = M[I / MatrixEdge][I % MatrixEdge];
}

// Solves Kepler's equation E - e sin E = M by Newton's method for Count mean anomalies.
__global__ void kepler(double *__restrict__ Anomalies, int Count, double Eccentricity) {
  const int Body = blockIdx.x * BlockSize + threadIdx.x;
  const double Mean = 6.283185307179586 * Body / Count;
  double E = Mean;
  for (int Step = 0; Step < 6; ++Step) {
    double Sine, Cosine;
    sincos(E, &Sine, &Cosine);
    E -= (E - Eccentricity * Sine - Mean) / (1.0 - Eccentricity * Cosine);
  }
  Anomalies[Body] = E;
}

struct Arrays {
  std::vector<float> X, Y, Z, Sums, Matrices;
  std::vector<unsigned> Counts, Iterations;
  std::vector<double> Anomalies;
};

template <typename T> static T *upload(const std::vector<T> &Values) {
  T *Device;
  CHECK(cudaMalloc(&Device, Values.size() * sizeof(T)));
  CHECK(cudaMemcpy(Device, Values.data(), Values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return Device;
}

// Frees the array and returns Hash continued over its contents.
template <typename T>
static std::uint64_t drain(std::vector<T> &Host, T *Device, std::uint64_t Hash) {
  CHECK(cudaMemcpy(Host.data(), Device, Host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(Device));
  const char *Bytes = reinterpret_cast<const char *>(Host.data());
  for (size_t I = 0; I < Host.size() * sizeof(T); I += sizeof(std::uint32_t)) {
    std::uint32_t Bits;
    std::memcpy(&Bits, Bytes + I, sizeof(Bits));
    Hash = (Hash ^ Bits) * 1099511628211ull;
  }
  return Hash;
}

static void fillRandom(std::vector<float> &Values, std::uint32_t Seed) {
  for (float &Value : Values) {
    Seed = Seed * 1664525u + 1013904223u;
    Value = static_cast<float>(Seed >> 8) / (1 << 23) - 1.0f;
  }
}

// Runs every kernel Rounds times and returns the checksum over all their results.
static std::uint64_t run(Arrays &Host, int Size, int Rounds) {
  const int Count = Size * Size, Matrices = Count / 16, Bodies = Count / 8;
  float *X = upload(Host.X), *Y = upload(Host.Y), *Z = upload(Host.Z);
  float *Sums = upload(Host.Sums), *Systems = upload(Host.Matrices);
  unsigned *Counts = upload(Host.Counts), *Iterations = upload(Host.Iterations);
  double *Anomalies = upload(Host.Anomalies);
  const dim3 Tiles(Size / TileEdge, Size / TileEdge), TileBlock(TileEdge, 8);
  for (int Round = 0; Round < Rounds; ++Round) {
    scaleAdd<<<Count / BlockSize, BlockSize>>>(X, Y);
    transpose<<<Tiles, TileBlock>>>(Y, Z, Size);
    convolve<<<Count / BlockSize / OutputsPerThread, BlockSize>>>(Z, X, Count);
    reduceBlocks<<<Count / BlockSize / 4, BlockSize>>>(X, Sums);
    histogram<<<512, BlockSize>>>(Y, Counts, Count);
    mandelbrot<<<Count / 4 / BlockSize, BlockSize>>>(Iterations, Size);
    invert<<<Matrices / BlockSize, BlockSize>>>(Systems, Matrices);
    kepler<<<Bodies / BlockSize, BlockSize>>>(Anomalies, Bodies, 0.01 * Round);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::uint64_t Hash = drain(Host.X, X, 14695981039346656037ull);
  Hash = drain(Host.Z, Z, drain(Host.Y, Y, Hash));
  Hash = drain(Host.Matrices, Systems, drain(Host.Sums, Sums, Hash));
  Hash = drain(Host.Iterations, Iterations, drain(Host.Counts, Counts, Hash));
  return drain(Host.Anomalies, Anomalies, Hash);
}

int main(int argc, char **argv) {
  const int Size = argc > 1 ? std::atoi(argv[1]) : 2048;
  if (Size < 256 || Size > 8192 || Size % 256 != 0) {
    std::fprintf(stderr, "usage: eight [N], N a multiple of 256 from 256 to 8192\n");
    return 1;
  }
  // Positive and summing to one half, so that X and Y stay bounded over any number of rounds.
  float HostWeights[Taps];
  for (int T = 0; T < Taps; ++T)
    HostWeights[T] = 0.5f * (T < Taps / 2 ? T + 1 : Taps - T) / ((Taps / 2 + 1) * (Taps / 2 + 1));
  CHECK(cudaMemcpyToSymbol(Weights, HostWeights, sizeof(HostWeights)));
  const size_t Count = static_cast<size_t>(Size) * Size;
  Arrays Host;
  for (std::vector<float> *Field : {&Host.X, &Host.Y, &Host.Z})
    Field->resize(Count);
  Host.Sums.resize(Count / BlockSize / 4);
  Host.Matrices.resize(Count / 16 * MatrixSize);
  Host.Counts.resize(Bins);
  Host.Iterations.resize(Count);
  Host.Anomalies.resize(Count / 8);
  fillRandom(Host.X, 1);
  fillRandom(Host.Matrices, 2);
  std::printf("checksum=%016llx\n", static_cast<unsigned long long>(run(Host, Size, 50)));
  return 0;
}
