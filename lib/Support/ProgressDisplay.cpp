#include "Support/ProgressDisplay.h"

using namespace carve;

ProgressDisplay::~ProgressDisplay() = default;

void ProgressDisplay::runs(unsigned, unsigned, double) {}
void ProgressDisplay::step(llvm::StringRef, size_t, size_t) {}
void ProgressDisplay::waiting(llvm::StringRef) {}
void ProgressDisplay::note(llvm::StringRef) {}

void SharedProgress::runs(unsigned Done, unsigned Expected, double Seconds) {
  std::lock_guard<std::mutex> Alone(Mutex);
  Shown.runs(Done, Expected, Seconds);
}

void SharedProgress::step(llvm::StringRef What, size_t Done, size_t Of) {
  std::lock_guard<std::mutex> Alone(Mutex);
  Shown.step(What, Done, Of);
}

void SharedProgress::waiting(llvm::StringRef Text) {
  std::lock_guard<std::mutex> Alone(Mutex);
  Shown.waiting(Text);
}

void SharedProgress::note(llvm::StringRef Text) {
  std::lock_guard<std::mutex> Alone(Mutex);
  Shown.note(Text);
}

ProgressDisplay &carve::silentProgress() {
  static ProgressDisplay Silent;
  return Silent;
}
