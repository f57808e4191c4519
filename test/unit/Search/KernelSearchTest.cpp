#include "Search/KernelSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

using namespace carve;

namespace {

KnobSpace space() {
  KnobSpace S;
  S.Caps = {32, 40, 48, 64, 80};
  S.DefaultRegs = 48;
  S.MinRegs = 24;
  S.MaxRegs = 80;
  S.FrontEndCaps = true;
  S.LoadCachings = {LoadCaching::L2Only, LoadCaching::EvictFirst};
  S.RegisterUsageLevels = {0, 10};
  S.LessOptimized = true;
  return S;
}

/// The answers that compiling and timing would give: the time of a variant over the default's, and
/// whether it can be compiled.
struct World {
  std::function<double(const VariantSetting &)> Ratio = [](const VariantSetting &) { return 1.0; };
  std::function<bool(const VariantSetting &)> CanBeMade = [](const VariantSetting &) {
    return true;
  };
  std::function<void(Candidate &)> Code = [](Candidate &) {};
  size_t Spare = 0; ///< So many more are compiled in a round than can be timed.
  std::vector<std::vector<VariantSetting>> Proposed, Timed; ///< One element for each round.

  /// Makes rounds of at most the sizes \p Rounds.
  void run(KernelSearch &Search, const std::vector<size_t> &Rounds) {
    for (size_t Most : Rounds) {
      std::vector<VariantSetting> Wanted = Search.propose(Most + Spare);
      if (Wanted.empty())
        break;
      Proposed.push_back(Wanted);
      std::vector<Candidate> Made;
      if (Proposed.size() == 1)
        Made.push_back(candidate({}));
      for (const VariantSetting &V : Wanted)
        if (CanBeMade(V))
          Made.push_back(candidate(V));
      Timed.push_back(Search.admit(Wanted, Made, Most));
      std::map<VariantSetting, double> Ratios;
      for (const VariantSetting &V : Timed.back())
        Ratios[V] = Ratio(V);
      Search.learn(Ratios);
    }
    Search.finish();
  }

  Candidate candidate(const VariantSetting &V) {
    Candidate C;
    C.Setting = V;
    C.Metrics.RegsPerThread = V.Cap.value_or(48);
    C.Metrics.BlocksPerSm = 65536 / 256 / C.Metrics.RegsPerThread;
    Code(C);
    return C;
  }

  std::vector<VariantSetting> allTimed() const {
    std::vector<VariantSetting> All;
    for (const auto &Round : Timed)
      All.insert(All.end(), Round.begin(), Round.end());
    return All;
  }
};

VariantSetting parsed(llvm::StringRef Name) { return llvm::cantFail(parseVariantName(Name)); }

std::string reasonOf(const KernelSearch &S, llvm::StringRef Name) {
  for (const CarvedVariant &C : S.carved())
    if (C.Setting == parsed(Name))
      return C.Reason;
  return "";
}

} // namespace

TEST(KernelSearch, effort0_timesOnlyCriticalPoints) {
  KernelSearch S(space(), /*Effort=*/0);
  World W;
  W.run(S, {7, 5});
  ASSERT_EQ(W.Timed.size(), 1u);
  EXPECT_EQ(W.Timed[0].size(), 5u);
  for (unsigned Cap : space().Caps)
    EXPECT_TRUE(llvm::is_contained(W.Timed[0], parsed("r" + std::to_string(Cap)))) << Cap;
}

TEST(KernelSearch, effort_decidesKnobs) {
  for (unsigned Effort : {1u, 2u, 3u}) {
    KernelSearch S(space(), Effort);
    World W;
    W.Ratio = [](const VariantSetting &V) { return V.Cap == 40u ? 0.9 : 1.0; };
    W.run(S, {12, 10, 10});
    auto any = [&](auto Has) { return llvm::any_of(W.allTimed(), Has); };
    EXPECT_TRUE(any([](const VariantSetting &V) { return V.FrontEndCap; }));
    EXPECT_EQ(any([](const VariantSetting &V) { return V.RegisterUsageLevel; }), Effort >= 2);
    EXPECT_EQ(any([](const VariantSetting &V) { return V.OptimizationLevel; }), Effort >= 2);
    EXPECT_EQ(any([](const VariantSetting &V) {
                return V.Loads != LoadCaching::AsCompiled || V.Cap.value_or(32) % 8;
              }),
              Effort >= 2);
  }
}

