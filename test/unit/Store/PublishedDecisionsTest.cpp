#include "Store/PublishedDecisions.h"
#include "Store/DecisionFiles.h"
#include "Store/StaleOutputs.h"
#include "Store/StoreLayout.h"
#include "Store/StoreUpkeep.h"
#include "Store/UserProfile.h"

#include "StoreTesting.h"
#include "Support/Digest.h"

#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
using namespace std::chrono_literals;
namespace stdfs = std::filesystem;

namespace {

constexpr char Ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                       ".visible .entry _Z1kPd(.param .u64 p)\n{\nret;\n}\n";
constexpr char Name[] = "k(double*)";

class PublishedDecisionsTest : public StoreTest {
protected:
  std::string siteRoot() const { return Dir->path() + "/the site"; }

  /// Puts a unit with the kernel k into \p Store.
  static Unit putUnit(UnitStore &Store, llvm::StringRef Key = sampleUnit().Key) {
    Unit U = sampleUnit();
    U.Key = Key.str();
    U.Images[0].Kernels.resize(1);
    U.Ptx.clear();
    U.Images[0].PtxDigest = valueOf(Store.putBlob(Ptx));
    U.Images[0].CubinDigest = valueOf(Store.putBlob("cubin"));
    EXPECT_EQ(messageOf(Store.putUnit(U)), "");
    return U;
  }
  /// A decision that holds for the kernel of putUnit().
  static Decision decisionFor(const Unit &U, const UnitStore &Store, unsigned Cap,
                              llvm::StringRef Date = "2026-01-01T00:00:00Z") {
    Decision D;
    D.Kernel = Name;
    D.Arch = "sm_90";
    D.Variant.Cap = Cap;
    std::vector<std::string> Digests = valueOf(kernelDigests(U, Store));
    EXPECT_EQ(Digests.size(), 1u);
    D.Digest = Digests.empty() ? std::string(32, '0') : Digests.front();
    Evidence E;
    E.Device = "NVIDIA H200";
    E.Toolkit = U.NvccVersion;
    E.Date = Date.str();
    E.CodeDigest = std::string(32, 'c');
    D.Basis = E;
    return D;
  }
  /// Writes decisions into \p Store, and publishes all of it. Returns what publish() did.
  Publication publishFrom(UnitStore &Store, llvm::StringRef Key, std::vector<Decision> Decisions) {
    Profile P;
    P.Kernels = std::move(Decisions);
    EXPECT_EQ(messageOf(writeDecisions(Store, Key, printProfile(P))), "");
    UnitStore Site(siteRoot());
    EXPECT_TRUE(Site.writable());
    LinkLock Alone = llvm::cantFail(LinkLock::take(publishLockPath(siteRoot()), 10s));
    return valueOf(publish(Store, Site, Alone));
  }
  size_t records() const { return entryNames(siteRoot(), EntryKind::Published).size(); }
};

} // namespace

TEST_F(PublishedDecisionsTest, published_forAnotherCheckout_holdsForTheSameKernel) {
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  Publication Done = publishFrom(Builder, U.Key, {decisionFor(U, Builder, 40)});
  EXPECT_EQ(Done.New, 1u);
  EXPECT_EQ(Done.Records, 1u);

  UnitStore Mine(Dir->path() + "/mine", siteRoot());
  Unit Here = putUnit(Mine, std::string(32, 'e'));
  Profile Site = siteDecisions(Here, Mine);
  ASSERT_EQ(Site.Kernels.size(), 1u);
  EXPECT_EQ(Site.Name, "site");
  EXPECT_EQ(Site.Kernels[0].Variant.Cap, 40u);
  EXPECT_EQ(withSiteDecisions(storedDecisions(Here, Mine), Here, Mine).Kernels.size(), 1u);
  EXPECT_TRUE(siteDecisions(Here, UnitStore(Mine.root())).Kernels.empty()) << "without a site";
}

