#include "unit/Probe/ProbeRecords.h"

#include "Probe/Driver/Container.h"
#include "Probe/Driver/VariableNames.h"
#include "Support/Digest.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

static constexpr char Source[] = "__device__ int D;\n"
                                 "__global__ void k(float *P) { P[threadIdx.x] *= D; }\n"
                                 "int main() { k<<<1, 32>>>(nullptr); }\n";

/// Returns the content of section \p Name of the ELF file \p Path; empty if it has none.
static std::string section(const std::string &Path, llvm::StringRef Name) {
  auto File = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(Path));
  for (const llvm::object::SectionRef &Section : File.getBinary()->sections())
    if (llvm::cantFail(Section.getName()) == Name)
      return llvm::cantFail(Section.getContents()).str();
  return "";
}

/// Returns the containers in \p Bytes, which lie one after the other with only zeros in between.
static std::vector<std::string> containers(llvm::StringRef Bytes) {
  std::vector<std::string> Found;
  while (!Bytes.ltrim('\0').empty()) {
    Bytes = Bytes.ltrim('\0');
    auto Next = findContainer(Bytes.data(), Bytes.size());
    if (!Next)
      return {};
    Found.push_back(digestOfImage(Next->Data, Next->Bytes));
    Bytes = Bytes.drop_front(Next->Bytes);
  }
  return Found;
}

class ProbeToolchain : public testing::Test {
protected:
  void SetUp() override {
    auto Path = llvm::sys::findProgramByName("nvcc", {"/usr/local/cuda/bin"});
    if (!Path)
      Path = llvm::sys::findProgramByName("nvcc");
    if (!Path)
      GTEST_SKIP() << "no nvcc";
    Nvcc = *Path;
    Run.writeFile("a.cu", Source);
  }

  /// Compiles a.cu with \p Options into \p Output, and keeps the temporary files beside it.
  void compile(std::vector<std::string> Options, const std::string &Output) {
    Command C;
    C.Argv = {Nvcc, "--keep", "-o", Output, "a.cu"};
    C.Argv.insert(C.Argv.end(), Options.begin(), Options.end());
    C.Dir = Run.path("");
    ProcessRunner Runner;
    llvm::cantFail(runChecked(Runner, C));
  }

  std::string digestOfFile(const std::string &Name) {
    return digestOf(llvm::cantFail(readFile(Run.path(Name))));
  }

  std::string Nvcc;
  ProbeRun Run;
};

TEST_F(ProbeToolchain, keptFatbin_isTheContainerInTheObject) {
  compile({"-c", "-arch=sm_90"}, "one.o");
  EXPECT_EQ(containers(section(Run.path("one.o"), ".nv_fatbin")),
            std::vector<std::string>{digestOfFile("a.fatbin")});
  compile(
      {"-c", "-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"},
      "two.o");
  EXPECT_EQ(containers(section(Run.path("two.o"), ".nv_fatbin")),
            std::vector<std::string>{digestOfFile("a.fatbin")});
}

TEST_F(ProbeToolchain, relocatableFatbin_isInItsOwnSection) {
  compile({"-c", "-rdc=true", "-arch=sm_90"}, "rdc.o");
  EXPECT_EQ(containers(section(Run.path("rdc.o"), "__nv_relfatbin")),
            std::vector<std::string>{digestOfFile("a.fatbin")});
  EXPECT_EQ(section(Run.path("rdc.o"), ".nv_fatbin"), "");
}

TEST_F(ProbeToolchain, executable_hasNvlinksContainer) {
  compile({"-rdc=true", "-arch=sm_90"}, "app");
  auto Found = containers(section(Run.path("app"), ".nv_fatbin"));
  std::string Linked = digestOfFile("app_dlink.fatbin");
  EXPECT_NE(std::find(Found.begin(), Found.end(), Linked), Found.end());
}

TEST_F(ProbeToolchain, cubin_endsWhereItsFileEnds) {
  compile({"-cubin", "-arch=sm_90"}, "a.cubin");
  std::string Bytes = llvm::cantFail(readFile(Run.path("a.cubin")));
  auto Found = findContainer(Bytes.data(), Bytes.size());
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Bytes, Bytes.size());
  EXPECT_FALSE(Found->Fatbin);
}

TEST_F(ProbeToolchain, cubin_givesTheNamesOfItsVariables) {
  Run.writeFile("a.cu", "__device__ float Table[512];\n"
                        "static __constant__ float Factors[4];\n"
                        "namespace n { __device__ int Set = 7; }\n"
                        "__global__ void k(float *P) {\n"
                        "  __shared__ float Local[32];\n"
                        "  Local[threadIdx.x] = Factors[threadIdx.x % 4] + n::Set++;\n"
                        "  P[0] = Table[1] + Local[2];\n"
                        "}\n");
  compile({"-cubin", "-arch=sm_90"}, "a.cubin");
  std::string Bytes = llvm::cantFail(readFile(Run.path("a.cubin")));
  std::set<std::string> Names;
  addVariableNames(Bytes.data(), Bytes.size(), Names);
  EXPECT_EQ(Names, (std::set<std::string>{"Factors", "Table", "_ZN1n3SetE"}));
  // However much is cut off, nothing beyond the end is read.
  for (size_t Length = 0; Length < Bytes.size(); Length += 13) {
    std::string Part = Bytes.substr(0, Length);
    addVariableNames(Part.data(), Part.size(), Names);
  }
  EXPECT_EQ(Names.size(), 3u);
}

TEST_F(ProbeToolchain, realCuptiWithoutADriver_isNoReasonToFail) {
  std::string Cupti = Nvcc.substr(0, Nvcc.rfind("/bin/")) + "/lib64/libcupti.so";
  if (!llvm::sys::fs::exists(Cupti))
    Cupti = Nvcc.substr(0, Nvcc.rfind("/bin/")) + "/extras/CUPTI/lib64/libcupti.so";
  if (!llvm::sys::fs::exists(Cupti))
    GTEST_SKIP() << "no CUPTI beside nvcc";
  if (::dlopen("libcuda.so.1", RTLD_LAZY))
    GTEST_SKIP() << "there is a driver";
  Run.setEnvironment("CARVE_PROBE_CUPTI=" + Cupti);
  Run.setEnvironment("STUB_CUDA");
  CommandResult Result = Run.run(CARVE_TEST_PROGRAM_NOW, {"init", "exit"});
  EXPECT_EQ(Result.ExitStatus, 3);
  EXPECT_EQ(Result.Stdout + Result.Stderr, "");
  Records File = Run.onlyFile();
  ASSERT_EQ(File.of("aside").size(), 1u);
  EXPECT_EQ(File.of("aside")[0][0].substr(0, 15), "cupti-subscribe");
}
