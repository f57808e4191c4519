#include "Support/TempDir.h"

#include "Support/Files.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
namespace stdfs = std::filesystem;

namespace {

/// A fixture with a TMPDIR of its own.
class TempDirTest : public testing::Test {
protected:
  TempDirTest() : Outer(llvm::cantFail(TempDir::create("carve-tempdir"))) {
    if (const char *Before = ::getenv("TMPDIR"))
      Old = Before;
    ::setenv("TMPDIR", Outer.path().c_str(), 1);
  }
  ~TempDirTest() override {
    if (Old.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", Old.c_str(), 1);
  }
  std::string folder() const { return Outer.path() + "/carve-nvcc-" + std::to_string(::geteuid()); }
  size_t left() const {
    if (!stdfs::exists(folder()))
      return 0;
    return std::distance(stdfs::directory_iterator(folder()), stdfs::directory_iterator());
  }
  void plantVictim() {
    stdfs::create_directories(Outer.path() + "/victim/below");
    llvm::cantFail(writeFileAtomically(Outer.path() + "/victim/below/dear", "dear"));
  }
  bool victimIsWhole() const { return stdfs::exists(Outer.path() + "/victim/below/dear"); }

  TempDir Outer;
  std::string Old;
};

} // namespace

TEST_F(TempDirTest, folder_lastDirectoryRemoved_isRemoved) {
  {
    TempDir One = llvm::cantFail(TempDir::create("one"));
    TempDir Two = llvm::cantFail(TempDir::createNamed("two", 0));
    EXPECT_EQ(Two.path(), folder() + "/two");
    struct stat S;
    ASSERT_EQ(::stat(folder().c_str(), &S), 0);
    EXPECT_EQ(S.st_mode & 0777, 0700u);
  }
  EXPECT_FALSE(stdfs::exists(folder()));
}

TEST_F(TempDirTest, folder_isALink_isNotUsed) {
  plantVictim();
  stdfs::create_directory_symlink(Outer.path() + "/victim", folder());
  {
    TempDir Made = llvm::cantFail(TempDir::createNamed("below", 0));
    EXPECT_NE(stdfs::path(Made.path()).parent_path(), folder());
    EXPECT_EQ(stdfs::path(Made.path()).parent_path(), Outer.path());
  }
  sweepTempDirs();
  EXPECT_TRUE(victimIsWhole());
}

TEST_F(TempDirTest, folder_othersCanWriteToIt_isNotUsed) {
  ASSERT_EQ(::mkdir(folder().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(folder().c_str(), 0777), 0);
  TempDir Made = llvm::cantFail(TempDir::createNamed("keep", 0));
  EXPECT_EQ(stdfs::path(Made.path()).parent_path(), Outer.path());
}

TEST_F(TempDirTest, named_linkInItsPlace_isNotFollowed) {
  plantVictim();
  ASSERT_EQ(::mkdir(folder().c_str(), 0700), 0);
  stdfs::create_directory_symlink(Outer.path() + "/victim", folder() + "/keep");
  {
    TempDir Made = llvm::cantFail(TempDir::createNamed("keep", 0));
  }
  EXPECT_TRUE(victimIsWhole());
}

TEST_F(TempDirTest, removal_linksInside_areNotFollowed) {
  plantVictim();
  {
    TempDir Made = llvm::cantFail(TempDir::create("keep"));
    stdfs::create_directory_symlink(Outer.path() + "/victim", Made.path() + "/link");
    stdfs::create_directories(Made.path() + "/a/b/c");
    llvm::cantFail(writeFileAtomically(Made.path() + "/a/b/c/file", "x"));
  }
  EXPECT_TRUE(victimIsWhole());
  EXPECT_FALSE(stdfs::exists(folder()));
}

TEST_F(TempDirTest, named_heldByAnotherProcess_getsAnotherName) {
  TempDir First = llvm::cantFail(TempDir::createNamed("keep", 0));
  llvm::cantFail(writeFileAtomically(First.path() + "/file", "x"));
  TempDir Second = llvm::cantFail(TempDir::createNamed("keep", 0));
  EXPECT_EQ(Second.path(), First.path() + "-1");
  EXPECT_TRUE(stdfs::exists(First.path() + "/file"));
}

TEST_F(TempDirTest, sweep_killedAndRunningProcess_onlyHeldDirectoryStays) {
  TempDir Held = llvm::cantFail(TempDir::create("held"));
  pid_t Child = ::fork();
  if (Child == 0) {
    TempDir Made = llvm::cantFail(TempDir::create("left"));
    TempDir Named = llvm::cantFail(TempDir::createNamed("named", 0));
    llvm::cantFail(writeFileAtomically(Named.path() + "/file", "x"));
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(Child, nullptr, 0), Child);
  EXPECT_EQ(left(), 3u);
  sweepTempDirs();
  EXPECT_EQ(left(), 1u);
  EXPECT_TRUE(stdfs::exists(Held.path()));
}
