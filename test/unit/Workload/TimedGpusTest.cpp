#include "Workload/TimedGpus.h"

#include "unit/Support/ProgressTesting.h"
#include "unit/Workload/WorkloadTesting.h"

#include "llvm/Support/FileSystem.h"

#include <atomic>
#include <thread>
#include <unistd.h>

using namespace carve;
using Names = std::vector<std::string>;

namespace {

/// A machine with simulated GPUs.
class TimedGpusTest : public testing::Test {
protected:
  TimedGpusTest() : Dir(llvm::cantFail(TempDir::create("carve-gpus"))) {
    Places.ProcDir = Dir.path() + "/proc";
    Places.DevDir = Dir.path() + "/dev";
    Places.LockDir = Dir.path();
    Places.Nvml = "libcarve-no-such-library.so";
    for (const std::string &Path : {Places.ProcDir, Places.DevDir})
      EXPECT_FALSE(llvm::sys::fs::create_directory(Path));
  }

  void addGpu(const std::string &Bus, const std::string &Uuid, unsigned Minor,
              const std::string &Model = "NVIDIA H200", bool HasDevice = true) {
    std::string Gpu = Places.ProcDir + "/" + Bus;
    EXPECT_FALSE(llvm::sys::fs::create_directories(Gpu));
    write(Gpu + "/information", "Model: \t\t " + Model + "\nIRQ:   \t\t 52\nGPU UUID: \t " + Uuid +
                                    "\nBus Location: \t " + Bus + "\nDevice Minor: \t " +
                                    std::to_string(Minor) + "\n");
    if (HasDevice)
      write(Places.DevDir + "/nvidia" + std::to_string(Minor), "");
  }
  static void write(const std::string &Path, const std::string &Text) {
    EXPECT_EQ(messageOf(writeFileAtomically(Path, Text)), "");
  }
  void addFour() {
    addGpu("0000:5d:00.0", "GPU-c1", 2);
    addGpu("0000:18:00.0", "GPU-a7", 0);
    addGpu("0000:9a:00.0", "GPU-c2", 3);
    addGpu("0000:2a:00.0", "GPU-b3", 1);
  }
  Names lockedWith(const std::optional<std::string> &Visible,
                   const std::optional<std::string> &Order = std::nullopt) {
    Places.Visible = Visible;
    Places.Order = Order;
    return timed().locked();
  }
  TimedGpus timed(const std::string &Who = "./app") { return TimedGpus(Places, Who, Progress); }

  TempDir Dir;
  GpuPlaces Places;
  RecordedProgress Progress;
};

} // namespace

TEST_F(TimedGpusTest, systemGpus_listOfTheDriver_isRead) {
  addFour();
  addGpu("0000:aa:00.0", "GPU-elsewhere", 4, "NVIDIA H200", /*HasDevice=*/false);
  std::vector<SystemGpu> All = systemGpus(Places.ProcDir, Places.DevDir);
  ASSERT_EQ(All.size(), 4u);
  EXPECT_EQ(All[0].Bus + All[0].Uuid + All[0].Model, "0000:18:00.0GPU-a7NVIDIA H200");
  EXPECT_EQ(All[3].Uuid, "GPU-c2");
  EXPECT_TRUE(systemGpus("/dev/null/nonexistent", "/dev").empty());
}

TEST_F(TimedGpusTest, visibleDevices_certain_narrowTheLocks) {
  addFour();
  const Names All = {"GPU-a7", "GPU-b3", "GPU-c1", "GPU-c2"};
  EXPECT_EQ(lockedWith(std::nullopt), All);
  EXPECT_EQ(lockedWith(""), All);
  EXPECT_EQ(lockedWith("2"), Names{"GPU-c1"});
  EXPECT_EQ(lockedWith("3, 0,3"), (Names{"GPU-a7", "GPU-c2"}));
  EXPECT_EQ(lockedWith("GPU-b"), Names{"GPU-b3"});
  EXPECT_EQ(lockedWith("GPU-c"), All) << "two begin so";
  EXPECT_EQ(lockedWith("7"), All);
  EXPECT_EQ(lockedWith("-1"), All);
  EXPECT_EQ(lockedWith("MIG-4711"), All);
  // With different models, CUDA numbers GPUs by speed, unless it is told not to.
  addGpu("0000:01:00.0", "GPU-slow", 5, "NVIDIA T4");
  EXPECT_EQ(lockedWith("0").size(), 5u);
  EXPECT_EQ(lockedWith("0", "PCI_BUS_ID"), Names{"GPU-slow"});
}

