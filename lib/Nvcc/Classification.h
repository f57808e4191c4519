/// \file
/// What carve-nvcc does with a command of nvcc's: compile device code, link it, or let nvcc do what
/// it would do by itself.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Nvcc/LinkLine.h"

#include <variant>

namespace carve {

/// The command is nvcc's as it is.
struct Passthrough {
  std::string Reason; ///< A short stable identifier, which is counted, such as `device-lto`.
  std::string Detail; ///< For a person; may be empty.
};

/// A command that compiles no device code and that links what may contain some.
struct DeviceCodeLink {
  LinkLine Line;
  /// What the command is if no file of Line has relocatable device code.
  Passthrough WithoutDeviceCode;
};

/// A command that compiles device code is a CommandLine.
using Classification = std::variant<CommandLine, DeviceCodeLink, Passthrough>;

/// Classifies \p Argv: the user's arguments without argv[0] and without `--carve-*`. Reads options
/// files, and looks for the archives that `-l` names.
Classification classify(llvm::ArrayRef<std::string> Argv, const NvccEnvironment &Env);

/// The reason \p E, which is an Unsupported.
Passthrough passthroughBecause(llvm::Error E);

} // namespace carve
