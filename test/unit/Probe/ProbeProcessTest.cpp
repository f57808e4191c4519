#include "unit/Probe/ProbeRecords.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace carve;
using namespace carve::probe::test;

namespace {
struct Ending {
  const char *Action;
  int ExitStatus;
  int Signal;
};

class ProbeEnding : public testing::TestWithParam<std::tuple<Ending, const char *>> {};

/// The seconds in which a process ends that waits for nothing; the probe would wait for two. With a
/// sanitizer, starting the process may take longer than that.
constexpr double Waited = CARVE_TEST_SANITIZED ? 30 : 1.5;

/// Returns the least seconds of several runs. \p Run returns the seconds that it took. On a machine
/// with other work one run may take long by chance, but a wait shows in all of them.
template <class F> void expectNoWait(F Run) {
  double Least = Run();
  for (unsigned Try = 1; Try < 4 && Least >= Waited; ++Try)
    Least = std::min(Least, Run());
  EXPECT_LT(Least, Waited);
}

std::string fatbin(const std::string &Body) {
  std::string Bytes("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  uint64_t BodyBytes = Body.size();
  Bytes.append(reinterpret_cast<const char *>(&BodyBytes), sizeof BodyBytes);
  return Bytes + Body;
}
} // namespace

TEST_P(ProbeEnding, process_leavesAWholeFileAndTheSameStatus) {
  auto [Wanted, Program] = GetParam();
  if (CARVE_TEST_SANITIZED && Wanted.Signal && Wanted.Signal != SIGTERM)
    GTEST_SKIP() << "the sanitizer handles this signal";
  expectNoWait([&, Wanted = Wanted, Program = Program] {
    ProbeRun Run;
    CommandResult Result =
        Run.run(Program, {"init", "kernel", "a", "kernel", "b", "kernel", "a", Wanted.Action});
    EXPECT_EQ(Result.ExitStatus, Wanted.ExitStatus);
    EXPECT_EQ(Result.Signal, Wanted.Signal);
    EXPECT_EQ(Result.Stdout + Result.Stderr, "");
    Records File = Run.onlyFile();
    EXPECT_TRUE(File.whole());
    EXPECT_EQ(File.launches("a"), 2u);
    EXPECT_EQ(File.launches("b"), 1u);
    EXPECT_EQ(File.of("aside").size(), 0u);
    return Result.WallS;
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, ProbeEnding,
    testing::Combine(
        testing::Values(Ending{"return", 0, 0}, Ending{"exit", 3, 0}, Ending{"_exit", 3, 0},
                        Ending{"_Exit", 3, 0}, Ending{"quick_exit", 3, 0},
                        Ending{"abort", 128 + SIGABRT, SIGABRT},
                        Ending{"term", 128 + SIGTERM, SIGTERM}, Ending{"int", 128 + SIGINT, SIGINT},
                        Ending{"hup", 128 + SIGHUP, SIGHUP}, Ending{"fpe", 128 + SIGFPE, SIGFPE},
                        Ending{"segv", 128 + SIGSEGV, SIGSEGV}),
        testing::Values(CARVE_TEST_PROGRAM_NOW, CARVE_TEST_PROGRAM_LAZY)));

TEST(ProbeProcess, kernelRecord_hasEveryField) {
  ProbeRun Run;
  Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", "kernel", "a"});
  Records File = Run.onlyFile();
  ASSERT_EQ(File.of("kernel").size(), 1u);
  EXPECT_EQ(File.of("kernel").front(), (Fields{"a", "10,1,1", "256,1,1", "0", "512", "1,1,1", "0",
                                               "40", "0", "2", "200", "100", "4096"}));
  ASSERT_EQ(File.of("span").size(), 1u);
  EXPECT_EQ(File.of("span").front().back(), "100") << "the stand-in has all run at one time";
  Fields First = File.Lines.front();
  ASSERT_EQ(First.size(), 4u);
  EXPECT_EQ(First[0] + " " + First[1], "carve-probe 1");
  llvm::SmallString<128> Program;
  ASSERT_FALSE(llvm::sys::fs::real_path(CARVE_TEST_PROGRAM_NOW, Program));
  EXPECT_EQ(First[3], Program.str());
}

TEST(ProbeProcess, device_isDescribedOnce) {
  ProbeRun Run;
  Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", "sleep-ms", "700", "kernel", "a"});
  auto Devices = Run.onlyFile().of("device");
  ASSERT_EQ(Devices.size(), 1u);
  Fields Device = Devices.front();
  ASSERT_EQ(Device.size(), 21u);
  EXPECT_EQ(Device[1], "Stub GPU") << "a tab in a field would shift the others";
  EXPECT_EQ(Device[2], "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
  // The stand-in answers with the attribute's own number: multiprocessors are attribute 16.
  EXPECT_EQ(Device[5], "16");
  EXPECT_EQ(Device[6], "1000");
  EXPECT_EQ(Device[15], "13000");
  EXPECT_EQ(Device[17], "13") << "the clock's attribute";
  EXPECT_EQ(Device[20], "38") << "that of the second-level cache";
}

TEST(ProbeProcess, killedProgram_leavesWhatWasPeriodicallyFlushed) {
  ProbeRun Run;
  CommandResult Result = Run.run(
      CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", "sleep-ms", "1500", "kernel", "b", "kill"});
  EXPECT_EQ(Result.Signal, SIGKILL);
  Records File = Run.onlyFile();
  EXPECT_FALSE(File.whole());
  EXPECT_EQ(File.launches("a"), 1u);
}

TEST(ProbeProcess, hangingFlush_doesNotKeepASignalledProgram) {
  ProbeRun Run;
  Run.setEnvironment("STUB_CUPTI_HANG=1");
  CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", "term"});
  EXPECT_EQ(Result.Signal, SIGTERM);
  EXPECT_LT(Result.WallS, 5);
  EXPECT_FALSE(Run.onlyFile().whole());
}

TEST(ProbeProcess, forkedChild_writesNothing) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "the sanitizer's allocator may hang in a child of a program with threads";
  // The child must not wait for a thread that it does not have.
  for (std::string How : {"exit", "_exit", "term", "vfork"})
    expectNoWait([&] {
      ProbeRun Run;
      CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW,
                                     {"init", "kernel", "a", "fork", How, "kernel", "a", "exit"});
      EXPECT_EQ(Result.ExitStatus, 3) << How;
      EXPECT_EQ(Result.Stdout, How == "term" ? "child 15\n" : "child 0\n");
      Records File = Run.onlyFile();
      EXPECT_TRUE(File.whole()) << How;
      EXPECT_EQ(File.of("end").size(), 1u) << How;
      EXPECT_EQ(File.launches("a"), 2u) << How;
      return Result.WallS;
    });
}

TEST(ProbeProcess, programsOwnSignalHandling_stays) {
  ProbeRun Handled;
  CommandResult Result =
      Handled.run(CARVE_TEST_PROGRAM_NOW, {"handle-term", "init", "kernel", "a", "term"});
  EXPECT_EQ(Result.ExitStatus, 7);
  EXPECT_TRUE(Handled.onlyFile().whole());

  ProbeRun Ignored;
  Result = Ignored.run(CARVE_TEST_PROGRAM_NOW, {"ignore-hup", "init", "kernel", "a", "hup"});
  EXPECT_EQ(Result.ExitStatus, 0);
  EXPECT_TRUE(Ignored.onlyFile().whole());
}

TEST(ProbeProcess, signalActionsAfterTheProbesStart_areThoseOfTheProgram) {
  for (const char *Program : {CARVE_TEST_PROGRAM_NOW, CARVE_TEST_PROGRAM_LAZY}) {
    ProbeRun Without, With;
    Without.setEnvironment("CARVE_PROBE_DIR");
    CommandResult Plain = Without.run(Program, {"init", "print-signals", "exit"});
    CommandResult Probed = With.run(Program, {"init", "print-signals", "exit"});
    EXPECT_EQ(Probed.Stdout, Plain.Stdout);
    EXPECT_TRUE(With.onlyFile().whole());
  }
}

TEST(ProbeProcess, defaultActionSetAgain_leavesAWholeFile) {
  for (std::string Signal : {"term", "hup"}) {
    ProbeRun Run;
    CommandResult Result =
        Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", "print-signals", Signal});
    EXPECT_EQ(Result.Signal, Signal == "term" ? SIGTERM : SIGHUP);
    EXPECT_TRUE(Run.onlyFile().whole());
    EXPECT_EQ(Run.onlyFile().launches("a"), 1u);
  }
}

TEST(ProbeProcess, threadsOfTheProbeAndOfCupti_takeNoSignal) {
  ProbeRun Run;
  Run.setEnvironment("STUB_CUPTI_THREAD=1");
  CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "print-open-threads", "exit"});
  EXPECT_EQ(Result.Stdout, "open threads: 0\n");
}

TEST(ProbeProcess, pendingCancellationDuringACall_endsTheThreadAlone) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "the sanitizer intercepts what is a cancellation point";
  ProbeRun Run;
  CommandResult Result =
      Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "cancelled-call", "_Z1av", "kernel", "a", "exit"});
  EXPECT_EQ(Result.Stdout, "cancelled 1\n");
  EXPECT_EQ(Result.ExitStatus, 3);
  EXPECT_EQ(Result.Signal, 0);
  EXPECT_TRUE(Run.onlyFile().whole());
  EXPECT_EQ(Run.onlyFile().of("query").size(), 2u);
}

