#include "Workload/GpuUsers.h"

#include "Workload/WorkloadProcesses.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;

namespace {

/// GpuUsers with StubNvml.cpp as the management library.
class GpuUsersTest : public testing::Test {
protected:
  ~GpuUsersTest() override { ::unsetenv("STUB_NVML"); }
  static void say(const std::string &Words) { ::setenv("STUB_NVML", Words.c_str(), 1); }
  GpuUsers Users{CARVE_TEST_STUB_NVML};
};

} // namespace

TEST_F(GpuUsersTest, look_otherProcess_isNamed) {
  std::string Me = std::to_string(::getpid());
  say("GPU-a=" + Me + " GPU-b=4000001 " + Me + ":38 4000001:90");
  Users.look({"GPU-a"});
  ASSERT_EQ(Users.found().size(), 1u);
  EXPECT_EQ(Users.found()[0].Pid, unsigned(::getpid()));
  EXPECT_EQ(Users.found()[0].Name, "WorkloadTests");
  EXPECT_EQ(Users.found()[0].text(), "another process uses this GPU: pid " + Me +
                                         " WorkloadTests (38 % busy): times are noisier");
  // Without a list of GPUs, all are looked at. This user is in another pid namespace.
  Users.look({});
  ASSERT_EQ(Users.found().size(), 2u);
  EXPECT_EQ(Users.found()[1].text(),
            "another process uses this GPU: pid 4000001 (90 % busy): times are noisier");
}

TEST_F(GpuUsersTest, found_afterSeveralLooks_hasTheLargestUseAndThoseThatEnded) {
  for (const char *Words : {"GPU-a=4000001", "GPU-a=4000001 4000001:70", "GPU-a=4000001 4000001:5",
                            "", "GPU-a=4000002"}) {
    say(Words);
    Users.look({"GPU-a"});
  }
  ASSERT_EQ(Users.found().size(), 2u);
  EXPECT_EQ(Users.found()[0].BusyPercent, 70u);
  EXPECT_EQ(Users.found()[1].text(),
            "another process uses this GPU: pid 4000002 (idle when looked at)");
}

TEST_F(GpuUsersTest, look_manyProcesses_areAllFound) {
  std::string Words;
  for (unsigned I = 0; I < 150; ++I)
    Words += "GPU-b=" + std::to_string(4000000 + I) + " ";
  say(Words);
  Users.look({"GPU-b"});
  EXPECT_EQ(Users.found().size(), 150u);
}

TEST_F(GpuUsersTest, look_processOfAWorkload_isIgnored) {
  pid_t Child = ::fork();
  if (Child == 0) {
    ::setenv("CARVE_PROBE_DIR", "/tmp/any", 1);
    ::execlp("sleep", "sleep", "30", nullptr);
    ::_exit(1);
  }
  for (int I = 0; I < 500 && !hasEnvironment(Child, "CARVE_PROBE_DIR="); ++I)
    ::usleep(10000);
  say("GPU-a=" + std::to_string(Child) + " GPU-a=4000001");
  Users.look({"GPU-a"});
  ::kill(Child, SIGKILL);
  ::waitpid(Child, nullptr, 0);
  ASSERT_EQ(Users.found().size(), 1u);
  EXPECT_EQ(Users.found()[0].Pid, 4000001u);
}

TEST_F(GpuUsersTest, text_utilizationNotKnown_hasNoNumber) {
  say("no-utilization GPU-a=4000001");
  Users.look({"GPU-a"});
  ASSERT_EQ(Users.found().size(), 1u);
  EXPECT_EQ(Users.found()[0].BusyPercent, std::nullopt);
  EXPECT_EQ(Users.found()[0].text(),
            "another process uses this GPU: pid 4000001: times are noisier while it computes");
}

TEST_F(GpuUsersTest, look_libraryAbsentOrSilent_findsNobody) {
  say("no-init GPU-a=4000001");
  Users.look({});
  EXPECT_TRUE(Users.found().empty());
  GpuUsers Absent("libcarve-no-such-library.so");
  Absent.look({"GPU-a"});
  Absent.look({});
  EXPECT_TRUE(Absent.found().empty());
}
