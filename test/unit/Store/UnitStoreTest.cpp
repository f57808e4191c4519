#include "Store/UnitStore.h"
#include "Store/DecisionFiles.h"
#include "Store/StoreUpkeep.h"

#include "Store/StoreLayout.h"
#include "Store/UnitJson.h"
#include "StoreTesting.h"
#include "Support/Digest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
namespace stdfs = std::filesystem;

namespace {

class UnitStoreTest : public StoreTest {
protected:
  std::string blobFile(const std::string &Digest) const {
    return Root + "/blobs/" + Digest.substr(0, 2) + "/" + Digest;
  }
  /// Stores a unit and its blobs in \p Store and returns it.
  static Unit putSample(UnitStore &Store, llvm::StringRef Key = sampleUnit().Key) {
    Unit U = sampleUnit();
    U.Key = Key.str();
    U.Images[0].PtxDigest = valueOf(Store.putBlob("ptx of " + U.Key));
    U.Images[0].CubinDigest = valueOf(Store.putBlob("cubin of " + U.Key));
    EXPECT_EQ(messageOf(Store.putUnit(U)), "");
    return U;
  }
};

/// Runs \p Body in \p Count processes at once. A body returns true if it succeeded.
template <typename Function> void inProcesses(int Count, Function Body) {
  std::vector<pid_t> Children;
  for (int Index = 0; Index < Count; ++Index) {
    pid_t Child = fork();
    ASSERT_GE(Child, 0);
    if (Child == 0)
      _exit(Body(Index) ? 0 : 1);
    Children.push_back(Child);
  }
  for (pid_t Child : Children) {
    int Status = 0;
    ASSERT_EQ(waitpid(Child, &Status, 0), Child);
    EXPECT_TRUE(WIFEXITED(Status) && WEXITSTATUS(Status) == 0) << "status " << Status;
  }
}

bool succeeded(llvm::Error Result) {
  if (!Result)
    return true;
  // A failing test is diagnosed from the child's standard error.
  llvm::logAllUnhandledErrors(std::move(Result), llvm::errs(), "child: ");
  return false;
}

bool refused(llvm::Error Result) {
  bool Bad = static_cast<bool>(Result);
  llvm::consumeError(std::move(Result));
  return Bad;
}

} // namespace

TEST_F(UnitStoreTest, blob_putAndRead_isUnchanged) {
  UnitStore Store(Root);
  std::string Binary("a\0b\xff", 4), Large(3 << 20, 'x');
  for (const std::string &Bytes : {std::string(), Binary, Large}) {
    std::string Digest = valueOf(Store.putBlob(Bytes));
    EXPECT_EQ(Digest, digestOf(Bytes));
    EXPECT_EQ(valueOf(Store.blob(Digest)), Bytes);
  }
  EXPECT_LT(stdfs::file_size(blobFile(digestOf(Large))), 10000u);
}

TEST_F(UnitStoreTest, blob_putAgain_onlyAgeIsRenewed) {
  UnitStore Store(Root);
  std::string Path = blobFile(valueOf(Store.putBlob("text")));
  setAge(Path, 5000);
  struct stat Before{}, After{};
  stat(Path.c_str(), &Before);
  valueOf(Store.putBlob("text"));
  stat(Path.c_str(), &After);
  EXPECT_EQ(Before.st_ino, After.st_ino);
  EXPECT_LT(ageOf(Path), 100);
}

TEST_F(UnitStoreTest, blob_damaged_isNeverReturned) {
  UnitStore Store(Root);
  std::string Digest = valueOf(Store.putBlob("some text that is kept")), Path = blobFile(Digest);
  const std::string Whole = valueOf(readFile(Path));
  for (size_t I = 0; I < Whole.size(); ++I) {
    std::string Damaged = Whole;
    Damaged[I] ^= 0x10;
    std::ofstream(Path) << Damaged;
    llvm::Expected<std::string> Back = Store.blob(Digest);
    ASSERT_TRUE(!Back || *Back == "some text that is kept") << I;
    llvm::consumeError(Back.takeError());
    std::ofstream(Path) << Whole.substr(0, I);
    ASSERT_NE(messageOf(Store.blob(Digest)), "") << I;
  }
  std::ofstream(Path) << "carve-blob 1 18446744073709551615\n";
  EXPECT_NE(messageOf(Store.blob(Digest)), "");
  // The intact content of another blob is damage, too.
  stdfs::copy_file(blobFile(valueOf(Store.putBlob("other"))), Path,
                   stdfs::copy_options::overwrite_existing);
  EXPECT_NE(messageOf(Store.blob(Digest)).find("expected " + Digest), std::string::npos);
  // The next compile repairs it.
  valueOf(Store.putBlob("some text that is kept"));
  EXPECT_EQ(valueOf(Store.blob(Digest)), "some text that is kept");
}