TEST_F(PublishedDecisionsTest, ownDecision_winsOverTheSites) {
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  publishFrom(Builder, U.Key, {decisionFor(U, Builder, 40)});
  UnitStore Mine(Dir->path() + "/mine", siteRoot());
  Unit Here = putUnit(Mine, std::string(32, 'e'));
  Profile Own;
  Own.Kernels = {decisionFor(Here, Mine, 48, "2020-01-01T00:00:00Z")};
  Profile Both = withSiteDecisions(Own, Here, Mine);
  ASSERT_EQ(Both.Kernels.size(), 1u);
  EXPECT_EQ(Both.Kernels[0].Variant.Cap, 48u);
}

TEST_F(PublishedDecisionsTest, otherCodeOfTheName_isLeftOut) {
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  Decision Other = decisionFor(U, Builder, 40);
  Other.Digest = std::string(32, '7');
  publishFrom(Builder, U.Key, {Other});
  UnitStore Mine(Dir->path() + "/mine", siteRoot());
  Unit Here = putUnit(Mine);
  EXPECT_EQ(publishedDecisions(*Mine.site(), kernelsOf(Here, Mine)).size(), 1u);
  EXPECT_TRUE(siteDecisions(Here, Mine).Kernels.empty());
}

TEST_F(PublishedDecisionsTest, laterEvidence_replacesEarlierAndNotTheReverse) {
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  publishFrom(Builder, U.Key, {decisionFor(U, Builder, 40, "2026-01-01T00:00:00Z")});
  Publication Again = publishFrom(Builder, U.Key, {decisionFor(U, Builder, 40)});
  EXPECT_EQ(Again.New, 0u);
  EXPECT_EQ(Again.Known, 1u);
  Publication Later =
      publishFrom(Builder, U.Key, {decisionFor(U, Builder, 56, "2026-02-01T00:00:00Z")});
  EXPECT_EQ(Later.Replaced, 1u);
  EXPECT_EQ(records(), 1u);
  Publication Earlier =
      publishFrom(Builder, U.Key, {decisionFor(U, Builder, 72, "2025-02-01T00:00:00Z")});
  EXPECT_EQ(Earlier.Known, 1u);
  UnitStore Mine(Dir->path() + "/mine", siteRoot());
  EXPECT_EQ(siteDecisions(putUnit(Mine), Mine).Kernels.at(0).Variant.Cap, 56u);
}

TEST_F(PublishedDecisionsTest, pinsAndFileCaps_areNotPublished) {
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  Decision Pin = decisionFor(U, Builder, 40);
  Pin.Digest.reset();
  Pin.Basis.reset();
  EXPECT_EQ(publishFrom(Builder, U.Key, {Pin}).New, 0u);
  EXPECT_EQ(records(), 0u);
}

TEST_F(PublishedDecisionsTest, digestFiles_ofAKernelsFolder_changeOnlyWithIt) {
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  publishFrom(Builder, U.Key, {});
  UnitStore Mine(Dir->path() + "/mine", siteRoot());
  Unit Here = putUnit(Mine);
  std::vector<std::string> Files = publishedDigests(Here, Mine);
  ASSERT_EQ(Files.size(), 2u) << "of the name and of the mangled name";
  for (const std::string &File : Files)
    setAge(File, 1000);
  publishFrom(Builder, U.Key, {decisionFor(U, Builder, 40)});
  long Youngest = std::min(ageOf(Files[0]), ageOf(Files[1]));
  EXPECT_LT(Youngest, 500);
  EXPECT_GT(std::max(ageOf(Files[0]), ageOf(Files[1])), 500);
  for (const std::string &File : Files)
    setAge(File, 1000);
  publishFrom(Builder, U.Key, {decisionFor(U, Builder, 40)});
  EXPECT_GT(std::min(ageOf(Files[0]), ageOf(Files[1])), 500) << "nothing new";
}

