#include "Spaces/SearchMemory.h"
#include "Spaces/SearchState.h"
#include "Support/Digest.h"
#include "Support/Files.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

class NoRunner final : public CommandRunner {
  llvm::Expected<CommandResult> run(const Command &C) override {
    return llvm::createStringError(C.Argv.front() + " must not be run");
  }
};

/// Searches of a program with one source that are kept and recalled.
class SearchMemory : public testing::Test {
protected:
  SearchMemory() : Dir(llvm::cantFail(TempDir::create("carve-memory"))), Store(Dir.path() + "/s") {
    Source = Dir.path() + "/a.cu";
    llvm::cantFail(writeFileAtomically(Source, "first"));
    Request.Command = {"nvcc", "a.cu"};
    Request.Gpus.ProcDir = Request.Gpus.DevDir = Dir.path() + "/none";
  }

  /// Returns a search through \p Values of the macro A.
  std::unique_ptr<SearchState> search(const std::vector<std::string> &Values) {
    auto S = std::make_unique<SearchState>(Request, T, Runner);
    S->Line.Expanded = {"a.cu"};
    for (const std::string &Value : Values) {
      S->Record.Configurations.emplace_back();
      S->Record.Configurations.back().Macros.Macros = {{"A", Value}};
    }
    llvm::cantFail(recallSearch(*S, Store));
    return S;
  }

  /// Keeps \p S as if all of it was compiled and timed, with the first configuration as reference.
  void finish(SearchState &S) {
    double Ratio = 1;
    for (SearchedConfiguration &C : S.Record.Configurations) {
      C.Kernels.emplace_back();
      C.Times.Costs = {Ratio * 100};
      C.Times.Screened = {Ratio};
      Ratio /= 2;
    }
    S.Record.Reference = 0;
    S.Record.Winner = S.Record.Configurations.size() - 1;
    S.Record.Arch = "sm_90";
    S.Record.Inputs = {{Source, digestOf(llvm::cantFail(readFile(Source)))}};
    rememberSearch(S, Store);
  }

  TempDir Dir;
  UnitStore Store;
  std::string Source;
  SearchRequest Request;
  Toolchain T{"/x/nvcc", "/x"};
  NoRunner Runner;
};

} // namespace

TEST_F(SearchMemory, sameSearch_isRecalled) {
  EXPECT_FALSE(search({"1", "2"})->Recalled);
  finish(*search({"1", "2"}));
  auto S = search({"1", "2"});
  EXPECT_TRUE(S->Recalled);
  EXPECT_EQ(S->RecalledWinner, 1u);
  EXPECT_EQ(S->Record.Arch, "sm_90");
  EXPECT_EQ(S->at(1).Times.Screened, (std::vector<double>{0.5}));
  EXPECT_TRUE(S->at(1).FromStore);
}

TEST_F(SearchMemory, otherSpace_recallsCommonConfigurations) {
  finish(*search({"1", "2", "3"}));
  auto S = search({"1", "3", "4"});
  EXPECT_TRUE(S->Recalled);
  EXPECT_EQ(S->at(1).Times.Screened, (std::vector<double>{0.25}));
  EXPECT_FALSE(S->at(2).Times.measured());
  EXPECT_TRUE(S->at(2).Kernels.empty());
  // Configurations that this search does not have are still kept.
  rememberSearch(*S, Store);
  EXPECT_TRUE(search({"1", "2"})->at(1).Times.measured());
}

TEST_F(SearchMemory, ratiosToAnotherReference_areNotUsed) {
  finish(*search({"1", "2"}));
  EXPECT_FALSE(search({"2", "1"})->Recalled);
  EXPECT_FALSE(search({"2", "3"})->Recalled);
}

TEST_F(SearchMemory, changedSources_areNotRecalled) {
  finish(*search({"1", "2"}));
  llvm::cantFail(writeFileAtomically(Source, "second"));
  auto S = search({"1", "2"});
  EXPECT_FALSE(S->Recalled);
  EXPECT_FALSE(S->at(1).Times.measured());
  EXPECT_EQ(S->Record.Notes.size(), 1u);
}

TEST_F(SearchMemory, unwritableStore_isNoted) {
  llvm::cantFail(writeFileAtomically(Dir.path() + "/s", "in the store's place"));
  auto First = search({"1", "2"});
  finish(*First);
  ASSERT_EQ(First->Record.Notes.size(), 1u);
  EXPECT_NE(First->Record.Notes.front().find("the store could not keep the results"),
            std::string::npos);
}

TEST_F(SearchMemory, everythingThatAffectsResults_isInTheKey) {
  finish(*search({"1", "2"}));
  const std::function<void()> Changes[] = {
      [&] { Request.Metric = "time (.*)"; },
      [&] { Request.LargerIsBetter = true; },
      [&] { Request.RunWords = {"4096"}; },
      [&] { Request.Arch = "sm_80"; },
      [&] { Request.KernelPattern = "k"; },
      [&] { Request.Trips = {llvm::cantFail(parseTripExpression("32", {}))}; },
      [&] { Request.NoGpu = "none"; },
      [&] { Request.Nvcc.AppendFlags = "-O1"; },
      [&] { Request.Nvcc.WorkDir = "/elsewhere"; },
      [&] { Request.Workload.OutputFiles = {"out"}; },
      [&] { T.Nvcc = "/y/nvcc"; },
      [&] {
        Request.Launch.Block =
            llvm::cantFail(parseExpressionList("A", "--block", {std::string("A")}, 3));
      },
  };
  const SearchRequest Same = Request;
  for (const auto &Change : Changes) {
    Change();
    EXPECT_FALSE(search({"1", "2"})->Recalled);
    Request = Same;
    T.Nvcc = "/x/nvcc";
    EXPECT_TRUE(search({"1", "2"})->Recalled);
  }
  // The bounds of carving are not in the key.
  Request.Carving.Margin = 0.5;
  Request.Exhaustive = true;
  EXPECT_TRUE(search({"1", "2"})->Recalled);
}
