#include "Driver/PointsPipeline.h"

#include "Nvcc/DeviceWords.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#include <re2/re2.h>

#include <cstring>
#include <iterator>

using namespace carve;
namespace path = llvm::sys::path;

namespace {

using Words = std::vector<std::string>;

bool isPtx(llvm::StringRef File) { return File.ends_with(".ptx"); }

/// `256`, `32x8` or `32x8x1`, within CUDA's limits of a block.
llvm::Expected<std::array<unsigned, 3>> parseBlock(llvm::StringRef Text) {
  constexpr unsigned Largest[] = {1024, 1024, 64};
  constexpr unsigned LargestThreads = 1024;
  auto Wrong = [&](const llvm::Twine &Why) {
    return usageError("--block: `" + Text + "` " + Why + ", expected X, XxY or XxYxZ");
  };
  llvm::SmallVector<llvm::StringRef, 3> Parts;
  Text.split(Parts, 'x');
  if (Parts.size() > 3)
    return Wrong("has more than three extents");
  std::array<unsigned, 3> Block{1, 1, 1};
  uint64_t Threads = 1;
  for (auto [I, Part] : llvm::enumerate(Parts)) {
    if (Part.getAsInteger(10, Block[I]) || Block[I] == 0)
      return Wrong("is no block of threads");
    if (Block[I] > Largest[I])
      return Wrong("exceeds " + llvm::Twine(Largest[I]) + " in dimension " + llvm::Twine(I + 1));
    Threads *= Block[I];
  }
  if (Threads > LargestThreads)
    return Wrong("has " + llvm::Twine(Threads) + " threads of at most 1024");
  return Block;
}

llvm::Error applyOption(PointsOptions &O, llvm::StringRef Name, llvm::StringRef Value) {
  if (Name == "--arch") {
    for (llvm::StringRef Arch : llvm::split(Value, ','))
      if (!llvm::is_contained(O.Archs, Arch))
        O.Archs.push_back(Arch.str());
    return llvm::Error::success();
  }
  if (Name == "--block") {
    for (llvm::StringRef Text : llvm::split(Value, ',')) {
      llvm::Expected<std::array<unsigned, 3>> Block = parseBlock(Text);
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
  if (!isPtx(O.File) && !llvm::StringRef(O.File).ends_with(".cu"))
    return usageError("points: `" + O.File + "`, expected FILE.cu or FILE.ptx");
  return O;
}

namespace {

void addArchitectures(Words &Options, llvm::ArrayRef<std::string> Archs) {
  for (llvm::StringRef Arch : Archs) {
    std::string Number = Arch.drop_front(strlen("sm_")).str();
    Options.push_back("-gencode=arch=compute_" + Number + ",code=sm_" + Number);
  }
}

/// Runs nvcc with \p Front, the options and \p Back.
llvm::Expected<CommandResult> runNvcc(const Toolchain &T, CommandRunner &Runner, Words Front,
                                      const Words &Options, const Words &Back) {
  Command C;
  C.Argv = {T.Nvcc};
  llvm::append_range(C.Argv, Front);
  llvm::append_range(C.Argv, Options);
  llvm::append_range(C.Argv, Back);
  return runChecked(Runner, std::move(C));
}

/// The ptxas calls of a command whose source is PTX: there is no host object to plan for.
llvm::Expected<std::vector<DeviceImage>> parsePtxDryrun(llvm::StringRef Text,
                                                        llvm::StringRef File) {
  std::vector<DeviceImage> Images;
  for (llvm::StringRef Line : llvm::split(Text, '\n')) {
    llvm::StringRef Tool = Line.ltrim("#$ ").split(' ').first.trim('"');
    if (!Line.starts_with("#$ ") || path::filename(Tool) != "ptxas")
      continue;
    llvm::Expected<Words> Call = splitCommand(Line.drop_front(strlen("#$ ")), {});
    if (!Call)
      return Call.takeError();
    DeviceImage Image;
    Image.PtxPath = File.str();
    for (size_t I = 1; I < Call->size(); ++I) {
      llvm::StringRef Word = (*Call)[I];
      if (Word == "-o") {
        ++I;
        continue;
      }
      if (Word == File)
        continue;
      Image.PtxasOptions.push_back(Word.str());
      if (Word.consume_front("-arch="))
        Image.Arch = Word.str();
    }
    Images.push_back(std::move(Image));
  }
  return Images;
}

/// Makes the PTX of a CUDA source as the command would, without the host compiler, in \p KeepDir.
llvm::Expected<std::vector<DeviceImage>> imagesOfSource(const PointsOptions &O, const Toolchain &T,
                                                        CommandRunner &Runner,
                                                        llvm::StringRef KeepDir) {
  Words Options = deviceWords(O.NvccOptions, !O.Archs.empty()).Options;
  addArchitectures(Options, O.Archs);
  Words Keep = {"--keep", "--keep-dir", KeepDir.str()};
  Words Plan = Keep;
  Plan.push_back("--dryrun");
  auto Dryrun = runNvcc(T, Runner, std::move(Plan), Options, {"-c", O.File});
  if (!Dryrun)
    return Dryrun.takeError();
  llvm::Expected<BuildPlan> Planned = parseDryrun(Dryrun->Stderr);
  if (!Planned)
    return Planned.takeError();
  std::vector<DeviceImage> Images;
  for (DeviceUnit &Unit : Planned->Units)
    llvm::append_range(Images, Unit.Images);
  if (Images.empty())
    return usageError("points: the command names no real architecture, expected --arch=sm_XX");

  Words Back = {"-fatbin", "-o", KeepDir.str() + "/points.fatbin", O.File};
  auto Compile = runNvcc(T, Runner, std::move(Keep), Options, Back);
  if (!Compile)
    return Compile.takeError();
  return Images;
}

/// The images of a PTX file: for the architectures asked for, else for its own `.target`.
llvm::Expected<std::vector<DeviceImage>>
imagesOfPtx(const PointsOptions &O, const Toolchain &T, CommandRunner &Runner,
            llvm::StringRef DevicesDir, llvm::StringRef KeepDir, llvm::StringRef Text) {
  DeviceWords Given = deviceWords(O.NvccOptions, !O.Archs.empty());
  Words Archs = O.Archs;
  if (Archs.empty() && !Given.NamesArchs) {
    static const re2::RE2 Target(R"((?m)^\s*\.target\s+(\w+))");
    std::string Arch;
    if (!re2::RE2::PartialMatch(re2::StringPiece(Text.data(), Text.size()), Target, &Arch))
      return usageError("points: `" + O.File + "` has no .target, expected PTX");
    if (auto Model = loadDeviceModel(DevicesDir, Arch); !Model)
      return usageError("points: `" + O.File + "`: .target: " + toString(Model.takeError()));
    Archs.push_back(Arch);
  }
  addArchitectures(Given.Options, Archs);
  auto Dryrun = runNvcc(T, Runner, {"--dryrun", "--keep", "--keep-dir", KeepDir.str()},
                        Given.Options, {"-fatbin", "-o", KeepDir.str() + "/points.fatbin", O.File});
  if (!Dryrun)
    return Dryrun.takeError();
  return parsePtxDryrun(Dryrun->Stderr, O.File);
}

/// Whether a launch with \p Block passes the directives' own check, registers aside.
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

/// Kernels in order of their first appearance, the architectures of each behind one another.
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
  llvm::Expected<std::string> Text = readFile(O.File);
  if (!Text)
    return usageError("points: " + toString(Text.takeError()));
  for (llvm::StringRef Arch : O.Archs)
    if (auto Model = loadDeviceModel(DevicesDir, Arch); !Model)
      return usageError("--arch: " + toString(Model.takeError()));
  llvm::Expected<std::string> Version = nvccVersion(T, Runner);
  if (!Version)
    return Version.takeError();
  llvm::Expected<TempDir> KeepDir = TempDir::create("carve-points");
  if (!KeepDir)
    return KeepDir.takeError();
  auto Images = isPtx(O.File) ? imagesOfPtx(O, T, Runner, DevicesDir, KeepDir->path(), *Text)
                              : imagesOfSource(O, T, Runner, KeepDir->path());
  if (!Images)
    return Images.takeError();
  auto Kernels = pointsOfImages(O, T, Runner, DevicesDir, *Images);
  if (!Kernels)
    return Kernels.takeError();
  return PointsReport{std::move(*Version), std::move(*Kernels)};
}
