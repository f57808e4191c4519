#include <torch/types.h>

__global__ void scale(float *Y, long N) {
  long I = blockIdx.x * 256L + threadIdx.x;
  if (I < N)
    Y[I] *= 2;
}

void scaleInPlace(torch::Tensor T) {
  scale<<<(T.numel() + 255) / 256, 256>>>(T.data_ptr<float>(), T.numel());
}
