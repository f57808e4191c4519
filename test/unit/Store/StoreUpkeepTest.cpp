#include "Store/StoreUpkeep.h"
#include "Store/DecisionFiles.h"
#include "Store/UnitStore.h"
#include "StoreTesting.h"
#include "Support/Digest.h"

#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <fstream>
#include <sys/stat.h>
#include <thread>

using namespace carve;
namespace stdfs = std::filesystem;

namespace {

class StoreUpkeepTest : public StoreTest {
protected:
  /// Returns a unit with one container and two blobs of its own, all of the same age.
  Unit put(UnitStore &Store, char Name, long AgeS) {
    Unit U = sampleUnit();
    U.Key = std::string(32, Name);
    U.Containers = {digestOf("container of " + U.Key)};
    U.Images[0].PtxDigest = valueOf(Store.putBlob("ptx of " + U.Key));
    U.Images[0].CubinDigest = valueOf(Store.putBlob("cubin of " + U.Key));
    EXPECT_EQ(messageOf(Store.putUnit(U)), "");
    EXPECT_EQ(messageOf(writeDecisions(Store, U.Key, "carve-profile: 1\n")), "");
    for (const std::string &Digest : {U.Images[0].PtxDigest, U.Images[0].CubinDigest})
      setAge(blobFile(Digest), AgeS);
    setAge(unitFile(U.Key), AgeS);
    return U;
  }
  std::string blobFile(const std::string &Digest) const {
    return Root + "/blobs/" + Digest.substr(0, 2) + "/" + Digest;
  }
  std::string unitFile(const std::string &Key) const { return Root + "/units/" + Key + ".json"; }
};

} // namespace

TEST_F(StoreUpkeepTest, store_absent_isEmpty) {
  UnitStore Store(Root);
  StoreStats Stats = storeStats(Store);
  EXPECT_EQ(Stats.Units + Stats.Blobs + Stats.Decisions + Stats.Reports + Stats.Bytes, 0u);
  EXPECT_TRUE(Stats.Passthroughs.empty());
  EXPECT_TRUE(verifyStore(Store, true).empty());
  EXPECT_EQ(messageOf(pruneStore(Store, 0)), "");
  EXPECT_EQ(messageOf(clearStore(Store)), "");
  EXPECT_FALSE(stdfs::exists(Root));
}

TEST_F(StoreUpkeepTest, stats_ofEntries_countEachKind) {
  UnitStore Store(Root);
  put(Store, 'a', 0);
  put(Store, 'b', 0);
  EXPECT_EQ(messageOf(Store.putReport("r", "{}")), "");
  Store.countPassthrough("device-lto");
  StoreStats Stats = storeStats(Store);
  EXPECT_EQ(Stats.Units, 2u);
  EXPECT_EQ(Stats.Blobs, 4u);
  EXPECT_EQ(Stats.Decisions, 2u);
  EXPECT_EQ(Stats.Reports, 1u);
  uint64_t Bytes = 0;
  for (const std::string &Path : files())
    Bytes += stdfs::file_size(Path);
  EXPECT_EQ(Stats.Bytes, Bytes);
}

TEST_F(StoreUpkeepTest, verify_everyKindOfDamage_isFound) {
  UnitStore Store(Root);
  Unit A = put(Store, 'a', 0), B = put(Store, 'b', 0), C = put(Store, 'c', 0),
       D = put(Store, 'd', 0);
  EXPECT_EQ(messageOf(Store.putReport("r", "{")), "");
  EXPECT_EQ(messageOf(Store.putAttempt(D.Key, "{}")), "");
  EXPECT_EQ(messageOf(writeDecisions(Store, D.Key, "carve-profile: 1\nkernel: []\n")), "");
  std::ofstream(blobFile(A.Images[0].PtxDigest)) << "x";
  std::ofstream(unitFile(B.Key)) << "{}";
  stdfs::remove(unitFile(C.Key)); // The container of C now leads nowhere.
  std::vector<std::string> Paths;
  for (const StoreFault &Fault : verifyStore(Store, false)) {
    Paths.push_back(Fault.Path);
    EXPECT_FALSE(Fault.What.empty());
  }
  // The faults are the blob, the report, the decisions, B's record and the containers of B and C.
  EXPECT_EQ(Paths.size(), 6u) << testing::PrintToString(Paths);
  EXPECT_EQ(verifyStore(Store, false).size(), 6u) << "looking must not repair";

  // A is removed with its blob, and the container with A.
  EXPECT_EQ(verifyStore(Store, true).size(), 8u);
  EXPECT_TRUE(verifyStore(Store, false).empty());
  std::vector<Unit> Left = Store.units();
  ASSERT_EQ(Left.size(), 1u);
  EXPECT_EQ(Left[0].Key, D.Key);
  EXPECT_EQ(valueOf(readDecisions(Store, D.Key)), std::nullopt);
  EXPECT_TRUE(valueOf(readDecisions(Store, A.Key)));
  EXPECT_EQ(valueOf(Store.attempt(D.Key)), "{}");
}

