#include "Recheck/Recheck.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

/// The variants of \p Kernel that \p Earlier decided, as far as they were timed.
static std::vector<const VariantReport *> timedOf(const KernelReport &Kernel,
                                                  const EarlierDecision &Earlier) {
  std::vector<const VariantReport *> Timed;
  for (const VariantSetting &V : Earlier.settings())
    for (const VariantReport &R : Kernel.Variants)
      if (R.Name == variantName(V) && (R.Ratio > 0 || !R.Fault.empty()))
        Timed.push_back(&R);
  return Timed;
}

/// Why none of the decided variants of \p Kernel was timed.
static std::string whyUntimed(const KernelReport &Kernel) {
  if (!Kernel.Dropped.empty())
    return Kernel.Dropped.front();
  return Kernel.Reason.empty() ? "it was not timed" : Kernel.Reason.text();
}

RecheckedKernel carve::recheckedKernel(const KernelReport &Kernel, const EarlierDecision &Earlier) {
  RecheckedKernel R;
  R.Kernel = Kernel.Kernel;
  R.Mangled = Kernel.Mangled;
  R.Share = Kernel.Share;
  R.Earlier = Earlier;
  std::vector<const VariantReport *> Timed = timedOf(Kernel, Earlier);
  if (Kernel.Tuned) {
    R.Verdict = RecheckVerdict::Holds;
    R.Now = Kernel.Ratio;
    return R;
  }
  if (Timed.empty()) {
    R.Why = whyUntimed(Kernel);
    return R;
  }
  const VariantReport &Best =
      **llvm::min_element(Timed, [](const VariantReport *A, const VariantReport *B) {
        return std::pair(!A->Fault.empty(), A->Ratio) < std::pair(!B->Fault.empty(), B->Ratio);
      });
  if (Best.Ratio > 0)
    R.Now = RatioInterval{Best.Ratio, Best.RatioLow, Best.RatioHigh};
  if (!Best.Fault.empty()) {
    R.Verdict = RecheckVerdict::Lost;
    R.Why = Best.Fault;
    return R;
  }
  R.Verdict = Best.Ratio < 1 ? RecheckVerdict::Uncertain : RecheckVerdict::Lost;
  R.Why = Kernel.Reason.empty() ? "it is not faster than nvcc's code" : Kernel.Reason.text();
  return R;
}

size_t RecheckOutcome::count(RecheckVerdict V) const {
  return size_t(llvm::count_if(Kernels, [&](const RecheckedKernel &K) { return K.Verdict == V; }));
}

RecheckOutcome carve::recheckOutcome(const TuneResult &Result) {
  const TuningReport &R = Result.Report;
  RecheckOutcome O{R.Date,  R.Workload, R.Device, R.Driver, R.NvccVersion, R.Note, R.Runs,
                   R.WallS, {},         {},       {}};
  for (const KernelReport &K : R.Kernels)
    if (auto Earlier = Result.Earlier.find(K.Mangled); Earlier != Result.Earlier.end())
      O.Kernels.push_back(recheckedKernel(K, Earlier->second));
  return O;
}

llvm::StringRef carve::nameOf(RecheckVerdict V) {
  switch (V) {
  case RecheckVerdict::Holds:
    return "holds";
  case RecheckVerdict::Uncertain:
    return "uncertain";
  case RecheckVerdict::Lost:
    return "lost";
  case RecheckVerdict::Untimed:
    break;
  }
  return "untimed";
}

/// The ratio of the tuning that decided; absent for a pin.
static std::optional<RatioInterval> ratioThen(const EarlierDecision &Earlier) {
  const std::optional<Evidence> &Basis = Earlier.Decided.Basis;
  if (!Basis || Basis->Pairs == 0)
    return std::nullopt;
  return RatioInterval{Basis->Ratio, Basis->RatioLow, Basis->RatioHigh};
}

static std::string ratioText(const std::optional<RatioInterval> &R) {
  return R ? llvm::formatv("{0:f3} [{1:f3}, {2:f3}]", R->Median, R->Low, R->High).str() : "-";
}

