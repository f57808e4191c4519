// This is the paper's method: `nvcc -maxrregcount` sets one cap for all kernels of a file, so that
// cicc sees the cap as well as ptxas. Every cap needs a separate compile.

#include "Tune/Job/FileVariants.h"

#include "Cubin/Cubin.h"
#include "Nvcc/CommandRewrite.h"
#include "Nvcc/KeptCompile.h"
#include "Nvcc/RecordedCommand.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include "Support/Parallel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <set>

using namespace carve;

namespace {

/// Compiles \p Module at \p Cap and returns its image. Fails if nvcc fails.
llvm::Expected<std::string> compileAtCap(const JobModule &Module, unsigned Cap,
                                         const JobContext &Context) {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-file");
  if (!Dir)
    return Dir.takeError();
  std::string Keep = Dir->path() + "/keep";
  if (std::error_code E = llvm::sys::fs::create_directory(Keep))
    return llvm::createFileError(Keep, E);
  const Unit &U = Module.Source;
  llvm::Expected<CommandLine> C = parseRecordedCommand(U.Command, U.Directory);
  if (!C)
    return C.takeError();
  // Only this source is compiled, and no depfile is written: that would replace the user's own.
  std::string Output = Dir->path() + "/out.o";
  C = parseCommandLine(compileOneArguments(*C, U.Source, Output), {"", "", U.Directory});
  if (!C)
    return C.takeError();
  auto Kept = compileKeeping(Context.T, Context.Runner, withRegisterCap(*C, Cap, Output),
                             U.Directory, Keep, /*Quiet=*/true);
  if (!Kept)
    return Kept.takeError();
  if (!Kept->Nvcc.succeeded())
    return llvm::make_error<ToolFailure>("nvcc", Kept->Nvcc.ExitStatus, Kept->Nvcc.Stderr);
  for (const DeviceUnit &Made : Kept->Plan.Units)
    if (Made.Source == U.Source)
      for (const DeviceImage &I : Made.Images)
        if (I.Arch == Module.Image.Arch)
          return readFile(I.CubinPath);
  return unsupported("unknown-plan", "no image of " + U.Source + " for " + Module.Image.Arch +
                                         " at cap " + llvm::Twine(Cap));
}

std::set<unsigned> fileCaps(const JobModule &Module, const TuningJob &Job,
                            const JobContext &Context, JobBuild &Built) {
  std::set<unsigned> Caps;
  llvm::Expected<std::string> Text = Context.Store.blob(Module.Image.PtxDigest);
  llvm::Expected<PtxModule> Ptx = Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
  if (!Ptx) {
    llvm::consumeError(Ptx.takeError());
    return Caps;
  }
  for (size_t K : Module.Kernels) {
    const JobKernel &Kernel = Job.Kernels[K];
    if (const PtxEntry *Entry = Ptx->find(Kernel.Traced.Kernel))
      for (unsigned Cap :
           capsToTry(Kernel, Entry->Directives, Job, Context.Options, Built.Kernels[K]))
        Caps.insert(Cap);
  }
  return Caps;
}

/// Why the unit's image \p Image may not be used, or nothing if it may: the reason of its first
/// forbidden kernel.
std::optional<std::string> forbiddenFile(const Cubin &Image, const JobModule &Module,
                                         const TuningJob &Job, const JobBuild &Built) {
  for (size_t K : Module.Kernels)
    for (const CubinKernel &C : Image.Kernels)
      if (C.Resources.Name == Job.Kernels[K].Traced.Kernel)
        if (auto Reason =
                forbidden(Job.Kernels[K], Built.Kernels[K], {{}, "", C.Resources, "", ""}, Job))
          return C.Resources.Name + ": " + *Reason;
  return std::nullopt;
}

} // namespace

llvm::Error carve::makeFileVariants(const TuningJob &Job, const JobContext &Context,
                                    JobBuild &Built) {
  for (auto [Module, Made] : llvm::zip_equal(Job.Modules, Built.Modules)) {
    if (Module.Image.CubinDigest.empty())
      return unsupported("no-image", Module.Source.Output + " has no image for " +
                                         Module.Image.Arch +
                                         ": compile with -arch=" + Module.Image.Arch);
    llvm::Expected<std::string> Default = Context.Store.blob(Module.Image.CubinDigest);
    if (!Default)
      return Default.takeError();
    Made.Cubin = *Default;
    // The control of a whole file is the same image again. Nothing else could differ.
    Made.FileVariants = {{{}, "", {}, "", *Default}, {{}, "", {}, "", *Default}};
    std::set<unsigned> Caps = fileCaps(Module, Job, Context, Built);
    std::vector<unsigned> List(Caps.begin(), Caps.end());
    std::vector<std::string> Cubins(List.size());
    runInParallel(List.size(), [&, &Module = Module](size_t I) {
      llvm::Expected<std::string> Bytes = compileAtCap(Module, List[I], Context);
      if (Bytes)
        Cubins[I] = std::move(*Bytes);
      else
        logLine(Module.Source.Output + " at cap " + llvm::Twine(List[I]) + ": " +
                llvm::toString(Bytes.takeError()));
    });
    for (size_t I = 0; I < List.size(); ++I) {
      if (Cubins[I].empty() || llvm::any_of(Made.FileVariants, [&](const JobVariant &V) {
            return V.Cubin == Cubins[I];
          }))
        continue;
      llvm::Expected<Cubin> Image = parseCubin(Cubins[I]);
      if (!Image)
        return Image.takeError();
      if (auto Reason = forbiddenFile(*Image, Module, Job, Built)) {
        logLine("cap " + llvm::Twine(List[I]) + ": " + *Reason);
        continue;
      }
      Made.FileVariants.push_back({{List[I]}, "", {}, "", std::move(Cubins[I])});
    }
  }
  return llvm::Error::success();
}