TEST_F(UnitStoreTest, blob_absent_errorNamesItsPath) {
  UnitStore Store(Root);
  std::string Digest(32, 'a');
  EXPECT_NE(messageOf(Store.blob(Digest)).find(blobFile(Digest)), std::string::npos);
}

TEST_F(UnitStoreTest, unit_putAndRead_isUnchanged) {
  UnitStore Store(Root);
  Unit U = putSample(Store);
  std::optional<Unit> Back = valueOf(Store.unit(U.Key));
  ASSERT_TRUE(Back);
  EXPECT_EQ(printUnit(*Back), printUnit(U));
  EXPECT_EQ(valueOf(Store.unit(std::string(32, 'f'))), std::nullopt);
  for (const std::string &Container : U.Containers) {
    std::optional<Unit> Found = valueOf(Store.unitOfContainer(Container));
    ASSERT_TRUE(Found);
    EXPECT_EQ(Found->Key, U.Key);
  }
  EXPECT_FALSE(valueOf(Store.unitOfContainer(std::string(32, 'c'))));
}

TEST_F(UnitStoreTest, container_severalUnits_leadsToEachNewestFirst) {
  UnitStore Store(Root);
  std::string First(32, '1'), Second(32, '2');
  Unit U = putSample(Store, First);
  putSample(Store, Second);
  setAge(Root + "/containers/" + U.Containers[0] + "/" + Second, 500);
  std::vector<Unit> Units = Store.unitsOfContainer(U.Containers[0]);
  ASSERT_EQ(Units.size(), 2u);
  EXPECT_EQ(Units[0].Key, First);
  EXPECT_EQ(Units[1].Key, Second);
  setAge(Root + "/containers/" + U.Containers[0] + "/" + First, 5000);
  putSample(Store, Second); // The unit is compiled again and is now the newest.
  EXPECT_EQ(valueOf(Store.unitOfContainer(U.Containers[0]))->Key, Second);
}

TEST_F(UnitStoreTest, container_unitRebuilt_leadsNowhere) {
  UnitStore Store(Root);
  Unit U = putSample(Store);
  std::string Old = U.Containers[0];
  U.Containers[0] = std::string(32, 'd');
  EXPECT_EQ(messageOf(Store.putUnit(U)), "");
  EXPECT_FALSE(valueOf(Store.unitOfContainer(Old)));
  EXPECT_TRUE(valueOf(Store.unitOfContainer(U.Containers[0])));
  EXPECT_TRUE(valueOf(Store.unitOfContainer(U.Containers[1])));
  EXPECT_FALSE(stdfs::exists(Root + "/containers/" + Old));
}

TEST_F(UnitStoreTest, unreadableUnit_read_failsAndIsNotListed) {
  UnitStore Store(Root);
  std::string Key = putSample(Store).Key, Other(32, '7');
  putSample(Store, Other);
  ASSERT_EQ(Store.units().size(), 2u);
  const std::string Path = Root + "/units/" + Key + ".json";
  const std::string Whole = valueOf(readFile(Path));
  std::string Newer = Whole;
  Newer.replace(Newer.find("\"carve-unit\": 1"), 15, "\"carve-unit\": 9");
  for (const std::string &Bad : {std::string(), Whole.substr(0, 100), Newer}) {
    std::ofstream(Path) << Bad;
    EXPECT_EQ(messageOf(Store.unit(Key)).rfind(Path, 0), 0u);
    ASSERT_EQ(Store.units().size(), 1u);
    EXPECT_EQ(Store.units()[0].Key, Other);
  }
  stdfs::copy_file(Root + "/units/" + Other + ".json", Path,
                   stdfs::copy_options::overwrite_existing);
  EXPECT_EQ(messageOf(Store.unit(Key)),
            Path + ": unit record of key '" + Other + "', expected '" + Key + "'");
  putSample(Store, Key);
  EXPECT_TRUE(valueOf(Store.unit(Key)));
}

