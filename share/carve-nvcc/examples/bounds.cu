// Two kernels, one with __launch_bounds__ and one without.
//
// `transform` computes a 32-point Fourier transform per thread, entirely in registers; its author
// promised blocks of 256 threads and asked for two of them per multiprocessor, which caps it at 128
// registers. `advect` interpolates at displaced points, with 16 scattered loads of four components
// each, and leaves the choice to the compiler. Memory bounds both, so resident threads count, but
// so do loads in flight per thread. The option -maxrregcount does not reach a kernel with launch
// bounds.
//
// Usage: bounds [N], a power of two from 256 to 8192, 2048 by default: N * N / 16 transforms, an N
// x N field.

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
  std::fprintf(stderr, "bounds: %s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(1);
}

constexpr int Points = 32;
constexpr int BlockSize = 256;

__constant__ float2 Twiddles[Points / 2];

__device__ constexpr int bitReversed(int Value) {
  int Result = 0;
  for (int Bit = 1; Bit < Points; Bit *= 2)
    Result = Result * 2 + (Value & Bit ? 1 : 0);
  return Result;
}

// Data is Points x Columns; every column is replaced by its unitary transform (decimation in
// frequency).
__global__ void __launch_bounds__(BlockSize, 2) transform(float2 *Data, int Columns) {
  const int Column = blockIdx.x * BlockSize + threadIdx.x;
  float2 V[Points];
#pragma unroll
  for (int I = 0; I < Points; ++I)
    V[I] = Data[I * Columns + Column];
#pragma unroll
  for (int Half = Points / 2; Half >= 1; Half /= 2) {
#pragma unroll
    for (int K = 0; K < Points / 2; ++K) {
      const int Offset = K % Half, I = K / Half * 2 * Half + Offset;
      const float2 A = V[I], B = V[I + Half], W = Twiddles[Offset * (Points / 2 / Half)];
      const float2 D = make_float2(A.x - B.x, A.y - B.y);
      V[I] = make_float2(A.x + B.x, A.y + B.y);
      V[I + Half] = make_float2(D.x * W.x - D.y * W.y, D.x * W.y + D.y * W.x);
    }
  }
  const float Scale = rsqrtf(static_cast<float>(Points));
#pragma unroll
  for (int I = 0; I < Points; ++I) {
    const float2 Out = V[bitReversed(I)];
    Data[I * Columns + Column] = make_float2(Out.x * Scale, Out.y * Scale);
  }
}

// The four weights of Catmull-Rom interpolation at fraction T between the second and the third
// point.
__device__ float4 cubicWeights(float T) {
  const float T2 = T * T, T3 = T2 * T;
  return make_float4(-0.5f * T + T2 - 0.5f * T3, 1.0f - 2.5f * T2 + 1.5f * T3,
                     0.5f * T + 2.0f * T2 - 1.5f * T3, -0.5f * T2 + 0.5f * T3);
}

// New(x) <- Old(x - Velocity(x)) on a periodic Size x Size field, Size a power of two; velocities
// in cells per step.
__global__ void advect(const float4 *__restrict__ Old, const float2 *__restrict__ Velocity,
                       float4 *__restrict__ New, int Size) {
  const int X = blockIdx.x * 32 + threadIdx.x, Y = blockIdx.y * 8 + threadIdx.y;
  const float2 V = Velocity[Y * Size + X];
  const float FromX = X - V.x, FromY = Y - V.y;
  const float FloorX = floorf(FromX), FloorY = floorf(FromY);
  const float4 WX = cubicWeights(FromX - FloorX), WY = cubicWeights(FromY - FloorY);
  const float InX[4] = {WX.x, WX.y, WX.z, WX.w}, InY[4] = {WY.x, WY.y, WY.z, WY.w};
  const int BaseX = static_cast<int>(FloorX) - 1, BaseY = static_cast<int>(FloorY) - 1;
  float4 Sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int J = 0; J < 4; ++J) {
    const int Row = ((BaseY + J) & (Size - 1)) * Size;
#pragma unroll
    for (int I = 0; I < 4; ++I) {
      const float4 Value = Old[Row + ((BaseX + I) & (Size - 1))];
      const float Weight = InX[I] * InY[J];
      Sum.x += Weight * Value.x;
      Sum.y += Weight * Value.y;
      Sum.z += Weight * Value.z;
      Sum.w += Weight * Value.w;
    }
  }
  New[Y * Size + X] = Sum;
}

