// There are few shapes and few guards that could tell them apart, so all sets of up to three guards
// are tried. For given guards, the best code of each does not depend on the others.

#include "Tune/InRun/ComposedVariants.h"

#include "Tune/InRun/LaunchDivision.h"
#include "Tune/InRun/TimedShapes.h"
#include "Tune/Job/GuardHolds.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace carve;

using Dimensions = std::array<uint32_t, 3>;

namespace {

/// The launches with one block and grid, which a guard can tell from all others. Without a grid,
/// the launches of a block whose shapes have representatives or are some: they were not timed grid
/// by grid, so no guard is to name one of their grids.
struct LaunchClass {
  Dimensions Block;
  std::optional<Dimensions> Grid;
  std::vector<size_t> Shapes; ///< Their shapes that were timed, by number.
  double TotalNs = 0;         ///< The default's time of these shapes.
};

/// Some launches that are to have a code of their own: those with one block, and with one grid if
/// it is set.
struct ClassGuard {
  Dimensions Block;
  std::optional<Dimensions> Grid;
};

/// What launches of one shape run of a variant.
struct Part {
  std::optional<size_t> Code; ///< The number of a code; absent for nvcc's, or if it depends.
  double Ns = HUGE_VAL;       ///< The time of all these launches, if it is known.
};

/// A code for some launches, and the time that they take with it.
struct TimedCode {
  Composition::Code Code;
  double Ns = HUGE_VAL;
};

/// Codes for some of the launches.
struct CodeChoice {
  std::vector<Composition::Code> Codes; ///< In the order in which launches are compared with them.
  double Ns = HUGE_VAL; ///< The time of all launches, with the default for the rest.
  /// How many codes are for what others leave of a block.
  size_t Remainders = 0;
};

class Composer {
public:
  Composer(const TracedKernel &Kernel, llvm::ArrayRef<JobVariant> Variants,
           const InRunOutcome &Outcome, const InRunLimits &Limits)
      : Kernel(Kernel), Variants(Variants), Outcome(Outcome), Limits(Limits) {}

  Composition compose();

private:
  std::optional<RatioInterval> ratioOf(size_t Variant, size_t Shape) const;
  LaunchClass &classOf(const Dimensions &Block, std::optional<Dimensions> Grid);
  void findClasses();
  void findBest();
  double expectedNs(size_t Variant, size_t Shape) const;
  std::optional<size_t> codeAt(size_t Variant, size_t Shape);
  void findParts();
  std::vector<ClassGuard> guards() const;
  std::vector<size_t> shapesOf(const ClassGuard &Guard, llvm::ArrayRef<ClassGuard> Before) const;
  TimedCode bestCode(const ClassGuard &Guard, llvm::ArrayRef<size_t> Shapes) const;
  CodeChoice choiceFor(std::vector<ClassGuard> Guards) const;
  CodeChoice bestChoice(llvm::ArrayRef<ClassGuard> All, size_t Count) const;

  const TracedKernel &Kernel;
  llvm::ArrayRef<JobVariant> Variants;
  const InRunOutcome &Outcome;
  const InRunLimits &Limits;
  std::vector<LaunchClass> Classes; ///< Those that were timed, by falling time.
  size_t Best = DefaultPlace;       ///< The variant that takes the least time for all launches.
  double TotalNs = 0, BestNs = 0;   ///< The time of all launches, with the default and with Best.
  std::vector<Composition::Code> Codes; ///< The different codes of all variants.
  std::vector<std::vector<Part>> Parts; ///< By variant and shape.
};

} // namespace

/// The time of \p Variant over the default's at shape number \p Shape, if it was timed there.
std::optional<RatioInterval> Composer::ratioOf(size_t Variant, size_t Shape) const {
  const std::vector<RatioInterval> &Ratios = Outcome.Shapes[Shape].Ratios;
  if (Variant >= Ratios.size() || Ratios[Variant].Median <= 0)
    return std::nullopt;
  return Ratios[Variant];
}

/// The class of launches with \p Block and \p Grid, which may be new.
LaunchClass &Composer::classOf(const Dimensions &Block, std::optional<Dimensions> Grid) {
  auto Own = llvm::find_if(
      Classes, [&](const LaunchClass &C) { return C.Block == Block && C.Grid == Grid; });
  return Own == Classes.end() ? Classes.emplace_back(LaunchClass{Block, Grid, {}, 0}) : *Own;
}

