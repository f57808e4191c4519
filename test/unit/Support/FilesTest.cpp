#include "Support/Files.h"
#include "Support/Digest.h"
#include "Support/Error.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;

namespace {

class FilesTest : public testing::Test {
protected:
  FilesTest() : Dir(llvm::cantFail(TempDir::create("carve-test"))) {}
  std::string at(llvm::StringRef Name) { return Dir.path() + "/" + Name.str(); }
  TempDir Dir;
};

unsigned entriesIn(const std::string &Dir) {
  std::error_code E;
  unsigned N = 0;
  for (llvm::sys::fs::directory_iterator I(Dir, E), End; I != End && !E; I.increment(E))
    ++N;
  return N;
}

} // namespace

TEST_F(FilesTest, atomicWrite_fileExists_isReplacedWithItsMode) {
  llvm::cantFail(writeFileAtomically(at("f"), "old"));
  ::chmod(at("f").c_str(), 0755);
  llvm::cantFail(writeFileAtomically(at("f"), "new"));
  EXPECT_EQ(llvm::cantFail(readFile(at("f"))), "new");
  struct stat S;
  ASSERT_EQ(::stat(at("f").c_str(), &S), 0);
  EXPECT_EQ(S.st_mode & 0777, 0755u);
  EXPECT_EQ(entriesIn(Dir.path()), 1u);
}

TEST_F(FilesTest, atomicWrite_symbolicLink_isFollowed) {
  llvm::cantFail(writeFileAtomically(at("target"), "old"));
  ASSERT_EQ(::symlink("target", at("link").c_str()), 0);
  llvm::cantFail(writeFileAtomically(at("link"), "new"));
  EXPECT_EQ(llvm::cantFail(readFile(at("target"))), "new");
  struct stat S;
  ASSERT_EQ(::lstat(at("link").c_str(), &S), 0);
  EXPECT_TRUE(S_ISLNK(S.st_mode));
}

TEST_F(FilesTest, atomicWrite_pipe_isWrittenIntoAndStays) {
  std::string Pipe = at("pipe");
  ASSERT_EQ(::mkfifo(Pipe.c_str(), 0600), 0);
  int Reader = ::open(Pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(Reader, 0);
  llvm::cantFail(writeFileAtomically(Pipe, "through"));
  char Bytes[16] = {};
  EXPECT_EQ(::read(Reader, Bytes, sizeof Bytes), 7);
  EXPECT_STREQ(Bytes, "through");
  ::close(Reader);
  struct stat There;
  ASSERT_EQ(::stat(Pipe.c_str(), &There), 0);
  EXPECT_TRUE(S_ISFIFO(There.st_mode));
}

TEST_F(FilesTest, atomicWrite_fails_leavesNothing) {
  llvm::Error E = writeFileAtomically(at("no/such/dir/f"), "x");
  ASSERT_TRUE(bool(E));
  EXPECT_NE(llvm::toString(std::move(E)).find("no/such/dir"), std::string::npos);
  // A file cannot replace a directory: the rename fails after the write.
  ASSERT_EQ(::mkdir(at("d").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir(at("d/x").c_str(), 0700), 0);
  llvm::Error F = writeFileAtomically(at("d"), "x");
  ASSERT_TRUE(bool(F));
  llvm::consumeError(std::move(F));
  EXPECT_EQ(entriesIn(Dir.path()), 1u);
}

TEST_F(FilesTest, lockedDirectory_taken_isHeldOnceAndReclaimed) {
  std::string Path = at("keep");
  {
    TempDir First = llvm::cantFail(TempDir::createLocked(Path));
    llvm::cantFail(writeFileAtomically(Path + "/left", "x"));
    llvm::Expected<TempDir> Second = TempDir::createLocked(Path);
    ASSERT_FALSE(bool(Second));
    llvm::handleAllErrors(Second.takeError(),
                          [](const Unsupported &U) { EXPECT_EQ(U.reason(), "keep-dir-busy"); });
  }
  EXPECT_EQ(entriesIn(Dir.path()), 0u);
  // The leftovers of a killed process are removed.
  ASSERT_EQ(::mkdir(Path.c_str(), 0700), 0);
  llvm::cantFail(writeFileAtomically(Path + "/stale", "x"));
  TempDir Again = llvm::cantFail(TempDir::createLocked(Path));
  EXPECT_EQ(entriesIn(Path), 0u);
}

TEST(ProcFile, procFile_sizeUnknown_isRead) {
  EXPECT_NE(readProcFile("/proc/self/cmdline").value_or("").find("SupportTests"),
            std::string::npos);
  EXPECT_EQ(readProcFile("/proc/self/no-such-file"), std::nullopt);
}

TEST(Digest, digest_ofEmptyInput_isThatOfXxh3) {
  // This value of the empty input was published with the algorithm.
  EXPECT_EQ(digestOf(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(digestOf("a"), digestOf("b"));
}

TEST(Digest, fields_sameConcatenation_digestsDiffer) {
  EXPECT_NE(digestOfFields({"ab", "c"}), digestOfFields({"a", "bc"}));
  EXPECT_NE(digestOfFields({"a"}), digestOfFields({"a", ""}));
}

TEST_F(FilesTest, atomicWrite_danglingLink_targetIsMade) {
  ASSERT_EQ(::mkdir(at("d").c_str(), 0777), 0);
  ASSERT_EQ(::symlink("d/second", at("first").c_str()), 0);
  ASSERT_EQ(::symlink("target", at("d/second").c_str()), 0);
  EXPECT_EQ(resolveTarget(at("first")), at("d/target"));
  llvm::cantFail(writeFileAtomically(at("first"), "new"));
  EXPECT_EQ(llvm::cantFail(readFile(at("d/target"))), "new");
  ASSERT_EQ(::symlink("loop", at("loop").c_str()), 0);
  EXPECT_FALSE(resolveTarget(at("loop")).empty());
}
