#include "Doctor/Findings.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

/// A machine on which everything works.
Machine soundMachine() {
  Machine M;
  M.Nvcc.Path = "/cuda/bin/nvcc";
  M.Nvcc.Version = "13.0.88";
  M.Nvcc.InPath = {{"/cuda/bin/nvcc", "/cuda/bin/nvcc", false, true}};
  M.HostCompiler = {"/usr/bin/g++", "g++ 12.2.0", ""};
  M.Driver.HasDevices = true;
  M.Driver.Version = "580.65.06";
  M.Driver.CudaMajor = 13;
  M.Driver.Gpus = {{"NVIDIA H200", "sm_90", true}};
  M.Driver.CountersRestricted = false;
  M.Cupti.Path = "/cuda/lib64/libcupti.so.13";
  M.Installation = {"/opt/lib/libcarve_probe.so",
                    "/opt/share/carve-nvcc/devices",
                    "/opt/bin/carve-launch",
                    "",
                    12,
                    true,
                    "/opt/bin/carve-nvcc",
                    "/opt/bin/carve-nvcc"};
  M.Store.Root = "/home/user/.cache/carve-nvcc";
  M.Store.Exists = M.Store.Writable = true;
  M.Store.Owner = "user";
  M.Store.Bytes = 2'000'000'000;
  M.Store.FreeBytes = 90'000'000'000;
  M.Store.LimitBytes = 5'000'000'000;
  M.Store.Digest = "0123abcd";
  return M;
}

/// The findings of \p M on \p Subject.
std::vector<DoctorFinding> on(const Machine &M, const std::string &Subject) {
  std::vector<DoctorFinding> Found = findingsOf(M);
  llvm::erase_if(Found, [&](const DoctorFinding &F) { return F.Subject != Subject; });
  return Found;
}

/// The one finding of \p M on \p Subject.
DoctorFinding oneOn(const Machine &M, const std::string &Subject) {
  std::vector<DoctorFinding> Found = on(M, Subject);
  EXPECT_EQ(Found.size(), 1u) << Subject;
  return Found.size() == 1 ? Found.front() : DoctorFinding();
}

bool has(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

/// \p F is of \p Kind and says \p Part; what does not work comes with advice.
void expectFinding(const DoctorFinding &F, FindingKind Kind, const std::string &Part) {
  EXPECT_EQ(int(F.Kind), int(Kind)) << F.Subject << ": " << F.Fact;
  EXPECT_TRUE(has(F.Fact, Part)) << F.Fact << "\nexpected: " << Part;
  EXPECT_TRUE(F.Kind != FindingKind::Fault || !F.Advice.empty()) << F.Fact;
}

constexpr FindingKind Ok = FindingKind::Ok, Note = FindingKind::Note, Fault = FindingKind::Fault;

} // namespace

TEST(Findings, soundMachine_everySubject_isOkInOneLine) {
  std::vector<std::string> Subjects;
  for (const DoctorFinding &F : findingsOf(soundMachine())) {
    EXPECT_EQ(int(F.Kind), int(Ok)) << F.Subject << ": " << F.Fact;
    Subjects.push_back(F.Subject);
  }
  EXPECT_EQ(Subjects, (std::vector<std::string>{"nvcc", "host compiler", "driver", "GPU", "CUPTI",
                                                "counters", "probe", "carve-nvcc", "store"}));
}

TEST(Findings, nvcc_missing_isAFaultThatNamesTheVariable) {
  Machine M = soundMachine();
  M.Nvcc = {};
  M.Nvcc.Failure = "no nvcc found; looked for CARVE_NVCC, /usr/bin/nvcc";
  DoctorFinding F = oneOn(M, "nvcc");
  expectFinding(F, Fault, "no nvcc found");
  EXPECT_TRUE(has(F.Advice, "CARVE_NVCC")) << F.Advice;
  EXPECT_TRUE(on(M, "CUPTI").empty()) << "CUPTI is sought beside nvcc";
  EXPECT_TRUE(on(M, "host compiler").empty());
}

TEST(Findings, nvcc_byItsVersion_isSupportedOrNot) {
  Machine M = soundMachine();
  for (auto [Version, Kind] :
       {std::pair("12.9.86", Fault), std::pair("13.0.88", Ok), std::pair("13.5.37", Ok),
        std::pair("13.6.1", Note), std::pair("14.0.1", Note), std::pair("9.2", Fault)}) {
    M.Nvcc.Version = Version;
    expectFinding(oneOn(M, "nvcc"), Kind, Version);
  }
  M.Nvcc.Version = "";
  M.Nvcc.Failure = "cannot execute";
  expectFinding(oneOn(M, "nvcc"), Fault, "cannot execute");
}

