#include "Profiles/ProfileCheck.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace carve;

namespace {

struct RuleText {
  CheckRule Rule;
  llvm::StringLiteral Name, Text;
};
constexpr RuleText RuleTexts[] = {
    {CheckRule::RegisterIncrease, "register-increase", "A kernel takes more registers"},
    {CheckRule::SpillIncrease, "spill-increase", "A kernel spills more bytes to local memory"},
    {CheckRule::OccupancyLoss, "occupancy-loss", "Fewer warps of a kernel are resident on an SM"},
    {CheckRule::TimeIncrease, "time-increase",
     "A launch of a kernel takes longer, beyond the noise of both measurements"},
    {CheckRule::LostTuning, "lost-tuning", "A kernel that was tuned is nvcc's default now"},
};

/// How much the launch time of the same code scatters from tuning to tuning: about twice the 0.9 %
/// that was measured over the kernels of LULESH on an H200. No interval contains this scatter,
/// because the interval of a ratio comes from pairs within one tuning, and that of a default has no
/// width.
constexpr double LaunchTimeNoise = 0.02;

template <typename... Ts> std::string formatted(const char *Format, Ts... Values) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(Format, Values...);
  return Text;
}

std::string exactPercent(double Share) { return formatted("%.4g%%", Share * 100); }

std::string timeText(const LaunchTime &T, bool Relative) {
  if (Relative)
    return formatted("%.3f of the default's", T.Ns);
  if (T.Ns < 1e3)
    return formatted("%.0f ns", T.Ns);
  return T.Ns < 1e6 ? formatted("%.4g us", T.Ns / 1e3) : formatted("%.4g ms", T.Ns / 1e6);
}

/// Judges the properties of one kernel.
class Judge {
public:
  Judge(const CheckedKernel &Before, const CheckedKernel &After, const CheckTolerances &T)
      : Before(Before), After(After), Allowed(T) {
    SameArch = Before.Arch.empty() || After.Arch.empty() || Before.Arch == After.Arch;
    SameCode = Before.Digest && Before.Digest == After.Digest;
    chooseTimes();
  }

  std::vector<PropertyCheck> judge() const {
    return {count(CheckRule::SpillIncrease, Before.SpillBytes, After.SpillBytes,
                  Allowed.SpillIncrease, " bytes"),
            count(CheckRule::RegisterIncrease, Before.Regs, After.Regs, Allowed.RegsIncrease, ""),
            occupancy(), time(), tuning()};
  }

private:
  void chooseTimes();
  std::optional<std::string> timeNotComparable() const;
  bool faster() const;
  std::optional<std::string> excuse() const;
  PropertyCheck finish(PropertyCheck P, bool Worse, std::string Detail) const;
  PropertyCheck count(CheckRule Rule, const std::optional<unsigned> &Old,
                      const std::optional<unsigned> &New, const std::optional<unsigned> &Most,
                      llvm::StringRef Unit) const;
  PropertyCheck occupancy() const;
  PropertyCheck time() const;
  PropertyCheck tuning() const;

  const CheckedKernel &Before, &After;
  const CheckTolerances &Allowed;
  bool SameArch, SameCode;
  bool Relative = false; ///< True if the times are ratios to one default.
  std::optional<LaunchTime> Old, New;
};

void Judge::chooseTimes() {
  if (Before.Time && After.Time) {
    Old = Before.Time;
    New = After.Time;
  } else if (SameCode && Before.Device == After.Device && Before.Measured && After.Measured) {
    // Both are ratios to the time of the same code.
    Old = Before.Ratio;
    New = After.Ratio;
    Relative = true;
  }
}

std::optional<std::string> Judge::timeNotComparable() const {
  if (!Old || !New)
    return "a value is not known";
  if (Allowed.Across)
    return std::nullopt;
  if (Before.Device != After.Device)
    return "different GPUs, " + Before.Device + " and " + After.Device;
  if (Before.Toolkit != After.Toolkit)
    return "different toolkits, " + Before.Toolkit + " and " + After.Toolkit;
  if (!Before.Shapes.empty() && !After.Shapes.empty() && Before.Shapes != After.Shapes)
    return std::string("different launch shapes");
  return std::nullopt;
}

