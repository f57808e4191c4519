#include "Metrics/MetricsPipeline.h"

#include "Cubin/Assembler.h"
#include "Cubin/Cubin.h"
#include "Device/DeviceImages.h"
#include "Metrics/Counts/CodeCounts.h"
#include "Metrics/Counts/PtxCounts.h"
#include "Ptx/ProfileName.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

/// Reads `N`, or `[KERNEL:]LOOP=N` with a loop's number, or `L` and a line.
llvm::Error applyTrips(MetricsOptions &O, llvm::StringRef Text) {
  auto Wrong = [&] {
    return usageError("--trips: `" + Text +
                      "`, expected N, LOOP=N or LLINE=N, N above 0, "
                      "optionally after `KERNEL:`");
  };
  auto [Where, Count] = Text.rsplit('=');
  TripAnnotation A;
  if (!Text.contains('=')) {
    if (Text.getAsDouble(O.AssumedTrips) || !(O.AssumedTrips > 0))
      return Wrong();
    return llvm::Error::success();
  }
  llvm::StringRef Loop = Where;
  // Names of kernels may have colons, too: `space::kernel`.
  if (size_t Colon = Where.rfind(':'); Colon != llvm::StringRef::npos) {
    A.Kernel = Where.take_front(Colon).str();
    Loop = Where.drop_front(Colon + 1);
  }
  A.IsLine = Loop.consume_front("L");
  if (Loop.getAsInteger(10, A.Number) || !A.Number || Count.getAsDouble(A.Trips) || !(A.Trips > 0))
    return Wrong();
  O.Trips.push_back(std::move(A));
  return llvm::Error::success();
}

llvm::Error parseGrid(llvm::StringRef Text, std::array<unsigned, 3> &Grid) {
  llvm::SmallVector<llvm::StringRef, 3> Parts;
  Text.split(Parts, 'x');
  bool Sound = Parts.size() <= 3;
  for (size_t I = 0; Sound && I < Parts.size(); ++I)
    Sound = !Parts[I].getAsInteger(10, Grid[I]) && Grid[I] > 0;
  if (Sound)
    return llvm::Error::success();
  return usageError("--grid: `" + Text + "`, expected X, XxY or XxYxZ blocks");
}

/// Options and arguments as they are given. All but the trips only make sense with a file.
struct FileWords {
  std::vector<std::string> Archs, Files, Trips;
  std::string Block, Grid;
};

Flags metricsFlags(FileWords &W, MetricsOptions &O) {
  Flags F("carve metrics");
  F.form("[options] FILE [-- NVCC-OPTION...]",
         "what the kernels' code costs, from PTX and machine code; needs no GPU");
  F.form("--count [options] -- COMMAND...",
         "the same for COMMAND's kernels, with loops counted in one run");
  F.arguments("FILE", W.Files, "CUDA source, PTX or a cubin: FILE.cu, FILE.ptx or FILE.cubin");
  F.behind("NVCC-OPTION...|COMMAND...", O.NvccOptions,
           "options that the source needs, or the program to run");
  F.list("--arch", "ARCH", W.Archs, "architectures such as sm_90, separated by commas").Default =
      "those of the nvcc options";
  F.text("--block", "XxYxZ", W.Block, "block size such as 256 or 32x8x1").Default =
      "the launch bounds, otherwise 256";
  F.text("--grid", "XxYxZ", W.Grid, "blocks of the grid, such as 1024 or 64x64").Default = "1";
  F.number("--dynamic-smem", "BYTES", O.DynamicSmemBytes, 0, 1u << 20,
           "dynamic shared memory of a block");
  F.list("--trips", "N|[KERNEL:]LOOP=N|[KERNEL:]LLINE=N", W.Trips,
         "trip count of a loop by its number or line; N alone: of all that are unknown")
      .Default = llvm::utostr(unsigned(O.AssumedTrips));
  F.flag("--count", O.Count, "run a program, and count its loops");
  F.list("--kernel", "NAME", O.Kernels, "count this kernel, even if it takes little time");
  F.seconds("--timeout", "SECONDS", O.TimeoutS, "limit for one run of the program");
  F.text("--stdin", "FILE", O.StdinPath, "standard input of the program");
  F.choice("--format", {"text", "json"}, O.Json, "how the metrics are printed");
  return F;
}

/// Checks the arguments for a run of the program.
llvm::Error checkCounting(const FileWords &W, const MetricsOptions &O) {
  if (!W.Archs.empty() || !W.Block.empty() || !W.Grid.empty() || O.DynamicSmemBytes)
    return usageError(
        "metrics: --count takes architecture and launch from the program, expected no "
        "--arch, --block, --grid or --dynamic-smem");
  if (!W.Files.empty() || O.NvccOptions.empty())
    return usageError("metrics: " + (W.Files.empty() ? "no command" : "`" + W.Files.front() + "`") +
                      ", expected: carve metrics --count [options] -- COMMAND...");
  return llvm::Error::success();
}