TEST(KernelSearch, roundsOfAnySize_areKeptWithoutRepeats) {
  for (size_t Size : {1, 2, 3, 5, 8, 12, 24, 1000})
    for (unsigned Effort : {0u, 1u, 2u, 3u}) {
      KernelSearch S(space(), Effort);
      World W;
      W.Ratio = [](const VariantSetting &V) { return 1 - 0.001 * V.Cap.value_or(48); };
      W.run(S, {Size, Size, Size});
      for (const std::vector<VariantSetting> &Round : W.Timed)
        EXPECT_LE(Round.size(), Size);
      std::vector<VariantSetting> All = W.allTimed();
      EXPECT_EQ(All.size(), S.timed());
      EXPECT_EQ(std::set<VariantSetting>(All.begin(), All.end()).size(), All.size());
      EXPECT_FALSE(llvm::is_contained(All, VariantSetting()));
    }
}

TEST(KernelSearch, roundWithoutLimit_timesAllThatIsWorthIt) {
  KernelSearch S(space(), 2);
  World W;
  size_t Whole = settingsOf(space(), 2).size();
  W.run(S, {1000});
  EXPECT_GT(W.Timed[0].size(), Whole * 3 / 4);
}

TEST(KernelSearch, rest_fallsToNothingAsTimesAreLearned) {
  KernelSearch S(space(), 2);
  KernelSearch::Rest Before = S.rest();
  EXPECT_GT(Before.Settings, 20u);
  EXPECT_GT(Before.Promise, 0.02);
  World W;
  W.run(S, {10});
  KernelSearch::Rest After = S.rest();
  EXPECT_LT(After.Promise, Before.Promise);
  World More;
  More.run(S, std::vector<size_t>(100, 10));
  EXPECT_EQ(S.rest().Settings, 0u);
  EXPECT_EQ(S.rest().Promise, 0);
}

TEST(KernelSearch, rest_settingsThatWereNotTimed_countAgain) {
  KernelSearch New(space(), 2);
  KernelSearch::Rest Before = New.rest(), With = New.rest({VariantSetting{.Cap = 33}});
  EXPECT_EQ(With.Settings, Before.Settings + 1);
  EXPECT_GE(With.Promise, Before.Promise);
}

TEST(KernelSearch, rest_slowVariants_doNotPromiseFastOnes) {
  auto PromiseAfter = [](double Slow) {
    KernelSearch S(space(), 2);
    World W;
    W.Ratio = [&](const VariantSetting &V) { return V.Cap.value_or(48) < 40 ? Slow : 1.0; };
    W.run(S, {10});
    return S.rest().Promise;
  };
  double Usual = PromiseAfter(1.1);
  EXPECT_GT(Usual, 0);
  EXPECT_LT(PromiseAfter(3), 1.5 * Usual);
}

/// Code for known values may have a third of the instructions, and be slower all the same.
TEST(KernelSearch, rest_fewInstructionsThatWereSlow_doNotHideOthers) {
  auto PromiseAfter = [](double Work) {
    KnobSpace Space = space();
    Space.FrontEndKnobs = {FrontEndKnob::KnownLaunch};
    const VariantSetting Known{.FrontEnd = FrontEndKnob::KnownLaunch};
    KernelSearch S(Space, 2);
    World W;
    W.Ratio = [&](const VariantSetting &V) { return V == Known ? 1.03 : 1.0; };
    W.Code = [&](Candidate &C) {
      KernelCounts &Counts = C.Metrics.Counts.emplace();
      Counts.Instructions = Counts.GlobalLoadBytes = C.Setting == Known ? Work : 1000;
    };
    W.run(S, {12});
    EXPECT_TRUE(llvm::is_contained(W.Timed[0], Known));
    return S.rest().Promise;
  };
  double Usual = PromiseAfter(1000);
  EXPECT_GE(Usual, LeastPromise);
  EXPECT_GE(PromiseAfter(300), 0.5 * Usual);
}

TEST(KernelSearch, settingNotTried_isProposedAgain) {
  KernelSearch S(space(), 2);
  std::vector<VariantSetting> Wanted = S.propose(6), Tried(Wanted.begin(), Wanted.begin() + 2);
  World W;
  ASSERT_EQ(
      S.admit(Tried, {W.candidate({}), W.candidate(Tried[0]), W.candidate(Tried[1])}, 6).size(),
      2u);
  std::vector<VariantSetting> Again = S.propose(1000);
  for (const VariantSetting &V : Wanted)
    EXPECT_EQ(llvm::is_contained(Again, V), !llvm::is_contained(Tried, V)) << variantName(V);
}

