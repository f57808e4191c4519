// Build systems around a kernel that gets a further entry: built, tuned, built again with the
// entry, and built once more, which must do nothing. The kernel is certain to be faster with its
// sizes known (apps/known.cu). CARVE_TEST_KOKKOS may name a folder with the sources of Kokkos.
#include "GpuTesting.h"

#include "Report/TextReport.h"
#include "Support/TempDir.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <cstdio>

using namespace carve;
using namespace carve::test;

namespace {

/// What a build system makes of the kernel, and how it is called.
struct BuildSystem {
  std::string Name;
  /// Files in the build's folder, by name. `@SOURCE@` is the folder of the programs, `@ARCH@` the
  /// architecture, and `@CARVE_NVCC@` the compiler.
  std::vector<std::pair<std::string, std::string>> Files;
  Words Configure; ///< Empty if there is nothing to configure.
  Words Build;
  std::string Program;
  std::string Kernel = "filtered"; ///< A part of the kernel's name.
  std::string Needs = ""; ///< An environment variable without which the test is skipped, if any.
};

const char *const Host = "extern \"C\" void runFiltered(int);\nint main() { runFiltered(30); }\n";

BuildSystem makefile() {
  return {"make",
          {{"Makefile", "NVCC = @CARVE_NVCC@\n"
                        "app: known.o\n"
                        "\t$(NVCC) -arch=@ARCH@ $^ -o $@\n"
                        "known.o: @SOURCE@/known.cu\n"
                        "\t$(NVCC) -O3 -arch=@ARCH@ -MD -MF known.d -c $< -o $@\n"
                        "-include known.d\n"}},
          {},
          {"make"},
          "app"};
}

/// \p Kind is that of the library with the kernel: STATIC or SHARED.
BuildSystem cmake(const std::string &Kind) {
  return {"cmake-" + Kind,
          {{"CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.18)\n"
            "project(known LANGUAGES CXX CUDA)\n"
            "add_library(filtered " +
                Kind +
                " @SOURCE@/known.cu)\n"
                "target_compile_definitions(filtered PRIVATE LIBRARY)\n"
                "set_target_properties(filtered PROPERTIES POSITION_INDEPENDENT_CODE ON)\n"
                "add_executable(app host.cpp)\n"
                "target_link_libraries(app PRIVATE filtered)\n"},
           {"host.cpp", Host}},
          {"cmake", "-S", ".", "-B", "build", "-DCMAKE_CUDA_COMPILER=@CARVE_NVCC@",
           "-DCMAKE_CUDA_ARCHITECTURES=90", "-DCMAKE_BUILD_TYPE=Release"},
          {"cmake", "--build", "build"},
          "build/app"};
}

/// Kokkos passes a structure to each kernel, whose fields are the functor's.
BuildSystem kokkos() {
  return {"kokkos",
          {{"CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)\n"
                              "project(known LANGUAGES CXX CUDA)\n"
                              "add_subdirectory($ENV{CARVE_TEST_KOKKOS} kokkos)\n"
                              "add_executable(app @SOURCE@/known_kokkos.cpp)\n"
                              "set_source_files_properties(@SOURCE@/known_kokkos.cpp PROPERTIES "
                              "LANGUAGE CUDA)\n"
                              "target_link_libraries(app PRIVATE Kokkos::kokkos)\n"}},
          {"cmake", "-S", ".", "-B", "build", "-DCMAKE_CUDA_COMPILER=@CARVE_NVCC@",
           "-DCMAKE_CUDA_ARCHITECTURES=90", "-DCMAKE_BUILD_TYPE=Release", "-DKokkos_ENABLE_CUDA=ON",
           "-DKokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON", "-DKokkos_ARCH_HOPPER90=ON"},
          {"cmake", "--build", "build", "--parallel"},
          "build/app",
          "Filtered",
          "CARVE_TEST_KOKKOS"};
}

std::string filledIn(std::string Text) {
  const std::pair<llvm::StringRef, std::string> Values[] = {
      {"@SOURCE@", machine().Sources + "/apps"},
      {"@ARCH@", TestArch},
      {"@CARVE_NVCC@", machine().tool("carve-nvcc")}};
  for (const auto &[Mark, Value] : Values)
    for (size_t At; (At = Text.find(Mark)) != std::string::npos;)
      Text.replace(At, Mark.size(), Value);
  return Text;
}

class EntryBuilds : public GpuTest, public testing::WithParamInterface<BuildSystem> {
protected:
  /// Runs \p Argv in the folder of the build, which must succeed, and returns what it printed.
  std::string inBuild(const Project &P, const Words &Argv) {
    Words Line = {"sh", "-c", "cd \"$0\" && exec \"$@\"", P.path("")};
    for (const std::string &Word : Argv)
      Line.push_back(filledIn(Word));
    CommandResult Result =
        run(Line, {"CARVE_STORE=" + P.path("store"), "CARVE_RUN=none",
                   "CARVE_NVCC=" + machine().T.Nvcc, "CARVE_LOG=" + P.path("log")});
    EXPECT_EQ(Result.ExitStatus, 0) << Result.Stdout << Result.Stderr;
    return Result.Stdout;
  }
};

} // namespace