/// True if the launch is certainly faster. Only valid if the times can be compared.
bool Judge::faster() const { return New->HighNs * (1 + LaunchTimeNoise) < Old->LowNs; }

/// Returns why more registers or spills, or less occupancy, are not a regression.
std::optional<std::string> Judge::excuse() const {
  if (Allowed.Strict)
    return std::nullopt;
  bool Timed = !timeNotComparable() && Allowed.TimeIncrease;
  if (Timed && faster())
    return "but the launch is faster: " + timeText(*Old, Relative) + " > " +
           timeText(*New, Relative);
  if (Timed && SameCode)
    return std::string("but the code is the same, so the time decides");
  return std::nullopt;
}

/// Returns \p P with its verdict. \p Detail says what failed, if \p Worse.
PropertyCheck Judge::finish(PropertyCheck P, bool Worse, std::string Detail) const {
  P.Verdict = Worse ? CheckVerdict::Regressed : CheckVerdict::Passed;
  if (!Worse)
    return P;
  P.Detail = std::move(Detail);
  if (auto Why = excuse()) {
    P.Verdict = CheckVerdict::Passed;
    P.Detail += ", " + *Why;
  }
  return P;
}

PropertyCheck Judge::count(CheckRule Rule, const std::optional<unsigned> &Was,
                           const std::optional<unsigned> &Is, const std::optional<unsigned> &Most,
                           llvm::StringRef Unit) const {
  PropertyCheck P{Rule};
  P.Before = Was ? std::to_string(*Was) : "";
  P.After = Is ? std::to_string(*Is) : "";
  if (!Was || !Is)
    P.Detail = "a value is not known";
  else if (!Most)
    P.Detail = "not asked for";
  else if (!SameArch && !Allowed.Across)
    P.Detail = "different architectures, " + Before.Arch + " and " + After.Arch;
  else
    return finish(std::move(P), *Is > *Was && *Is - *Was > *Most,
                  std::to_string(*Is - *Was) + Unit.str() + " more per thread, at most " +
                      std::to_string(*Most) + " allowed");
  return P;
}

PropertyCheck Judge::occupancy() const {
  PropertyCheck P{CheckRule::OccupancyLoss};
  P.Before = Before.Occupancy ? exactPercent(*Before.Occupancy) : "";
  P.After = After.Occupancy ? exactPercent(*After.Occupancy) : "";
  // The occupancy is 0 if no launch of the kernel was seen.
  if (!Before.Occupancy || !After.Occupancy || *Before.Occupancy <= 0 || *After.Occupancy <= 0)
    P.Detail = "a value is not known";
  else if (!Allowed.OccupancyLoss)
    P.Detail = "not asked for";
  else if (!SameArch && !Allowed.Across)
    P.Detail = "different architectures, " + Before.Arch + " and " + After.Arch;
  else
    // The tolerance is needed because profiles hold four decimals.
    return finish(std::move(P),
                  *Before.Occupancy - *After.Occupancy > *Allowed.OccupancyLoss + 1e-3,
                  exactPercent(*Before.Occupancy - *After.Occupancy) + " less, at most " +
                      exactPercent(*Allowed.OccupancyLoss) + " allowed");
  return P;
}

PropertyCheck Judge::time() const {
  PropertyCheck P{CheckRule::TimeIncrease};
  P.Before = Old ? timeText(*Old, Relative) : Before.Time ? timeText(*Before.Time, false) : "";
  P.After = New ? timeText(*New, Relative) : After.Time ? timeText(*After.Time, false) : "";
  if (auto Why = timeNotComparable()) {
    P.Detail = *Why;
    return P;
  }
  if (!Allowed.TimeIncrease) {
    P.Detail = "not asked for";
    return P;
  }
  bool Worse = New->LowNs > Old->HighNs * (1 + *Allowed.TimeIncrease);
  P.Verdict = Worse ? CheckVerdict::Regressed : CheckVerdict::Passed;
  if (Worse)
    P.Detail = exactPercent(New->Ns / Old->Ns - 1) + " longer, " +
               exactPercent(New->LowNs / Old->HighNs - 1) +
               " of that beyond both intervals, at most " + exactPercent(*Allowed.TimeIncrease) +
               " allowed";
  return P;
}

