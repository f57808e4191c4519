#include "Workload/VisibleGpus.h"

#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace fs = llvm::sys::fs;

/// The value in the line `Name:   value` of an `information` file; empty if there is none.
static llvm::StringRef valueOf(llvm::StringRef Text, llvm::StringRef Name) {
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    if (Line.consume_front(Name) && Line.consume_front(":"))
      return Line.trim();
  }
  return "";
}

static std::optional<SystemGpu> readGpu(const std::string &Dir, llvm::StringRef DevDir) {
  std::optional<std::string> Text = readProcFile(Dir + "/information");
  if (!Text)
    return std::nullopt;
  llvm::StringRef Minor = valueOf(*Text, "Device Minor");
  if (!Minor.empty() && !fs::exists(DevDir + "/nvidia" + Minor))
    return std::nullopt;
  SystemGpu Gpu;
  Gpu.Bus = llvm::sys::path::filename(Dir).str();
  Gpu.Model = valueOf(*Text, "Model").str();
  Gpu.Uuid = valueOf(*Text, "GPU UUID").str();
  // The driver writes `GPU-????????-????-...` while no program has the GPU open.
  if (llvm::StringRef(Gpu.Uuid).contains('?'))
    Gpu.Uuid.clear();
  return Gpu;
}

std::vector<SystemGpu> carve::systemGpus(llvm::StringRef ProcDir, llvm::StringRef DevDir) {
  std::vector<SystemGpu> All;
  std::error_code Failed;
  for (fs::directory_iterator I(ProcDir, Failed), End; I != End && !Failed; I.increment(Failed))
    if (auto Gpu = readGpu(I->path(), DevDir))
      All.push_back(std::move(*Gpu));
  llvm::sort(All, [](const SystemGpu &A, const SystemGpu &B) { return A.Bus < B.Bus; });
  return All;
}

/// The GPU that \p Word of CUDA_VISIBLE_DEVICES names; null if that is not certain.
static const SystemGpu *namedGpu(const std::vector<SystemGpu> &All, llvm::StringRef Word,
                                 bool InBusOrder) {
  size_t Number = 0;
  if (!Word.getAsInteger(10, Number))
    return InBusOrder && Number < All.size() ? &All[Number] : nullptr;
  const SystemGpu *Found = nullptr;
  for (const SystemGpu &Gpu : All)
    if (Word.starts_with("GPU-") && llvm::StringRef(Gpu.Uuid).starts_with(Word)) {
      if (Found)
        return nullptr;
      Found = &Gpu;
    }
  return Found;
}

std::optional<std::vector<SystemGpu>> carve::certainGpus(const std::vector<SystemGpu> &All,
                                                         const std::optional<std::string> &Visible,
                                                         const std::optional<std::string> &Order) {
  if (!Visible || Visible->empty())
    return All;
  bool InBusOrder = Order == "PCI_BUS_ID" || llvm::all_of(All, [&](const SystemGpu &Gpu) {
                      return Gpu.Model == All.front().Model;
                    });
  llvm::SmallVector<llvm::StringRef> Words;
  llvm::StringRef(*Visible).split(Words, ',');
  std::vector<SystemGpu> Seen;
  for (llvm::StringRef Word : Words) {
    const SystemGpu *Gpu = namedGpu(All, Word.trim(), InBusOrder);
    if (!Gpu)
      return std::nullopt;
    if (llvm::none_of(Seen, [&](const SystemGpu &Other) { return Other.Bus == Gpu->Bus; }))
      Seen.push_back(*Gpu);
  }
  return Seen;
}

std::vector<SystemGpu> carve::visibleGpus(const std::vector<SystemGpu> &All,
                                          const std::optional<std::string> &Visible,
                                          const std::optional<std::string> &Order) {
  return certainGpus(All, Visible, Order).value_or(All);
}
