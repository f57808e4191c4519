#include "Explain/Modified/ModifiedModule.h"

#include "Cubin/AllottedRegisters.h"
#include "Device/Occupancy.h"
#include "Explain/Modified/ArithmeticOnly.h"
#include "Explain/Modified/MemoryOnly.h"
#include "Explain/Modified/ModifiedCode.h"
#include "Explain/Modified/ModifiedKernel.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/Variants/VariantCompiler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace carve;

/// Registers are allotted to threads in steps of this many.
static constexpr unsigned RegsStep = 8;

llvm::StringRef carve::nameOf(ModifiedPart Part) {
  return Part == ModifiedPart::Memory ? "memory-only" : "arithmetic-only";
}

/// Adds a version that ptxas may unroll and, if there are loops, one that it may not. check() later
/// keeps the one whose loops are those of the kernel.
void ModifiedModule::addVersions(size_t Kernel, ModifiedPart What) {
  const std::string &Name = Job.Kernels[Kernel].Traced.Kernel;
  for (bool Rolled : {false, true}) {
    ModifiedVersion V{
        Kernel, What,
        Name + (What == ModifiedPart::Memory ? "__carve_memory" : "__carve_arithmetic"), "", ""};
    V.Name += Rolled ? "_rolled" : "";
    auto Text = What == ModifiedPart::Memory ? memoryOnly(Source.Ptx, Name, V.Name)
                                             : arithmeticOnly(Source.Ptx, Name, V.Name);
    std::string Plain = Text ? *Text : "";
    if (Text && Rolled)
      Text = withoutUnrolling(*Text);
    if (Rolled && (!Text || *Text == Plain)) {
      llvm::consumeError(Text.takeError());
      return;
    }
    if (Text)
      V.Text = std::move(*Text);
    else
      V.Failure = firstLine(Text.takeError());
    Versions.push_back(std::move(V));
  }
}

/// Assembles the module with control copies of its kernels and with \p Some of the versions.
llvm::Expected<Assembled>
ModifiedModule::assembleWith(llvm::ArrayRef<const ModifiedVersion *> Some) const {
  std::vector<CloneRequest> Controls;
  for (size_t K : Kernels) {
    const std::string &Name = Job.Kernels[K].Traced.Kernel;
    Controls.push_back({Name, cloneName(Name, {}), {}});
  }
  auto Text = Source.Ptx.withClones(Controls);
  if (!Text)
    return Text.takeError();
  auto With = PtxModule::parse(std::move(*Text));
  if (!With)
    return With.takeError();
  std::vector<ModifiedClone> Clones;
  llvm::StringMap<EntryEdit> Edits;
  for (const ModifiedVersion *V : Some) {
    Clones.push_back({kernelOf(*V), V->Text});
    if (auto Cap = Caps.find(V->Name); Cap != Caps.end())
      Edits[V->Name] = Cap->second;
  }
  std::string Whole = withModifiedClones(*With, Clones);
  if (!Edits.empty()) {
    auto Parsed = PtxModule::parse(std::move(Whole));
    auto Capped = Parsed ? Parsed->withEdits(Edits) : Parsed.takeError();
    if (!Capped)
      return Capped.takeError();
    Whole = std::move(*Capped);
  }
  return assemble(Context.T, Context.Runner, Whole, Source.Image.PtxasOptions,
                  Source.Image.PtxName);
}

/// Assembles each version alone, so that a version that ptxas refuses does not cost the others.
void ModifiedModule::dropRefused() {
  for (ModifiedVersion &V : Versions) {
    if (!V.Failure.empty())
      continue;
    auto Alone = assembleWith(&V);
    if (!Alone)
      V.Failure = nameOf(V.What).str() + ": " + firstLine(Alone.takeError());
  }
}

llvm::Error ModifiedModule::assembleAll() {
  auto Sound = [&] {
    std::vector<const ModifiedVersion *> Some;
    for (const ModifiedVersion &V : Versions)
      if (V.Failure.empty())
        Some.push_back(&V);
    return Some;
  };
  auto Made = assembleWith(Sound());
  if (!Made) {
    logLine(Source.Source.Output + ": " + llvm::toString(Made.takeError()));
    dropRefused();
    Made = assembleWith(Sound());
  }
  if (!Made)
    return Made.takeError();
  Image = std::move(*Made);
  return llvm::Error::success();
}

