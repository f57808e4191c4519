#include "Workload/GpuUsers.h"

#include "Protocol/Protocol.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include "Workload/Nvml.h"
#include "Workload/WorkloadProcesses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>

using namespace carve;

std::string GpuUser::text() const {
  std::string Text = "another process uses this GPU: pid " + std::to_string(Pid);
  if (!Name.empty())
    Text += " " + Name;
  if (!BusyPercent)
    return Text + ": times are noisier while it computes";
  if (*BusyPercent == 0)
    return Text + " (idle when looked at)";
  return Text + " (" + std::to_string(*BusyPercent) + " % busy): times are noisier";
}

GpuUsers::GpuUsers(std::string Library) : Library(std::move(Library)) {}
GpuUsers::~GpuUsers() = default;

std::string carve::processName(unsigned Pid) {
  std::optional<std::string> Name = readProcFile("/proc/" + std::to_string(Pid) + "/comm");
  return llvm::StringRef(Name.value_or("")).trim().str();
}

void GpuUsers::note(unsigned Pid, std::optional<unsigned> BusyPercent) {
  auto Known = llvm::find_if(Found, [&](const GpuUser &U) { return U.Pid == Pid; });
  if (Known == Found.end()) {
    // Processes that a workload has left running are reported elsewhere.
    if (hasEnvironment(pid_t(Pid), std::string(probe::DirVariable) + "="))
      return;
    Found.push_back({Pid, processName(Pid), BusyPercent});
    logLine(Found.back().text());
  } else if (BusyPercent) {
    Known->BusyPercent = std::max(Known->BusyPercent.value_or(0), *BusyPercent);
  }
}

void GpuUsers::look(llvm::ArrayRef<std::string> Uuids) {
  if (!Opened)
    Api = std::make_unique<Nvml>(Library);
  Opened = true;
  if (!Api->usable())
    return;
  for (NvmlDevice Device : Api->devices(Uuids)) {
    for (const NvmlUser &User : Api->users(Device))
      note(User.Pid, User.BusyPercent);
  }
}
