#include "Spaces/SearchJson.h"

#include "Ptx/ProfileName.h"
#include "Support/Error.h"
#include "Support/JsonText.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

namespace {

json::Array extentsOf(const std::array<unsigned, 3> &Extents) {
  return json::Array{Extents[0], Extents[1], Extents[2]};
}

const char *sourceName(LaunchSource Source) {
  constexpr const char *Names[] = {"unknown", "trace", "configuration"};
  return Names[size_t(Source)];
}

json::Value valueOf(const KernelCounts &C) {
  return json::Object{
      {"instructions", C.Instructions},         {"regions", C.Regions},
      {"global-loads", C.GlobalLoads},          {"global-stores", C.GlobalStores},
      {"global-load-bytes", C.GlobalLoadBytes}, {"global-store-bytes", C.GlobalStoreBytes},
      {"shared-accesses", C.SharedAccesses},    {"local-load-bytes", C.LocalLoadBytes},
      {"local-store-bytes", C.LocalStoreBytes}, {"coalesced-share", C.CoalescedShare},
      {"assumed-trips", C.AssumedTrips}};
}

json::Value valueOf(const SearchedKernel &K) {
  const StaticMetrics &M = K.Metrics;
  return json::Object{{"kernel", profileName(K.Name)},
                      {"mangled", K.Name},
                      {"grid", extentsOf(K.Launch.Shape.Grid)},
                      {"block", extentsOf(K.Launch.Shape.Block)},
                      {"dynamic-smem-bytes", K.Launch.Shape.DynamicSmemBytes},
                      {"launches", K.Launch.Launches},
                      {"block-from", sourceName(K.Launch.Block)},
                      {"grid-from", sourceName(K.Launch.Grid)},
                      {"regs", M.RegsPerThread},
                      {"static-smem-bytes", M.StaticSmemBytes},
                      {"spill-bytes", M.SpillBytes},
                      {"blocks-per-sm", M.BlocksPerSm},
                      {"warps-per-block", M.WarpsPerBlock},
                      {"occupancy", M.Occupancy},
                      {"efficiency", M.Efficiency},
                      {"utilization", M.Utilization},
                      {"counts", M.Counts ? valueOf(*M.Counts) : json::Value(nullptr)}};
}

json::Value valueOf(const ConfigurationTimes &T) {
  if (!T.measured())
    return nullptr;
  json::Object O{{"costs", T.Costs},  {"screened", T.Screened},       {"confirmed", T.Confirmed},
                 {"wall-s", T.WallS}, {"first-wall-s", T.FirstWallS}, {"fault", T.Fault}};
  if (T.Fault.empty() && !(T.Screened.empty() && T.Confirmed.empty()))
    O["ratio"] = T.ratio();
  return O;
}

json::Value valueOf(const SearchedConfiguration &C) {
  json::Object Macros;
  json::Array Order, Kernels;
  for (const MacroValue &M : C.Macros.Macros) {
    Macros[M.Name] = M.Value;
    Order.push_back(M.Name);
  }
  for (const SearchedKernel &K : C.Kernels)
    Kernels.push_back(valueOf(K));
  return json::Object{{"name", C.Macros.name()},       {"macros", std::move(Macros)},
                      {"order", std::move(Order)},     {"valid", C.valid()},
                      {"invalid", C.Invalid},          {"verdict", nameOf(C.Verdict.By)},
                      {"reason", C.Verdict.Reason},    {"front", C.Verdict.Front},
                      {"counted", C.Counted},          {"efficiency", C.Efficiency},
                      {"utilization", C.Utilization},  {"compile-s", C.CompileS},
                      {"build-s", C.BuildS},           {"from-store", C.FromStore},
                      {"kernels", std::move(Kernels)}, {"times", valueOf(C.Times)}};
}

json::Value valueOf(const SearchRecord &R, const std::optional<SearchSummary> &S) {
  if (!S)
    return nullptr;
  auto NameOf = [&](size_t Place) { return R.Configurations[Place].Macros.name(); };
  auto Reduction = [](double Of, double All) { return All > 0 ? 1 - Of / All : 0; };
  return json::Object{
      {"valid", S->Valid},
      {"selected", S->Selected},
      {"space-reduction", S->SpaceReduction},
      {"run-s-all", S->AllRunS},
      {"run-s-selected", S->SelectedRunS},
      {"run-reduction", Reduction(S->SelectedRunS, S->AllRunS)},
      {"evaluation-s-all", S->AllEvaluationS},
      {"evaluation-s-selected", S->SelectedEvaluationS},
      {"evaluation-reduction", Reduction(S->SelectedEvaluationS, S->AllEvaluationS)},
      {"best", NameOf(S->Best)},
      {"best-selected", NameOf(S->BestSelected)},
      {"selected-over-best", S->SelectedOverBest},
      {"random-over-best", S->RandomOverBest}};
}

json::Value nameAt(const SearchRecord &R, const std::optional<size_t> &Place) {
  return Place ? json::Value(R.Configurations[*Place].Macros.name()) : json::Value(nullptr);
}

} // namespace