TEST(KernelSearch, round_isFilledWithWhatPromisesLittle) {
  KernelSearch S(space(), 2);
  World W;
  W.Ratio = [](const VariantSetting &V) { return V.Cap == 40u ? 0.9 : 1.0; };
  W.run(S, {10, 10});
  std::vector<VariantSetting> Wanted = S.propose(1000);
  const size_t Promising = Wanted.size();
  S.fill(Wanted, 1000);
  ASSERT_GT(Promising, 0u);
  ASSERT_LT(Promising, Wanted.size());
  std::set<VariantSetting> Different(Wanted.begin(), Wanted.end());
  EXPECT_EQ(Different.size(), Wanted.size());
  for (size_t I = Promising + 1; I < Wanted.size(); ++I)
    EXPECT_GE(S.promiseOf(Wanted[I - 1]), S.promiseOf(Wanted[I])) << variantName(Wanted[I]);
  // A smaller round has no room for them.
  Wanted = S.propose(Promising);
  EXPECT_EQ(Wanted.size(), Promising);
  S.fill(Wanted, Promising);
  EXPECT_EQ(Wanted.size(), Promising);
  // A kernel for which nothing is worth a round gets none.
  std::vector<VariantSetting> Nothing;
  S.fill(Nothing, 1000);
  EXPECT_TRUE(Nothing.empty());
}

TEST(KernelSearch, requests_comeByShareAndRank_andFillersLast) {
  EXPECT_GT(requestWeight(0.5, 0, false), requestWeight(0.5, 1, false));
  EXPECT_GT(requestWeight(0.5, 3, false), requestWeight(0.1, 0, false));
  EXPECT_GT(requestWeight(0.001, 90, false), requestWeight(1, 0, true));
  EXPECT_GT(requestWeight(0.5, 9, true), requestWeight(0.5, 10, true));
}

TEST(KernelSearch, forbiddenSetting_isNotProposedAgain) {
  KernelSearch S(space(), 2);
  VariantSetting First = S.propose(1).front();
  S.forbid(First);
  EXPECT_FALSE(llvm::is_contained(S.propose(1000), First));
}

TEST(KernelSearch, firstRound_hasPointsNearestToDefault) {
  KernelSearch S(space(), 2);
  World W;
  W.run(S, {7, 5});
  for (llvm::StringRef Near : {"r40", "r48", "r64"})
    EXPECT_TRUE(llvm::is_contained(W.Timed[0], parsed(Near))) << Near.str();
}

TEST(KernelSearch, laterRounds_gatherAroundTheBest) {
  KernelSearch S(space(), 2);
  World W;
  W.Ratio = [](const VariantSetting &V) {
    double Ratio = V.Cap && *V.Cap <= 40 && *V.Cap >= 36 ? 0.7 : 1.05;
    return V.FrontEndCap == V.Cap && V.Cap ? Ratio - 0.02 : Ratio;
  };
  W.run(S, {7, 5});
  ASSERT_EQ(W.Timed.size(), 2u);
  EXPECT_TRUE(llvm::is_contained(W.allTimed(), parsed("r40-f40")));
  EXPECT_GE(llvm::count_if(W.Timed[1],
                           [](const VariantSetting &V) { return V.Cap >= 34 && V.Cap <= 44; }),
            3);
}

TEST(KernelSearch, registerUsageLevel_isTimedAloneBeforeCombined) {
  KernelSearch S(space(), 3);
  World W;
  W.Ratio = [](const VariantSetting &V) { return V.RegisterUsageLevel == 10u ? 0.9 : 1.0; };
  W.run(S, {10, 8, 6});
  std::set<unsigned> Levels;
  bool Combined = false;
  for (const auto &Round : W.Timed) {
    for (const VariantSetting &V : Round)
      if (V.RegisterUsageLevel && (V.Cap || V.FrontEndCap)) {
        Combined = true;
        EXPECT_TRUE(Levels.count(*V.RegisterUsageLevel)) << variantName(V);
      }
    for (const VariantSetting &V : Round)
      if (V.RegisterUsageLevel)
        Levels.insert(*V.RegisterUsageLevel);
  }
  EXPECT_TRUE(Combined);
}

