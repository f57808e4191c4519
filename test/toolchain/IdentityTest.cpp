// If nothing is tuned, carve-nvcc behaves as nvcc: outputs, depfiles, messages, exit status.
#include "BuiltTools.h"
#include "Store/StoreUpkeep.h"

#include "Nvcc/Depfile.h"

#include "llvm/Support/Regex.h"

using namespace carve;

namespace {

struct Case {
  const char *Name;
  std::vector<std::string> Arguments;
  std::string Output;
};

void PrintTo(const Case &C, std::ostream *OS) { *OS << C.Name; }

class Identity : public BuiltToolsTest, public testing::WithParamInterface<Case> {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (!IsSkipped())
      keepKernels({"bulky", "hidden"});
  }
};
class Reproducible : public BuiltToolsTest {};
class Messages : public BuiltToolsTest {
protected:
  void SetUp() override;
  void expectSame(const Words &Arguments, const Words &Environment = {});
};
class Depfiles : public BuiltToolsTest {
protected:
  /// Checks that \p Arguments write the same bytes to \p Depfile with and without carve-nvcc,
  /// except for the decision file at the end, and that they do so if the output first goes to a
  /// temporary file because of a profile.
  void expectSame(const Words &Arguments, const std::string &Output, const std::string &Depfile);
};

/// Returns \p Text without what differs between two runs of nvcc itself: times, and names of
/// temporary files.
std::string normalised(llvm::StringRef Text, llvm::StringRef TempDir) {
  std::string Result = Text.str();
  // carve-nvcc's is a keep directory in TMPDIR. nvcc's are files
  // `tmpxft_<pid>_<counter>-<n>_<name>` there.
  llvm::Regex Names("tmpxft_[0-9a-f]+_[0-9a-f]+-[0-9]+_|carve-nvcc-[0-9]+/[0-9a-f]+(-[0-9])?/");
  while (Names.match(Result))
    Result = Names.sub("", Result);
  llvm::Regex Times("Compile time = [0-9.]+ ms");
  while (Times.match(Result))
    Result = Times.sub("", Result);
  llvm::Regex Dirs(llvm::Regex::escape(TempDir.str() + "/"));
  while (Dirs.match(Result))
    Result = Dirs.sub("", Result);
  return Result;
}

// Options that do not affect each other share a command.
const Case Cases[] = {
    {"object", {"-O3", "-arch=sm_90", "-c", "three.cu", "-o", "three.o"}, "three.o"},
    {"debug", {"-g", "-arch=sm_90", "-c", "three.cu", "-o", "three.o"}, "three.o"},
    {"relocatable_with_lineinfo",
     {"-rdc=true", "-lineinfo", "-arch=sm_90", "-c", "three.cu", "-o", "three.o"},
     "three.o"},
    {"dc_for_default_architecture_with_default_name", {"-dc", "three.cu"}, "three.o"},
    {"architectures",
     {"-gencode=arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=[sm_90,compute_90]",
      "-c", "three.cu", "-o", "three.o"},
     "three.o"},
    {"position_independent_with_user_cap",
     {"-O3", "-arch=sm_90", "-maxrregcount=40", "-Xcompiler", "-fPIC,-fvisibility=hidden", "-c",
      "three.cu", "-o", "out.dir.o"},
     "out.dir.o"},
    {"virtual_only",
     {"-gencode=arch=compute_80,code=compute_80", "-c", "three.cu", "-o", "three.o"},
     "three.o"},
    {"executable_with_default_name", {"-O3", "-arch=sm_90", "three.cu"}, "a.out"},
    {"several_sources",
     {"-arch=sm_90", "-DWHOLE", "main.cu", "sub/other.cu", "host.cpp", "-o", "app"},
     "app"},
    {"relocatable_executable",
     {"-rdc=true", "-arch=sm_90", "-DWHOLE", "main.cu", "sub/other.cu", "host.cpp", "-o", "app"},
     "app"},
    {"shared_object",
     {"-shared", "-Xcompiler", "-fPIC", "-arch=sm_90", "three.cu", "-o", "libthree.so"},
     "libthree.so"},
    {"shared_object_of_several",
     {"-shared", "-rdc=true", "-arch=sm_90", "-Xcompiler=-fPIC", "-DWHOLE", "main.cu",
      "sub/other.cu", "host.cpp", "-Xlinker", "-soname,libwhole.so.1", "-o", "libwhole.so"},
     "libwhole.so"},
    {"shared_object_by_the_host_compiler",
     {"-Xcompiler", "-shared,-fPIC", "-arch=sm_90", "three.cu", "-o", "libthree.so"},
     "libthree.so"},
};

} // namespace

TEST_P(Identity, output_isNvccs) {
  Words Arguments = GetParam().Arguments;
  const std::string &Output = GetParam().Output;
  if (!llvm::StringRef(Output).ends_with(".o"))
    Arguments.insert(Arguments.end(), {"-Xlinker", "--build-id=none"});
  buildPlain(Arguments);
  std::string Wanted = stripped(Output);
  llvm::sys::fs::remove(path(Output));
  build(Arguments);
  EXPECT_TRUE(stripped(Output) == Wanted);
  StoreStats Stats = storeStats(store());
  EXPECT_TRUE(Stats.Passthroughs.empty()) << log();
  EXPECT_NE(Stats.Units, 0u);
}

INSTANTIATE_TEST_SUITE_P(, Identity, testing::ValuesIn(Cases),
                         [](const auto &Info) { return std::string(Info.param.Name); });