TEST_F(UnitStoreTest, decisionsAttemptsReports_putAndRead_areUnchanged) {
  UnitStore Store(Root);
  std::string Key(32, 'a');
  EXPECT_EQ(valueOf(readDecisions(Store, Key)), std::nullopt);
  EXPECT_EQ(valueOf(Store.attempt(Key)), std::nullopt);
  EXPECT_EQ(valueOf(Store.lastReport()), std::nullopt);
  EXPECT_EQ(messageOf(writeDecisions(Store, Key, "first")), "");
  EXPECT_EQ(messageOf(writeDecisions(Store, Key, "carve-profile: 1\n")), "");
  EXPECT_EQ(messageOf(Store.putAttempt(Key, "{}")), "");
  EXPECT_EQ(messageOf(Store.putReport("20261103T120000Z-2", "\"late\"")), "");
  EXPECT_EQ(messageOf(Store.putReport("20261103T110000Z-9", "\"early\"")), "");
  EXPECT_EQ(valueOf(readDecisions(Store, Key)), "carve-profile: 1\n");
  EXPECT_EQ(valueOf(readFile(Root + "/decisions/" + Key + ".yaml")), "carve-profile: 1\n");
  EXPECT_EQ(valueOf(Store.attempt(Key)), "{}");
  EXPECT_EQ(valueOf(Store.lastReport()), "\"late\"");
}

TEST_F(UnitStoreTest, names_leavingTheStore_areRefused) {
  UnitStore Store(Root);
  for (std::string Name : {std::string("../x"), std::string("a/b"), std::string(".."),
                           std::string(), std::string("a\0b", 3)}) {
    Unit U = sampleUnit();
    U.Key = Name;
    EXPECT_NE(messageOf(Store.putUnit(U)), "");
    U = sampleUnit();
    U.Containers = {Name};
    EXPECT_NE(messageOf(Store.putUnit(U)), "");
    EXPECT_NE(messageOf(Store.unit(Name)), "");
    EXPECT_NE(messageOf(Store.blob(Name)), "");
    EXPECT_NE(messageOf(writeDecisions(Store, Name, "x")), "");
    EXPECT_NE(messageOf(Store.putAttempt(Name, "x")), "");
    EXPECT_NE(messageOf(Store.putReport(Name, "x")), "");
    EXPECT_TRUE(Store.unitsOfContainer(Name).empty());
  }
  EXPECT_FALSE(stdfs::exists(Dir->path() + "/x"));
}

TEST_F(UnitStoreTest, store_notWritable_onlyWritesFail) {
  std::ofstream(Dir->path() + "/file") << "in the way";
  for (const std::string &Place :
       {Dir->path() + "/file", Dir->path() + "/file/below", std::string()}) {
    UnitStore Store(Place);
    EXPECT_NE(messageOf(Store.putBlob("text")), "");
    EXPECT_NE(messageOf(Store.putUnit(sampleUnit())), "");
    EXPECT_NE(messageOf(writeDecisions(Store, "key", "text")), "");
    Store.countPassthrough("why");
    pruneSometimes(Store, 0);
    EXPECT_EQ(valueOf(Store.unit("key")), std::nullopt);
    EXPECT_TRUE(Store.units().empty());
    EXPECT_EQ(storeStats(Store).Units, 0u);
    EXPECT_TRUE(verifyStore(Store, true).empty());
  }
  EXPECT_EQ(valueOf(readFile(Dir->path() + "/file")), "in the way");
  EXPECT_FALSE(stdfs::exists("lock")) << "in the working directory";
}

TEST_F(UnitStoreTest, store_readOnly_isRead) {
  if (geteuid() == 0)
    GTEST_SKIP() << "permissions do not bind root";
  UnitStore Store(Root);
  Unit U = putSample(Store);
  auto setMode = [&](stdfs::perms Mode) {
    for (const auto &Entry : stdfs::recursive_directory_iterator(Root))
      if (Entry.is_directory())
        stdfs::permissions(Entry.path(), Mode);
    stdfs::permissions(Root, Mode);
  };
  setMode(stdfs::perms::owner_read | stdfs::perms::owner_exec);
  EXPECT_TRUE(valueOf(Store.unit(U.Key)));
  EXPECT_EQ(valueOf(Store.blob(U.Images[0].PtxDigest)), "ptx of " + U.Key);
  EXPECT_NE(messageOf(Store.putBlob("new")), "");
  EXPECT_NE(messageOf(writeDecisions(Store, U.Key, "new")), "");
  Store.countPassthrough("why");
  pruneSometimes(Store, 0);
  EXPECT_EQ(storeStats(Store).Units, 1u);
  setMode(stdfs::perms::owner_all);
}

