#include "Fleet/Agreement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <tuple>

using namespace carve;

namespace {

bool decidesSame(const Decision &A, const Decision &B) {
  return A.Variant == B.Variant && A.Entries == B.Entries;
}

/// Returns by which ratio of the default's time \p F supports the winner of \p Of; nothing if it
/// does not.
std::optional<double> support(const NodeFinding &F, const NodeFinding &Of) {
  if (decidesSame(*F.Decided, *Of.Decided))
    return F.Decided->Basis ? F.Decided->Basis->Ratio : 1;
  if (!Of.Decided->Entries.empty() || !F.Report || !Of.Report)
    return std::nullopt;
  for (const VariantReport &V : F.Report->Variants)
    if (V.Name == Of.Report->Variant && V.Fault.empty() && V.Ratio > 0 && V.RatioHigh > 0 &&
        V.RatioHigh < 1)
      return V.Ratio;
  return std::nullopt;
}

/// True if the evidence of \p A is to be kept rather than that of \p B, which decides the same.
bool hasBetterEvidence(const Decision &A, const Decision &B) {
  auto Rank = [](const Decision &D) {
    return std::tuple(D.Basis ? D.Basis->Pairs : 0u, D.Basis ? D.Basis->Date : std::string(),
                      printDecision(D));
  };
  return Rank(A) > Rank(B);
}

/// A winner of some node, with the nodes that support it.
struct SupportedWinner {
  const Decision *Decided = nullptr;
  double MeanRatio = 1; ///< Geometric mean over Nodes.
  std::vector<std::string> Nodes;

  SupportedWinner(llvm::ArrayRef<NodeFinding> Findings, const NodeFinding &Of)
      : Decided(Of.Decided) {
    double Logarithms = 0;
    for (const NodeFinding &F : Findings)
      if (std::optional<double> Ratio = support(F, Of)) {
        Nodes.push_back(F.Node);
        Logarithms += std::log(*Ratio);
      }
    MeanRatio = std::exp(Logarithms / double(Nodes.size()));
  }

  bool operator<(const SupportedWinner &Other) const {
    // With equal times the one with more nodes is first, then the text decides.
    if (std::tuple(MeanRatio, Other.Nodes.size()) != std::tuple(Other.MeanRatio, Nodes.size()))
      return std::tuple(MeanRatio, Other.Nodes.size()) < std::tuple(Other.MeanRatio, Nodes.size());
    if (decidesSame(*Decided, *Other.Decided))
      return hasBetterEvidence(*Decided, *Other.Decided);
    return decisionText(*Decided) < decisionText(*Other.Decided);
  }
};

/// Returns what each node would use, as in `cap 64 on node1, default on node2`.
std::string opinions(llvm::ArrayRef<NodeFinding> Findings) {
  std::vector<std::string> Texts;
  for (const NodeFinding &F : Findings)
    Texts.push_back(decisionText(*F.Decided) + " on " + F.Node);
  return llvm::join(Texts, ", ");
}

/// Returns the decision \p D changed so that nvcc's code stays, because of \p Reason.
Decision withDefault(Decision D, const std::string &Reason) {
  D.Variant = {};
  D.Entries.clear();
  if (!D.Basis)
    return D;
  Evidence &E = *D.Basis;
  E.Ratio = E.RatioLow = E.RatioHigh = 1;
  E.TunedRegs = E.DefaultRegs;
  E.TunedSpillBytes = E.DefaultSpillBytes;
  E.TunedOccupancy = E.DefaultOccupancy;
  E.SmemSpillingThreads = 0;
  E.CodeDigest.clear();
  E.Reason = Reason;
  return D;
}

} // namespace

Agreement carve::agreeOn(std::vector<NodeFinding> Findings, unsigned Agree) {
  llvm::sort(Findings, [](const NodeFinding &A, const NodeFinding &B) { return A.Node < B.Node; });
  std::optional<SupportedWinner> Best;
  for (const NodeFinding &F : Findings) {
    if (F.Decided->isDefault())
      continue;
    SupportedWinner C(Findings, F);
    if (C.Nodes.size() >= Agree && (!Best || C < *Best))
      Best = std::move(C);
  }
  Agreement Result;
  if (Best) {
    Result.Decided = *Best->Decided;
    Result.Nodes = std::move(Best->Nodes);
    return Result;
  }
  if (Findings.size() < Agree)
    return Result;
  const Decision *Stays = nullptr;
  bool Winners = false;
  for (const NodeFinding &F : Findings) {
    Winners |= !F.Decided->isDefault();
    if (F.Decided->isDefault() && (!Stays || hasBetterEvidence(*F.Decided, *Stays)))
      Stays = F.Decided;
  }
  if (Winners)
    Result.Disagreement = opinions(Findings);
  for (const NodeFinding &F : Findings)
    if (!Winners || F.Decided->isDefault())
      Result.Nodes.push_back(F.Node);
  Result.Decided = Winners ? withDefault(Stays ? *Stays : *Findings.front().Decided,
                                         "fewer than " + std::to_string(Agree) +
                                             " nodes agree on a variant: " + Result.Disagreement)
                           : *Stays;
  return Result;
}