TEST(Findings, nvcc_thatIsAScript_namesTheProgramBehindIt) {
  Machine M = soundMachine();
  M.Nvcc.Behind = "/usr/lib/cuda/bin/nvcc";
  expectFinding(oneOn(M, "nvcc"), Ok, "a script that runs /usr/lib/cuda/bin/nvcc");
  // A script that stands for the whole toolkit.
  M.Nvcc.Behind = M.Nvcc.Path;
  EXPECT_EQ(oneOn(M, "nvcc").Fact, "/cuda/bin/nvcc, 13.0.88, a script");
}

TEST(Findings, nvccInPath_besideTheOneUsed_saysWhichCounts) {
  Machine M = soundMachine();
  M.Nvcc.InPath = {{"/wrap/nvcc", "/opt/bin/carve-nvcc", true, false},
                   {"/ccache/nvcc", "/usr/bin/ccache", false, false},
                   {"/cuda/bin/nvcc", "/cuda/bin/nvcc", false, true},
                   {"/usr/bin/nvcc", "/usr/bin/nvcc", false, false}};
  std::vector<DoctorFinding> Found = on(M, "nvcc in PATH");
  ASSERT_EQ(Found.size(), 3u);
  expectFinding(Found[0], Note, "/wrap/nvcc is carve-nvcc");
  expectFinding(Found[1], Note, "/ccache/nvcc, a link to /usr/bin/ccache, comes first");
  expectFinding(Found[2], Note, "/usr/bin/nvcc, comes later");
}

TEST(Findings, hostCompiler_thatNvccRefuses_isAFault) {
  Machine M = soundMachine();
  M.HostCompiler.Failure = "unsupported GNU version";
  expectFinding(oneOn(M, "host compiler"), Fault, "unsupported GNU version");
}

TEST(Findings, gpu_absent_isANoteOfWhatItWouldAdd) {
  Machine M = soundMachine();
  M.Driver = {};
  M.Driver.Failure = "libcuda.so.1: cannot open shared object file";
  DoctorFinding F = oneOn(M, "GPU");
  expectFinding(F, Note, "there is none");
  EXPECT_TRUE(has(F.Advice, "time the kernels")) << F.Advice;
  EXPECT_TRUE(on(M, "counters").empty());
  EXPECT_TRUE(on(M, "driver").empty());
}

TEST(Findings, gpu_hiddenByAVariable_isANote) {
  Machine M = soundMachine();
  M.Driver.Hidden = "-1";
  expectFinding(oneOn(M, "GPU"), Note, "CUDA_VISIBLE_DEVICES='-1'");
}

TEST(Findings, gpu_whoseDriverFails_isAFault) {
  Machine M = soundMachine();
  M.Driver.Failure = "cuInit returns 803, system has unsupported display driver";
  expectFinding(oneOn(M, "GPU"), Fault, "cuInit returns 803");
  EXPECT_TRUE(on(M, "counters").empty());
  M.Driver.Failure = "";
  M.Driver.Gpus.clear();
  expectFinding(oneOn(M, "GPU"), Fault, "the driver lists none");
}

TEST(Findings, gpus_unknownOrMixed_areNotes) {
  Machine M = soundMachine();
  M.Driver.Gpus.push_back({"Tesla V100", "sm_70", false});
  std::vector<DoctorFinding> Found = on(M, "GPU");
  ASSERT_EQ(Found.size(), 3u);
  expectFinding(Found[0], Ok, "NVIDIA H200, sm_90");
  expectFinding(Found[1], Note, "Tesla V100, sm_70");
  expectFinding(Found[2], Note, "several architectures");
}

TEST(Findings, driver_olderThanTheToolkit_isAFault) {
  Machine M = soundMachine();
  M.Driver.CudaMajor = 12;
  M.Driver.CudaMinor = 8;
  DoctorFinding F = oneOn(M, "driver");
  expectFinding(F, Fault, "580.65.06, for CUDA 12.8");
  EXPECT_TRUE(has(F.Advice, "CUDA 13 or newer")) << F.Advice;
}

TEST(Findings, cupti_missing_isAFaultOnlyWithAGpu) {
  Machine M = soundMachine();
  M.Cupti.Path = "";
  expectFinding(oneOn(M, "CUPTI"), Fault, "not beside nvcc");
  M.Driver.HasDevices = false;
  expectFinding(oneOn(M, "CUPTI"), Note, "not beside nvcc");
  M.Cupti = {"/cuda/lib64/libcupti.so", "file too short"};
  expectFinding(oneOn(M, "CUPTI"), Note, "file too short");
}

TEST(Findings, counters_forAdministrators_areANoteToOthers) {
  Machine M = soundMachine();
  M.Driver.CountersRestricted = true;
  DoctorFinding F = oneOn(M, "counters");
  expectFinding(F, Note, "for administrators alone");
  EXPECT_TRUE(has(F.Advice, "NVreg_RestrictProfilingToAdminUsers=0")) << F.Advice;
  M.Driver.IsAdministrator = true;
  expectFinding(oneOn(M, "counters"), Ok, "you are one");
  M.Driver.CountersRestricted = std::nullopt;
  expectFinding(oneOn(M, "counters"), Note, "does not say");
}