// A limit on the size of files acts like a full disk: a write stops in the middle.
TEST_F(UnitStoreTest, diskFull_written_leavesNothingHalfWritten) {
  UnitStore Store(Root);
  std::string Key = putSample(Store).Key;
  EXPECT_EQ(messageOf(writeDecisions(Store, Key, "carve-profile: 1\n")), "");
  std::vector<std::string> Before = files();
  std::string Noise;
  for (uint32_t State = 1; Noise.size() < 100000; State = State * 1664525 + 1013904223)
    Noise += static_cast<char>(State >> 24);
  inProcesses(1, [&](int) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit Limit{50, 50};
    setrlimit(RLIMIT_FSIZE, &Limit);
    Unit U = sampleUnit();
    U.Source = "changed.cu";
    return refused(Store.putBlob(Noise).takeError()) && refused(Store.putUnit(U)) &&
           refused(writeDecisions(Store, Key, Noise));
  });
  EXPECT_EQ(files(), Before);
  EXPECT_EQ(valueOf(readDecisions(Store, Key)), "carve-profile: 1\n");
  EXPECT_EQ(valueOf(Store.unit(Key))->Source, "src/k.cu");
  EXPECT_TRUE(verifyStore(Store, false).empty());
}

TEST_F(UnitStoreTest, parallelProcesses_writingAndDeleting_leaveAValidStore) {
  UnitStore Store(Root);
  inProcesses(64, [&](int Index) {
    for (int Round = 0; Round < 8; ++Round) {
      std::string Text = "shared text " + llvm::utostr(Round);
      llvm::Expected<std::string> Digest = Store.putBlob(Text);
      if (!Digest)
        return false;
      // Another process may have cleared the store, but must never have left other bytes.
      llvm::Expected<std::string> Back = Store.blob(*Digest);
      if (Back && *Back != Text)
        return false;
      llvm::consumeError(Back.takeError());
      Unit U = sampleUnit();
      U.Key = std::string(31, '0') + static_cast<char>('a' + Index % 8);
      U.Images[0].PtxDigest = *Digest;
      std::string Failed = messageOf(Store.putUnit(U));
      if (!Failed.empty() && Failed.find("which is not there") == std::string::npos)
        return false;
      if (!succeeded(Store.unit(U.Key).takeError()))
        return false;
      Store.unitsOfContainer(U.Containers[0]);
      if (Index % 16 == 0 && !succeeded(clearStore(Store)))
        return false;
      if (Index % 16 == 1 && !succeeded(pruneStore(Store, 100)))
        return false;
      if (Index % 16 == 2)
        storeStats(Store);
    }
    return true;
  });
  for (const std::string &Path : files())
    EXPECT_EQ(Path.find(".carve-"), std::string::npos) << Path;
  for (const StoreFault &Fault : verifyStore(Store, false))
    ADD_FAILURE() << Fault.What;
}

TEST(UnitKey, key_projectSourceOrOutputChanged_differs) {
  std::string Key = unitKey("/p", "/p/b", "k.cu", "k.o");
  EXPECT_EQ(Key.size(), 32u);
  EXPECT_EQ(unitKey("/p", "/p/b", "/p/b/k.cu", "./k.o"), Key);
  EXPECT_EQ(unitKey("/p", "/p", "x/../b/k.cu", "b//k.o"), Key);
  EXPECT_NE(unitKey("/q", "/p/b", "k.cu", "k.o"), Key);
  EXPECT_NE(unitKey("/q", "/q/b", "k.cu", "k.o"), Key) << "two checkouts must not share units";
  EXPECT_NE(unitKey("/p", "/p/c", "k.cu", "k.o"), Key);
  EXPECT_NE(unitKey("/p", "/p/b", "l.cu", "k.o"), Key);
  EXPECT_NE(unitKey("/p", "/p/b", "k.cu", "l.o"), Key);
}

TEST_F(UnitStoreTest, projectRoot_nestedCheckouts_isTheNearest) {
  std::string Top = Dir->path() + "/top";
  stdfs::create_directories(Top + "/a/b/c");
  EXPECT_EQ(projectRoot(Top + "/a/b"), Top + "/a/b");
  stdfs::create_directory(Top + "/.git");
  EXPECT_EQ(projectRoot(Top + "/a/b"), Top);
  EXPECT_EQ(projectRoot(Top), Top);
  // A work tree or a submodule has a file instead of a directory.
  std::ofstream(Top + "/a/b/.git") << "gitdir: elsewhere\n";
  EXPECT_EQ(projectRoot(Top + "/a/b/c"), Top + "/a/b");
  EXPECT_EQ(projectRoot("/"), "/");
}

