#include "Support/RegularFile.h"
#include "Support/Files.h"
#include "Support/OwnFile.h"

#include "gtest/gtest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace carve;

namespace {

class RegularFileTest : public testing::Test {
protected:
  std::string at(llvm::StringRef Name) { return Dir.path() + "/" + Name.str(); }
  std::string failure(const std::string &Path, uint64_t MostBytes = FileLimit::Record,
                      FileTrust Trust = FileTrust::Anybody) {
    llvm::Expected<RegularFile> File = RegularFile::open(Path, MostBytes, Trust);
    return File ? "" : llvm::toString(File.takeError());
  }
  unsigned modeOf(const std::string &Path) {
    struct stat S{};
    EXPECT_EQ(::lstat(Path.c_str(), &S), 0);
    return S.st_mode & 07777;
  }
  TempDir Dir = llvm::cantFail(TempDir::create("carve-regular"));
};

} // namespace

TEST_F(RegularFileTest, specialFile_opened_isRefusedWithoutBlocking) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(failure(at("pipe")), at("pipe") + ": is a pipe, expected a regular file");
  ASSERT_EQ(::symlink("/dev/zero", at("zero").c_str()), 0);
  EXPECT_EQ(failure(at("zero")), at("zero") + ": is a device, expected a regular file");
  EXPECT_EQ(failure(Dir.path()), Dir.path() + ": is a directory, expected a regular file");
  llvm::Expected<std::string> Read = readFile(at("pipe"));
  ASSERT_FALSE(bool(Read));
  llvm::consumeError(Read.takeError());
}

/// A reader that opens the pipe and closes it again would end a process that waits to write into
/// it.
TEST_F(RegularFileTest, pipe_withAWriter_isLeftForItsReader) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  std::thread Writer([&] {
    int Fd = ::open(at("pipe").c_str(), O_WRONLY);
    EXPECT_EQ(::write(Fd, "words", 5), 5);
    ::close(Fd);
  });
  for (int I = 0; I < 20; ++I, ::usleep(1000))
    EXPECT_NE(failure(at("pipe")), "");
  EXPECT_EQ(llvm::cantFail(readFileOrPipe(at("pipe"), 100)), "words");
  Writer.join();
}

TEST_F(RegularFileTest, file_largerThanItsLimit_isRefusedBeforeItIsRead) {
  llvm::cantFail(writeFileAtomically(at("f"), "12345"));
  EXPECT_EQ(failure(at("f"), 4), at("f") + ": has 5 bytes, expected at most 4");
  EXPECT_EQ(llvm::cantFail(readFile(at("f"), 5)), "12345");
  ASSERT_EQ(::truncate(at("f").c_str(), off_t(3) << 30), 0);
  EXPECT_EQ(failure(at("f")), at("f") + ": has 3221225472 bytes, expected at most 67108864");
}

TEST_F(RegularFileTest, file_growsWhileRead_limitHolds) {
  llvm::cantFail(writeFileAtomically(at("f"), "12"));
  RegularFile File = llvm::cantFail(RegularFile::open(at("f"), 4));
  ASSERT_EQ(::truncate(at("f").c_str(), 100000), 0);
  llvm::Expected<std::string> Read = File.read();
  ASSERT_FALSE(bool(Read));
  EXPECT_EQ(llvm::toString(Read.takeError()),
            at("f") + ": has more than 4 bytes, expected at most that");
}

TEST_F(RegularFileTest, fileOfUnknownSize_read_isComplete) {
  // Files of /proc report a size of 0.
  EXPECT_NE(llvm::cantFail(readFile("/proc/self/status")).find("Pid:"), std::string::npos);
  std::string Large(300000, 'x');
  llvm::cantFail(writeFileAtomically(at("large"), Large));
  EXPECT_EQ(llvm::cantFail(readFile(at("large"))), Large);
  llvm::cantFail(writeFileAtomically(at("empty"), ""));
  EXPECT_EQ(llvm::cantFail(readFile(at("empty"))), "");
}

