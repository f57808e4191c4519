/// \file
/// Makes the commands that carve-nvcc gives nvcc instead of the user's: with another output, with a
/// register cap, or for only a part of the linking or compiling.
#pragma once

#include "Nvcc/CommandLine.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace carve {

/// Returns \p C's arguments with the output at \p Path. The depfile keeps the name and the target
/// that nvcc would give it for the original output.
std::vector<std::string> withOutput(const CommandLine &C, llvm::StringRef Path);

/// Returns arguments that link the product of \p C (executable or shared object) from objects, to
/// \p Path. Every device source is replaced by its object in \p ObjectOf. `-x`, `-M*`, and options
/// of the compile phase that nvcc refuses without a source are dropped. The program is the one that
/// nvcc makes in one step, except for a label: with -lineinfo the container of the device link
/// names the inputs of the command.
std::vector<std::string> relinkArguments(const CommandLine &C,
                                         const llvm::StringMap<std::string> &ObjectOf,
                                         llvm::StringRef Path);

/// Returns arguments that compile only \p Source, an input of \p C, to the object \p Path. No
/// depfile is written.
std::vector<std::string> compileOneArguments(const CommandLine &C, llvm::StringRef Source,
                                             llvm::StringRef Path);

/// Returns \p C's arguments with `-maxrregcount=\p Cap` in effect and the output at \p Path. A cap
/// that is already given is replaced, never repeated.
std::vector<std::string> withRegisterCap(const CommandLine &C, unsigned Cap, llvm::StringRef Path);

} // namespace carve
