/// \file
/// A compiler cache in front: ccache or sccache, which run us and keep what we make. They recognise
/// a compile by its words and its preprocessed text, and know nothing of decisions and profiles.
/// Two ways tell them. The preprocessed text that they ask for ends in a digest of what else the
/// object depends on; that needs no setting. And `carve-nvcc --carve-cache-key` prints the same for
/// ccache's `compiler_check`, with which ccache can do without the text.
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

enum class CacheKind { None, Ccache, Sccache };

struct CompilerCache {
  CacheKind Kind = CacheKind::None;
  std::string Program; ///< Its path.
};

/// The cache that started this process, by its parent, or by the variable that ccache gives to
/// every compiler that it starts.
CompilerCache compilerCacheInFront(GetEnv Env);

/// What `--carve-cache-key` prints: everything that an object depends on beside the command, the
/// source and what that includes, and nothing that differs from one compile to the next. \p
/// OwnPath: the running program.
std::string cacheKey(llvm::StringRef OwnPath, const Toolchain &T, const UserProfile &Profile,
                     const std::optional<UnitStore> &Store);

/// Whether this compile's output would be returned again although a decision or profile has
/// changed: ccache's depend mode asks for no preprocessed text, and its compiler_check does not
/// call cacheKey().
bool cacheWouldNotNotice(const CompilerCache &Cache, GetEnv Env, CommandRunner &Runner);
/// What a person is told then.
extern const char CacheAdvice[];

/// Whether \p Argv, which is no compile, is a step of a cache that has to be answered otherwise
/// than nvcc does: sccache's question for nvcc's steps, or a preprocessor run of either.
bool isCacheStep(llvm::ArrayRef<std::string> Argv, const CompilerCache &Cache);

struct CacheStep {
  std::vector<std::string> Argv; ///< nvcc's arguments.
  NvccEnvironment Flags;
  CompilerCache Cache;
  GetEnv Env;
};

/// Does the step. nvcc's exit status. Fails with a UsageError where sccache would compile by
/// itself in spite of \p Options' profile, and with Unsupported `sccache` where without: the
/// command is then to be handed to nvcc.
llvm::Expected<CommandResult> runCacheStep(const CacheStep &Step, const DriverOptions &Options,
                                           const std::optional<UnitStore> &Store,
                                           const Toolchain &T, CommandRunner &Runner);

} // namespace carve
