#include "Tune/InRun/ModeChoice.h"

#include "Protocol/GraphRotation.h"
#include "Tune/InRun/LaunchDivision.h"
#include "Tune/InRun/RoundBudget.h"
#include "Tune/InRun/ShapeChoices.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

using namespace carve;

/// If the timed shapes and what they stand for have a smaller share of the kernel's time, too
/// little is known of it.
static constexpr double LeastCoverage = 0.5;
/// So many variants are enough to search among. Only for them there are fewer representatives.
static constexpr size_t EnoughVariants = 24;
/// Every variant runs once in a cycle. With fewer cycles, medians of pairs mean little.
static constexpr uint64_t LeastCycles = 8;
/// Shapes with this share of the timed shapes' time must have enough cycles, and launches that are
/// alike.
static constexpr double RotatedShare = 0.8;
/// A launch shorter than this is timed more accurately in its place in the program than between a
/// restore and a flush of L2: filling L2 takes some 20 us, and what the kernels before it have left
/// there, a variant may use better than the default does. With at least so many cycles, rotating
/// costs nothing. If its launches take different times, a median over all of them says little about
/// their sum, and a replay of typical launches says more. Such a launch is rotated only if
/// restoring memory and flushing L2 would take longer than the launch itself.
static constexpr double ShortNs = 100e3, ShortIfDifferentNs = LeastSegmentedNs;
static constexpr uint64_t ManyCycles = 16;

static constexpr char Overlaps[] = "overlaps with its neighbours by programmatic launches";

namespace {

/// Why a kernel is not replayed, and why rotating helps. The report prints both.
struct Obstacle {
  std::string What, Remedy;
};

/// Decides for one kernel.
class Chooser {
public:
  /// \p Counts are the numbers of representatives to try: the first that will do is taken. \p
  /// BySegments: shapes are divided into segments if they have some and there is time for it.
  Chooser(const ModeQuestion &Q, const ModeLimits &Limits, const ShapeChoices &Of,
          llvm::ArrayRef<size_t> Counts, bool BySegments)
      : Q(Q), Limits(Limits), All(Of), Shapes(Of.OneByOne), Counts(Counts),
        HasSegments(!Of.Segmented.empty() && !Q.Earlier.StoodBack),
        BySegments(BySegments && HasSegments) {}
  ModeChoice choose() const;
  bool mayCompare() const {
    return (Limits.Request == ModeRequest::Auto || Limits.Request == ModeRequest::Replay) &&
           !whyFixed() && !whyNotReplay();
  }

private:
  std::optional<std::string> whyInGraphs() const;
  bool rotatesInGraphs() const;
  bool overlaps() const;
  std::optional<std::string> whyFixed() const;
  std::optional<Obstacle> whyNotReplay() const;
  std::optional<Obstacle> kernelObstacle() const;
  std::optional<Obstacle> programObstacle() const;
  bool calls(HazardKind Hazard) const { return Q.Trace.Hazards.count(Hazard) > 0; }

  bool hasCycles(const TimedShape &Shape, uint64_t Cycles) const {
    return Shape.Launches >= Cycles * Q.Variants;
  }
  bool mostHaveCycles(llvm::ArrayRef<TimedShape> Of, uint64_t Cycles) const;
  bool isShort() const;
  double verifyS() const;
  double replayS(llvm::ArrayRef<TimedShape> Of) const;
  std::string launches() const;

  ModeChoice fixed(std::string Reason) const;
  ModeChoice rotate(std::string Reason) const;
  ModeChoice rotateOrFixed(const Obstacle &Why) const;
  ModeChoice otherForTime(double ReplayS, llvm::ArrayRef<TimedShape> Of) const;
  ModeChoice replay(TimingMode Mode, llvm::ArrayRef<TimedShape> Of, double Seconds) const;
  ModeChoice replayOrOther() const;