PropertyCheck Judge::tuning() const {
  PropertyCheck P{CheckRule::LostTuning};
  P.Before = Before.Setting;
  P.After = After.Setting;
  if (!SameArch && !Allowed.Across) {
    P.Detail = "different architectures, " + Before.Arch + " and " + After.Arch;
    return P;
  }
  P.Verdict = CheckVerdict::Passed;
  if (!Before.Tuned || After.Tuned)
    return P;
  P.Detail = Before.Measured
                 ? "its launches took " + exactPercent(Before.Ratio.Ns) + " of the default's time"
                 : "its gain was not measured";
  // Two tunings of the same code may disagree about a gain that is as small as the allowed
  // increase.
  double Small = Allowed.TimeIncrease.value_or(0);
  if (Before.Measured && Before.Ratio.HighNs * (1 + Small) >= 1)
    P.Detail += ", which is within the allowed time increase";
  else if (auto Why = excuse(); Why && faster())
    P.Detail += ", " + *Why;
  else
    P.Verdict = CheckVerdict::Regressed;
  return P;
}

using Side = std::vector<const CheckedKernel *>;

/// Groups the entries of both sides by kernel.
std::map<std::string, std::pair<Side, Side>> byKernel(const std::vector<CheckedKernel> &Before,
                                                      const std::vector<CheckedKernel> &After) {
  std::map<std::string, std::pair<Side, Side>> Groups;
  for (const CheckedKernel &K : Before)
    Groups[K.Kernel].first.push_back(&K);
  for (const CheckedKernel &K : After)
    Groups[K.Kernel].second.push_back(&K);
  for (auto &[Name, Both] : Groups)
    for (Side *S : {&Both.first, &Both.second})
      llvm::stable_sort(*S, [](const CheckedKernel *A, const CheckedKernel *B) {
        return std::tie(A->Arch, A->Toolkit, A->Digest) < std::tie(B->Arch, B->Toolkit, B->Digest);
      });
  return Groups;
}

bool sameArch(const CheckedKernel &A, const CheckedKernel &B) {
  return A.Arch == B.Arch || A.Arch.empty() || B.Arch.empty();
}

bool sameSource(const CheckedKernel &A, const CheckedKernel &B) {
  return !A.Source.empty() && A.Source == B.Source;
}

/// Moves the pairs for which \p Match is true from \p Old and \p New to \p Pairs.
void pairOff(Side &Old, Side &New,
             std::vector<std::pair<const CheckedKernel *, const CheckedKernel *>> &Pairs,
             llvm::function_ref<bool(const CheckedKernel &, const CheckedKernel &)> Match) {
  for (const CheckedKernel *&A : Old) {
    auto B = llvm::find_if(New, [&](const CheckedKernel *K) { return Match(*A, *K); });
    if (B == New.end())
      continue;
    Pairs.emplace_back(A, *B);
    New.erase(B);
    A = nullptr;
  }
  llvm::erase(Old, nullptr);
}

void keepEntry(std::vector<CheckedKernel> &Kernels, const Decision &D) {
  CheckedKernel K;
  K.Kernel = D.Kernel;
  K.Arch = D.Arch;
  K.Digest = D.Digest;
  K.Tuned = !D.isDefault();
  K.Setting = decisionText(D);
  for (const FurtherEntry &E : D.Entries)
    K.Guards.push_back({guardText(E.When), E.Held});
  if (D.Basis) {
    const Evidence &E = *D.Basis;
    K.Device = E.Device;
    K.Toolkit = E.Toolkit;
    K.Source = E.Source;
    K.Shapes = E.Shapes;
    unsigned Regs = K.Tuned ? E.TunedRegs : E.DefaultRegs;
    if (Regs)
      K.Regs = Regs;
    K.SpillBytes = K.Tuned ? E.TunedSpillBytes : E.DefaultSpillBytes;
    K.Occupancy = K.Tuned ? E.TunedOccupancy : E.DefaultOccupancy;
    // If the default was kept, the ratio is that of a variant that is not built.
    K.Measured = !K.Tuned || E.Pairs > 0;
    if (K.Tuned && E.Pairs > 0)
      K.Ratio = {E.Ratio, E.RatioLow, E.RatioHigh};
    if (E.LaunchNs && *E.LaunchNs > 0 && K.Measured)
      K.Time = LaunchTime{*E.LaunchNs * K.Ratio.Ns, *E.LaunchNs * K.Ratio.LowNs,
                          *E.LaunchNs * K.Ratio.HighNs};
  }
  Kernels.push_back(std::move(K));
}

