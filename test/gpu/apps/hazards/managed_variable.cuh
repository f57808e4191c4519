/// \file
/// What managed_variable.cu and the file of the variable share.
#pragma once

constexpr int SharedCount = 1 << 14;

/// Makes an address that no scan of memory finds.
struct Place {
  unsigned long long Inverted;
  __device__ float *address() const { return reinterpret_cast<float *>(~Inverted); }
};

void tellPlace(Place *Where);
void changeShared(int Launch);
void printShared();
