#!/bin/bash
# Measures what compiling the wide space of a unit costs compared with one compile by nvcc. It is
# not a test.
#   wide-space.sh WIDE_SPACE [ROUNDS]
# WIDE_SPACE is the program of WideSpace.cpp (target wide-space). nvcc is $CARVE_NVCC, or else the
# one in PATH. The machine should do nothing else.
set -eu
sources=$(realpath "$(dirname "$0")")/measured-sources.sh
program=$(realpath "${1:?usage: wide-space.sh WIDE_SPACE [ROUNDS]}")
rounds=${2:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source-path=SCRIPTDIR disable=SC1091
. "$sources"
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS

# A stencil whose registers depend on the cap.
cat >stencil.cu <<'END'
__global__ void stencil(double *Out, const double *In, int N, int Planes) {
  double V[33];
  int X = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int I = 0; I < 33; ++I)
    V[I] = In[I * N + X];
  for (int Z = 0; Z < Planes; ++Z) {
    double Sum = 0;
#pragma unroll
    for (int I = 0; I < 33; ++I)
      Sum += V[I] * In[(Z + I) * N + X];
    Out[Z * N + X] = Sum;
#pragma unroll
    for (int I = 0; I < 32; ++I)
      V[I] = V[I + 1];
    V[32] = In[(Z + 33) * N + X];
  }
}
END

# measure NAME KERNELS SOURCE prints one line of the table.
measure() {
  echo "$1"
  for ((i = 0; i < rounds; ++i)); do
    "$program" "$2" -O3 -arch=sm_90 -c "$3" -o out.o
  done
}
measure 'small.cu' . small.cu
measure 'stencil.cu' . stencil.cu
measure 'heavy.cu, its largest sort kernel' Onesweep heavy.cu
measure 'heavy.cu, all kernels' . heavy.cu
