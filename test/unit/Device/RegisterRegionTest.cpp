#include "Device/RegisterRegion.h"

#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>

using namespace carve;

namespace {

/// A toolchain that answers with a prepared report for each cap. The key `0` is for the call of
/// ptxas without a cap.
class FakeTools final : public CommandRunner {
public:
  struct Call {
    Command C;
    std::string Input; ///< The PTX of the call.
  };

  llvm::Expected<CommandResult> run(const Command &C) override {
    Call Made{C, ""};
    unsigned Cap = 0;
    std::string Output;
    for (size_t I = 0; I < C.Argv.size(); ++I) {
      llvm::StringRef Word = C.Argv[I];
      if (Word.consume_front("-maxrregcount=")) {
        EXPECT_FALSE(Word.getAsInteger(10, Cap));
      }
      if (Word.ends_with(".ptx"))
        Made.Input = llvm::cantFail(readFile(inDirectory(C, Word)));
      if (Word == "-o" && I + 1 < C.Argv.size())
        Output = inDirectory(C, C.Argv[I + 1]);
    }
    std::lock_guard<std::mutex> Guard(Lock);
    Calls.push_back(Made);
    CommandResult Result;
    if (auto Failing = Failures.find(Cap); Failing != Failures.end()) {
      Result.ExitStatus = 255;
      Result.Stderr = Failing->second;
      return Result;
    }
    if (!Output.empty())
      llvm::cantFail(writeFileAtomically(Output, "cubin"));
    // Without the option, the cap is the one in the text.
    if (Cap == 0 && llvm::StringRef(Made.Input).contains(".maxnreg 1\n"))
      Cap = 1;
    if (Cap == 0 && llvm::StringRef(Made.Input).contains(".maxnreg 255\n"))
      Cap = 255;
    Result.Stderr = Reports[Cap];
    return Result;
  }

  /// Returns the only call of nvcc with \p Word among its arguments.
  const Call &callWith(llvm::StringRef Word) const {
    static const Call None;
    for (const Call &C : Calls)
      if (llvm::is_contained(C.C.Argv, Word))
        return C;
    ADD_FAILURE() << "no call with " << Word.str();
    return None;
  }

  std::map<unsigned, std::string> Reports, Failures;
  std::vector<Call> Calls;

private:
  static std::string inDirectory(const Command &C, llvm::StringRef Path) {
    return C.Dir.empty() || llvm::sys::path::is_absolute(Path) ? Path.str()
                                                               : C.Dir + "/" + Path.str();
  }
  std::mutex Lock;
};

std::string reportOf(llvm::StringRef Kernel, unsigned Regs, unsigned SpillBytes) {
  std::string Spills = std::to_string(SpillBytes);
  return "ptxas info    : 0 bytes gmem\n"
         "ptxas info    : Compiling entry function '" +
         Kernel.str() + "' for 'sm_90'\nptxas info    : Function properties for " + Kernel.str() +
         "\n    " + Spills + " bytes stack frame, " + Spills + " bytes spill stores, " + Spills +
         " bytes spill loads\nptxas info    : Used " + std::to_string(Regs) +
         " registers, used 1 barriers, 512 bytes smem\n";
}

std::string entryOf(llvm::StringRef Name, llvm::StringRef Directives = "",
                    llvm::StringRef Body = "") {
  return ".visible .entry " + Name.str() + "()\n" + Directives.str() + "{\n" + Body.str() +
         "\tret;\n}\n\n";
}

PtxModule moduleOf(llvm::StringRef Entries) {
  return llvm::cantFail(
      PtxModule::parse(".version 9.0\n.target sm_90\n.address_size 64\n\n" + Entries.str()));
}

class RegisterRegions : public testing::Test {
protected:
  RegisterRegions() {
    Image.Arch = "sm_90";
    Image.PtxasOptions = {"-arch=sm_90", "-m64"};
    T.Nvcc = "/cuda/bin/nvcc";
    T.BinDir = "/cuda/bin";
  }

  void reportAll(llvm::StringRef Kernel, unsigned Default, unsigned Min, unsigned Max) {
    Tools.Reports[0] += reportOf(Kernel, Default, 0);
    Tools.Reports[1] += reportOf(Kernel, Min, 40);
    Tools.Reports[255] += reportOf(Kernel, Max, 0);
  }

  llvm::Expected<std::vector<RegisterRegion>> find(const PtxModule &M,
                                                   std::optional<unsigned> Ceiling = {}) {
    return findRegisterRegions(T, Tools, M, Image, Ceiling);
  }

