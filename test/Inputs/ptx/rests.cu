// A loop of unknown length that ptxas unrolls once more than cicc has: the rests follow one another,
// each behind its guard.
__global__ void sum(float *E, int N) {
  for (int I = 1; I < N; ++I)
    E[0] += E[I];
}
