/// \file
/// Reads the attributes of `.nv.info` sections. NVIDIA does not document them; the numbers below
/// were compared with `ptxas -v` for sm_75 to sm_121 with CUDA 13.0.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace carve {

/// The attributes that are read here. Each comment tells the attribute's payload.
enum CubinAttribute : uint8_t {
  /// In the kernel's own section: the symbol of its bank of parameters, and where they are in it.
  AttrParamCbank = 0x0a,
  AttrExterns = 0x0f, ///< In the kernel's own section: the symbols of external functions.
  /// A symbol, and the bytes of its frame, including callees that were compiled into the kernel.
  AttrFrameSize = 0x11,
  /// A symbol, and the bytes of stack with callees; all bits are set if this cannot be known.
  AttrMinStackSize = 0x12,
  AttrRegCount = 0x2f, ///< A symbol, and its number of registers.
  /// In the kernel's own section, as words: the address of the branch, zero, the number of targets,
  /// and their addresses. Such records repeat.
  AttrIndirectBranchTargets = 0x34,
  /// In the kernel's own section: the number of barriers.
  AttrNumBarriers = 0x4c,
};

/// One attribute. In a section of the module its payload has two words, a symbol's index and a
/// value. In a kernel's own section it has only the value.
struct CubinInfo {
  uint8_t Attribute = 0;
  uint32_t Symbol = 0; ///< Set only if the payload has 8 bytes or more.
  uint32_t Value = 0;
  llvm::StringRef Payload; ///< The whole payload, if the attribute has one.
};

/// Calls \p Visit for each attribute of \p Section, the bytes of a `.nv.info` section. Stops when
/// the bytes end or a payload is truncated.
void forEachInfo(llvm::StringRef Section, llvm::function_ref<void(const CubinInfo &)> Visit);

} // namespace carve
