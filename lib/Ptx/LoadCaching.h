/// \file
/// Names what a variant may ask of the caches for a kernel's global loads. ModuleEditor writes it
/// into the loads that GlobalLoads.h finds; settings and profiles name it.
#pragma once

namespace carve {

/// How global loads use the caches. Each value is a performance hint: it changes neither what a
/// load returns nor the order in which memory is seen (PTX ISA, "Cache Operators" and "Cache
/// Eviction Priority Hints").
enum class LoadCaching {
  AsCompiled,
  L2Only,     ///< `ld.cg`: cached in L2 and not in L1, as with `ptxas -dlcm=cg`.
  EvictFirst, ///< `ld.global.cs`: the line is the first to leave the caches.
  NoAllocate, ///< `ld.global.L1::no_allocate`: the load brings no line into L1.
};

/// Which loads a body has, as far as LoadCaching can change them.
struct ChangeableLoads {
  bool ByL2Only = false;
  bool ByHints = false; ///< By EvictFirst and by NoAllocate, which change the same loads.

  /// Whether \p Caching changes a load.
  bool by(LoadCaching Caching) const {
    return Caching == LoadCaching::L2Only ? ByL2Only
                                          : Caching != LoadCaching::AsCompiled && ByHints;
  }
  ChangeableLoads &operator|=(const ChangeableLoads &Other) {
    ByL2Only |= Other.ByL2Only;
    ByHints |= Other.ByHints;
    return *this;
  }
};

} // namespace carve
