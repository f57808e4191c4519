/// \file
/// Cleans up when a signal ends the process: children are ended and temporaries are removed.
/// carve-nvcc and carve both use it during all their work. While CommandRunner runs a command with
/// our streams or with a timeout, it passes these signals on to the command instead.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <csignal>

namespace carve {

/// From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, end our children and remove
/// everything that is registered before they end the process. A program calls this at its start,
/// from its main thread.
void removeRegisteredOnSignals();

/// Registers the file or directory \p Path for removal. The table has a fixed size of some hundred
/// entries; further paths are not registered.
void registerTemporary(llvm::StringRef Path);
/// Removes \p Path from the table.
void forgetTemporary(llvm::StringRef Path);

/// While an object lives, these signals wait. It protects steps that must not be left half done,
/// such as creating a directory before it is registered, or replacing a file. Keep them short. If
/// the process is ending already, the constructor does not return.
class UninterruptedWork {
public:
  UninterruptedWork();
  UninterruptedWork(const UninterruptedWork &) = delete;
  ~UninterruptedWork();
  /// Returns the previous signal mask, for a child.
  const sigset_t &maskBefore() const { return Before; }

private:
  sigset_t Before;
};

} // namespace carve
