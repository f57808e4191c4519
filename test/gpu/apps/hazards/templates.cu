// The hot kernel is a template of which three instances run, one of them over a lambda.
#include "Hazard.cuh"

template <int Times, class F> __global__ void PRESS hot(float *Data, F Change) {
  float Value = Data[globalThread()];
#pragma unroll 1
  for (int Time = 0; Time < Times; ++Time)
    Value = Change(mixed(Value, Rounds));
  Data[globalThread()] = Value;
}

namespace {
struct Halve {
  __device__ float operator()(float Value) const { return Value * 0.5f; }
};
struct Add {
  float What;
  __device__ float operator()(float Value) const { return Value + What; }
};
} // namespace

int main() {
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < Launches; ++Launch) {
    hot<1><<<Count / 256, 256>>>(Data, Halve{});
    hot<2><<<Count / 256, 256>>>(Data, Add{0.125f});
    hot<2><<<Count / 128, 128>>>(Data, Halve{});
  }
  printChecksum("templates", Data, Count);
}
