/// \file
/// Defines the state that the stages of a search through a space (SearchPipeline.h) share.
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

/// Each stage of a search reads and fills it.
struct SearchState {
  SearchState(const SearchRequest &Request, const Toolchain &T, CommandRunner &Runner);
  SearchState(const SearchState &) = delete; ///< Check holds a pointer to this object.

  const SearchRequest &Request;
  const Toolchain &T;
  CommandRunner &Runner;
  CommandLine Line;
  SearchRecord Record;
  TracedLaunches Traced;
  std::string Key;                           ///< Key of the search in the store.
  std::vector<SearchedConfiguration> Others; ///< Other configurations that the store knows.
  /// The store knows the search, including its architecture and traced launches.
  bool Recalled = false;
  /// The winner of the recalled search, if this space has it.
  std::optional<size_t> RecalledWinner;
  std::optional<TempDir> Work;
  std::map<size_t, std::string> Programs; ///< Paths of built programs, by place.
  std::optional<TimedGpus> Gpus;          ///< Absent with recorded times.
  OutputCheck Check;
  bool LaunchNoted = false; ///< A note already says that a launch differs from the expected one.
  bool CheckLearnt = false; ///< The reference's output is known.
  SampleRecord Samples;

  bool recorded() const { return !Request.SamplesPath.empty(); }
  SearchedConfiguration &at(size_t Place) { return Record.Configurations[Place]; }
  std::string folderOf(size_t Place) const { return Work->path() + "/" + std::to_string(Place); }
};

} // namespace carve
