#include "Device/RegisterRegion.h"

#include "Cubin/Assembler.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <algorithm>

using namespace carve;

namespace {

constexpr unsigned LeastCap = 1;
constexpr unsigned LargestCap = 255;

/// Whether ptxas derives a limit of its own from the directives. It then says "Overriding global
/// maxrregcount with entry-specific value".
bool ignoresOption(const EntryDirectives &D) {
  return D.MaxNReg || D.MinNCtaPerSm || D.MaxNTid || D.ReqNTid;
}

/// One ptxas option in one of the spellings `-x=V`, `--x V` and `-x`.
struct PtxasOption {
  llvm::StringRef Name;
  std::optional<llvm::StringRef> Value;
  size_t Words = 1;
};

PtxasOption optionAt(llvm::ArrayRef<std::string> Options, size_t At) {
  llvm::StringRef Word = Options[At];
  auto [Name, Value] = Word.split('=');
  PtxasOption O{Name.ltrim('-'), std::nullopt, 1};
  if (Word.contains('=')) {
    O.Value = Value;
    return O;
  }
  bool TakesValue =
      llvm::is_contained({"arch", "gpu-name", "m", "machine", "maxrregcount"}, O.Name);
  if (TakesValue && At + 1 < Options.size()) {
    O.Value = Options[At + 1];
    O.Words = 2;
  }
  return O;
}

/// Returns the image's ptxas options in the form that nvcc takes, without those that nvcc sets
/// itself. Options that turn warnings into errors are left out, because with a cap of 1 ptxas warns
/// that it raises it.
std::vector<std::string> forwarded(llvm::ArrayRef<std::string> Options) {
  constexpr llvm::StringLiteral SetByNvcc[] = {
      "arch",         "gpu-name",         "m",     "m64", "machine", "v", "verbose",
      "maxrregcount", "warning-as-error", "Werror"};
  std::vector<std::string> Words;
  for (size_t At = 0; At < Options.size();) {
    PtxasOption O = optionAt(Options, At);
    for (size_t End = At + O.Words; At < End; ++At) {
      if (llvm::is_contained(SetByNvcc, O.Name))
        continue;
      Words.push_back("-Xptxas");
      Words.push_back(llvm::join(llvm::split(Options[At], ','), "\\,"));
    }
  }
  return Words;
}

/// Returns the PTX with \p Cap as `.maxnreg` in every entry that the option would not reach.
/// \p ByOption tells whether the other entries get the cap by the option.
llvm::Expected<std::string> cappedText(const PtxModule &Ptx, unsigned Cap, bool ByOption) {
  llvm::StringMap<unsigned> Caps;
  for (const PtxEntry &Entry : Ptx.entries())
    if (!Entry.UsesSetMaxNReg && (!ByOption || ignoresOption(Entry.Directives)))
      Caps[Entry.Name] = Cap;
  if (Caps.empty())
    return Ptx.text();
  return Ptx.withRegisterCaps(Caps);
}

llvm::Expected<std::vector<KernelResources>> measureAtCap(const Toolchain &T, CommandRunner &Runner,
                                                          const RegionRequest &Request,
                                                          unsigned Cap) {
  // ptxas refuses the whole module if the option leaves a `setmaxnreg` kernel fewer registers than
  // it releases. In such a module every other kernel gets the cap in the text.
  bool ByOption = llvm::none_of(Request.Ptx.entries(),
                                [](const PtxEntry &Entry) { return Entry.UsesSetMaxNReg; });
  llvm::Expected<std::string> Text = cappedText(Request.Ptx, Cap, ByOption);
  if (!Text)
    return Text.takeError();
  llvm::Expected<TempDir> Dir = TempDir::create("carve-region");
  if (!Dir)
    return Dir.takeError();
  std::string PtxPath = Dir->path() + "/module.ptx";
  if (llvm::Error E = writeFileAtomically(PtxPath, *Text))
    return E;

  Command C;
  C.Argv = {T.Nvcc, "-cubin", "-arch=" + Request.Image.Arch, "-Xptxas", "-v"};
  if (ByOption)
    C.Argv.push_back("-maxrregcount=" + std::to_string(Cap));
  llvm::append_range(C.Argv, forwarded(onAllCores(Request.Image.PtxasOptions)));
  llvm::append_range(C.Argv,
                     std::vector<std::string>{"-o", Dir->path() + "/module.cubin", PtxPath});
  // The options that the user put into these variables are already among the image's options.
  C.Environment = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};
  llvm::Expected<CommandResult> Result = runChecked(Runner, std::move(C));
  if (!Result)
    return Result.takeError();
  return parsePtxasReport(Result->Stderr);
}

llvm::Expected<std::vector<KernelResources>>
measureDefault(const Toolchain &T, CommandRunner &Runner, const RegionRequest &Request) {
  llvm::Expected<Assembled> Result =
      assemble(T, Runner, Request.Ptx.text(), onAllCores(Request.Image.PtxasOptions));
  if (!Result)
    return Result.takeError();
  return std::move(Result->Kernels);
}

