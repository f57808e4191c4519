/// \file
/// Simulates a GPU and a program for tests of the selection. It holds every subject's true ratios,
/// the noise, how subjects disturb each other, and variants that break the program.
#pragma once

#include "Tune/Selection/Selection.h"

#include "gtest/gtest.h"

#include <functional>
#include <map>
#include <random>
#include <set>

namespace carve {

/// A subject with its true times.
struct SimulatedSubject {
  double Ns = 1e6;
  std::vector<double> Ratios; ///< By variant; the first two are the default and the control.
};

/// Makes runs whose times are known, and logs them.
class SimulatedWorld {
public:
  std::vector<SimulatedSubject> Subjects;
  double Noise = 0.001; ///< Standard deviation of a time, relative.
  double OtherNs = 1e6; ///< GPU time of kernels that are not subjects.
  /// Draws a time's relative deviation. If it is not set, they are normally distributed with Noise.
  std::function<double()> Scatter;
  bool Traced = true; ///< Whether the times of an earlier run are known.
  /// By {subject, variant}: the factors by which it multiplies the times of other subjects.
  std::map<std::pair<size_t, size_t>, std::map<size_t, double>> Disturbs;
  std::map<std::pair<size_t, size_t>, std::string> Faults;
  /// Changes a finished sample. It gets the number of the run, from 0.
  std::function<void(size_t, const Assignment &, RunSample &)> Twist;
  std::vector<Assignment> Log; ///< Every run made.

  /// Begins all random numbers anew.
  void seed(uint64_t Seed) {
    Random.seed(Seed);
    Normal.reset();
  }
  /// Adds a subject whose variants 2, 3, ... have \p Ratios.
  void add(std::vector<double> Ratios, double Ns = 1e6) {
    Ratios.insert(Ratios.begin(), {1.0, 1.0});
    Subjects.push_back({Ns, std::move(Ratios)});
  }

  RunSample run(const Assignment &Asked) {
    Log.push_back(Asked);
    Assignment A = Asked.empty() ? Assignment(Subjects.size(), 0) : Asked;
    RunSample Sample;
    Sample.ProgramNs = OtherNs;
    for (size_t S = 0; S < Subjects.size(); ++S) {
      double Ns = Subjects[S].Ratios[A[S]] * defaultNs(S);
      for (size_t Other = 0; Other < A.size(); ++Other)
        if (auto D = Disturbs.find({Other, A[Other]}); D != Disturbs.end())
          if (auto F = D->second.find(S); F != D->second.end())
            Ns *= F->second;
      Sample.SubjectNs.push_back(Ns);
      Sample.ProgramNs += Ns;
      if (auto Fault = Faults.find({S, A[S]}); Fault != Faults.end())
        Sample.Fault = Fault->second;
    }
    Sample.WallS = 1 + Sample.ProgramNs * 1e-9 + Noise * Normal(Random);
    if (Twist)
      Twist(Log.size() - 1, Asked, Sample);
    return Sample;
  }

  SelectionOutcome select(const SelectionLimits &Limits = {}) {
    std::vector<SubjectSpace> Spaces;
    for (size_t S = 0; S < Subjects.size(); ++S)
      Spaces.push_back({"s" + std::to_string(S), Subjects[S].Ratios.size()});
    return select(Limits, Spaces);
  }
  SelectionOutcome select(SelectionLimits Limits, std::vector<SubjectSpace> Spaces) {
    if (Traced) {
      double ProgramNs = OtherNs;
      for (size_t S = 0; S < Spaces.size(); ++S)
        ProgramNs += Spaces[S].EarlierNs.emplace_back(defaultNs(S));
      Limits.EarlierProgramNs = {ProgramNs};
    }
    auto Outcome = selectVariants(
        Spaces, Limits, [this](const Assignment &A) -> llvm::Expected<RunSample> { return run(A); },
        silentProgress());
    if (Outcome)
      return std::move(*Outcome);
    ADD_FAILURE() << llvm::toString(Outcome.takeError());
    return {};
  }

  /// The variant chosen for every subject.
  static std::vector<size_t> chosen(const SelectionOutcome &Outcome) {
    std::vector<size_t> Variants;
    for (const SubjectOutcome &O : Outcome.Subjects)
      Variants.push_back(O.Chosen);
    return Variants;
  }

private:
  double defaultNs(size_t S) {
    return Subjects[S].Ns * (1 + (Scatter ? Scatter() : Noise * Normal(Random)));
  }

  std::mt19937_64 Random{12345};
  std::normal_distribution<double> Normal;
};

/// Five kernels with nominees. Times scatter by 0.3 %. The first has half of the time and gains 20
/// %, the others have a twentieth each and gain \p SmallRatio says.
inline SimulatedWorld fiveKernels(double SmallRatio) {
  SimulatedWorld W;
  W.Noise = 0.003;
  W.OtherNs = 3e6;
  W.add({0.8}, 5e6);
  for (int I = 0; I < 4; ++I)
    W.add({SmallRatio}, 5e5);
  return W;
}

inline std::vector<SubjectSpace> predicted(const std::vector<double> &Ratios) {
  std::vector<SubjectSpace> Spaces;
  for (size_t S = 0; S < Ratios.size(); ++S) {
    Spaces.push_back({"s" + std::to_string(S), 3, 2});
    Spaces.back().Predicted = Ratios[S];
  }
  return Spaces;
}

/// The same for nominees whose output a timing run has compared.
inline std::vector<SubjectSpace> compared(const std::vector<double> &Ratios) {
  std::vector<SubjectSpace> Spaces = predicted(Ratios);
  for (SubjectSpace &S : Spaces)
    S.Compared = true;
  return Spaces;
}

/// Limits with time for \p Runs runs of \p W, which take a second each.
inline SelectionLimits timeForRuns(double Runs, const SimulatedWorld &W) {
  SelectionLimits Limits;
  Limits.BudgetS = Runs;
  Limits.RunS = 1;
  Limits.ElapsedS = [&W] { return double(W.Log.size()); };
  return Limits;
}

} // namespace carve
