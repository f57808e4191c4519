// Calls what another file defines: compiled with -rdc=true only.
extern __device__ float elsewhere(float);
__global__ void calls(float *a) { a[threadIdx.x] = elsewhere(a[threadIdx.x]); }
__global__ void alone(float *a) { a[threadIdx.x] *= 2; }