/// The measurements of one image, which three tasks fill in.
struct Measurements {
  using Result = llvm::Expected<std::vector<KernelResources>>;
  std::optional<Result> Default, AtMin, AtMax;
};

llvm::Expected<KernelResources> resourcesOf(llvm::ArrayRef<KernelResources> Kernels,
                                            llvm::StringRef Name) {
  const auto *Found = llvm::find_if(Kernels, [&](const auto &K) { return K.Name == Name; });
  if (Found == Kernels.end())
    return malformed("ptxas reported nothing of kernel `" + Name + "`");
  return *Found;
}

llvm::Error firstOf(llvm::Error First, llvm::Error Second) {
  if (!First)
    return Second;
  llvm::consumeError(std::move(Second));
  return First;
}

llvm::Expected<std::vector<RegisterRegion>> joinRegions(const PtxModule &Ptx, Measurements M) {
  // If ptxas refuses the text itself, all three measurements fail alike. The message for the
  // unedited text is enough.
  llvm::Error Failure = llvm::Error::success();
  for (std::optional<Measurements::Result> *R : {&M.Default, &M.AtMin, &M.AtMax})
    if (!**R)
      Failure = firstOf(std::move(Failure), (*R)->takeError());
  if (Failure)
    return Failure;

  std::vector<RegisterRegion> Regions;
  for (const PtxEntry &Entry : Ptx.entries()) {
    RegisterRegion R;
    R.Kernel = Entry.Name;
    for (auto [Into, From] : {std::pair(&R.Default, &M.Default), std::pair(&R.AtMin, &M.AtMin),
                              std::pair(&R.AtMax, &M.AtMax)}) {
      llvm::Expected<KernelResources> Resources = resourcesOf(***From, Entry.Name);
      if (!Resources)
        return Resources.takeError();
      *Into = std::move(*Resources);
    }
    if (Entry.UsesSetMaxNReg)
      R.AtMin = R.AtMax = R.Default;
    Regions.push_back(std::move(R));
  }
  return Regions;
}

} // namespace

llvm::Expected<std::vector<std::vector<RegisterRegion>>>
carve::findRegisterRegions(const Toolchain &T, CommandRunner &Runner,
                           llvm::ArrayRef<RegionRequest> Requests) {
  std::vector<Measurements> All(Requests.size());
  {
    llvm::DefaultThreadPool Pool(llvm::hardware_concurrency());
    for (auto [Request, M] : llvm::zip_equal(Requests, All)) {
      unsigned Most = std::min(LargestCap, Request.Ceiling.value_or(LargestCap));
      Pool.async([&] { M.Default.emplace(measureDefault(T, Runner, Request)); });
      Pool.async([&] { M.AtMin.emplace(measureAtCap(T, Runner, Request, LeastCap)); });
      Pool.async([&, Most] { M.AtMax.emplace(measureAtCap(T, Runner, Request, Most)); });
    }
    Pool.wait();
  }

  std::vector<std::vector<RegisterRegion>> Regions;
  llvm::Error Failure = llvm::Error::success();
  for (auto [Request, M] : llvm::zip_equal(Requests, All)) {
    llvm::Expected<std::vector<RegisterRegion>> Joined = joinRegions(Request.Ptx, std::move(M));
    if (Joined)
      Regions.push_back(std::move(*Joined));
    else
      Failure = firstOf(std::move(Failure), Joined.takeError());
  }
  if (Failure)
    return Failure;
  return Regions;
}

llvm::Expected<std::vector<RegisterRegion>>
carve::findRegisterRegions(const Toolchain &T, CommandRunner &Runner, const PtxModule &Ptx,
                           const DeviceImage &Image, std::optional<unsigned> Ceiling) {
  auto Regions = findRegisterRegions(T, Runner, {RegionRequest{Ptx, Image, Ceiling}});
  if (!Regions)
    return Regions.takeError();
  return std::move(Regions->front());
}

std::optional<unsigned> carve::registerCapOf(llvm::ArrayRef<std::string> Options) {
  std::optional<unsigned> Cap;
  for (size_t At = 0; At < Options.size();) {
    PtxasOption O = optionAt(Options, At);
    unsigned Value = 0;
    // ptxas takes the last value, and ignores one that no kernel can exceed.
    if (O.Name == "maxrregcount" && O.Value && !O.Value->getAsInteger(10, Value))
      Cap = Value == 0 || Value > LargestCap ? std::nullopt : std::optional(Value);
    At += O.Words;
  }
  return Cap;
}

std::optional<KnownReason> carve::reasonNotTunable(const PtxEntry &Entry, bool Relocatable) {
  if (Entry.UsesSetMaxNReg)
    return KnownReason::SetMaxNReg;
  if (Entry.UnknownStack)
    return KnownReason::UnknownStack;
  if (Relocatable && Entry.CallsExternal)
    return KnownReason::ExternalCall;
  // `ptxas -c` compiles a function once, for its tightest caller, so a cap would change its other
  // callers.
  if (Relocatable && Entry.CallsShared)
    return KnownReason::SharedCallee;
  return std::nullopt;
}
