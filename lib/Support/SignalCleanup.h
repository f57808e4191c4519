/// \file
/// What a signal that ends the process does first: children end, temporaries go. For
/// both carve-nvcc and carve, whatever they are doing.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <csignal>

namespace carve {

/// From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, end our children and remove
/// what is registered before they end the process. For programs, at their start, from their
/// main thread.
void removeRegisteredOnSignals();

/// Registers the file or directory \p Path. There is room for some hundreds; more stay
/// unregistered.
void registerTemporary(llvm::StringRef Path);
void forgetTemporary(llvm::StringRef Path);

/// While it lives, these signals wait: for what must not be left half done, such as a directory
/// that is made but not yet registered, or a file that is being replaced. Keep it short. Where the
/// process is ending already, the constructor does not return.
class UninterruptedWork {
public:
  UninterruptedWork();
  UninterruptedWork(const UninterruptedWork &) = delete;
  ~UninterruptedWork();
  /// The mask as it was before, for a child.
  const sigset_t &maskBefore() const { return Before; }

private:
  sigset_t Before;
};

} // namespace carve