std::string carve::printSearchJson(const SearchRecord &R) {
  json::Array Configurations, Inputs;
  size_t Valid = 0, Selected = 0;
  for (const SearchedConfiguration &C : R.Configurations) {
    Configurations.push_back(valueOf(C));
    Valid += C.valid();
    Selected += C.valid() && C.selected();
  }
  for (const SearchInput &I : R.Inputs)
    Inputs.push_back(json::Object{{"path", I.Path}, {"digest", I.Digest}});
  json::Object O{{"carve-search", 1},
                 {"date", R.Date},
                 {"command", R.Command},
                 {"space", R.Space},
                 {"where", R.Where},
                 {"nvcc-version", R.NvccVersion},
                 {"arch", R.Arch},
                 {"device", R.Device},
                 {"sms", R.Sms},
                 {"metric", R.Metric},
                 {"combinations", R.Combinations},
                 {"enumerated", R.Configurations.size()},
                 {"valid", Valid},
                 {"selected", Selected},
                 {"margin", R.Carving.Margin},
                 {"least-efficiency", R.Carving.LeastEfficiency},
                 {"least-utilization", R.Carving.LeastUtilization},
                 {"max-selected", R.Carving.MaxSelected},
                 {"exhaustive", R.Exhaustive},
                 {"reference", nameAt(R, R.Reference)},
                 {"winner", nameAt(R, R.Winner)},
                 {"ratio", json::Object{{"median", R.WinnerRatio.Median},
                                        {"low", R.WinnerRatio.Low},
                                        {"high", R.WinnerRatio.High}}},
                 {"compiled", R.Compiled},
                 {"timed", R.Timed},
                 {"runs", R.Runs},
                 {"compile-wall-s", R.CompileS},
                 {"build-wall-s", R.BuildS},
                 {"time-wall-s", R.TimeS},
                 {"output", R.Output},
                 {"output-digest", R.OutputDigest},
                 {"output-kept", R.OutputKept},
                 {"not-timed", R.NotTimed},
                 {"notes", R.Notes},
                 {"summary", valueOf(R, summaryOf(R))},
                 {"inputs", std::move(Inputs)},
                 {"configurations", std::move(Configurations)}};
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::formatv("{0:2}", json::Value(std::move(O))) << "\n";
  return Text;
}

