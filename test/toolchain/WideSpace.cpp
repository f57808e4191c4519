// Measures what compiling the wide space of a unit costs compared with one compile by nvcc. cicc
// compiles every front-end cap at a critical point of one of its kernels, and 255. ptxas compiles
// every critical cap of every kernel in each of these flavours, and in the default's PTX with the
// other knobs, too. As many tools run at once as the machine has cores. wide-space.sh calls it:
//   wide-space KERNELS NVCC_ARGUMENTS...
// KERNELS is a regular expression on mangled names. Kernels that do not match are left alone.
#include "Compile/UnitRecorder.h"
#include "Cubin/Assembler.h"
#include "Device/CriticalPoints.h"
#include "Nvcc/FrontEnd.h"
#include "Nvcc/KeptCompile.h"
#include "Search/VariantEdit.h"
#include "Support/Files.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <sys/resource.h>
#include <thread>

using namespace carve;

static llvm::ExitOnError OrFail("wide-space: ");

/// A common block size, in threads. Critical points depend on it.
static constexpr unsigned BlockThreads = 256;

namespace {

/// Wall time and processor time, of this program and of the tools. Processor time does not grow on
/// a busy machine.
struct Cost {
  double WallS = 0, CpuS = 0;
  Cost operator+(const Cost &Other) const { return {WallS + Other.WallS, CpuS + Other.CpuS}; }
};

} // namespace

static double processorSeconds() {
  double Sum = 0;
  for (int Whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage Use;
    ::getrusage(Whose, &Use);
    for (const timeval &Part : {Use.ru_utime, Use.ru_stime})
      Sum += double(Part.tv_sec) + double(Part.tv_usec) / 1e6;
  }
  return Sum;
}

static Cost costOf(const std::function<void()> &Work) {
  auto Start = std::chrono::steady_clock::now();
  double Cpu = processorSeconds();
  Work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count(),
          processorSeconds() - Cpu};
}

/// Calls \p Work with the numbers 0 to Count - 1.
static void inParallel(size_t Count, const std::function<void(size_t)> &Work) {
  std::atomic<size_t> Next = 0;
  std::vector<std::thread> Threads;
  for (unsigned I = 0; I < std::max(1u, std::thread::hardware_concurrency()); ++I)
    Threads.emplace_back([&] {
      for (size_t Job; (Job = Next++) < Count;)
        Work(Job);
    });
  for (std::thread &T : Threads)
    T.join();
}

namespace {

struct WideSpace {
  Toolchain T;
  ProcessRunner Runner;
  TempDir Keep = OrFail(TempDir::create("carve-wide-space"));
  DeviceUnit Unit;
  std::map<std::string, std::vector<unsigned>> CapsOf; ///< The critical caps of each chosen kernel.
  std::set<unsigned> Caps;                             ///< The caps of all of them.
  std::vector<PtxModule> Flavours;  ///< The default's is the first. No two are alike.
  std::vector<std::string> Modules; ///< PTX with clones.
  size_t Clones = 0;

  void compile(std::vector<std::string> Arguments);
  void findPoints(const std::string &Kernels);
  void makeFlavours();
  void addClones(const PtxModule &Ptx, const VariantSetting &Knobs);
  void makeClones();
  void assembleAll();
};

} // namespace

void WideSpace::compile(std::vector<std::string> Arguments) {
  KeptCompile Kept = OrFail(compileKeeping(T, Runner, Arguments, "", Keep.path(), /*Quiet=*/true));
  if (Kept.Plan.Units.size() != 1 || Kept.Plan.Units[0].Images.empty() ||
      Kept.Plan.Units[0].FrontEnds.empty()) {
    std::fprintf(stderr, "wide-space: expected one source for a real architecture\n%s",
                 Kept.Nvcc.Stderr.c_str());
    std::exit(1);
  }
  Unit = std::move(Kept.Plan.Units[0]);
}