const KernelResources *ModifiedModule::resources(llvm::StringRef Name) const {
  auto It = llvm::find_if(Image.Kernels, [&](const KernelResources &R) { return R.Name == Name; });
  return It == Image.Kernels.end() ? nullptr : &*It;
}

unsigned ModifiedModule::blocks(const ModifiedVersion &V, const KernelResources &R,
                                unsigned Regs) const {
  const LaunchShape &Shape = heaviestShape(Job.Kernels[V.Kernel].Traced);
  return blocksPerSm(Job.Model, {Regs, Shape.threadsPerBlock(), R.StaticSmemBytes,
                                 Shape.DynamicSmemBytes, R.Barriers});
}

std::string ModifiedModule::whyNot(const ModifiedVersion &V) const {
  const KernelResources *Own = resources(kernelOf(V)), *Its = resources(V.Name);
  if (!Own || !Its)
    return "ptxas did not report it";
  auto Whole = codeMix(Image.CubinBytes, kernelOf(V));
  auto Modified = Whole ? codeMix(Image.CubinBytes, V.Name) : Whole.takeError();
  if (!Modified)
    return firstLine(Modified.takeError());
  std::string Why = V.What == ModifiedPart::Memory ? whyNotMemoryOnly(*Whole, *Modified)
                                                   : whyNotArithmeticOnly(*Whole, *Modified);
  if (!Why.empty())
    return Why;
  unsigned Wanted = blocks(V, *Own, Own->RegsPerThread),
           Has = blocks(V, *Its, std::max(Own->RegsPerThread, Its->RegsPerThread));
  if (Wanted != Has)
    return llvm::utostr(Has) + " of its blocks fit on an SM, expected " + llvm::utostr(Wanted);
  return "";
}

/// Caps the registers of a version that has more than the kernel, if it would have fewer blocks per
/// SM.
void ModifiedModule::capTheLarge() {
  for (const ModifiedVersion &V : Versions) {
    const KernelResources *Own = resources(kernelOf(V)), *Its = resources(V.Name);
    if (V.Failure.empty() && Own && Its &&
        blocks(V, *Its, Its->RegsPerThread) < blocks(V, *Own, Own->RegsPerThread))
      Caps[V.Name].RegisterCap = llvm::alignTo(Own->RegsPerThread, RegsStep);
  }
}

/// Keeps the first version of each kernel and part whose code is right, or the reason why there is
/// none.
void ModifiedModule::check() {
  std::vector<ModifiedVersion> Kept;
  for (ModifiedVersion &V : Versions) {
    if (V.Failure.empty())
      if (std::string Why = whyNot(V); !Why.empty())
        V.Failure = nameOf(V.What).str() + ": " + Why;
    auto Other = llvm::find_if(Kept, [&](const ModifiedVersion &Old) {
      return Old.Kernel == V.Kernel && Old.What == V.What;
    });
    if (Other == Kept.end())
      Kept.push_back(std::move(V));
    else if (!Other->Failure.empty() && V.Failure.empty())
      *Other = std::move(V);
  }
  Versions = std::move(Kept);
}

/// Allots each version at least the kernel's registers. With fewer, more of its blocks would run
/// side by side.
llvm::Error ModifiedModule::allotRegisters() {
  std::vector<std::pair<std::string, unsigned>> Least;
  for (const ModifiedVersion &V : Versions)
    if (V.Failure.empty())
      Least.emplace_back(V.Name, resources(kernelOf(V))->RegsPerThread);
  auto Bytes = withRegistersAllotted(Image.CubinBytes, Least);
  if (!Bytes)
    return Bytes.takeError();
  Image.CubinBytes = std::move(*Bytes);
  return llvm::Error::success();
}

void ModifiedModule::make(llvm::ArrayRef<size_t> Wanted) {
  Kernels = Wanted.vec();
  for (size_t K : Kernels)
    for (ModifiedPart What : {ModifiedPart::Memory, ModifiedPart::Arithmetic})
      addVersions(K, What);
  llvm::Error E = llvm::Error::success();
  if (llvm::any_of(Versions, [](const ModifiedVersion &V) { return V.Failure.empty(); })) {
    E = assembleAll();
    if (!E)
      capTheLarge();
    if (!E && !Caps.empty())
      E = assembleAll();
    if (!E)
      check();
    if (!E)
      E = allotRegisters();
  }
  if (E)
    Failure = firstLine(std::move(E));
}
