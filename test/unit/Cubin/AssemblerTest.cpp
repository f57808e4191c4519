#include "unit/Ptx/PtxTesting.h"

#include "Cubin/Assembler.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;
using namespace llvm;

namespace {

/// Acts as ptxas: records its command and answers with a recorded report.
class FakePtxas final : public CommandRunner {
public:
  Expected<CommandResult> run(const Command &C) override {
    Seen = C;
    if (auto Input = readFile(C.Dir + "/" + *std::prev(find(C.Argv, "-o"))))
      InputText = *Input;
    else
      return Input.takeError();
    CommandResult Result;
    Result.ExitStatus = ExitStatus;
    Result.Stderr = Report;
    if (!ExitStatus)
      cantFail(writeFileAtomically(C.Dir + "/" + C.Argv.back(), "cubin bytes"));
    return Result;
  }

  Command Seen;
  std::string InputText, Report;
  int ExitStatus = 0;
};

} // namespace

static const Toolchain Cuda{"/cuda/bin/nvcc", "/cuda/bin"};

TEST(Assembler, assemble_runsPtxas_andReadsItsReport) {
  FakePtxas Ptxas;
  Ptxas.Report = recorded("spills.ptxas-13.0.88.txt");
  Assembled A = cantFail(assemble(Cuda, Ptxas, "the text", {"-arch=sm_90", "-O3"}, "dir/k.ptx"));
  EXPECT_EQ(A.CubinBytes, "cubin bytes");
  EXPECT_EQ(A.Kernels.size(), 5u);
  EXPECT_EQ(Ptxas.InputText, "the text");
  EXPECT_EQ(Ptxas.Seen.Argv, (std::vector<std::string>{"/cuda/bin/ptxas", "-arch=sm_90", "-O3",
                                                       "-v", "k.ptx", "-o", "k.ptx.cubin"}));
  EXPECT_NE(messageOf(readFile(Ptxas.Seen.Dir + "/k.ptx")), "") << "the directory is removed";
}

TEST(Assembler, assemble_ptxasFails_hasItsMessage) {
  FakePtxas Ptxas;
  Ptxas.ExitStatus = 255;
  Ptxas.Report = "ptxas fatal   : Ptx assembly aborted due to errors";
  auto A = assemble(Cuda, Ptxas, "bad", {});
  ASSERT_FALSE(bool(A));
  handleAllErrors(A.takeError(), [](const ToolFailure &F) {
    EXPECT_EQ(F.exitStatus(), 255);
    EXPECT_EQ(F.standardError(), "ptxas fatal   : Ptx assembly aborted due to errors");
  });
}
