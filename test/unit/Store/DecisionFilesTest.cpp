#include "Store/DecisionFiles.h"
#include "Store/InputFiles.h"
#include "Store/Profile.h"
#include "Store/ProfileReader.h"
#include "Store/StoreUpkeep.h"
#include "Store/UnitStore.h"
#include "StoreTesting.h"

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;

namespace {

class DecisionFilesTest : public StoreTest {
protected:
  std::string Key = std::string(32, 'a');
  std::string fileOf(const std::string &Name) const {
    return Root + "/decisions/" + Name + ".yaml";
  }
  static std::string capped(unsigned Cap, double Ratio = 1) {
    Profile P;
    Decision D{"k(float*)", "sm_90", {Cap}, "digest", Evidence()};
    D.Basis->Ratio = Ratio;
    P.put(D);
    return printProfile(P);
  }
};

TEST_F(DecisionFilesTest, file_absent_isMadeEmptyAndOld) {
  UnitStore Store(Root);
  EXPECT_EQ(valueOf(decisionFile(Store, Key)), fileOf(Key));
  EXPECT_EQ(valueOf(readDecisions(Store, Key)), printProfile({}));
  EXPECT_GT(ageOf(fileOf(Key)), 20L * 365 * 24 * 3600);
  EXPECT_EQ(storeStats(Store).Decisions, 0u); // The file holds no decision.
  EXPECT_TRUE(verifyStore(Store, false).empty());
  EXPECT_EQ(messageOf(clearStore(Store)), "");
  EXPECT_TRUE(files().empty());
}

TEST_F(DecisionFilesTest, file_present_isUnchangedByACompile) {
  UnitStore Store(Root);
  ASSERT_EQ(messageOf(writeDecisions(Store, Key, capped(40))), "");
  setAge(fileOf(Key), 1000);
  EXPECT_EQ(valueOf(decisionFile(Store, Key)), fileOf(Key));
  EXPECT_EQ(valueOf(readDecisions(Store, Key)), capped(40));
  EXPECT_NEAR(ageOf(fileOf(Key)), 1000, 5);
  EXPECT_EQ(storeStats(Store).Decisions, 1u);
}

TEST_F(DecisionFilesTest, file_written_isDatedByWhatChanged) {
  UnitStore Store(Root);
  valueOf(decisionFile(Store, Key));
  ASSERT_EQ(messageOf(writeDecisions(Store, Key, capped(40))), "");
  EXPECT_LT(ageOf(fileOf(Key)), 5);
  setAge(fileOf(Key), 1000);
  ASSERT_EQ(messageOf(writeDecisions(Store, Key, capped(40))), "");
  EXPECT_NEAR(ageOf(fileOf(Key)), 1000, 5); // The text is the same.
  ASSERT_EQ(messageOf(writeDecisions(Store, Key, capped(40, 0.9), DecisionDate::Kept)), "");
  EXPECT_EQ(valueOf(readDecisions(Store, Key)), capped(40, 0.9));
  EXPECT_NEAR(ageOf(fileOf(Key)), 1000, 5);
  ASSERT_EQ(messageOf(antedateDecisions(Store, Key)), "");
  EXPECT_GT(ageOf(fileOf(Key)), 20L * 365 * 24 * 3600);
  EXPECT_EQ(messageOf(antedateDecisions(Store, std::string(32, 'b'))), "");
}

TEST_F(DecisionFilesTest, choices_ofEntries_omitEvidenceAndDefaults) {
  Profile P = valueOf(parseProfile(capped(40, 0.5), "p")), Q = P;
  EXPECT_NE(choicesOf(P), "");
  Q.put({"other()", "sm_90", {}, "d", Evidence()});
  Q.Kernels.front().Basis->Date = "later";
  EXPECT_EQ(choicesOf(P), choicesOf(Q));
  Q.Kernels.front().Digest = "another";
  EXPECT_NE(choicesOf(P), choicesOf(Q));
  Profile Default;
  Default.put({"k()", "sm_90", {}, "d", std::nullopt});
  EXPECT_EQ(choicesOf(Default), "");
  Default.FileCap = 32;
  EXPECT_NE(choicesOf(Default), "");
}

TEST_F(DecisionFilesTest, digestOfAll_decisionChanged_changes) {
  UnitStore Store(Root);
  valueOf(decisionFile(Store, Key));
  std::string Empty = valueOf(readFile(decisionsDigestFile(Store)));
  valueOf(decisionFile(Store, std::string(32, 'b')));
  EXPECT_EQ(valueOf(readFile(decisionsDigestFile(Store))), Empty);
  ASSERT_EQ(messageOf(writeDecisions(Store, Key, capped(40))), "");
  std::string One = valueOf(readFile(decisionsDigestFile(Store)));
  EXPECT_NE(One, Empty);
  setAge(decisionsDigestFile(Store), 1000);
  ASSERT_EQ(messageOf(writeDecisions(Store, Key, capped(40, 0.7), DecisionDate::Kept)), "");
  EXPECT_NEAR(ageOf(decisionsDigestFile(Store)), 1000, 5);
  ASSERT_EQ(messageOf(writeDecisions(Store, Key, capped(48))), "");
  EXPECT_NE(valueOf(readFile(decisionsDigestFile(Store))), One);
}

TEST_F(DecisionFilesTest, stamp_fileChanged_differs) {
  std::string Path = Dir->path() + "/in put";
  std::ofstream(Path) << "one";
  auto First = stampOf("in put", Dir->path());
  ASSERT_TRUE(First);
  EXPECT_EQ(First->Bytes, 3u);
  EXPECT_EQ(stampOf(Path, "/elsewhere")->ChangedNs, First->ChangedNs);
  std::ofstream(Path) << "two";
  timespec Old[2] = {{0, UTIME_OMIT},
                     {First->ModifiedNs / 1000000000, First->ModifiedNs % 1000000000}};
  usleep(20000);
  ASSERT_EQ(utimensat(AT_FDCWD, Path.c_str(), Old, 0), 0);
  auto Forged = stampOf("in put", Dir->path());
  EXPECT_EQ(Forged->ModifiedNs, First->ModifiedNs);
  EXPECT_NE(*Forged, *First);
  EXPECT_FALSE(stampOf("none", Dir->path()));
  EXPECT_FALSE(stampOf(Dir->path(), "/"));
  InputFile Nothing;
  Nothing.Path = "missing folder/x.h";
  Nothing.Missing = true;
  InputFile Hidden;
  Hidden.Path = "locked/x.h";
  Hidden.Hidden = true;
  std::vector<InputFile> All = {*First, Nothing, Hidden, *Forged};
  EXPECT_EQ(valueOf(parseInputFiles(printInputFiles(All))), All);
  EXPECT_EQ(messageOf(parseInputFiles("1 2 3 ok\n1 2 x\n")),
            "input files: line 2 is '1 2 x', expected bytes and two times, 'missing' or 'hidden', "
            "and a path");
}

TEST_F(DecisionFilesTest, missingFile_appears_isAChange) {
  InputFile Nothing;
  Nothing.Path = "late";
  Nothing.Missing = true;
  EXPECT_TRUE(isUnchanged(Nothing, Dir->path()));
  ASSERT_EQ(::symlink("nowhere", (Dir->path() + "/late").c_str()), 0);
  EXPECT_FALSE(isUnchanged(Nothing, Dir->path()));
  Nothing.Path = "folder";
  ASSERT_EQ(::mkdir((Dir->path() + "/folder").c_str(), 0700), 0);
  EXPECT_FALSE(isUnchanged(Nothing, Dir->path()));
}

// A folder of the user's PATH may be searchable only for another user.
TEST_F(DecisionFilesTest, hiddenFile_becomesVisible_isAChange) {
  const std::string Folder = Dir->path() + "/locked";
  ASSERT_EQ(::mkdir(Folder.c_str(), 0), 0);
  const uid_t User = ::geteuid();
  if (User == 0 && ::seteuid(65534) != 0)
    GTEST_SKIP() << "root may search every folder, and cannot become another user";
  InputFile Hidden = stampOfMissing("locked/g++", Dir->path());
  bool Same = isUnchanged(Hidden, Dir->path());
  ASSERT_EQ(::seteuid(User), 0);
  EXPECT_TRUE(Hidden.Hidden);
  EXPECT_TRUE(Same);
  ASSERT_EQ(::chmod(Folder.c_str(), 0700), 0);
  EXPECT_FALSE(isUnchanged(Hidden, Dir->path()));
}

} // namespace
