#include "Workload/ChosenGpus.h"

#include "unit/Workload/WorkloadTesting.h"

#include <cstdlib>

using namespace carve;

namespace {

HostGpu gpu(unsigned Number) {
  return {Number, "GPU-" + std::to_string(Number), "NVIDIA H200", 9, 0, uint64_t(140) << 30, false,
          ""};
}

/// A machine with four GPUs of one kind.
std::vector<HostGpu> four() { return {gpu(0), gpu(1), gpu(2), gpu(3)}; }

GpuRequest asked(const std::string &Value) {
  GpuRequest Request;
  EXPECT_EQ(setGpus(Value, Request), "") << Value;
  return Request;
}

/// The numbers of the GPUs that are used.
std::vector<unsigned> used(const ChosenGpus &Chosen) {
  std::vector<unsigned> Numbers;
  for (const HostGpu &Gpu : Chosen.Used)
    Numbers.push_back(Gpu.Number);
  return Numbers;
}

/// hostGpus() with StubNvml.cpp as the management library. It has GPU-a and GPU-b.
class HostGpusTest : public testing::Test {
protected:
  HostGpusTest() { Places.Nvml = CARVE_TEST_STUB_NVML; }
  ~HostGpusTest() override { ::unsetenv("STUB_NVML"); }
  static void say(const std::string &Words) { ::setenv("STUB_NVML", Words.c_str(), 1); }
  GpuPlaces Places;
};

using Numbers = std::vector<unsigned>;

} // namespace

TEST(ChosenGpus, value_allOrNumbers_isTaken) {
  EXPECT_TRUE(asked("all").All);
  EXPECT_TRUE(asked("all").maySeveral());
  EXPECT_EQ(asked("2,0").Numbers, (Numbers{2, 0}));
  EXPECT_TRUE(asked("2,0").maySeveral());
  EXPECT_FALSE(asked("3").maySeveral());
  EXPECT_FALSE(GpuRequest().given());
}

TEST(ChosenGpus, value_anythingElse_isRefused) {
  for (const char *Value : {"", "x", "0,0", "0,", ",", "-1", "all,0", "0 1", "99999999999"}) {
    GpuRequest Request;
    EXPECT_EQ(setGpus(Value, Request), "'all' or different numbers of GPUs, such as 0,2") << Value;
    EXPECT_FALSE(Request.given()) << Value;
  }
}

TEST(ChosenGpus, choice_idleGpusOfOneKind_areUsedInTheOrderOfTheRequest) {
  EXPECT_EQ(used(valueOf(chooseGpus(four(), asked("all")))), (Numbers{0, 1, 2, 3}));
  ChosenGpus Chosen = valueOf(chooseGpus(four(), asked("3,1")));
  EXPECT_EQ(used(Chosen), (Numbers{3, 1}));
  EXPECT_TRUE(Chosen.Left.empty()) << "the others were not asked for";
}

TEST(ChosenGpus, choice_busyGpu_isNamedAndLeftOut) {
  std::vector<HostGpu> Host = four();
  Host[0].Busy = "pid 123 python (38 % busy)";
  ChosenGpus Chosen = valueOf(chooseGpus(Host, asked("all")));
  EXPECT_EQ(used(Chosen), (Numbers{1, 2, 3}));
  EXPECT_EQ(Chosen.Left,
            (std::vector<LeftGpu>{{"GPU 0", "it is busy: pid 123 python (38 % busy)"}}));
}

TEST(ChosenGpus, choice_gpuOfAnotherKind_isNamedAndLeftOut) {
  const std::pair<std::function<void(HostGpu &)>, std::string> Cases[] = {
      {[](HostGpu &G) { G.Name = "NVIDIA T4"; }, "NVIDIA T4 (compute capability 9.0, 143360 MiB)"},
      {[](HostGpu &G) { G.Minor = 3; }, "NVIDIA H200 (compute capability 9.3, 143360 MiB)"},
      {[](HostGpu &G) { G.MemoryBytes /= 2; }, "NVIDIA H200 (compute capability 9.0, 71680 MiB)"}};
  for (const auto &[Change, Text] : Cases) {
    std::vector<HostGpu> Host = four();
    Change(Host[0]);
    ChosenGpus Chosen = valueOf(chooseGpus(Host, asked("all")));
    EXPECT_EQ(used(Chosen), (Numbers{1, 2, 3})) << Text;
    ASSERT_EQ(Chosen.Left.size(), 1u);
    EXPECT_EQ(Chosen.Left[0].Why, "it is " + Text +
                                      ", and the others are NVIDIA H200 (compute capability 9.0, "
                                      "143360 MiB)");
  }
}

TEST(ChosenGpus, choice_asManyOfTwoKinds_keepsTheFirstsKind) {
  std::vector<HostGpu> Host = four();
  Host[1].Name = Host[2].Name = "NVIDIA H100";
  EXPECT_EQ(used(valueOf(chooseGpus(Host, asked("all")))), (Numbers{0, 3}));
  EXPECT_EQ(used(valueOf(chooseGpus(Host, asked("1,0")))), Numbers{1});
}

