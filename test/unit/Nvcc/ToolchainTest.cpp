#include "Nvcc/Toolchain.h"

#include "NvccTesting.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;

namespace {

/// A directory tree with programs in it, and an environment.
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

  /// The nvcc found, or the message.
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

TEST_F(ToolchainTest, CarveNvccGoesBeforePath) {
  std::string A = program("a/bin/nvcc"), B = program("b/bin/nvcc");
  Env["PATH"] = Root + "/a/bin";
  EXPECT_EQ(find(), A);
  Env["CARVE_NVCC"] = B;
  EXPECT_EQ(find(), B);
}

TEST_F(ToolchainTest, SkipsItselfUnderEveryName) {
  std::string Own = program("own/carve-nvcc"), Real = program("cuda-13/bin/nvcc");
  link(Own, "bin/nvcc");
  link(Real, "cuda/nvcc");
  Env["PATH"] = Root + "/bin::" + Root + "/cuda:" + Root + "/own";
  EXPECT_EQ(find(Own), Real);
  Env["CARVE_NVCC"] = Root + "/bin/nvcc";
  EXPECT_NE(find(Own).find("CARVE_NVCC is '" + Root + "/bin/nvcc'"), std::string::npos);
}

// Debian's /usr/lib/ccache stands first in many a PATH.
TEST_F(ToolchainTest, ALinkToACompilerCacheIsNoNvcc) {
  link(program("bin/ccache"), "ccache/nvcc");
  std::string Real = program("cuda-13/bin/nvcc"), Versioned = program("other/nvcc-13.0");
  Env["PATH"] = Root + "/ccache:" + Root + "/cuda-13/bin";
  EXPECT_EQ(find(), Real);
  link(Versioned, "alternatives/nvcc");
  Env["PATH"] = Root + "/alternatives:" + Root + "/cuda-13/bin";
  EXPECT_EQ(find(), Versioned);
  // Who names it means it.
  Env["CARVE_NVCC"] = Root + "/ccache/nvcc";
  EXPECT_EQ(find(), Root + "/bin/ccache");
}

TEST_F(ToolchainTest, CallersAreRememberedAndScriptsWithThem) {
  std::string Script = program("script/nvcc"), Binary = program("cuda-13/bin/nvcc");
  EXPECT_EQ(llvm::toString(writeFileAtomically(Binary, "\x7f"
                                                       "ELF")),
            "");
  auto Get = [&](llvm::StringRef) -> std::optional<std::string> { return "/before"; };
  EXPECT_EQ(callersBehind(Get, "/own", {Binary, ""}), "/before:/own");
  EXPECT_EQ(callersBehind(Get, "/own", {Script, ""}), "/before:/own:" + Script);
}

TEST_F(ToolchainTest, TakesCudaPathThenCudaHome) {
  std::string A = program("a/bin/nvcc"), B = program("b/bin/nvcc");
  Env["PATH"] = Root + "/empty";
  Env["CUDA_HOME"] = Root + "/b";
  EXPECT_EQ(find(), B);
  Env["CUDA_PATH"] = Root + "/a";
  EXPECT_EQ(find(), A);
}

TEST_F(ToolchainTest, DirectoriesAndPlainFilesAreNoCompilers) {
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

TEST(NvccVersion, IsReadFromTheReleaseLine) {
  EXPECT_EQ(version("nvcc: NVIDIA (R) Cuda compiler driver\n"
                    "Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/c_0\n"),
            "13.0.88");
  EXPECT_EQ(version("gcc (Debian 12) 12.2.0\n").find("error: /x/bin/nvcc --version"), 0u);
  EXPECT_EQ(version("", 1).find("error: "), 0u);
}

} // namespace
