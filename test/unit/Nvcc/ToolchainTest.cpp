#include "Nvcc/Toolchain.h"

#include "NvccTesting.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;

namespace {

/// A fixture with a directory tree, programs in it, and an environment.
class ToolchainTest : public testing::Test {
protected:
  ToolchainTest() : Dir(llvm::cantFail(TempDir::create("carve-test"))) {
    llvm::SmallString<128> Real;
    llvm::sys::fs::real_path(Dir.path(), Real);
    Root = Real.str().str();
  }

  std::string program(const std::string &Name) {
    std::string Path = Root + "/" + Name;
    llvm::sys::fs::create_directories(llvm::StringRef(Path).rsplit('/').first);
    EXPECT_EQ(llvm::toString(writeFileAtomically(Path, "#!/bin/sh\n")), "");
    llvm::sys::fs::setPermissions(Path, llvm::sys::fs::all_all);
    return Path;
  }

  std::string link(const std::string &To, const std::string &Name) {
    std::string Path = Root + "/" + Name;
    llvm::sys::fs::create_directories(llvm::StringRef(Path).rsplit('/').first);
    EXPECT_FALSE(llvm::sys::fs::create_link(To, Path));
    return Path;
  }

  /// Returns the nvcc that is found, or the message.
  std::string find(llvm::StringRef Own = "/own") {
    auto Get = [&](llvm::StringRef Name) -> std::optional<std::string> {
      auto It = Env.find(Name);
      return It == Env.end() ? std::nullopt : std::optional(It->second);
    };
    llvm::Expected<Toolchain> T = findToolchain(Get, Own);
    return T ? T->Nvcc : llvm::toString(T.takeError());
  }

