// Gather over irregular indices: for every row, a weighted sum of 32 four-component values at
// random positions.
//
// There is next to no arithmetic; the latency of dependent loads (index, then value) limits it. It
// is hidden either by many loads in flight per thread, which need a register each, or by many
// threads, which need few registers each.
//
// Usage: gather [ROWS], a multiple of 256, 524288 by default.

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
  std::fprintf(stderr, "gather: %s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(1);
}

constexpr int Neighbours = 32;
constexpr int BlockSize = 256;

__host__ __device__ inline std::uint32_t mix(std::uint32_t Value) {
  Value ^= Value >> 16;
  Value *= 0x7feb352du;
  Value ^= Value >> 15;
  Value *= 0x846ca68bu;
  return Value ^ (Value >> 16);
}

// Indices and Weights are Neighbours x Rows, so that neighbouring threads read neighbouring words.
__global__ void connect(int *Indices, float *Weights, int Rows) {
  const int Row = blockIdx.x * BlockSize + threadIdx.x;
  for (int N = 0; N < Neighbours; ++N) {
    const std::uint32_t Hash = mix(static_cast<std::uint32_t>(Row) * Neighbours + N);
    // Three of four neighbours are near, as in a mesh; the fourth is anywhere.
    const int Near = (Row + static_cast<int>(Hash % 4096) - 2048 + Rows) % Rows;
    const int Far = static_cast<int>(mix(Hash) % static_cast<std::uint32_t>(Rows));
    Indices[N * Rows + Row] = N % 4 == 3 ? Far : Near;
    Weights[N * Rows + Row] = static_cast<float>(Hash >> 8) / (1 << 24) / (Neighbours / 2);
  }
}

__global__ void gather(const float4 *__restrict__ Values, const int *__restrict__ Indices,
                       const float *__restrict__ Weights, float4 *__restrict__ Sums, int Rows) {
  const int Row = blockIdx.x * BlockSize + threadIdx.x;
  float4 Sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int N = 0; N < Neighbours; ++N) {
    const float Weight = Weights[N * Rows + Row];
    const float4 Value = Values[Indices[N * Rows + Row]];
    Sum.x += Weight * Value.x;
    Sum.y += Weight * Value.y;
    Sum.z += Weight * Value.z;
    Sum.w += Weight * Value.w;
  }
  Sums[Row] = Sum;
}

static std::uint64_t checksum(const std::vector<float4> &Values) {
  std::uint64_t Hash = 14695981039346656037ull;
  for (const float4 &Value : Values) {
    std::uint32_t Bits[4];
    std::memcpy(Bits, &Value, sizeof(Bits));
    for (std::uint32_t Word : Bits)
      Hash = (Hash ^ Word) * 1099511628211ull;
  }
  return Hash;
}

int main(int argc, char **argv) {
  const int Rows = argc > 1 ? std::atoi(argv[1]) : 524288;
  if (Rows < 4096 || Rows > (1 << 24) || Rows % BlockSize != 0) {
    std::fprintf(stderr, "usage: gather [ROWS], a multiple of %d from 4096 to %d\n", BlockSize,
                 1 << 24);
    return 1;
  }
  std::vector<float4> Host(Rows);
  for (int Row = 0; Row < Rows; ++Row)
    Host[Row] = make_float4(1.0f, 0.001f * (Row % 1000), 0.01f * (Row % 77), 0.1f * (Row % 13));
  const size_t Bytes = Host.size() * sizeof(float4);
  const size_t Links = static_cast<size_t>(Rows) * Neighbours;
  float4 *Values, *Sums;
  int *Indices;
  float *Weights;
  CHECK(cudaMalloc(&Values, Bytes));
  CHECK(cudaMalloc(&Sums, Bytes));
  CHECK(cudaMalloc(&Indices, Links * sizeof(int)));
  CHECK(cudaMalloc(&Weights, Links * sizeof(float)));
  CHECK(cudaMemcpy(Values, Host.data(), Bytes, cudaMemcpyHostToDevice));

  const int Blocks = Rows / BlockSize;
  connect<<<Blocks, BlockSize>>>(Indices, Weights, Rows);
  CHECK(cudaGetLastError());
  for (int Launch = 0; Launch < 300; ++Launch) {
    gather<<<Blocks, BlockSize>>>(Values, Indices, Weights, Sums, Rows);
    std::swap(Values, Sums);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(Host.data(), Values, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(Values));
  CHECK(cudaFree(Sums));
  CHECK(cudaFree(Indices));
  CHECK(cudaFree(Weights));
  std::printf("checksum=%016llx\n", static_cast<unsigned long long>(checksum(Host)));
  return 0;
}