  const ModeQuestion &Q;
  const ModeLimits &Limits;
  const ShapeChoices &All;
  const std::vector<TimedShape> &Shapes; ///< ShapeChoices::OneByOne.
  llvm::ArrayRef<size_t> Counts;
  bool HasSegments, BySegments;
};

/// Why graphs with the kernel are not launched node by node; nothing if all are.
std::optional<std::string> Chooser::whyInGraphs() const {
  if (!Q.Trace.GraphLaunches.count(Q.Traced.Kernel))
    return std::nullopt;
  return Q.Trace.whyInGraphs(Q.Traced.Kernel);
}

/// Whether variants can be rotated in these graphs. A graph whose kernels are not known may also
/// launch the kernel and take no part, and its times would be taken for those of the default.
bool Chooser::rotatesInGraphs() const {
  auto It = Q.Trace.StayingGraphs.find(Q.Traced.Kernel);
  return It != Q.Trace.StayingGraphs.end() && rotatesAsGraph(It->second) &&
         !Q.Trace.StayingGraphs.count("-");
}

/// Whether the kernel may run beside its neighbours by programmatic dependent launch. The times of
/// its own launches then have a part of the neighbours' time in them, so it is never rotated. A
/// replay runs it alone; what the overlap leaves of a gain shows in the confirmation.
bool Chooser::overlaps() const {
  return Q.Trace.Programmatic.count(Q.Traced.Kernel) ||
         (Q.Hazards.Programmatic && !Q.Trace.Programmatic.empty());
}

/// Why only whole runs can show what a variant does to the kernel; nothing if a timing run can,
/// too.
std::optional<std::string> Chooser::whyFixed() const {
  const std::string &Kernel = Q.Traced.Kernel;
  if (Q.Variants < 3)
    return std::string("no variant of its own");
  if (auto Why = whyInGraphs(); Why && !rotatesInGraphs())
    return Why;
  // A program may also ask for other attributes of a kernel (ProbeRecord::Queried). That is no
  // reason: the confirmation shows what the program makes of them, as it does for every nominee.
  if (Q.Trace.SizedByOccupancy.count(Kernel))
    return std::string("the program asks for its occupancy");
  if (Shapes.empty())
    return std::string("its launch shapes were not told apart");
  if (Limits.Request != ModeRequest::Auto || All.covered(Shapes) >= LeastCoverage)
    return std::nullopt;
  const std::vector<TimedShape> &Most = All.Representatives.at(MostTimedShapes);
  return All.covered(Most) < LeastCoverage ? std::optional(All.coverage(Most)) : std::nullopt;
}

std::optional<Obstacle> Chooser::kernelObstacle() const {
  const KernelHazards &H = Q.Hazards;
  if (H.Printf)
    return Obstacle{"device printf", "so that each line is printed once"};
  if (H.DeviceHeap)
    return Obstacle{"allocates on the device", "as that heap cannot be saved"};
  if (H.DeviceLaunch)
    return Obstacle{"launches from the device", "so that each launch happens once"};
  if (H.SurfaceWrites)
    return Obstacle{"writes surfaces", "as arrays cannot be saved"};
  if (H.Multimem)
    return Obstacle{"reduces over several GPUs", "as their memory cannot be restored"};
  if (H.SystemScope)
    return Obstacle{"shares memory with the host or other GPUs", "as they may see each run of it"};
  if (H.ManagedVariable)
    return Obstacle{"uses a managed variable", "as the host may touch it"};
  if (!H.External.empty())
    return Obstacle{"calls " + H.External.front() + ", whose code is not known",
                    "as it may do anything"};
  return std::nullopt;
}

std::optional<Obstacle> Chooser::programObstacle() const {
  if (calls(HazardKind::Ipc))
    return Obstacle{"the program shares memory with other processes",
                    "as they may see each run of it"};
  if (calls(HazardKind::Peer))
    return Obstacle{"the program's GPUs use each other's memory",
                    "as another one may see each run of it"};
  // A replay waits for the streams of the kernel's own context.
  if (calls(HazardKind::Gpus))
    return Obstacle{"a process uses several GPUs", "as copies between them may be under way"};
  if (Q.DeviceHeap)
    return Obstacle{"another kernel allocates on the device", "as that heap cannot be saved"};
  return std::nullopt;
}

std::optional<Obstacle> Chooser::whyNotReplay() const {
  if (auto Why = whyInGraphs())
    return Obstacle{*Why, "by exchanging the kernels of their nodes"};
  if (auto Why = kernelObstacle())
    return Why;
  return programObstacle();
}

bool Chooser::mostHaveCycles(llvm::ArrayRef<TimedShape> Of, uint64_t Cycles) const {
  double Ns = 0;
  for (const TimedShape &S : Of)
    Ns += hasCycles(S, Cycles) ? S.groupNs() : 0;
  return Ns > 0 && Ns >= RotatedShare * groupNs(Of);
}

bool Chooser::isShort() const {
  uint64_t Launches = 0;
  double AlikeNs = 0;
  for (const TimedShape &S : Shapes) {
    Launches += S.Launches;
    AlikeNs += S.Typical ? 0 : S.groupNs();
  }
  const bool Alike = AlikeNs >= RotatedShare * groupNs(Shapes) && All.Segmented.empty();
  return groupNs(Shapes) < (Alike ? ShortNs : ShortIfDifferentNs) * double(Launches);
}

/// Seconds that it takes to compare all variants once per shape.
double Chooser::verifyS() const {
  double Seconds = 0;
  for (const TimedShape &S : Shapes)
    Seconds += comparisonS(Q.Variants, S.replayedNs(), Q.Earlier.Costs);
  return Seconds;
}

double Chooser::replayS(llvm::ArrayRef<TimedShape> Of) const {
  double Seconds = 0;
  for (const TimedShape &S : Of)
    Seconds += shortestReplayS(Q.Variants, S.replayedNs(), Q.Earlier.Costs);
  return Seconds;
}

/// The kernel's launches as text, such as `12000 launches of 4.0 us`.
std::string Chooser::launches() const {
  double Mean = All.TracedNs / double(std::max<uint64_t>(1, Q.Traced.Launches));
  return std::to_string(Q.Traced.Launches) +
         (Q.Traced.Launches == 1 ? " launch of " : " launches of ") + launchTimeText(Mean);
}

ModeChoice Chooser::fixed(std::string Reason) const {
  ModeChoice C;
  C.Reason = std::move(Reason);
  return C;
}

ModeChoice Chooser::rotate(std::string Reason) const {
  ModeChoice C;
  C.Mode = TimingMode::Rotate;
  C.Reason = std::move(Reason);
  C.MayRotate = true;
  for (const TimedShape &S : Shapes)
    if (hasCycles(S, LeastCycles))
      C.Shapes.push_back(S);
  C.Reason += classesText(C.Shapes);
  return C;
}

ModeChoice Chooser::rotateOrFixed(const Obstacle &Why) const {
  if (Limits.Request == ModeRequest::Replay)
    return fixed(Why.What);
  if (overlaps())
    return fixed(Why.What + ", and " + Overlaps);
  if (All.covered(Shapes) < LeastCoverage)
    return fixed(Why.What + ", and " + All.coverage(Shapes));
  if (mostHaveCycles(Shapes, LeastCycles))
    return rotate(Why.What + ": rotated, " + Why.Remedy);
  return fixed(Why.What + ", and too few launches to rotate (" + std::to_string(Q.Traced.Launches) +
               ")");
}

/// The choice if a replay of the shapes \p Of would take \p ReplayS seconds, and less time is left.
/// If the kernel is rotated, its outputs are compared first if there is time for it, because many
/// variants may not run otherwise. If only whole runs are left, it is replayed in their time if
/// that takes less. A whole run times a variant of every kernel at once, so only this kernel's
/// share of it counts.
ModeChoice Chooser::otherForTime(double ReplayS, llvm::ArrayRef<TimedShape> Of) const {
  const std::string Why = "a replay would take " + launchTimeText(ReplayS * 1e9);
  const std::string Left = llvm::formatv("as {0} are left", launchTimeText(Limits.ReplayS * 1e9));
  ModeChoice Other = rotateOrFixed({Why, Left});
  if (Other.Mode == TimingMode::Rotate && !Of.empty()) {
    if (Q.Earlier.Timed)
      return fixed(Why + ": not timed once more, " + Left);
    if (ReplayS <= Limits.ReplayS + Limits.BeyondS)
      return replay(TimingMode::Replay, Of, ReplayS);
  }
  if (Other.Mode == TimingMode::Rotate && verifyS() <= Limits.ReplayS) {
    ModeChoice Compared = replay(TimingMode::VerifyRotate, Shapes, verifyS());
    Compared.Reason = std::move(Other.Reason);
    Compared.OnlyCompared = true;
    return Compared;
  }
  double ByRunsS = double(Q.Variants - FirstPlace) * Limits.WholeRunS * Q.Traced.Share;
  if (Other.Mode == TimingMode::Fixed && !Of.empty() &&
      ReplayS <= std::min(ByRunsS, Limits.LongReplayS))
    return replay(TimingMode::Replay, Of, ReplayS);
  return Other;
}

ModeChoice Chooser::replay(TimingMode Mode, llvm::ArrayRef<TimedShape> Of, double Seconds) const {
  ModeChoice C;
  C.Mode = Mode;
  C.Reason = launches();
  if (Q.Hazards.SpinWait)
    C.Reason += "; waits in a loop";
  if (overlaps())
    C.Reason += std::string("; ") + Overlaps;
  C.Reason += All.representatives(Of) + classesText(Of);
  // Segments have few launches each. A later run rotates the whole shape.
  C.MayRotate = Limits.Request != ModeRequest::Replay && !overlaps() && !areSegmented(Of) &&
                mostHaveCycles(Of, LeastCycles);
  C.Shapes = Of.vec();
  C.ReplayS = Seconds;
  return C;
}

/// Replays with segments if there is time for them. Otherwise the first number of representatives
/// is taken that leaves out little of the kernel's time and that there is time for.
ModeChoice Chooser::replayOrOther() const {
  if (BySegments)
    if (double Seconds = replayS(All.Segmented); Seconds <= Limits.ReplayS)
      return replay(TimingMode::Replay, All.Segmented, Seconds);
  double Least = HUGE_VAL;
  llvm::ArrayRef<TimedShape> Fewest;
  for (size_t Count : Counts) {
    const std::vector<TimedShape> &Of = All.Representatives.at(Count);
    double Seconds = replayS(Of);
    if (Limits.Request == ModeRequest::Auto && All.covered(Of) < LeastCoverage)
      continue;
    if (Limits.Request == ModeRequest::Replay || Seconds <= Limits.ReplayS)
      return replay(TimingMode::Replay, Of, Seconds);
    if (Seconds < Least) {
      Least = Seconds;
      Fewest = Of;
    }
  }
  return otherForTime(Least, Fewest);
}

ModeChoice Chooser::choose() const {
  if (Limits.Request == ModeRequest::Fixed)
    return fixed("--mode=fixed");
  if (auto Why = whyFixed())
    return fixed(*Why);
  if (Limits.Request == ModeRequest::Rotate && overlaps())
    return fixed(Overlaps);
  if (Limits.Request == ModeRequest::Rotate)
    return mostHaveCycles(Shapes, LeastCycles)
               ? rotate("--mode=rotate")
               : fixed("too few launches to rotate (" + std::to_string(Q.Traced.Launches) + ")");
  if (auto Why = whyNotReplay())
    return rotateOrFixed(*Why);
  bool Rotates = Limits.Request == ModeRequest::Auto && !overlaps() &&
                 (isShort() || (Q.Earlier.Unlike && !HasSegments)) &&
                 All.covered(Shapes) >= LeastCoverage && mostHaveCycles(Shapes, ManyCycles);
  if (!Rotates)
    return replayOrOther();
  double Seconds = verifyS();
  return Seconds > Limits.ReplayS ? otherForTime(Seconds, {})
                                  : replay(TimingMode::VerifyRotate, Shapes, Seconds);
}

} // namespace

