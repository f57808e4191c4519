#include "Cubin/Assembler.h"

#include "Cubin/ReplaceKernels.h"
#include "Support/Files.h"
#include "Support/Parallel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <optional>

using namespace carve;
using namespace llvm;

Expected<Assembled> carve::assemble(const Toolchain &T, CommandRunner &Runner, StringRef PtxText,
                                    ArrayRef<std::string> Options, StringRef Name) {
  auto Dir = TempDir::create("carve-ptxas");
  if (!Dir)
    return Dir.takeError();
  std::string Input = sys::path::filename(Name).str();
  // The suffix keeps the output apart from the input, whatever the input is called.
  std::string Output = Input + ".cubin";
  if (Error E = writeFileAtomically(Dir->path() + "/" + Input, PtxText))
    return E;
  Command C;
  C.Argv.push_back(T.tool("ptxas"));
  C.Argv.insert(C.Argv.end(), Options.begin(), Options.end());
  C.Argv.insert(C.Argv.end(), {"-v", Input, "-o", Output});
  // The names are relative, so that the path of the temporary directory cannot get into the output.
  C.Dir = Dir->path();
  auto Result = runChecked(Runner, std::move(C));
  if (!Result)
    return Result.takeError();
  auto Bytes = readFile(Dir->path() + "/" + Output);
  if (!Bytes)
    return Bytes.takeError();
  return Assembled{std::move(*Bytes), parsePtxasReport(Result->Stderr + Result->Stdout)};
}

std::vector<std::string> carve::onAllCores(ArrayRef<std::string> Options) {
  std::vector<std::string> All = Options.vec();
  if (none_of(Options, [](StringRef O) { return O.contains("-split-compile"); }))
    All.push_back("--split-compile=0");
  return All;
}

/// What assemble() returns for each of \p OptionSets, in their order; the runs are made at once.
/// Fails as the first of those that fail.
static Expected<std::vector<Assembled>> assembleEach(const Toolchain &T, CommandRunner &Runner,
                                                     StringRef PtxText,
                                                     ArrayRef<std::vector<std::string>> OptionSets,
                                                     StringRef Name) {
  std::vector<std::optional<Expected<Assembled>>> Runs(OptionSets.size());
  runInParallel(Runs.size(), [&](size_t I) {
    Runs[I].emplace(assemble(T, Runner, PtxText, OptionSets[I], Name));
  });
  std::vector<Assembled> All;
  Error Failed = Error::success();
  for (std::optional<Expected<Assembled>> &Run : Runs)
    if (*Run)
      All.push_back(std::move(**Run));
    else if (Failed)
      consumeError(Run->takeError());
    else
      Failed = Run->takeError();
  if (Failed)
    return Failed;
  return All;
}

/// Returns \p Base with those of \p Kernels that fit into it as \p Donor has them, and removes the
/// others from \p Kernels. They are added to \p Unfit, if some fit; otherwise this fails.
static Expected<std::string> replaceFitting(StringRef Base, StringRef Donor,
                                            std::vector<std::string> &Kernels,
                                            UnfitKernels *Unfit) {
  Expected<std::string> All = replaceKernels(Base, Donor, Kernels);
  if (All || !Unfit || Kernels.size() < 2)
    return All;
  std::vector<std::string> Fit;
  UnfitKernels Others;
  for (const std::string &Kernel : Kernels)
    if (Expected<std::string> Alone = replaceKernels(Base, Donor, Kernel))
      Fit.push_back(Kernel);
    else
      Others[Kernel] = toString(Alone.takeError());
  if (Fit.empty())
    return All;
  consumeError(All.takeError());
  Unfit->merge(Others);
  Kernels = std::move(Fit);
  return replaceKernels(Base, Donor, Kernels);
}

Expected<Assembled> carve::assembleMixed(const Toolchain &T, CommandRunner &Runner,
                                         StringRef PtxText, ArrayRef<std::string> Options,
                                         ArrayRef<ReassembledKernels> Others, StringRef Name,
                                         UnfitKernels *Unfit) {
  std::vector<std::vector<std::string>> OptionSets = {Options.vec()};
  for (const ReassembledKernels &Other : Others) {
    OptionSets.push_back(Other.Options);
    for (const std::string &Kernel : Other.Kernels)
      OptionSets.back().insert(OptionSets.back().end(), {"--entry", Kernel});
  }
  Expected<std::vector<Assembled>> Runs = assembleEach(T, Runner, PtxText, OptionSets, Name);
  if (!Runs)
    return Runs.takeError();
  Assembled Made = std::move(Runs->front());
  for (auto [Other, Own] : zip_equal(Others, MutableArrayRef(*Runs).drop_front())) {
    std::vector<std::string> Kernels = Other.Kernels;
    // ptxas assembles only the entries that it is told, and gives them the same code. But then it
    // may number the module's variables in another way, and everything has to be assembled.
    Expected<std::string> Bytes = replaceFitting(Made.CubinBytes, Own.CubinBytes, Kernels, Unfit);
    if (!Bytes) {
      consumeError(Bytes.takeError());
      Expected<Assembled> Whole = assemble(T, Runner, PtxText, Other.Options, Name);
      if (!Whole)
        return Whole;
      Own = std::move(*Whole);
      Bytes = replaceFitting(Made.CubinBytes, Own.CubinBytes, Kernels, Unfit);
    }
    if (!Bytes && Unfit) {
      std::string Why = toString(Bytes.takeError());
      for (const std::string &Kernel : Kernels)
        (*Unfit)[Kernel] = Why;
      continue;
    }
    if (!Bytes)
      return Bytes.takeError();
    Made.CubinBytes = std::move(*Bytes);
    for (KernelResources &Old : Made.Kernels)
      for (KernelResources &New : Own.Kernels)
        if (Old.Name == New.Name && is_contained(Kernels, New.Name))
          Old = std::move(New);
  }
  return Made;
}
