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

/// Whether a command that is no compile for this reason may be a link.
static bool mayLink(llvm::StringRef Reason) {
  return Reason == "no-device-source" || Reason == "device-link";
}

/// A directory of its own for each link, as for each compile.
static llvm::Expected<TempDir> acquireKeepDir(const LinkRequest &Request, const LinkLine &Line) {
  std::vector<llvm::StringRef> Fields = {Request.Flags.WorkDir, Line.Output};
  Fields.insert(Fields.end(), Line.Argv.begin(), Line.Argv.end());
  return TempDir::createNamed(digestOfFields(Fields).substr(0, 16), keepDirPatience(Line.Argv));
}

static llvm::Error record(const KeptCompile &Kept, const LinkLine &Line, const LinkRequest &Request,
                          UnitStore &Store, const Toolchain &T, CommandRunner &Runner) {
  if (Kept.NoPlan)
    return unsupported("unknown-plan", *Kept.NoPlan);
  if (!Kept.Plan.Link) // -nodlink, or steps of another shape.
    return unsupported("unknown-plan", "no device link");
  llvm::Expected<std::string> Version = nvccVersion(T, Runner);
  if (!Version)
    return Version.takeError();
  LinkCommand C{Line.Argv, Line.Output, Request.Flags.WorkDir, *Version};
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
  llvm::Expected<LinkLine> Line = parseLinkLine(Request.Argv, Request.Flags);
  if (!Line)
    return Line.takeError();
  bool HasCode = llvm::any_of(Line->Files, [&](llvm::StringRef File) {
    return hasRelocatableCode(absolutePath(File, Request.Flags.WorkDir));
  });
  if (!HasCode)
    return std::nullopt;
  if (!Store.writable())
    return unsupported("no-store", Store.root());
  llvm::Expected<TempDir> Keep = acquireKeepDir(Request, *Line);
  if (!Keep)
    return unsupported("no-keep-dir", llvm::toString(Keep.takeError()));
  llvm::Expected<KeptCompile> Kept =
      compileKeeping(T, Runner, Line->Argv, "", Keep->path(), /*Quiet=*/false);
  if (!Kept)
    return Kept.takeError();
  LinkResult Result{Kept->Nvcc.ExitStatus, Kept->endingSignal()};
  if (Result.ExitStatus != 0 || Result.Signal)
    return Result;
  countUntuned(Store, record(*Kept, *Line, Request, Store, T, Runner), "device link not recorded");
  return Result;
}

llvm::Expected<LinkResult> carve::linkOrFallBack(const LinkRequest &Request, llvm::Error NoCompile,
                                                 const std::optional<UnitStore> &Store,
                                                 const Toolchain &T) {
  std::string Reason, Detail;
  auto Take = [&](const Unsupported &U) {
    Reason = U.reason();
    Detail = U.detail();
  };
  if (llvm::Error Rest = llvm::handleErrors(std::move(NoCompile), Take))
    return Rest;
  if (Store && mayLink(Reason)) {
    ProcessRunner Runner;
    UnitStore Own = *Store;
    auto Linked = linkDeviceCode(Request, Own, T, Runner);
    if (!Linked) {
      if (llvm::Error Rest = llvm::handleErrors(Linked.takeError(), Take))
        return Rest;
    } else if (*Linked) {
      return **Linked;
    }
  }
  return fallBack(T, Store, Request.Argv, Reason, Detail);
}
