/// \file
/// The attributes of `.nv.info` sections. They have no public description; the numbers below were
/// compared with `ptxas -v` for sm_75 to sm_121 of CUDA 13.0.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace carve {

enum CubinAttribute : uint8_t {
  AttrFrameSize = 0x11,    ///< Symbol, bytes: the frame, callees compiled into the kernel included.
  AttrMinStackSize = 0x12, ///< Symbol, bytes with callees; all ones where it cannot be known.
  AttrRegCount = 0x2f,     ///< Symbol, registers.
  /// In the kernel's own section, words: the branch, zero, how many, their addresses; repeated.
  AttrIndirectBranchTargets = 0x34,
  AttrNumBarriers = 0x4c, ///< In the kernel's own section: the count.
};

/// An attribute: two words (symbol index and value) from a section of the module, or the one value
/// of a kernel's own section.
struct CubinInfo {
  uint8_t Attribute = 0;
  uint32_t Symbol = 0; ///< Only with a payload of 8 bytes or more.
  uint32_t Value = 0;
  llvm::StringRef Payload; ///< In full, where it has one.
};

/// Calls \p Visit with each attribute of \p Section; stops where the bytes end or make no sense.
void forEachInfo(llvm::StringRef Section, llvm::function_ref<void(const CubinInfo &)> Visit);

} // namespace carve