void Composer::findClasses() {
  std::set<std::pair<Dimensions, Dimensions>> Alone; // Blocks and grids of shapes in no group.
  for (size_t S = 0; S < Kernel.Shapes.size(); ++S)
    if (!Outcome.Shapes[S].InGroup && ratioOf(DefaultPlace, S))
      Alone.insert({Kernel.Shapes[S].Shape.Block, Kernel.Shapes[S].Shape.Grid});
  for (size_t S = 0; S < Kernel.Shapes.size(); ++S) {
    TotalNs += Outcome.Shapes[S].TotalNs;
    const LaunchShape &Shape = Kernel.Shapes[S].Shape;
    if (!ratioOf(DefaultPlace, S) || Shape.Grid[0] == 0) // That is of launches of many shapes.
      continue;
    // A guard does not tell dynamic shared memory apart, so such a shape may be in no group and
    // another one with its block and grid in one.
    bool HasGrid = Alone.count({Shape.Block, Shape.Grid}) > 0;
    LaunchClass &Own = classOf(Shape.Block, HasGrid ? std::optional(Shape.Grid) : std::nullopt);
    Own.Shapes.push_back(S);
    Own.TotalNs += Outcome.Shapes[S].TotalNs;
  }
  llvm::stable_sort(
      Classes, [](const LaunchClass &A, const LaunchClass &B) { return A.TotalNs > B.TotalNs; });
}

/// Finds the variant with the least time over all shapes. Where it was not timed, the default runs.
void Composer::findBest() {
  BestNs = TotalNs;
  for (size_t V = FirstPlace; V < Variants.size(); ++V) {
    double Ns = 0;
    bool Timed = false;
    for (size_t S = 0; S < Outcome.Shapes.size(); ++S) {
      std::optional<RatioInterval> Ratio = ratioOf(V, S);
      Timed |= Ratio.has_value();
      Ns += Outcome.Shapes[S].TotalNs * Ratio.value_or(RatioInterval()).Median;
    }
    if (!Timed || Outcome.isRejected(V) || Ns >= BestNs)
      continue;
    BestNs = Ns;
    Best = V;
  }
}

/// The time of all launches with shape number \p Shape if they run \p Variant. It is HUGE_VAL if
/// the variant was not timed there.
double Composer::expectedNs(size_t Variant, size_t Shape) const {
  double ShapeNs = Outcome.Shapes[Shape].TotalNs;
  std::optional<RatioInterval> Own = ratioOf(Variant, Shape);
  if (!Own)
    return Variant == DefaultPlace ? ShapeNs : HUGE_VAL;
  RatioInterval OfBest = ratioOf(Best, Shape).value_or(RatioInterval());
  bool Overlap = Own->Low <= OfBest.High && OfBest.Low <= Own->High;
  return ShapeNs * (Overlap ? OfBest.Median : Own->Median);
}

/// The code that all launches with shape number \p Shape run of \p Variant; nothing if they run the
/// default, or if it depends on more than the shape.
std::optional<size_t> Composer::codeAt(size_t Variant, size_t Shape) {
  const JobVariant &V = Variants[Variant];
  Composition::Code Own{{}, V.Setting};
  if (!V.Codes.empty()) {
    std::vector<EntryGuard> Guards;
    for (const GuardedCode &C : V.Codes)
      Guards.push_back(guardFor(C.Launch));
    std::optional<size_t> Number = entryOf(Guards, Kernel, Kernel.Shapes[Shape]);
    if (!Number)
      return std::nullopt;
    Own = {V.Codes[*Number].Launch, V.Codes[*Number].Setting};
  }
  size_t Number = llvm::find(Codes, Own) - Codes.begin();
  if (Number == Codes.size())
    Codes.push_back(std::move(Own));
  return Number;
}

void Composer::findParts() {
  Parts.resize(Variants.size());
  for (size_t V = 0; V < Variants.size(); ++V) {
    Parts[V].resize(Kernel.Shapes.size());
    bool MayBePart = V >= FirstPlace && !Variants[V].OnlyTimed && !isComposed(Variants[V]) &&
                     !Outcome.isRejected(V);
    for (size_t S = 0; S < Kernel.Shapes.size(); ++S) {
      Parts[V][S].Ns = expectedNs(V, S);
      if (MayBePart && Parts[V][S].Ns < HUGE_VAL)
        Parts[V][S].Code = codeAt(V, S);
    }
  }
}

/// The guards that could be: of each block first, which are for more launches, then of each class.
std::vector<ClassGuard> Composer::guards() const {
  std::vector<ClassGuard> All;
  for (const LaunchClass &C : Classes)
    if (llvm::none_of(All, [&](const ClassGuard &G) { return G.Block == C.Block; }))
      All.push_back({C.Block, std::nullopt});
  for (const LaunchClass &C : Classes)
    if (C.Grid)
      All.push_back({C.Block, C.Grid});
  return All;
}

/// The timed shapes that \p Guard lets through and none of \p Before.
std::vector<size_t> Composer::shapesOf(const ClassGuard &Guard,
                                       llvm::ArrayRef<ClassGuard> Before) const {
  std::vector<size_t> Shapes;
  for (const LaunchClass &C : Classes) {
    auto Holds = [&](const ClassGuard &G) {
      return G.Block == C.Block && (!G.Grid || G.Grid == C.Grid);
    };
    if (Holds(Guard) && llvm::none_of(Before, Holds))
      llvm::append_range(Shapes, C.Shapes);
  }
  return Shapes;
}