TEST(KernelSearch, knobs_areTriedAtTheBestAndNotFarFromIt) {
  KnobSpace Space = space();
  Space.SmemSpilling = true;
  KernelSearch S(Space, 2);
  World W;
  W.Ratio = [](const VariantSetting &V) { return V.Cap == 64u ? 0.97 : 1.05; };
  W.run(S, {14, 16});
  ASSERT_EQ(W.Timed.size(), 2u);
  for (llvm::StringRef Name : {"r64-smem", "r64-cg", "r64-cs", "r64-f64", "r64-f255"})
    EXPECT_TRUE(llvm::is_contained(W.allTimed(), parsed(Name))) << Name.str();
  for (const auto &Round : W.Proposed)
    for (const VariantSetting &V : Round)
      if (V.Loads != LoadCaching::AsCompiled) {
        EXPECT_TRUE(!V.Cap || V.Cap == 64u) << variantName(V);
      }
}

TEST(KernelSearch, smemSpilling_comesBesideEveryCapThatWasCompiled) {
  KnobSpace Space = space();
  Space.SmemSpilling = true;
  Space.SpillsBelow = 64;
  KernelSearch S(Space, 3);
  World W;
  // Spilling makes caps slow, and shared memory makes up for it.
  W.Ratio = [](const VariantSetting &V) {
    return V.Cap == 40u && V.SmemSpilling ? 0.85 : V.Cap.value_or(48) < 48 ? 1.02 : 1.0;
  };
  W.run(S, {30, 15, 15});
  EXPECT_TRUE(llvm::is_contained(W.allTimed(), parsed("r40-smem")))
      << "neither alone gains anything";
  std::set<VariantSetting> Compiled;
  for (const auto &Round : W.Proposed) {
    for (const VariantSetting &V : Round) {
      VariantSetting CapAlone;
      CapAlone.Cap = V.Cap;
      VariantSetting WithSmem = CapAlone;
      WithSmem.SmemSpilling = true;
      if (V == WithSmem && V.Cap) {
        EXPECT_LT(*V.Cap, 64u) << "nothing is spilled there";
        EXPECT_TRUE(Compiled.count(CapAlone)) << variantName(V);
      }
    }
    Compiled.insert(Round.begin(), Round.end());
  }
}

TEST(KernelSearch, frontEndKnobs_areTriedAtTheBestToo) {
  KnobSpace Space = space();
  Space.FrontEndKnobs = frontEndKnobs();
  KernelSearch S(Space, 2);
  World W;
  W.Ratio = [](const VariantSetting &V) {
    double Ratio = V.Cap == 64u ? 0.9 : V.Cap ? 1.05 : 1;
    return V.FrontEnd == FrontEndKnob::UnrollMore ? Ratio - 0.02 : Ratio;
  };
  W.run(S, {12, 8, 8});
  std::vector<VariantSetting> All = W.allTimed();
  EXPECT_TRUE(llvm::is_contained(All, parsed("r64-unroll")));
  for (const VariantSetting &V : All)
    if (V.FrontEnd != FrontEndKnob::None) {
      EXPECT_TRUE(!V.Cap || V.Cap >= 60u) << variantName(V);
    }
}

TEST(KernelSearch, constantsInThePtx_areTriedAloneAndCombinedIfTheyDoSomething) {
  for (bool Idle : {false, true}) {
    KnobSpace Space = space();
    Space.KnownPtx = true;
    KernelSearch S(Space, 2);
    World W;
    W.Code = [&](Candidate &C) {
      VariantSetting Same = C.Setting;
      Same.KnownPtx = Same.KnownPtx && !Idle;
      C.CodeDigest = variantName(Same);
    };
    W.Ratio = [](const VariantSetting &V) {
      return (V.Cap == 64u ? 0.9 : V.Cap ? 1.05 : 1) - (V.KnownPtx ? 0.02 : 0);
    };
    W.run(S, {12, 8, 8});
    unsigned Alone = 0, Combined = 0;
    for (const auto &Round : W.Proposed)
      for (const VariantSetting &V : Round)
        if (V.KnownPtx)
          ++(V == parsed("knownptx") ? Alone : Combined);
    EXPECT_EQ(Alone, 1u);
    EXPECT_EQ(Combined == 0, Idle) << Combined;
  }
}

