#include "Support/ProgressDisplay.h"

using namespace carve;

ProgressDisplay::~ProgressDisplay() = default;

void ProgressDisplay::runs(unsigned, unsigned, double) {}
void ProgressDisplay::step(llvm::StringRef, size_t, size_t) {}
void ProgressDisplay::waiting(llvm::StringRef) {}
void ProgressDisplay::note(llvm::StringRef) {}

ProgressDisplay &carve::silentProgress() {
  static ProgressDisplay Silent;
  return Silent;
}