TEST(ChosenGpus, choice_dividedGpu_isLeftOut) {
  std::vector<HostGpu> Host = four();
  Host[2].Mig = true;
  ChosenGpus Chosen = valueOf(chooseGpus(Host, asked("2,3")));
  EXPECT_EQ(used(Chosen), Numbers{3});
  EXPECT_EQ(Chosen.Left[0].Why, "it is divided into instances (MIG)");
}

TEST(ChosenGpus, choice_numberThatNoGpuHas_fails) {
  EXPECT_EQ(messageOf(chooseGpus(four(), asked("0,9"))),
            "--gpus names GPU 9, expected 0 to 3, the numbers of the GPUs that the program would "
            "see");
  EXPECT_EQ(messageOf(chooseGpus(llvm::ArrayRef(four()).take_front(), asked("1"))),
            "--gpus names GPU 1, expected 0, the numbers of the GPUs that the program would see");
}

TEST(ChosenGpus, choice_noGpuLeft_fails) {
  std::vector<HostGpu> Host = four();
  Host[0].Busy = "pid 7";
  EXPECT_NE(messageOf(chooseGpus(Host, asked("0")))
                .find("--gpus leaves no GPU; GPU 0: it is busy: "
                      "pid 7"),
            std::string::npos);
  EXPECT_NE(messageOf(chooseGpus({}, asked("all"))).find("--gpus leaves no GPU"),
            std::string::npos);
}

TEST(ChosenGpus, slow_moreThanTwoPerCent_isFound) {
  using Slow = std::vector<std::pair<size_t, double>>;
  EXPECT_EQ(slowGpus({1000, 1000, 1021, 1000}), (Slow{{2, 1.021}}));
  EXPECT_EQ(slowGpus({1000, 1000, 1019, 1000}), Slow());
  EXPECT_EQ(slowGpus({1021, 1000}), (Slow{{0, 1.021}}));
  EXPECT_EQ(slowGpus({1000}), Slow());
  EXPECT_EQ(slowGpus({0, 0}), Slow()) << "nothing is known";
  EXPECT_EQ(slowGpus({990, 1000, 1010}), Slow()) << "all are within 2 % of the others' middle";
}

TEST_F(HostGpusTest, host_idleGpus_areDescribed) {
  std::vector<HostGpu> Host = valueOf(hostGpus(Places));
  ASSERT_EQ(Host.size(), 2u);
  EXPECT_EQ(Host[1].Number, 1u);
  EXPECT_EQ(Host[1].Uuid + Host[1].Name, "GPU-bNVIDIA H200");
  EXPECT_EQ(Host[1].Major * 10 + Host[1].Minor, 90);
  EXPECT_EQ(Host[1].MemoryBytes, 150754820096u);
  EXPECT_FALSE(Host[1].Mig);
  EXPECT_EQ(Host[1].Busy, "");
}

TEST_F(HostGpusTest, host_processes_areBusyUnlessTheyComputeNothing) {
  say("GPU-a=4000001 GPU-b=4000002 4000001:0 4000002:38");
  std::vector<HostGpu> Host = valueOf(hostGpus(Places));
  EXPECT_EQ(Host[0].Busy, "");
  EXPECT_EQ(Host[1].Busy, "pid 4000002 (38 % busy)");
  say("GPU-a=4000001 no-utilization");
  EXPECT_EQ(valueOf(hostGpus(Places))[0].Busy, "pid 4000001") << "how busy is not known";
  say("mig");
  EXPECT_TRUE(valueOf(hostGpus(Places))[0].Mig);
}

TEST_F(HostGpusTest, host_visibleDevices_giveTheNumbers) {
  Places.Visible = "1,0";
  EXPECT_EQ(valueOf(hostGpus(Places))[0].Uuid, "GPU-b");
  Places.Visible = "GPU-b";
  std::vector<HostGpu> Host = valueOf(hostGpus(Places));
  ASSERT_EQ(Host.size(), 1u);
  EXPECT_EQ(Host[0].Number, 0u);
  Places.Visible = "MIG-4711";
  EXPECT_EQ(messageOf(hostGpus(Places)),
            "--gpus: CUDA_VISIBLE_DEVICES is 'MIG-4711', expected UUIDs, or numbers that can mean "
            "one GPU only");
}

TEST_F(HostGpusTest, host_withoutTheLibrary_fails) {
  say("no-names");
  EXPECT_NE(messageOf(hostGpus(Places)).find("does not tell them"), std::string::npos);
  Places.Nvml = "libcarve-no-such-library.so";
  EXPECT_EQ(messageOf(hostGpus(Places)),
            "--gpus needs the driver's management library, and libcarve-no-such-library.so is "
            "absent or does not work");
}
