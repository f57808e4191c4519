#include "Tune/InRun/ModeChoice.h"

#include "Protocol/GraphRotation.h"
#include "Tune/InRun/RoundBudget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace carve;

/// The share of a kernel's time that is timed, and the most shapes that this may take.
static constexpr double ShareTimed = 0.95;
static constexpr size_t MostShapes = 8;
/// If the timed shapes have a smaller share of the kernel's time, they are not representative.
static constexpr double LeastCoverage = 0.5;
/// Every variant runs once in a cycle. With fewer cycles, medians of pairs mean little.
static constexpr uint64_t LeastCycles = 8;
/// Shapes with this share of the timed shapes' time must have enough cycles.
static constexpr double RotatedShare = 0.8;
/// A launch shorter than this is timed more accurately in its place in the program than between a
/// restore and a flush of L2, each of which takes longer than the launch. With at least so many
/// cycles, rotating costs nothing.
static constexpr double ShortNs = 30e3;
static constexpr uint64_t ManyCycles = 16;

static double timeOf(llvm::ArrayRef<TimedShape> Shapes) {
  double Ns = 0;
  for (const TimedShape &S : Shapes)
    Ns += S.totalNs();
  return Ns;
}

static double timeOf(const TracedKernel &Kernel) {
  double Ns = 0;
  for (const KernelLaunches &L : Kernel.Shapes)
    Ns += double(L.TotalNs);
  return Ns;
}

std::vector<TimedShape> carve::launchedShapes(const TracedKernel &Kernel) {
  std::map<LaunchShape, TimedShape> ByShape;
  for (const KernelLaunches &L : Kernel.Shapes) {
    if (L.Shape.Grid[0] == 0 || L.Launches == 0)
      continue;
    TimedShape &T = ByShape[L.Shape];
    T.Shape = L.Shape;
    T.MeanNs = (T.totalNs() + double(L.TotalNs)) / double(T.Launches + L.Launches);
    T.Launches += L.Launches;
    T.Processes = std::max(T.Processes, L.Processes);
  }
  std::vector<TimedShape> Shapes;
  for (auto &[Shape, T] : ByShape)
    Shapes.push_back(T);
  llvm::stable_sort(
      Shapes, [](const TimedShape &A, const TimedShape &B) { return A.totalNs() > B.totalNs(); });
  return Shapes;
}

std::vector<TimedShape> carve::timedShapes(const TracedKernel &Kernel) {
  std::vector<TimedShape> Shapes = launchedShapes(Kernel);
  double Wanted = ShareTimed * timeOf(Kernel), Taken = 0;
  size_t Count = 0;
  while (Count < std::min(Shapes.size(), MostShapes) && (Count == 0 || Taken < Wanted))
    Taken += Shapes[Count++].totalNs();
  Shapes.resize(Count);
  return Shapes;
}

static std::string printDuration(double Ns) {
  if (Ns < 1e3)
    return llvm::formatv("{0:f0} ns", Ns);
  if (Ns < 1e6)
    return llvm::formatv(Ns < 10e3 ? "{0:f1} us" : "{0:f0} us", Ns / 1e3);
  if (Ns < 1e9)
    return llvm::formatv(Ns < 10e6 ? "{0:f1} ms" : "{0:f0} ms", Ns / 1e6);
  return llvm::formatv("{0:f1} s", Ns / 1e9);
}

namespace {

/// Why a kernel is not replayed, and why rotating helps. The report prints both.
struct Obstacle {
  std::string What, Remedy;
};

/// Decides for one kernel.
class Chooser {
public:
  Chooser(const ModeQuestion &Q, const ModeLimits &Limits)
      : Q(Q), Limits(Limits), Shapes(timedShapes(Q.Traced)) {}
  ModeChoice choose() const;

private:
  std::optional<std::string> whyInGraphs() const;
  bool rotatesInGraphs() const;
  std::optional<std::string> whyFixed() const;
  std::optional<Obstacle> whyNotReplay() const;
  std::optional<Obstacle> kernelObstacle() const;
  std::optional<Obstacle> programObstacle() const;
  bool calls(HazardKind Hazard) const { return Q.Trace.Hazards.count(Hazard) > 0; }

  bool hasCycles(const TimedShape &Shape, uint64_t Cycles) const {
    return Shape.Launches >= Cycles * Q.Variants;
  }
  bool mostHaveCycles(uint64_t Cycles) const;
  bool isShort() const;
  double verifyS() const;
  double replayS() const;
  std::string launches() const;

  ModeChoice fixed(std::string Reason) const;
  ModeChoice rotate(std::string Reason) const;
  ModeChoice rotateOrFixed(const Obstacle &Why) const;
  ModeChoice replay(TimingMode Mode, double Seconds) const;