llvm::Error applyFileWords(const FileWords &W, MetricsOptions &O) {
  MetricsOptions Default;
  if (!O.Kernels.empty() || O.TimeoutS != Default.TimeoutS || O.StdinPath != Default.StdinPath)
    return usageError("metrics: --kernel, --timeout and --stdin need --count");
  for (llvm::StringRef List : W.Archs)
    for (llvm::StringRef Arch : llvm::split(List, ','))
      if (!llvm::is_contained(O.Archs, Arch))
        O.Archs.push_back(Arch.str());
  if (!W.Block.empty()) {
    auto Parsed = parseBlock("--block", W.Block);
    if (!Parsed)
      return Parsed.takeError();
    O.Block = *Parsed;
  }
  if (!W.Grid.empty())
    if (llvm::Error E = parseGrid(W.Grid, O.Grid))
      return E;
  constexpr llvm::StringLiteral Kinds[] = {".cu", ".ptx", ".cubin"};
  if (W.Files.size() != 1 || llvm::none_of(Kinds, [&](llvm::StringRef Kind) {
        return llvm::StringRef(W.Files[0]).ends_with(Kind);
      }))
    return usageError(
        "metrics: " + (W.Files.empty() ? "no file" : "`" + llvm::join(W.Files, " ") + "`") +
        ", expected one FILE.cu, FILE.ptx or FILE.cubin");
  O.File = W.Files[0];
  return llvm::Error::success();
}

LaunchShape shapeOf(const MetricsOptions &O, const EntryDirectives &D) {
  LaunchShape S;
  S.Grid = O.Grid;
  S.DynamicSmemBytes = O.DynamicSmemBytes;
  if (O.Block)
    S.Block = *O.Block;
  else if (D.ReqNTid || D.MaxNTid)
    S.Block = D.ReqNTid ? *D.ReqNTid : *D.MaxNTid;
  else
    S.Block = {256, 1, 1};
  return S;
}

/// Counts the machine code, and computes the metrics from what could be counted.
void finish(KernelMetrics &K, const DeviceModel &D, const KernelResources &R,
            llvm::StringRef CubinBytes, TripCounts Trips) {
  if (K.Ptx)
    Trips.OfPtx = K.Ptx->Loops;
  auto Code = countCodeKernel(CubinBytes, K.Kernel, Trips);
  std::optional<KernelCounts> Counts;
  if (Code)
    K.Code = std::move(*Code);
  else
    K.CodeReason = llvm::toString(Code.takeError());
  if (K.Code && K.Ptx)
    Counts = combinedCounts(*K.Code, *K.Ptx);
  else if (K.Code || K.Ptx)
    Counts = (K.Code ? K.Code : K.Ptx)->Counts;
  K.Metrics = staticMetrics(D, R, K.Shape, Counts);
}

llvm::Error addImage(const MetricsOptions &O, const Toolchain &T, CommandRunner &Runner,
                     llvm::StringRef DevicesDir, const DeviceImage &Image, MetricsReport &Report) {
  auto Model = loadDeviceModel(DevicesDir, Image.Arch);
  if (!Model)
    return Model.takeError();
  auto Text = readFile(Image.PtxPath);
  if (!Text)
    return Text.takeError();
  auto Module = PtxModule::parse(std::move(*Text));
  if (!Module)
    return llvm::createFileError(O.File, Module.takeError());
  auto Made = assemble(T, Runner, Module->text(), Image.PtxasOptions);
  if (!Made)
    return Made.takeError();
  for (const PtxEntry &Entry : Module->entries()) {
    KernelMetrics K;
    K.Kernel = Entry.Name;
    K.Arch = Image.Arch;
    K.Shape = shapeOf(O, Entry.Directives);
    TripCounts Trips = tripCountsFor(O, Entry.Name);
    auto Ptx = countPtxKernel(*Module, Entry.Name, Trips, K.Shape.Block[0]);
    if (!Ptx)
      return llvm::createFileError(O.File, Ptx.takeError());
    K.Ptx = std::move(*Ptx);
    auto Resources = llvm::find_if(Made->Kernels,
                                   [&](const KernelResources &R) { return R.Name == Entry.Name; });
    if (Resources == Made->Kernels.end())
      return malformed("ptxas' report has no kernel " + Entry.Name);
    finish(K, *Model, *Resources, Made->CubinBytes, Trips);
    Report.Kernels.push_back(std::move(K));
  }
  return llvm::Error::success();
}

/// Whether \p Counted has the loop of \p A.
bool hasLoop(const std::optional<CountedKernel> &Counted, const TripAnnotation &A) {
  return Counted && llvm::any_of(Counted->Loops, [&](const LoopCount &L) {
           return (A.IsLine ? L.Line : L.Number) == A.Number;
         });
}