// Debug information holds the directory of nvcc's intermediate files.
TEST_F(Reproducible, secondBuild_hasTheSameBytes) {
  keepKernels({"bulky", "hidden"});
  for (const Words &Arguments :
       {Words{"-g", "-arch=sm_90", "-c", "three.cu", "-o", "out"},
        Words{"-arch=sm_90", "-DWHOLE", "main.cu", "sub/other.cu", "host.cpp", "-o", "out"}}) {
    build(Arguments);
    std::string First = read("out");
    build(Arguments);
    EXPECT_TRUE(read("out") == First) << testing::PrintToString(Arguments);
  }
}

void Depfiles::expectSame(const Words &Arguments, const std::string &Output,
                          const std::string &Depfile) {
  SCOPED_TRACE(testing::PrintToString(Arguments));
  buildPlain(Arguments);
  ASSERT_TRUE(exists(Depfile));
  std::string Wanted = read(Depfile);
  llvm::sys::fs::remove(path(Depfile));
  build(Arguments);
  Words Listed;
  for (const Unit &U : store().units())
    if (U.Output == Output)
      Listed.push_back(path("store/decisions/" + U.Key + ".yaml"));
  ASSERT_EQ(Listed.size(), 1u);
  EXPECT_EQ(read(Depfile), llvm::cantFail(withPrerequisites(Wanted, Listed)));
  llvm::sys::fs::remove(path(Depfile));
  writeProfile("scale(float*)", 24);
  build(Arguments, {"CARVE_PROFILE=" + path("profile.yaml")});
  Listed.push_back(path("profile.yaml"));
  EXPECT_EQ(read(Depfile), llvm::cantFail(withPrerequisites(Wanted, Listed))) << "with a profile";
}

TEST_F(Depfiles, depfiles_areNvccs) {
  llvm::sys::fs::create_directories(path("o.d"));
  expectSame({"-arch=sm_90", "-MD", "-c", "main.cu", "-o", "o.d/main.cu.o"}, "o.d/main.cu.o",
             "o.d/main.cu.d");
  expectSame({"-arch=sm_90", "-MD", "-MT", "o.d/x.o", "-MF", "o.d/x.d", "-x", "cu", "-c", "main.cu",
              "-o", "o.d/x.o"},
             "o.d/x.o", "o.d/x.d");
  expectSame({"-arch=sm_90", "-MMD", "-MP", "-c", "main.cu"}, "main.o", "main.d");
}

void Messages::SetUp() {
  BuiltToolsTest::SetUp();
  if (IsSkipped())
    return;
  write("syntax.cu", "__global__ void k( { }\n");
  write("warns.cu", "__global__ void k(int *P) { int Unused; P[0] = 1; }\n");
  write("assembler.cu", "__global__ void k() { asm volatile(\"nonsense;\"); }\n");
  write("unresolved.cu", "void missing(); int main() { missing(); }\n");
  write("cap.cu", "__global__ void k(int *P) { P[0] = 1; }\n");
}

void Messages::expectSame(const Words &Arguments, const Words &Environment) {
  SCOPED_TRACE(testing::PrintToString(Arguments));
  CommandResult Wanted = plain(Arguments, Environment);
  bool Made = exists("m.o");
  llvm::sys::fs::remove(path("m.o"));
  CommandResult Actual = carveNvcc(Arguments, Environment);
  EXPECT_EQ(Actual.ExitStatus, Wanted.ExitStatus);
  std::string TempDir = path("tmp");
  EXPECT_EQ(normalised(Actual.Stdout, TempDir), normalised(Wanted.Stdout, TempDir));
  EXPECT_EQ(normalised(Actual.Stderr, TempDir), normalised(Wanted.Stderr, TempDir));
  EXPECT_EQ(exists("m.o"), Made);
  llvm::sys::fs::remove(path("m.o"));
  expectNoTemporaries();
}

TEST_F(Messages, messages_ofFailures_areNvccs) {
  expectSame({"-c", "missing.cu", "-o", "m.o"});
  expectSame({"-arch=sm_90", "-c", "syntax.cu", "-o", "m.o"});
  expectSame({"-arch=sm_90", "-c", "assembler.cu", "-o", "m.o"});
  expectSame({"-arch=sm_90", "--no-such-option", "-c", "cap.cu", "-o", "m.o"});
  expectSame({"-Wall", "-c", "cap.cu", "-o", "m.o"});
  expectSame({"-arch=sm_1", "-c", "cap.cu", "-o", "m.o"});
  expectSame({"-arch=sm_90", "unresolved.cu", "-o", "m.o"});
  expectSame({"-arch=sm_90", "-c", "cap.cu", "-o", "no/such/dir/m.o"});
  expectSame({});
  expectSame({"-arch=sm_90", "-Werror", "all-warnings", "-c", "warns.cu", "-o", "m.o"});
  expectSame(
      {"-arch=sm_90", "-Werror", "all-warnings", "-maxrregcount=16", "-c", "cap.cu", "-o", "m.o"});
}

TEST_F(Messages, messages_ofSuccesses_areNvccs) {
  expectSame({"-arch=sm_90", "-c", "warns.cu", "-o", "m.o"});
  expectSame({"-arch=sm_90", "-maxrregcount=16", "-Xptxas", "-v", "-c", "cap.cu", "-o", "m.o"});
  expectSame({"-arch=sm_90", "--resource-usage", "-c", "cap.cu", "-o", "m.o"},
             {"NVCC_APPEND_FLAGS=-DX -lineinfo"});
  expectSame({"--version"});
  expectSame({"--list-gpu-arch"});
  expectSame({"-arch=sm_90", "-E", "cap.cu"});
  expectSame({"-arch=sm_90", "-ptx", "cap.cu", "-o", "m.o"});
  expectSame({"-arch=sm_90", "-M", "main.cu"});
}