/// Pairs the guards of both sides that let the same launches through.
std::vector<GuardCheck> pairGuards(const std::vector<CheckedGuard> &Before,
                                   const std::vector<CheckedGuard> &After) {
  std::vector<GuardCheck> Pairs;
  for (const CheckedGuard &G : Before)
    Pairs.push_back({G.When, G.Held, std::nullopt});
  for (const CheckedGuard &G : After) {
    auto Same = llvm::find_if(Pairs, [&](const GuardCheck &P) { return P.When == G.When; });
    if (Same == Pairs.end())
      Pairs.push_back({G.When, std::nullopt, G.Held});
    else
      Same->After = G.Held;
  }
  return Pairs;
}

} // namespace

std::string GuardCheck::warning() const {
  return Before && After ? holdWarning(When, Before, *After) : "";
}

llvm::StringRef carve::checkRuleName(CheckRule Rule) {
  for (const RuleText &R : RuleTexts)
    if (R.Rule == Rule)
      return R.Name;
  return "";
}

llvm::StringRef carve::checkRuleText(CheckRule Rule) {
  for (const RuleText &R : RuleTexts)
    if (R.Rule == Rule)
      return R.Text;
  return "";
}

std::vector<CheckedKernel> carve::checkedKernels(const Profile &P) {
  std::vector<CheckedKernel> Kernels;
  for (const Decision &D : P.Kernels)
    keepEntry(Kernels, D);
  return Kernels;
}

bool KernelCheck::regressed() const {
  return llvm::any_of(Properties,
                      [](const PropertyCheck &P) { return P.Verdict == CheckVerdict::Regressed; });
}

unsigned CheckOutcome::count(CheckVerdict V) const {
  unsigned Count = 0;
  for (const KernelCheck &K : Kernels)
    Count += llvm::count_if(K.Properties, [&](const PropertyCheck &P) { return P.Verdict == V; });
  return Count;
}

CheckOutcome carve::checkKernels(const std::vector<CheckedKernel> &Before,
                                 const std::vector<CheckedKernel> &After,
                                 const CheckTolerances &T) {
  CheckOutcome Outcome;
  for (auto &[Name, Both] : byKernel(Before, After)) {
    auto &[Old, New] = Both;
    std::vector<std::pair<const CheckedKernel *, const CheckedKernel *>> Pairs;
    // Several sources may have a kernel of the same name. If the code changed, digests do not tell
    // which is which.
    pairOff(Old, New, Pairs, [](const CheckedKernel &A, const CheckedKernel &B) {
      return sameArch(A, B) && A.Digest && A.Digest == B.Digest && A.Source == B.Source;
    });
    pairOff(Old, New, Pairs, [](const CheckedKernel &A, const CheckedKernel &B) {
      return sameSource(A, B) && sameArch(A, B) && A.Toolkit == B.Toolkit;
    });
    pairOff(Old, New, Pairs, [](const CheckedKernel &A, const CheckedKernel &B) {
      return sameSource(A, B) && sameArch(A, B);
    });
    pairOff(Old, New, Pairs, [](const CheckedKernel &A, const CheckedKernel &B) {
      return sameArch(A, B) && A.Digest && A.Digest == B.Digest;
    });
    pairOff(Old, New, Pairs, [](const CheckedKernel &A, const CheckedKernel &B) {
      return sameArch(A, B) && A.Toolkit == B.Toolkit;
    });
    pairOff(Old, New, Pairs, sameArch);
    pairOff(Old, New, Pairs, [](const CheckedKernel &, const CheckedKernel &) { return true; });
    for (const auto &[A, B] : Pairs)
      Outcome.Kernels.push_back(
          {*A, *B, Judge(*A, *B, T).judge(), pairGuards(A->Guards, B->Guards)});
    for (const CheckedKernel *K : Old)
      Outcome.Vanished.push_back(*K);
    for (const CheckedKernel *K : New)
      Outcome.Appeared.push_back(*K);
  }
  return Outcome;
}