TEST(KernelSearch, codeForKnownLaunches_doesNotStandForTheSameCodeForAll) {
  auto With = [](llvm::StringRef Name) {
    Candidate C = World().candidate(parsed(Name));
    C.CodeDigest = "one code";
    return C;
  };
  const VariantSetting Known = parsed("knownptx"), All = parsed("cg");
  KernelSearch S(space(), 2);
  EXPECT_EQ(S.admit({Known}, {With("knownptx")}, 4), std::vector<VariantSetting>{Known});
  EXPECT_EQ(S.admit({All}, {With("cg")}, 4), std::vector<VariantSetting>{All});
  EXPECT_TRUE(S.admit({parsed("r40-knownptx")}, {With("r40-knownptx")}, 4).empty());
  EXPECT_EQ(reasonOf(S, "r40-knownptx"), "same code as cg");
}

TEST(KernelSearch, frontEndKnobThatDoesNothing_isNotCombined) {
  for (bool Refused : {true, false}) {
    KnobSpace Space = space();
    Space.FrontEndKnobs = {FrontEndKnob::UnrollMore, FrontEndKnob::NoRematerialization};
    KernelSearch S(Space, 2);
    World W;
    W.CanBeMade = [&](const VariantSetting &V) {
      return !Refused || V.FrontEnd != FrontEndKnob::UnrollMore;
    };
    W.Code = [&](Candidate &C) {
      VariantSetting Same = C.Setting;
      if (Same.FrontEnd == FrontEndKnob::UnrollMore)
        Same.FrontEnd = FrontEndKnob::None;
      C.CodeDigest = variantName(Same);
    };
    W.Ratio = [](const VariantSetting &V) { return V.Cap == 64u ? 0.9 : V.Cap ? 1.05 : 1; };
    W.run(S, {12, 6, 6});
    unsigned Asked = 0;
    bool Other = false;
    for (const auto &Round : W.Proposed)
      for (const VariantSetting &V : Round) {
        Asked += V.FrontEnd == FrontEndKnob::UnrollMore;
        Other |= V.FrontEnd == FrontEndKnob::NoRematerialization && V.Cap;
      }
    EXPECT_EQ(Asked, 1u) << "alone, in the first round";
    EXPECT_TRUE(Other) << "the other knob is";
  }
}

TEST(KernelSearch, variantCloseToTheBest_hasItsKnobsTriedToo) {
  for (double Second : {0.98, 1.1}) {
    KernelSearch S(space(), 2);
    World W;
    W.Ratio = [&](const VariantSetting &V) {
      return V.Cap == 64u ? 0.97 : V.Cap == 40u ? Second : 1.1;
    };
    W.run(S, {14, 10});
    EXPECT_TRUE(llvm::is_contained(W.allTimed(), parsed("r64-f64")));
    EXPECT_EQ(llvm::is_contained(W.allTimed(), parsed("r40-f40")), Second < 1);
  }
}

TEST(KernelSearch, variantEqualInMetrics_isTimedWhereThereIsTime) {
  for (size_t Spare : {0, 8}) {
    KernelSearch S(space(), 2);
    World W;
    W.Spare = Spare;
    W.Code = [](Candidate &C) {
      C.Metrics.Counts.emplace().Instructions = 100;
      C.Metrics.Occupancy = C.Metrics.BlocksPerSm / 10.0;
    };
    W.run(S, {Spare ? 8u : 30u});
    // Their metrics are equal to those of the cap alone, which comes first.
    auto BothEqual = [](const VariantSetting &V) { return V.Cap && V.FrontEndCap == V.Cap; };
    EXPECT_EQ(llvm::any_of(W.Timed[0], BothEqual), Spare == 0);
    EXPECT_TRUE(llvm::any_of(W.Proposed[0], BothEqual));
  }
}

TEST(KernelSearch, settingThatFailsToCompile_isNotProposedAgain) {
  KernelSearch S(space(), 2);
  World W;
  W.CanBeMade = [](const VariantSetting &V) { return V.Cap != 40u; };
  W.run(S, {7, 5});
  std::set<VariantSetting> Asked;
  for (const auto &Round : W.Proposed)
    for (const VariantSetting &V : Round)
      if (V.Cap == 40u) {
        EXPECT_TRUE(Asked.insert(V).second) << variantName(V);
      }
  EXPECT_FALSE(Asked.empty());
  EXPECT_EQ(S.timed(), W.allTimed().size());
}