TEST_P(EntryBuilds, tunedKernel_isBuiltWithItsEntryOnce) {
  const BuildSystem &B = GetParam();
  if (!llvm::sys::findProgramByName(B.Build.front()))
    GTEST_SKIP() << "no " << B.Build.front() << " here";
  if (!B.Needs.empty() && !llvm::sys::Process::GetEnv(B.Needs))
    GTEST_SKIP() << B.Needs << " is not set";
  Project P("entry-builds-" + B.Name);
  for (const auto &[Name, Text] : B.Files)
    ASSERT_FALSE(writeFileAtomically(P.path(Name), filledIn(Text)));
  if (!B.Configure.empty())
    inBuild(P, B.Configure);
  inBuild(P, B.Build);
  const std::string App = P.path(B.Program);
  CommandResult Plain = run({App});
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;

  CommandResult Tuned = P.carve({"tune", "--", App});
  ASSERT_EQ(Tuned.ExitStatus, 0) << Tuned.Stderr << P.log();
  TuningReport Report = P.report();
  ASSERT_GE(Report.tunedKernels(), 1u) << printTextReport(Report) << P.log();
  const KernelReport &Hot = Report.Kernels.front();
  std::printf("%s\t%s\t%s\t%s\n", B.Name.c_str(), Hot.Variant.c_str(), Hot.InRun.Mode.c_str(),
              Hot.InRun.Reason.c_str());
  ASSERT_TRUE(Hot.Tuned && !Hot.Entries.empty())
      << "the winner is no further entry: " << Hot.Variant;

  inBuild(P, B.Build);
  std::string First = valueOf(readFile(App));
  RunRecord Run = runProbed({"env", "CARVE_ENTRIES=on", App});
  EXPECT_EQ(Run.Output.Stdout, Plain.Stdout);
  uint64_t Taken = 0, Launches = 0;
  for (const KernelLaunches &K : Run.Probe.Kernels) {
    if (!llvm::StringRef(K.Kernel).contains(B.Kernel))
      continue;
    Launches += K.Launches;
    if (llvm::StringRef(K.Kernel).contains("__carve_e"))
      Taken += K.Launches;
  }
  EXPECT_EQ(Launches, 30u);
  EXPECT_EQ(Taken, 30u) << "launches that took the entry for " << Hot.Entries.front().When;

  std::string Log = valueOf(readFile(P.path("log")));
  inBuild(P, B.Build);
  EXPECT_EQ(valueOf(readFile(P.path("log"))), Log) << "the third build compiled something";
  EXPECT_EQ(valueOf(readFile(App)), First);
}

INSTANTIATE_TEST_SUITE_P(Systems, EntryBuilds,
                         testing::Values(makefile(), cmake("STATIC"), cmake("SHARED"), kokkos()),
                         [](const testing::TestParamInfo<BuildSystem> &Info) {
                           std::string Name;
                           for (char C : Info.param.Name)
                             Name += llvm::isAlnum(C) ? C : '_';
                           return Name;
                         });
