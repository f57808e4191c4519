/// \file
/// Repeats a compile from its record: with caps for the whole file, or to see what plain nvcc makes
/// of an exported patch.
#pragma once

#include "Nvcc/CommandLine.h"

namespace carve {

/// Parses \p Words, a command from a record that ran in \p Directory, with options files spelled
/// out. Fails as parseCommandLine() does. Also fails with Unsupported `recorded-command` if the
/// command holds more than sources, macros, header folders and options that change code: a record
/// must not name a program, a plugin, or a file to be written.
llvm::Expected<CommandLine> parseRecordedCommand(llvm::ArrayRef<std::string> Words,
                                                 llvm::StringRef Directory);

} // namespace carve