TEST(KernelSearch, compiledSetting_isTimedOrHasAReason) {
  KernelSearch S(space(), 2);
  World W;
  W.Spare = 4;
  W.Code = [](Candidate &C) {
    if (C.Setting.Cap == 48u && !C.Setting.FrontEndCap)
      C.CodeDigest = "the default's";
    if (C.Setting.isDefault())
      C.CodeDigest = "the default's";
  };
  W.run(S, {7, 5});
  EXPECT_EQ(reasonOf(S, "r48"), "same code as default");
  std::vector<VariantSetting> Timed = W.allTimed();
  bool Left = false;
  for (const auto &Round : W.Proposed)
    for (const VariantSetting &V : Round) {
      std::string Reason = reasonOf(S, variantName(V));
      EXPECT_NE(llvm::is_contained(Timed, V), !Reason.empty()) << variantName(V);
      Left |= llvm::StringRef(Reason).starts_with("not timed: expected at ");
    }
  EXPECT_TRUE(Left);
}

TEST(KernelSearch, settingBeyondAThreshold_isTimedLast) {
  KnobSpace Space = space();
  Space.BandwidthShare = 0.95;
  for (size_t Spare : {0, 13}) {
    KernelSearch S(Space, 2);
    World W;
    W.Spare = Spare;
    W.Code = [](Candidate &C) {
      KernelCounts &N = C.Metrics.Counts.emplace();
      N.Instructions = 1000 - C.Metrics.RegsPerThread;
      C.Metrics.Occupancy = C.Metrics.BlocksPerSm / 10.0;
      N.GlobalLoadBytes = C.Setting.Cap == 40u ? 1200 : 1000;
    };
    W.run(S, {20 - Spare});
    EXPECT_TRUE(llvm::is_contained(W.Proposed[0], parsed("r40")));
    EXPECT_EQ(llvm::is_contained(W.Timed[0], parsed("r40")), Spare == 0);
  }
}

/// More is compiled than there is time for, which shows only then.
TEST(KernelSearch, firstRoundThatBecomesSmall_isNotOneOfCapsAlone) {
  KnobSpace Space = space();
  Space.FrontEndKnobs = {FrontEndKnob::UnrollMore, FrontEndKnob::NoRematerialization};
  KernelSearch S(Space, 2);
  World W;
  W.Spare = 20;
  W.run(S, {6});
  ASSERT_EQ(W.Timed[0].size(), 6u);
  auto IsPoint = [&](const VariantSetting &V) {
    return V.Cap && V == VariantSetting{.Cap = V.Cap} && llvm::is_contained(Space.Caps, *V.Cap);
  };
  EXPECT_EQ(llvm::count_if(W.Proposed[0], IsPoint), 5);
  EXPECT_EQ(llvm::count_if(W.Timed[0], IsPoint), 2);
  for (FrontEndKnob Knob : Space.FrontEndKnobs)
    EXPECT_TRUE(llvm::is_contained(W.Timed[0], VariantSetting{.FrontEnd = Knob}));
}

TEST(KernelSearch, firstRoundThatBecomesSmall_keepsWhatWasSuggested) {
  KernelSearch S(space(), 2);
  S.suggest({parsed("r32")}); // It is far from the default's 48 registers.
  World W;
  W.Spare = 20;
  W.run(S, {4});
  ASSERT_EQ(W.Timed[0].size(), 4u);
  EXPECT_EQ(W.Timed[0].front(), parsed("r32"));
}

/// A replay that runs out of time leaves the last ones untimed.
TEST(KernelSearch, settingsOfARound_comeByWhatTheirCodePromises) {
  KernelSearch S(space(), 2);
  World W;
  W.Code = [](Candidate &C) {
    KernelCounts &N = C.Metrics.Counts.emplace();
    N.Instructions = 1000;
    N.LocalLoadBytes = C.Metrics.RegsPerThread < 48 ? 8000 : 1;
  };
  W.run(S, {14});
  ASSERT_EQ(W.Timed[0].size(), 14u);
  auto Spills = [](const VariantSetting &V) { return V.Cap.value_or(48) < 48; };
  EXPECT_TRUE(llvm::any_of(W.Timed[0], Spills));
  EXPECT_TRUE(std::is_partitioned(W.Timed[0].begin(), W.Timed[0].end(), std::not_fn(Spills)));
}