TEST_F(PublishedDecisionsTest, damagedRecord_isFoundByVerifyAndLeftOutByReaders) {
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  publishFrom(Builder, U.Key, {decisionFor(U, Builder, 40)});
  UnitStore Site(siteRoot());
  EXPECT_TRUE(verifyStore(Site, false).empty());
  for (const StoreEntry &Entry : storeEntries(siteRoot()))
    if (Entry.Kind == EntryKind::Published)
      std::ofstream(Entry.Path, std::ios::app) << "# more\n";
  ASSERT_EQ(verifyStore(Site, false).size(), 1u);
  EXPECT_NE(verifyStore(Site, false)[0].What.find("by its content"), std::string::npos);
  UnitStore Mine(Dir->path() + "/mine", siteRoot());
  EXPECT_TRUE(siteDecisions(putUnit(Mine), Mine).Kernels.empty());
  verifyStore(Site, true);
  EXPECT_TRUE(verifyStore(Site, false).empty());
  EXPECT_EQ(messageOf(clearStore(Site)), "");
  EXPECT_FALSE(stdfs::exists(siteRoot()));
}

/// A publisher is killed at many moments. Whatever it leaves is whole, and the next one completes
/// it.
TEST_F(PublishedDecisionsTest, publisherKilled_siteIsCleanAndNextCompletes) {
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  std::vector<Decision> Many;
  for (int I = 0; I < 40; ++I) {
    Many.push_back(decisionFor(U, Builder, 40));
    Many.back().Kernel = "k" + std::to_string(I) + "(double*)";
  }
  Profile P;
  P.Kernels = Many;
  ASSERT_EQ(messageOf(writeDecisions(Builder, U.Key, printProfile(P))), "");
  for (int Round = 0; Round < 12; ++Round) {
    pid_t Child = ::fork();
    ASSERT_GE(Child, 0);
    if (Child == 0) {
      UnitStore Site(siteRoot());
      if (Site.writable())
        if (llvm::Expected<LinkLock> Alone = LinkLock::take(publishLockPath(siteRoot()), 10s))
          llvm::consumeError(publish(Builder, Site, *Alone).takeError());
      ::_exit(0);
    }
    ::usleep(2000 * Round);
    ::kill(Child, SIGKILL);
    ::waitpid(Child, nullptr, 0);
    for (const StoreFault &F : verifyStore(UnitStore(siteRoot()), false))
      ADD_FAILURE() << Round << ": " << F.Path << ": " << F.What;
  }
  publishFrom(Builder, U.Key, Many);
  EXPECT_EQ(records(), Many.size());
}

TEST_F(PublishedDecisionsTest, siteDecision_makesOutputsStaleAndUnseenOnesAreTold) {
  UnitStore Mine(Dir->path() + "/mine", siteRoot());
  Unit Here = sampleUnit();
  Here.Source = Dir->path() + "/k.cu";
  Here.Output = Dir->path() + "/k.o";
  Here.Cue = RebuildCue::Depfile;
  Here.Choices = digestOf("");
  Here.Images[0].Kernels.resize(1);
  Here.Ptx.clear();
  Here.Images[0].PtxDigest = valueOf(Mine.putBlob(Ptx));
  ASSERT_EQ(messageOf(Mine.putUnit(Here)), "");
  for (const std::string &File : {Here.Source, Here.Output})
    std::ofstream(File) << "x";
  EXPECT_TRUE(staleOutputs(Mine, {}).empty());
  UnitStore Builder(Root);
  Unit U = putUnit(Builder);
  publishFrom(Builder, U.Key, {decisionFor(U, Builder, 40)});
  UnitStore Again(Mine.root(), siteRoot());
  setAge(Here.Output, 1000);
  std::vector<StaleOutput> Stale = staleOutputs(Again, {});
  ASSERT_EQ(Stale.size(), 1u);
  EXPECT_TRUE(Stale[0].ByDecision);
  EXPECT_FALSE(Stale[0].Unseen) << "the site's files are newer";
  setAge(Here.Output, -1000);
  Stale = staleOutputs(Again, {});
  ASSERT_EQ(Stale.size(), 1u);
  EXPECT_TRUE(Stale[0].Unseen);
}
