/// \file
/// The stages of a search through a program's space (SearchPipeline.h) in their order, and what
/// they share.
#pragma once

#include "Spaces/SearchPipeline.h"
#include "Support/Clock.h"
#include "Tune/WholeRuns/SampleRecord.h"
#include "Workload/OutputCheck.h"

#include <chrono>
#include <map>

namespace carve {

/// What one stage of a search leaves for the next.
struct SearchState {
  SearchState(const SearchRequest &Request, const Toolchain &T, CommandRunner &Runner);
  SearchState(const SearchState &) = delete; ///< Check refers to it.

  const SearchRequest &Request;
  const Toolchain &T;
  CommandRunner &Runner;
  CommandLine Line;
  SearchRecord Record;
  TracedLaunches Traced;
  std::string Key;                           ///< Of the search in the store.
  std::vector<SearchedConfiguration> Others; ///< What the store knows of other configurations.
  bool Recalled = false; ///< The store knows the search: architecture and traced launches too.
  std::optional<size_t> RecalledWinner;
  std::optional<TempDir> Work;
  std::map<size_t, std::string> Programs; ///< Built ones, by place.
  std::optional<TimedGpus> Gpus;          ///< Absent with recorded times.
  OutputCheck Check;
  bool LaunchNoted = false; ///< That a launch is not as it was said to be.
  bool CheckLearnt = false; ///< The reference's output is known.
  SampleRecord Samples;

  bool recorded() const { return !Request.SamplesPath.empty(); }
  SearchedConfiguration &at(size_t Place) { return Record.Configurations[Place]; }
  std::string folderOf(size_t Place) const { return Work->path() + "/" + std::to_string(Place); }
};

/// Takes the command apart and lists the configurations.
llvm::Error planSearch(SearchState &S);

/// Brings back what the store knows of this search, where its sources are the same.
llvm::Error recallSearch(SearchState &S, const UnitStore &Store);
/// Keeps the record under its key. A store that cannot be written is no failure.
void rememberSearch(SearchState &S, UnitStore &Store);

/// Builds and runs configurations until one can be run: the reference, whose launches and GPU the
/// metrics are of. Without a GPU the architecture is the command's.
llvm::Error traceReference(SearchState &S);

/// Compiles what is not known yet to device code and computes the metrics.
llvm::Error compileSpace(SearchState &S);

/// Builds the programs \p Places, several at once; one that cannot be built is invalid.
llvm::Error buildPrograms(SearchState &S, llvm::ArrayRef<size_t> Places);

/// One run of a configuration's program, which is built where that has not been done, every launch
/// held back by \p LaunchDelayNs.
llvm::Expected<RunRecord> runProgram(SearchState &S, size_t Place, uint64_t LaunchDelayNs);

/// What is compared of \p Output: all but what the user's metric matches, which differs by its
/// nature, though runs of one configuration may all print the same rounded number.
ProgramOutput comparable(const SearchRequest &Request, ProgramOutput Output);

/// One run of a configuration: its cost, and whether its output is the reference's. Or the recorded
/// cost.
llvm::Expected<ConfigurationRun> runConfiguration(SearchState &S, size_t Place);

/// Times what is selected, and finds the winner.
llvm::Error timeSpace(SearchState &S);

/// The program that the command names, in PATH, beside our own tools or nvcc. Fails where there is
/// none.
llvm::Expected<std::string> commandCompiler(const SearchState &S);

/// Makes the command's output of the winner, by the command as typed.
llvm::Error emitWinner(SearchState &S);

} // namespace carve