ModeChoice carve::chooseMode(const ModeQuestion &Question, const ModeLimits &Limits) {
  return Chooser(Question, Limits, ShapeChoices(Question.Traced), RepresentativeCounts,
                 /*BySegments=*/true)
      .choose();
}

size_t carve::timableVariants(ModeQuestion Question, const ModeLimits &Limits, size_t Most) {
  const ShapeChoices Shapes(Question.Traced);
  auto MostIn = [&](llvm::ArrayRef<size_t> Counts, bool BySegments, auto MayBeChosen) -> size_t {
    for (size_t Count = Most; Count > 0; Count = Count * 3 / 4) {
      Question.Variants = FirstPlace + Count;
      if (MayBeChosen(Chooser(Question, Limits, Shapes, Counts, BySegments).choose()))
        return Count;
    }
    return 0;
  };
  // A kernel that only rotates because there is no time to compare outputs could time more
  // variants, but none with a front-end knob would win.
  auto IsCompared = [](const ModeChoice &C) { return isReplayed(C.Mode) && !C.OnlyCompared; };
  size_t Compared = 0;
  if (!Shapes.Segmented.empty())
    Compared = MostIn(RepresentativeCounts, /*BySegments=*/true,
                      [](const ModeChoice &C) { return areSegmented(C.Shapes); });
  for (size_t Count : RepresentativeCounts)
    if (Compared < std::min(Most, EnoughVariants))
      Compared = std::max(Compared, MostIn(Count, /*BySegments=*/false, IsCompared));
  if (Compared)
    return Compared;
  return MostIn(RepresentativeCounts, /*BySegments=*/false,
                [](const ModeChoice &C) { return C.Mode != TimingMode::Fixed; });
}

