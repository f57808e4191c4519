/// \file
/// What the stages of a search through a space (SearchPipeline.h) share.
#pragma once

#include "Spaces/SearchPipeline.h"
#include "Support/Clock.h"
#include "Tune/WholeRuns/SampleRecord.h"
#include "Workload/OutputCheck.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

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

} // namespace carve