/// Fails if no loop takes the annotation, because the counts would then not be what the user
/// thinks.
llvm::Error checkApplied(const TripAnnotation &A, const MetricsReport &Report,
                         llvm::StringRef Where) {
  bool Known = false, Lines = false;
  for (const KernelMetrics &K : Report.Kernels) {
    if (!A.Kernel.empty() && !isNameOf(A.Kernel, K.Kernel))
      continue;
    Known = true;
    if (hasLoop(K.Ptx, A) || hasLoop(K.Code, A))
      return llvm::Error::success();
    for (const auto &Counted : {K.Ptx, K.Code})
      Lines |= Counted && llvm::any_of(Counted->Loops, [](const auto &L) { return L.Line > 0; });
  }
  std::string Kernel = A.Kernel.empty() ? "" : " in kernel `" + A.Kernel + "`";
  if (!Known && !A.Kernel.empty())
    return usageError("--trips: no kernel `" + A.Kernel + "` in " + Where);
  if (A.IsLine)
    return usageError("--trips: no loop ends on line " + llvm::Twine(A.Number) + " of " + Where +
                      Kernel +
                      (Lines ? "; without --trips the report lists the loops"
                             : "; the code has no lines, expected -lineinfo after --"));
  return usageError("--trips: no loop " + llvm::Twine(A.Number) + " in " + Where + Kernel +
                    "; without --trips the report lists the loops");
}

llvm::Expected<MetricsReport> metricsOfCubin(const MetricsOptions &O, llvm::StringRef DevicesDir) {
  auto Bytes = readFile(O.File);
  if (!Bytes)
    return usageError("metrics: " + toString(Bytes.takeError()));
  auto Parsed = parseCubin(*Bytes);
  if (!Parsed)
    return llvm::createFileError(O.File, Parsed.takeError());
  std::string Arch = "sm_" + std::to_string(Parsed->SmVersion);
  auto Model = loadDeviceModel(DevicesDir, Arch);
  if (!Model)
    return Model.takeError();
  MetricsReport Report;
  for (const CubinKernel &Kernel : Parsed->Kernels) {
    KernelMetrics K;
    K.Kernel = Kernel.Resources.Name;
    K.Arch = Arch;
    K.Shape = shapeOf(O, {});
    finish(K, *Model, Kernel.Resources, *Bytes, tripCountsFor(O, K.Kernel));
    Report.Kernels.push_back(std::move(K));
  }
  return Report;
}

llvm::Expected<MetricsReport>
metricsOfSource(const MetricsOptions &O, llvm::function_ref<llvm::Expected<Toolchain>()> FindTools,
                CommandRunner &Runner, llvm::StringRef DevicesDir) {
  auto T = FindTools();
  if (!T)
    return T.takeError();
  auto Version = nvccVersion(*T, Runner);
  if (!Version)
    return Version.takeError();
  auto KeepDir = TempDir::create("carve-metrics");
  if (!KeepDir)
    return KeepDir.takeError();
  auto Images = makeDeviceImages({"metrics", O.File, O.Archs, O.NvccOptions}, *T, Runner,
                                 DevicesDir, KeepDir->path());
  if (!Images)
    return Images.takeError();
  MetricsReport Report;
  Report.NvccVersion = std::move(*Version);
  for (const DeviceImage &Image : *Images)
    if (llvm::Error E = addImage(O, *T, Runner, DevicesDir, Image, Report))
      return E;
  return Report;
}

} // namespace

llvm::Expected<MetricsOptions> carve::parseMetricsOptions(llvm::ArrayRef<std::string> Args) {
  MetricsOptions O;
  FileWords W;
  if (llvm::Error E = metricsFlags(W, O).parse(Args))
    return E;
  for (llvm::StringRef Text : W.Trips)
    if (llvm::Error E = applyTrips(O, Text))
      return E;
  if (llvm::Error E = O.Count ? checkCounting(W, O) : applyFileWords(W, O))
    return E;
  return O;
}

bool carve::isNameOf(llvm::StringRef Name, llvm::StringRef Mangled) {
  std::string Demangled = profileName(Mangled);
  return Name == Mangled || Name == Demangled ||
         Name == llvm::StringRef(Demangled).split('(').first;
}

llvm::Error carve::checkAnnotations(const MetricsOptions &O, const MetricsReport &Report,
                                    llvm::StringRef Where) {
  for (const TripAnnotation &A : O.Trips)
    if (llvm::Error E = checkApplied(A, Report, Where))
      return E;
  return llvm::Error::success();
}

TripCounts carve::tripCountsFor(const MetricsOptions &O, llvm::StringRef Kernel) {
  TripCounts Trips;
  Trips.Assumed = O.AssumedTrips;
  for (const TripAnnotation &A : O.Trips)
    if (A.Kernel.empty() || isNameOf(A.Kernel, Kernel))
      (A.IsLine ? Trips.ByLine : Trips.ByNumber)[A.Number] = A.Trips;
  return Trips;
}

llvm::Expected<MetricsReport>
carve::findMetrics(const MetricsOptions &O,
                   llvm::function_ref<llvm::Expected<Toolchain>()> FindTools, CommandRunner &Runner,
                   llvm::StringRef DevicesDir) {
  bool IsCubin = llvm::StringRef(O.File).ends_with(".cubin");
  auto Report =
      IsCubin ? metricsOfCubin(O, DevicesDir) : metricsOfSource(O, FindTools, Runner, DevicesDir);
  if (!Report)
    return Report.takeError();
  if (llvm::Error E = checkAnnotations(O, *Report, O.File))
    return E;
  return Report;
}