TEST(ProbeProcess, programThatClosesDescriptors_leavesTheProbesOwn) {
  ProbeRun Run;
  std::string Victim = Run.path("victim");
  Run.run(CARVE_TEST_PROGRAM_NOW,
          {"limit-files", "256", "init", "chdir", "/", "close", Victim, "kernel", "a", "exit"});
  EXPECT_EQ(llvm::cantFail(readFile(Victim)), "");
  EXPECT_TRUE(Run.onlyFile().whole());
  EXPECT_EQ(Run.onlyFile().launches("a"), 1u);
}

TEST(ProbeProcess, replacedRecordFile_isNotWrittenThrough) {
  ProbeRun Run;
  std::string Victim = Run.path("victim");
  std::thread Enemy([&] {
    while (Run.paths().empty())
      ::usleep(1000);
    std::string Path = Run.paths().front();
    ::unlink(Path.c_str());
    ASSERT_EQ(::symlink(Victim.c_str(), Path.c_str()), 0);
  });
  CommandResult Result = Run.run(
      CARVE_TEST_PROGRAM_NOW, {"init", "sleep-ms", "300", "close", Victim, "kernel", "a", "exit"});
  Enemy.join();
  EXPECT_EQ(Result.ExitStatus, 3);
  EXPECT_EQ(llvm::cantFail(readFile(Victim)), "");
}

