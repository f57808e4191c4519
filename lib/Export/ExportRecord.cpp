#include "Export/ExportRecord.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

size_t ExportOutcome::exported() const {
  return llvm::count_if(Kernels, [](const ExportedKernel &K) { return K.Reason.empty(); });
}
