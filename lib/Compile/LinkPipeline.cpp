#include "Compile/LinkPipeline.h"
#include "Compile/DriverOptions.h"
#include "Compile/Fallback.h"
#include "Compile/LinkRecorder.h"
#include "Nvcc/KeptCompile.h"
#include "Nvcc/RelocatableCode.h"
#include "Store/StoreFolder.h"
#include "Store/StoreUpkeep.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

/// Creates a directory for this link alone, as for a compile.
static llvm::Expected<TempDir> acquireKeepDir(const LinkRequest &Request) {
  const LinkLine &Line = Request.Line;
  std::vector<llvm::StringRef> Fields = {Request.WorkDir, Line.Output};
  Fields.insert(Fields.end(), Line.Argv.begin(), Line.Argv.end());
  return TempDir::createNamed(digestOfFields(Fields).substr(0, 16), keepDirPatience(Line.Argv));
}

static llvm::Error record(const KeptCompile &Kept, const LinkRequest &Request, UnitStore &Store,
                          const Toolchain &T, CommandRunner &Runner) {
  if (Kept.NoPlan)
    return unsupported("unknown-plan", *Kept.NoPlan);
  if (!Kept.Plan.Link) // The cause is -nodlink, or steps of an unknown shape.
    return unsupported("unknown-plan", "no device link");
  llvm::Expected<std::string> Version = nvccVersion(T, Runner);
  if (!Version)
    return Version.takeError();
  LinkCommand C{Request.Line.Argv, Request.Line.Output, Request.WorkDir, *Version};
  Toolchain Located = T;
  takeToolDirs(Located, Kept.Plan.Environment);
  if (llvm::Error E = recordLink(*Kept.Plan.Link, C, Located, Store))
    return E;
  pruneSometimes(Store, storeLimit(Request.Env));
  return llvm::Error::success();
}

llvm::Expected<std::optional<LinkResult>> carve::linkDeviceCode(const LinkRequest &Request,
                                                                UnitStore &Store,
                                                                const Toolchain &T,
                                                                CommandRunner &Runner) {
  bool HasCode = llvm::any_of(Request.Line.Files, [&](llvm::StringRef File) {
    return hasRelocatableCode(absolutePath(File, Request.WorkDir));
  });
  if (!HasCode)
    return std::nullopt;
  if (!Store.writable())
    return unsupported("no-store", Store.root());
  llvm::Expected<TempDir> Keep = acquireKeepDir(Request);
  if (!Keep)
    return unsupported("no-keep-dir", llvm::toString(Keep.takeError()));
  llvm::Expected<KeptCompile> Kept =
      compileKeeping(T, Runner, Request.Line.Argv, "", Keep->path(), /*Quiet=*/false);
  if (!Kept)
    return Kept.takeError();
  LinkResult Result{Kept->Nvcc.ExitStatus, Kept->endingSignal()};
  if (Result.ExitStatus != 0 || Result.Signal)
    return Result;
  countUntuned(Store, record(*Kept, Request, Store, T, Runner), "device link not recorded");
  return Result;
}