TEST(ProbeProcess, childForkedBeforeCuda_isTracedByItself) {
  for (std::string How : {"fork-both", "daemon"}) {
    ProbeRun Run;
    Run.run(CARVE_TEST_PROGRAM_NOW, {How, "init", "kernel", "a", "sleep-ms", "100", "kernel", "a"});
    // A daemon may end at any time.
    for (int I = 0; I < 2000 && Run.wholeFiles() < 2; ++I)
      ::usleep(10000);
    std::vector<Records> Files = Run.files();
    ASSERT_EQ(Files.size(), 2u) << How;
    for (const Records &File : Files) {
      EXPECT_TRUE(File.whole()) << How;
      EXPECT_EQ(File.launches("a"), 2u) << How;
    }
  }
}

TEST(ProbeProcess, childForkedAfterCuda_isLeftAlone) {
  for (std::string How : {"fork-both", "daemon"}) {
    ProbeRun Run;
    CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", How, "kernel",
                                                            "b", "sleep-ms", "700", "_exit"});
    EXPECT_EQ(Result.ExitStatus, 3);
    Records File = Run.onlyFile();
    EXPECT_TRUE(File.whole()) << How;
    EXPECT_EQ(File.of("end").size(), 1u) << How;
    EXPECT_EQ(File.launches("a"), 1u) << How;
    EXPECT_EQ(File.launches("b"), 1u) << How;
  }
}

