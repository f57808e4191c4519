#include "Tune/EntriesInForce.h"

#include "Ptx/PtxModule.h"
#include "Store/DecisionFiles.h"
#include "Store/Profile.h"
#include "unit/Store/StoreTesting.h"

using namespace carve;

namespace {

class EntriesInForce : public StoreTest {
protected:
  void SetUp() override {
    StoreTest::SetUp();
    Store = std::make_unique<UnitStore>(Root);
    const std::string Ptx = ".version 9.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry _Z1kPfi(.param .u64 a, .param .u32 b)\n{\nret;\n}\n";
    U = sampleUnit();
    U.Relocatable = false;
    U.Ptx.clear();
    U.Images[0].Kernels.resize(1);
    U.Images[0].PtxDigest = valueOf(Store->putBlob(Ptx));
    U.Images[0].CubinDigest = valueOf(Store->putBlob("cubin"));
    ASSERT_EQ(messageOf(Store->putUnit(U)), "");
    KernelDigest = valueOf(llvm::cantFail(PtxModule::parse(Ptx)).kernelDigest("_Z1kPfi"));
    Trace.Containers = {U.Containers[0]};
    Trace.Devices.emplace_back();
    Trace.Devices[0].Major = 9;
    KernelLaunches Launched;
    Launched.Kernel = "_Z1kPfi";
    Launched.Launches = 50;
    Launched.TotalNs = 5000;
    Trace.Kernels = {Launched};
    Trace.Arguments["_Z1kPfi"].add(ArgumentRecord{"_Z1kPfi", 1, 4, 8192});
  }

  /// Stores the decision that a kernel with the digest \p Of has an entry for n = 4096, which held
  /// in the whole run that it was tuned with.
  void decide(const std::string &Of) {
    Decision D;
    D.Kernel = "k(float*, int)";
    D.Arch = "sm_90";
    D.Digest = decisionDigest(Of, "sm_90", U.NvccVersion, U.Images[0].PtxasOptions);
    D.Entries = {{{.Arguments = {{1, 4, 4096}}},
                  {.FrontEnd = FrontEndKnob::KnownLaunch},
                  "code",
                  GuardHold{50, 50, 1}}};
    Profile P;
    P.put(D);
    ASSERT_EQ(messageOf(writeDecisions(*Store, U.Key, printProfile(P))), "");
  }

  std::unique_ptr<UnitStore> Store;
  Unit U;
  std::string KernelDigest;
  ProbeRecord Trace;
};

} // namespace

TEST_F(EntriesInForce, changedArgument_holdsNoMore) {
  decide(KernelDigest);
  auto Holds = entriesInForce(Trace, *Store);
  ASSERT_EQ(Holds.count("_Z1kPfi"), 1u);
  EXPECT_EQ(Holds["_Z1kPfi"],
            (std::vector<EntryHold>{
                {"parameter 1 = 4096", "known", GuardHold{50, 50, 1}, GuardHold{50, 0, 0}}}));
}

TEST_F(EntriesInForce, decisionForOtherCode_hasNone) {
  decide("digest of older code");
  EXPECT_TRUE(entriesInForce(Trace, *Store).empty());
}

TEST_F(EntriesInForce, unitThatIsNotLoaded_hasNone) {
  decide(KernelDigest);
  Trace.Containers = {"dddddddddddddddddddddddddddddddd"};
  EXPECT_TRUE(entriesInForce(Trace, *Store).empty());
}