  TempDir Dir;
  std::string Root;
  llvm::StringMap<std::string> Env;
};

TEST_F(ToolchainTest, carveNvcc_set_precedesPath) {
  std::string A = program("a/bin/nvcc"), B = program("b/bin/nvcc");
  Env["PATH"] = Root + "/a/bin";
  EXPECT_EQ(find(), A);
  Env["CARVE_NVCC"] = B;
  EXPECT_EQ(find(), B);
}

TEST_F(ToolchainTest, ownProgram_anyName_isSkipped) {
  std::string Own = program("own/carve-nvcc"), Real = program("cuda-13/bin/nvcc");
  link(Own, "bin/nvcc");
  link(Real, "cuda/nvcc");
  Env["PATH"] = Root + "/bin::" + Root + "/cuda:" + Root + "/own";
  EXPECT_EQ(find(Own), Root + "/cuda/nvcc");
  Env["CARVE_NVCC"] = Root + "/bin/nvcc";
  EXPECT_NE(find(Own).find("CARVE_NVCC is '" + Root + "/bin/nvcc'"), std::string::npos);
}

// In many PATHs Debian's /usr/lib/ccache comes first.
TEST_F(ToolchainTest, linkToACompilerCache_inPath_isSkipped) {
  link(program("bin/ccache"), "ccache/nvcc");
  std::string Real = program("cuda-13/bin/nvcc"), Versioned = program("other/nvcc-13.0");
  Env["PATH"] = Root + "/ccache:" + Root + "/cuda-13/bin";
  EXPECT_EQ(find(), Real);
  link(Versioned, "alternatives/nvcc");
  Env["PATH"] = Root + "/alternatives:" + Root + "/cuda-13/bin";
  EXPECT_EQ(find(), Root + "/alternatives/nvcc");
  // A user who names the link explicitly means it.
  Env["CARVE_NVCC"] = Root + "/ccache/nvcc";
  EXPECT_EQ(find(), Root + "/ccache/nvcc");
}

// nvcc finds its headers and libraries from the path that it is called by.
TEST_F(ToolchainTest, linkedNvcc_found_keepsThePathAsWritten) {
  link(link(program("cuda-13.0/bin/nvcc"), "etc/nvcc"), "view/bin/nvcc");
  Env["PATH"] = Root + "/view/bin//";
  EXPECT_EQ(find(), Root + "/view/bin/nvcc");
  Env["PATH"] = Root + "/cuda-13.0/../view/bin";
  EXPECT_EQ(find(), Root + "/cuda-13.0/../view/bin/nvcc");
  Env["CARVE_NVCC"] = Root + "/etc/nvcc";
  EXPECT_EQ(find(), Root + "/etc/nvcc");
}

TEST_F(ToolchainTest, relativePath_found_isAbsolute) {
  program("cuda/bin/nvcc");
  llvm::SmallString<128> Before;
  llvm::sys::fs::current_path(Before);
  ASSERT_FALSE(llvm::sys::fs::set_current_path(Root));
  Env["PATH"] = "cuda/bin";
  std::string Found = find();
  llvm::sys::fs::set_current_path(Before);
  EXPECT_EQ(Found, Root + "/cuda/bin/nvcc");
}

/// Prints a dryrun and counts its runs.
class DryrunRunner final : public CommandRunner {
public:
  explicit DryrunRunner(std::string Text) : Text(std::move(Text)) {}
  llvm::Expected<CommandResult> run(const Command &C) override {
    ++Runs;
    EXPECT_EQ(C.Argv.at(1), "--dryrun");
    CommandResult R;
    R.ExitStatus = 1; // nvcc does this if the host compiler is missing.
    R.Stderr = Text;
    return R;
  }
  std::string Text;
  unsigned Runs = 0;
};

TEST_F(ToolchainTest, toolsBesideNvcc_located_startNoProcess) {
  Toolchain T{program("cuda/bin/nvcc"), Root + "/cuda/bin"};
  for (const char *Name : {"cuda/bin/ptxas", "cuda/bin/fatbinary", "cuda/bin/nvcc.profile"})
    program(Name);
  ASSERT_EQ(llvm::toString(writeFileAtomically(T.Nvcc, "a program")), "");
  llvm::sys::fs::setPermissions(T.Nvcc, llvm::sys::fs::all_all);
  DryrunRunner Runner("");
  locateTools(T, Runner);
  EXPECT_EQ(Runner.Runs, 0u);
  EXPECT_EQ(T.tool("ptxas"), Root + "/cuda/bin/ptxas");
}

TEST_F(ToolchainTest, wrapperScript_located_toolsAreWhereItsNvccSays) {
  // The tools of another toolkit beside the script are not used.
  Toolchain T{program("wrapped/nvcc"), Root + "/wrapped"};
  for (const char *Name : {"wrapped/ptxas", "wrapped/fatbinary", "wrapped/nvcc.profile",
                           "cuda/bin/ptxas", "cuda/nvvm/bin/cicc"})
    program(Name);
  DryrunRunner Runner("#$ _HERE_=" + Root + "/cuda/bin\n#$ PATH=/first\n#$ PATH=" + Root +
                      "/cuda/bin/../nvvm/bin:" + Root + "/cuda/bin:/usr/bin\n#$ gcc -E x\n");
  locateTools(T, Runner);
  EXPECT_EQ(Runner.Runs, 1u);
  EXPECT_EQ(T.BinDir, Root + "/cuda/bin");
  EXPECT_EQ(T.tool("ptxas"), Root + "/cuda/bin/ptxas");
  EXPECT_EQ(T.tool("cicc"), Root + "/cuda/bin/../nvvm/bin/cicc");
  // The tool is missing; a message names this path.
  EXPECT_EQ(T.tool("nvlink"), Root + "/cuda/bin/nvlink");
}

TEST_F(ToolchainTest, dryrunWithoutPlaces_located_toolsStayBesideNvcc) {
  Toolchain T{program("wrapped/nvcc"), Root + "/wrapped"};
  DryrunRunner Runner("nvcc: not today\n");
  locateTools(T, Runner);
  EXPECT_EQ(T.tool("ptxas"), Root + "/wrapped/ptxas");
}

TEST_F(ToolchainTest, callers_startedProgram_includeUsAndScripts) {
  std::string Script = program("script/nvcc"), Binary = program("cuda-13/bin/nvcc");
  EXPECT_EQ(llvm::toString(writeFileAtomically(Binary, "\x7f"
                                                       "ELF")),
            "");
  auto Get = [&](llvm::StringRef) -> std::optional<std::string> { return "/before"; };
  EXPECT_EQ(callersBehind(Get, "/own", {Binary, ""}), "/before:/own");
  EXPECT_EQ(callersBehind(Get, "/own", {Script, ""}), "/before:/own:" + Script);
}

TEST_F(ToolchainTest, noNvccInPath_found_cudaPathThenCudaHome) {
  std::string A = program("a/bin/nvcc"), B = program("b/bin/nvcc");
  Env["PATH"] = Root + "/empty";
  Env["CUDA_HOME"] = Root + "/b";
  EXPECT_EQ(find(), B);
  Env["CUDA_PATH"] = Root + "/a";
  EXPECT_EQ(find(), A);
}

TEST_F(ToolchainTest, directoryOrPlainFile_inPath_isSkipped) {
  program("dir/nvcc/x");
  std::string Plain = program("plain/nvcc"), Good = program("good/nvcc");
  llvm::sys::fs::setPermissions(Plain, llvm::sys::fs::all_read);
  Env["PATH"] = Root + "/dir:" + Root + "/plain:" + Root + "/good";
  EXPECT_EQ(find(), Good);
}

/// Answers every command with \p Stdout.
class StubRunner final : public CommandRunner {
public:
  StubRunner(std::string Stdout, int Status) : Stdout(std::move(Stdout)), Status(Status) {}
  llvm::Expected<CommandResult> run(const Command &C) override {
    EXPECT_EQ(C.Argv, (Words{"/x/bin/nvcc", "--version"}));
    CommandResult R;
    R.Stdout = Stdout;
    R.ExitStatus = Status;
    return R;
  }

private:
  std::string Stdout;
  int Status;
};

std::string version(std::string Stdout, int Status = 0) {
  StubRunner Runner(std::move(Stdout), Status);
  llvm::Expected<std::string> V = nvccVersion({"/x/bin/nvcc", "/x/bin"}, Runner);
  return V ? *V : "error: " + llvm::toString(V.takeError());
}

TEST(NvccVersion, version_releaseLine_isRead) {
  EXPECT_EQ(version("nvcc: NVIDIA (R) Cuda compiler driver\n"
                    "Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/c_0\n"),
            "13.0.88");
  EXPECT_EQ(version("gcc (Debian 12) 12.2.0\n").find("error: /x/bin/nvcc --version"), 0u);
  EXPECT_EQ(version("", 1).find("error: "), 0u);
}

} // namespace