TEST(ProbeProcess, childThatExecutesAProgram_isTracedAnew) {
  ProbeRun Run;
  CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", "fork-and-become",
                                                          "init", "kernel", "b", "exit"});
  EXPECT_EQ(Result.ExitStatus, 3);
  std::vector<Records> Files = Run.files();
  ASSERT_EQ(Files.size(), 2u);
  EXPECT_TRUE(Files[0].whole() && Files[1].whole());
  EXPECT_EQ(Files[0].launches("a") + Files[1].launches("a"), 1u);
  EXPECT_EQ(Files[0].launches("b") + Files[1].launches("b"), 1u);
}

namespace {
/// Returns the words after a launcher's name: a program that starts four ranks.
void expectFourRanks(ProbeRun &Run, const std::string &Launcher, std::vector<std::string> Words) {
  Words.insert(Words.end(), {CARVE_TEST_PROGRAM_NOW, "init", "kernel", "a", "sleep-ms", "50",
                             "kernel", "b", "kernel", "a"});
  CommandResult Result = Run.run(Launcher, Words);
  EXPECT_EQ(Result.ExitStatus, 0) << Result.Stdout << Result.Stderr;
  std::vector<Records> Files = Run.files();
  EXPECT_EQ(Files.size(), 4u);
  for (const Records &File : Files) {
    EXPECT_TRUE(File.whole());
    EXPECT_EQ(File.launches("a"), 2u);
    EXPECT_EQ(File.launches("b"), 1u);
    EXPECT_EQ(File.of("device").size(), 1u);
  }
}
} // namespace

TEST(ProbeProcess, ranksOfALauncher_areTracedAndTheLauncherIsNot) {
  ProbeRun Run;
  expectFourRanks(Run, CARVE_TEST_RANKS, {"4"});
}

TEST(ProbeProcess, ranksThatTheLauncherEnds_leaveWholeFiles) {
  ProbeRun Run;
  // All ranks must have begun by then, even on a machine with other work.
  CommandResult Result =
      Run.run("timeout", {"-s", "TERM", CARVE_TEST_SANITIZED ? "5" : "2", CARVE_TEST_RANKS, "4",
                          CARVE_TEST_PROGRAM_NOW, "init", "kernel", "a", "sleep-ms", "20000"});
  EXPECT_EQ(Result.ExitStatus, 124);
  std::vector<Records> Files = Run.files();
  EXPECT_EQ(Files.size(), 4u);
  for (const Records &File : Files) {
    EXPECT_TRUE(File.whole());
    EXPECT_EQ(File.launches("a"), 1u);
  }
}

TEST(ProbeProcess, ranksOfMpirun_areTraced) {
  auto Mpirun = llvm::sys::findProgramByName("mpirun");
  if (!Mpirun)
    GTEST_SKIP() << "no mpirun here";
  ProbeRun Run;
  // These are for Open MPI, which refuses root and more ranks than processors.
  for (const char *Entry : {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                            "OMPI_MCA_rmaps_base_oversubscribe=1",
                            "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"})
    Run.setEnvironment(Entry);
  expectFourRanks(Run, *Mpirun, {"-n", "4"});
}