/// A line of a few bytes may claim any length.
TEST_F(UnitStoreTest, blobWithTooLargeLength_read_isRefused) {
  UnitStore Store(Root);
  std::string Digest = valueOf(Store.putBlob("bytes"));
  std::string Path = Root + "/blobs/" + Digest.substr(0, 2) + "/" + Digest;
  llvm::cantFail(writeFileAtomically(Path, "carve-blob 1 2147483648\nrest"));
  EXPECT_NE(messageOf(Store.blob(Digest)).find("not a blob: expected"), std::string::npos);
  llvm::cantFail(writeFileAtomically(Path, "carve-blob 1 1073741824\nrest"));
  EXPECT_NE(messageOf(Store.blob(Digest)).find("damaged blob"), std::string::npos);
  EXPECT_EQ(valueOf(Store.putBlob("bytes")), Digest);
  EXPECT_EQ(valueOf(Store.blob(Digest)), "bytes");
}

TEST_F(UnitStoreTest, recordNoReaderAccepts_put_isNotWritten) {
  UnitStore Store(Root);
  Unit U = sampleUnit();
  U.Images[0].PtxasOptions.push_back("--options-file=x");
  EXPECT_NE(messageOf(Store.putUnit(U)).find("expected an option of ptxas that names no file"),
            std::string::npos);
  U = sampleUnit();
  U.Images[0].PtxName = "../k.ptx";
  EXPECT_NE(messageOf(Store.putUnit(U)).find("expected one component of a path"),
            std::string::npos);
  EXPECT_TRUE(Store.units().empty());
}

TEST_F(UnitStoreTest, storeOthersMayWrite_used_isRefused) {
  {
    UnitStore Store(Root);
    EXPECT_EQ(messageOf(Store.putUnit(sampleUnit())), "");
    EXPECT_EQ(Store.refusal(), "");
  }
  ASSERT_EQ(chmod((Root + "/units").c_str(), 0775), 0);
  UnitStore Store(Root);
  const std::string Why = Root +
                          "/units has mode 0775, expected one that other users cannot "
                          "write: run `chmod -R go-w " +
                          Root + "/units` if you trust it";
  EXPECT_EQ(Store.refusal(), Why);
  EXPECT_FALSE(Store.writable());
  EXPECT_EQ(messageOf(Store.unit(sampleUnit().Key)), "the store is not used: " + Why);
  EXPECT_EQ(messageOf(Store.putUnit(sampleUnit())), "the store is not used: " + Why);
  EXPECT_EQ(messageOf(Store.putBlob("x")), "the store is not used: " + Why);
  EXPECT_EQ(messageOf(decisionFile(Store, sampleUnit().Key)), "the store is not used: " + Why);
  EXPECT_TRUE(Store.units().empty());
  size_t Before = files().size();
  Store.countPassthrough("reason");
  EXPECT_EQ(files().size(), Before);
}

/// A pipe would block every command that is handed to nvcc.
TEST_F(UnitStoreTest, logIsPipeOrLink_counted_isLeftAlone) {
  UnitStore Store(Root);
  ASSERT_TRUE(Store.writable());
  const std::string Log = Root + "/passthroughs.log";
  ASSERT_EQ(mkfifo(Log.c_str(), 0600), 0);
  Store.countPassthrough("reason");
  EXPECT_TRUE(storeStats(Store).Passthroughs.empty());
  ASSERT_EQ(unlink(Log.c_str()), 0);
  llvm::cantFail(writeFileAtomically(Root + "/victim", "old"));
  ASSERT_EQ(symlink("victim", Log.c_str()), 0);
  Store.countPassthrough("reason");
  EXPECT_EQ(valueOf(readFile(Root + "/victim")), "old");
}

