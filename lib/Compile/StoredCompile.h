/// \file
/// A compile to an object whose inputs are those of the last time: kept in the store, and made from
/// it again without nvcc's front end, for when only the decisions have changed.
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

/// What a compile depends on beside its files.
struct CompileConditions {
  std::string Command; ///< Digest of words, environment and toolkit.
  std::string WorkDir;
  std::string KeepDir;
  std::string Decisions; ///< Digest of what is to be emitted.
};

/// Digest of every word of \p C, nvcc's stamp and \p Environment (`NAME=value`) without the
/// variables that no compiler reads.
std::string commandDigest(const CommandLine &C, llvm::StringRef WorkDir, const Toolchain &T,
                          llvm::ArrayRef<std::string> Environment);

/// The stamp and digest of \p Source as it is. Fails where it is no regular file.
llvm::Expected<SourceStamp> stampSource(llvm::StringRef Source, llvm::StringRef WorkDir);

/// The record of the compile \p Kept of \p Planned, whose files are still there. Fails with
/// Unsupported where it could not be made again: an input changed meanwhile, is not known, or what
/// nvcc printed was not seen. \p StartedNs: when nvcc started, since 1970.
llvm::Expected<ObjectRecord> recordObject(const DeviceUnit &Planned, const KeptCompile &Kept,
                                          const CommandLine &C, const CompileConditions &Now,
                                          const Toolchain &T, const SourceStamp &Source,
                                          int64_t StartedNs, UnitStore &Store);

/// A compile made from the store: as if nvcc had just ended.
struct RestoredCompile {
  DeviceUnit Planned; ///< Its files lie in the keep directory again.
  std::string Object; ///< nvcc's own.
  std::string Depfile;
  std::string Stdout, Stderr;
};

/// Makes the compile that \p U records, whose output is at \p Output, again. Fails with Unsupported
/// `not-stored`, before anything is changed outside of the keep directory, where it would not be
/// the same, or where the decisions are those that the output was made with.
llvm::Expected<RestoredCompile> restoreCompile(const Unit &U, llvm::StringRef Output,
                                               const CompileConditions &Now,
                                               const UnitStore &Store);

} // namespace carve
