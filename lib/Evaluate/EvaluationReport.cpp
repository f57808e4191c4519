#include "Evaluate/EvaluationReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace carve;
namespace json = llvm::json;

namespace {

/// One way to choose rows: its key in JSON, its title in the table, and its speedup.
struct Way {
  llvm::StringLiteral Key, Title;
  double Speedups::*Value;
};
constexpr Way Ways[] = {
    {"per_file", "per file", &Speedups::PerFile},
    {"critical_points", "points", &Speedups::CriticalPoints},
    {"carved", "carved", &Speedups::Carved},
    {"everything", "everything", &Speedups::Everything},
    {"random", "random", &Speedups::Random},
};

void printSpeedups(json::OStream &J, const Speedups &S) {
  for (const Way &W : Ways)
    J.attribute(W.Key, S.*W.Value);
}

void printLine(llvm::raw_ostream &OS, llvm::StringRef Name, size_t Width, const Speedups &S) {
  OS << llvm::left_justify(Name, Width);
  for (const Way &W : Ways)
    OS << "  " << llvm::format("%*.4f", int(std::max<size_t>(W.Title.size(), 8)), S.*W.Value);
}

/// Prints which share of the gain of all rows the way \p W finds, in the logarithm of time.
void printShare(llvm::raw_ostream &OS, const SweepEvaluation &E, const Way &W) {
  double Whole = std::log(E.Geomean.Everything);
  if (Whole > 0)
    OS << llvm::formatv("  {0,-10} {1,6:F1} %\n", W.Title,
                        100 * std::log(E.Geomean.*W.Value) / Whole);
}

} // namespace

std::string carve::printEvaluationJson(const SweepEvaluation &E) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attributeArray("programs", [&] {
      for (const ProgramEvaluation &P : E.Programs)
        J.object([&] {
          J.attribute("name", json::fixUTF8(P.Name));
          printSpeedups(J, P.Found);
          J.attribute("max_timed", P.MaxTimed);
          J.attribute("seconds", P.Seconds);
        });
    });
    J.attributeObject("geomean", [&] { printSpeedups(J, E.Geomean); });
    J.attributeArray("curve", [&] {
      for (const CurvePoint &P : E.Curve)
        J.object([&] {
          J.attribute("part", P.Part);
          J.attribute("seconds", P.Seconds);
          J.attribute("carved", P.Carved);
        });
    });
  });
  OS << "\n";
  return Text;
}

std::string carve::printEvaluationText(const SweepEvaluation &E) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  constexpr llvm::StringLiteral First = "program", Last = "geometric mean";
  size_t Width = Last.size();
  unsigned MaxTimed = 0, Timed = 0, Kernels = 0;
  for (const ProgramEvaluation &P : E.Programs) {
    Width = std::max(Width, P.Name.size());
    MaxTimed = std::max(MaxTimed, P.MaxTimed);
    Timed += P.Timed;
    Kernels += P.HotKernels;
  }
  OS << llvm::left_justify(First, Width);
  for (const Way &W : Ways)
    OS << "  " << llvm::right_justify(W.Title, 8);
  OS << "  kernels  timed  at most  seconds\n";
  for (const ProgramEvaluation &P : E.Programs) {
    printLine(OS, P.Name, Width, P.Found);
    OS << llvm::format("  %7u  %5u  %7u  %7.1f\n", P.HotKernels, P.Timed, P.MaxTimed, P.Seconds);
  }
  printLine(OS, Last, Width, E.Geomean);
  OS << llvm::format("  %7u  %5u  %7u\n", Kernels, Timed, MaxTimed);
  OS << "\nspeedups over nvcc's default\n"
        "kernels: with at least 0.1 % of the program's GPU time\n"
        "timed: rows of all these kernels; at most: rows of one kernel\n"
        "seconds: of the tuning, if runs took as long as their kernels\n";
  if (E.Geomean.Everything > 1) {
    OS << "share of the gain of everything, in logarithm of time:\n";
    for (const Way &W : Ways)
      if (W.Value != &Speedups::Everything)
        printShare(OS, E, W);
    OS << "the same of carved in parts of the budget, with the mean of the seconds:\n";
    for (const CurvePoint &P : E.Curve)
      OS << llvm::formatv("  1/{0,-8} {1,6:F1} %  {2,6:F1} s\n", std::lround(1 / P.Part),
                          100 * std::log(P.Carved) / std::log(E.Geomean.Everything), P.Seconds);
  }
  for (const std::string &Name : E.LeftOut)
    OS << "left out, no time of the default: " << Name << "\n";
  return Text;
}
