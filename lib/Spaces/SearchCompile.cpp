// Compiles configurations to device code by the command's own options, in parallel, and computes
// metrics from the code.
#include "Spaces/SearchCompile.h"

#include "Metrics/Counts/PtxCounts.h"
#include "Nvcc/ArgumentList.h"
#include "Nvcc/DeviceWords.h"
#include "Nvcc/IncludedFiles.h"
#include "Ptx/ProfileName.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Parallel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <re2/re2.h>

#include <atomic>
#include <mutex>
#include <set>

using namespace carve;
namespace fs = llvm::sys::fs;

namespace {

/// What all compiles have in common.
struct CompileContext {
  const SearchState &S;
  DeviceModel Device;
  std::unique_ptr<re2::RE2> Pattern; ///< Null for every kernel.
  std::vector<std::string> Options;  ///< Without the macros of the space.
  std::vector<std::string> Sources;
};

/// The result of one configuration.
struct CompiledSpaceEntry {
  SearchedConfiguration Found;
  std::set<std::string> Files;
  std::string Note;
};

/// Returns the first line of a compiler's messages that reports an error.
std::string firstError(llvm::StringRef Stderr) {
  llvm::StringRef First;
  for (llvm::StringRef Line : llvm::split(Stderr, '\n')) {
    if (Line.contains("error") || Line.contains("fatal"))
      return Line.trim().str();
    if (First.empty())
      First = Line.trim();
  }
  return First.empty() ? "no message" : First.str();
}

/// Returns the command that compiles \p Source to a cubin and keeps its PTX in \p Dir.
Command cubinCommand(const CompileContext &C, const Configuration &Macros,
                     const std::string &Source, const std::string &Dir) {
  Command Compile;
  std::string Number = llvm::StringRef(C.S.Record.Arch).drop_front(strlen("sm_")).str();
  Compile.Argv = {C.S.T.Nvcc};
  llvm::append_range(Compile.Argv, C.Options);
  llvm::append_range(Compile.Argv, Macros.defines());
  llvm::append_range(Compile.Argv, std::vector<std::string>{
                                       "-gencode=arch=compute_" + Number + ",code=sm_" + Number,
                                       "-cubin", "--keep", "--keep-dir", Dir, "-Xptxas", "-v", "-o",
                                       Dir + "/code", Source});
  Compile.Dir = C.S.Request.Nvcc.WorkDir;
  // With this directory, files that an interrupted compiler leaves are removed with our own.
  Compile.Environment = {"TMPDIR=" + C.S.Work->path()};
  Compile.StdinPath = "/dev/null";
  Compile.CaptureStdout = Compile.CaptureStderr = true;
  return Compile;
}

/// Returns the content of the file in \p Dir whose name ends in \p Suffix.
llvm::Expected<std::string> readKept(llvm::StringRef Dir, llvm::StringRef Suffix) {
  std::error_code Failed;
  for (fs::directory_iterator It(Dir, Failed), End; !Failed && It != End; It.increment(Failed))
    if (llvm::StringRef(It->path()).ends_with(Suffix))
      return readFile(It->path());
  return malformed(Dir + ": nvcc left no file that ends in " + Suffix);
}

/// Returns why not even one block of \p Shape fits on an SM.
std::string whyNoBlockFits(const DeviceModel &D, const KernelResources &R,
                           const LaunchShape &Shape) {
  unsigned Threads = Shape.threadsPerBlock();
  auto Kernel = profileName(R.Name) + ": ";
  if (Threads > D.MaxThreadsPerBlock)
    return Kernel + llvm::utostr(Threads) + " threads per block, at most " +
           llvm::utostr(D.MaxThreadsPerBlock);
  if (R.StaticSmemBytes + Shape.DynamicSmemBytes > D.SmemPerBlockOptinBytes)
    return Kernel + llvm::utostr(R.StaticSmemBytes + Shape.DynamicSmemBytes) +
           " bytes of shared memory per block, at most " + llvm::utostr(D.SmemPerBlockOptinBytes);
  return Kernel + llvm::utostr(R.RegsPerThread) + " registers for each of " +
         llvm::utostr(Threads) + " threads, at most " + llvm::utostr(D.RegsPerBlock) + " per block";
}

/// Corrects the utilization for a grid that is too small to fill the GPU, which leaves SMs with
/// fewer blocks than fit. On a large GPU this, and not occupancy, is what limits coarsening. If
/// \p Sms is 0, the number of SMs is not known, as without a GPU.
void countResident(SearchedKernel &K, unsigned Sms) {
  if (Sms == 0 || K.Launch.Grid == LaunchSource::Unknown || !K.Metrics.Utilization)
    return;
  const auto &Grid = K.Launch.Shape.Grid;
  uint64_t Blocks = uint64_t(Grid[0]) * Grid[1] * Grid[2];
  uint64_t Resident = std::min<uint64_t>(K.Metrics.BlocksPerSm, llvm::divideCeil(Blocks, Sms));
  K.Metrics.Utilization = utilization(K.Metrics.Counts->Instructions, K.Metrics.Counts->Regions,
                                      K.Metrics.WarpsPerBlock, unsigned(Resident));
}

/// Sums up the metrics of all kernels (SearchedConfiguration::Efficiency, Utilization).
void sumUp(SearchedConfiguration &Found) {
  double Work = 0, Weighted = 0;
  Found.Counted = !Found.Kernels.empty();
  for (const SearchedKernel &K : Found.Kernels) {
    if (!K.Metrics.Counts || !K.Metrics.Utilization) {
      Found.Counted = false;
      return;
    }
    double OfKernel = K.Metrics.Counts->Instructions * K.Launch.threads();
    Work += OfKernel;
    Weighted += OfKernel * *K.Metrics.Utilization;
  }
  if (!Found.Counted || Work <= 0) {
    Found.Counted = false;
    return;
  }
  Found.Efficiency = 1 / Work;
  Found.Utilization = Weighted / Work;
}

/// Compiles one configuration, in a directory of its own.
class ConfigurationCompile {
public:
  ConfigurationCompile(const CompileContext &C, size_t Place) : C(C) {
    Entry.Found = C.S.Record.Configurations[Place];
    Dir = C.S.folderOf(Place) + ".cubin";
  }

