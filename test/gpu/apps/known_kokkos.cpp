// A kernel as that of known.cu, as a functor of Kokkos: its sizes are fields of a structure that is
// the kernel's only parameter. Where they are known, its window is in registers instead of local
// memory.
#include <Kokkos_Core.hpp>

#include <cstdio>

struct Filtered {
  float *Out;
  const float *In, *Taps;
  int Count, NumTaps;

  KOKKOS_FUNCTION void operator()(int I) const {
    if (I + NumTaps >= Count)
      return;
    float Window[16], Sum = 0;
    for (int K = 0; K < NumTaps; ++K)
      Window[K] = In[I + K];
    for (int Round = 0; Round < 40; ++Round)
      for (int K = 0; K < NumTaps; ++K) {
        Window[K] = Window[K] * 0.5f + Window[(K + 1) % NumTaps] * Taps[K];
        Sum += Window[K];
      }
    Out[I] = Sum;
  }
};

struct Fill {
  float *Data;
  KOKKOS_FUNCTION void operator()(int I) const { Data[I] = float(I * 37 % 101) / 101; }
};

int main() {
  Kokkos::ScopeGuard Guard;
  constexpr int Count = 1 << 21;
  Kokkos::View<float *> In("In", Count), Out("Out", Count), Taps("Taps", 16);
  Kokkos::parallel_for(Count, Fill{In.data()});
  Kokkos::parallel_for(16, Fill{Taps.data()});
  for (int Launch = 0; Launch < 30; ++Launch)
    Kokkos::parallel_for(Count, Filtered{Out.data(), In.data(), Taps.data(), Count, 8});
  auto Result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Out);
  double Sum = 0;
  for (int I = 0; I < Count; ++I)
    Sum += Result(I) * (I % 7 + 1);
  std::printf("filtered %.6f\n", Sum);
}
