#include "Support/ReplacedFile.h"

#include "Support/Files.h"

#include "gtest/gtest.h"

#include <csignal>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
namespace stdfs = std::filesystem;

namespace {

class ReplacedFileTest : public testing::Test {
protected:
  ReplacedFileTest() : Dir(llvm::cantFail(TempDir::create("carve-test"))) {}
  std::string at(const std::string &Name) { return Dir.path() + "/" + Name; }
  size_t entries() const {
    return std::distance(stdfs::directory_iterator(Dir.path()), stdfs::directory_iterator());
  }
  TempDir Dir;
};

} // namespace

TEST_F(ReplacedFileTest, longestName_written_isReplaced) {
  std::string Path = at(std::string(255, 'x'));
  EXPECT_EQ(llvm::toString(writeFileAtomically(Path, "old")), "");
  EXPECT_EQ(llvm::toString(writeFileAtomically(Path, "new")), "");
  EXPECT_EQ(llvm::cantFail(readFile(Path)), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ReplacedFileTest, temporary_ofAKilledWriter_isReused) {
  pid_t Child = ::fork();
  if (Child == 0) {
    BesideFile Made = llvm::cantFail(BesideFile::create(at("f")));
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(Child, nullptr, 0), Child);
  EXPECT_EQ(entries(), 1u);
  llvm::cantFail(writeFileAtomically(at("f"), "new"));
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(llvm::cantFail(readFile(at("f"))), "new");
}

TEST_F(ReplacedFileTest, temporary_ofARunningWriter_isLeftAlone) {
  BesideFile First = llvm::cantFail(BesideFile::create(at("f")));
  sweepBeside(at("f"));
  BesideFile Second = llvm::cantFail(BesideFile::create(at("f")));
  EXPECT_NE(First.path(), Second.path());
  EXPECT_TRUE(stdfs::exists(First.path()));
  ASSERT_EQ(::write(First.fd(), "1", 1), 1);
  ASSERT_EQ(::write(Second.fd(), "2", 1), 1);
  EXPECT_EQ(llvm::toString(Second.place()), "");
  EXPECT_EQ(llvm::toString(First.place()), "");
  EXPECT_EQ(llvm::cantFail(readFile(at("f"))), "1");
}

TEST_F(ReplacedFileTest, temporary_linkAtItsName_isNotFollowed) {
  std::string Name = llvm::cantFail(BesideFile::create(at("f"))).path();
  llvm::cantFail(writeFileAtomically(at("dear"), "dear"));
  stdfs::create_symlink(at("dear"), Name);
  llvm::cantFail(writeFileAtomically(at("f"), "new"));
  EXPECT_EQ(llvm::cantFail(readFile(at("dear"))), "dear");
  EXPECT_EQ(llvm::cantFail(readFile(at("f"))), "new");
}

TEST_F(ReplacedFileTest, deviceFull_writtenInPlace_oldContentStays) {
  llvm::cantFail(writeFileAtomically(at("f"), "old"));
  NewContent New;
  New.Bytes = uint64_t(1) << 62; // This is more than any device has.
  New.Write = [](int) { return llvm::Error::success(); };
  EXPECT_NE(llvm::toString(writeInPlace(at("f"), New)), "");
  EXPECT_EQ(llvm::cantFail(readFile(at("f"))), "old");
}

TEST_F(ReplacedFileTest, inPlace_shorterContent_oldContentIsGone) {
  llvm::cantFail(writeFileAtomically(at("f"), "a long old content"));
  ::link(at("f").c_str(), at("g").c_str());
  NewContent New;
  New.Bytes = 3;
  New.Write = [](int Fd) {
    EXPECT_EQ(::write(Fd, "new", 3), 3);
    return llvm::Error::success();
  };
  EXPECT_EQ(llvm::toString(writeInPlace(at("f"), New)), "");
  EXPECT_EQ(llvm::cantFail(readFile(at("g"))), "new");
}
