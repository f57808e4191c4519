#include "Spaces/ProgramLaunch.h"

#include "Support/Error.h"

#include <limits>

using namespace carve;

/// Limits of CUDA for every architecture.
static constexpr int64_t LargestBlock[] = {1024, 1024, 64};
static constexpr int64_t LargestGrid[] = {INT32_MAX, 65535, 65535};
static constexpr int64_t MostThreadsPerBlock = 1024;

double ProgramLaunch::threads() const {
  if (Grid == LaunchSource::Unknown)
    return 1;
  return double(Shape.Grid[0]) * Shape.Grid[1] * Shape.Grid[2] * Shape.threadsPerBlock() * Launches;
}

/// Returns the value of \p E. Fails if it is not from \p Least to \p Most.
static llvm::Expected<int64_t> bounded(const MacroExpression &E, llvm::ArrayRef<MacroValue> Values,
                                       llvm::StringRef What, int64_t Least, int64_t Most) {
  llvm::Expected<int64_t> Value = E.evaluate(Values);
  if (Value && (*Value < Least || *Value > Most))
    return usageError(What + " '" + E.text() + "' is " + llvm::Twine(*Value) + ", expected " +
                      llvm::Twine(Least) + " to " + llvm::Twine(Most));
  return Value;
}

static llvm::Error setExtents(std::array<unsigned, 3> &Extents,
                              llvm::ArrayRef<MacroExpression> Said,
                              llvm::ArrayRef<MacroValue> Values, llvm::StringRef What,
                              llvm::ArrayRef<int64_t> Largest) {
  Extents = {1, 1, 1};
  for (size_t I = 0; I < Said.size(); ++I) {
    llvm::Expected<int64_t> Extent = bounded(Said[I], Values, What, 1, Largest[I]);
    if (!Extent)
      return Extent.takeError();
    Extents[I] = unsigned(*Extent);
  }
  return llvm::Error::success();
}

/// Returns what is known of the launch without the user's expressions.
static ProgramLaunch foundLaunch(const PtxEntry &Entry, const TracedLaunches &Traced) {
  auto Own = Traced.find(Entry.Name);
  // A kernel that is a template over a macro has another name in each configuration.
  if (Own == Traced.end() && Traced.size() == 1)
    Own = Traced.begin();
  ProgramLaunch Launch;
  Launch.Shape.Block = {256, 1, 1};
  if (Own != Traced.end())
    Launch = Own->second;
  auto Bound = Entry.Directives.ReqNTid ? Entry.Directives.ReqNTid : Entry.Directives.MaxNTid;
  if (Bound) {
    Launch.Shape.Block = *Bound;
    Launch.Block = LaunchSource::Configuration;
  }
  return Launch;
}

llvm::Expected<ProgramLaunch> carve::programLaunch(const LaunchExpressions &Said,
                                                   llvm::ArrayRef<MacroValue> Values,
                                                   const PtxEntry &Entry,
                                                   const TracedLaunches &Traced) {
  ProgramLaunch Launch = foundLaunch(Entry, Traced);
  if (!Said.Block.empty()) {
    if (llvm::Error E = setExtents(Launch.Shape.Block, Said.Block, Values, "--block", LargestBlock))
      return E;
    Launch.Block = LaunchSource::Configuration;
  }
  if (Launch.Shape.threadsPerBlock() > MostThreadsPerBlock)
    return usageError("a block of " + llvm::Twine(Launch.Shape.threadsPerBlock()) +
                      " threads, expected at most " + llvm::Twine(MostThreadsPerBlock));
  if (!Said.Grid.empty()) {
    if (llvm::Error E = setExtents(Launch.Shape.Grid, Said.Grid, Values, "--grid", LargestGrid))
      return E;
    Launch.Grid = LaunchSource::Configuration;
  }
  if (!Said.DynamicSmem.empty()) {
    auto Bytes = bounded(Said.DynamicSmem.front(), Values, "--dynamic-smem", 0, INT32_MAX);
    if (!Bytes)
      return Bytes.takeError();
    Launch.Shape.DynamicSmemBytes = unsigned(*Bytes);
  }
  if (!Said.Launches.empty()) {
    auto Count = bounded(Said.Launches.front(), Values, "--launches", 1, INT32_MAX);
    if (!Count)
      return Count.takeError();
    Launch.Launches = double(*Count);
  }
  return Launch;
}
