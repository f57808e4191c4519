/// \file
/// Makes an object choose among a kernel's entries at each launch. The host code that nvcc made
/// stays as it is, byte for byte: only the names of the three functions of the CUDA runtime by
/// which it registers kernels, asks for their handles and launches them are changed, to names of
/// functions in a small C source (DispatchSource.h), compiled by the host compiler and linked
/// into the object (`-r`). These register the further entries beside their kernel, and launch the
/// first one whose guard holds.
#pragma once

#include "Emit/DispatchSource.h"
#include "Support/CommandRunner.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// Returns the functions of the runtime that \p Object calls and dispatchSource() replaces. Fails
/// with Unsupported `no-launches` if it does not register and launch kernels in a known way, and
/// with `lto-object` if the host compiler left the code to the linker.
llvm::Expected<std::vector<std::string>> dispatchedCalls(llvm::StringRef Object);

/// Returns \p Object with the undefined symbols \p Calls renamed as dispatchSource() with \p Tag
/// names its functions. Every other byte stays.
llvm::Expected<std::string>
withRenamedCalls(llvm::StringRef Object, llvm::ArrayRef<std::string> Calls, llvm::StringRef Tag);

/// Returns \p Object with the code that chooses among \p Entries. \p HostCommand is the command by
/// which the host compiler made the object. Files are written to \p WorkDir. Fails as
/// dispatchedCalls() does, with ToolFailure if the host compiler fails, and with Unsupported
/// `shared-stub` if the linker may take a kernel's host function from another object, which knows
/// nothing of the entries, or `object-changed` if anything else of the object would be different.
llvm::Expected<std::string> withDispatch(llvm::StringRef Object,
                                         llvm::ArrayRef<DispatchedEntry> Entries,
                                         llvm::ArrayRef<std::string> HostCommand,
                                         CommandRunner &Runner, llvm::StringRef WorkDir);

} // namespace carve
