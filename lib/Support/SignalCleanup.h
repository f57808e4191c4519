/// \file
/// Temporary directories that go although a signal ends the process.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace carve {

/// From now on SIGINT, SIGTERM and SIGHUP remove what stands registered before they end the
/// process, unless they are ignored. For programs, at their start.
void removeRegisteredOnSignals();

/// Registers the directory \p Path. There is room for some hundreds; more stay unregistered.
void registerTemporary(llvm::StringRef Path);
void forgetTemporary(llvm::StringRef Path);

} // namespace carve
