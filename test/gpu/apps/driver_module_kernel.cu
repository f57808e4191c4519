// The module that driver_module.cu loads.
extern "C" __global__ void driverKernel(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = Data[I] * 0.75f + 0.5f;
}