TEST(Findings, installation_withPartsMissing_isAFaultEach) {
  Machine M = soundMachine();
  M.Installation.ProbeFailure = "/opt/lib/libcarve_probe.so: no such file";
  M.Installation.Architectures = 0;
  M.Installation.HasLaunch = false;
  M.Installation.OwnNvcc = "";
  expectFinding(oneOn(M, "probe"), Fault, "no such file");
  expectFinding(oneOn(M, "devices"), Fault, "/opt/share/carve-nvcc/devices");
  expectFinding(oneOn(M, "carve-launch"), Fault, "/opt/bin/carve-launch");
  expectFinding(oneOn(M, "carve-nvcc"), Fault, "not in the folder");
}

TEST(Findings, carveNvcc_otherOrNoneInPath_isANote) {
  Machine M = soundMachine();
  M.Installation.NvccInPath = "/usr/bin/carve-nvcc";
  expectFinding(oneOn(M, "carve-nvcc"), Note, "/usr/bin/carve-nvcc");
  M.Installation.NvccInPath = "";
  expectFinding(oneOn(M, "carve-nvcc"), Note, "not in PATH");
}

TEST(Findings, store_thatCannotBeUsed_isAFault) {
  Machine M = soundMachine();
  M.Store.FreeBytes = 1000;
  expectFinding(oneOn(M, "store"), Fault, "0.0 GB are free");
  M.Store.Writable = false;
  expectFinding(oneOn(M, "store"), Fault, "cannot be written");
  M.Store.Refusal = "it has mode 0777";
  expectFinding(oneOn(M, "store"), Fault, "mode 0777");
  M.Store.Root = "";
  expectFinding(oneOn(M, "store"), Fault, "CARVE_STORE");
}

TEST(Findings, store_byItsState_saysWhatIsInIt) {
  Machine M = soundMachine();
  expectFinding(oneOn(M, "store"), Ok, "of user, 2.0 GB used, 90.0 GB free, decisions 0123abcd");
  M.Store.Digest = "";
  expectFinding(oneOn(M, "store"), Ok, "no decisions");
  M.Store.FreeBytes = 2'900'000'000;
  expectFinding(oneOn(M, "store"), Note, "may grow to 5.0 GB");
  M.Store.Exists = false;
  expectFinding(oneOn(M, "store"), Ok, "made by the first compile");
}

TEST(Findings, ccache_inDependModeWithoutTheKey_isAFault) {
  Machine M = soundMachine();
  M.Ccache = SeenCache{"/usr/bin/ccache"};
  expectFinding(oneOn(M, "ccache"), Ok, "needs no setting");
  M.Ccache->DependMode = true;
  DoctorFinding F = oneOn(M, "ccache");
  expectFinding(F, Fault, "depend mode");
  EXPECT_TRUE(has(F.Advice, "CCACHE_COMPILERCHECK='%compiler% --carve-cache-key'")) << F.Advice;
  M.Ccache->AsksForKey = true;
  expectFinding(oneOn(M, "ccache"), Ok, "asks carve-nvcc");
}

TEST(Findings, sccache_inPathOrAsLauncher_isANote) {
  Machine M = soundMachine();
  M.Sccache = SeenCache{"/usr/bin/sccache"};
  M.Variables = {{"CMAKE_CUDA_COMPILER_LAUNCHER", "sccache"},
                 {"PYTORCH_NVCC", "ccache carve-nvcc"}};
  expectFinding(oneOn(M, "sccache"), Note, "not tuned");
  expectFinding(oneOn(M, "CMAKE_CUDA_COMPILER_LAUNCHER"), Note, "not tuned");
  EXPECT_TRUE(on(M, "PYTORCH_NVCC").empty());
}

TEST(Findings, variables_setWrongOrUnknown_areFound) {
  Machine M = soundMachine();
  M.VariablesFailure = "CARVE_EFFORT is '9', expected 0 to 3";
  M.ProfileFailure = "there is no tuned.yaml";
  M.Variables = {{"CARVE_PROFIL", "a.yaml"},
                 {"CARVE_RUN", "none"},
                 {"CARVE_STORE", "/store"},
                 {"NVCC_APPEND_FLAGS", "-G"}};
  expectFinding(oneOn(M, "variables"), Fault, "CARVE_EFFORT is '9'");
  expectFinding(oneOn(M, "CARVE_PROFILE"), Fault, "tuned.yaml");
  expectFinding(oneOn(M, "CARVE_PROFIL"), Note, "no such variable");
  expectFinding(oneOn(M, "CARVE_RUN"), Note, "nothing is tuned");
  expectFinding(oneOn(M, "CARVE_STORE"), Ok, "'/store'");
  expectFinding(oneOn(M, "NVCC_APPEND_FLAGS"), Note, "'-G'");
}
