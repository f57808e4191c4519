// All-pairs gravity of N bodies, the simulation's parameters in constant memory.
//
// Every block reads the bodies tile by tile through shared memory, and the inner loop over a tile
// is unrolled, so what limits it is arithmetic: a chain of a few multiply-adds and one reciprocal
// square root per pair. nvcc settles for few registers because the code needs few; with more, ptxas
// interleaves more pairs and hides the latency of the square root, at no loss, because the block
// size leaves occupancy to spare.
//
// Usage: nbody [N], N a multiple of 256, 65536 by default.

#include <cmath>
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
  std::fprintf(stderr, "nbody: %s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(1);
}

struct Parameters {
  float TimeStep;
  float SofteningSquared;
  float Damping;
  int Bodies;
};

__constant__ Parameters Simulation;

constexpr int BlockSize = 256;

__device__ float3 attract(float3 Acceleration, float4 Self, float4 Other) {
  const float3 D = make_float3(Other.x - Self.x, Other.y - Self.y, Other.z - Self.z);
  const float DistanceSquared = D.x * D.x + D.y * D.y + D.z * D.z + Simulation.SofteningSquared;
  const float Inverse = rsqrtf(DistanceSquared);
  const float Strength = Other.w * Inverse * Inverse * Inverse;
  Acceleration.x += D.x * Strength;
  Acceleration.y += D.y * Strength;
  Acceleration.z += D.z * Strength;
  return Acceleration;
}

// Positions carry the mass in w. A block of BlockSize threads advances as many bodies.
__global__ void advance(const float4 *__restrict__ Positions, float4 *__restrict__ NewPositions,
                        float4 *__restrict__ Velocities) {
  __shared__ float4 Tile[BlockSize];
  const int Body = blockIdx.x * BlockSize + threadIdx.x;
  float4 Self = Positions[Body];
  float3 Acceleration = make_float3(0.0f, 0.0f, 0.0f);
  for (int First = 0; First < Simulation.Bodies; First += BlockSize) {
    Tile[threadIdx.x] = Positions[First + threadIdx.x];
    __syncthreads();
#pragma unroll 64
    for (int Other = 0; Other < BlockSize; ++Other)
      Acceleration = attract(Acceleration, Self, Tile[Other]);
    __syncthreads();
  }
  float4 Velocity = Velocities[Body];
  Velocity.x = (Velocity.x + Acceleration.x * Simulation.TimeStep) * Simulation.Damping;
  Velocity.y = (Velocity.y + Acceleration.y * Simulation.TimeStep) * Simulation.Damping;
  Velocity.z = (Velocity.z + Acceleration.z * Simulation.TimeStep) * Simulation.Damping;
  Self.x += Velocity.x * Simulation.TimeStep;
  Self.y += Velocity.y * Simulation.TimeStep;
  Self.z += Velocity.z * Simulation.TimeStep;
  NewPositions[Body] = Self;
  Velocities[Body] = Velocity;
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

// A ball of bodies of equal mass, at rest.
static std::vector<float4> initialPositions(int Bodies) {
  std::vector<float4> Positions(Bodies);
  std::uint32_t Seed = 1;
  const auto Next = [&Seed] {
    Seed = Seed * 1664525u + 1013904223u;
    return static_cast<float>(Seed >> 8) / (1 << 24) * 2.0f - 1.0f;
  };
  for (float4 &Position : Positions) {
    do
      Position = make_float4(Next(), Next(), Next(), 1.0f / Bodies);
    while (Position.x * Position.x + Position.y * Position.y + Position.z * Position.z > 1.0f);
  }
  return Positions;
}

int main(int argc, char **argv) {
  const int Bodies = argc > 1 ? std::atoi(argv[1]) : 65536;
  if (Bodies < BlockSize || Bodies > (1 << 20) || Bodies % BlockSize != 0) {
    std::fprintf(stderr, "usage: nbody [N], N a multiple of %d up to %d\n", BlockSize, 1 << 20);
    return 1;
  }
  const Parameters HostParameters = {0.001f, 0.0001f, 0.999f, Bodies};
  CHECK(cudaMemcpyToSymbol(Simulation, &HostParameters, sizeof(HostParameters)));
  std::vector<float4> Host = initialPositions(Bodies);
  const size_t Bytes = Host.size() * sizeof(float4);
  float4 *Positions, *NewPositions, *Velocities;
  CHECK(cudaMalloc(&Positions, Bytes));
  CHECK(cudaMalloc(&NewPositions, Bytes));
  CHECK(cudaMalloc(&Velocities, Bytes));
  CHECK(cudaMemcpy(Positions, Host.data(), Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(Velocities, 0, Bytes));

  for (int Step = 0; Step < 30; ++Step) {
    advance<<<Bodies / BlockSize, BlockSize>>>(Positions, NewPositions, Velocities);
    std::swap(Positions, NewPositions);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(Host.data(), Positions, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(Positions));
  CHECK(cudaFree(NewPositions));
  CHECK(cudaFree(Velocities));
  std::printf("checksum=%016llx\n", static_cast<unsigned long long>(checksum(Host)));
  return 0;
}
