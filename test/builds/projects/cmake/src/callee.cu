__device__ float twice(float X) { return 2 * X; }