TEST(KernelSearch, roundWithoutTimes_isFollowedByModelAlone) {
  KernelSearch S(space(), 2);
  World W;
  for (size_t Most : {7, 5}) {
    std::vector<Candidate> Made;
    if (Most == 7)
      Made.push_back(W.candidate({}));
    std::vector<VariantSetting> Wanted = S.propose(Most);
    for (const VariantSetting &V : Wanted)
      Made.push_back(W.candidate(V));
    EXPECT_EQ(S.admit(Wanted, Made, Most).size(), Most);
  }
}

TEST(KernelSearch, spaceOfATable_proposesOnlyItsRows) {
  KnobSpace Space = space();
  Space.Only = {parsed("r40"), parsed("r40-f40"), parsed("l10")};
  KernelSearch S(Space, 3);
  World W;
  W.run(S, {7, 5});
  EXPECT_EQ(W.allTimed().size(), 3u);
}

TEST(KnobSpace, frontEndCaps_areFreeOrOfACriticalPoint) {
  auto has = [](llvm::StringRef Name) {
    return llvm::is_contained(settingsOf(space(), 2), parsed(Name));
  };
  EXPECT_TRUE(has("r48-f48"));
  EXPECT_TRUE(has("r48-f255"));
  EXPECT_TRUE(has("f255"));
  EXPECT_TRUE(has("r50"));
  EXPECT_FALSE(has("r50-f50"));
  EXPECT_FALSE(has("r48-f64"));
}

TEST(KnobSpace, smemSpilling_isBesideEveryCapThatSpills) {
  KnobSpace Space = space();
  auto Has = [&](llvm::StringRef Name, unsigned Effort = 2) {
    return llvm::is_contained(settingsOf(Space, Effort), parsed(Name));
  };
  EXPECT_FALSE(Has("r40-smem"));
  Space.SmemSpilling = true;
  for (const VariantSetting &V : settingsOf(Space, 2))
    if (V.Cap && !V.FrontEndCap) {
      VariantSetting Beside = V;
      Beside.SmemSpilling = true;
      EXPECT_TRUE(llvm::is_contained(settingsOf(Space, 2), Beside)) << variantName(Beside);
    }
  EXPECT_TRUE(Has("smem"));
  EXPECT_FALSE(Has("r40-smem", 1));
  EXPECT_FALSE(Has("r40-f40-smem"));
  Space.SpillsBelow = 48; // The default has 48 registers.
  EXPECT_TRUE(Has("r40-smem"));
  EXPECT_FALSE(Has("smem"));
  EXPECT_FALSE(Has("r48-smem"));
  for (const VariantSetting &V : neighboursOf(Space, 2, parsed("r48")))
    EXPECT_FALSE(V.SmemSpilling && V.Cap == 48u) << variantName(V);
  EXPECT_TRUE(
      llvm::is_contained(neighboursOf(Space, 2, parsed("r48-f255")), parsed("r48-f255-smem")))
      << "other PTX may spill more";
}

TEST(KnobSpace, neighbours_differInOneKnob) {
  KnobSpace Space = space();
  Space.SmemSpilling = true;
  auto names = [&](unsigned Effort, llvm::StringRef Of) {
    std::set<std::string> Names;
    for (const VariantSetting &V : neighboursOf(Space, Effort, parsed(Of)))
      Names.insert(variantName(V));
    return Names;
  };
  using Expected = std::set<std::string>;
  // 38 and 42 are the nearest caps, and 32 and 48 are the nearest critical points.
  EXPECT_EQ(names(2, "r40-f40"),
            (Expected{"r40", "r40-f255", "r40-f40-smem", "r40-f40-cg", "r40-f40-cs", "r38-f38",
                      "r42-f42", "r32-f32", "r48-f48"}));
  EXPECT_EQ(names(1, "r80"), (Expected{"r64", "r80-f80", "r80-f255"}));
  // What ptxas is told is tried beside register caps, and one thing at a time.
  for (llvm::StringRef Of : {"r40-o1", "r40-l0", "r40-l10"}) {
    EXPECT_TRUE(names(2, "r40").count(Of.str())) << Of.str();
    for (const std::string &Name : names(2, Of))
      EXPECT_EQ(llvm::StringRef(Name).count('-'), 1u) << Name;
    EXPECT_TRUE(names(2, Of).count("r48-" + Of.split('-').second.str())) << Of.str();
  }
  EXPECT_EQ(names(3, "smem-l10"),
            (Expected{"f255-smem-l10", "l10", "smem-cg-l10", "smem-cs-l10", "smem-l0",
                      "r46-smem-l10", "r50-smem-l10", "r40-smem-l10", "r64-smem-l10"}));
  EXPECT_EQ(names(1, "default"), (Expected{"f255", "r40", "r64"}));
  Space.FrontEndKnobs = {FrontEndKnob::UnrollByTwo, FrontEndKnob::NoRematerialization};
  EXPECT_EQ(names(1, "default"), (Expected{"f255", "r40", "r64"}));
  EXPECT_TRUE(names(2, "r40-unroll2").count("r40"));
  EXPECT_TRUE(names(2, "r40-unroll2").count("r40-noremat"));
  EXPECT_TRUE(names(2, "r40-f255").count("r40-f255-unroll2"));
  EXPECT_TRUE(names(2, "r40-cg").count("r40")) << "back to the loads as compiled";
  EXPECT_TRUE(names(2, "r40-cg").count("r40-cs"));
  Space.Only = {parsed("r40-cg"), parsed("cg")};
  EXPECT_EQ(names(2, "r40"), Expected{"r40-cg"});
}

