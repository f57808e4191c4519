#include "Workload/TimedGpus.h"

#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;

GpuPlaces carve::gpuPlaces(GetEnv Env) {
  GpuPlaces Places;
  Places.Visible = Env("CUDA_VISIBLE_DEVICES");
  Places.Order = Env("CUDA_DEVICE_ORDER");
  return Places;
}

TimedGpus::TimedGpus(GpuPlaces Places, std::string Who, ProgressDisplay &Progress)
    : Places(std::move(Places)), Who(std::move(Who)), Progress(Progress), Users(this->Places.Nvml) {
  lockAll(visibleGpus(systemGpus(this->Places.ProcDir, this->Places.DevDir), this->Places.Visible,
                      this->Places.Order));
}

void TimedGpus::lockAll(const std::vector<SystemGpu> &Gpus) {
  Locked.clear();
  Uuids.clear();
  for (const SystemGpu &Gpu : Gpus) {
    Locked.push_back(Gpu.Uuid.empty() ? Gpu.Bus : Gpu.Uuid);
    if (!Gpu.Uuid.empty())
      Uuids.push_back(Gpu.Uuid);
  }
  if (Locked.empty())
    Locked = {"any"};
  // With the same name twice, the second lock would wait for the first.
  llvm::sort(Locked);
  Locked.erase(llvm::unique(Locked), Locked.end());
}

void TimedGpus::use(llvm::ArrayRef<std::string> Used) {
  // The list is read again, because a GPU that was asleep did not tell its UUID before.
  std::vector<SystemGpu> System = systemGpus(Places.ProcDir, Places.DevDir), Seen;
  for (const std::string &Uuid : Used) {
    auto Gpu = llvm::find_if(System, [&](const SystemGpu &G) { return G.Uuid == Uuid; });
    if (Gpu == System.end())
      return;
    Seen.push_back(*Gpu);
  }
  if (!Seen.empty())
    lockAll(Seen);
}

static std::string holderOf(int Fd) {
  char Text[512];
  ssize_t Size = ::pread(Fd, Text, sizeof Text, 0);
  return llvm::StringRef(Text, std::max<ssize_t>(Size, 0)).split('\n').first.str();
}

/// Locks the file for GPU \p Name, waiting if necessary. Returns its descriptor, or -1 if there is
/// no such file and it cannot be made.
int TimedGpus::lock(const std::string &Name) const {
  std::string Path = Places.LockDir + "/carve-nvcc-timing-" + Name + ".lock";
  // Linux refuses O_CREAT on another user's file in a sticky directory, so try without it first.
  int Fd = ::open(Path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (Fd < 0)
    Fd = ::open(Path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (Fd < 0) {
    logLine("not locked for timing: " + Path);
    return -1;
  }
  (void)::fchmod(Fd, 0666); // Other users share the GPU too.
  if (::flock(Fd, LOCK_EX | LOCK_NB) != 0) {
    std::string Text = "waiting for GPU " + Name + ", on which " + holderOf(Fd) + " is being timed";
    logLine(Text);
    Progress.waiting(Text);
    while (::flock(Fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    Progress.waiting("");
  }
  std::string Holder = "pid " + std::to_string(::getpid()) + " (" + Who + ")\n";
  if (::ftruncate(Fd, 0) == 0)
    (void)!::pwrite(Fd, Holder.data(), Holder.size(), 0);
  return Fd;
}

TimedGpus::Turn TimedGpus::take() {
  Turn Taken;
  for (const std::string &Name : Locked)
    if (int Fd = lock(Name); Fd >= 0)
      Taken.Fds.push_back(Fd);
  std::lock_guard<std::mutex> Alone(Looking);
  Users.look(Uuids);
  return Taken;
}

TimedGpus::Turn::~Turn() {
  for (int Fd : Fds)
    ::close(Fd);
}
