// The store keeps metrics and times of every configuration that was compiled and timed before. They
// are used as long as the sources, the command, the GPU and the toolkit are the same.
#include "Spaces/SearchMemory.h"

#include "Spaces/SearchJson.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <unistd.h>

using namespace carve;

/// This changes whenever metrics are counted in another way, or times are taken in another way.
static constexpr char SearchVersion[] = "search 1";

/// Returns the GPUs that the programs may see and their driver. If the system lists no GPUs, it is
/// the name of the machine instead.
static std::string gpuIdentity(const SearchRequest &Request) {
  std::string Identity;
  for (const SystemGpu &Gpu : visibleGpus(systemGpus(Request.Gpus.ProcDir, Request.Gpus.DevDir),
                                          Request.Gpus.Visible, Request.Gpus.Order))
    Identity += Gpu.Model + ";";
  if (Identity.empty()) {
    char Host[256] = "";
    ::gethostname(Host, sizeof(Host) - 1);
    Identity = Host;
  }
  return Identity + readProcFile("/proc/driver/nvidia/version").value_or("");
}

static std::string digestOfFile(const std::string &Path) {
  llvm::Expected<std::string> Bytes = readFile(Path, FileLimit::None);
  if (Bytes)
    return digestOf(*Bytes);
  llvm::consumeError(Bytes.takeError());
  return "-";
}

static std::string textOf(llvm::ArrayRef<MacroExpression> Expressions) {
  std::string Text;
  for (const MacroExpression &E : Expressions)
    Text += E.text() + ",";
  return Text;
}

/// Returns a digest of everything on which metrics and times depend, except the space itself and
/// the bounds of carving.
static std::string keyOf(const SearchState &S) {
  const SearchRequest &R = S.Request;
  std::string Trips;
  for (const TripExpression &E : R.Trips)
    Trips += E.Text + "\n";
  std::vector<std::string> Fields = {SearchVersion,
                                     S.T.Nvcc,
                                     S.Record.NvccVersion,
                                     R.Nvcc.PrependFlags,
                                     R.Nvcc.AppendFlags,
                                     R.Nvcc.WorkDir,
                                     llvm::join(S.Line.Expanded, "\n"),
                                     textOf(R.Launch.Block),
                                     textOf(R.Launch.Grid),
                                     textOf(R.Launch.DynamicSmem),
                                     textOf(R.Launch.Launches),
                                     Trips,
                                     R.KernelPattern,
                                     R.Arch,
                                     llvm::join(R.RunWords, "\n"),
                                     R.Workload.StdinPath,
                                     digestOfFile(R.Workload.StdinPath),
                                     llvm::join(R.Workload.OutputFiles, "\n"),
                                     R.Metric,
                                     R.LargerIsBetter ? "larger" : "smaller"};
  if (S.recorded())
    Fields.push_back("samples " + digestOfFile(R.SamplesPath));
  else
    Fields.push_back(R.NoGpu.empty() ? gpuIdentity(R) : "no GPU");
  return digestOfFields(std::vector<llvm::StringRef>(Fields.begin(), Fields.end()));
}

/// Returns true if the files from which \p Known was compiled are unchanged.
static bool sameInputs(const SearchRecord &Known) {
  return llvm::all_of(Known.Inputs,
                      [](const SearchInput &I) { return digestOfFile(I.Path) == I.Digest; });
}

/// Returns the place of the configuration \p Name in \p Record.
static std::optional<size_t> placeOf(const SearchRecord &Record, const std::string &Name) {
  for (size_t I = 0; I < Record.Configurations.size(); ++I)
    if (Record.Configurations[I].Macros.name() == Name)
      return I;
  return std::nullopt;
}

/// Returns the place in \p Record of the configuration to which the times of \p Known are relative,
/// if this search would use the same one as reference. That is the case if no configuration that
/// may run comes before it.
static std::optional<size_t> sameReference(const SearchRecord &Record, const SearchRecord &Known) {
  if (!Known.Reference)
    return std::nullopt;
  auto Place = placeOf(Record, Known.Configurations[*Known.Reference].Macros.name());
  for (size_t I = 0; Place && I < *Place; ++I) {
    auto Before = placeOf(Known, Record.Configurations[I].Macros.name());
    if (!Before || Known.Configurations[*Before].valid())
      return std::nullopt;
  }
  return Place;
}

/// Copies what \p Known has of the configurations of \p Record. Its other configurations are
/// appended to \p Others.
static void takeOver(SearchRecord &Record, SearchRecord Known,
                     std::vector<SearchedConfiguration> &Others) {
  std::map<std::string, SearchedConfiguration *> ByName;
  for (SearchedConfiguration &C : Known.Configurations)
    ByName[C.Macros.name()] = &C;
  for (SearchedConfiguration &C : Record.Configurations) {
    auto Found = ByName.find(C.Macros.name());
    if (Found == ByName.end())
      continue;
    C = std::move(*Found->second);
    C.FromStore = C.Times.measured();
    ByName.erase(Found);
  }
  for (const auto &[Name, Other] : ByName)
    Others.push_back(std::move(*Other));
  Record.Arch = Known.Arch;
  Record.Device = Known.Device;
  Record.Sms = Known.Sms;
  Record.Inputs = std::move(Known.Inputs);
}

/// Returns the launches of the reference, which the metrics of new configurations may need.
static TracedLaunches launchesOf(const SearchedConfiguration &Reference) {
  TracedLaunches Launches;
  for (const SearchedKernel &K : Reference.Kernels)
    Launches[K.Name] = K.Launch;
  return Launches;
}

llvm::Error carve::recallSearch(SearchState &S, const UnitStore &Store) {
  S.Key = keyOf(S);
  auto Text = Store.search(S.Key);
  if (!Text || !*Text) {
    if (!Text)
      llvm::consumeError(Text.takeError());
    return llvm::Error::success();
  }
  llvm::Expected<SearchRecord> Known = parseSearchJson(**Text, "search " + S.Key);
  if (!Known) {
    logLine("not recalled: " + llvm::toString(Known.takeError()));
    return llvm::Error::success();
  }
  if (!sameInputs(*Known)) {
    S.Record.Notes.push_back("the sources have changed since " + Known->Date +
                             ": the results of that search are not used");
    return llvm::Error::success();
  }
  std::optional<size_t> Reference = sameReference(S.Record, *Known);
  // If nothing is run, no reference is needed.
  if (!Reference && S.Record.NotTimed.empty())
    return llvm::Error::success();
  if (Known->Winner)
    S.RecalledWinner = placeOf(S.Record, Known->Configurations[*Known->Winner].Macros.name());
  S.Record.OutputDigest = Known->OutputDigest;
  S.Record.Reference = Reference;
  takeOver(S.Record, std::move(*Known), S.Others);
  if (Reference)
    S.Traced = launchesOf(S.at(*Reference));
  S.Recalled = true;
  return llvm::Error::success();
}

void carve::rememberSearch(SearchState &S, UnitStore &Store) {
  // The key also holds for other spaces of the same program, so their configurations are kept.
  SearchRecord Kept = S.Record;
  std::move(S.Others.begin(), S.Others.end(), std::back_inserter(Kept.Configurations));
  if (llvm::Error E = Store.putSearch(S.Key, printSearchJson(Kept)))
    S.Record.Notes.push_back(
        "the same command will cost as much again, because the store could not "
        "keep the results: " +
        llvm::toString(std::move(E)));
}