TEST_F(StoreUpkeepTest, newerFormat_repaired_isReportedAndStays) {
  UnitStore Store(Root);
  Unit A = put(Store, 'a', 0);
  std::ofstream(unitFile(A.Key)) << "{\"carve-unit\": 2}";
  std::ofstream(Root + "/decisions/" + A.Key + ".yaml") << "carve-profile: 2\n";
  EXPECT_EQ(verifyStore(Store, true).size(), 3u); // The container that leads to it is a fault, too.
  EXPECT_TRUE(stdfs::exists(unitFile(A.Key)));
  EXPECT_TRUE(valueOf(readDecisions(Store, A.Key)));
  EXPECT_TRUE(stdfs::exists(Root + "/containers/" + A.Containers[0] + "/" + A.Key));
}

TEST_F(StoreUpkeepTest, unit_blobMissing_isAFault) {
  UnitStore Store(Root);
  Unit A = put(Store, 'a', 0);
  A.Ptx[0].PtxDigest = valueOf(Store.putBlob("embedded"));
  EXPECT_EQ(messageOf(Store.putUnit(A)), "");
  EXPECT_TRUE(verifyStore(Store, false).empty());
  stdfs::remove(blobFile(A.Ptx[0].PtxDigest));
  std::vector<StoreFault> Faults = verifyStore(Store, false);
  ASSERT_EQ(Faults.size(), 1u);
  EXPECT_EQ(Faults[0].Path, unitFile(A.Key));
  EXPECT_EQ(Faults[0].What, "refers to blob " + A.Ptx[0].PtxDigest + ", which is not there");
}

TEST_F(StoreUpkeepTest, prune_storeTooLarge_evictsTheLongestUnusedFirst) {
  UnitStore Store(Root);
  Unit Old = put(Store, 'a', 3000), Middle = put(Store, 'b', 2000), Young = put(Store, 'c', 1000);
  uint64_t All = storeStats(Store).Bytes;
  EXPECT_EQ(messageOf(pruneStore(Store, All)), "");
  EXPECT_EQ(storeStats(Store).Bytes, All);

  EXPECT_EQ(messageOf(pruneStore(Store, All - 1)), "");
  EXPECT_LT(storeStats(Store).Bytes, All);
  EXPECT_FALSE(valueOf(Store.unit(Old.Key))) << "a unit goes with its blob";
  EXPECT_FALSE(stdfs::exists(Root + "/containers/" + Old.Containers[0]));
  EXPECT_TRUE(valueOf(readDecisions(Store, Old.Key))) << "decisions are dear";
  EXPECT_TRUE(valueOf(Store.unit(Middle.Key)));
  EXPECT_EQ(valueOf(Store.blob(Middle.Images[0].PtxDigest)), "ptx of " + Middle.Key);

  uint64_t YoungBytes = stdfs::file_size(unitFile(Young.Key)) + 500;
  EXPECT_EQ(messageOf(pruneStore(Store, YoungBytes)), "");
  EXPECT_LE(storeStats(Store).Bytes, YoungBytes);
  EXPECT_FALSE(valueOf(Store.unit(Middle.Key)));
  EXPECT_TRUE(valueOf(Store.unit(Young.Key)));
  EXPECT_TRUE(verifyStore(Store, false).empty());

  EXPECT_EQ(messageOf(pruneStore(Store, 0)), "");
  EXPECT_TRUE(Store.units().empty());
  EXPECT_EQ(storeStats(Store).Blobs, 0u);
  EXPECT_EQ(storeStats(Store).Decisions, 3u);
}

TEST_F(StoreUpkeepTest, prune_oldTemporaries_areRemoved) {
  UnitStore Store(Root);
  put(Store, 'a', 0);
  std::string Fresh = Root + "/units/x.json.carve-00000001", Stale = Fresh + "2";
  std::ofstream(Fresh) << "x";
  std::ofstream(Stale) << "x";
  setAge(Stale, 7200);
  EXPECT_EQ(storeStats(Store).Units, 1u);
  EXPECT_EQ(messageOf(pruneStore(Store, 1 << 30)), "");
  EXPECT_TRUE(stdfs::exists(Fresh));
  EXPECT_FALSE(stdfs::exists(Stale));
}

