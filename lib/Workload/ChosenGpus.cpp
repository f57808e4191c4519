#include "Workload/ChosenGpus.h"

#include "Support/Error.h"
#include "Workload/Nvml.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace carve;

std::string carve::setGpus(llvm::StringRef Value, GpuRequest &Out) {
  Out = {};
  if (Value == "all") {
    Out.All = true;
    return "";
  }
  llvm::SmallVector<llvm::StringRef> Words;
  Value.split(Words, ',');
  for (llvm::StringRef Word : Words) {
    unsigned Number = 0;
    if (Word.getAsInteger(10, Number) || llvm::is_contained(Out.Numbers, Number)) {
      Out = {};
      return "'all' or different numbers of GPUs, such as 0,2";
    }
    Out.Numbers.push_back(Number);
  }
  return "";
}

/// Who computes on \p Device, such as `pid 123 python (38 % busy)`; empty if nobody does. A process
/// that has the GPU open but does not compute disturbs no times.
static std::string whoComputes(const Nvml &Api, NvmlDevice Device) {
  for (const NvmlUser &User : Api.users(Device)) {
    if (User.BusyPercent == 0u)
      continue;
    std::string Text = "pid " + std::to_string(User.Pid);
    if (std::string Name = processName(User.Pid); !Name.empty())
      Text += " " + Name;
    return Text + (User.BusyPercent ? " (" + std::to_string(*User.BusyPercent) + " % busy)" : "");
  }
  return "";
}

llvm::Expected<std::vector<HostGpu>> carve::hostGpus(const GpuPlaces &Places) {
  const Nvml Api(Places.Nvml);
  if (!Api.usable())
    return usageError("--gpus needs the driver's management library, and " + Places.Nvml +
                      " is absent or does not work");
  std::vector<HostGpu> All;
  std::vector<SystemGpu> System;
  for (NvmlDevice Device : Api.devices({})) {
    std::optional<NvmlGpu> Gpu = Api.describe(Device);
    if (!Gpu)
      return usageError("--gpus needs the UUID, the compute capability and the memory of each GPU, "
                        "and " +
                        Places.Nvml + " does not tell them");
    System.push_back({Gpu->Uuid, Gpu->Uuid, Gpu->Name});
    All.push_back({0, Gpu->Uuid, Gpu->Name, Gpu->Major, Gpu->Minor, Gpu->MemoryBytes, Gpu->Mig,
                   whoComputes(Api, Device)});
  }
  auto Visible = certainGpus(System, Places.Visible, Places.Order);
  if (!Visible)
    return usageError("--gpus: CUDA_VISIBLE_DEVICES is '" + *Places.Visible +
                      "', expected UUIDs, or numbers that can mean one GPU only");
  std::vector<HostGpu> Seen;
  for (const SystemGpu &Its : *Visible) {
    Seen.push_back(*llvm::find_if(All, [&](const HostGpu &G) { return G.Uuid == Its.Uuid; }));
    Seen.back().Number = Seen.size() - 1;
  }
  return Seen;
}

static bool sameKind(const HostGpu &A, const HostGpu &B) {
  return A.Name == B.Name && A.Major == B.Major && A.Minor == B.Minor &&
         A.MemoryBytes == B.MemoryBytes;
}

/// What kind of GPU \p Gpu is, such as `NVIDIA H200 (compute capability 9.0, 143771 MiB)`.
static std::string kindText(const HostGpu &Gpu) {
  return Gpu.Name + " (compute capability " + std::to_string(Gpu.Major) + "." +
         std::to_string(Gpu.Minor) + ", " + std::to_string(Gpu.MemoryBytes >> 20) + " MiB)";
}

/// Moves the GPUs of which \p WhyLeft gives a reason to the others.
static void leave(ChosenGpus &Chosen, llvm::function_ref<std::string(const HostGpu &)> WhyLeft) {
  std::vector<HostGpu> Kept;
  for (const HostGpu &Gpu : Chosen.Used)
    if (std::string Why = WhyLeft(Gpu); Why.empty())
      Kept.push_back(Gpu);
    else
      Chosen.Left.push_back({Gpu.text(), Why});
  Chosen.Used = std::move(Kept);
}

/// Leaves out the GPUs that differ from most.
static void leaveOtherKinds(ChosenGpus &Chosen) {
  auto OfKind = [&](const HostGpu &Gpu) {
    return llvm::count_if(Chosen.Used, [&](const HostGpu &G) { return sameKind(G, Gpu); });
  };
  auto Most =
      std::max_element(Chosen.Used.begin(), Chosen.Used.end(),
                       [&](const HostGpu &A, const HostGpu &B) { return OfKind(A) < OfKind(B); });
  if (Most == Chosen.Used.end())
    return;
  const HostGpu &Kind = *Most;
  leave(Chosen, [&](const HostGpu &Gpu) {
    return sameKind(Gpu, Kind)
               ? std::string()
               : "it is " + kindText(Gpu) + ", and the others are " + kindText(Kind);
  });
}

llvm::Expected<ChosenGpus> carve::chooseGpus(llvm::ArrayRef<HostGpu> Host,
                                             const GpuRequest &Request) {
  ChosenGpus Chosen;
  if (Request.All)
    Chosen.Used = Host.vec();
  for (unsigned Number : Request.Numbers) {
    if (Number >= Host.size())
      return usageError("--gpus names GPU " + llvm::Twine(Number) + ", expected 0" +
                        (Host.size() > 1 ? " to " + std::to_string(Host.size() - 1) : "") +
                        ", the numbers of the GPUs that the program would see");
    Chosen.Used.push_back(Host[Number]);
  }
  leave(Chosen, [](const HostGpu &Gpu) {
    return Gpu.Mig ? "it is divided into instances (MIG)" : std::string();
  });
  leave(Chosen, [](const HostGpu &Gpu) {
    return Gpu.Busy.empty() ? std::string() : "it is busy: " + Gpu.Busy;
  });
  leaveOtherKinds(Chosen);
  if (!Chosen.Used.empty())
    return Chosen;
  std::string Why;
  for (const LeftGpu &L : Chosen.Left)
    Why += "; " + L.Gpu + ": " + L.Why;
  return unsupported("not tuned", "--gpus leaves no GPU" + Why);
}

static double medianOf(std::vector<double> Values) {
  llvm::sort(Values);
  size_t Half = Values.size() / 2;
  return Values.size() % 2 ? Values[Half] : (Values[Half - 1] + Values[Half]) / 2;
}

std::vector<std::pair<size_t, double>> carve::slowGpus(llvm::ArrayRef<double> Ns) {
  std::vector<std::pair<size_t, double>> Slow;
  for (size_t I = 0; I < Ns.size(); ++I) {
    std::vector<double> Others;
    for (size_t J = 0; J < Ns.size(); ++J)
      if (J != I && Ns[J] > 0)
        Others.push_back(Ns[J]);
    if (Others.empty())
      continue;
    if (double Ratio = Ns[I] / medianOf(std::move(Others)); Ratio > SlowGpuRatio)
      Slow.emplace_back(I, Ratio);
  }
  return Slow;
}
