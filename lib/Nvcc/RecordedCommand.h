/// \file
/// A compile done again from a record of it: with caps for the whole file, or to see what plain
/// nvcc makes of an exported patch.
#pragma once

#include "Nvcc/CommandLine.h"

namespace carve {

/// The command \p Words, which a record tells and which ran in \p Directory; options files spelled
/// out. Fails as parseCommandLine() does, and with Unsupported `recorded-command` where it holds
/// more than sources, macros, places of headers and options that change code: a record names no
/// program, no plugin, and no file to be written.
llvm::Expected<CommandLine> parseRecordedCommand(llvm::ArrayRef<std::string> Words,
                                                 llvm::StringRef Directory);

} // namespace carve
