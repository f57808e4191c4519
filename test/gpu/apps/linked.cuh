// What the three files of the program of relocatable device code share (-rdc=true).
#pragma once

#include "App.cuh"

extern __device__ float Bias;
extern __constant__ float Weights[8];

__device__ float adjusted(float Value);
void runPressedLinked(float *Data, int Count);
