/// \file
/// A directory in which tests run the real nvcc and compare the files that it leaves.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Nvcc/Toolchain.h"
#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace carve {

/// Skips with a printed reason if there is no nvcc.
class RealNvccTest : public testing::Test {
protected:
  using Words = std::vector<std::string>;

  RealNvccTest() : Work(llvm::cantFail(TempDir::create("carve-toolchain"))) {}

  void SetUp() override {
    auto Env = [](llvm::StringRef Name) { return llvm::sys::Process::GetEnv(Name); };
    llvm::Expected<Toolchain> Found = findToolchain(Env, "");
    if (!Found)
      GTEST_SKIP() << llvm::toString(Found.takeError());
    Tools = *Found;
    locateTools(Tools, Runner);
    // If nvcc is a script, the nvcc that it calls is used. NvccPlacesTest has scripts of its own.
    if (isScript(Tools.Nvcc))
      Tools = {Tools.tool("nvcc"), Tools.BinDir};
    makeSources();
  }

  /// Runs \p Argv in the work directory and captures its streams.
  CommandResult run(Words Argv, Words Environment = {}) {
    Command C;
    C.Argv = std::move(Argv);
    C.Dir = Work.path();
    C.Environment = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};
    C.Environment.insert(C.Environment.end(), Environment.begin(), Environment.end());
    C.StdinPath = "/dev/null";
    C.CaptureStdout = C.CaptureStderr = true;
    return llvm::cantFail(Runner.run(C));
  }

  CommandResult nvcc(Words Arguments, Words Environment = {}) {
    Arguments.insert(Arguments.begin(), Tools.Nvcc);
    return run(std::move(Arguments), std::move(Environment));
  }

  /// Runs nvcc, which must succeed without output.
  void compile(const Words &Arguments) {
    CommandResult R = nvcc(Arguments);
    EXPECT_TRUE(R.succeeded() && R.Stdout.empty() && R.Stderr.empty())
        << testing::PrintToString(Arguments) << "\n"
        << R.Stdout << R.Stderr;
  }

  CommandLine parsed(const Words &Arguments) {
    llvm::Expected<CommandLine> C = parseCommandLine(Arguments, {"", "", Work.path()});
    if (C)
      return *C;
    ADD_FAILURE() << llvm::toString(C.takeError());
    return {};
  }

  std::string path(const std::string &Name) const { return Work.path() + "/" + Name; }
  bool exists(const std::string &Name) const { return llvm::sys::fs::exists(path(Name)); }

  void write(const std::string &Name, const std::string &Text) {
    llvm::sys::fs::create_directories(llvm::StringRef(path(Name)).rsplit('/').first);
    ASSERT_EQ(llvm::toString(writeFileAtomically(path(Name), Text)), "");
  }

  std::string read(const std::string &Name) {
    llvm::Expected<std::string> Bytes = readFile(path(Name));
    if (Bytes)
      return *Bytes;
    ADD_FAILURE() << llvm::toString(Bytes.takeError());
    return "";
  }

  /// Returns \p Name without symbols and build identifier.
  std::string stripped(const std::string &Name) {
    CommandResult R =
        run({"strip", "-R", ".note.gnu.build-id", "-o", path(Name) + ".stripped", path(Name)});
    EXPECT_TRUE(R.succeeded()) << R.Stderr;
    return read(Name + ".stripped");
  }

  TempDir Work;
  Toolchain Tools;
  ProcessRunner Runner;

private:
  void makeSources() {
    write("scale.h", "#define FACTOR 2\n");
    write("main.cu", "#include \"scale.h\"\n"
                     "__global__ void scale(float *Y) { Y[threadIdx.x] *= FACTOR; }\n"
                     "void runOther(); int host();\n"
                     "int main() {\n"
                     "  scale<<<1, 32>>>(nullptr);\n"
                     "#ifdef WHOLE\n  runOther();\n  return host();\n#endif\n}\n");
    write("sub/other.cu", "__global__ void other(float *Y) { Y[threadIdx.x] += 1; }\n"
                          "void runOther() { other<<<1, 32>>>(nullptr); }\n");
    write("host.cpp", "int host() { return 0; }\n");
  }
};

} // namespace carve
