// Measures two programs against each other under the probe:
//
//   Compare [--pairs=N] [--timeout=S] [--prefix=TREE] [--kernels] A-COMMAND B-COMMAND
//
// Each command is one word, quoted. They run in alternating order. The program prints tab-separated
// names and values: medians of GPU time, the ratio A/B (above 1: B is faster) with its 95 %
// interval by order statistics, the same for wall time, and whether the outputs are equal except
// for lines that differ between two runs of A. Exits with 2 if they are not.
//
// --kernels adds a line for each kernel, by falling time: `kernel`, its name as in profiles, the
// medians of its GPU time in ms in A and in B, the ratio with its interval, its launches in a run
// of A and of B, and the registers per thread in both. Further entries count as their kernel.
#include "Compile/DriverOptions.h"
#include "Protocol/Protocol.h"
#include "Ptx/ProfileName.h"
#include "Support/Error.h"
#include "Support/Flags.h"
#include "Tune/Selection/Statistics.h"
#include "Workload/Workload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace carve;

namespace {

struct Settings {
  unsigned Pairs = 9;
  double TimeoutS = 600;
  std::string Prefix;
  bool Kernels = false; ///< Whether the times of each kernel are printed.
  std::vector<std::string> Commands[2];
};

/// The launches of one kernel in one run.
struct KernelTime {
  uint64_t TotalNs = 0, Launches = 0;
  uint64_t HeaviestNs = 0;    ///< The time of the launches with RegsPerThread.
  unsigned RegsPerThread = 0; ///< Of the code that most of the time went into.
};

/// What was measured of one of the two programs.
struct Series {
  std::vector<double> GpuMs, WallS;
  std::vector<std::map<std::string, KernelTime>> Kernels; ///< For each run, by name.
};

std::optional<std::string> environment(llvm::StringRef Name) {
  return llvm::sys::Process::GetEnv(Name);
}

std::vector<std::string> splitWords(const std::string &Text) {
  llvm::BumpPtrAllocator Memory;
  llvm::StringSaver Saver(Memory);
  llvm::SmallVector<const char *, 16> Words;
  llvm::cl::TokenizeGNUCommandLine(Text, Saver, Words);
  return std::vector<std::string>(Words.begin(), Words.end());
}

llvm::Expected<Settings> readSettings(llvm::ArrayRef<std::string> Args) {
  Settings S;
  S.Prefix = environment("CARVE_TEST_PREFIX").value_or(CARVE_BUILD_TREE);
  Flags F("Compare");
  F.form("[options] COMMAND COMMAND", "the times of two programs, measured in turns");
  std::vector<std::string> Commands;
  F.arguments("COMMAND COMMAND", Commands, "the programs, each with its arguments as one word");
  F.number("--pairs", "N", S.Pairs, 1, 1000, "runs of each");
  F.seconds("--timeout", "SECONDS", S.TimeoutS, "limit for one run");
  F.text("--prefix", "FOLDER", S.Prefix, "where carve-nvcc is installed");
  F.flag("--kernels", S.Kernels, "also print the times of each kernel");
  if (llvm::Error E = F.parse(Args))
    return E;
  if (Commands.size() != 2)
    return usageError("Compare: expected two commands, each one word");
  for (int I = 0; I < 2; ++I)
    if ((S.Commands[I] = splitWords(Commands[I])).empty())
      return usageError("Compare: an empty command");
  return S;
}

/// Runs \p Argv once. Fails if the run fails or lost records.
llvm::Expected<RunRecord> runOnce(const Settings &S, const ProbeSetup &Probe, size_t Which) {
  WorkloadSpec Spec;
  Spec.Argv = S.Commands[Which];
  Spec.TimeoutS = S.TimeoutS;
  // The programs are compared as users run them.
  Spec.Environment = {std::string(probe::EntriesVariable) + "=on"};
  ProcessRunner Runner;
  llvm::Expected<RunRecord> Run = runWorkload(Spec, Probe, {}, Runner);
  if (!Run)
    return Run;
  if (!Run->succeeded())
    return malformed(Spec.Argv.front() + " ended with exit status " +
                     llvm::Twine(Run->Output.ExitStatus) + ": " + Run->Stderr);
  if (Run->Probe.Dropped || Run->Probe.Incomplete || !Run->Probe.Aside.empty() ||
      Run->Probe.Kernels.empty())
    return malformed(Spec.Argv.front() + ": its record is not whole");
  return Run;
}

/// Returns the name of the kernel that \p Mangled is a form of. furtherEntryName() makes the names
/// of its further entries.
std::string kernelName(llvm::StringRef Mangled) {
  return profileName(Mangled.substr(0, Mangled.rfind("__carve_e")));
}

std::map<std::string, KernelTime> kernelTimes(const ProbeRecord &Record) {
  std::map<std::string, KernelTime> Times;
  for (const KernelLaunches &L : Record.Kernels) {
    KernelTime &T = Times[kernelName(L.Kernel)];
    T.TotalNs += L.TotalNs;
    T.Launches += L.Launches;
    if (L.TotalNs < T.HeaviestNs)
      continue;
    T.HeaviestNs = L.TotalNs;
    T.RegsPerThread = L.RegsPerThread;
  }
  return Times;
}

/// Runs the two in alternation. Returns what differs between their outputs, or nothing.
llvm::Expected<std::optional<std::string>> measure(const Settings &S, const ProbeSetup &Probe,
                                                   Series (&Measured)[2]) {
  OutputReference Reference;
  std::vector<ProgramOutput> Others;
  // The first run of each warms up caches and files: its output is compared, and its time is not
  // counted.
  for (unsigned Pair = 0; Pair <= S.Pairs; ++Pair)
    for (size_t Turn : {0, 1}) {
      size_t Which = Pair % 2 ? 1 - Turn : Turn;
      llvm::Expected<RunRecord> Run = runOnce(S, Probe, Which);
      if (!Run)
        return Run.takeError();
      if (Which == 0)
        Reference.addDefault(Run->Output);
      else
        Others.push_back(Run->Output);
      if (Pair == 0)
        continue;
      Measured[Which].GpuMs.push_back(double(Run->Probe.totalNs()) / 1e6);
      Measured[Which].WallS.push_back(Run->WallS);
      Measured[Which].Kernels.push_back(kernelTimes(Run->Probe));
    }
  for (const ProgramOutput &Output : Others)
    if (auto Difference = Reference.difference(Output))
      return Difference;
  return std::optional<std::string>();
}

RatioInterval ratioOf(const std::vector<double> &A, const std::vector<double> &B) {
  std::vector<double> Ratios;
  for (size_t I = 0; I < A.size(); ++I)
    Ratios.push_back(A[I] / B[I]);
  return ratioInterval(std::move(Ratios));
}

/// Returns the time in ms of the kernel \p Name in each run, or nothing if some run did not launch
/// it.
std::vector<double> kernelMs(const Series &Of, const std::string &Name) {
  std::vector<double> Ms;
  for (const std::map<std::string, KernelTime> &Run : Of.Kernels) {
    auto Its = Run.find(Name);
    if (Its == Run.end() || Its->second.TotalNs == 0)
      return {};
    Ms.push_back(double(Its->second.TotalNs) / 1e6);
  }
  return Ms;
}

/// Prints the kernels that all runs of both programs launched.
void printKernels(const Series (&Measured)[2]) {
  struct Row {
    std::string Name;
    std::vector<double> A, B;
  };
  std::vector<Row> Rows;
  for (const auto &[Name, Time] : Measured[0].Kernels.front()) {
    Row R{Name, kernelMs(Measured[0], Name), kernelMs(Measured[1], Name)};
    if (!R.A.empty() && !R.B.empty())
      Rows.push_back(std::move(R));
  }
  llvm::stable_sort(Rows, [](const Row &L, const Row &R) { return median(L.A) > median(R.A); });
  for (const Row &R : Rows) {
    RatioInterval Ratio = ratioOf(R.A, R.B);
    const KernelTime &A = Measured[0].Kernels.front().at(R.Name);
    const KernelTime &B = Measured[1].Kernels.front().at(R.Name);
    llvm::outs() << llvm::formatv("kernel\t{0}\t{1:f6}\t{2:f6}\t{3:f5}\t{4:f5}\t{5:f5}\t{6}\t{7}"
                                  "\t{8}\t{9}\n",
                                  R.Name, median(R.A), median(R.B), Ratio.Median, Ratio.Low,
                                  Ratio.High, A.Launches, B.Launches, A.RegsPerThread,
                                  B.RegsPerThread);
  }
}

void print(const Settings &S, const Series (&Measured)[2],
           const std::optional<std::string> &Difference) {
  auto Line = [](const char *Name, const RatioInterval &R) {
    llvm::outs() << llvm::formatv("{0}\t{1:f4}\t{2:f4}\t{3:f4}\n", Name, R.Median, R.Low, R.High);
  };
  llvm::outs() << "pairs\t" << S.Pairs << "\n"
               << llvm::formatv("gpu-ms-a\t{0:f4}\n", median(Measured[0].GpuMs))
               << llvm::formatv("gpu-ms-b\t{0:f4}\n", median(Measured[1].GpuMs));
  Line("gpu-ratio", ratioOf(Measured[0].GpuMs, Measured[1].GpuMs));
  Line("wall-ratio", ratioOf(Measured[0].WallS, Measured[1].WallS));
  llvm::outs() << "output\t" << (Difference ? "differs: " + *Difference : "equal") << "\n";
  if (S.Kernels)
    printKernels(Measured);
}

} // namespace

int main(int Argc, char **Argv) {
  llvm::ExitOnError Usage, Exit("Compare: ");
  Settings S = Usage(readSettings(std::vector<std::string>(Argv + 1, Argv + Argc)));
  ProbeSetup Probe{S.Prefix + "/lib/libcarve_probe.so", ""};
  if (llvm::Expected<Toolchain> T = findToolchain(environment, ""))
    Probe.Cupti = findCupti(T->BinDir).value_or("");
  else
    llvm::consumeError(T.takeError()); // The probe then looks for CUPTI itself.
  Series Measured[2];
  std::optional<std::string> Difference = Exit(measure(S, Probe, Measured));
  print(S, Measured, Difference);
  return Difference ? 2 : 0;
}
