#include "Probe/Process/RecordFile.h"
#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
using namespace carve::probe;

TEST(RecordFile, fieldsWithTabsAndNewlines_areWrittenWithSpaces) {
  EXPECT_EQ(recordLine(SwappedRecord{"b\tc\nd", ""}), "swapped\tb c d\t\n");
}

TEST(RecordFile, sealedFile_takesNoMoreLines) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-probe-test"));
  RecordFile File;
  File.append("before create\n");
  ASSERT_TRUE(File.create(Dir.path().c_str()));
  File.append("one\n");
  File.seal();
  File.seal();
  File.append("two\n");
  std::error_code Failed;
  std::string Text =
      llvm::cantFail(readFile(llvm::sys::fs::directory_iterator(Dir.path(), Failed)->path()));
  EXPECT_EQ(Text.substr(Text.find('\n') + 1), "one\nend\n");
}

TEST(RecordFile, forkedChild_cannotWrite) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-probe-test"));
  RecordFile File;
  ASSERT_TRUE(File.create(Dir.path().c_str()));
  pid_t Child = ::fork();
  if (Child == 0) {
    File.append("child\n");
    File.seal();
    ::_exit(0);
  }
  ::waitpid(Child, nullptr, 0);
  File.append("parent\n");
  std::error_code Failed;
  std::string Text =
      llvm::cantFail(readFile(llvm::sys::fs::directory_iterator(Dir.path(), Failed)->path()));
  EXPECT_EQ(Text.substr(Text.find('\n') + 1), "parent\n");
}

TEST(RecordFile, create_missingDirectory_fails) {
  RecordFile File;
  EXPECT_FALSE(File.create("/dev/null/nonexistent"));
  File.append("x\n");
  File.seal();
}

/// Uses a limit on the file's size in place of a full disk.
static void fillTheDisk(const char *Dir) {
  RecordFile File;
  bool Created = File.create(Dir);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit Limit{4096, 4096};
  ::setrlimit(RLIMIT_FSIZE, &Limit);
  File.append(std::string(8000, 'x') + "\n");
  File.seal();
  ::_exit(Created ? 0 : 1);
}

TEST(RecordFile, fullDisk_leavesFileWithoutEnd) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-probe-test"));
  EXPECT_EXIT(fillTheDisk(Dir.path().c_str()), testing::ExitedWithCode(0), "");
  std::error_code Failed;
  std::string Text =
      llvm::cantFail(readFile(llvm::sys::fs::directory_iterator(Dir.path(), Failed)->path()));
  EXPECT_EQ(Text.find("end"), std::string::npos);
}
