// CUPTI's host functions divide our metrics into passes, for chips of every generation. They need
// no GPU.
#include "Probe/Counters/MetricPasses.h"
#include "Nvcc/Toolchain.h"
#include "Workload/CounterRecords.h"
#include "Workload/Workload.h"

#include "llvm/Support/Process.h"
#include "gtest/gtest.h"

#include <dlfcn.h>
#include <set>

using namespace carve;
using namespace carve::probe;

namespace {

class RealCupti : public testing::Test {
protected:
  void SetUp() override {
    auto Env = [](llvm::StringRef Name) { return llvm::sys::Process::GetEnv(Name); };
    llvm::Expected<Toolchain> Found = findToolchain(Env, "");
    if (!Found)
      GTEST_SKIP() << llvm::toString(Found.takeError());
    auto Path = findCupti(Found->BinDir);
    void *Library = Path ? ::dlopen(Path->c_str(), RTLD_LAZY | RTLD_LOCAL) : nullptr;
    if (!Library)
      GTEST_SKIP() << "no CUPTI beside nvcc";
    if (!Api.load(Library))
      GTEST_SKIP() << "a CUPTI without a range profiler";
  }

  void checkChip(const char *Chip) const {
    MetricPasses Passes(Api, Chip, {});
    std::vector<std::string> Wanted;
    for (llvm::StringRef Metric : hardwareMetrics())
      Wanted.push_back(Metric.str());
    ASSERT_EQ(Passes.part(Wanted).reason(), "");
    std::set<std::string> Placed;
    for (size_t P = 0; P < std::min<size_t>(4, Passes.passes().size()); ++P) {
      EXPECT_EQ(Passes.passes()[P].front(), Wanted.front()) << "every pass has the time";
      Placed.insert(Passes.passes()[P].begin(), Passes.passes()[P].end());
      PassImages Images(Passes);
      bool Unknown = true;
      size_t Number = 0;
      EXPECT_EQ(Images.make(Passes.passes()[P], Unknown).reason(), "");
      EXPECT_FALSE(Unknown);
      EXPECT_EQ(Images.passes(Number).reason(), "");
      EXPECT_EQ(Number, 1u);
    }
    // Some parts of throughputs may be left out, because others can replace them.
    constexpr size_t DramThroughput = 1, Parts = 16;
    for (size_t I = 0; I < Parts; ++I)
      EXPECT_TRUE(Placed.count(Wanted[I]) || I == DramThroughput) << Wanted[I];
    EXPECT_TRUE(Placed.count(Wanted[DramThroughput]) || Placed.count(Wanted.back()))
        << "the share of DRAM";
    const std::string Elapsed = ".avg.pct_of_peak_sustained_elapsed";
    if (Chip == llvm::StringRef("GA100") || Chip == llvm::StringRef("GH100")) {
      EXPECT_TRUE(Placed.count("lts__ltcfabric2ltc_cycles_active" + Elapsed))
          << "the L2 cache has two halves";
    }
    EXPECT_TRUE(Placed.count("lts__xbar2lts_cycles_active" + Elapsed));
    EXPECT_TRUE(Placed.count("lts__lts2xbar_cycles_active" + Elapsed) ||
                Placed.count("lts__lts2xbar_cycles_active_realtime" + Elapsed) ||
                llvm::StringRef(Chip) == "GA100")
        << "this metric takes two passes on GA100";
    EXPECT_TRUE(Placed.count("l1tex__m_l1tex2xbar_req_cycles_active" + Elapsed));
    EXPECT_TRUE(Placed.count("l1tex__m_xbar2l1tex_throughput" + Elapsed));
  }

  ProfilerApi Api;
};

} // namespace

TEST_F(RealCupti, metrics_ofEveryChip_fitIntoFourPasses) {
  for (const char *Chip : {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"}) {
    SCOPED_TRACE(Chip);
    checkChip(Chip);
  }
}

TEST_F(RealCupti, metrics_thatAChipLacks_areLeftOut) {
  MetricPasses Passes(Api, "GH100", {});
  ASSERT_EQ(Passes
                .part({"gpu__time_duration.sum", "bogus__x.sum",
                       "lts__throughput.avg.pct_of_peak_sustained_elapsed"})
                .reason(),
            "");
  EXPECT_EQ(Passes.passes(), (std::vector<std::vector<std::string>>{{"gpu__time_duration.sum"}}));
  ASSERT_EQ(Passes.left().size(), 2u);
  EXPECT_EQ(Passes.left()[0].second, "unknown");
  EXPECT_NE(Passes.left()[1].second.find(" passes"), std::string::npos);
  MetricPasses None(Api, "NO100", {});
  EXPECT_NE(None.part({"gpu__time_duration.sum"}).reason(), "");
}