void WideSpace::findPoints(const std::string &Kernels) {
  const DeviceImage &Image = Unit.Images[0];
  Flavours.push_back(OrFail(PtxModule::parse(OrFail(readFile(Image.PtxPath)))));
  DeviceModel Model =
      OrFail(loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", Image.Arch));
  LaunchShape Shape;
  Shape.Block = {BlockThreads, 1, 1};
  llvm::Regex Chosen(Kernels);
  for (const RegisterRegion &R :
       OrFail(findRegisterRegions(T, Runner, Flavours[0], Image, std::nullopt))) {
    if (!Chosen.match(R.Kernel))
      continue;
    for (const CriticalPoint &P : criticalPoints(Model, R, Shape)) {
      CapsOf[R.Kernel].push_back(P.Regs);
      Caps.insert(P.Regs);
    }
  }
}

void WideSpace::makeFlavours() {
  const FrontEndStep &Step = Unit.FrontEnds[0];
  std::string Text = OrFail(readFile(Step.KeepDir + "/" + Step.InputName));
  std::string Id = OrFail(readFile(Step.KeepDir + "/" + Step.ModuleIdName));
  Caps.insert(255);
  std::vector<unsigned> List(Caps.begin(), Caps.end());
  std::vector<std::string> Made(List.size());
  inParallel(List.size(), [&](size_t I) {
    Made[I] =
        OrFail(compileFlavour({Step, Text, Id, Flavours[0].text(), "", {List[I]}}, T, Runner));
  });
  std::set<std::string> Known = {Flavours[0].text()};
  for (std::string &Ptx : Made)
    if (Known.insert(Ptx).second)
      Flavours.push_back(OrFail(PtxModule::parse(std::move(Ptx))));
}

/// Adds a module of \p Ptx with a clone of each chosen kernel at each of its caps.
void WideSpace::addClones(const PtxModule &Ptx, const VariantSetting &Knobs) {
  std::vector<CloneRequest> Requests;
  for (const auto &[Kernel, Own] : CapsOf) {
    const PtxEntry *Entry = Ptx.find(Kernel);
    for (unsigned Cap : Own) {
      VariantSetting V = Knobs;
      V.Cap = Cap;
      if (!Entry || (V.SmemSpilling && reasonNotSmemSpilling(*Entry, false, "13.0")))
        continue;
      llvm::Expected<EntryEdit> Edit =
          entryEdit(V, *Entry, BlockThreads, [&](const FrontEndSetting &) { return &Ptx; });
      if (Edit)
        Requests.push_back({Kernel, Kernel + "__wide" + std::to_string(Cap), *Edit});
      else
        llvm::consumeError(Edit.takeError());
    }
  }
  if (Requests.empty())
    return;
  Clones += Requests.size();
  Modules.push_back(OrFail(Ptx.withClones(Requests)));
}

void WideSpace::makeClones() {
  VariantSetting Smem, L2, Both;
  Smem.SmemSpilling = Both.SmemSpilling = true;
  L2.Loads = Both.Loads = LoadCaching::L2Only;
  for (const PtxModule &Ptx : Flavours)
    addClones(Ptx, {});
  for (const VariantSetting &Knobs : {Smem, L2, Both})
    addClones(Flavours[0], Knobs);
}

void WideSpace::assembleAll() {
  inParallel(Modules.size(), [&](size_t I) {
    OrFail(assemble(T, Runner, Modules[I], Unit.Images[0].PtxasOptions));
  });
}

int main(int ArgC, char **ArgV) {
  if (ArgC < 3) {
    std::fprintf(stderr, "usage: wide-space KERNELS NVCC_ARGUMENTS...\n");
    return 1;
  }
  WideSpace W;
  W.T = OrFail(
      findToolchain([](llvm::StringRef Name) { return llvm::sys::Process::GetEnv(Name); }, ""));
  Cost Nvcc = costOf([&] { W.compile({ArgV + 2, ArgV + ArgC}); });
  Cost Points = costOf([&] { W.findPoints(ArgV[1]); });
  Cost Cicc = costOf([&] { W.makeFlavours(); });
  Cost Ptxas = costOf([&] {
    W.makeClones();
    W.assembleAll();
  });
  std::printf("%zu kernels, %zu front-end caps, %zu flavours that differ, %zu clones in %zu "
              "modules\n%-8s %8s %8s %8s\n",
              W.CapsOf.size(), W.Caps.size(), W.Flavours.size() - 1, W.Clones, W.Modules.size(), "",
              "wall/s", "cpu/s", "of nvcc");
  auto Print = [&](const char *Name, const Cost &C) {
    std::printf("%-8s %8.2f %8.2f %8.2f\n", Name, C.WallS, C.CpuS, C.WallS / Nvcc.WallS);
  };
  Print("nvcc", Nvcc);
  Print("points", Points);
  Print("cicc", Cicc);
  Print("ptxas", Ptxas);
  Print("space", Points + Cicc + Ptxas);
  return 0;
}
