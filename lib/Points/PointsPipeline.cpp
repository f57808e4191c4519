#include "Points/PointsPipeline.h"

#include "Device/DeviceImages.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <iterator>

using namespace carve;

namespace {

llvm::Error applyOption(PointsOptions &O, llvm::StringRef Name, llvm::StringRef Value) {
  if (Name == "--arch") {
    for (llvm::StringRef Arch : llvm::split(Value, ','))
      if (!llvm::is_contained(O.Archs, Arch))
        O.Archs.push_back(Arch.str());
    return llvm::Error::success();
  }
  if (Name == "--block") {
    for (llvm::StringRef Text : llvm::split(Value, ',')) {
      llvm::Expected<std::array<unsigned, 3>> Block = parseBlock("--block", Text);
      if (!Block)
        return Block.takeError();
      O.Blocks.push_back(*Block);
    }
    return llvm::Error::success();
  }
  if (Name == "--dynamic-smem") {
    if (Value.getAsInteger(10, O.DynamicSmemBytes))
      return usageError("--dynamic-smem: `" + Value + "`, expected a number of bytes");
    return llvm::Error::success();
  }
  if (Value != "text" && Value != "json")
    return usageError("--format: `" + Value + "`, expected text or json");
  O.Json = Value == "json";
  return llvm::Error::success();
}

} // namespace

llvm::Expected<PointsOptions> carve::parsePointsOptions(llvm::ArrayRef<std::string> Args) {
  constexpr llvm::StringLiteral Names[] = {"--arch", "--block", "--dynamic-smem", "--format"};
  PointsOptions O;
  for (size_t I = 0; I < Args.size(); ++I) {
    llvm::StringRef Word = Args[I];
    if (Word == "--") {
      O.NvccOptions.assign(Args.begin() + I + 1, Args.end());
      break;
    }
    if (!Word.starts_with("-")) {
      if (!O.File.empty())
        return usageError("points: second file `" + Word + "`, expected one");
      O.File = Word.str();
      continue;
    }
    auto [Name, Value] = Word.split('=');
    if (!llvm::is_contained(Names, Name))
      return usageError("points: unknown option `" + Name + "`, expected " +
                        llvm::join(std::begin(Names), std::end(Names), ", ") +
                        ", or `--` before nvcc's options");
    if (!Word.contains('=')) {
      if (++I == Args.size())
        return usageError(Name + ": no value, expected one");
      Value = Args[I];
    }
    if (llvm::Error E = applyOption(O, Name, Value))
      return E;
  }
  if (O.File.empty())
    return usageError("points: no file, expected FILE.cu or FILE.ptx");
  if (!isPtxFile(O.File) && !llvm::StringRef(O.File).ends_with(".cu"))
    return usageError("points: `" + O.File + "`, expected FILE.cu or FILE.ptx");
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
  K.Reason = reasonNotTunable(Entry, isRelocatable(Image));
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
