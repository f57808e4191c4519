#include "Explain/LimitsReport.h"

#include "Ptx/ProfileName.h"
#include "Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace carve;
using llvm::formatv;

namespace {

/// The width of the column with the topics.
constexpr size_t TopicColumns = 16;
constexpr size_t LineColumns = 100;

std::string duration(double Ns) {
  if (Ns >= 1e6)
    return formatv("{0:f2} ms", Ns / 1e6);
  return formatv("{0:f1} us", Ns / 1e3);
}

/// Prints \p Topic, and after it \p Text, wrapped into lines of at most LineColumns that are
/// aligned with its start.
void printWrapped(llvm::StringRef Topic, llvm::StringRef Text, llvm::raw_ostream &OS) {
  std::string Line = "  " + Topic.str();
  Line.resize(std::max(Line.size() + 1, TopicColumns), ' ');
  const std::string Indent(Line.size(), ' ');
  bool Empty = true;
  for (llvm::StringRef Word : llvm::split(Text, ' ')) {
    if (!Empty && Line.size() + 1 + Word.size() > LineColumns) {
      OS << Line << "\n";
      Line = Indent;
      Empty = true;
    }
    Line += (Empty ? "" : " ") + Word.str();
    Empty = false;
  }
  OS << Line << "\n";
}

std::string boundText(const Finding &F) {
  if (!F.AtMost)
    return "";
  if (F.Measured)
    return formatv("; measured: {0:f2} times as fast", *F.AtMost);
  return formatv("; at most {0:f2} times as fast", *F.AtMost);
}

void printFindings(const std::vector<Finding> &Findings, llvm::raw_ostream &OS) {
  for (const Finding &F : Findings)
    printWrapped(F.Topic, F.Text + boundText(F), OS);
}

/// Prints what carve tried, each text once, and then what is left to the author.
void printConsequences(const std::vector<Finding> &Findings, const std::string &Tried,
                       llvm::raw_ostream &OS) {
  printWrapped("carve tried", Tried, OS);
  std::vector<std::string> Said{Tried};
  for (const Finding &F : Findings)
    if (F.Measured && !llvm::is_contained(Said, F.Tried)) {
      printWrapped("", F.Topic + ": " + F.Tried, OS);
      Said.push_back(F.Tried);
    }
  bool First = true;
  for (const Finding &F : Findings) {
    if (F.Author.empty() || llvm::is_contained(Said, F.Author))
      continue;
    printWrapped(First ? "left to you" : "", F.Topic + ": " + F.Author, OS);
    Said.push_back(F.Author);
    First = false;
  }
}

/// Prints in how much of the run the guards of the kernel's further entries held.
void printEntries(const std::vector<EntryHold> &Entries, llvm::raw_ostream &OS) {
  for (const EntryHold &E : Entries) {
    printWrapped("further entry",
                 E.Variant + " for launches with " + E.When + ": its guard " + holdText(E.Now) +
                     (E.Tuned ? "; " + holdText(*E.Tuned) + " when it was tuned" : ""),
                 OS);
    if (std::string Warning = holdWarning(E.When, E.Tuned, E.Now); !Warning.empty())
      printWrapped("warning", Warning, OS);
  }
}

void printKernel(const KernelLimits &K, llvm::raw_ostream &OS) {
  const KernelEvidence &E = K.Evidence;
  OS << "\n" << profileName(E.Kernel) << "\n";
  OS << "  " << formatv("{0:f1} % of GPU time, ", 100 * E.Share) << E.Launches << " launches of "
     << duration(E.MeanNs) << ", grid " << extentsText(E.Shape.Grid, "x") << ", block "
     << extentsText(E.Shape.Block, "x") << ", " << E.RegsPerThread << " registers\n";
  OS << "  " << headline(K.Limit) << "\n";
  if (!K.Limit.Why.empty() && K.Limit.Kind)
    printWrapped("", K.Limit.Why, OS);
  printFindings(K.Findings, OS);
  printEntries(E.Entries, OS);
  printConsequences(K.Findings, triedText(E.Tried), OS);
}

Finding levelFinding(const KernelReport &K, const ConcurrencyLevel &Next) {
  Finding F{"next level", "", triedText(triedVariants(K)), "", std::nullopt, false};
  F.Text = formatv("{0} blocks an SM ({1} of what it holds) with at most {2} registers a thread",
                   Next.BlocksPerSm, percentText(Next.Occupancy), Next.MaxRegs);
  if (K.LeastRegs > Next.MaxRegs)
    F.Text += formatv(", and the compiler needs {0}", K.LeastRegs);
  F.Author = "fewer live values, if a cap has to spill for it";
  return F;
}

} // namespace

