#include "Spaces/SearchPipeline.h"

#include "Compile/DriverOptions.h"
#include "Spaces/SearchBuild.h"
#include "Spaces/SearchCompile.h"
#include "Spaces/SearchMemory.h"
#include "Spaces/SearchPlan.h"
#include "Spaces/SearchRuns.h"
#include "Spaces/SearchState.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

/// Returns true if the block sizes of all its kernels follow from the configuration itself.
static bool launchesSaid(const SearchedConfiguration &C) {
  return llvm::all_of(C.Kernels, [](const SearchedKernel &K) {
    return K.Launch.Block == LaunchSource::Configuration;
  });
}

/// Notes how many configurations have loops whose trip counts were assumed.
static void noteAssumptions(SearchRecord &Record) {
  size_t Number = llvm::count_if(Record.Configurations, [](const SearchedConfiguration &C) {
    return llvm::any_of(C.Kernels, [](const SearchedKernel &K) {
      return K.Metrics.Counts && K.Metrics.Counts->AssumedTrips > 0;
    });
  });
  if (Number > 0)
    Record.Notes.push_back(std::to_string(Number) +
                           " configurations have loops whose trip counts are not in the code and "
                           "were assumed; give them with --trips, carve metrics shows the loops");
}

/// Returns true if \p Text contains \p Name as a word.
static bool mentions(llvm::StringRef Text, llvm::StringRef Name) {
  auto IsPart = [&](size_t At) {
    return At < Text.size() && (llvm::isAlnum(Text[At]) || Text[At] == '_');
  };
  for (size_t At = Text.find(Name); At != llvm::StringRef::npos; At = Text.find(Name, At + 1))
    if (!(At > 0 && IsPart(At - 1)) && !IsPart(At + Name.size()))
      return true;
  return false;
}

/// Notes macros that no source mentions. Such a macro is probably misspelt, since all its values
/// make the same program.
static void noteUnusedMacros(const SearchRequest &Request, SearchRecord &Record) {
  // The included files are known only of configurations that compile.
  if (llvm::none_of(Record.Configurations, [](const auto &C) { return !C.Kernels.empty(); }))
    return;
  std::vector<std::string> Unused = Request.Space.names();
  for (const SearchInput &Input : Record.Inputs) {
    llvm::Expected<std::string> Text = readFile(Input.Path);
    if (!Text) {
      llvm::consumeError(Text.takeError());
      return;
    }
    llvm::erase_if(Unused, [&](const std::string &Name) { return mentions(*Text, Name); });
  }
  for (const std::string &Name : Unused)
    Record.Notes.push_back("--space has the macro " + Name +
                           ", which none of the command's sources mentions: its values make no "
                           "difference");
}

/// Carves the configurations by their metrics.
static void carveSpace(SearchRecord &Record) {
  noteAssumptions(Record);
  std::vector<ConfigurationCost> Costs;
  for (const SearchedConfiguration &C : Record.Configurations)
    Costs.push_back(C.cost());
  // Equal metrics mean little if launches may differ unseen, so there are no clusters then.
  SpaceCarving Limits = Record.Carving;
  if (!llvm::all_of(Record.Configurations, launchesSaid)) {
    Limits.ClusterWidth = -1;
    Record.Notes.push_back(
        "the kernels' blocks are not known for every configuration, so the metrics "
        "use the first one's launch; give --block and --grid if macros change "
        "them");
  }
  std::vector<CarvingVerdict> Verdicts = carveConfigurations(Costs, Limits);
  for (size_t I = 0; I < Verdicts.size(); ++I)
    Record.Configurations[I].Verdict = std::move(Verdicts[I]);
}

llvm::Expected<SearchRecord> carve::searchSpace(const SearchRequest &Request, UnitStore &Store,
                                                const Toolchain &T, CommandRunner &Runner) {
  SearchState S(Request, T, Runner);
  S.Record.Date = utcNow();
  // Find out what the command compiles, and list the configurations.
  if (llvm::Error E = planSearch(S))
    return E;
  // Take over what an earlier search has found.
  if (llvm::Error E = recallSearch(S, Store))
    return E;
  // Find out how the program launches its kernels, and on which GPU.
  if (llvm::Error E = traceReference(S))
    return E;
  // Compute the metrics of all configurations.
  if (llvm::Error E = compileSpace(S))
    return E;
  noteUnusedMacros(Request, S.Record);
  carveSpace(S.Record);
  // Time what is left, and make the command's output of the winner.
  if (S.Record.NotTimed.empty()) {
    if (llvm::Error E = timeSpace(S)) {
      // The search may have made hours of runs before an interrupt, so they are kept.
      if (S.Record.Reference && S.at(*S.Record.Reference).Times.Fault.empty())
        rememberSearch(S, Store);
      return E;
    }
    if (llvm::Error E = emitWinner(S))
      return E;
  }
  rememberSearch(S, Store);
  return std::move(S.Record);
}