  Toolchain T;
  FakeTools Tools;
  DeviceImage Image;
};

TEST_F(RegisterRegions, regions_areReadFromThreeCallsInTheOrderOfTheText) {
  reportAll("second", 40, 24, 44);
  reportAll("first", 18, 18, 18);
  auto Regions = find(moduleOf(entryOf("first") + entryOf("second")));
  ASSERT_TRUE(bool(Regions)) << toString(Regions.takeError());
  ASSERT_EQ(Regions->size(), 2u);
  EXPECT_EQ(Regions->front().Kernel, "first");
  const RegisterRegion &R = Regions->back();
  EXPECT_EQ(R.Kernel, "second");
  EXPECT_EQ(R.Default.RegsPerThread, 40u);
  EXPECT_EQ(R.Default.StaticSmemBytes, 512u);
  EXPECT_EQ(R.rMin(), 24u);
  EXPECT_EQ(R.rMax(), 44u);
  EXPECT_EQ(R.AtMin.spillBytes(), 80u);
  EXPECT_EQ(Tools.Calls.size(), 3u);
}

TEST_F(RegisterRegions, nvcc_isCalledOnThePtxWithTheUsersPtxasOptions) {
  Image.Arch = "sm_90a";
  Image.PtxasOptions = {
      "--warning-as-error", "-arch=sm_90a", "-m64",    "-O2", "-dlcm=cg", "-maxrregcount=128",
      "--maxrregcount",     "96",           "--entry", "a,b", "-v"};
  reportAll("k", 40, 24, 44);
  Tools.Reports[128] = reportOf("k", 40, 0);
  ASSERT_TRUE(bool(find(moduleOf(entryOf("k")))));
  const FakeTools::Call &Call = Tools.callWith("-maxrregcount=1");
  std::vector<std::string> Argv = Call.C.Argv;
  ASSERT_GT(Argv.size(), 3u);
  // The input and the output are temporary files.
  EXPECT_EQ(Argv[Argv.size() - 3], "-o");
  Argv.resize(Argv.size() - 3);
  EXPECT_EQ(Argv, (std::vector<std::string>{"/cuda/bin/nvcc", "-cubin", "-arch=sm_90a", "-Xptxas",
                                            "-v", "-maxrregcount=1", "-Xptxas", "-O2", "-Xptxas",
                                            "-dlcm=cg", "-Xptxas", "--entry", "-Xptxas", "a\\,b",
                                            "-Xptxas", "--split-compile=0"}));
  const std::vector<std::string> &OfDefault = Tools.callWith("-O2").C.Argv;
  EXPECT_TRUE(llvm::is_contained(OfDefault, "--split-compile=0"));
  EXPECT_TRUE(llvm::is_contained(Call.C.Environment, "NVCC_APPEND_FLAGS"));
  EXPECT_TRUE(llvm::is_contained(Call.C.Environment, "NVCC_PREPEND_FLAGS"));
}

TEST_F(RegisterRegions, kernelsThatIgnoreTheOption_areCappedInTheText) {
  std::string Text = entryOf("plain") + entryOf("bounded", ".maxntid 256, 1, 1\n") +
                     entryOf("minimum", ".maxntid 256, 1, 1\n.minnctapersm 2\n") +
                     entryOf("required", ".reqntid 64, 1, 1\n") +
                     entryOf("capped", ".maxnreg 40\n");
  for (const char *Name : {"plain", "bounded", "minimum", "required", "capped"})
    reportAll(Name, 40, 24, 44);
  ASSERT_TRUE(bool(find(moduleOf(Text))));
  for (auto [Option, Cap] :
       {std::pair("-maxrregcount=1", 1u), std::pair("-maxrregcount=255", 255u)}) {
    PtxModule Given = llvm::cantFail(PtxModule::parse(Tools.callWith(Option).Input));
    EXPECT_EQ(Given.find("plain")->Directives.MaxNReg, std::nullopt);
    for (const char *Name : {"bounded", "minimum", "required", "capped"})
      EXPECT_EQ(Given.find(Name)->Directives.MaxNReg, Cap) << Name;
  }
}

TEST_F(RegisterRegions, ceiling_isTheUpperEnd) {
  Tools.Reports[64] = reportOf("plain", 60, 0) + reportOf("bounded", 64, 0);
  reportAll("plain", 60, 24, 90);
  reportAll("bounded", 64, 24, 90);
  auto Regions = find(moduleOf(entryOf("plain") + entryOf("bounded", ".maxntid 256, 1, 1\n")), 64);
  ASSERT_TRUE(bool(Regions)) << toString(Regions.takeError());
  EXPECT_EQ(Regions->front().rMax(), 60u);
  PtxModule Given = llvm::cantFail(PtxModule::parse(Tools.callWith("-maxrregcount=64").Input));
  EXPECT_EQ(Given.find("bounded")->Directives.MaxNReg, 64u);
}

// ptxas refuses the module if the option leaves such a kernel fewer registers than it releases.
TEST_F(RegisterRegions, setMaxNRegKernels_areLeftAlone) {
  reportAll("plain", 40, 24, 44);
  reportAll("moves", 168, 8, 9);
  auto Regions = find(
      moduleOf(entryOf("plain") + entryOf("moves", "", "\tsetmaxnreg.dec.sync.aligned.u32 40;\n")));
  ASSERT_TRUE(bool(Regions)) << toString(Regions.takeError());
  EXPECT_EQ(Regions->front().rMin(), 24u);
  EXPECT_EQ(Regions->front().rMax(), 44u);
  EXPECT_EQ(Regions->back().rMin(), 168u);
  EXPECT_EQ(Regions->back().rMax(), 168u);
  for (const FakeTools::Call &Call : Tools.Calls) {
    EXPECT_FALSE(llvm::any_of(
        Call.C.Argv, [](llvm::StringRef Word) { return Word.starts_with("-maxrregcount"); }));
    PtxModule Given = llvm::cantFail(PtxModule::parse(Call.Input));
    EXPECT_EQ(Given.find("moves")->Directives.MaxNReg, std::nullopt);
  }
}

TEST_F(RegisterRegions, failure_ofEveryCall_isReportedOnce) {
  for (unsigned Cap : {0u, 1u, 255u})
    Tools.Failures[Cap] = "ptxas fatal   : Ptx assembly aborted due to errors";
  auto Regions = find(moduleOf(entryOf("k")));
  ASSERT_FALSE(bool(Regions));
  std::string Message;
  handleAllErrors(Regions.takeError(), [&](const ToolFailure &F) {
    EXPECT_EQ(F.exitStatus(), 255);
    Message += F.standardError();
  });
  EXPECT_EQ(Message, "ptxas fatal   : Ptx assembly aborted due to errors");
}

TEST_F(RegisterRegions, failure_atOneEnd_isReported) {
  reportAll("k", 40, 24, 44);
  Tools.Failures[255] = "out of memory";
  auto Regions = find(moduleOf(entryOf("k")));
  ASSERT_FALSE(bool(Regions));
  EXPECT_NE(toString(Regions.takeError()).find("out of memory"), std::string::npos);
}

TEST_F(RegisterRegions, kernelAbsentFromTheReport_isNamed) {
  reportAll("other", 40, 24, 44);
  auto Regions = find(moduleOf(entryOf("k")));
  ASSERT_FALSE(bool(Regions));
  EXPECT_NE(toString(Regions.takeError()).find("`k`"), std::string::npos);
}

TEST(RegisterCap, registerCapOf_everySpelling_lastOneCounts) {
  EXPECT_EQ(registerCapOf({}), std::nullopt);
  EXPECT_EQ(registerCapOf({"-O3", "-maxrregcount=32"}), 32u);
  EXPECT_EQ(registerCapOf({"--maxrregcount=40", "-v"}), 40u);
  EXPECT_EQ(registerCapOf({"-maxrregcount", "48", "-O3"}), 48u);
  EXPECT_EQ(registerCapOf({"-maxrregcount=48", "--maxrregcount", "64"}), 64u);
  EXPECT_EQ(registerCapOf({"-maxrregcount=0"}), std::nullopt);
  EXPECT_EQ(registerCapOf({"-maxrregcount=256"}), std::nullopt);
  EXPECT_EQ(registerCapOf({"-maxrregcount"}), std::nullopt);
  EXPECT_EQ(registerCapOf({"-arch", "-maxrregcount=32"}), std::nullopt);
}

TEST(NotTunable, reasonNotTunable_namesTheReason) {
  PtxEntry Entry;
  EXPECT_EQ(reasonNotTunable(Entry, true), std::nullopt);
  Entry.CallsExternal = true;
  EXPECT_EQ(reasonNotTunable(Entry, false), std::nullopt);
  EXPECT_EQ(reasonNotTunable(Entry, true), KnownReason::ExternalCall);
  Entry.UnknownStack = true;
  EXPECT_EQ(reasonNotTunable(Entry, false), KnownReason::UnknownStack);
  Entry.UsesSetMaxNReg = true;
  EXPECT_EQ(reasonNotTunable(Entry, false), KnownReason::SetMaxNReg);
}

} // namespace
