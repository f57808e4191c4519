/// \file
/// What nvcc did with a command: per architecture which PTX became which cubin by which ptxas
/// arguments, and how the fatbinary was put together. Read from `nvcc --dryrun` of the same
/// arguments.
#pragma once

#include "Nvcc/FrontEndStep.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One ptxas call: a PTX file assembled for one architecture.
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
  std::string FatbinPath; ///< The container embedded in the object.
  /// The fatbinary arguments after argv[0] without `--embedded-fatbin`; `file=` names the cubins
  /// and the PTX above.
  std::vector<std::string> FatbinaryArguments;
  std::string ObjectPath; ///< The host object that holds the container.
  /// How the PTX was made, image or embedded; what has another shape than expected is left out.
  std::vector<FrontEndStep> FrontEnds;
};

/// One nvlink call: the relocatable device code of all inputs linked for one architecture.
struct PlannedLinkImage {
  std::string Arch;
  std::string CubinPath;
  /// The nvlink arguments after argv[0], inputs included, without the files that it writes.
  std::vector<std::string> NvlinkArguments;
};

/// The device link of the command (-rdc=true).
struct PlannedLink {
  std::vector<PlannedLinkImage> Images;
  std::string FatbinPath;                      ///< The container that the program loads.
  std::vector<std::string> FatbinaryArguments; ///< As in DeviceUnit.
};

struct BuildPlan {
  std::vector<DeviceUnit> Units;
  std::optional<PlannedLink> Link;
  /// The calls of the host compiler, argv[0] included: preprocessing, compile, host link.
  std::vector<std::vector<std::string>> HostCommands;
  std::vector<std::string> Environment; ///< `NAME=value` that nvcc sets for its steps.
};

/// Splits a command of `--dryrun` into words as the shell that nvcc runs it with would; `$NAME`
/// is expanded from \p Environment. Fails on an unterminated quote.
llvm::Expected<std::vector<std::string>> splitCommand(llvm::StringRef Line,
                                                      llvm::ArrayRef<std::string> Environment);

/// The `NAME=value` that nvcc sets for its steps according to \p Text, what a dryrun printed.
std::vector<std::string> dryrunVariables(llvm::StringRef Text);

/// Reads what `nvcc --dryrun --keep --keep-dir D <arguments>` printed on standard error. Files are
/// found by suffix and `file=`, never by position. Fails with Unsupported `unknown-plan` where the
/// text does not have the shape expected, naming the line, or plans neither a unit nor a device
/// link. A device link whose shape is not known is as if it were not there.
llvm::Expected<BuildPlan> parseDryrun(llvm::StringRef Text);

} // namespace carve