namespace carve {

static bool mapCount(json::ObjectMapper &M, llvm::StringLiteral Name, unsigned &Out) {
  int64_t Value = 0;
  if (!M.map(Name, Value))
    return false;
  Out = unsigned(Value);
  return true;
}

static bool mapExtents(json::ObjectMapper &M, llvm::StringLiteral Name,
                       std::array<unsigned, 3> &Out) {
  std::vector<int64_t> Values;
  if (!M.map(Name, Values) || Values.size() != 3)
    return false;
  std::copy(Values.begin(), Values.end(), Out.begin());
  return true;
}

static bool mapSource(json::ObjectMapper &M, llvm::StringLiteral Name, LaunchSource &Out) {
  std::string Text;
  if (!M.map(Name, Text))
    return false;
  for (auto S : {LaunchSource::Unknown, LaunchSource::Trace, LaunchSource::Configuration})
    if (Text == sourceName(S))
      Out = S;
  return Text == sourceName(Out);
}

static bool fromJSON(const json::Value &V, KernelCounts &C, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && M.map("instructions", C.Instructions) && M.map("regions", C.Regions) &&
         M.map("global-loads", C.GlobalLoads) && M.map("global-stores", C.GlobalStores) &&
         M.map("global-load-bytes", C.GlobalLoadBytes) &&
         M.map("global-store-bytes", C.GlobalStoreBytes) &&
         M.map("shared-accesses", C.SharedAccesses) &&
         M.map("local-load-bytes", C.LocalLoadBytes) &&
         M.map("local-store-bytes", C.LocalStoreBytes) &&
         M.map("coalesced-share", C.CoalescedShare) && mapCount(M, "assumed-trips", C.AssumedTrips);
}

static bool fromJSON(const json::Value &V, SearchedKernel &K, json::Path P) {
  json::ObjectMapper M(V, P);
  StaticMetrics &S = K.Metrics;
  return M && M.map("mangled", K.Name) && mapExtents(M, "grid", K.Launch.Shape.Grid) &&
         mapExtents(M, "block", K.Launch.Shape.Block) &&
         mapCount(M, "dynamic-smem-bytes", K.Launch.Shape.DynamicSmemBytes) &&
         M.map("launches", K.Launch.Launches) && mapSource(M, "block-from", K.Launch.Block) &&
         mapSource(M, "grid-from", K.Launch.Grid) && mapCount(M, "regs", S.RegsPerThread) &&
         mapCount(M, "static-smem-bytes", S.StaticSmemBytes) &&
         mapCount(M, "spill-bytes", S.SpillBytes) && mapCount(M, "blocks-per-sm", S.BlocksPerSm) &&
         mapCount(M, "warps-per-block", S.WarpsPerBlock) && M.map("occupancy", S.Occupancy) &&
         M.map("efficiency", S.Efficiency) && M.map("utilization", S.Utilization) &&
         M.map("counts", S.Counts);
}

static bool fromJSON(const json::Value &V, ConfigurationTimes &T, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && M.map("costs", T.Costs) && M.map("screened", T.Screened) &&
         M.map("confirmed", T.Confirmed) && M.map("wall-s", T.WallS) &&
         M.map("first-wall-s", T.FirstWallS) && M.map("fault", T.Fault);
}

/// Verdicts are not read, because they follow from the metrics.
static bool fromJSON(const json::Value &V, SearchedConfiguration &C, json::Path P) {
  json::ObjectMapper M(V, P);
  std::map<std::string, std::string> Macros;
  std::vector<std::string> Order;
  std::optional<ConfigurationTimes> Times;
  if (!M || !M.map("macros", Macros) || !M.map("order", Order) || !M.map("invalid", C.Invalid) ||
      !M.map("counted", C.Counted) || !M.map("efficiency", C.Efficiency) ||
      !M.map("utilization", C.Utilization) || !M.map("compile-s", C.CompileS) ||
      !M.map("build-s", C.BuildS) || !M.map("from-store", C.FromStore) ||
      !M.map("kernels", C.Kernels) || !M.map("times", Times))
    return false;
  for (const std::string &Name : Order)
    C.Macros.Macros.push_back({Name, Macros[Name]});
  if (Times)
    C.Times = std::move(*Times);
  return true;
}

static bool fromJSON(const json::Value &V, SearchInput &I, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && M.map("path", I.Path) && M.map("digest", I.Digest);
}

static bool fromJSON(const json::Value &V, RatioInterval &R, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && M.map("median", R.Median) && M.map("low", R.Low) && M.map("high", R.High);
}

static bool mapPlace(json::ObjectMapper &M, llvm::StringLiteral Name, const SearchRecord &R,
                     std::optional<size_t> &Out) {
  std::optional<std::string> Wanted;
  if (!M.map(Name, Wanted))
    return false;
  for (size_t I = 0; Wanted && I < R.Configurations.size(); ++I)
    if (R.Configurations[I].Macros.name() == *Wanted)
      Out = I;
  return Out.has_value() == Wanted.has_value();
}

static bool fromJSON(const json::Value &V, SearchRecord &R, json::Path P) {
  json::ObjectMapper M(V, P);
  int64_t Combinations = 0;
  bool Read = M && M.map("date", R.Date) && M.map("command", R.Command) &&
              M.map("space", R.Space) && M.map("where", R.Where) &&
              M.map("nvcc-version", R.NvccVersion) && M.map("arch", R.Arch) &&
              M.map("device", R.Device) && mapCount(M, "sms", R.Sms) && M.map("metric", R.Metric) &&
              M.map("combinations", Combinations) && M.map("exhaustive", R.Exhaustive) &&
              M.map("ratio", R.WinnerRatio) && M.map("output", R.Output) &&
              M.map("output-digest", R.OutputDigest) && M.map("not-timed", R.NotTimed) &&
              M.map("notes", R.Notes) && M.map("inputs", R.Inputs) &&
              M.map("configurations", R.Configurations) &&
              mapPlace(M, "reference", R, R.Reference) && mapPlace(M, "winner", R, R.Winner);
  R.Combinations = Combinations;
  return Read;
}

} // namespace carve

llvm::Expected<SearchRecord> carve::parseSearchJson(llvm::StringRef Text, llvm::StringRef Name) {
  llvm::Expected<json::Value> Value = parseJsonText(Text);
  if (!Value)
    return malformed(Name + ": " + llvm::toString(Value.takeError()));
  const json::Object *Object = Value->getAsObject();
  if (!Object || Object->getInteger("carve-search") != 1)
    return malformed(Name + ": expected a search of format 1 (\"carve-search\": 1)");
  SearchRecord R;
  json::Path::Root Root(Name);
  if (!fromJSON(*Value, R, Root))
    return malformed(llvm::toString(Root.getError()));
  return R;
}