/// The code that takes the least time at \p Shapes, among the variants of which all these launches
/// run the same code. Ns is HUGE_VAL if no variant does.
TimedCode Composer::bestCode(const ClassGuard &Guard, llvm::ArrayRef<size_t> Shapes) const {
  std::optional<size_t> Code;
  double Least = HUGE_VAL;
  for (size_t V = FirstPlace; V < Variants.size(); ++V) {
    std::optional<size_t> Own = Parts[V][Shapes.front()].Code;
    double Ns = 0;
    for (size_t S : Shapes)
      Ns += Own && Parts[V][S].Code == Own ? Parts[V][S].Ns : HUGE_VAL;
    // Of equals, the best for all launches is taken.
    if (Ns < Least || (Ns == Least && Ns < HUGE_VAL && V == Best)) {
      Code = Own;
      Least = Ns;
    }
  }
  if (!Code)
    return {};
  TimedCode Found{Codes[*Code], Least};
  Found.Code.Launch.Block = Guard.Block;
  if (Guard.Grid)
    Found.Code.Launch.Grid = Guard.Grid;
  return Found;
}

/// The best codes for \p Guards, of which each needs one.
CodeChoice Composer::choiceFor(std::vector<ClassGuard> Guards) const {
  // A launch takes the first that is for it, so what names a grid has to come first.
  llvm::stable_sort(Guards, [](const ClassGuard &A, const ClassGuard &B) {
    return A.Grid.has_value() > B.Grid.has_value();
  });
  CodeChoice Choice;
  Choice.Ns = 0;
  std::vector<bool> Left(Kernel.Shapes.size(), true);
  for (size_t G = 0; G < Guards.size(); ++G) {
    std::vector<size_t> Shapes = shapesOf(Guards[G], llvm::ArrayRef(Guards).take_front(G));
    TimedCode Own = Shapes.empty() ? TimedCode() : bestCode(Guards[G], Shapes);
    Choice.Codes.push_back(std::move(Own.Code));
    Choice.Ns += Own.Ns;
    Choice.Remainders +=
        llvm::any_of(llvm::ArrayRef(Guards).take_front(G),
                     [&](const ClassGuard &B) { return B.Block == Guards[G].Block; }) &&
        !Guards[G].Grid;
    for (size_t S : Shapes)
      Left[S] = false;
  }
  for (size_t S = 0; S < Left.size(); ++S)
    if (Left[S])
      Choice.Ns += Parts[DefaultPlace][S].Ns;
  return Choice;
}

/// The best choice with \p Count guards of \p All. Of equals, it is one that guards by the block
/// alone only where that tells the launches apart, and of these the first.
CodeChoice Composer::bestChoice(llvm::ArrayRef<ClassGuard> All, size_t Count) const {
  // Sums of the same numbers in another order differ by less.
  const double Rounding = 1e-9 * TotalNs;
  CodeChoice Least;
  std::vector<bool> Chosen(All.size());
  std::fill_n(Chosen.begin(), Count, true);
  do {
    std::vector<ClassGuard> Guards;
    for (size_t G = 0; G < All.size(); ++G)
      if (Chosen[G])
        Guards.push_back(All[G]);
    CodeChoice Choice = choiceFor(std::move(Guards));
    if (Choice.Ns < Least.Ns - Rounding ||
        (Choice.Ns <= Least.Ns + Rounding && Choice.Remainders < Least.Remainders))
      Least = std::move(Choice);
  } while (std::prev_permutation(Chosen.begin(), Chosen.end()));
  return Least;
}

Composition Composer::compose() {
  if (Outcome.Shapes.size() != Kernel.Shapes.size())
    return {};
  findClasses();
  if (Classes.size() < 2 || Classes.size() > MostTimedShapes)
    return {};
  findBest();
  findParts();
  std::vector<ClassGuard> All = guards();
  CodeChoice Chosen;
  for (size_t Count = 1; Count <= std::min(MostFurtherEntries, All.size()); ++Count) {
    CodeChoice More = bestChoice(All, Count);
    if (Chosen.Codes.empty() || More.Ns <= Chosen.Ns - Limits.LeastMargin * TotalNs)
      Chosen = std::move(More);
  }
  if (Chosen.Codes.empty() || Chosen.Ns > Limits.WinningRatio * BestNs)
    return {};
  std::vector<EntryGuard> Guards;
  for (const Composition::Code &C : Chosen.Codes)
    Guards.push_back(guardFor(C.Launch));
  bool WithDefault = llvm::any_of(
      Kernel.Shapes, [&](const KernelLaunches &L) { return !entryOf(Guards, Kernel, L); });
  std::string Name = compositionName(Chosen.Codes, WithDefault);
  return {std::move(Name), std::move(Chosen.Codes), (BestNs - Chosen.Ns) / TotalNs};
}

Composition carve::composeOfShapes(const TracedKernel &Kernel, llvm::ArrayRef<JobVariant> Variants,
                                   const InRunOutcome &Outcome, const InRunLimits &Limits) {
  const TracedKernel Divided = divideBySegments(Kernel).Kernel;
  return Composer(Divided, Variants, Outcome, Limits).compose();
}
