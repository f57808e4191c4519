// Reaction kinetics in many independent cells: 40 species, 80 reversible reactions, double
// precision.
//
// A thread integrates one cell. It holds every species' concentration, production and loss in
// registers, which at two registers a double is more than the 255 a thread may have: the kernel
// spills at every register count, and the only question is where. More registers mean fewer spills
// and a single block per multiprocessor; fewer mean more spills, most of them caught by the
// first-level cache, and more threads to hide the latency of the exponentials.
//
// Usage: chemistry [CELLS], a multiple of 128, 262144 by default.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(Call) check((Call), #Call)

static void check(cudaError_t Status, const char *Call) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "chemistry: %s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(1);
}

constexpr int Species = 40;
constexpr int Reactions = 80;
constexpr int BlockSize = 128;
constexpr int StepsPerLaunch = 4;

// Left + Right <-> Product, a made-up but fixed network in which every species takes part in
// several reactions.
__device__ constexpr int left(int R) { return R % Species; }
__device__ constexpr int right(int R) { return (R * 7 + R / Species + 3) % Species; }
__device__ constexpr int product(int R) { return (R * 11 + 5 * (R / Species) + 9) % Species; }
__device__ constexpr double activation(int R) { return 400.0 + (R * 37) % 900; }
__device__ constexpr double frequency(int R) { return 0.5 + 0.125 * ((R * 13) % 16); }

// Concentrations is Species x Cells. One semi-implicit step is C <- (C + Dt P) / (1 + Dt L), which
// keeps every concentration positive for any step.
__global__ void react(double *__restrict__ Concentrations, double *__restrict__ Temperatures,
                      int Cells, double TimeStep) {
  const int Cell = blockIdx.x * BlockSize + threadIdx.x;
  double Temperature = Temperatures[Cell];
  double C[Species];
#pragma unroll
  for (int S = 0; S < Species; ++S)
    C[S] = Concentrations[S * Cells + Cell];
  for (int Step = 0; Step < StepsPerLaunch; ++Step) {
    const double Inverse = 1.0 / Temperature;
    double Production[Species] = {}, Loss[Species] = {}, Heat = 0.0;
#pragma unroll
    for (int R = 0; R < Reactions; ++R) {
      const double Forward = frequency(R) * exp(-activation(R) * Inverse);
      const double Backward = 0.25 * Forward * Forward;
      const double Gain = Forward * C[left(R)] * C[right(R)];
      const double Back = Backward * C[product(R)];
      Loss[left(R)] += Forward * C[right(R)];
      Loss[right(R)] += Forward * C[left(R)];
      Loss[product(R)] += Backward;
      Production[left(R)] += Back;
      Production[right(R)] += Back;
      Production[product(R)] += Gain;
      Heat += activation(R) * (Gain - Back);
    }
#pragma unroll
    for (int S = 0; S < Species; ++S)
      C[S] = (C[S] + TimeStep * Production[S]) / (1.0 + TimeStep * Loss[S]);
    Temperature = fmin(fmax(Temperature + 0.01 * TimeStep * Heat, 300.0), 2500.0);
  }
#pragma unroll
  for (int S = 0; S < Species; ++S)
    Concentrations[S * Cells + Cell] = C[S];
  Temperatures[Cell] = Temperature;
}

static std::uint64_t checksum(const std::vector<double> &Values) {
  std::uint64_t Hash = 14695981039346656037ull;
  for (double Value : Values) {
    std::uint64_t Bits;
    std::memcpy(&Bits, &Value, sizeof(Bits));
    Hash = (Hash ^ Bits) * 1099511628211ull;
  }
  return Hash;
}

static std::vector<double> randomValues(size_t Count, double Low, double High, std::uint32_t Seed) {
  std::vector<double> Values(Count);
  for (double &Value : Values) {
    Seed = Seed * 1664525u + 1013904223u;
    Value = Low + (High - Low) * (static_cast<double>(Seed >> 8) / (1 << 24));
  }
  return Values;
}

int main(int argc, char **argv) {
  const int Cells = argc > 1 ? std::atoi(argv[1]) : 262144;
  if (Cells < BlockSize || Cells > (1 << 24) || Cells % BlockSize != 0) {
    std::fprintf(stderr, "usage: chemistry [CELLS], a multiple of %d up to %d\n", BlockSize,
                 1 << 24);
    return 1;
  }
  std::vector<double> Host = randomValues(static_cast<size_t>(Cells) * Species, 0.01, 1.0, 1);
  const std::vector<double> HostTemperatures = randomValues(Cells, 300.0, 1200.0, 2);
  const size_t Bytes = Host.size() * sizeof(double);
  double *Concentrations, *Temperatures;
  CHECK(cudaMalloc(&Concentrations, Bytes));
  CHECK(cudaMalloc(&Temperatures, Cells * sizeof(double)));
  CHECK(cudaMemcpy(Concentrations, Host.data(), Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(Temperatures, HostTemperatures.data(), Cells * sizeof(double),
                   cudaMemcpyHostToDevice));

  for (int Launch = 0; Launch < 100; ++Launch)
    react<<<Cells / BlockSize, BlockSize>>>(Concentrations, Temperatures, Cells, 0.01);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(Host.data(), Concentrations, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(Concentrations));
  CHECK(cudaFree(Temperatures));
  std::printf("checksum=%016llx\n", static_cast<unsigned long long>(checksum(Host)));
  return 0;
}
