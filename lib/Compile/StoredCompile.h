/// \file
/// Keeps a compile to an object in the store, and makes the object again without nvcc's front end
/// if its inputs are the same as last time and only the decisions have changed.
#pragma once

#include "Compile/CompileInputs.h"
#include "Nvcc/BuildPlan.h"
#include "Nvcc/CommandLine.h"
#include "Nvcc/KeptCompile.h"
#include "Store/UnitStore.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The conditions of a compile other than its files.
struct CompileConditions {
  std::string Command; ///< Digest of words, environment and toolkit.
  std::string WorkDir;
  std::string KeepDir;
  std::string Decisions; ///< Digest of what is to be emitted.
};

/// Returns a digest of every word of \p C, nvcc's stamp, and \p Environment (`NAME=value`) without
/// the variables that no compiler reads.
std::string commandDigest(const CommandLine &C, llvm::StringRef WorkDir, const Toolchain &T,
                          llvm::ArrayRef<std::string> Environment);

/// Returns the current stamp and digest of \p Source. Fails if it is not a regular file.
llvm::Expected<SourceStamp> stampSource(llvm::StringRef Source, llvm::StringRef WorkDir);

/// Returns the record of the compile \p Kept of \p Planned, whose files must still exist. \p
/// StartedNs is the time at which nvcc started, in ns since 1970. Fails with Unsupported if the
/// compile could not be repeated from it: an input changed meanwhile or is not known, or nvcc's
/// messages were not captured.
llvm::Expected<ObjectRecord> recordObject(const DeviceUnit &Planned, const KeptCompile &Kept,
                                          const CommandLine &C, const CompileConditions &Now,
                                          const Toolchain &T, const SourceStamp &Source,
                                          int64_t StartedNs, UnitStore &Store);

/// A compile that was made from the store, in the state in which nvcc would have just ended.
struct RestoredCompile {
  DeviceUnit Planned; ///< Its files are in the keep directory again.
  std::string Object; ///< nvcc's own object.
  std::string Depfile;
  std::string Stdout, Stderr;
};

/// Makes the compile that \p U records again; its output is at \p Output. Fails with Unsupported
/// `not-stored` if the result would differ, or if the decisions are those with which the output was
/// made. In that case nothing outside of the keep directory has changed.
llvm::Expected<RestoredCompile> restoreCompile(const Unit &U, llvm::StringRef Output,
                                               const CompileConditions &Now,
                                               const UnitStore &Store);

} // namespace carve
