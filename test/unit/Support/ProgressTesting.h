/// \file
/// A display for tests that keeps what it is told.
#pragma once

#include "Support/ProgressDisplay.h"

#include <string>
#include <vector>

namespace carve {

/// Keeps every call of its own.
struct RecordedProgress : ProgressDisplay {
  void runs(unsigned Done, unsigned Expected, double) override {
    Runs.emplace_back(Done, Expected);
  }
  void step(llvm::StringRef What, size_t Done, size_t Of) override {
    Steps.push_back(What.str() + " " + std::to_string(Done) + "/" + std::to_string(Of));
  }
  void waiting(llvm::StringRef Text) override { Waits.push_back(Text.str()); }
  void note(llvm::StringRef Text) override { Notes.push_back(Text.str()); }

  std::vector<std::pair<unsigned, unsigned>> Runs; ///< Done and expected.
  std::vector<std::string> Steps, Waits, Notes;
};

} // namespace carve
