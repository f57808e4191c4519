#include "Cubin/Assembler.h"

#include "Cubin/ReplaceKernels.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"

#include "llvm/Support/Path.h"

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

Expected<Assembled> carve::assembleMixed(const Toolchain &T, CommandRunner &Runner,
                                         StringRef PtxText, ArrayRef<std::string> Options,
                                         ArrayRef<ReassembledKernels> Others, StringRef Name) {
  Expected<Assembled> Made = assemble(T, Runner, PtxText, Options, Name);
  for (const ReassembledKernels &Other : Others) {
    if (!Made)
      return Made;
    // ptxas assembles only the entries that it is told, and gives them the same code. But then it
    // may number the module's variables in another way, and everything has to be assembled.
    std::vector<std::string> OwnOptions = Other.Options;
    for (const std::string &Kernel : Other.Kernels)
      OwnOptions.insert(OwnOptions.end(), {"--entry", Kernel});
    Expected<Assembled> Own = assemble(T, Runner, PtxText, OwnOptions, Name);
    if (!Own)
      return Own;
    Expected<std::string> Bytes = replaceKernels(Made->CubinBytes, Own->CubinBytes, Other.Kernels);
    if (!Bytes) {
      consumeError(Bytes.takeError());
      Own = assemble(T, Runner, PtxText, Other.Options, Name);
      if (!Own)
        return Own;
      Bytes = replaceKernels(Made->CubinBytes, Own->CubinBytes, Other.Kernels);
    }
    if (!Bytes)
      return Bytes.takeError();
    Made->CubinBytes = std::move(*Bytes);
    for (KernelResources &Old : Made->Kernels)
      for (KernelResources &New : Own->Kernels)
        if (Old.Name == New.Name && is_contained(Other.Kernels, New.Name))
          Old = std::move(New);
  }
  return Made;
}
