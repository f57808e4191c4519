/// \file
/// The record of one translation unit as nvcc compiled it: what the store keeps, and what tuning
/// and emission start from.
#pragma once

#include "Ptx/KernelResources.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One architecture's image of a unit. Digests name blobs of the store.
struct UnitImage {
  std::string Arch;        ///< `sm_90`.
  std::string PtxDigest;   ///< Blob: the PTX as cicc made it.
  std::string CubinDigest; ///< Blob: the cubin as ptxas made it; what the driver loads.
  std::vector<std::string> PtxasOptions; ///< As in DeviceImage.
  std::string PtxName;                   ///< File name that ptxas saw, e.g. `k.ptx`.
  std::vector<KernelResources> Kernels;  ///< From the cubin; spills unknown (0).
};

/// PTX that the object carries for the driver to compile on devices that it has no image for.
struct EmbeddedPtx {
  unsigned Compute = 0;  ///< 75 for compute_75.
  std::string PtxDigest; ///< Blob.
  std::string PtxName;
  std::vector<std::string> PtxasOptions; ///< Of a sibling image; `-arch` is the reader's to set.
};

/// One device source compiled by one command.
struct Unit {
  std::string Key;                     ///< unitKey(); names the record.
  std::string Project;                 ///< Root that the key is relative to.
  std::string Source, Output;          ///< As in the command.
  std::string Directory;               ///< Where the command ran.
  std::vector<std::string> Command;    ///< nvcc's arguments, argv[0] excluded.
  std::string Nvcc;                    ///< Path of the real nvcc.
  std::string NvccVersion;             ///< `13.0.88`.
  bool Relocatable = false;            ///< -rdc=true.
  std::optional<unsigned> RegisterCap; ///< The user's own ceiling.
  /// Digests of the fatbinary containers that programs load for this unit: nvcc's own, and every
  /// tuned one emitted since. The probe recognises the unit by them.
  std::vector<std::string> Containers;
  std::vector<UnitImage> Images;
  std::vector<EmbeddedPtx> Ptx;
};

} // namespace carve
