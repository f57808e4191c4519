// A kernel that moves registers between its warps (sm_90a), beside one that does not.
__global__ void moves(float *a) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
  a[threadIdx.x] *= 2;
}

__global__ void stays(float *a, int n) {
  float r[32];
  for (int i = 0; i < 32; i++)
    r[i] = a[i * n + threadIdx.x];
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 32; i++)
      r[i] = r[i] * r[(i + 7) & 31] + a[k];
  for (int i = 0; i < 32; i++)
    a[threadIdx.x] += r[i];
}
