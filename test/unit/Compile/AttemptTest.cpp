#include "Compile/Attempt.h"

#include "Support/Files.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

/// A fixture with a store and one unit of the recorded kernels.
class AttemptTest : public testing::Test {
protected:
  AttemptTest() : Dir(llvm::cantFail(TempDir::create("carve-attempt"))), Store(Dir.path() + "/s") {
    Text = llvm::cantFail(readFile(CARVE_TEST_INPUTS "/ptx/kernels.cuda-13.0.88.ptx"));
    U = unitOf(Text);
  }

  Unit unitOf(const std::string &Ptx) {
    Unit New;
    New.Key = "0123456789abcdef0123456789abcdef";
    New.NvccVersion = "13.0.88";
    UnitImage I;
    I.Arch = "sm_90";
    I.PtxasOptions = {"-arch=sm_90"};
    I.PtxDigest = llvm::cantFail(Store.putBlob(Ptx));
    New.Images = {I};
    return New;
  }

  bool attempted(const Unit &Of, llvm::StringRef Workload = "./app 1",
                 TuningScope Scope = TuningScope::Kernel,
                 LaunchDomain Domain = LaunchDomain::Preserve) const {
    TuningOptions Options;
    Options.Scope = Scope;
    Options.Domain = Domain;
    return alreadyAttempted(Of, Workload, Options, Store);
  }
  void remember(unsigned Effort = 2) {
    TuningOptions Options;
    Options.Effort = Effort;
    rememberAttempt(U, "./app 1", Options, "no gain", Store);
  }

  TempDir Dir;
  UnitStore Store;
  std::string Text;
  Unit U;
};

} // namespace

TEST_F(AttemptTest, attempt_otherWorkloadScopeOrDomain_doesNotCount) {
  EXPECT_FALSE(attempted(U));
  remember();
  EXPECT_TRUE(attempted(U));
  EXPECT_FALSE(attempted(U, "./app 2"));
  EXPECT_FALSE(attempted(U, "./app 1", TuningScope::File));
  EXPECT_FALSE(attempted(U, "./app 1", TuningScope::Kernel, LaunchDomain::Traced));
  Unit Other = U;
  Other.Key = "fedcba9876543210fedcba9876543210";
  EXPECT_FALSE(attempted(Other));
}

TEST_F(AttemptTest, attempt_ofLessEffort_doesNotCount) {
  remember(1);
  EXPECT_FALSE(attempted(U));
  remember(3);
  EXPECT_TRUE(attempted(U));
}

TEST_F(AttemptTest, attempt_editElsewhereOrLostKernel_stillCounts) {
  remember();
  EXPECT_TRUE(attempted(unitOf("// a comment\n" + Text)));
  size_t Last = Text.rfind(".visible .entry"); // This is `recursive`, the last kernel of the file.
  ASSERT_NE(Last, std::string::npos);
  EXPECT_TRUE(attempted(unitOf(Text.substr(0, Last))));
}

TEST_F(AttemptTest, attempt_newOrChangedKernel_doesNotCount) {
  remember();
  EXPECT_FALSE(attempted(unitOf(Text + "\n.visible .entry added() { ret; }\n")));
  std::string Changed = Text;
  Changed.insert(Changed.find("ret;", Changed.find(".entry init(")), "bar.sync 0;\n\t");
  EXPECT_FALSE(attempted(unitOf(Changed)));
}

TEST_F(AttemptTest, attempt_otherToolkitArchitectureOrOption_doesNotCount) {
  remember();
  Unit Toolkit = U, Arch = U, Options = U;
  Toolkit.NvccVersion = "13.1.20";
  Arch.Images[0].Arch = "sm_100";
  Options.Images[0].PtxasOptions.push_back("-O1");
  for (const Unit &Other : {Toolkit, Arch, Options})
    EXPECT_FALSE(attempted(Other));
}

TEST_F(AttemptTest, attempt_recordDamagedOrBlobLost_doesNotCount) {
  for (const char *Damaged : {"", "{", "[]", "{\"attempt\": 2}",
                              "{\"attempt\": 1, \"workload\": \"./app 1\", \"mode\": \"kernel "
                              "preserve\", \"kernels\": 3}"}) {
    ASSERT_EQ(llvm::toString(Store.putAttempt(U.Key, Damaged)), "");
    EXPECT_FALSE(attempted(U)) << Damaged;
  }
  remember();
  Unit Lost = U;
  Lost.Images[0].PtxDigest = "0123456789abcdef0123456789abcdef";
  EXPECT_FALSE(attempted(Lost));
}

TEST_F(AttemptTest, attempt_storeNotWritable_isForgotten) {
  UnitStore Nowhere("/proc/none");
  rememberAttempt(U, "./app 1", {}, "", Nowhere);
  EXPECT_FALSE(alreadyAttempted(U, "./app 1", {}, Nowhere));
}
