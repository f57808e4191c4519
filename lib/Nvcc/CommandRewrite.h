/// \file
/// The commands that carve-nvcc gives nvcc in the place of the user's: with another output, with a
/// register cap, linking or compiling a part.
#pragma once

#include "Nvcc/CommandLine.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace carve {

/// \p C's arguments with the output at \p Path. The depfile keeps the name and the target that
/// nvcc would give it for the original output.
std::vector<std::string> withOutput(const CommandLine &C, llvm::StringRef Path);

/// Arguments that link what \p C makes (executable or shared object) from objects: every device
/// source is replaced by its object in \p ObjectOf, `-x`, `-M*`, and options of the compile phase
/// that nvcc refuses without a source are dropped; the output is \p Path. The program is the one
/// that nvcc makes in one step, but for a label: with -lineinfo the container of the device link
/// names the inputs of the command.
std::vector<std::string> relinkArguments(const CommandLine &C,
                                         const llvm::StringMap<std::string> &ObjectOf,
                                         llvm::StringRef Path);

/// Arguments that compile \p Source, an input of \p C, alone and to the object \p Path; no depfile
/// is written.
std::vector<std::string> compileOneArguments(const CommandLine &C, llvm::StringRef Source,
                                             llvm::StringRef Path);

/// \p C's arguments with `-maxrregcount=\p Cap` in force and the output at \p Path; a cap already
/// given is replaced, never repeated.
std::vector<std::string> withRegisterCap(const CommandLine &C, unsigned Cap, llvm::StringRef Path);

} // namespace carve