bool carve::mayCompareOutputs(ModeQuestion Question, const ModeLimits &Limits) {
  Question.Variants = FirstPlace + 1;
  return Chooser(Question, Limits, ShapeChoices(Question.Traced), RepresentativeCounts,
                 /*BySegments=*/false)
      .mayCompare();
}

std::vector<ModeChoice> carve::chooseModes(const TuningJob &Job, const JobBuild &Built,
                                           const ProbeRecord &Trace, const ModeLimits &Limits,
                                           llvm::ArrayRef<size_t> GpuOf,
                                           const std::map<size_t, EarlierReplays> &Earlier) {
  std::map<size_t, double> UsedOf; // By GPU: the time that is planned.
  std::vector<ModeChoice> Choices(Job.Kernels.size());
  std::vector<ShapeChoices> Shapes;
  for (const JobKernel &K : Job.Kernels)
    Shapes.emplace_back(K.Traced);
  auto Choose = [&](size_t Number, llvm::ArrayRef<size_t> Counts, bool BySegments) {
    const JobKernel &K = Job.Kernels[Number];
    size_t Gpu = Number < GpuOf.size() ? GpuOf[Number] : 0;
    double &Used = UsedOf[Gpu];
    Used -= Choices[Number].ReplayS;
    ModeLimits Left = Limits;
    Left.ReplayS = std::max(0.0, Left.ReplayS - Used);
    // What was planned beyond the time for replays is used once.
    Left.BeyondS = std::max(0.0, Limits.ReplayS + Limits.BeyondS - Used) - Left.ReplayS;
    Left.LongReplayS = std::max(0.0, Left.LongReplayS - Used);
    auto Known = Earlier.find(Number);
    ModeQuestion Question{
        K.Traced, K.Hazards,      Built.Kernels[Number].timedTogether(),
        Trace,    Job.DeviceHeap, Known == Earlier.end() ? EarlierReplays() : Known->second};
    Choices[Number] = Chooser(Question, Left, Shapes[Number], Counts, BySegments).choose();
    Used += Choices[Number].ReplayS;
  };
  // A kernel that could have more representatives, or segments, must not take the time of those
  // after it.
  const std::vector<size_t> FewestFirst(std::rbegin(RepresentativeCounts),
                                        std::rend(RepresentativeCounts));
  for (size_t K = 0; K < Choices.size(); ++K)
    Choose(K, FewestFirst, /*BySegments=*/false);
  for (size_t K = 0; K < Choices.size(); ++K)
    if (Choices[K].Mode == TimingMode::Replay)
      Choose(K, RepresentativeCounts, /*BySegments=*/true);
  return Choices;
}
