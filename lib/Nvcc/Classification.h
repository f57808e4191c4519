/// \file
/// Decides what carve-nvcc does with a command: compile device code, link it, or hand the command
/// to nvcc unchanged. This is the first step of the driver.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Nvcc/LinkLine.h"

#include <variant>

namespace carve {

/// The command is handed to nvcc unchanged.
struct Passthrough {
  std::string Reason; ///< A short stable identifier that is counted, such as `device-lto`.
  std::string Detail; ///< Text for a person; may be empty.
};

/// A command that compiles no device code but links files that may contain some.
struct DeviceCodeLink {
  LinkLine Line;
  /// The result for the command if no file of Line has relocatable device code.
  Passthrough WithoutDeviceCode;
};

/// A command that compiles device code is a CommandLine.
using Classification = std::variant<CommandLine, DeviceCodeLink, Passthrough>;

/// Classifies \p Argv, the user's arguments without argv[0] and without `--carve-*`. It reads
/// options files and looks for the archives that `-l` names.
Classification classify(llvm::ArrayRef<std::string> Argv, const NvccEnvironment &Env);

/// Returns the reason and detail of \p E, which must be an Unsupported.
Passthrough passthroughBecause(llvm::Error E);

} // namespace carve
