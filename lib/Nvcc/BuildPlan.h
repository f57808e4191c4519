/// \file
/// The steps that nvcc runs for a command: for each architecture, which PTX becomes which cubin
/// with which ptxas arguments, and how the fatbinary is put together. It is read from `nvcc
/// --dryrun` with the same arguments. KeptCompile reads it, and recording and emission follow it.
#pragma once

#include "Nvcc/FrontEndStep.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One ptxas call, which assembles a PTX file for one architecture.
struct DeviceImage {
  std::string Arch; ///< `sm_90`, `sm_90a`.
  std::string PtxPath;
  std::string CubinPath;
  /// The ptxas arguments after argv[0], without the input and without `-o`.
  std::vector<std::string> PtxasOptions;
};

/// One device source of the command.
struct DeviceUnit {
  std::string Source;
  std::vector<DeviceImage> Images;
  std::string FatbinPath; ///< The container that is embedded in the object.
  /// The fatbinary arguments after argv[0], without `--embedded-fatbin`. `file=` names the cubins
  /// and the PTX above.
  std::vector<std::string> FatbinaryArguments;
  std::string ObjectPath; ///< The host object that holds the container.
  /// The call of the host compiler that made the object, including argv[0].
  std::vector<std::string> HostCommand = {};
  /// How each PTX was made, whether for an image or embedded. Steps of an unexpected shape are left
  /// out.
  std::vector<FrontEndStep> FrontEnds;
};

/// One nvlink call, which links the relocatable device code of all inputs for one architecture.
struct PlannedLinkImage {
  std::string Arch;
  std::string CubinPath;
  /// The nvlink arguments after argv[0], including the inputs, without the files that it writes.
  std::vector<std::string> NvlinkArguments;
};

/// The device link of the command (-rdc=true).
struct PlannedLink {
  std::vector<PlannedLinkImage> Images;
  std::string FatbinPath;                      ///< The container that the program loads.
  std::vector<std::string> FatbinaryArguments; ///< As in DeviceUnit.
};

/// The steps of one command.
struct BuildPlan {
  std::vector<DeviceUnit> Units;
  std::optional<PlannedLink> Link;
  /// The calls of the host compiler, including argv[0]: preprocessing, compile, host link.
  std::vector<std::vector<std::string>> HostCommands;
  std::vector<std::string> Environment; ///< The `NAME=value` pairs that nvcc sets for its steps.
};

/// Splits a command of a dryrun into words, as the shell that nvcc runs it with would. `$NAME` is
/// expanded from \p Environment. Fails if a quote is not closed.
llvm::Expected<std::vector<std::string>> splitCommand(llvm::StringRef Line,
                                                      llvm::ArrayRef<std::string> Environment);

/// Returns the `NAME=value` pairs that nvcc sets for its steps, from \p Text, the output of a
/// dryrun.
std::vector<std::string> dryrunVariables(llvm::StringRef Text);

/// Parses \p Text, the standard error of `nvcc --dryrun --keep --keep-dir D <arguments>`. Files are
/// found by suffix and `file=`, never by position. Fails with Unsupported `unknown-plan` if the
/// text has an unexpected shape (the error names the line) or plans neither a unit nor a device
/// link. A device link of an unknown shape is ignored.
llvm::Expected<BuildPlan> parseDryrun(llvm::StringRef Text);

} // namespace carve
