/// \file
/// Works with a compiler cache in front, ccache or sccache, which runs us and keeps what we make. A
/// cache identifies a compile by its words and its preprocessed text, and does not know decisions
/// and profiles. Two ways tell it about them. First, the preprocessed text that a cache asks for
/// ends in a digest of everything else that the object depends on; this needs no setting. Second,
/// `carve-nvcc --carve-cache-key` prints such a digest for ccache's `compiler_check`, so that
/// ccache can do without the text.
#pragma once

#include "Compile/DriverOptions.h"
#include "Nvcc/CommandLine.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"
#include "Store/UserProfile.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The caches that we recognise.
enum class CacheKind { None, Ccache, Sccache };

/// The cache in front of this process, if there is one.
struct CompilerCache {
  CacheKind Kind = CacheKind::None;
  std::string Program; ///< Its path.
};

/// Returns the cache that started this process. It is recognised as the parent process, or by the
/// variable that ccache gives to every compiler that it starts.
CompilerCache compilerCacheInFront(GetEnv Env);

/// Returns what `--carve-cache-key` prints: everything that an object depends on besides the
/// command, the source and its headers, and nothing that differs between two equal compiles. \p
/// OwnPath is the running program.
std::string cacheKey(llvm::StringRef OwnPath, const Toolchain &T, const UserProfile &Profile,
                     const std::optional<UnitStore> &Store);

/// Returns true if the cache would return this compile's output again although a decision or
/// profile has changed: ccache's depend mode asks for no preprocessed text, and its compiler_check
/// does not call cacheKey().
bool cacheWouldNotNotice(const CompilerCache &Cache, GetEnv Env, CommandRunner &Runner);
/// The advice to the user in that case.
extern const char CacheAdvice[];

/// Returns true if \p Argv, which is not a compile, is a step of a cache that nvcc alone must not
/// answer: sccache's question for nvcc's steps, or a run of the preprocessor for either cache.
bool isCacheStep(llvm::ArrayRef<std::string> Argv, const CompilerCache &Cache);

/// A command by which a cache asks nvcc for something other than a compile.
struct CacheStep {
  std::vector<std::string> Argv; ///< nvcc's arguments.
  NvccEnvironment Flags;
  CompilerCache Cache;
  GetEnv Env;
};

/// Performs the step and returns nvcc's result. sccache would run nvcc's steps by itself: with a
/// profile in \p Options this fails with UsageError, otherwise with Unsupported `sccache`, and the
/// command must then be handed to nvcc.
llvm::Expected<CommandResult> runCacheStep(const CacheStep &Step, const DriverOptions &Options,
                                           const std::optional<UnitStore> &Store,
                                           const Toolchain &T, CommandRunner &Runner);

} // namespace carve
