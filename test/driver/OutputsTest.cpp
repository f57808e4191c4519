// What happens to an output that already exists or is in an unusual place. It is the same as with
// nvcc, with and without a decision.
#include "DriverTier.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

class OutputsTest : public DriverTierTest, public testing::WithParamInterface<bool> {
protected:
  OutputsTest() {
    if (!GetParam())
      return;
    write("pin.yaml",
          "carve-profile: 1\nkernels:\n  - kernel: \"_Z2avPf\"\n    variant: {cap: 32}\n");
    Env["CARVE_PROFILE"] = path("pin.yaml");
  }

  /// Returns the kind, permissions, number of names and content of each file of work/obj.
  std::string shape() const {
    std::string Text;
    for (const std::string &Name : names("work/obj")) {
      struct stat S;
      std::string Path = path("work/obj/" + Name);
      EXPECT_EQ(::lstat(Path.c_str(), &S), 0);
      Text += Name + (S_ISLNK(S.st_mode)
                          ? " -> " + fs::read_symlink(Path).string() + "\n"
                          : " " + std::to_string(S.st_mode & 07777) + " " +
                                std::to_string(S.st_nlink) + " " + read("work/obj/" + Name) + "\n");
    }
    return Text;
  }

  void prepare(const std::string &Kind) {
    fs::remove_all(path("work/obj"));
    fs::create_directories(path("work/obj"));
    const std::string Out = path("work/obj/saxpy.o"), Real = path("work/obj/real"),
                      Middle = path("work/obj/middle");
    write("work/obj/real", Kind.find("empty") == 0 ? "" : "old");
    ::chmod(Real.c_str(), 0741);
    if (Kind == "nothing" || Kind == "dangling link")
      fs::remove(Real);
    if (Kind.find("link to a link") != std::string::npos)
      fs::create_symlink("real", Middle);
    if (Kind.find("link to a link") != std::string::npos)
      fs::create_symlink("middle", Out);
    else if (Kind.find("symbolic link") != std::string::npos || Kind == "dangling link")
      fs::create_symlink("real", Out);
    else if (Kind.find("hard link") != std::string::npos)
      fs::create_hard_link(Real, Out);
    else if (Kind != "nothing")
      fs::rename(Real, Out);
  }

  /// Drops capabilities so that the kernel checks permissions for root, too, as in a container.
  /// Returns whether that worked.
  static bool dropPrivileges() {
    for (int Capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER})
      if (::geteuid() == 0 && ::prctl(PR_CAPBSET_READ, Capability) != 0 &&
          ::prctl(PR_CAPBSET_DROP, Capability) != 0)
        return false;
    return true;
  }

  /// Whether dropPrivileges() works in this process.
  static bool canDropPrivileges() {
    pid_t Child = ::fork();
    if (Child == 0)
      ::_exit(dropPrivileges() ? 0 : 1);
    int Status = -1;
    return ::waitpid(Child, &Status, 0) == Child && Status == 0;
  }

  void expectMade(const std::string &Output) {
    Words Arguments = Compile;
    Arguments.back() = Output;
    Ended E = carveNvcc(Arguments);
    EXPECT_EQ(E.Status, 0) << E.Stderr;
    EXPECT_EQ(E.Stdout + E.Stderr, "");
    EXPECT_EQ(read("work/" + Output), "made by nvcc\n");
    EXPECT_EQ(names("tmp"), Words{});
  }
};

INSTANTIATE_TEST_SUITE_P(, OutputsTest, testing::Bool(), [](const auto &Info) {
  return std::string(Info.param ? "decided" : "undecided");
});

} // namespace

TEST_P(OutputsTest, output_thatIsThere_endsAsWithNvcc) {
  for (const char *Kind :
       {"nothing", "file", "empty file", "symbolic link", "empty symbolic link", "dangling link",
        "link to a link", "empty link to a link", "hard link", "empty hard link"}) {
    prepare(Kind);
    Words Plain = Compile;
    Plain.insert(Plain.begin(), path("cuda/bin/nvcc"));
    EXPECT_EQ(run(Plain).Status, 0);
    const std::string Wanted = shape();
    prepare(Kind);
    Ended E = carveNvcc(Compile);
    EXPECT_EQ(E.Status, 0) << E.Stderr;
    EXPECT_EQ(shape(), Wanted) << Kind;
  }
}

TEST_P(OutputsTest, longName_leavesNoOtherFile) {
  for (size_t Length : {231, 232, 240, 255}) {
    std::string Output = "obj/" + std::string(Length, 'x');
    expectMade(Output);
    EXPECT_EQ(names("work/obj").size(), 1u);
    fs::remove(path("work/" + Output));
  }
}

TEST_P(OutputsTest, unwritableDirectory_outputIsWrittenInPlace) {
  if (!canDropPrivileges())
    GTEST_SKIP() << "root's privileges cannot be dropped";
  write("work/obj/saxpy.o", "old");
  ::chmod(path("work/obj").c_str(), 0555);
  Before = dropPrivileges;
  expectMade("obj/saxpy.o");
  ::chmod(path("work/obj").c_str(), 0755);
}

TEST_P(OutputsTest, anotherUsersFileInAStickyDirectory_outputIsWrittenInPlace) {
  write("work/obj/saxpy.o", "old");
  ASSERT_EQ(::chmod(path("work/obj/saxpy.o").c_str(), 0666), 0);
  if (::geteuid() != 0 || !canDropPrivileges() ||
      ::chown(path("work/obj/saxpy.o").c_str(), 65534, 65534) != 0)
    GTEST_SKIP() << "needs root, to make files of two users";
  ASSERT_EQ(::chown(path("work/obj").c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(path("work/obj").c_str(), 01777), 0);
  Before = dropPrivileges;
  expectMade("obj/saxpy.o");
  struct stat S;
  ASSERT_EQ(::stat(path("work/obj/saxpy.o").c_str(), &S), 0);
  EXPECT_EQ(S.st_uid, 65534u) << "the file is written in place, so it stays the other user's";
}

TEST_P(OutputsTest, bindMount_outputIsWrittenInPlace) {
  write("outside.o", "old");
  write("work/obj/saxpy.o", "below the mount");
  const std::string From = path("outside.o"), To = path("work/obj/saxpy.o");
  Before = [&] {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount(From.c_str(), To.c_str(), nullptr, MS_BIND, nullptr) == 0;
  };
  Ended E = carveNvcc(Compile);
  if (E.Status == 126)
    GTEST_SKIP() << "mounts are not permitted";
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_EQ(read("outside.o"), "made by nvcc\n");
  EXPECT_EQ(read("work/obj/saxpy.o"), "below the mount");
  EXPECT_EQ(names("work/obj"), Words{"saxpy.o"});
}
