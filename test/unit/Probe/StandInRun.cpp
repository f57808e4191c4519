#include "unit/Probe/StandInRun.h"

#include "unit/Probe/StandIn/ImageFile.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

using namespace carve;
using namespace carve::probe::test;

static const std::set<std::string> Kernels = {"scale", "step", "sum", "append", "count", "masked"};
/// The variants, and the endings of their clones' names.
static const std::pair<const char *, const char *> Clones[] = {
    {"control", "__carve_control"}, {"fast", "__fast"}, {"odd", "__odd"}};

/// Returns the number of the last parameter of \p Kernel, which counts its elements.
static unsigned placeOfCount(const std::string &Kernel) {
  return Kernel == "step" || Kernel == "count" ? 1 : 2;
}

StandInRun::StandInRun(const std::string &Scenario, const std::string &Bad)
    : Arguments{Scenario, Bad} {
  ProbeRun Without;
  Without.setEnvironment("CUDA_INJECTION64_PATH");
  Plain = Without.run(CARVE_TEST_STANDIN_PROGRAM, Arguments);
  ProbeRun With;
  Trace = With.run(CARVE_TEST_STANDIN_PROGRAM, Arguments);
  Traced = With.onlyFile();
}

/// Returns the fields that a class or segment of the shape of the line \p Kernel begins with:
/// kernel, grid, block, dynamic shared memory, cluster.
static Fields shapeFields(const Fields &Kernel) {
  return {Kernel[0], Kernel[1], Kernel[2], Kernel[4], Kernel[5]};
}

/// Returns the lines of \p All that begin with \p Shape.
static std::vector<Fields> beginningWith(const Fields &Shape, const std::vector<Fields> &All) {
  std::vector<Fields> Found;
  for (const Fields &Line : All)
    if (std::equal(Shape.begin(), Shape.end(), Line.begin()))
      Found.push_back(Line);
  return Found;
}

/// Returns class number \p Class of \p Shape as a plan names it, with tabs around it.
static std::string classPlace(const Fields &Shape, size_t Class) {
  return "\t" + Shape[0] + "\t" + Shape[1] + "\t" + Shape[2] + "\t" + Shape[3] + "\t" + Shape[4] +
         "/" + std::to_string(Class) + "\t";
}

/// Returns the lines of the classes into which the launches of the line \p Kernel were traced;
/// empty if they had the same arguments.
std::string StandInRun::dividedShape(const Fields &Kernel, const StandInPlan &Plan) const {
  // Behind the shape: key, launches, total time.
  std::vector<Fields> Classes = beginningWith(shapeFields(Kernel), Traced.of("class"));
  std::sort(Classes.begin(), Classes.end(),
            [](const Fields &A, const Fields &B) { return std::stoull(A[7]) > std::stoull(B[7]); });
  std::string Text;
  for (size_t C = 0; C < Classes.size(); ++C) {
    const Fields &Its = Classes[C];
    const std::string Place = classPlace(Its, C + 1);
    Text += "class" + Place + Its[5] + "\n";
    if (C < Plan.MostClasses)
      Text += "shape" + Place + Its[6] + "\t" +
              std::to_string(std::stoull(Its[7]) / std::stoull(Its[6])) + "\n";
  }
  return Text;
}

/// Returns the lines of the segments into which the launches of the line \p Kernel were traced;
/// empty if there are none.
std::string StandInRun::segments(const Fields &Kernel) const {
  std::string Text;
  size_t Class = 0;
  // Behind the shape: first launch, launches, total time, replayed launch and its time.
  for (const Fields &S : beginningWith(shapeFields(Kernel), Traced.of("segment"))) {
    const std::string Place = classPlace(S, ++Class);
    const std::string Replayed = std::to_string(std::stoull(S[8]) - std::stoull(S[5]));
    Text += "segment" + Place + S[5] + "\nshape" + Place + S[6] + "\t" + S[9] + "\nreplay" + Place +
            Replayed + "\t" + Replayed + "\n";
  }
  return Text;
}

