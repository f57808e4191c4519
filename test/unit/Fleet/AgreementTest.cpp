#include "Fleet/Agreement.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace carve;

namespace {

/// What a node decided and timed.
struct Finding {
  std::string Node;
  Decision Decided;
  KernelReport Report;
};

/// A node whose winner has the cap \p Cap, or that keeps nvcc's code without one.
Finding winner(std::string Node, std::optional<unsigned> Cap, double Ratio, unsigned Pairs = 3) {
  Finding F{std::move(Node), {}, {}};
  F.Decided.Kernel = "k";
  F.Decided.Arch = "sm_90";
  F.Decided.Digest = "digest";
  F.Decided.Variant.Cap = Cap;
  F.Decided.Basis.emplace();
  F.Decided.Basis->Ratio = F.Decided.Basis->RatioHigh = Ratio;
  F.Decided.Basis->Pairs = Pairs;
  F.Decided.Basis->Reason = Cap ? "" : "no variant was faster";
  F.Report.Variant = Cap ? "r" + std::to_string(*Cap) : "default";
  return F;
}

/// Adds to \p F that it timed \p Name with \p Ratio, whose interval ends at \p High.
Finding timed(Finding F, std::string Name, double Ratio, double High, std::string Fault = "") {
  VariantReport V;
  V.Name = std::move(Name);
  V.Ratio = Ratio;
  V.RatioLow = Ratio - 0.01;
  V.RatioHigh = High;
  V.Fault = std::move(Fault);
  F.Report.Variants.push_back(std::move(V));
  return F;
}

/// Agrees in every order of \p Findings, and expects the same result.
Agreement agreed(std::vector<Finding> Findings, unsigned Agree) {
  std::vector<NodeFinding> Order;
  for (const Finding &F : Findings)
    Order.push_back({F.Node, &F.Decided, &F.Report});
  auto ByNode = [](const NodeFinding &A, const NodeFinding &B) { return A.Node < B.Node; };
  std::sort(Order.begin(), Order.end(), ByNode);
  Agreement First = agreeOn(Order, Agree);
  while (std::next_permutation(Order.begin(), Order.end(), ByNode)) {
    Agreement Again = agreeOn(Order, Agree);
    EXPECT_EQ(Again.Decided.has_value(), First.Decided.has_value());
    if (Again.Decided && First.Decided) {
      EXPECT_EQ(printDecision(*Again.Decided), printDecision(*First.Decided));
    }
    EXPECT_EQ(Again.Nodes, First.Nodes);
    EXPECT_EQ(Again.Disagreement, First.Disagreement);
  }
  return First;
}

using Nodes = std::vector<std::string>;

} // namespace

TEST(Agreement, sameWinnerOnTwoNodes_isDecidedWithTheBetterEvidence) {
  Agreement A = agreed({winner("n1", 64, 0.8, 3), winner("n2", 64, 0.81, 9)}, 2);
  ASSERT_TRUE(A.Decided);
  EXPECT_EQ(A.Decided->Variant.Cap, 64u);
  EXPECT_EQ(A.Decided->Basis->Pairs, 9u);
  EXPECT_EQ(A.Nodes, (Nodes{"n1", "n2"}));
  EXPECT_EQ(A.Disagreement, "");
}

TEST(Agreement, oneNodeOfTwo_leavesTheKernelUndecided) {
  EXPECT_FALSE(agreed({winner("n1", 64, 0.8)}, 2).Decided);
  EXPECT_FALSE(agreed({winner("n1", std::nullopt, 1)}, 2).Decided);
  EXPECT_EQ(agreed({winner("n1", 64, 0.8)}, 1).Decided->Variant.Cap, 64u);
}

TEST(Agreement, otherNodeTimedTheWinner_supportsItIfTheIntervalIsBelowOne) {
  Finding First = winner("n1", 64, 0.8), Second = winner("n2", 72, 0.85);
  Agreement A = agreed({First, timed(Second, "r64", 0.9, 0.95)}, 2);
  ASSERT_TRUE(A.Decided);
  EXPECT_EQ(A.Decided->Variant.Cap, 64u);
  for (const Finding &Other :
       {timed(Second, "r64", 0.98, 1.0), timed(Second, "r64", 0.9, 0.95, "its output differs"),
        timed(Second, "r65", 0.9, 0.95), Second}) {
    Agreement B = agreed({First, Other}, 2);
    ASSERT_TRUE(B.Decided);
    EXPECT_TRUE(B.Decided->isDefault());
    EXPECT_EQ(B.Disagreement, "cap 64 on n1, cap 72 on n2");
  }
}

TEST(Agreement, severalSupportedWinners_bestMeanIsDecided) {
  // r64: 0.8 and 0.9, r72: 0.85 and 0.82.
  Agreement A = agreed({timed(winner("n1", 64, 0.8), "r72", 0.82, 0.9),
                        timed(winner("n2", 72, 0.85), "r64", 0.9, 0.95)},
                       2);
  ASSERT_TRUE(A.Decided);
  EXPECT_EQ(A.Decided->Variant.Cap, 72u);
}

TEST(Agreement, thirdNode_mayBeTheSecondThatAgrees) {
  Agreement A =
      agreed({winner("n1", 64, 0.8), winner("n2", std::nullopt, 1), winner("n3", 64, 0.82)}, 2);
  ASSERT_TRUE(A.Decided);
  EXPECT_EQ(A.Decided->Variant.Cap, 64u);
  EXPECT_EQ(A.Nodes, (Nodes{"n1", "n3"}));
}

TEST(Agreement, disagreement_keepsTheDefaultAndSaysWhoWouldUseWhat) {
  Agreement A = agreed({winner("n1", 64, 0.8), winner("n2", std::nullopt, 1)}, 2);
  ASSERT_TRUE(A.Decided);
  EXPECT_TRUE(A.Decided->isDefault());
  EXPECT_EQ(A.Decided->Basis->Reason,
            "fewer than 2 nodes agree on a variant: cap 64 on n1, default on n2");
  EXPECT_EQ(A.Decided->Basis->CodeDigest, "");
  EXPECT_EQ(A.Nodes, Nodes{"n2"});
}

TEST(Agreement, defaultOnAllNodes_keepsItsReason) {
  Agreement A = agreed({winner("n1", std::nullopt, 1), winner("n2", std::nullopt, 1)}, 2);
  ASSERT_TRUE(A.Decided);
  EXPECT_EQ(A.Decided->Basis->Reason, "no variant was faster");
  EXPECT_EQ(A.Disagreement, "");
}

/// The report of the other node does not tell with which guard it timed a variant.
TEST(Agreement, furtherEntries_needTheSameGuards) {
  Finding First = winner("n1", std::nullopt, 0.8), Second = First;
  Second.Node = "n2";
  FurtherEntry E;
  E.When.MaxThreads = 256;
  E.Variant.Cap = 96;
  First.Decided.Entries = Second.Decided.Entries = {E};
  EXPECT_EQ(agreed({First, Second}, 2).Decided->Entries.size(), 1u);
  Second.Decided.Entries[0].When.MaxThreads = 128;
  First.Report.Variant = Second.Report.Variant = "r96";
  Agreement A = agreed({timed(First, "r96", 0.8, 0.9), timed(Second, "r96", 0.8, 0.9)}, 2);
  EXPECT_TRUE(A.Decided->isDefault());
}