TEST(KnobSpace, codeForKnownLaunches_isMadeInOneWay) {
  KnobSpace Space = space();
  Space.FrontEndKnobs = {FrontEndKnob::UnrollByTwo, FrontEndKnob::KnownLaunch,
                         FrontEndKnob::KnownShapes};
  Space.KnownPtx = true;
  for (const char *Of : {"known", "shapes", "knownptx", "r40-knownptx"})
    for (const VariantSetting &V : neighboursOf(Space, 3, parsed(Of)))
      EXPECT_FALSE(V.KnownPtx && isForKnownLaunches(V.FrontEnd)) << Of << " " << variantName(V);
  EXPECT_TRUE(
      llvm::is_contained(neighboursOf(Space, 3, parsed("unroll2")), parsed("unroll2-knownptx")));
}

TEST(KnobSpace, caps_stayInTheRegisterRegion) {
  for (const VariantSetting &V : settingsOf(space(), 3))
    if (V.Cap) {
      EXPECT_GE(*V.Cap, 24u);
      EXPECT_LE(*V.Cap, 80u);
    }
}

TEST(KernelSearch, suggestions_arePossible_comeBeforeAllOthers) {
  KernelSearch Search(space());
  // The fourth has a cap beyond the region, and the last a knob that this kernel does not have.
  Search.suggest({parsed("r56-f255-cs"),
                  parsed("r64-o1"),
                  parsed("r56-f255-cs"),
                  parsed("r200"),
                  parsed("unroll"),
                  {}});
  World W;
  W.run(Search, {8, 8, 8});
  ASSERT_GE(W.Timed.size(), 2u);
  ASSERT_EQ(W.Timed[0].size(), 8u);
  EXPECT_EQ(W.Timed[0][0], parsed("r56-f255-cs"));
  EXPECT_EQ(W.Timed[0][1], parsed("r64-o1"));
  std::vector<VariantSetting> All = W.allTimed();
  std::set<VariantSetting> Different(All.begin(), All.end());
  EXPECT_EQ(Different.size(), All.size()) << "nothing is timed twice";
  EXPECT_FALSE(Different.count(parsed("r200")));
  EXPECT_FALSE(Different.count(parsed("unroll")));
}

TEST(KernelSearch, suggestions_moreThanARoomHas_comeInTheNextRound) {
  KernelSearch Search(space());
  Search.suggest({parsed("r32"), parsed("r40"), parsed("cs")});
  World W;
  W.run(Search, {2, 2});
  ASSERT_EQ(W.Timed.size(), 2u);
  EXPECT_EQ(W.Timed[0], (std::vector{parsed("r32"), parsed("r40")}));
  EXPECT_EQ(W.Timed[1].front(), parsed("cs"));
}

TEST(KernelSearch, suggestions_atEffort0_areCriticalPointsAlone) {
  KernelSearch Search(space(), /*Effort=*/0);
  Search.suggest({parsed("r64-f255"), parsed("r56"), parsed("r64")});
  World W;
  W.run(Search, {8});
  ASSERT_EQ(W.Timed.size(), 1u);
  EXPECT_EQ(W.Timed[0].front(), parsed("r64"));
  for (const VariantSetting &V : W.Timed[0])
    EXPECT_TRUE(V.Cap && *V.Cap != 56 && !V.FrontEndCap) << variantName(V);
}
