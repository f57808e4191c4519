#include "Evaluate/KnobGainsReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace carve;

/// The share of the gain that is lost without a knob, in the logarithm of time.
static double lostShare(const KnobGains &All, const KnobGain &Knob) {
  return All.Speedup > 1 ? 1 - std::log(Knob.Without) / std::log(All.Speedup) : 0;
}

std::string carve::printKnobGainsText(const KnobGains &G) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  size_t Width = 4;
  for (const KnobGain &K : G.Knobs)
    Width = std::max(Width, K.Knob.size());
  OS << llvm::formatv("{0} program(s), {1} kernels timed, {2} tuned, {3:F4} times as fast in the "
                      "geometric mean\n\n",
                      G.Programs, G.Kernels, G.Tuned, G.Speedup);
  OS << llvm::left_justify("knob", Width) << "  timed  alone  beside  without     lost\n";
  for (const KnobGain &K : G.Knobs)
    OS << llvm::left_justify(K.Knob, Width)
       << llvm::format("  %5u  %5u  %6u  %7.4f  %5.1f %%\n", K.Timed, K.Alone, K.Beside, K.Without,
                       100 * lostShare(G, K));
  OS << "\ntimed: kernels of which a variant with this knob was timed\n"
        "alone, beside: kernels whose winner sets this knob alone, or beside others\n"
        "without: the speedup if the fastest other variants that were timed took the place of "
        "these winners\n"
        "lost: the share of the gain that is lost then, in logarithm of time\n";
  return Text;
}

std::string carve::printKnobGainsJson(const KnobGains &G) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("programs", G.Programs);
    J.attribute("kernels", G.Kernels);
    J.attribute("tuned", G.Tuned);
    J.attribute("speedup", G.Speedup);
    J.attributeArray("knobs", [&] {
      for (const KnobGain &K : G.Knobs)
        J.object([&] {
          J.attribute("name", K.Knob);
          J.attribute("timed", K.Timed);
          J.attribute("alone", K.Alone);
          J.attribute("beside", K.Beside);
          J.attribute("without", K.Without);
          J.attribute("lost", lostShare(G, K));
        });
    });
  });
  OS << "\n";
  return Text;
}
