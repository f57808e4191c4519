// The whole way from a compile to a tuned program. Recorded samples take the place of the GPU. In
// three.samples, bulky is fastest at 64 registers, every variant of steady is slower, and noisy
// gains 0.6 % in the first three runs and less than 0.5 % in the others, which is too little. The
// samples have no timing run; the tests that need one add it.
#include "BuiltTools.h"
#include "Ptx/ProfileName.h"
#include "Store/DecisionFiles.h"
#include "Store/StoreUpkeep.h"

#include "Store/Profile.h"
#include "Store/ProfileReader.h"
#include "Tune/Variants/KnobSpaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace carve;

namespace {

const std::string Samples = CARVE_TEST_INPUTS "/samples/three.samples";

class TuneRecorded : public BuiltToolsTest {
protected:
  const Words Program = {"-O3", "-arch=sm_90", "--no-compress", "three.cu", "-o", "app"};
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"};

  /// Adds the recorded samples to \p Arguments.
  static Words tuning(Words Arguments) {
    Arguments.push_back("--carve-samples=" + Samples);
    return Arguments;
  }
  /// Returns the decisions of the only unit.
  Profile decisions();
  const Decision *decisionOf(const Profile &P, llvm::StringRef Kernel) {
    auto D = llvm::find_if(P.Kernels, [&](const Decision &D) { return D.Kernel == Kernel; });
    return D == P.Kernels.end() ? nullptr : &*D;
  }
  TuningReport report();
  void replaceInSource(llvm::StringRef From, llvm::StringRef To);
  unsigned bulkyRegs(const std::string &Output) {
    return kernelsOf(Output)[Bulky].Resources.RegsPerThread;
  }
  /// Returns the position in a plan of every variant of the job, as a tuning by whole runs has
  /// them. The cases that ask for it have the same kernels, so one of them makes that tuning.
  const std::map<std::string, std::map<std::string, size_t>> &variantsOfJob();
  /// Builds the object with \p Arguments. Checks that the decision in the store does not apply.
  void expectDropped(const Words &Arguments);
};

Profile TuneRecorded::decisions() {
  std::vector<Unit> Units = store().units();
  EXPECT_EQ(Units.size(), 1u);
  if (Units.empty())
    return {};
  auto Text = readDecisions(store(), Units.front().Key);
  if (!Text || !*Text) {
    ADD_FAILURE() << "no decisions: "
                  << (Text ? std::string("none stored") : llvm::toString(Text.takeError()));
    return {};
  }
  return llvm::cantFail(parseProfile(**Text, "decisions"));
}

TuningReport TuneRecorded::report() {
  CommandResult R = carve({"report", "--format=json"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  if (Report)
    return std::move(*Report);
  ADD_FAILURE() << llvm::toString(Report.takeError());
  return {};
}

const std::map<std::string, std::map<std::string, size_t>> &TuneRecorded::variantsOfJob() {
  static std::map<std::string, std::map<std::string, size_t>> Positions;
  if (!Positions.empty())
    return Positions;
  CommandResult R =
      carve({"tune", "--mode=fixed", "--samples=" + Samples, "--format=json", "--", "./app"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  if (!Report) {
    ADD_FAILURE() << llvm::toString(Report.takeError());
    return Positions;
  }
  for (const KernelReport &K : Report->Kernels)
    for (size_t V = 0; V < K.Variants.size(); ++V)
      Positions[K.Mangled][K.Variants[V].Name] = V + 2;
  // The evidence of this tuning would stay after a tuning that decides the same.
  EXPECT_TRUE(carve({"store", "clear"}).succeeded());
  build(Object);
  return Positions;
}

void TuneRecorded::replaceInSource(llvm::StringRef From, llvm::StringRef To) {
  std::string Text = read("three.cu");
  size_t At = Text.find(From);
  ASSERT_NE(At, std::string::npos) << From.str();
  write("three.cu", Text.replace(At, From.size(), To));
}

} // namespace

TEST_F(TuneRecorded, oneStepProgram_isTunedOnceAndRemembered) {
  build(Program, {"CARVE_RUN=none"});
  std::string Untuned = read("app");
  ImageKernels Default = kernelsOf("app");
  build(tuning(Program), {"CARVE_PROFILE=profile.yaml"});
  ImageKernels Tuned = kernelsOf("app");
  EXPECT_EQ(Tuned[Bulky].Resources.RegsPerThread, 64u) << log();
  expectSameCode(Default, Tuned, {Bulky});

  Profile Kept = decisions();
  const Decision *Winner = decisionOf(Kept, BulkyName);
  ASSERT_TRUE(Winner && Winner->Basis);
  EXPECT_EQ(Winner->Variant.Cap, 64u);
  EXPECT_EQ(Winner->Arch, "sm_90");
  EXPECT_NEAR(Winner->Basis->Ratio, 0.8, 0.01);
  EXPECT_EQ(Winner->Basis->CodeDigest, Tuned[Bulky].CodeDigest);
  for (const char *Loser :
       {"steady(double*, double const*, int)", "noisy(double*, double const*, int)"}) {
    const Decision *D = decisionOf(Kept, Loser);
    ASSERT_TRUE(D && D->Basis) << Loser;
    EXPECT_TRUE(D->Variant.isDefault()) << Loser;
    EXPECT_NE(D->Basis->Reason, "") << Loser;
  }
  EXPECT_EQ(read("profile.yaml"), printProfile(Kept));

  // The second build runs nothing and gives the same bytes.
  std::string First = read("app");
  uint64_t Reports = storeStats(store()).Reports;
  build(tuning(Program));
  EXPECT_TRUE(read("app") == First);
  EXPECT_EQ(storeStats(store()).Reports, Reports) << log();
  EXPECT_FALSE(logSays("-maxrregcount")) << "regions were computed again: " << log();
  // A colleague has an empty store and the profile.
  build(Program, {"CARVE_STORE=" + path("other"), "CARVE_PROFILE=profile.yaml"});
  EXPECT_TRUE(read("app") == First) << log();
  EXPECT_FALSE(First == Untuned);
}

TEST_F(TuneRecorded, carveTune_decides_nextBuildEmits) {
  keepKernels({"bulky", "steady"});
  build(Object);
  CommandResult R = carve({"tune", "--samples=" + Samples, "--profile=tuned.yaml", "--", "./app"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  EXPECT_NE(R.Stdout.find("1 kernel tuned"), std::string::npos) << R.Stdout;
  EXPECT_GT(bulkyRegs("three.o"), 64u) << "tuning does not touch outputs";
  build(Object);
  EXPECT_EQ(bulkyRegs("three.o"), 64u) << log();
  EXPECT_EQ(decisionOf(decisions(), BulkyName)->Basis->Workload, "./app");
  EXPECT_EQ(read("tuned.yaml"), printProfile(decisions()));
}

TEST_F(TuneRecorded, report_asTextAndJson_tellsTheSame) {
  EXPECT_EQ(carve({"report"}).ExitStatus, 1) << "nothing tuned yet";
  build(tuning(Program));
  TuningReport Report = report();
  EXPECT_EQ(Report.Device, "NVIDIA H200");
  EXPECT_EQ(Report.tunedKernels(), 1u);
  ASSERT_EQ(Report.Kernels.size(), 5u);
  EXPECT_EQ(Report.Kernels[0].Mangled, Bulky);
  EXPECT_EQ(Report.Kernels[0].RegsAfter, 64u);
  EXPECT_EQ(Report.Kernels[3].Reason.text(), "in-no-unit");
  EXPECT_EQ(Report.Kernels[4].Reason.text(), "below-share");
  EXPECT_LT(Report.Program.Median, 1);
  // Noisy is out after a few pairs. Then three pairs are enough for bulky alone.
  EXPECT_EQ(Report.Pairs, 3u);
  EXPECT_GT(Report.PairsMade, Report.Pairs);
  EXPECT_EQ(Report.Ended, "decided");
  std::string Text = carve({"report"}).Stdout;
  for (const char *Part :
       {"1 kernel tuned", "the times of each candidate decided", "88 > 64", "25% > 50%",
        "not confirmed", "no variant was faster", "foreign(float*)", "less than 0.1 %"})
    EXPECT_NE(Text.find(Part), std::string::npos) << Part << " is not in:\n" << Text;
}

TEST_F(TuneRecorded, decision_editOfTheKernelOnly_dropsIt) {
  keepKernels({"bulky", "steady"});
  build(tuning(Program));
  ASSERT_EQ(bulkyRegs("app"), 64u) << log();
  // Another function changes, and lines are added before the kernel.
  replaceInSource("mix<24>", "mix<26>");
  replaceInSource("template <int", "__device__ int Before;\n\ntemplate <int");
  build(Program);
  EXPECT_EQ(bulkyRegs("app"), 64u) << log();
  // Now the kernel itself changes.
  replaceInSource("mix<40>", "mix<39>");
  build(Program);
  EXPECT_NE(bulkyRegs("app"), 64u);
  EXPECT_TRUE(logSays("stale")) << log();
  replaceInSource("mix<39>", "mix<40>");
  build(Program);
  EXPECT_EQ(bulkyRegs("app"), 64u) << "the decision holds again: " << log();
}

void TuneRecorded::expectDropped(const Words &Arguments) {
  SCOPED_TRACE(testing::PrintToString(Arguments));
  buildPlain(Arguments);
  std::string Wanted = stripped("three.o");
  build(Arguments);
  EXPECT_TRUE(stripped("three.o") == Wanted) << log();
}

TEST_F(TuneRecorded, decision_otherArchitectureOrOptions_isDropped) {
  keepKernels({"bulky"});
  build(tuning(Object));
  EXPECT_EQ(bulkyRegs("three.o"), 64u) << log();
  auto With = [&](const Words &More) {
    Words Arguments = Object;
    Arguments.insert(Arguments.end(), More.begin(), More.end());
    return Arguments;
  };
  expectDropped(With({"-Xptxas", "-O2"}));
  expectDropped(With({"-lineinfo"}));
  expectDropped(With({"-maxrregcount=72"}));
  // In Architectures the object is for an older architecture.
  Words Newer = Object;
  Newer[1] = "-arch=sm_100";
  expectDropped(Newer);
  build(Object);
  EXPECT_EQ(bulkyRegs("three.o"), 64u) << "the decision holds again: " << log();
}

TEST_F(TuneRecorded, defaultArchitecture_getsAnImageForTheDevice) {
  keepKernels({"bulky", "steady"});
  const Words Plain = {"-O3", "--no-compress", "three.cu", "-o", "app"};
  build(Plain, {"CARVE_RUN=none"});
  auto Default = deviceImages(read("app"));
  ASSERT_EQ(Default.size(), 1u);
  unsigned Oldest = Default.begin()->first;
  ASSERT_NE(Oldest, 90u);
  build(tuning(Plain));
  auto Tuned = deviceImages(read("app"));
  ASSERT_EQ(Tuned.size(), 2u) << log();
  expectSameCode(Default[Oldest], Tuned[Oldest], {});
  EXPECT_EQ(Tuned[90][Bulky].Resources.RegsPerThread, 64u) << log();
  EXPECT_EQ(Tuned[90].size(), Default[Oldest].size());
  std::string First = read("app");
  build(Plain);
  EXPECT_TRUE(read("app") == First) << log();
}

namespace {

/// Writes the text of a timing run in which every variant of a kernel takes a given ratio of the
/// default's time.
class TimingText {
public:
  /// \p Variants: the names of those beside the default and the control.
  /// \p Grid: the grid of the launches.
  TimingText(std::string Kernel, const std::vector<std::string> &Variants,
             const std::string &Grid = "64,1,1")
      : Kernel(std::move(Kernel)), Ratios(Variants.size() + 2, 1.1),
        Place(this->Kernel + "\t" + Grid + "\t256,1,1\t0\t1,1,1") {
    llvm::append_range(Names, Variants);
    Ratios[0] = Ratios[1] = 1;
  }
  std::string Kernel;
  std::vector<double> Ratios; ///< By number of the variant.
  std::map<size_t, std::string> Verdicts;

  /// Returns a launch that was replayed: five rounds of all variants, and seven of the default, the
  /// control and those that \p Held names.
  std::string replayed(std::vector<size_t> Held) const {
    std::string Text = "timing\treplayed\t" + Place + "\t0\t1\t1\t1000\t100\t1\t10\t10\t10\t99\n";
    Held.insert(Held.begin(), {0, 1});
    for (size_t V = 0; V < Ratios.size(); ++V) {
      auto Bad = Verdicts.find(V);
      Text += "timing\tverified\t" + Place + "\t0\t" + Names[V] + "\t" +
              (Bad == Verdicts.end() ? "equal\t-" : Bad->second) + "\n";
      for (int Round = 0; Round < 5; ++Round)
        Text += timed("screen", Round, V);
    }
    for (size_t V : Held)
      for (int Round = 0; Round < 7; ++Round)
        Text += timed("confirm", Round, V);
    return Text;
  }
  std::string rotated(unsigned Cycles) const {
    std::string Text;
    for (unsigned Cycle = 0; Cycle < Cycles; ++Cycle)
      for (size_t V = 0; V < Ratios.size(); ++V)
        Text += "timing\trotated\t" + Place + "\t" + std::to_string(Cycle) + "\t" + Names[V] +
                "\t" + ns(V, Cycle) + "\n";
    return Text;
  }

private:
  std::string ns(size_t V, unsigned Round) const {
    return std::to_string(unsigned(50000 * Ratios[V] * (1 + 0.0003 * ((V * 7 + Round * 5) % 4))));
  }
  std::string timed(const char *Phase, unsigned Round, size_t V) const {
    return "timing\ttimed\t" + Place + "\t0\t" + Phase + "\t" + std::to_string(Round) + "\t" +
           Names[V] + "\t" + ns(V, Round) + "\t" + ns(V, Round + 1) + "\n";
  }

  std::vector<std::string> Names{"default", "control"};
  std::string Place;
};

/// The names in \p Positions, whose first is 2, in their order.
std::vector<std::string> inOrder(const std::map<std::string, size_t> &Positions) {
  std::vector<std::string> Names(Positions.size());
  for (const auto &[Name, Position] : Positions)
    Names.at(Position - 2) = Name;
  return Names;
}

} // namespace

/// The modes are chosen automatically: bulky is replayed, steady is rotated, and noisy, whose
/// program asks for its occupancy, is left to whole runs.
TEST_F(TuneRecorded, timingRun_decidesWhatItCan) {
  keepKernels({"bulky", "steady", "noisy"});
  build(Object);
  auto Positions = variantsOfJob();
  ASSERT_TRUE(Positions[Bulky].count("r64") && Positions[Bulky].count("r80") &&
              Positions[Bulky].count("r48") && !Positions[Steady].empty());
  TimingText BulkyRun(Bulky, inOrder(Positions[Bulky]));
  size_t Wrong = Positions[Bulky]["r80"], Right = Positions[Bulky]["r64"];
  BulkyRun.Ratios[Wrong] = 0.5;
  BulkyRun.Ratios[Right] = 0.8;
  BulkyRun.Ratios[Positions[Bulky]["r48"]] = 0.9;
  BulkyRun.Verdicts[Wrong] = "differs\t8 words at 0x7f0010";
  TimingText SteadyRun(Steady, inOrder(Positions[Steady]));

  std::string Text = llvm::cantFail(readFile(Samples));
  auto Replace = [&](llvm::StringRef From, const std::string &To) {
    size_t At = Text.find(From.str());
    ASSERT_NE(At, std::string::npos) << From.str();
    Text.replace(At, From.size(), To);
  };
  Replace("\t0\t56\t0\t100\t2000000\t19995\t0\n", "\t0\t56\t0\t4000\t2000000\t495\t0\n");
  Replace("probe\tend\n", "probe\tquery\t" + std::string(Noisy) +
                              "\tcuOccupancyMaxActiveBlocksPerMultiprocessor\nprobe\tend\n" +
                              BulkyRun.replayed({Wrong, Right}) + SteadyRun.rotated(16));
  write("auto.samples", Text);
  CommandResult R = carve({"tune", "--samples=auto.samples", "--format=json", "--", "./app"});
  ASSERT_TRUE(R.succeeded()) << R.Stderr << log();
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
  auto KernelOf = [&](const std::string &Mangled) -> const KernelReport & {
    return *llvm::find_if(Report->Kernels,
                          [&](const KernelReport &K) { return K.Mangled == Mangled; });
  };
  const KernelReport &B = KernelOf(Bulky), &S = KernelOf(Steady), &N = KernelOf(Noisy);
  EXPECT_EQ(B.Variant, "r64") << B.Reason.text() << log();
  EXPECT_EQ(B.InRun.Mode, "replay");
  EXPECT_EQ(B.InRun.Verified, "bitwise");
  EXPECT_EQ(B.InRun.Rounds, 7u);
  EXPECT_NEAR(B.InRun.Ratio.Median, 0.8, 0.01);
  EXPECT_EQ(B.Variants[Wrong - 2].Fault,
            "its output differs from the default's: 8 words at 0x7f0010");
  EXPECT_FALSE(S.Tuned);
  EXPECT_EQ(S.InRun.Mode, "verify-rotate") << S.InRun.Reason;
  EXPECT_NE(S.Reason.text().find("no variant was faster: the best took 1."), std::string::npos)
      << S.Reason.text();
  EXPECT_FALSE(N.Tuned);
  EXPECT_EQ(N.InRun.Mode, "fixed");
  EXPECT_NE(N.InRun.Reason.find("occupancy"), std::string::npos) << N.InRun.Reason;
  EXPECT_NE(N.Reason.text().find("not confirmed"), std::string::npos) << N.Reason.text();

  build(Object);
  EXPECT_EQ(bulkyRegs("three.o"), 64u) << log();
  Profile Kept = decisions();
  const Decision *Winner = decisionOf(Kept, BulkyName);
  ASSERT_TRUE(Winner && Winner->Basis);
  EXPECT_EQ(Winner->Basis->Mode, "replay");
  EXPECT_EQ(Winner->Basis->Verified, "bitwise");
  EXPECT_EQ(Winner->Basis->Rounds, 7u);
}

TEST_F(TuneRecorded, valuesThatAllLaunchesHave_becomeAnEntry) {
  keepKernels({"bulky"});
  build(Object);
  TimingText Run(Bulky, {"known", "r64"});
  Run.Ratios[2] = 0.6;
  Run.Ratios[3] = 0.8;
  std::string Text = llvm::cantFail(readFile(Samples));
  auto WithArguments = [&](const std::string &Lines) {
    std::string Own = Text;
    Own.replace(Own.find("probe\tend\n"), strlen("probe\tend\n"),
                Lines + "probe\tend\n" + Run.replayed({2, 3}));
    for (int I = 0; I < 9; ++I)
      Own +=
          "sample\t" + std::string(Bulky) + "\tknown\t" + std::to_string(3600000 + 1000 * I) + "\n";
    write("values.samples", Own);
  };
  const std::string First = "probe\targument\t" + std::string(Bulky) + "\t2\t4\t256\t0\n";
  auto Tune = [&](const Words &Options) {
    Words Command = {"tune", "--samples=values.samples", "--effort=2", "--format=json"};
    llvm::append_range(Command, Options);
    llvm::append_range(Command, Words{"--", "./app"});
    CommandResult R = carve(Command);
    EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
    llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
    return Report ? Report->Kernels.front() : KernelReport();
  };
  WithArguments(First);
  KernelReport Tuned = Tune({});
  EXPECT_EQ(Tuned.Variant, "known") << Tuned.Reason.text() << log();
  ASSERT_FALSE(Tuned.Entries.empty());
  EXPECT_NE(Tuned.Entries[0].When.find("parameter 2 = "), std::string::npos)
      << Tuned.Entries[0].When;
  Profile Kept = decisions();
  const Decision *D = decisionOf(Kept, BulkyName);
  ASSERT_TRUE(D);
  EXPECT_TRUE(D->Variant.isDefault());
  ASSERT_EQ(D->Entries.size(), 1u);
  EXPECT_EQ(D->Entries[0].When.Arguments, (std::vector<ArgumentValue>{{2, 4, 256}}));
  const std::string Entry = std::string(Bulky) + "__carve_e1";
  build(Object);
  EXPECT_EQ(kernelsOf("three.o")[Entry].CodeDigest, D->Entries[0].CodeDigest) << log();
  EXPECT_EQ(Tune({"--entries=blocks"}).Variant, "r64") << log();
  build(Object);
  EXPECT_FALSE(kernelsOf("three.o").count(Entry)) << log();
  EXPECT_EQ(bulkyRegs("three.o"), 64u);
  // A value that was another one in one launch.
  WithArguments(First + "probe\targument\t" + std::string(Bulky) + "\t2\t4\t128\t0\n");
  EXPECT_EQ(Tune({}).Variant, "r64") << log();
}

/// A kernel that is launched with two problem sizes. Nothing is the same in all launches, and both
/// sizes take half of the time.
TEST_F(TuneRecorded, valuesOfTwoShapes_becomeTwoEntries) {
  keepKernels({"bulky"});
  build(Object);
  const std::string Kernel(Bulky);
  std::string Text = llvm::cantFail(readFile(Samples));
  const std::string Launches = "probe\tkernel\t" + Kernel + "\t64,1,1\t";
  size_t Line = Text.find(Launches), End = Text.find('\n', Line) + 1;
  ASSERT_NE(Line, std::string::npos);
  std::string Larger = Text.substr(Line, End - Line);
  Larger.replace(Larger.find("64,1,1"), 6, "128,1,1");
  auto Argument = [&](const std::string &Shape, const char *Bits) {
    return "probe\t" +
           (Shape.empty() ? "argument\t" + Kernel : "shape-argument\t" + Kernel + Shape) +
           "\t2\t4\t" + Bits + "\t0\n";
  };
  const std::string Small = "\t64,1,1\t256,1,1", Large = "\t128,1,1\t256,1,1";
  std::string Added = Larger + Argument("", "256") + Argument("", "512") + Argument(Small, "256") +
                      Argument(Large, "512") + "probe\tend\n";
  for (const char *Grid : {"64,1,1", "128,1,1"}) {
    TimingText Run(Kernel, {"shapes", "r64"}, Grid);
    Run.Ratios[2] = 0.6;
    Run.Ratios[3] = 0.8;
    Added += Run.replayed({2, 3});
  }
  Text.replace(Text.find("probe\tend\n"), strlen("probe\tend\n"), Added);
  for (int I = 0; I < 9; ++I)
    Text += "sample\t" + Kernel + "\tshapes\t" + std::to_string(3600000 + 1000 * I) + "\n";
  write("values.samples", Text);
  CommandResult R =
      carve({"tune", "--samples=values.samples", "--effort=2", "--format=json", "--", "./app"});
  ASSERT_TRUE(R.succeeded()) << R.Stderr << log();
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  ASSERT_TRUE(bool(Report));
  const KernelReport &Tuned = Report->Kernels.front();
  EXPECT_EQ(Tuned.Variant, "shapes") << Tuned.Reason.text() << log();
  ASSERT_FALSE(Tuned.Entries.empty());
  EXPECT_NE(Tuned.Entries[0].When.find("parameter 2 = "), std::string::npos)
      << Tuned.Entries[0].When;
  EXPECT_EQ(Tuned.Entries.size(), 2u);
  for (const EntryHold &E : Tuned.Entries)
    EXPECT_GT(E.Now.Launches, E.Now.Held) << "each has launches of its own";
  Profile Kept = decisions();
  const Decision *D = decisionOf(Kept, BulkyName);
  ASSERT_TRUE(D);
  EXPECT_TRUE(D->Variant.isDefault());
  ASSERT_EQ(D->Entries.size(), 2u);
  std::set<uint64_t> Sizes;
  for (const FurtherEntry &E : D->Entries) {
    EXPECT_EQ(E.Variant.FrontEnd, FrontEndKnob::KnownLaunch);
    ASSERT_EQ(E.When.Arguments.size(), 1u);
    Sizes.insert(E.When.Arguments[0].Bits);
  }
  EXPECT_EQ(Sizes, (std::set<uint64_t>{256, 512}));
  EXPECT_NE(D->Entries[0].CodeDigest, D->Entries[1].CodeDigest);
  build(Object);
  ImageKernels Emitted = kernelsOf("three.o");
  for (size_t I = 0; I < 2; ++I)
    EXPECT_EQ(Emitted[furtherEntryName(Kernel, I)].CodeDigest, D->Entries[I].CodeDigest) << log();
}

namespace {

/// A variant with the part of the default's time that it takes at the large and at the small grid.
struct GridTimes {
  std::string Variant;
  double Large, Small;
};

/// Tunings of bulky with recorded samples in which it has a large grid, which takes two thirds of
/// its time, and a small one.
class TwoGrids : public TuneRecorded {
protected:
  /// Writes samples with a timing run for each of \p Runs. \p Arguments are records of the trace.
  void writeSamples(const std::vector<std::vector<GridTimes>> &Runs,
                    const std::string &Arguments = "");
  KernelReport tune(const Words &Options);
  /// Checks that the decision has an entry for each grid, and that the object has the code that was
  /// timed.
  void expectEntries(const std::string &OfLarge, const std::string &OfSmall);

  const std::string Kernel = Bulky;
};

void TwoGrids::writeSamples(const std::vector<std::vector<GridTimes>> &Runs,
                            const std::string &Arguments) {
  std::string Text = llvm::cantFail(readFile(Samples));
  size_t Line = Text.find("probe\tkernel\t" + Kernel);
  ASSERT_NE(Line, std::string::npos);
  std::string Added = Text.substr(Line, Text.find('\n', Line) + 1 - Line);
  for (auto [From, To] : {std::pair("64,1,1", "128,1,1"), {"\t6000000\t", "\t12000000\t"}})
    Added.replace(Added.find(From), strlen(From), To);
  Added += Arguments + "probe\tend\n";
  for (size_t Number = 0; Number < Runs.size(); ++Number) {
    Added += "timing-run\t" + std::to_string(Number + 1) + "\n";
    for (bool Large : {true, false}) {
      std::vector<std::string> Names;
      for (const GridTimes &V : Runs[Number])
        Names.push_back(V.Variant);
      TimingText Run(Kernel, Names, Large ? "128,1,1" : "64,1,1");
      std::vector<size_t> Held;
      for (const GridTimes &V : Runs[Number]) {
        Held.push_back(Held.size() + 2);
        Run.Ratios[Held.back()] = Large ? V.Large : V.Small;
      }
      Added += Run.replayed(Held);
    }
  }
  Text.replace(Text.find("probe\tend\n"), strlen("probe\tend\n"), Added);
  for (const GridTimes &V : Runs.back())
    for (int I = 0; I < 9; ++I)
      Text +=
          "sample\t" + Kernel + "\t" + V.Variant + "\t" + std::to_string(4500000 + 1000 * I) + "\n";
  write("grids.samples", Text);
}

KernelReport TwoGrids::tune(const Words &Options) {
  Words Command = {"tune", "--samples=grids.samples", "--format=json"};
  llvm::append_range(Command, Options);
  llvm::append_range(Command, Words{"--", "./app"});
  CommandResult R = carve(Command);
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  return Report ? Report->Kernels.front() : KernelReport();
}

void TwoGrids::expectEntries(const std::string &OfLarge, const std::string &OfSmall) {
  Profile Kept = decisions();
  const Decision *D = decisionOf(Kept, BulkyName);
  ASSERT_TRUE(D);
  EXPECT_TRUE(D->Variant.isDefault());
  ASSERT_EQ(D->Entries.size(), 2u);
  build(Object);
  ImageKernels Emitted = kernelsOf("three.o");
  EXPECT_EQ(Emitted[Kernel].Resources.RegsPerThread, 88u) << "all other launches run nvcc's code";
  for (size_t I = 0; I < 2; ++I) {
    const FurtherEntry &E = D->Entries[I];
    EXPECT_EQ(variantName(E.Variant), I ? OfSmall : OfLarge);
    EXPECT_EQ(E.When.Block, (std::array<unsigned, 3>{256, 1, 1}));
    EXPECT_EQ(E.When.Grid, (std::array<unsigned, 3>{I ? 64u : 128u, 1, 1}));
    EXPECT_EQ(Emitted[furtherEntryName(Kernel, I)].CodeDigest, E.CodeDigest) << log();
  }
}

} // namespace

TEST_F(TwoGrids, capsThatDiffer_becomeTwoEntries) {
  keepKernels({"bulky"});
  build(Object);
  writeSamples(
      {{{"r64", 0.8, 1.1}, {"r48", 1.1, 0.7}}, {{"r64", 0.8, 1.1}, {"r64+r48", 0.8, 0.7}}});
  KernelReport Tuned = tune({"--effort=1", "--entries=blocks", "--profile=tuned.yaml"});
  EXPECT_EQ(Tuned.Variant, "r64+r48") << Tuned.Reason.text() << log();
  ASSERT_EQ(Tuned.Entries.size(), 2u);
  EXPECT_EQ(Tuned.Entries[0].When + ": " + Tuned.Entries[0].Variant,
            "block 256x1x1, grid 128x1x1: r64");
  EXPECT_EQ(Tuned.Entries[1].When + ": " + Tuned.Entries[1].Variant,
            "block 256x1x1, grid 64x1x1: r48");
  EXPECT_EQ(Tuned.InRun.Verified, "bitwise");
  EXPECT_NEAR(Tuned.InRun.Ratio.Median, (12 * 0.8 + 6 * 0.7) / 18, 0.01);
  EXPECT_TRUE(logSays("r64+r48, composed for its launch shapes, promises")) << log();
  expectEntries("r64", "r48");
  ImageKernels Emitted = kernelsOf("three.o");
  EXPECT_EQ(Emitted[furtherEntryName(Kernel, 0)].Resources.RegsPerThread, 64u);
  EXPECT_EQ(Emitted[furtherEntryName(Kernel, 1)].Resources.RegsPerThread, 48u);
  for (const Words &Command : {Words{"report"}, Words{"explain", "bulky"}}) {
    CommandResult R = carve(Command);
    EXPECT_NE(R.Stdout.find("r64+r48"), std::string::npos)
        << Command.front() << R.Stdout << R.Stderr;
  }
  CommandResult Checked = carve({"check", "tuned.yaml", "tuned.yaml"});
  EXPECT_EQ(Checked.ExitStatus, 0) << Checked.Stdout << Checked.Stderr;
  // A colleague has an empty store and the profile.
  std::string First = read("three.o");
  build(Object, {"CARVE_STORE=" + path("other"), "CARVE_PROFILE=tuned.yaml"});
  EXPECT_TRUE(read("three.o") == First) << log();
}

TEST_F(TwoGrids, noEntriesOrOneRoundOrLittleGain_oneVariantServesBoth) {
  keepKernels({"bulky"});
  build(Object);
  writeSamples(
      {{{"r64", 0.8, 1.1}, {"r48", 1.1, 0.7}}, {{"r64", 0.8, 1.1}, {"r64+r48", 0.8, 0.7}}});
  EXPECT_EQ(tune({"--effort=1", "--entries=off"}).Variant, "r64") << log();
  EXPECT_EQ(tune({"--effort=0"}).Variant, "r64") << log();
  writeSamples(
      {{{"r64", 0.8, 0.8}, {"r48", 1.1, 0.79}}, {{"r64", 0.8, 0.8}, {"r64+r48", 0.8, 0.79}}});
  EXPECT_EQ(tune({"--effort=1"}).Variant, "r64") << log();
  EXPECT_FALSE(logSays("composed for its launch shapes")) << log();
  // What was promised does not come true.
  writeSamples(
      {{{"r64", 0.8, 1.1}, {"r48", 1.1, 0.7}}, {{"r64", 0.8, 1.1}, {"r64+r48", 0.8, 1.1}}});
  EXPECT_EQ(tune({"--effort=1"}).Variant, "r64") << log();
  EXPECT_TRUE(logSays("r64+r48, composed for its launch shapes")) << log();
}

/// What is known of the launches is part of the guard, and the code is compiled for its grid as
/// well.
TEST_F(TwoGrids, knownValuesAndACap_becomeTwoEntries) {
  keepKernels({"bulky"});
  build(Object);
  writeSamples(
      {{{"known", 0.8, 1.1}, {"r64", 1.1, 0.7}}, {{"known", 0.8, 1.1}, {"known+r64", 0.8, 0.7}}},
      "probe\targument\t" + Kernel + "\t2\t4\t256\t0\n");
  KernelReport Tuned = tune({"--effort=2"});
  EXPECT_EQ(Tuned.Variant, "known+r64") << Tuned.Reason.text() << log();
  expectEntries("known", "r64");
  Profile Kept = decisions();
  const Decision *D = decisionOf(Kept, BulkyName);
  ASSERT_TRUE(D && D->Entries.size() == 2);
  EXPECT_EQ(D->Entries[0].When.Arguments, (std::vector<ArgumentValue>{{2, 4, 256}}));
  EXPECT_TRUE(D->Entries[1].When.Arguments.empty());
}

/// Each code is assembled as its own setting says. What is spilled to shared memory is as much as a
/// block of the guard needs, in the tuning and in the object. The second run knows a variant that
/// the search proposes only then, and what is composed of the first run.
TEST_F(TwoGrids, settingOfTheAssemblerAndSharedMemory_areThoseOfEachCode) {
  keepKernels({"bulky"});
  build(Object);
  writeSamples({{{"r64", 0.9, 1.1}, {"o1", 0.8, 1.1}},
                {{"o1", 0.8, 1.1}, {"o1+default", 0.8, 1}, {"r48-smem", 1.1, 0.7}},
                {{"o1+default", 0.8, 1}, {"o1+r48-smem", 0.8, 0.7}}});
  KernelReport Tuned = tune({"--effort=2", "--entries=blocks"});
  EXPECT_EQ(Tuned.Variant, "o1+r48-smem") << Tuned.Reason.text() << log();
  expectEntries("o1", "r48-smem");
}

namespace {

/// Tunings of bulky with recorded samples, in which the second timing run knows a variant that
/// spills to shared memory and becomes an entry whose guard names no block.
class SpillingEntry : public TuneRecorded {
protected:
  /// Tunes with timing runs of \p First and then of \p Best beside it. Checks that the object has
  /// the code of the only entry that was timed, and returns its guard.
  EntryGuard tunedGuard(const std::string &First, const std::string &Best, const Words &Options,
                        const std::string &Arguments = "");
};

EntryGuard SpillingEntry::tunedGuard(const std::string &First, const std::string &Best,
                                     const Words &Options, const std::string &Arguments) {
  std::string Text = llvm::cantFail(readFile(Samples)), Added = Arguments + "probe\tend\n";
  for (unsigned Number : {1u, 2u}) {
    TimingText Run(Bulky, Number == 1 ? std::vector{First} : std::vector{First, Best});
    Run.Ratios[2] = 0.8;
    Run.Ratios.back() = Number == 1 ? 0.8 : 0.6;
    Added += "timing-run\t" + std::to_string(Number) + "\n" +
             Run.replayed(Number == 1 ? std::vector<size_t>{2} : std::vector<size_t>{2, 3});
  }
  Text.replace(Text.find("probe\tend\n"), strlen("probe\tend\n"), Added);
  for (int I = 0; I < 9; ++I)
    Text += "sample\t" + std::string(Bulky) + "\t" + Best + "\t" +
            std::to_string(3600000 + 1000 * I) + "\n";
  write("spills.samples", Text);
  Words Command = {"tune", "--samples=spills.samples", "--effort=2", "--format=json"};
  llvm::append_range(Command, Options);
  llvm::append_range(Command, Words{"--", "./app"});
  CommandResult R = carve(Command);
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  // What is not recorded counts as what a run had no time for.
  EXPECT_TRUE(logSays("of its variants had no time in the last run and come again")) << log();
  Profile Kept = decisions();
  const Decision *D = decisionOf(Kept, BulkyName);
  if (!D || D->Entries.size() != 1) {
    ADD_FAILURE() << log();
    return {};
  }
  EXPECT_EQ(variantName(D->Entries[0].Variant), Best);
  Words Compile = Object;
  if (!Options.empty())
    Compile.push_back("--carve-launch-domain=traced");
  build(Compile);
  EXPECT_EQ(kernelsOf("three.o")[furtherEntryName(Bulky, 0)].CodeDigest, D->Entries[0].CodeDigest)
      << log();
  return D->Entries[0].When;
}

} // namespace

/// In the traced domain, the blocks that were launched are smaller than those that the guard lets
/// through.
TEST_F(SpillingEntry, valuesThatAllLaunchesHave_haveTheCodeThatWasTimed) {
  keepKernels({"bulky"});
  replaceInSource("__global__ void bulky", "__global__ void __maxnreg__(64) bulky");
  for (const Words &Options : {Words(), Words{"--launch-domain=traced"}}) {
    SCOPED_TRACE(Options.size());
    build(Object);
    EntryGuard When = tunedGuard("known", "known-smem", Options,
                                 "probe\targument\t" + std::string(Bulky) + "\t2\t4\t256\t0\n");
    EXPECT_EQ(When, (EntryGuard{.Arguments = {{2, 4, 256}}}));
    EXPECT_TRUE(carve({"store", "clear"}).succeeded());
  }
}

TEST_F(SpillingEntry, moreRegistersThanTheLargestBlockAllows_haveTheCodeThatWasTimed) {
  keepKernels({"bulky"});
  replaceInSource("__global__ void bulky", "__global__ void __maxnreg__(64) bulky");
  build(Object);
  EntryGuard When = tunedGuard("r80", "r80-smem", {});
  EXPECT_EQ(When, (EntryGuard{.MaxThreads = 768}));
}

TEST_F(TuneRecorded, variantAtFault_isAnnouncedAndLeftOut) {
  keepKernels({"bulky", "steady", "noisy"});
  build(Object);
  auto Positions = variantsOfJob();
  TimingText BulkyRun(Bulky, inOrder(Positions[Bulky]));
  BulkyRun.Ratios[Positions[Bulky]["r64"]] = 0.8;
  BulkyRun.Ratios[Positions[Bulky]["r80"]] = 0.9;
  std::string Text = llvm::cantFail(readFile(Samples));
  Text += BulkyRun.replayed({Positions[Bulky]["r64"], Positions[Bulky]["r48"]}) +
          "timing\tfault\t" + Bulky + "\tr80\tran for 10 s\n";
  write("fault.samples", Text);
  CommandResult R = carve({"tune", "--samples=fault.samples", "--", "./app"});
  ASSERT_TRUE(R.succeeded()) << R.Stderr << log();
  EXPECT_NE(R.Stderr.find(std::string("carve: note: timing again: variant r80 of ") + BulkyName),
            std::string::npos)
      << R.Stderr;
  EXPECT_NE(R.Stdout.find("timed again: "), std::string::npos) << R.Stdout;
  build(Object);
  EXPECT_EQ(bulkyRegs("three.o"), 64u) << log();
}

namespace {

/// Returns the time of any setting that a search may propose, divided by the default's. It is least
/// at 64 registers, and a little less with other load caching, least with loads from L2.
double wideRatio(const VariantSetting &V) {
  double Ratio = V.Cap ? 0.8 + 0.3 * std::abs(std::log2(*V.Cap / 64.0)) : 1;
  if (V.FrontEndCap)
    Ratio *= 1.02;
  if (V.FrontEnd != FrontEndKnob::None)
    Ratio *= 0.99;
  if (V.SmemSpilling)
    Ratio *= 1.05;
  if (V.Loads != LoadCaching::AsCompiled)
    Ratio *= V.Loads == LoadCaching::L2Only ? 0.96 : 0.98;
  return Ratio;
}

std::vector<VariantSetting> wideSettings() {
  KnobSpace Space;
  for (unsigned Cap = 24; Cap <= 128; Cap += 2)
    Space.Caps.push_back(Cap);
  Space.FrontEndCaps = Space.SmemSpilling = true;
  Space.LoadCachings = {LoadCaching::L2Only, LoadCaching::EvictFirst, LoadCaching::NoAllocate};
  Space.FrontEndKnobs = frontEndKnobs();
  Space.RegisterUsageLevels = {0, 10};
  Space.LessOptimized = true;
  std::vector<VariantSetting> All = allSettings(Space);
  // With every product of these knobs, the samples would be a text of 30 MB. A search that asks for
  // more than each beside a register cap gets no time for it.
  llvm::erase_if(All, [](const VariantSetting &V) {
    bool Hinted = V.Loads == LoadCaching::EvictFirst || V.Loads == LoadCaching::NoAllocate;
    bool Knob = V.FrontEnd != FrontEndKnob::None;
    bool Others = V.FrontEndCap || V.SmemSpilling || V.Loads != LoadCaching::AsCompiled;
    return (Knob && Others) || (Hinted && (V.FrontEndCap || V.SmemSpilling));
  });
  return All;
}

/// Returns the traced run of three.samples.
std::string recordedTrace() {
  std::string Trace;
  std::string Recorded = llvm::cantFail(readFile(Samples));
  for (llvm::StringRef Line : llvm::split(llvm::StringRef(Recorded), "\n"))
    if (Line.starts_with("probe\t"))
      Trace += (Line + "\n").str();
  return Trace;
}

/// Returns samples of \p Kernels: three timing runs that know all settings, and whole runs.
std::string wideSamples(
    const std::string &Trace, const std::vector<std::string> &Kernels,
    llvm::function_ref<double(llvm::StringRef, const VariantSetting &)> RatioOf =
        [](llvm::StringRef, const VariantSetting &V) { return wideRatio(V); }) {
  std::vector<VariantSetting> Settings{{}, {}};
  llvm::append_range(Settings, wideSettings());
  std::vector<std::string> Names;
  for (const VariantSetting &Setting : wideSettings())
    Names.push_back(variantName(Setting));
  std::string Timing, Samples;
  for (const std::string &Kernel : Kernels) {
    TimingText Run(Kernel, Names);
    std::vector<size_t> Held;
    for (size_t V = 0; V < Settings.size(); ++V) {
      Run.Ratios[V] = RatioOf(Kernel, Settings[V]);
      if (V > 1)
        Held.push_back(V);
    }
    Timing += Run.replayed(Held);
    for (size_t V = 0; V < Settings.size(); ++V)
      for (int Noise : {0, 500})
        for (const char *Name : {V == 1 ? "control" : V == 0 ? "default" : "", "untouched"})
          if (V < 2 || !*Name)
            Samples += "sample\t" + Kernel + "\t" + (*Name ? Name : variantName(Settings[V])) +
                       "\t" + std::to_string(unsigned(2e6 * RatioOf(Kernel, Settings[V])) + Noise) +
                       "\n";
  }
  std::string Text = "carve-samples\t1\n" + Trace;
  for (int Run = 1; Run <= 3; ++Run)
    Text += "timing-run\t" + std::to_string(Run) + "\n" + Timing;
  return Text + Samples;
}

} // namespace

/// What ptxas is told is chosen for each kernel: steady is fastest at optimization level 1, and
/// noisy at register-usage level 10.
TEST_F(TuneRecorded, assemblerSettings_areOfEachKernel) {
  keepKernels({"steady", "noisy"});
  const Words Wide{"CARVE_EFFORT=2"};
  build(Object, Wide);
  std::string Text = wideSamples(
      recordedTrace(), {Steady, Noisy}, [](llvm::StringRef Kernel, const VariantSetting &V) {
        bool Fast = Kernel == Noisy ? V.RegisterUsageLevel == 10u : V.OptimizationLevel == 1u;
        return Fast && !V.Cap ? 0.7 : 1.0;
      });
  write("levels.samples", Text);
  CommandResult R =
      carve({"tune", "--samples=levels.samples", "--format=json", "--", "./app"}, Wide);
  ASSERT_TRUE(R.succeeded()) << R.Stderr << log();
  build(Object, Wide);
  Profile Kept = decisions();
  ImageKernels Emitted = kernelsOf("three.o");
  for (const auto &[Mangled, Variant] :
       {std::pair(std::string(Noisy), "l10"), {std::string(Steady), "o1"}}) {
    std::string Name = profileName(Mangled);
    const Decision *D = decisionOf(Kept, Name);
    ASSERT_TRUE(D && D->Basis) << Name << R.Stdout;
    EXPECT_EQ(variantName(D->Variant), Variant) << R.Stdout;
    EXPECT_EQ(Emitted[Mangled].CodeDigest, D->Basis->CodeDigest) << Name << log();
  }
}

/// Rounds search over every knob. At the end the object has the code that was timed.
TEST_F(TuneRecorded, wideSpace_isSearchedInRounds) {
  keepKernels({"bulky", "steady"});
  const Words Wide{"CARVE_EFFORT=2"};
  build(Object, Wide);
  write("wide.samples", wideSamples(recordedTrace(), {Bulky, Steady}));
  CommandResult R = carve({"tune", "--samples=wide.samples", "--format=json", "--", "./app"}, Wide);
  ASSERT_TRUE(R.succeeded()) << R.Stderr << log();
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
  unsigned Compiled = 0;
  for (const KernelReport &K : Report->Kernels) {
    if (K.Compiled == 0)
      continue;
    SCOPED_TRACE(K.Kernel);
    Compiled += K.Compiled;
    EXPECT_EQ(K.InRun.Mode, "replay");
    double Least = 1;
    size_t Timed = 0, BeyondCaps = 0;
    for (const VariantReport &V : K.Variants) {
      if (V.Ratio == 0) // This front-end cap or product of knobs is not recorded.
        continue;
      ++Timed;
      BeyondCaps += llvm::StringRef(V.Name).contains('-');
      Least = std::min(Least, V.Ratio);
    }
    EXPECT_GT(Timed, 3u);
    EXPECT_GT(BeyondCaps, 0u);
    ASSERT_TRUE(K.Tuned) << K.Reason.text();
    EXPECT_LT(Least, 0.9);
    EXPECT_NEAR(wideRatio(llvm::cantFail(parseVariantName(K.Variant))), Least, 0.01);
    for (const VariantReport &V : K.Carved)
      EXPECT_NE(V.Carved, "") << V.Name;
  }
  EXPECT_EQ(Report->VariantsCompiled, Compiled);
  std::string Log = read("carve.log");
  EXPECT_GE(llvm::StringRef(Log).count(std::string(Bulky) + ": replay: "), 2u) << "rounds";
  // ptxas makes the same of an entry alone as among all entries.
  EXPECT_FALSE(logSays("other code in the whole module than by itself")) << log();

  CommandResult Explained = carve({"explain", "bulky"});
  EXPECT_TRUE(Explained.succeeded()) << Explained.Stderr;
  for (const char *Part : {BulkyName, ", chosen\n", "variants compiled"})
    EXPECT_NE(Explained.Stdout.find(Part), std::string::npos) << Part << "\n" << Explained.Stdout;

  build(Object, Wide);
  Profile Kept = decisions();
  ImageKernels Emitted = kernelsOf("three.o");
  for (const auto &[Mangled, Name] : {std::pair(std::string(Bulky), std::string(BulkyName))}) {
    const Decision *D = decisionOf(Kept, Name);
    ASSERT_TRUE(D && D->Basis);
    EXPECT_EQ(Emitted[Mangled].CodeDigest, D->Basis->CodeDigest)
        << variantName(D->Variant) << log();
  }
}

TEST_F(TuneRecorded, unusableSamples_leaveNvccsProgram) {
  keepKernels({"bulky"});
  build(Program, {"CARVE_RUN=none"});
  std::string Before = read("app");
  write("bad.samples", "carve-samples\t1\nnonsense\n");
  Words Arguments = Program;
  Arguments.push_back("--carve-samples=bad.samples");
  build(Arguments);
  EXPECT_TRUE(read("app") == Before);
  EXPECT_TRUE(logSays("bad.samples:2")) << log();
  CommandResult R = carve({"tune", "--samples=bad.samples", "--", "./app"});
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_NE(R.Stderr.find("bad.samples:2"), std::string::npos) << R.Stderr;
}

namespace {

/// Tunings of bulky whose only parameter is a structure: two addresses, the count, and what
/// changes.
class OneStructure : public TuneRecorded {
protected:
  /// Writes samples for \p Kernel, whose variant \p Best is faster than `r64`.
  void writeSamples(const std::string &Kernel, const std::string &Best);
  KernelReport tune(const Words &Options);
  /// Tunes \p Kernel, which profiles call \p Name, and checks that an entry with \p Best is emitted
  /// for the count, and that without entries for values `r64` wins.
  void expectEntry(const std::string &Kernel, const std::string &Name, const std::string &Best);
};

void OneStructure::writeSamples(const std::string &Kernel, const std::string &Best) {
  std::string Text = llvm::cantFail(readFile(Samples));
  for (size_t At = 0; (At = Text.find(Bulky, At)) != std::string::npos; At += Kernel.size())
    Text.replace(At, strlen(Bulky), Kernel);
  // Words of 4 bytes, as the probe has them.
  std::string Arguments;
  for (auto [Offset, Bits] :
       {std::pair(0, 4096), {4, 32512}, {8, 8192}, {12, 32512}, {16, 256}, {20, 1}, {20, 2}})
    Arguments += "probe\targument\t" + Kernel + "\t0\t4\t" + std::to_string(Bits) + "\t" +
                 std::to_string(Offset) + "\n";
  TimingText Run(Kernel, {Best, "r64"});
  Run.Ratios[2] = 0.6;
  Run.Ratios[3] = 0.8;
  Text.replace(Text.find("probe\tend\n"), strlen("probe\tend\n"),
               Arguments + "probe\tend\n" + Run.replayed({2, 3}));
  for (int I = 0; I < 9; ++I)
    Text += "sample\t" + Kernel + "\t" + Best + "\t" + std::to_string(3600000 + 1000 * I) + "\n";
  write("fields.samples", Text);
}

KernelReport OneStructure::tune(const Words &Options) {
  Words Command = {"tune", "--samples=fields.samples", "--effort=2", "--format=json"};
  llvm::append_range(Command, Options);
  llvm::append_range(Command, Words{"--", "./app"});
  CommandResult R = carve(Command);
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  return Report ? Report->Kernels.front() : KernelReport();
}

void OneStructure::expectEntry(const std::string &Kernel, const std::string &Name,
                               const std::string &Best) {
  SCOPED_TRACE(Best);
  writeSamples(Kernel, Best);
  KernelReport Tuned = tune({});
  EXPECT_EQ(Tuned.Variant, Best) << Tuned.Reason.text() << log();
  ASSERT_EQ(Tuned.Entries.size(), 1u);
  EXPECT_NE(Tuned.Entries[0].When.find("bytes 16 to 19 of parameter 0 = 256"), std::string::npos)
      << Tuned.Entries[0].When;
  Profile Kept = decisions();
  const Decision *D = decisionOf(Kept, Name);
  ASSERT_TRUE(D);
  EXPECT_TRUE(D->Variant.isDefault());
  ASSERT_EQ(D->Entries.size(), 1u);
  EXPECT_EQ(D->Entries[0].When.Arguments, (std::vector<ArgumentValue>{{0, 4, 256, 16}}));
  build(Object);
  ImageKernels New = kernelsOf("three.o");
  EXPECT_EQ(New[Kernel + "__carve_e1"].CodeDigest, D->Entries[0].CodeDigest) << log();
  EXPECT_NE(New[Kernel + "__carve_e1"].CodeDigest, New[Kernel].CodeDigest);
  EXPECT_EQ(tune({"--entries=blocks"}).Variant, "r64") << log();
  EXPECT_TRUE(carve({"store", "clear"}).succeeded());
}

} // namespace

TEST_F(OneStructure, fieldThatAllLaunchesHave_becomesAnEntry) {
  keepKernels({"bulky"});
  replaceInSource("__global__ void bulky(double *Y, const double *X, int N) { mix<40>(Y, X, N); }",
                  "struct Args { double *Y; const double *X; int N; unsigned Other; };\n"
                  "__global__ void bulky(Args A) { mix<40>(A.Y, A.X, A.N); }");
  replaceInSource("(Y.Data, X.Data, N);", "(Args{Y.Data, X.Data, N, 0});");
  for (const char *Best : {"known", "knownptx"}) {
    build(Object);
    expectEntry("_Z5bulky4Args", "bulky(Args)", Best);
  }
}

/// As Kokkos has it: one of two overloads, which gets a functor and is launched by a pointer.
TEST_F(OneStructure, fieldOfAFunctor_becomesAnEntry) {
  keepKernels({"bulky"});
  replaceInSource(
      "__global__ void bulky(double *Y, const double *X, int N) { mix<40>(Y, X, N); }",
      "template <class Driver> __global__ static void launch(const Driver driver) { driver(); }\n"
      "template <class Driver, unsigned Threads, unsigned Blocks>\n"
      "__global__ __launch_bounds__(Threads, Blocks) static void launch(const Driver driver) {\n"
      "  driver();\n"
      "}\n"
      "struct Functor {\n"
      "  double *Y; const double *X; int N; unsigned Other;\n"
      "  __device__ void operator()() const { mix<40>(Y, X, N); }\n"
      "};\n"
      "static void (*bulkyKernel())(const Functor) { return launch<Functor>; }");
  std::string Text = read("three.cu");
  size_t At = Text.find("bulky<<<");
  ASSERT_NE(At, std::string::npos);
  write("three.cu", Text.replace(At, strlen("bulky"), "bulkyKernel()"));
  replaceInSource("(Y.Data, X.Data, N);", "(Functor{Y.Data, X.Data, N, 0});");
  build(Object);
  expectEntry("_Z6launchI7FunctorEvT_", "void launch<Functor>(Functor)", "known");
}