TriedVariants carve::triedVariants(const KernelReport &K) {
  TriedVariants T;
  T.Compiled = K.Compiled;
  T.Carved = K.Carved.size();
  T.Chosen = K.Tuned ? K.Variant : "default";
  T.Reason = K.Reason.text();
  T.LeastRegs = K.LeastRegs;
  T.MostRegs = K.MostRegs;
  for (const VariantReport &V : K.Variants) {
    if (V.Ratio <= 0 || !V.Fault.empty())
      continue;
    ++T.Timed;
    TriedVariant Its{V.Name, V.Ratio, V.RatioLow, V.RatioHigh, V.Regs, V.SpillBytes};
    if (K.Tuned && V.Name == K.Variant && K.Pairs > 0) {
      // The result of the confirmation decides, not that of screening.
      Its.Ratio = K.Ratio.Median;
      Its.Low = K.Ratio.Low;
      Its.High = K.Ratio.High;
    }
    if (!T.Best || Its.Ratio < T.Best->Ratio)
      T.Best = Its;
    bool Less = V.SpillBytes < K.SpillBefore;
    if (Less &&
        (!T.LeastSpilled || std::pair(Its.SpillBytes, Its.Ratio) <
                                std::pair(T.LeastSpilled->SpillBytes, T.LeastSpilled->Ratio)))
      T.LeastSpilled = Its;
  }
  return T;
}

std::vector<Finding> carve::reportFindings(const KernelReport &K) {
  std::vector<Finding> Findings;
  unsigned Regs = K.Tuned ? K.RegsAfter : K.RegsBefore;
  double Occupancy = K.Tuned ? K.OccupancyAfter : K.OccupancyBefore;
  unsigned Spills = K.Tuned ? K.SpillAfter : K.SpillBefore;
  TriedVariants Tried = triedVariants(K);
  if (Occupancy > 0) {
    Finding F{"occupancy", "", triedText(Tried), "", std::nullopt, false};
    F.Text = formatv("{0} registers a thread, {1} of the warps that an SM holds", Regs,
                     percentText(Occupancy));
    // Levels come by falling registers, so this is the first one that allows more warps.
    auto Next = llvm::find_if(K.Levels, [&](const ConcurrencyLevel &L) {
      return L.MaxRegs < Regs && L.Occupancy > Occupancy + 1e-6;
    });
    if (Next == K.Levels.end() && !K.Levels.empty() && Occupancy < 1)
      F.Text += "; no register cap allows more: the block's size, shared memory or the compiler's "
                "least bounds it";
    Findings.push_back(std::move(F));
    if (Next != K.Levels.end())
      Findings.push_back(levelFinding(K, *Next));
  }
  if (Spills) {
    Finding F{"spills",
              std::to_string(Spills) + " bytes spilled per thread",
              triedText(Tried),
              "fewer values alive at once: less unrolling, a split kernel, arrays with constant "
              "indices",
              std::nullopt,
              false};
    if (K.LocalBytesBefore > 0 && !K.Tuned)
      F.Text += formatv(", {0:f0} bytes with loops counted", K.LocalBytesBefore);
    if (Tried.LeastSpilled && Tried.LeastSpilled->Name != Tried.Chosen) {
      F.Text +=
          formatv("; {0} has {1} and takes {2:f3} of the default's time", Tried.LeastSpilled->Name,
                  Tried.LeastSpilled->SpillBytes, Tried.LeastSpilled->Ratio);
    }
    Findings.push_back(std::move(F));
  }
  return Findings;
}

std::string carve::headline(const KernelLimit &L) {
  if (!L.Kind)
    return "what limits it is not known: " + L.Why;
  std::string By;
  switch (*L.Kind) {
  case Limit::Launch:
    return "limited by launches: the GPU runs kernels in " + percentText(L.Share) +
           " of the time (timing)";
  case Limit::Latency:
    By = "latency: no resource is above " + percentText(L.Share) + " of its peak";
    break;
  case Limit::LocalMemory:
    By = "local memory, spills or arrays";
    if (!L.Resource.empty())
      By += ": " + L.Resource + " is at " + percentText(L.Share) + " of its peak";
    break;
  default:
    By = L.Resource + ": " + percentText(L.Share) + " of its peak";
  }
  std::string Basis = L.Basis == LimitBasis::Counters ? "counters" : "counts and timing";
  if (L.Sure == Certainty::Guessed)
    Basis += ", a guess";
  return "limited by " + By + " (" + Basis + ")";
}

std::string carve::printLimitsText(const LimitsReport &R) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << R.Workload << "\n" << R.Balance.Name;
  if (R.Balance.known())
    OS << formatv(": {0} SMs at {1:f2} GHz", R.Balance.Sms, R.Balance.ClockHz / 1e9);
  if (R.Balance.DramBytes > 0)
    OS << formatv(", memory {0:f2} TB/s, {1:f1} instructions a byte", R.Balance.DramBytes / 1e12,
                  R.Balance.instructionsPerByte());
  OS << "\n";
  if (auto Busy = R.Program.busyShare())
    OS << formatv("kernels run in {0} of {1} from the first to the last, {2} launches\n",
                  percentText(*Busy), duration(R.Program.SpanNs), R.Program.Launches);
  if (R.CountersOff)
    OS << "hardware counters: off\n";
  else if (!R.CountersRefused.empty())
    OS << "no hardware counters: " << R.CountersRefused << "\n";
  if (!R.ModifiedOff && !R.ModifiedRefused.empty())
    OS << "no modified kernels: " << R.ModifiedRefused << "\n";
  for (const std::string &Note : R.Notes)
    OS << "note: " << Note << "\n";
  for (const KernelLimits &K : R.Kernels)
    printKernel(K, OS);
  return Text;
}
