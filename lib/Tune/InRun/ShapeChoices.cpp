#include "Tune/InRun/ShapeChoices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <set>

using namespace carve;

std::string carve::launchTimeText(double Ns) {
  if (Ns < 1e3)
    return llvm::formatv("{0:f0} ns", Ns);
  if (Ns < 1e6)
    return llvm::formatv(Ns < 10e3 ? "{0:f1} us" : "{0:f0} us", Ns / 1e3);
  if (Ns < 1e9)
    return llvm::formatv(Ns < 10e6 ? "{0:f1} ms" : "{0:f0} ms", Ns / 1e6);
  return llvm::formatv("{0:f1} s", Ns / 1e9);
}

ShapeChoices::ShapeChoices(const TracedKernel &Kernel)
    : Launched(dividedShapes(Kernel)), OneByOne(timedShapes(Kernel)),
      Segmented(segmentedShapes(Kernel)), TracedShapes(Kernel.Shapes.size()),
      TracedNs(tracedNs(Kernel)) {
  for (size_t Count : RepresentativeCounts)
    Representatives[Count] = representativeShapes(Kernel, Count);
}

double ShapeChoices::covered(llvm::ArrayRef<TimedShape> Of) const {
  return groupNs(Of) / std::max(1.0, TracedNs);
}

/// How many shapes \p Of are if the classes of one count as one, as they do for the user.
static size_t undivided(llvm::ArrayRef<TimedShape> Of) {
  std::set<LaunchShape> Shapes;
  for (const TimedShape &S : Of)
    Shapes.insert(S.Shape.undivided());
  return Shapes.size();
}

std::string ShapeChoices::coverage(llvm::ArrayRef<TimedShape> Of) const {
  const char *Format = llvm::any_of(Of, [](const TimedShape &S) { return S.isRepresentative(); })
                           ? "{0} launch shapes, of which {1} stand for {2:f0} % of its time"
                           : "{0} launch shapes, of which the first {1} have {2:f0} % of its time";
  return llvm::formatv(Format, TracedShapes, undivided(Of), 100 * covered(Of));
}

std::string ShapeChoices::representatives(llvm::ArrayRef<TimedShape> Of) const {
  size_t Known = 0;
  for (const TimedShape &S : Of)
    Known += 1 + S.StandsFor.size();
  if (Known == Of.size())
    return "";
  // Sums of the same numbers in another order differ by less.
  constexpr double Rounding = 1e-6;
  double Covered = covered(Of);
  bool ForAll = Known == Launched.size() && Covered >= 1 - Rounding;
  std::string What = llvm::formatv("{0:f0} % of its time", 100 * Covered);
  return llvm::formatv("; {0} of {1} launch shapes, which stand for {2}", undivided(Of),
                       undivided(Launched), ForAll ? "all" : What);
}

std::string carve::classesText(llvm::ArrayRef<TimedShape> Of) {
  auto Segments = llvm::count_if(Of, [](const TimedShape &S) { return S.isSegment(); });
  auto Classes =
      llvm::count_if(Of, [](const TimedShape &S) { return S.Shape.Class > 0 && !S.isSegment(); });
  std::string Text;
  if (Classes > 0)
    Text += Classes == 1 ? "; one class by arguments"
                         : "; " + std::to_string(Classes) + " classes by arguments";
  if (Segments > 0)
    Text += "; " + std::to_string(Segments) + (Segments == 1 ? " segment" : " segments");
  return Text;
}
