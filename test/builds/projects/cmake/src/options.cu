// Made with options that have to arrive as they were written.
#include <cstdio>
#include <given.h>

template <class F> __global__ void apply(float *Y, F Function) { Y[0] = Function(Y[0]); }

int main() {
  int Unused; // A warning, which has to come out the same.
  std::puts(TEXT);
  apply<<<1, 1>>>(nullptr, [] __device__(float X) { return X + GIVEN; });
}