TEST_F(StoreUpkeepTest, pruneSometimes_calledOften_prunesOnceAnHour) {
  UnitStore Store(Root);
  put(Store, 'a', 0);
  pruneSometimes(Store, 0);
  EXPECT_TRUE(Store.units().empty());
  put(Store, 'b', 0);
  pruneSometimes(Store, 0);
  EXPECT_EQ(Store.units().size(), 1u) << "pruned twice within the hour";
  setAge(Root + "/pruned", 3700);
  pruneSometimes(Store, 0);
  EXPECT_TRUE(Store.units().empty());
  put(Store, 'c', 0);
  setAge(Root + "/pruned", -100000); // The stamp comes from a clock that was wrong.
  pruneSometimes(Store, 0);
  EXPECT_TRUE(Store.units().empty());
}

TEST_F(StoreUpkeepTest, clear_otherFilesPresent_removesOnlyItsOwn) {
  UnitStore Store(Root);
  put(Store, 'a', 0);
  EXPECT_EQ(messageOf(Store.putReport("r", "{}")), "");
  EXPECT_EQ(messageOf(Store.putAttempt("a", "{}")), "");
  Store.countPassthrough("why");
  pruneSometimes(Store, 1 << 30);
  std::ofstream(Root + "/units/x.json.carve-00000001") << "x";
  EXPECT_EQ(messageOf(clearStore(Store)), "");
  EXPECT_FALSE(stdfs::exists(Root)) << testing::PrintToString(files());

  // The store points at an unrelated directory by mistake.
  put(Store, 'a', 0);
  std::vector<std::string> Foreign = {Root + "/thesis.tex", Root + "/reports/2026.pdf",
                                      Root + "/blobs/cat.jpg", Root + "/containers/x/notes"};
  stdfs::create_directories(Root + "/reports");
  stdfs::create_directories(Root + "/containers/x");
  for (const std::string &Path : Foreign)
    std::ofstream(Path) << "dear";
  EXPECT_EQ(messageOf(pruneStore(Store, 0)), "");
  EXPECT_EQ(messageOf(clearStore(Store)), "");
  std::vector<std::string> Left = files();
  std::sort(Left.begin(), Left.end());
  std::sort(Foreign.begin(), Foreign.end());
  EXPECT_EQ(Left, Foreign);
}

/// Pipes, links and directories are in the places of the store's files, logs and stamps.
TEST_F(StoreUpkeepTest, specialFiles_verified_areFoundAndRemoved) {
  UnitStore Store(Root);
  Unit U = put(Store, 'a', 0);
  Store.countPassthrough("reason");
  const std::string Places[] = {unitFile(U.Key),
                                blobFile(U.Images[0].PtxDigest),
                                Root + "/containers/" + U.Containers[0] + "/" + U.Key,
                                Root + "/decisions/" + U.Key + ".yaml",
                                Root + "/decisions.digest",
                                Root + "/passthroughs.log",
                                Root + "/pruned",
                                Root + "/lock"};
  for (const std::string &Path : Places) {
    SCOPED_TRACE(Path);
    for (int Kind = 0; Kind < 4; ++Kind) {
      stdfs::remove(Path);
      if (Kind == 0)
        ASSERT_EQ(mkfifo(Path.c_str(), 0600), 0);
      else if (Kind == 1)
        stdfs::create_symlink("/dev/zero", Path);
      else if (Kind == 2)
        stdfs::create_directory(Path);
      else
        stdfs::create_symlink("nowhere", Path);
      auto NamesIt = [&](const StoreFault &F) {
        return F.Path == Path && F.What.find("expected a regular file") != std::string::npos;
      };
      EXPECT_TRUE(llvm::any_of(verifyStore(Store, false), NamesIt)) << Kind;
      verifyStore(Store, true);
      EXPECT_FALSE(stdfs::is_symlink(stdfs::symlink_status(Path)) || stdfs::exists(Path)) << Kind;
      EXPECT_TRUE(verifyStore(Store, false).empty()) << Kind;
      put(Store, 'a', 0);
      Store.countPassthrough("reason");
    }
  }
}

TEST_F(StoreUpkeepTest, directoryInPlaceOfAnEntry_writtenOrRepaired_isReplaced) {
  UnitStore Store(Root);
  Unit U = put(Store, 'a', 0);
  const std::string Blob = blobFile(U.Images[0].PtxDigest);
  auto Replace = [](const std::string &Path) {
    stdfs::remove(Path);
    stdfs::create_directories(Path + "/inside");
    std::ofstream(Path + "/inside/file") << "text";
  };
  Replace(Blob);
  Replace(unitFile(U.Key));
  put(Store, 'a', 0);
  EXPECT_TRUE(verifyStore(Store, false).empty());
  Replace(Blob);
  EXPECT_FALSE(verifyStore(Store, true).empty());
  EXPECT_FALSE(stdfs::exists(Blob));
  EXPECT_TRUE(verifyStore(Store, false).empty());
}