TEST_F(UnitStoreTest, siteAbove_whatIsMissingHere_isReadThere) {
  const std::string There = Dir->path() + "/site";
  UnitStore Site(There);
  Unit U = putSample(Site);
  ASSERT_EQ(messageOf(Site.putFlavour("flavour", "flavour ptx")), "");
  const auto Before = stdfs::last_write_time(blobPath(There, U.Images[0].PtxDigest));
  UnitStore Store(Root, There);
  EXPECT_EQ(valueOf(Store.unit(U.Key))->Source, U.Source);
  EXPECT_EQ(valueOf(Store.blob(U.Images[0].PtxDigest)), "ptx of " + U.Key);
  EXPECT_EQ(valueOf(Store.flavour("flavour")), "flavour ptx");
  ASSERT_EQ(Store.unitsOfContainer(U.Containers[0]).size(), 1u);
  EXPECT_TRUE(Store.units().empty()) << "the list is of this store";
  EXPECT_FALSE(valueOf(Store.alone().unit(U.Key)));
  EXPECT_EQ(stdfs::last_write_time(blobPath(There, U.Images[0].PtxDigest)), Before);
  EXPECT_FALSE(stdfs::exists(Root)) << "reading writes nothing";
}

TEST_F(UnitStoreTest, unitFromSite_putHere_bringsItsBlobs) {
  const std::string There = Dir->path() + "/site";
  UnitStore Site(There);
  Unit U = putSample(Site);
  {
    UnitStore Store(Root, There);
    ASSERT_EQ(messageOf(Store.putUnit(U)), "");
  }
  stdfs::remove_all(There);
  UnitStore Alone(Root);
  EXPECT_EQ(valueOf(Alone.blob(U.Images[0].CubinDigest)), "cubin of " + U.Key);
  EXPECT_TRUE(verifyStore(Alone, false).empty());
}

TEST_F(UnitStoreTest, siteStore_written_isRefused) {
  const std::string There = Dir->path() + "/site";
  UnitStore(There).writable();
  UnitStore Site = UnitStore::siteAt(There);
  EXPECT_FALSE(Site.writable());
  EXPECT_EQ(messageOf(Site.putBlob("x")), "the store " + There + " is the site's and only read");
  EXPECT_TRUE(stdfs::is_empty(There));
}

TEST_F(UnitStoreTest, siteMissingOrOthersMayWrite_isNotUsedAndNothingFails) {
  const std::string There = Dir->path() + "/site";
  UnitStore Missing(Root, There);
  EXPECT_EQ(Missing.site(), nullptr);
  EXPECT_FALSE(valueOf(Missing.unit(sampleUnit().Key)));
  UnitStore Site(There);
  Unit U = putSample(Site);
  ASSERT_EQ(chmod(There.c_str(), 0775), 0);
  UnitStore Store(Root, There);
  EXPECT_EQ(Store.site(), nullptr);
  EXPECT_FALSE(valueOf(Store.unit(U.Key)));
  EXPECT_EQ(messageOf(Store.putUnit(sampleUnit())), "");
}

TEST_F(UnitStoreTest, siteDamaged_countsAsMissing) {
  const std::string There = Dir->path() + "/site";
  UnitStore Site(There);
  Unit U = putSample(Site);
  std::ofstream(There + "/units/" + U.Key + ".json") << "{";
  std::ofstream(blobPath(There, U.Images[0].PtxDigest)) << "noise";
  UnitStore Store(Root, There);
  EXPECT_FALSE(valueOf(Store.unit(U.Key)));
  EXPECT_NE(messageOf(Store.blob(U.Images[0].PtxDigest)), "");
}

/// The administrator's files are trusted because the folder is the administrator's.
TEST_F(UnitStoreTest, siteOfAnotherUser_isTrustedWithinItsFolderOnly) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give files to others";
  constexpr uid_t Administrator = 4711, Stranger = 4712;
  const std::string There = Dir->path() + "/site";
  UnitStore Site(There);
  Unit U = putSample(Site);
  for (const auto &Entry : stdfs::recursive_directory_iterator(There))
    ASSERT_EQ(chown(Entry.path().c_str(), Administrator, Administrator), 0);
  ASSERT_EQ(chown(There.c_str(), Administrator, Administrator), 0);
  EXPECT_NE(UnitStore(There).refusal(), "") << "as a store of one's own";
  EXPECT_TRUE(valueOf(UnitStore(Root, There).unit(U.Key)));
  ASSERT_EQ(chown((There + "/units/" + U.Key + ".json").c_str(), Stranger, Stranger), 0);
  EXPECT_FALSE(valueOf(UnitStore(Root, There).unit(U.Key)));
  ASSERT_EQ(chown((There + "/units").c_str(), Stranger, Stranger), 0);
  EXPECT_EQ(UnitStore(Root, There).site(), nullptr);
}
