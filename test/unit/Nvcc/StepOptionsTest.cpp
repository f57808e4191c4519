#include "Nvcc/StepOptions.h"

#include "Nvcc/BuildPlan.h"
#include "Nvcc/RecordedCommand.h"
#include "NvccTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <sys/stat.h>

using namespace carve;

namespace {

FrontEndStep stepWith(const Words &Arguments) {
  return {"/keep", "k.ii", "k.id", "k.ptx", Arguments, std::nullopt};
}

std::string commandFailure(const Words &Command) {
  llvm::Expected<CommandLine> C = parseRecordedCommand(Command, "/");
  return C ? "" : reasonOf(C.takeError());
}

} // namespace

TEST(StepOptions, nvccsOptions_recorded_areAllowed) {
  for (const char *Name : {"single", "several-arch", "lineinfo", "environment", "threads", "rdc",
                           "executable", "rdc-executable", "virtual-only", "ptx-only-arch"}) {
    SCOPED_TRACE(Name);
    BuildPlan Plan =
        llvm::cantFail(parseDryrun(recorded(std::string("dryrun-") + Name + "-13.0.88.txt")));
    ASSERT_FALSE(Plan.Units.empty());
    for (const DeviceUnit &U : Plan.Units) {
      EXPECT_EQ(refusedFatbinaryOption(U.FatbinaryArguments, "/keep"), std::nullopt);
      for (const DeviceImage &I : U.Images)
        EXPECT_EQ(refusedPtxasOption(I.PtxasOptions), std::nullopt);
      ASSERT_FALSE(U.FrontEnds.empty());
      for (const FrontEndStep &S : U.FrontEnds)
        EXPECT_EQ(refusedFrontEndArgument(S), std::nullopt);
    }
  }
}

TEST(StepOptions, usersPtxasOptions_recorded_areAllowed) {
  const Words Usual[] = {{"-v", "-O3", "-dlcm=cg", "--warn-on-spills", "-arch=sm_90a", "-m64"},
                         {"-dlcm", "ca", "--opt-level", "1", "--fmad", "false", "-e", "a,b"},
                         {"--register-usage-level=10", "--verbose", "-maxrregcount=64"},
                         {"--allow-expensive-optimizations=true", "-suppress-stack-size-warning"},
                         {}};
  for (const Words &W : Usual)
    EXPECT_EQ(refusedPtxasOption(W), std::nullopt) << testing::PrintToString(W);
}

TEST(StepOptions, fileOrUnknownWord_recorded_isRefused) {
  const Words Hostile[] = {{"-o", "/x"},
                           {"-o=/x"},
                           {"--output-file=/x"},
                           {"-optf", "/x"},
                           {"--options-file"},
                           {"/x.ptx"},
                           {"@/x"},
                           {"-dlcm", "-o"},
                           {"-dlcm", "@/x"},
                           {"-dlcm"},
                           {"-v=1"},
                           {""},
                           {"-mfoo"},
                           {"-Optf=/x"},
                           {"-eo=/x"},
                           {"--input-as-string=x"}};
  for (const Words &W : Hostile)
    EXPECT_EQ(refusedPtxasOption(W), 0u) << testing::PrintToString(W);
  EXPECT_EQ(refusedPtxasOption({"-v", "-O3", "--what"}), 2u);
}

TEST(StepOptions, nvlinkOption_loadsOrWrites_isRefused) {
  EXPECT_EQ(
      refusedNvlinkOption({"-m64", "--shared", "--arch=sm_90", "-L/cuda/lib", "-cpu-arch=X86_64",
                           "-lcudadevrt", "-report-arch", "-use-host-info"}),
      std::nullopt);
  for (const char *Word : {"-lto", "--dlto", "-nvvmpath=/x", "--host-ccbin=/x", "-optf=/x", "-o=/x",
                           "--register-link-binaries=/x", "-time=/x", "-ghls=lcs-abs", "x.o", "-r"})
    EXPECT_EQ(refusedNvlinkOption({"-m64", Word}), 1u) << Word;
}

TEST(StepOptions, fatbinaryImage_outsideItsDirectory_isRefused) {
  const char *Allowed[] = {"--image3=kind=elf,sm=90,file=/keep/k.cubin",
                           "--create=/keep/k.fatbin",
                           "--cmdline=-O3 -o /x",
                           "--ident=src/k.cu",
                           "-compress=false",
                           "-link"};
  for (const char *Word : Allowed)
    EXPECT_EQ(refusedFatbinaryOption({Word}, "/keep"), std::nullopt) << Word;
  const char *Refused[] = {"--image3=kind=elf,sm=90,file=/keep/../x",
                           "--create=/x",
                           "--image3=kind=elf,sm=90,file=/keep/a,file=/keep/b/c",
                           "--image3=kind=ptx,sm=90",
                           "--embedded-fatbin=/keep/x",
                           "-optf=/x",
                           "--create=/keep",
                           "/keep/x"};
  for (const char *Word : Refused)
    EXPECT_EQ(refusedFatbinaryOption({Word}, "/keep"), 0u) << Word;
  EXPECT_EQ(refusedFatbinaryOption({"--create=/k.fatbin"}, ""), 0u);
}