TEST_F(StoreUpkeepTest, linkInPlaceOfAFolder_repaired_isRemovedAndItsTargetStays) {
  UnitStore Store(Root);
  Unit U = put(Store, 'a', 0);
  const std::string Victim = Root + "-victim";
  stdfs::create_directory(Victim);
  std::ofstream(Victim + "/precious") << "text";
  const std::string Folders[] = {Root + "/containers/" + U.Containers[0],
                                 stdfs::path(blobFile(U.Images[0].PtxDigest)).parent_path()};
  for (const std::string &Folder : Folders) {
    stdfs::remove_all(Folder);
    stdfs::create_directory_symlink(Victim, Folder);
    EXPECT_FALSE(verifyStore(Store, true).empty()) << Folder;
    EXPECT_FALSE(stdfs::is_symlink(Folder));
    EXPECT_TRUE(stdfs::exists(Victim + "/precious"));
    put(Store, 'a', 0);
  }
  stdfs::remove_all(Victim);
}

TEST_F(StoreUpkeepTest, fileOthersMayWrite_verified_isAFault) {
  UnitStore Store(Root);
  Unit U = put(Store, 'a', 0);
  ASSERT_EQ(chmod(unitFile(U.Key).c_str(), 0666), 0);
  std::vector<StoreFault> Faults = verifyStore(Store, false);
  ASSERT_FALSE(Faults.empty());
  EXPECT_NE(Faults[0].What.find("has mode 0666"), std::string::npos) << Faults[0].What;
  EXPECT_EQ(messageOf(Store.putUnit(U)), "");
  EXPECT_TRUE(verifyStore(Store, false).empty());
}

TEST_F(StoreUpkeepTest, verify_afterParallelCompilesWithPruning_findsNothing) {
  UnitStore Store(Root);
  ASSERT_TRUE(Store.writable());
  constexpr int Writers = 4, Rounds = 60;
  std::atomic<int> Running = Writers;
  auto Compile = [&](int Writer) {
    UnitStore Own(Root);
    for (int I = 0; I < Rounds; ++I) {
      // Units of several writers have the same key, as when two commands make one output, and units
      // share blobs.
      Unit U = sampleUnit();
      U.Key = std::string(32, char('a' + (Writer + I) % 5));
      U.Containers = {
          digestOf("container " + std::to_string(Writer) + "." + std::to_string(I % 7))};
      auto Ptx = Own.putBlob("ptx " + std::to_string(I % 3));
      auto Cubin = Own.putBlob("cubin " + std::to_string(Writer) + "." + std::to_string(I));
      if (Ptx && Cubin) {
        U.Images[0].PtxDigest = *Ptx;
        U.Images[0].CubinDigest = *Cubin;
        // This fails if the unit's blobs were evicted meanwhile.
        llvm::consumeError(Own.putUnit(U));
      } else {
        llvm::consumeError(Ptx.takeError());
        llvm::consumeError(Cubin.takeError());
      }
    }
    --Running;
  };
  std::vector<std::thread> Threads;
  for (int Writer = 0; Writer < Writers; ++Writer)
    Threads.emplace_back(Compile, Writer);
  while (Running > 0)
    EXPECT_EQ(messageOf(pruneStore(Store, 2000)), "");
  for (std::thread &T : Threads)
    T.join();
  for (const StoreFault &Fault : verifyStore(Store, false))
    ADD_FAILURE() << Fault.Path << ": " << Fault.What;
}

TEST_F(StoreUpkeepTest, verify_whileUnitsAreWritten_findsNothing) {
  UnitStore Store(Root);
  ASSERT_TRUE(Store.writable());
  std::atomic<bool> Stop = false;
  std::thread Writer([&] {
    UnitStore Own(Root);
    for (int I = 0; !Stop; ++I) {
      Unit U = sampleUnit();
      U.Containers = {digestOf(std::to_string(I % 2))};
      EXPECT_EQ(messageOf(Own.putUnit(U)), "");
    }
  });
  for (int I = 0; I < 100; ++I)
    for (const StoreFault &Fault : verifyStore(Store, false))
      ADD_FAILURE() << Fault.Path << ": " << Fault.What;
  Stop = true;
  Writer.join();
}

TEST_F(StoreUpkeepTest, putUnit_blobEvictedBefore_fails) {
  UnitStore Store(Root);
  Unit A = put(Store, 'a', 0);
  stdfs::remove(blobFile(A.Images[0].PtxDigest));
  EXPECT_NE(messageOf(Store.putUnit(A)).find("which is not there"), std::string::npos);
}
