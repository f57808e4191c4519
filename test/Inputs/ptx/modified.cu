// Kernels of known make, of which the tests make memory-only and arithmetic-only versions.
#include <cuda_pipeline.h>

extern "C" {

__global__ void copy(const float *In, float *Out, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = In[I];
}

__global__ void fma_chain(float *Out, float A, float B, int N, int Steps) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  float X = Out[I];
  for (int S = 0; S < Steps; ++S)
    X = X * A + B;
  Out[I] = X;
}

__global__ void stencil(const float *In, float *Out, int Nx, int Ny, int Nz, float C0, float C1) {
  int X = blockIdx.x * blockDim.x + threadIdx.x;
  int Y = blockIdx.y * blockDim.y + threadIdx.y;
  if (X < 1 || Y < 1 || X >= Nx - 1 || Y >= Ny - 1)
    return;
  int Plane = Nx * Ny;
  int I = Y * Nx + X + Plane;
  float Below = In[I - Plane], Here = In[I];
  for (int Z = 1; Z < Nz - 1; ++Z, I += Plane) {
    float Above = In[I + Plane];
    float Sum = In[I - 1] + In[I + 1] + In[I - Nx] + In[I + Nx] + Below + Above;
    Out[I] = C0 * Here + C1 * Sum + sqrtf(fabsf(Sum)) * expf(-Here * Here);
    Below = Here;
    Here = Above;
  }
}

__global__ void matmul(const float *A, const float *B, float *C, int N) {
  __shared__ float As[16][16], Bs[16][16];
  int Row = blockIdx.y * 16 + threadIdx.y, Col = blockIdx.x * 16 + threadIdx.x;
  float Sum = 0;
  for (int T = 0; T < N / 16; ++T) {
    As[threadIdx.y][threadIdx.x] = A[Row * N + T * 16 + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(T * 16 + threadIdx.y) * N + Col];
    __syncthreads();
    for (int K = 0; K < 16; ++K)
      Sum += As[threadIdx.y][K] * Bs[K][threadIdx.x];
    __syncthreads();
  }
  C[Row * N + Col] = Sum;
}

__global__ void reduce(const double *In, double *Out, int N) {
  __shared__ double Partial[256];
  double Sum = 0;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N; I += gridDim.x * blockDim.x)
    Sum += In[I] * In[I];
  Partial[threadIdx.x] = Sum;
  __syncthreads();
  for (int S = blockDim.x / 2; S > 0; S /= 2) {
    if (threadIdx.x < S)
      Partial[threadIdx.x] += Partial[threadIdx.x + S];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    Out[blockIdx.x] = Partial[0];
}

__global__ void gather(const int *Index, const float *In, float *Out, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  float X = In[Index[I]];
  Out[I] = X * X * X + 2 * X + expf(X);
}

__global__ void spmv(const int *Rows, const int *Columns, const float *Values, const float *X,
                     float *Y, int N) {
  int R = blockIdx.x * blockDim.x + threadIdx.x;
  if (R >= N)
    return;
  float Sum = 0;
  for (int I = Rows[R]; I < Rows[R + 1]; ++I)
    Sum += Values[I] * X[Columns[I]];
  Y[R] = Sum;
}

__global__ void relax(float *Data, float Limit, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  float X = Data[I];
  while (X > Limit)
    X = X * 0.5f - 1;
  Data[I] = X;
}

__global__ void follow(int *Next, int *Out, int N) {
  int At = blockIdx.x * blockDim.x + threadIdx.x;
  for (int I = 0; I < N; ++I)
    At = Next[At];
  Next[blockIdx.x * blockDim.x + threadIdx.x] = At * 3;
}

__global__ void histogram(const int *In, int *Bins, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    atomicAdd(&Bins[In[I] & 255], 1);
}

__noinline__ __device__ float scaled(float X, float Y) { return X * Y + expf(Y); }
__noinline__ __device__ float fetched(const float *P, int I) { return P[I] * 2; }

__global__ void calls(const float *In, float *Out, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = scaled(In[I], In[I + N]);
}

__global__ void calls_memory(const float *In, float *Out, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = fetched(In, I);
}

__global__ void nbody(const float4 *Bodies, float4 *Out, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  float4 P = Bodies[I];
  float3 A = {0, 0, 0};
  for (int J = 0; J < N; ++J) {
    float4 Q = Bodies[J];
    float Dx = Q.x - P.x, Dy = Q.y - P.y, Dz = Q.z - P.z;
    float R = rsqrtf(Dx * Dx + Dy * Dy + Dz * Dz + 1e-9f);
    float S = Q.w * R * R * R;
    A.x += Dx * S;
    A.y += Dy * S;
    A.z += Dz * S;
  }
  Out[I] = make_float4(A.x, A.y, A.z, P.w);
}

__global__ void halves(const short *In, double2 *Out, unsigned char *Bytes, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  double X = In[I], Y = sqrt(X + 1);
  Out[I] = make_double2(X * Y, X / (Y + 2));
  Bytes[I] = (unsigned char)(X * 3);
}

__global__ void staged(const float4 *In, float4 *Out, int N) {
  __shared__ float4 Tile[256];
  for (int T = 0; T < N; ++T) {
    __pipeline_memcpy_async(&Tile[threadIdx.x], &In[T * 256 + threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    float4 A = Tile[threadIdx.x ^ 1], B = Tile[255 - threadIdx.x];
    __syncthreads();
    Out[T * 256 + threadIdx.x] = make_float4(A.x * B.x, sqrtf(A.y) * B.y, A.z + B.z, A.w * A.w);
  }
}

__global__ void ahead(const float *In, float *Out, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x, Stride = gridDim.x * blockDim.x;
  float Next = In[I];
#pragma unroll 1
  for (; I < N; I += Stride) {
    float Here = Next;
    if (I + Stride < N)
      Next = In[I + Stride];
    Out[I] = Here * Here * Here + 1 / (Here * Here + 2);
  }
}

__global__ void permuted(const int *Index, const float *In, float *Out) {
  __shared__ int Places[256];
  Places[threadIdx.x] = Index[threadIdx.x] & 255;
  __syncthreads();
  float X = In[Places[255 - threadIdx.x]];
  Out[threadIdx.x] = X * X + sqrtf(X);
}

__global__ void table(const int *In, float *Out, int N) {
  float Local[32];
  for (int I = 0; I < 32; ++I)
    Local[I] = I * 0.5f;
  for (int I = 0; I < N; ++I)
    Local[In[I] & 31] += 1;
  Out[threadIdx.x] = Local[threadIdx.x & 31] * 3;
}

__global__ void textured(cudaTextureObject_t T, float *Out) {
  float X = tex2D<float>(T, threadIdx.x, blockIdx.x);
  Out[threadIdx.x] = X * X + 1;
}

__global__ void waits(volatile int *Flag, float *Out) {
  while (*Flag == 0)
    ;
  Out[threadIdx.x] = 3;
}

__global__ void filled(float *Out, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Out[I] = 0;
}
}