TEST(StepOptions, ciccArgument_otherThanNvccs_isRefused) {
  EXPECT_EQ(refusedFrontEndArgument(stepWith(
                {"--c++17", "-arch", "compute_90", "-ftz=1", "--orig_src_file_name", "k.cu",
                 "/keep/k.ii", "-o", "/keep/k.ptx", "--module_id_file_name", "/keep/k.id"})),
            std::nullopt);
  const Words Hostile[] = {{"-c", "id"},
                           {"-o", "/keep/other.ptx"},
                           {"-o", "/x"},
                           {"--gen_c_file_name", "/keep/../x"},
                           {"--gen_c_file_name"},
                           {"-nvvmir-library", "/x.bc"},
                           {"--preinclude", "/x.h"},
                           {"--orig_src_file_name", "-o"},
                           {"/keep/other.ii"},
                           {"--device-time-trace", "/x"},
                           {"-ftz"}};
  for (const Words &W : Hostile)
    EXPECT_EQ(refusedFrontEndArgument(stepWith(W)), 0u) << testing::PrintToString(W);
}

TEST(StepOptions, fileName_severalComponents_isRefused) {
  for (const char *Name : {"k.ptx", ".hidden", "a b", "..."})
    EXPECT_TRUE(isFileName(Name)) << Name;
  for (const char *Name : {"", ".", "..", "a/b", "/a", "../a", "-o", "@f"})
    EXPECT_FALSE(isFileName(Name)) << Name;
  EXPECT_FALSE(isFileName(llvm::StringRef("a\0b", 3)));
  EXPECT_FALSE(isFileName(std::string(256, 'a')));
  for (const char *Arch : {"sm_90", "sm_90a", "sm_120f"})
    EXPECT_TRUE(isGpuArchitecture(Arch)) << Arch;
  for (const char *Arch : {"", "sm_", "90", "sm_90,x", "sm_a", "sm_90ab", "sm_12345"})
    EXPECT_FALSE(isGpuArchitecture(Arch)) << Arch;
}

TEST(RecordedCommand, command_ofABuildSystem_isAccepted) {
  const Words Usual[] = {{"-O3", "-c", "k.cu", "-o", "k.o"},
                         {"-forward-unknown-to-host-compiler",
                          "-fopenmp",
                          "-Wall",
                          "-DX=\"a\"",
                          "-I/inc",
                          "-isystem=/sys",
                          "-O3",
                          "-std=c++17",
                          "--generate-code=arch=compute_90,code=[sm_90]",
                          "-Xcompiler=-fPIC",
                          "-MD",
                          "-MT",
                          "k.o",
                          "-MF",
                          "k.d",
                          "-x",
                          "cu",
                          "-c",
                          "k.cu",
                          "-o",
                          "k.o"},
                         {"-Xcompiler", "-Wall,-fvisibility=hidden,-ffile-prefix-map=/a=/b",
                          "-Xptxas=-v,-O3", "--expt-relaxed-constexpr", "-ccbin", "g++-12",
                          "-Xcudafe", "--diag_suppress=2", "k.cu"}};
  for (const Words &W : Usual)
    EXPECT_EQ(commandFailure(W), "") << testing::PrintToString(W);
}

TEST(RecordedCommand, command_namingAProgramOrPlugin_isRefused) {
  const char *Hostile[] = {"-ccbin=/tmp/none/g++",
                           "-ccbin=/bin/sh",
                           "-ccbin=./g++",
                           "-Xcompiler=-fplugin=/x.so",
                           "-Xcompiler=-B/x",
                           "-Xcompiler=-specs=/x",
                           "-Xcompiler=-wrapper",
                           "-Xcompiler=@/x",
                           "-Xcompiler=-fprofile-use=/x",
                           "-Xcompiler=-o",
                           "-Xptxas=--options-file=/x",
                           "-Xcicc=-c",
                           "-Xfatbin=--options-file=/x",
                           "-ldir=/x",
                           "-target-dir=/x",
                           "-arbin=/x",
                           "-noprof"};
  for (const char *Word : Hostile)
    EXPECT_NE(commandFailure({"-c", Word, "k.cu"}), "") << Word;
}

TEST(RecordedCommand, compiler_othersMayReplaceIt_isRefused) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-compiler"));
  std::string Path = Dir.path() + "/x86_64-linux-gnu-g++-12.2";
  llvm::cantFail(writeFileAtomically(Path, ""));
  EXPECT_EQ(commandFailure({"-c", "-ccbin", Path, "k.cu"}), "");
  EXPECT_EQ(commandFailure({"-c", "-ccbin", Dir.path(), "k.cu"}), "");
  ASSERT_EQ(::chmod(Path.c_str(), 0777), 0);
  EXPECT_EQ(commandFailure({"-c", "-ccbin", Path, "k.cu"}), "recorded-command");
}