TEST(ProbeProcess, launchesOfAllThreads_count) {
  ProbeRun Run;
  std::string Image = Run.writeFile("image", fatbin("some text"));
  CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "threads", Image});
  EXPECT_EQ(Result.Stdout + Result.Stderr, "") << "a thread sanitizer reports here";
  Records File = Run.onlyFile();
  EXPECT_TRUE(File.whole());
  EXPECT_EQ(File.launches("threadA"), 8000u);
  EXPECT_EQ(File.launches("threadB"), 8000u);
  EXPECT_EQ(File.of("container").size(), 1u);
}

TEST(ProbeProcess, namedImage_isSwappedAndNoOther) {
  ProbeRun Run;
  std::string Named = Run.writeFile("named", fatbin("aaaa named"));
  std::string Other = Run.writeFile("other", fatbin("bbbb other"));
  std::string New = Run.writeFile("new", fatbin("cccc new"));
  std::string Cut = Run.writeFile("cut", fatbin("dddd cut"));
  Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "load", Named, "load", Cut});
  auto Containers = Run.onlyFile().of("container");
  ASSERT_EQ(Containers.size(), 2u);
  std::string NamedDigest = Containers[0][0], CutDigest = Containers[1][0];
  EXPECT_EQ(Containers[0][1] + Containers[0][2], "26cuLibraryLoadData");

  ProbeRun Fixed;
  std::string CutImage = Run.writeFile("cut-image", fatbin("eeee image").substr(0, 20));
  std::string Map =
      Run.writeFile("map", NamedDigest + "\t" + New + "\n" + CutDigest + "\t" + CutImage + "\n");
  Fixed.setEnvironment("CARVE_PROBE_IMAGES=" + Map);
  CommandResult Result =
      Fixed.run(CARVE_TEST_PROGRAM_NOW, {"init", "load", Other, "load", Named, "load-bare", Named,
                                         "load-linked", Named, "load", Cut});
  EXPECT_EQ(Result.Stdout, "bbbb\ncccc\ncccc\ncccc\ndddd\n");
  Records File = Fixed.onlyFile();
  EXPECT_EQ(File.of("swapped"), (std::vector<Fields>{{NamedDigest, New}}));
  EXPECT_EQ(File.of("unswapped"), (std::vector<Fields>{{CutDigest, "image-malformed"}}));
}

TEST(ProbeProcess, queriesAndModules_areTracedButNotInAFixedRun) {
  ProbeRun Run;
  std::string Module = Run.writeFile("module", "some cubin");
  std::vector<std::string> Args = {"init",  "module", Module,  "module", Module,        "query",
                                   "_Z1av", "query",  "_Z1av", "query",  "KernelHandle"};
  Run.run(CARVE_TEST_PROGRAM_NOW, Args);
  Records File = Run.onlyFile();
  EXPECT_EQ(File.of("module").size(), 1u);
  EXPECT_EQ(File.of("query"),
            (std::vector<Fields>{{"_Z1av", "cuFuncGetAttribute"},
                                 {"_Z1av", "cuOccupancyMaxActiveClusters"},
                                 {"KernelHandle", "cuFuncGetAttribute"},
                                 {"KernelHandle", "cuOccupancyMaxActiveClusters"}}));
  ProbeRun Fixed;
  Fixed.setEnvironment("CARVE_PROBE_IMAGES=" + Run.writeFile("map", ""));
  Fixed.run(CARVE_TEST_PROGRAM_NOW, Args);
  EXPECT_EQ(Fixed.onlyFile().of("query").size() + Fixed.onlyFile().of("module").size(), 0u);
  EXPECT_TRUE(Fixed.onlyFile().whole());
}

