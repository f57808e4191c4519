#include "Compile/CompileRequest.h"
#include "Command/Installation.h"
#include "Command/LaunchedRank.h"
#include "Store/StoreFolder.h"

#include "Compile/CompilerCache.h"
#include "Compile/StoredCompile.h"
#include "Nvcc/ConfigureProbe.h"
#include "Support/Digest.h"
#include "Tune/TunedWorkload.h"

using namespace carve;

static std::string tagOf(const CommandLine &Line, llvm::StringRef WorkDir) {
  std::vector<llvm::StringRef> Fields = {WorkDir, Line.Output};
  for (const std::string &Arg : Line.Argv)
    Fields.push_back(Arg);
  return digestOfFields(Fields).substr(0, 16);
}

CompileRequest carve::makeCompileRequest(CommandLine Line, DriverOptions Options,
                                         llvm::StringRef OwnPath, std::string WorkDir,
                                         const CommandStore &Store, const Toolchain &T, GetEnv Env,
                                         llvm::ArrayRef<std::string> Environment) {
  CompileRequest R;
  R.ConfigureProbe = isConfigureProbe(Line, WorkDir);
  R.ListDecisions = !R.ConfigureProbe && !Store.isTemporary();
  R.CommandDigest = commandDigest(Line, WorkDir, T, Environment);
  ProcessRunner Runner;
  R.BehindCache = cacheWouldNotNotice(compilerCacheInFront(Env), Env, Runner);
  R.Tag = tagOf(Line, WorkDir);
  R.Line = std::move(Line);
  R.Options = std::move(Options);
  R.WorkDir = std::move(WorkDir);
  R.Install = findInstallTree(OwnPath);
  R.GpuPresent = gpuPresent(Env);
  if (std::optional<LaunchedRank> Rank = launchedRank(Env); Rank && Rank->Rank != 0)
    R.OtherRank = rankText(*Rank);
  R.Gpus = gpuPlaces(Env);
  R.WorkloadEnvironment = workloadEnvironment(Env);
  R.StoreLimitBytes = storeLimit(Env);
  return R;
}