TEST_F(RegularFileTest, ownFile_othersMayWrite_isRefusedWithTheRemedy) {
  llvm::cantFail(writeFileAtomically(at("f"), "x"));
  for (unsigned Mode : {0664u, 0646u, 0666u}) {
    ASSERT_EQ(::chmod(at("f").c_str(), Mode), 0);
    std::string Why = failure(at("f"), FileLimit::Record, FileTrust::Ours);
    EXPECT_NE(Why.find("expected one that other users cannot write: run `chmod -R go-w " + at("f")),
              std::string::npos)
        << Why;
    EXPECT_EQ(failure(at("f")), "");
  }
  ASSERT_EQ(::chmod(at("f").c_str(), 0644), 0);
  EXPECT_EQ(failure(at("f"), FileLimit::Record, FileTrust::Ours), "");
  ASSERT_EQ(::symlink("f", at("link").c_str()), 0);
  EXPECT_EQ(failure(at("link"), FileLimit::Record, FileTrust::Ours),
            at("link") + ": is a symbolic link, expected a regular file");
}

TEST_F(RegularFileTest, owner_anotherUser_isRefused) {
  struct stat Status{};
  Status.st_mode = S_IFREG | 0644;
  for (uid_t Own : {::geteuid(), uid_t(0)}) {
    Status.st_uid = Own;
    EXPECT_EQ(whyNotOurs(Status, "f"), "");
  }
  Status.st_uid = ::geteuid() + 1;
  EXPECT_EQ(whyNotOurs(Status, "f")
                .find("f is owned by user " + std::to_string(::geteuid() + 1) + ", expected "),
            0u);
}

TEST_F(RegularFileTest, ownFile_anyUmask_onlyThisUserCanWrite) {
  mode_t Before = ::umask(0002);
  llvm::Error Written = writeOwnFile(at("f"), "x");
  ASSERT_FALSE(createOwnDirectories(at("d/e")));
  ::umask(Before);
  llvm::cantFail(std::move(Written));
  EXPECT_EQ(modeOf(at("f")), 0644u);
  EXPECT_EQ(modeOf(at("d")), 0755u);
  EXPECT_EQ(modeOf(at("d/e")), 0755u);
  // The mode of the old file is not kept.
  ASSERT_EQ(::chmod(at("f").c_str(), 0666), 0);
  llvm::cantFail(writeOwnFile(at("f"), "y"));
  EXPECT_EQ(modeOf(at("f")), 0644u);
}

TEST_F(RegularFileTest, ownFile_somethingElseInItsPlace_replacesIt) {
  llvm::cantFail(writeFileAtomically(at("victim"), "old"));
  ASSERT_EQ(::symlink("victim", at("link").c_str()), 0);
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  for (const std::string &Path : {at("link"), at("pipe")}) {
    llvm::cantFail(writeOwnFile(Path, "new"));
    EXPECT_EQ(llvm::cantFail(readFile(Path)), "new");
    struct stat There{};
    ASSERT_EQ(::lstat(Path.c_str(), &There), 0);
    EXPECT_TRUE(S_ISREG(There.st_mode));
  }
  EXPECT_EQ(llvm::cantFail(readFile(at("victim"))), "old");
  llvm::Error Failed = writeOwnFile(at("none/f"), "x");
  ASSERT_TRUE(bool(Failed));
  llvm::consumeError(std::move(Failed));
}

TEST_F(RegularFileTest, createOwnFile_fileExists_isUnchanged) {
  auto Date = llvm::sys::toTimePoint(1000000000);
  EXPECT_TRUE(llvm::cantFail(createOwnFile(at("f"), "first", Date)));
  EXPECT_FALSE(llvm::cantFail(createOwnFile(at("f"), "second", Date)));
  EXPECT_EQ(llvm::cantFail(readFile(at("f"))), "first");
  struct stat S{};
  ASSERT_EQ(::stat(at("f").c_str(), &S), 0);
  EXPECT_EQ(S.st_mtime, 1000000000);
  EXPECT_EQ(S.st_mode & 0777, 0644u);
  llvm::Expected<bool> Nowhere = createOwnFile(at("none/f"), "x", Date);
  ASSERT_FALSE(bool(Nowhere));
  llvm::consumeError(Nowhere.takeError());
}