std::string StandInRun::planText(const StandInPlan &Plan) const {
  std::string Text = "carve-plan\t1\nseed\t7\nreplay-ms\t" + std::to_string(Plan.ReplayMs) +
                     "\nhang-ms\t" + std::to_string(Plan.HangMs) + "\n";
  for (const std::string &Kernel : Kernels) {
    Text += "kernel\t" + Kernel + "\t" + Plan.Mode + "\t" + Plan.Fallback + "\n";
    for (auto [Variant, Suffix] : Clones) {
      bool IsSecond = Plan.SecondCode && Suffix == std::string("__fast");
      const char *Guard = IsSecond ? "2" : Plan.Guarded.count(Variant) ? "1" : "0";
      if (!Plan.Omitted.count(Variant))
        Text += "variant\t" + Kernel + "\t" + (IsSecond ? "odd" : Variant) + "\t" + Kernel +
                Suffix + "\t" + Guard + "\n";
    }
    auto Guard = [&](const char *Number, unsigned Count) {
      return "guard\t" + Kernel + "\t" + Number + "\t" + std::to_string(placeOfCount(Kernel)) +
             "\t4\t" + std::to_string(Count) + "\t" + std::to_string(Plan.GuardedOffset) + "\n";
    };
    if (!Plan.Guarded.empty())
      Text += Guard("1", Plan.GuardedCount);
    if (Plan.SecondCode)
      Text += Guard("2", Plan.GuardedCount / 2);
    if (!Plan.GuardedGrid.empty())
      Text += "guard-shape\t" + Kernel + "\t2\t" + Plan.GuardedGrid + "\t0,0,0\n";
    for (const std::string &Variant : Plan.Excluded)
      Text += "exclude\t" + Kernel + "\t" + Variant + "\n";
    for (const std::string &Variant : Plan.Measured)
      Text += "measure\t" + Kernel + "\t" + Variant + "\n";
    for (const std::string &Variable : Plan.Constants)
      Text += "constant\t" + Kernel + "\t" + Variable + "\n";
    for (const std::string &Variant : Plan.ToCompare)
      Text += "compare\t" + Kernel + "\t" + Variant + "\n";
  }
  // Fields: name, grid, block, static and dynamic shared memory, cluster, ..., launches, total
  // time.
  for (const Fields &K : Traced.of("kernel")) {
    std::string Divided = Plan.Divided ? dividedShape(K, Plan) : Plan.Segmented ? segments(K) : "";
    if (!Divided.empty())
      Text += Divided;
    else if (Kernels.count(K[0])) {
      const std::string Shape = K[0] + "\t" + K[1] + "\t" + K[2] + "\t" + K[4] + "\t" + K[5] + "\t";
      Text += "shape\t" + Shape + K[9] + "\t" +
              std::to_string(std::stoull(K[10]) / std::stoull(K[9])) + "\n";
      if (!Plan.ToReplay.empty())
        Text += "replay\t" + Shape + Plan.ToReplay + "\n";
    }
  }
  return Text;
}

/// Returns the program's image with all clones in addition to the kernels.
static std::string imageWithClones() {
  std::vector<std::string> All;
  for (const std::string &Kernel : Kernels) {
    All.push_back(Kernel);
    for (auto [Variant, Suffix] : Clones)
      All.push_back(Kernel + Suffix);
  }
  return standin::imageFile(All, {{"Counter", 64}}, /*Managed=*/false,
                            {{"Table", 8}, {"Locks", 8}});
}

CommandResult StandInRun::time(const StandInPlan &Plan) {
  ProbeRun Run;
  std::string Map;
  std::string Image = Run.writeFile("clones", imageWithClones());
  std::set<std::string> Digests;
  for (const Fields &Container : Traced.of("container"))
    if (Container[2] == "cuLibraryLoadData" && Digests.insert(Container[0]).second)
      Map += Container[0] + "\t" + Image + "\n";
  Run.setEnvironment("CARVE_PROBE_IMAGES=" + Run.writeFile("map", Map));
  Run.setEnvironment("CARVE_PROBE_PLAN=" + Run.writeFile("plan", planText(Plan)));
  CommandResult Result = Run.run(CARVE_TEST_STANDIN_PROGRAM, Arguments);
  Timed = Run.onlyFile();
  return Result;
}

CommandResult StandInRun::time(const StandInPlan &Plan, const std::set<std::string> &Replayed) {
  std::set<std::string> Launches;
  CommandResult Result;
  for (int Tries = 0; Tries < 5 && Launches != Replayed; ++Tries) {
    Result = time(Plan);
    Launches.clear();
    for (const Fields &Line : Timed.of("replayed"))
      Launches.insert(Line.at(5));
  }
  return Result;
}

StandInPlan carve::probe::test::rotation() {
  StandInPlan Plan;
  Plan.Mode = Plan.Fallback = "rotate";
  return Plan;
}

void carve::probe::test::expectAsPlain(const CommandResult &With, const CommandResult &Without) {
  EXPECT_EQ(With.Stdout, Without.Stdout);
  EXPECT_EQ(With.ExitStatus, Without.ExitStatus);
  EXPECT_EQ(With.Stderr.substr(0, 4000), "") << "a sanitizer reports here";
}

uint64_t carve::probe::test::graphLaunchesOf(const Records &File, const std::string &Kernel) {
  uint64_t Sum = 0;
  for (const Fields &Line : File.of("graph"))
    if (Line.at(0) == Kernel)
      Sum += std::stoull(Line.at(1));
  return Sum;
}
