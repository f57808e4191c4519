#include "Points/PointsPipeline.h"

#include "Device/DeviceImages.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <iterator>

using namespace carve;

namespace {

/// The words as they are given.
struct PointsWords {
  std::vector<std::string> Archs, Blocks, Files;
};

Flags pointsFlags(PointsWords &W, PointsOptions &O) {
  Flags F("carve points");
  F.form("[options] FILE [-- NVCC-OPTION...]",
         "register regions and critical points of FILE's kernels; needs no GPU");
  F.arguments("FILE", W.Files, "CUDA source or PTX: FILE.cu or FILE.ptx");
  F.behind("NVCC-OPTION...", O.NvccOptions, "options that the source needs, such as -I and -D");
  F.list("--arch", "ARCH", W.Archs, "architectures such as sm_90, separated by commas").Default =
      "those of the nvcc options";
  F.list("--block", "XxYxZ", W.Blocks, "block sizes such as 256 or 32x8x1, separated by commas")
      .Default = "the launch bounds, otherwise 256";
  F.number("--dynamic-smem", "BYTES", O.DynamicSmemBytes, 0, 1u << 20,
           "dynamic shared memory of a block");
  F.choice("--format", {"text", "json"}, O.Json, "how the points are printed");
  return F;
}

llvm::Error readBlocks(const PointsWords &W, PointsOptions &O) {
  for (llvm::StringRef List : W.Blocks)
    for (llvm::StringRef Text : llvm::split(List, ',')) {
      llvm::Expected<std::array<unsigned, 3>> Block = parseBlock("--block", Text);
      if (!Block)
        return Block.takeError();
      O.Blocks.push_back(*Block);
    }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<PointsOptions> carve::parsePointsOptions(llvm::ArrayRef<std::string> Args) {
  PointsOptions O;
  PointsWords W;
  if (llvm::Error E = pointsFlags(W, O).parse(Args))
    return E;
  for (llvm::StringRef List : W.Archs)
    for (llvm::StringRef Arch : llvm::split(List, ','))
      if (!llvm::is_contained(O.Archs, Arch))
        O.Archs.push_back(Arch.str());
  if (llvm::Error E = readBlocks(W, O))
    return E;
  if (W.Files.empty())
    return usageError("carve points: no file, expected FILE.cu or FILE.ptx");
  if (W.Files.size() > 1)
    return usageError("carve points: second file '" + W.Files[1] + "', expected one");
  O.File = W.Files.front();
  if (!isPtxFile(O.File) && !llvm::StringRef(O.File).ends_with(".cu"))
    return usageError("carve points: '" + O.File + "', expected FILE.cu or FILE.ptx");
  return O;
}

namespace {

/// Whether the directives accept a launch with \p Block, leaving registers aside.
bool acceptsBlock(const EntryDirectives &D, const std::array<unsigned, 3> &Block) {
  if (D.ReqNTid)
    return Block == *D.ReqNTid;
  return Block[0] * Block[1] * Block[2] <= D.maxThreadsPerBlock();
}

std::array<unsigned, 3> defaultBlock(const EntryDirectives &D) {
  if (D.ReqNTid)
    return *D.ReqNTid;
  return D.MaxNTid.value_or(std::array<unsigned, 3>{256, 1, 1});
}

bool isRelocatable(const DeviceImage &Image) {
  return llvm::is_contained(Image.PtxasOptions, "--compile-only") ||
         llvm::is_contained(Image.PtxasOptions, "-c");
}

KernelPoints pointsOf(const PointsOptions &O, const DeviceModel &D, const DeviceImage &Image,
                      const PtxEntry &Entry, RegisterRegion Region) {
  KernelPoints K;
  K.Arch = Image.Arch;
  K.Directives = Entry.Directives;
  if (auto Reason = reasonNotTunable(Entry, isRelocatable(Image)))
    K.Reason = identifierOf(*Reason).str();
  auto Blocks = O.Blocks;
  if (Blocks.empty())
    Blocks.push_back(defaultBlock(Entry.Directives));
  for (const std::array<unsigned, 3> &Block : Blocks) {
    LaunchShape Shape;
    Shape.Block = Block;
    Shape.DynamicSmemBytes = O.DynamicSmemBytes;
    ShapePoints S{Block, O.DynamicSmemBytes, {}};
    if (!K.Reason && acceptsBlock(Entry.Directives, Block))
      S.Points = criticalPoints(D, Region, Shape);
    K.Shapes.push_back(std::move(S));
  }
  K.Region = std::move(Region);
  return K;
}

/// Sorts kernels by their first appearance, so that the architectures of each one follow each
/// other.
std::vector<KernelPoints> groupByKernel(std::vector<KernelPoints> Kernels) {
  llvm::StringMap<size_t> GroupOf;
  std::vector<std::vector<KernelPoints>> Groups;
  for (KernelPoints &K : Kernels) {
    auto [It, IsNew] = GroupOf.try_emplace(K.Region.Kernel, Groups.size());
    if (IsNew)
      Groups.emplace_back();
    Groups[It->second].push_back(std::move(K));
  }
  std::vector<KernelPoints> Grouped;
  for (std::vector<KernelPoints> &Group : Groups)
    std::move(Group.begin(), Group.end(), std::back_inserter(Grouped));
  return Grouped;
}

llvm::Expected<std::vector<KernelPoints>> pointsOfImages(const PointsOptions &O, const Toolchain &T,
                                                         CommandRunner &Runner,
                                                         llvm::StringRef DevicesDir,
                                                         llvm::ArrayRef<DeviceImage> Images) {
  std::vector<PtxModule> Modules;
  std::vector<DeviceModel> Models;
  for (const DeviceImage &Image : Images) {
    llvm::Expected<DeviceModel> Model = loadDeviceModel(DevicesDir, Image.Arch);
    if (!Model)
      return Model.takeError();
    Models.push_back(std::move(*Model));
    llvm::Expected<std::string> Text = readFile(Image.PtxPath);
    if (!Text)
      return Text.takeError();
    llvm::Expected<PtxModule> Module = PtxModule::parse(std::move(*Text));
    if (!Module)
      return llvm::createFileError(O.File, Module.takeError());
    Modules.push_back(std::move(*Module));
  }
  std::vector<RegionRequest> Requests;
  for (auto [Module, Image] : llvm::zip_equal(Modules, Images))
    Requests.push_back({Module, Image, registerCapOf(Image.PtxasOptions)});
  auto Regions = findRegisterRegions(T, Runner, Requests);
  if (!Regions)
    return Regions.takeError();

  std::vector<KernelPoints> Kernels;
  for (auto [Model, Image, Module, OfImage] : llvm::zip_equal(Models, Images, Modules, *Regions))
    for (auto [Entry, Region] : llvm::zip_equal(Module.entries(), OfImage))
      Kernels.push_back(pointsOf(O, Model, Image, Entry, std::move(Region)));
  return groupByKernel(std::move(Kernels));
}

} // namespace

llvm::Expected<PointsReport> carve::findPoints(const PointsOptions &O, const Toolchain &T,
                                               CommandRunner &Runner, llvm::StringRef DevicesDir) {
  llvm::Expected<std::string> Version = nvccVersion(T, Runner);
  if (!Version)
    return Version.takeError();
  llvm::Expected<TempDir> KeepDir = TempDir::create("carve-points");
  if (!KeepDir)
    return KeepDir.takeError();
  auto Images = makeDeviceImages({"points", O.File, O.Archs, O.NvccOptions}, T, Runner, DevicesDir,
                                 KeepDir->path());
  if (!Images)
    return Images.takeError();
  auto Kernels = pointsOfImages(O, T, Runner, DevicesDir, *Images);
  if (!Kernels)
    return Kernels.takeError();
  return PointsReport{std::move(*Version), std::move(*Kernels)};
}
