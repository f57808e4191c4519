#include <cstdio>
#include <cassert>
__constant__ float coef[4] = {1.f,2.f,3.f,4.f};
namespace {
__device__ __noinline__ float helper(float x){ return x>2.f ? x*x/7.f : x; }
__global__ void pk(float *p, int n){ __shared__ float s[64]; s[threadIdx.x]=p[threadIdx.x]; __syncthreads(); assert(p[0]<n); for(int i=0;i<n;i++) p[i]=helper(p[i])*coef[i&3]+s[63-threadIdx.x]; if(p[0]>9) printf("big %f\n",p[0]); }
}
__global__ void other(double *p){ p[1]=p[0]*2; }
void f(){ pk<<<1,1>>>(0,0); }
