// Kernels without their arithmetic and without their memory traffic, timed beside the unchanged
// kernels.
#include "GpuTesting.h"
#include "Store/DecisionFiles.h"

#include "Cubin/AllottedRegisters.h"
#include "Device/Occupancy.h"
#include "Explain/Modified/ModifiedKernels.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace carve;
using namespace carve::test;

namespace {

constexpr char Copies[] = "_Z6copiesPK6float4PS_", Computes[] = "_Z8computesPKfPfi",
               Both[] = "_Z8doesBothPKfPfi", Counts[] = "_Z6countsPKfPj";

class ModifiedRun : public GpuTest {
protected:
  static std::string source() { return machine().Sources + "/apps/modified.cu"; }

  /// Returns all times, for the message of a failure.
  static std::string printed(const std::map<std::string, ModifiedTimes> &Times) {
    std::string Text;
    for (const auto &[Kernel, T] : Times)
      Text += Kernel + ": whole " + std::to_string(T.WholeNs) + " ns, memory " +
              std::to_string(T.MemoryNs) + " ns, arithmetic " + std::to_string(T.ArithmeticNs) +
              " ns; " + T.Reason + "\n";
    return Text;
  }
};

} // namespace

TEST_F(ModifiedRun, modifiedKernels_takeTheTimeOfWhatIsLeft) {
  Project P("modified");
  std::string App = P.path("app"), Log = P.path("times.log");
  P.compile({"-O2", "-arch=" + TestArch, "-o", App, source()});
  CommandResult Plain = run({App});
  TuneRequest Request;
  Request.Workload.Argv = {App};
  Request.Probe = machine().Probe;
  Request.Options.DevicesDir = machine().devicesDir();
  Request.Gpus = gpuPlaces([](llvm::StringRef Name) { return llvm::sys::Process::GetEnv(Name); });
  UnitStore Store = P.store();
  // The build decides these, because it tunes as well.
  std::vector<std::optional<std::string>> Decided;
  for (const Unit &U : Store.units())
    Decided.push_back(valueOf(readDecisions(Store, U.Key)));
  ProcessRunner Runner;
  llvm::cantFail(openLog(Log));
  RunRecord Trace = runProbed({App});
  auto Timed = timeModified(Request, Trace.Probe, Store, machine().T, Runner, {});
  ASSERT_TRUE(bool(Timed)) << llvm::toString(Timed.takeError());
  std::string All = printed(*Timed);
  std::printf("%s", All.c_str());
  SCOPED_TRACE(All + valueOf(readFile(Log)));
  ASSERT_TRUE(Timed->count(Copies) && Timed->count(Computes) && Timed->count(Both));

  const ModifiedTimes &Copy = Timed->at(Copies), &Compute = Timed->at(Computes),
                      &Mixed = Timed->at(Both);
  for (const ModifiedTimes *T : {&Copy, &Compute, &Mixed}) {
    EXPECT_EQ(T->Reason, "");
    ASSERT_GT(T->WholeNs, 0);
    EXPECT_GT(T->MemoryNs, 0);
    EXPECT_GT(T->ArithmeticNs, 0);
    EXPECT_TRUE(T->overlap());
  }
  EXPECT_NEAR(Copy.MemoryNs / Copy.WholeNs, 1, 0.1) << "a copy is memory alone";
  EXPECT_LT(Copy.ArithmeticNs / Copy.WholeNs, 0.7);
  EXPECT_NEAR(Compute.ArithmeticNs / Compute.WholeNs, 1, 0.1) << "it is arithmetic alone";
  EXPECT_LT(Compute.MemoryNs / Compute.WholeNs, 0.5);
  for (double Part : {Mixed.MemoryNs, Mixed.ArithmeticNs})
    EXPECT_TRUE(Mixed.isPart(Part)) << "neither part takes longer than the whole";
  EXPECT_GT((Mixed.MemoryNs + Mixed.ArithmeticNs) / Mixed.WholeNs, 0.85)
      << "nor both together less";
  if (Timed->count(Counts)) {
    EXPECT_NE(Timed->at(Counts).Reason.find("atomic operations"), std::string::npos);
  }
  CommandResult Again = run({App});
  EXPECT_EQ(Again.Stdout, Plain.Stdout);
  ASSERT_EQ(Decided.size(), 1u);
  for (auto [U, Before] : llvm::zip_equal(Store.units(), Decided))
    EXPECT_EQ(valueOf(readDecisions(Store, U.Key)), Before) << "nothing is decided";
}

/// Registers are allotted so that a version does not have more blocks on a multiprocessor than its
/// kernel.
TEST_F(ModifiedRun, allottedRegisters_areTakenByTheDriver) {
  std::string Before = workDir() + "/allotted-before.cubin",
              After = workDir() + "/allotted-after.cubin";
  CommandResult Compiled =
      run({machine().T.Nvcc, "-cubin", "-O2", "-arch=" + TestArch, "-o", Before, source()});
  ASSERT_EQ(Compiled.ExitStatus, 0) << Compiled.Stderr;
  constexpr unsigned Registers = 104, Threads = 256;
  std::string Bytes =
      valueOf(withRegistersAllotted(valueOf(readFile(Before)), {{Copies, Registers}}));
  ASSERT_EQ(llvm::toString(writeFileAtomically(After, Bytes)), "");
  std::string Self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  std::string Tool = llvm::sys::path::parent_path(Self).str() + "/OccupancyCheck";
  CommandResult Plain = run({Tool, Before, Copies, std::to_string(Threads), "0"});
  CommandResult Allotted = run({Tool, After, Copies, std::to_string(Threads), "0"});
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  ASSERT_EQ(Allotted.ExitStatus, 0) << Allotted.Stderr;
  DeviceModel Model = valueOf(loadDeviceModel(machine().devicesDir(), TestArch));
  llvm::SmallVector<llvm::StringRef, 8> Fields;
  llvm::StringRef(Allotted.Stdout).trim().rsplit('\n').second.split(Fields, '\t');
  ASSERT_GE(Fields.size(), 5u) << Allotted.Stdout;
  EXPECT_EQ(Fields[3], std::to_string(blocksPerSm(Model, {Registers, Threads, 0, 0, 0})))
      << Plain.Stdout << Allotted.Stdout;
  EXPECT_EQ(Fields[4], std::to_string(Registers)) << Allotted.Stdout;
}