TEST(ProbeProcess, trace_hasLaunchAttributesAndHazards) {
  std::vector<std::string> Args = {"init",         "kernel",       "_Z1av", "graph-kernel",
                                   "_Z1av",        "graph-kernel", "_Z1av", "launch-ex",
                                   "_Z1bv",        "programmatic", "_Z1cv", "programmatic",
                                   "KernelHandle", "programmatic", "_Z1cv", "share-memory"};
  ProbeRun Run;
  Run.run(CARVE_TEST_PROGRAM_NOW, Args);
  Records File = Run.onlyFile();
  EXPECT_EQ(File.launches("_Z1av"), 3u);
  ASSERT_EQ(File.of("graph").size(), 1u);
  EXPECT_EQ(File.of("graph")[0].at(0), "_Z1av");
  EXPECT_EQ(File.of("graph")[0].at(1), "2");
  EXPECT_EQ(File.of("attribute"),
            (std::vector<Fields>{{"_Z1cv", "programmatic"}, {"KernelHandle", "programmatic"}}));
  EXPECT_EQ(File.of("hazard"), (std::vector<Fields>{{"managed", "cuMemAllocManaged"},
                                                    {"host-mapped", "cuMemHostAlloc"},
                                                    {"ipc", "cuIpcGetMemHandle"}}));
  EXPECT_TRUE(File.whole());

  ProbeRun Fixed;
  Fixed.setEnvironment("CARVE_PROBE_IMAGES=" + Fixed.writeFile("images", ""));
  Fixed.run(CARVE_TEST_PROGRAM_NOW, Args);
  File = Fixed.onlyFile();
  EXPECT_EQ(File.of("attribute").size() + File.of("hazard").size(), 0u);
}

TEST(ProbeProcess, lostRecords_areReported) {
  ProbeRun Dropped;
  Dropped.setEnvironment("STUB_CUPTI_DROPPED=5");
  Dropped.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a"});
  EXPECT_EQ(Dropped.onlyFile().of("dropped"), (std::vector<Fields>{{"5"}}));
  ProbeRun Timeless;
  Timeless.run(CARVE_TEST_PROGRAM_NOW, {"init", "lost-kernel", "sleep-ms", "1500"});
  EXPECT_EQ(Timeless.onlyFile().of("dropped"), (std::vector<Fields>{{"1"}}));
  ProbeRun Unfinished;
  Unfinished.run(CARVE_TEST_PROGRAM_NOW, {"init", "lost-kernel"});
  EXPECT_EQ(Unfinished.onlyFile().of("dropped").size(), 0u)
      << "a kernel that still runs at exit is no loss";
}

TEST(ProbeProcess, probeThatCannotWork_givesAReason) {
  struct Case {
    const char *Entry;
    std::string Reason;
  } Cases[] = {{"STUB_CUPTI_SUBSCRIBE=39", "profiler-present"},
               {"STUB_CUPTI_SUBSCRIBE=999", "cupti-subscribe 999"},
               {"STUB_CUPTI_VERSION=18", "cupti-too-old 18"},
               {"CARVE_PROBE_IMAGES=/dev/null/nonexistent", "images-unreadable"},
               {"CARVE_PROBE_STRETCH=30", "stretch-unreadable"}};
  for (const Case &C : Cases) {
    ProbeRun Run;
    Run.setEnvironment(C.Entry);
    CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", "exit"});
    EXPECT_EQ(Result.ExitStatus, 3);
    EXPECT_EQ(Result.Stdout + Result.Stderr, "");
    Records File = Run.onlyFile();
    EXPECT_EQ(File.of("aside"), (std::vector<Fields>{{C.Reason}}));
    EXPECT_FALSE(File.whole());
  }
}

TEST(ProbeProcess, missingDirectory_makesTheProbeDoNothing) {
  for (std::string Entry :
       {"CARVE_PROBE_DIR", "CARVE_PROBE_DIR=", "CARVE_PROBE_DIR=/dev/null/nonexistent"}) {
    ProbeRun Run;
    Run.setEnvironment(Entry);
    CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "kernel", "a", "exit"});
    EXPECT_EQ(Result.ExitStatus, 3);
    EXPECT_EQ(Result.Stdout + Result.Stderr, "");
    EXPECT_TRUE(Run.files().empty());
  }
}