/// What was different when \p K was decided: device, driver, and toolkit or options.
static std::string changesSince(const RecheckedKernel &K, const RecheckOutcome &Of) {
  std::string Text;
  auto Add = [&](const std::string &Part) { Text += (Text.empty() ? "" : "; ") + Part; };
  const std::optional<Evidence> &Basis = K.Earlier.Decided.Basis;
  if (Basis && Basis->Device != Of.Device)
    Add("timed on " + Basis->Device);
  if (Basis && Basis->Driver != Of.Driver)
    Add("timed with driver " + Basis->Driver);
  if (!K.Earlier.Stale.empty())
    Add(K.Earlier.Stale);
  return Text;
}

std::string carve::printRecheckText(const RecheckOutcome &Outcome) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << Outcome.Workload << " on " << Outcome.Device << ": ";
  if (!Outcome.Note.empty()) {
    OS << "not timed: " << Outcome.Note << "\n";
    return Text;
  }
  if (Outcome.Kernels.empty()) {
    OS << "no decision on a kernel that was launched\n";
    return Text;
  }
  OS << Outcome.Kernels.size() << " decision(s), " << Outcome.count(RecheckVerdict::Holds)
     << " hold, " << Outcome.count(RecheckVerdict::Lost) << " lost, "
     << Outcome.count(RecheckVerdict::Uncertain) << " uncertain, "
     << Outcome.count(RecheckVerdict::Untimed) << " untimed\n"
     << "driver " << Outcome.Driver << ", nvcc " << Outcome.Toolkit << ", " << Outcome.Runs
     << " runs, " << llvm::formatv("{0:f1}", Outcome.WallS) << " s\n";
  if (!Outcome.Directory.empty())
    OS << "in " << Outcome.Directory << "\n";
  if (!Outcome.ProgramChange.empty())
    OS << Outcome.ProgramChange << "\n";
  for (const RecheckedKernel &K : Outcome.Kernels) {
    OS << llvm::left_justify(nameOf(K.Verdict), 10) << llvm::formatv("{0,5:f1}%", 100 * K.Share)
       << "  " << K.Kernel << ": " << decisionText(K.Earlier.Decided) << "\n            then "
       << ratioText(ratioThen(K.Earlier)) << ", now " << ratioText(K.Now) << "\n";
    if (!K.Why.empty())
      OS << "            " << K.Why << "\n";
    if (std::string Changes = changesSince(K, Outcome); !Changes.empty())
      OS << "            " << Changes << "\n";
  }
  return Text;
}

static json::Value ratioJson(const std::optional<RatioInterval> &R) {
  if (!R)
    return nullptr;
  return json::Object{{"median", R->Median}, {"low", R->Low}, {"high", R->High}};
}

json::Value carve::recheckValue(const RecheckOutcome &Outcome) {
  json::Array Kernels;
  for (const RecheckedKernel &K : Outcome.Kernels)
    Kernels.push_back(json::Object{{"kernel", json::fixUTF8(K.Kernel)},
                                   {"mangled", json::fixUTF8(K.Mangled)},
                                   {"share", K.Share},
                                   {"decided", decisionText(K.Earlier.Decided)},
                                   {"verdict", nameOf(K.Verdict)},
                                   {"then", ratioJson(ratioThen(K.Earlier))},
                                   {"now", ratioJson(K.Now)},
                                   {"reason", json::fixUTF8(K.Why)},
                                   {"changed", json::fixUTF8(changesSince(K, Outcome))}});
  json::Object Root{{"carve-recheck", 1},
                    {"date", Outcome.Date},
                    {"workload", json::fixUTF8(Outcome.Workload)},
                    {"device", json::fixUTF8(Outcome.Device)},
                    {"driver", Outcome.Driver},
                    {"nvcc-version", Outcome.Toolkit},
                    {"runs", int64_t(Outcome.Runs)},
                    {"wall-s", Outcome.WallS},
                    {"note", json::fixUTF8(Outcome.Note)},
                    {"kernels", std::move(Kernels)}};
  if (!Outcome.Directory.empty()) {
    Root["directory"] = json::fixUTF8(Outcome.Directory);
    Root["program-change"] = json::fixUTF8(Outcome.ProgramChange);
  }
  return Root;
}

std::string carve::printRecheckJson(const RecheckOutcome &Outcome) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", recheckValue(Outcome));
  return Text;
}