TEST_F(TimedGpusTest, locks_gpuAsleepOrUnlisted_haveOtherNames) {
  EXPECT_EQ(timed().locked(), Names{"any"});
  addGpu("0000:18:00.0", "GPU-" + std::string(36, '?'), 0);
  TimedGpus Gpus = timed();
  EXPECT_EQ(Gpus.locked(), Names{"0000:18:00.0"});
  addGpu("0000:18:00.0", "GPU-a7", 0);
  Gpus.use({"GPU-a7"});
  EXPECT_EQ(Gpus.locked(), Names{"GPU-a7"});
}

TEST_F(TimedGpusTest, use_tracedGpus_narrowsTheLocks) {
  addFour();
  TimedGpus Gpus = timed();
  Gpus.use({});
  EXPECT_EQ(Gpus.locked().size(), 4u);
  Gpus.use({"GPU-b3", "GPU-part-of-another"});
  EXPECT_EQ(Gpus.locked().size(), 4u);
  Gpus.use({"GPU-c1", "GPU-b3", "GPU-c1"});
  EXPECT_EQ(Gpus.locked(), (Names{"GPU-b3", "GPU-c1"}));
  (void)Gpus.take(); // If the same GPU were locked twice, this would never end.
}

TEST_F(TimedGpusTest, take_differentGpus_doesNotWait) {
  addFour();
  TimedGpus One = timed(), Other = timed();
  One.use({"GPU-a7"});
  Other.use({"GPU-b3"});
  TimedGpus::Turn A = One.take(), B = Other.take();
  EXPECT_TRUE(Progress.Waits.empty());
}

TEST_F(TimedGpusTest, take_sameGpu_waitsAndNamesTheHolder) {
  addFour();
  TimedGpus One = timed("./first -n 3"), Other = timed("./second");
  std::atomic<bool> Released = false;
  std::optional<TimedGpus::Turn> Mine = One.take();
  Other.use({"GPU-b3"});
  std::thread Second([&] {
    TimedGpus::Turn Its = Other.take();
    EXPECT_TRUE(Released);
  });
  ::usleep(100000);
  Released = true;
  Mine.reset();
  Second.join();
  EXPECT_EQ(Progress.Waits,
            (Names{"waiting for GPU GPU-b3, on which pid " + std::to_string(::getpid()) +
                       " (./first -n 3) is being timed",
                   ""}));
}

TEST_F(TimedGpusTest, take_overlappingGpus_neverDeadlocks) {
  addFour();
  const std::vector<Names> Wanted = {
      {"GPU-c2", "GPU-a7"}, {"GPU-a7", "GPU-b3"}, {"GPU-b3", "GPU-c2"}, {"GPU-a7"}};
  std::atomic<int> OnGpu[4] = {}, Turns = 0;
  std::vector<std::thread> Threads;
  for (const Names &Uuids : Wanted)
    Threads.emplace_back([&, Uuids] {
      TimedGpus Gpus(Places, "app", silentProgress());
      Gpus.use(Uuids);
      for (int I = 0; I < 50; ++I, ++Turns) {
        TimedGpus::Turn Mine = Gpus.take();
        for (const std::string &Name : Gpus.locked())
          EXPECT_EQ(++OnGpu[Name[4] == 'a' ? 0 : Name[4] == 'b' ? 1 : 2], 1) << Name;
        for (const std::string &Name : Gpus.locked())
          --OnGpu[Name[4] == 'a' ? 0 : Name[4] == 'b' ? 1 : 2];
      }
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(Turns, 200);
}

TEST_F(TimedGpusTest, take_noLockFile_goesOn) {
  addFour();
  Places.LockDir = "/dev/null/nonexistent";
  (void)timed().take();
  EXPECT_TRUE(Progress.Waits.empty());
}