  llvm::Expected<CompiledSpaceEntry> run() {
    auto Start = std::chrono::steady_clock::now();
    for (size_t I = 0; I < C.Sources.size() && Entry.Found.valid(); ++I)
      if (llvm::Error E = compileSource(C.Sources[I], Dir + "/" + std::to_string(I)))
        return E;
    (void)fs::remove_directories(Dir);
    if (Entry.Found.valid() && Entry.Found.Kernels.empty())
      return usageError(C.Pattern ? "--kernel '" + C.S.Request.KernelPattern +
                                        "' matches no kernel of the command"
                                  : std::string("the command's sources have no kernel"));
    sumUp(Entry.Found);
    Entry.Found.CompileS = secondsSince(Start);
    return std::move(Entry);
  }

private:
  llvm::Error compileSource(const std::string &Source, const std::string &Folder) {
    if (std::error_code E = fs::create_directories(Folder))
      return llvm::createFileError(Folder, E);
    auto Result = C.S.Runner.run(cubinCommand(C, Entry.Found.Macros, Source, Folder));
    if (!Result)
      return Result.takeError();
    if (Result->Interrupted)
      return interrupted(Result->Interrupted);
    if (!Result->succeeded()) {
      Entry.Found.Invalid = "does not compile: " + firstError(Result->Stderr);
      return llvm::Error::success();
    }
    if (auto Text = readKept(Folder, ".cpp1.ii")) {
      if (auto Files = includedFiles(*Text))
        Entry.Files.insert(Files->begin(), Files->end());
    } else {
      llvm::consumeError(Text.takeError());
    }
    llvm::Expected<std::string> Text = readKept(Folder, ".ptx");
    if (!Text)
      return Text.takeError();
    llvm::Expected<PtxModule> Module = PtxModule::parse(std::move(*Text));
    if (!Module)
      return Module.takeError();
    return addKernels(*Module, parsePtxasReport(Result->Stderr));
  }

  llvm::Error addKernels(const PtxModule &Module, const std::vector<KernelResources> &Reported) {
    for (const PtxEntry &Kernel : Module.entries()) {
      if (C.Pattern && !re2::RE2::PartialMatch(profileName(Kernel.Name), *C.Pattern))
        continue;
      auto Resources =
          llvm::find_if(Reported, [&](const auto &R) { return R.Name == Kernel.Name; });
      if (Resources == Reported.end())
        return malformed("ptxas reported nothing about kernel `" + Kernel.Name + "`");
      addKernel(Module, Kernel, *Resources);
      if (!Entry.Found.valid())
        return llvm::Error::success();
    }
    return llvm::Error::success();
  }