  const ModeQuestion &Q;
  const ModeLimits &Limits;
  std::vector<TimedShape> Shapes;
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
  if (Q.Trace.Programmatic.count(Kernel) ||
      (Q.Hazards.Programmatic && !Q.Trace.Programmatic.empty()))
    return std::string("overlaps with its neighbours by programmatic launches");
  if (Shapes.empty())
    return std::string("its launch shapes were not told apart");
  double Covered = timeOf(Shapes) / std::max(1.0, timeOf(Q.Traced));
  if (Limits.Request == ModeRequest::Auto && Covered < LeastCoverage)
    return llvm::formatv("{0} launch shapes, of which the first {1} have {2:f0} % of its time",
                         Q.Traced.Shapes.size(), Shapes.size(), 100 * Covered)
        .str();
  return std::nullopt;
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

bool Chooser::mostHaveCycles(uint64_t Cycles) const {
  double Ns = 0;
  for (const TimedShape &S : Shapes)
    Ns += hasCycles(S, Cycles) ? S.totalNs() : 0;
  return Ns > 0 && Ns >= RotatedShare * timeOf(Shapes);
}

bool Chooser::isShort() const {
  uint64_t Launches = 0;
  for (const TimedShape &S : Shapes)
    Launches += S.Launches;
  return timeOf(Shapes) < ShortNs * double(Launches);
}

/// Seconds that it takes to compare all variants once per shape.
double Chooser::verifyS() const {
  double Seconds = 0;
  for (const TimedShape &S : Shapes)
    Seconds += comparisonS(Q.Variants, S.MeanNs);
  return Seconds;
}

double Chooser::replayS() const {
  double Seconds = 0;
  for (const TimedShape &S : Shapes)
    Seconds += shortestReplayS(Q.Variants, S.MeanNs);
  return Seconds;
}

/// The kernel's launches as text, such as `12000 launches of 4.0 us`.
std::string Chooser::launches() const {
  double Mean = timeOf(Q.Traced) / double(std::max<uint64_t>(1, Q.Traced.Launches));
  return std::to_string(Q.Traced.Launches) +
         (Q.Traced.Launches == 1 ? " launch of " : " launches of ") + printDuration(Mean);
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
  return C;
}

ModeChoice Chooser::rotateOrFixed(const Obstacle &Why) const {
  if (Limits.Request != ModeRequest::Replay && mostHaveCycles(LeastCycles))
    return rotate(Why.What + ": rotated, " + Why.Remedy);
  if (Limits.Request == ModeRequest::Replay)
    return fixed(Why.What);
  return fixed(Why.What + ", and too few launches to rotate (" + std::to_string(Q.Traced.Launches) +
               ")");
}

ModeChoice Chooser::replay(TimingMode Mode, double Seconds) const {
  ModeChoice C;
  C.Mode = Mode;
  C.Reason = launches();
  if (Q.Hazards.SpinWait)
    C.Reason += "; waits in a loop";
  C.MayRotate = Limits.Request != ModeRequest::Replay && mostHaveCycles(LeastCycles);
  C.Shapes = Shapes;
  C.ReplayS = Seconds;
  return C;
}

ModeChoice Chooser::choose() const {
  if (Limits.Request == ModeRequest::Fixed)
    return fixed("--mode=fixed");
  if (auto Why = whyFixed())
    return fixed(*Why);
  if (Limits.Request == ModeRequest::Rotate)
    return mostHaveCycles(LeastCycles)
               ? rotate("--mode=rotate")
               : fixed("too few launches to rotate (" + std::to_string(Q.Traced.Launches) + ")");
  if (auto Why = whyNotReplay())
    return rotateOrFixed(*Why);
  if (Limits.Request == ModeRequest::Replay)
    return replay(TimingMode::Replay, replayS());
  bool Rotates = isShort() && mostHaveCycles(ManyCycles);
  double Seconds = Rotates ? verifyS() : replayS();
  if (Seconds > Limits.ReplayS)
    return rotateOrFixed({"a replay would take " + printDuration(Seconds * 1e9),
                          llvm::formatv("as {0} are left", printDuration(Limits.ReplayS * 1e9))});
  return replay(Rotates ? TimingMode::VerifyRotate : TimingMode::Replay, Seconds);
}

} // namespace

ModeChoice carve::chooseMode(const ModeQuestion &Question, const ModeLimits &Limits) {
  return Chooser(Question, Limits).choose();
}

size_t carve::timableVariants(ModeQuestion Question, const ModeLimits &Limits, size_t Most) {
  auto MostIn = [&](auto MayHaveMode) -> size_t {
    for (size_t Count = Most; Count > 0; Count = Count * 3 / 4) {
      Question.Variants = FirstPlace + Count;
      if (MayHaveMode(chooseMode(Question, Limits).Mode))
        return Count;
    }
    return 0;
  };
  // A kernel that only rotates because there is no time to compare outputs could time more
  // variants, but none with a front-end knob would win.
  if (size_t Compared = MostIn(isReplayed))
    return Compared;
  return MostIn([](TimingMode Mode) { return Mode != TimingMode::Fixed; });
}

std::vector<ModeChoice> carve::chooseModes(const TuningJob &Job, const JobBuild &Built,
                                           const ProbeRecord &Trace, const ModeLimits &Limits,
                                           llvm::ArrayRef<size_t> GpuOf) {
  // By GPU: what is left of its time.
  std::map<size_t, ModeLimits> LeftOf;
  std::vector<ModeChoice> Choices;
  for (auto [Number, K, Made] : llvm::enumerate(Job.Kernels, Built.Kernels)) {
    size_t Gpu = Number < GpuOf.size() ? GpuOf[Number] : 0;
    ModeLimits &Left = LeftOf.try_emplace(Gpu, Limits).first->second;
    Choices.push_back(
        chooseMode({K.Traced, K.Hazards, Made.timedTogether(), Trace, Job.DeviceHeap}, Left));
    Left.ReplayS = std::max(0.0, Left.ReplayS - Choices.back().ReplayS);
  }
  return Choices;
}
