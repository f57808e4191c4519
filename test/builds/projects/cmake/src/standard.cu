__global__ void standard(long *Y) { Y[0] = __cplusplus; }