  void addKernel(const PtxModule &Module, const PtxEntry &Kernel,
                 const KernelResources &Resources) {
    auto Launch = programLaunch(C.S.Request.Launch, Entry.Found.Macros.Macros, Kernel, C.S.Traced);
    if (!Launch) {
      Entry.Found.Invalid = llvm::toString(Launch.takeError());
      return;
    }
    auto Trips = tripCountsOf(C.S.Request.Trips, Entry.Found.Macros.Macros);
    if (!Trips) {
      Entry.Found.Invalid = llvm::toString(Trips.takeError());
      return;
    }
    llvm::Expected<KernelCounts> Counted =
        countPtx(Module, Kernel.Name, *Trips, Launch->Shape.Block[0]);
    std::optional<KernelCounts> Counts;
    if (Counted)
      Counts = *Counted;
    else
      Entry.Note = profileName(Kernel.Name) + ": " + llvm::toString(Counted.takeError());
    SearchedKernel Found{Kernel.Name, *Launch,
                         staticMetrics(C.Device, Resources, Launch->Shape, Counts)};
    if (Found.Metrics.BlocksPerSm == 0)
      Entry.Found.Invalid = whyNoBlockFits(C.Device, Resources, Launch->Shape);
    countResident(Found, C.S.Record.Sms);
    Entry.Found.Kernels.push_back(std::move(Found));
  }

  const CompileContext &C;
  std::string Dir;
  CompiledSpaceEntry Entry;
};

llvm::Expected<CompileContext> contextOf(const SearchState &S) {
  llvm::Expected<DeviceModel> Device = loadDeviceModel(S.Request.DevicesDir, S.Record.Arch);
  if (!Device)
    return Device.takeError();
  CompileContext C{S, std::move(*Device), nullptr, {}, {}};
  if (!S.Request.KernelPattern.empty())
    C.Pattern = std::make_unique<re2::RE2>(S.Request.KernelPattern, re2::RE2::Quiet);
  std::vector<Argument> Kept;
  for (Argument &A : splitArguments(S.Line.Expanded))
    if (A.Is != Argument::Kind::Input)
      Kept.push_back(std::move(A));
  // With -lineinfo, the PTX has the lines of loops.
  bool ByLine = llvm::any_of(S.Request.Trips, [](const auto &T) { return T.IsLine; });
  C.Options = withoutDefinitions(deviceWords(joinArguments(Kept), /*DropArchs=*/true).Options,
                                 S.Request.Space.names());
  if (ByLine && !llvm::is_contained(C.Options, "-lineinfo"))
    C.Options.push_back("-lineinfo");
  for (const Input &I : S.Line.Inputs)
    if (I.Kind == InputKind::DeviceSource)
      C.Sources.push_back(I.Path);
  return C;
}

/// Adds the digests of \p Files, which the compiler names relative to its working directory.
void addInputs(SearchState &S, const std::set<std::string> &Files) {
  std::set<std::string> Known;
  for (const SearchInput &I : S.Record.Inputs)
    Known.insert(I.Path);
  for (const std::string &File : Files) {
    std::string Path = normalisedPath(File, S.Request.Nvcc.WorkDir);
    if (!Known.insert(Path).second)
      continue;
    llvm::Expected<std::string> Bytes = readFile(Path);
    S.Record.Inputs.push_back({Path, Bytes ? digestOf(*Bytes) : "-"});
    if (!Bytes)
      llvm::consumeError(Bytes.takeError());
  }
}

} // namespace

llvm::Error carve::compileSpace(SearchState &S) {
  std::vector<size_t> Places;
  for (size_t I = 0; I < S.Record.Configurations.size(); ++I)
    if (S.at(I).valid() && S.at(I).Kernels.empty())
      Places.push_back(I);
  if (Places.empty())
    return llvm::Error::success();
  auto Start = std::chrono::steady_clock::now();
  llvm::Expected<CompileContext> C = contextOf(S);
  if (!C)
    return C.takeError();
  std::vector<std::optional<llvm::Expected<CompiledSpaceEntry>>> Results(Places.size());
  std::atomic<unsigned> Done = 0;
  std::mutex Telling;
  auto Compile = [&](size_t I) {
    Results[I].emplace(ConfigurationCompile(*C, Places[I]).run());
    std::lock_guard Lock(Telling);
    S.Request.Progress->step("compiling", ++Done, Places.size());
  };
  runInParallel(Places.size(), Compile, S.Request.Jobs);
  llvm::Error Failure = llvm::Error::success();
  std::set<std::string> Files, Notes;
  for (size_t I = 0; I < Places.size(); ++I) {
    llvm::Expected<CompiledSpaceEntry> &Result = *Results[I];
    if (!Result) {
      llvm::Error E = Result.takeError();
      if (Failure)
        llvm::consumeError(std::move(E));
      else
        Failure = std::move(E);
      continue;
    }
    S.at(Places[I]) = std::move(Result->Found);
    Files.merge(Result->Files);
    if (!Result->Note.empty())
      Notes.insert(Result->Note);
  }
  for (const Input &I : S.Line.Inputs)
    Files.insert(I.Path);
  addInputs(S, Files);
  llvm::append_range(S.Record.Notes, Notes);
  S.Record.Compiled = Places.size();
  S.Record.CompileS = secondsSince(Start);
  return Failure;
}