template <typename T>
static std::uint64_t checksum(const std::vector<T> &Values, std::uint64_t Hash) {
  const size_t Words = Values.size() * sizeof(T) / sizeof(std::uint32_t);
  for (size_t I = 0; I < Words; ++I) {
    std::uint32_t Bits;
    std::memcpy(&Bits, reinterpret_cast<const char *>(Values.data()) + I * sizeof(Bits),
                sizeof(Bits));
    Hash = (Hash ^ Bits) * 1099511628211ull;
  }
  return Hash;
}

static std::vector<float2> randomPairs(size_t Count, float Reach, std::uint32_t Seed) {
  std::vector<float2> Pairs(Count);
  const auto Next = [&] {
    Seed = Seed * 1664525u + 1013904223u;
    return Reach * (static_cast<float>(Seed >> 8) / (1 << 23) - 1.0f);
  };
  for (float2 &Pair : Pairs) {
    Pair.x = Next();
    Pair.y = Next();
  }
  return Pairs;
}

template <typename T> static T *upload(const std::vector<T> &Values) {
  T *Device;
  CHECK(cudaMalloc(&Device, Values.size() * sizeof(T)));
  CHECK(cudaMemcpy(Device, Values.data(), Values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return Device;
}

int main(int argc, char **argv) {
  const int Size = argc > 1 ? std::atoi(argv[1]) : 2048;
  if (Size < 256 || Size > 8192 || (Size & (Size - 1)) != 0) {
    std::fprintf(stderr, "usage: bounds [N], N a power of two from 256 to 8192\n");
    return 1;
  }
  float2 HostTwiddles[Points / 2];
  for (int I = 0; I < Points / 2; ++I) {
    const double Angle = -2.0 * 3.14159265358979323846 * I / Points;
    HostTwiddles[I] =
        make_float2(static_cast<float>(std::cos(Angle)), static_cast<float>(std::sin(Angle)));
  }
  CHECK(cudaMemcpyToSymbol(Twiddles, HostTwiddles, sizeof(HostTwiddles)));
  const int Columns = Size * Size / 16;
  const size_t Cells = static_cast<size_t>(Size) * Size;
  std::vector<float2> Signal = randomPairs(static_cast<size_t>(Columns) * Points, 1.0f, 1);
  std::vector<float4> Field(Cells);
  for (size_t I = 0; I < Cells; ++I)
    Field[I] = make_float4(Signal[I].x, Signal[I].y, 1.0f, 0.5f * Signal[I].x);
  float2 *DeviceSignal = upload(Signal), *Velocity = upload(randomPairs(Cells, 3.0f, 2));
  float4 *Old = upload(Field), *New = upload(Field);

  for (int Launch = 0; Launch < 150; ++Launch) {
    transform<<<Columns / BlockSize, BlockSize>>>(DeviceSignal, Columns);
    advect<<<dim3(Size / 32, Size / 8), dim3(32, 8)>>>(Old, Velocity, New, Size);
    std::swap(Old, New);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());

  CHECK(cudaMemcpy(Signal.data(), DeviceSignal, Signal.size() * sizeof(float2),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(Field.data(), Old, Cells * sizeof(float4), cudaMemcpyDeviceToHost));
  for (void *Array : {static_cast<void *>(DeviceSignal), static_cast<void *>(Velocity),
                      static_cast<void *>(Old), static_cast<void *>(New)})
    CHECK(cudaFree(Array));
  const std::uint64_t Hash = checksum(Field, checksum(Signal, 14695981039346656037ull));
  std::printf("checksum=%016llx\n", static_cast<unsigned long long>(Hash));
  return 0;
}
