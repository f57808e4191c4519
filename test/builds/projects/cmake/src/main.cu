#include "scale.h"

__global__ void add(float *Y) { Y[threadIdx.x] += 1; }

int main() {
  add<<<1, 32>>>(nullptr);
  runScale();
}
