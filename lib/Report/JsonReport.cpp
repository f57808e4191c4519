#include "Report/JsonReport.h"

#include "Support/Error.h"
#include "Support/JsonText.h"

#include "llvm/Support/JSON.h"

using namespace carve;
namespace json = llvm::json;

static json::Value toJson(const RatioInterval &R) {
  return json::Object{{"median", R.Median}, {"low", R.Low}, {"high", R.High}};
}

static json::Value toJson(const VariantReport &V) {
  json::Object O{{"name", V.Name},
                 {"regs", V.Regs},
                 {"spill-bytes", V.SpillBytes},
                 {"occupancy", V.Occupancy},
                 {"screening-ratio", V.Ratio}};
  if (!V.Fault.empty())
    O["fault"] = json::fixUTF8(V.Fault);
  if (V.RatioHigh > 0) {
    O["ratio-low"] = V.RatioLow;
    O["ratio-high"] = V.RatioHigh;
  }
  if (V.Efficiency > 0)
    O["efficiency"] = V.Efficiency;
  if (V.Utilization > 0)
    O["utilization"] = V.Utilization;
  if (V.LocalBytes > 0)
    O["local-bytes"] = V.LocalBytes;
  if (!V.Carved.empty())
    O["carved"] = V.Carved;
  return O;
}

static json::Value toJson(const GpuUser &U) {
  json::Object O{{"pid", U.Pid}, {"name", json::fixUTF8(U.Name)}};
  if (U.BusyPercent)
    O["busy-percent"] = *U.BusyPercent;
  return O;
}

static json::Value toJson(const InRunReport &R) {
  return json::Object{{"mode", R.Mode},
                      {"mode-reason", json::fixUTF8(R.Reason)},
                      {"verified", R.Verified},
                      {"rounds", R.Rounds},
                      {"ratio", toJson(R.Ratio)},
                      {"control-distance", R.ControlDistance},
                      {"cold-ns", R.ColdNs},
                      {"warm-ns", R.WarmNs},
                      {"warm-weight", R.WarmWeight}};
}

static json::Value toJson(const ConcurrencyLevel &L) {
  return json::Object{
      {"max-regs", L.MaxRegs}, {"blocks-per-sm", L.BlocksPerSm}, {"occupancy", L.Occupancy}};
}

/// Adds the members that mapOrigin() reads.
static void addOrigin(json::Object &O, const KernelReport &K) {
  json::Array Levels;
  for (const ConcurrencyLevel &L : K.Levels)
    Levels.push_back(toJson(L));
  O["source"] = json::fixUTF8(K.Source);
  O["mean-ns"] = K.MeanNs;
  O["least-regs"] = K.LeastRegs;
  O["most-regs"] = K.MostRegs;
  O["levels"] = std::move(Levels);
  O["efficiency-before"] = K.EfficiencyBefore;
  O["utilization-before"] = K.UtilizationBefore;
  O["local-bytes-before"] = K.LocalBytesBefore;
}

static json::Value toJson(const KernelReport &K) {
  json::Array Variants, Carved;
  for (const VariantReport &V : K.Variants)
    Variants.push_back(toJson(V));
  for (const VariantReport &V : K.Carved)
    Carved.push_back(toJson(V));
  json::Object O{{"kernel", json::fixUTF8(K.Kernel)},
                 {"mangled", json::fixUTF8(K.Mangled)},
                 {"output", json::fixUTF8(K.Output)},
                 {"share", K.Share},
                 {"launches", K.Launches},
                 {"regs-before", K.RegsBefore},
                 {"regs-after", K.RegsAfter},
                 {"occupancy-before", K.OccupancyBefore},
                 {"occupancy-after", K.OccupancyAfter},
                 {"spill-bytes-before", K.SpillBefore},
                 {"spill-bytes-after", K.SpillAfter},
                 {"tuned", K.Tuned},
                 {"variant", K.Variant},
                 {"ratio", toJson(K.Ratio)},
                 {"pairs", K.Pairs},
                 {"reason", json::fixUTF8(K.Reason)},
                 {"shapes", json::Array(K.Shapes)},
                 {"compiled", K.Compiled},
                 {"variants", std::move(Variants)},
                 {"carved", std::move(Carved)},
                 {"dropped", json::Array(K.Dropped)}};
  addOrigin(O, K);
  if (!K.InRun.Mode.empty())
    O["in-run"] = toJson(K.InRun);
  return O;
}

static json::Value toJson(const UnitReport &U) {
  json::Array Variants;
  for (const VariantReport &V : U.Variants)
    Variants.push_back(toJson(V));
  return json::Object{{"output", json::fixUTF8(U.Output)},
                      {"source", json::fixUTF8(U.Source)},
                      {"variant", U.Variant},
                      {"ratio", toJson(U.Ratio)},
                      {"pairs", U.Pairs},
                      {"reason", json::fixUTF8(U.Reason)},
                      {"variants", std::move(Variants)},
                      {"dropped", json::Array(U.Dropped)}};
}

std::string carve::printJsonReport(const TuningReport &R) {
  json::Array Kernels;
  for (const KernelReport &K : R.Kernels)
    Kernels.push_back(toJson(K));
  json::Array Units;
  for (const UnitReport &U : R.Units)
    Units.push_back(toJson(U));
  json::Array Users;
  for (const GpuUser &U : R.OtherUsers)
    Users.push_back(toJson(U));
  json::Object O{{"carve-report", 1},
                 {"date", R.Date},
                 {"workload", json::fixUTF8(R.Workload)},
                 {"device", R.Device},
                 {"driver", R.Driver},
                 {"nvcc-version", R.NvccVersion},
                 {"scope", R.Scope},
                 {"domain", R.Domain},
                 {"runs", R.Runs},
                 {"runs-before-confirmation", R.RunsBeforeConfirmation},
                 {"reruns", json::Array(R.Reruns)},
                 {"timing-wall-s", R.TimingWallS},
                 {"variants-compared", R.VariantsCompared},
                 {"wall-s", R.WallS},
                 {"plain-wall-s", R.PlainWallS},
                 {"variants-compiled", R.VariantsCompiled},
                 {"variants-timed", R.VariantsTimed},
                 {"program", toJson(R.Program)},
                 {"program-wall", toJson(R.ProgramWall)},
                 {"pairs", R.Pairs},
                 {"unstable-lines", int64_t(R.UnstableLines)},
                 {"unordered-lines", R.Unordered},
                 {"processes", R.Processes},
                 {"gpus", R.Gpus},
                 {"other-gpu-users", std::move(Users)},
                 {"note", json::fixUTF8(R.Note)},
                 {"units", std::move(Units)},
                 {"kernels", std::move(Kernels)}};
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::formatv("{0:2}", json::Value(std::move(O))) << "\n";
  return Text;
}

static bool mapCount(json::ObjectMapper &M, llvm::StringLiteral Name, unsigned &Out) {
  int64_t Value = 0;
  if (!M.map(Name, Value))
    return false;
  Out = Value;
  return true;
}

namespace carve {

static bool fromJSON(const json::Value &V, RatioInterval &R, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && M.map("median", R.Median) && M.map("low", R.Low) && M.map("high", R.High);
}

static bool fromJSON(const json::Value &V, VariantReport &R, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && M.map("name", R.Name) && mapCount(M, "regs", R.Regs) &&
         mapCount(M, "spill-bytes", R.SpillBytes) && M.map("occupancy", R.Occupancy) &&
         M.map("screening-ratio", R.Ratio) && M.mapOptional("fault", R.Fault) &&
         M.mapOptional("ratio-low", R.RatioLow) && M.mapOptional("ratio-high", R.RatioHigh) &&
         M.mapOptional("local-bytes", R.LocalBytes) && M.mapOptional("efficiency", R.Efficiency) &&
         M.mapOptional("utilization", R.Utilization) && M.mapOptional("carved", R.Carved);
}

static bool fromJSON(const json::Value &V, GpuUser &U, json::Path P) {
  json::ObjectMapper M(V, P);
  std::optional<int64_t> Busy;
  bool Read =
      M && mapCount(M, "pid", U.Pid) && M.map("name", U.Name) && M.map("busy-percent", Busy);
  if (Busy)
    U.BusyPercent = *Busy;
  return Read;
}

static bool fromJSON(const json::Value &V, InRunReport &R, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && M.map("mode", R.Mode) && M.map("mode-reason", R.Reason) &&
         M.map("verified", R.Verified) && mapCount(M, "rounds", R.Rounds) &&
         M.map("ratio", R.Ratio) && M.map("control-distance", R.ControlDistance) &&
         M.map("cold-ns", R.ColdNs) && M.map("warm-ns", R.WarmNs) &&
         M.map("warm-weight", R.WarmWeight);
}

static bool fromJSON(const json::Value &V, UnitReport &U, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && M.map("output", U.Output) && M.map("source", U.Source) &&
         M.map("variant", U.Variant) && M.map("ratio", U.Ratio) && mapCount(M, "pairs", U.Pairs) &&
         M.map("reason", U.Reason) && M.map("variants", U.Variants) && M.map("dropped", U.Dropped);
}

/// Reads the members about the host and the runs, which a report may lack.
static bool mapHost(json::ObjectMapper &M, TuningReport &R) {
  int64_t Processes = 1, Gpus = 1, Before = 0, Compared = 0, Compiled = 0;
  bool Read = M.mapOptional("unordered-lines", R.Unordered) &&
              M.mapOptional("runs-before-confirmation", Before) &&
              M.mapOptional("reruns", R.Reruns) && M.mapOptional("timing-wall-s", R.TimingWallS) &&
              M.mapOptional("variants-compared", Compared) &&
              M.mapOptional("variants-compiled", Compiled) &&
              M.mapOptional("processes", Processes) && M.mapOptional("gpus", Gpus) &&
              M.mapOptional("other-gpu-users", R.OtherUsers) && M.mapOptional("units", R.Units);
  R.RunsBeforeConfirmation = Before;
  R.VariantsCompared = Compared;
  R.VariantsCompiled = Compiled;
  R.Processes = Processes;
  R.Gpus = Gpus;
  return Read;
}

static bool fromJSON(const json::Value &V, ConcurrencyLevel &L, json::Path P) {
  json::ObjectMapper M(V, P);
  return M && mapCount(M, "max-regs", L.MaxRegs) && mapCount(M, "blocks-per-sm", L.BlocksPerSm) &&
         M.map("occupancy", L.Occupancy);
}

/// Reads the members about a kernel's origin, which a report may lack.
static bool mapOrigin(json::ObjectMapper &M, KernelReport &K) {
  int64_t Compiled = 0, Least = 0, Most = 0;
  bool Read = M.mapOptional("compiled", Compiled) && M.mapOptional("carved", K.Carved) &&
              M.mapOptional("source", K.Source) && M.mapOptional("mean-ns", K.MeanNs) &&
              M.mapOptional("least-regs", Least) && M.mapOptional("most-regs", Most) &&
              M.mapOptional("levels", K.Levels) &&
              M.mapOptional("efficiency-before", K.EfficiencyBefore) &&
              M.mapOptional("utilization-before", K.UtilizationBefore) &&
              M.mapOptional("local-bytes-before", K.LocalBytesBefore);
  K.Compiled = Compiled;
  K.LeastRegs = Least;
  K.MostRegs = Most;
  return Read;
}

static bool fromJSON(const json::Value &V, KernelReport &K, json::Path P) {
  json::ObjectMapper M(V, P);
  bool Read = M && mapOrigin(M, K);
  return Read && M.map("kernel", K.Kernel) && M.map("mangled", K.Mangled) &&
         M.map("output", K.Output) && M.map("share", K.Share) && M.map("launches", K.Launches) &&
         mapCount(M, "regs-before", K.RegsBefore) && mapCount(M, "regs-after", K.RegsAfter) &&
         M.map("occupancy-before", K.OccupancyBefore) &&
         M.map("occupancy-after", K.OccupancyAfter) &&
         mapCount(M, "spill-bytes-before", K.SpillBefore) &&
         mapCount(M, "spill-bytes-after", K.SpillAfter) && M.map("tuned", K.Tuned) &&
         M.map("variant", K.Variant) && M.map("ratio", K.Ratio) && mapCount(M, "pairs", K.Pairs) &&
         M.map("reason", K.Reason) && M.map("shapes", K.Shapes) && M.map("variants", K.Variants) &&
         M.map("dropped", K.Dropped) && M.mapOptional("in-run", K.InRun);
}

static bool fromJSON(const json::Value &V, TuningReport &R, json::Path P) {
  json::ObjectMapper M(V, P);
  int64_t UnstableLines = 0;
  bool Read = M && M.map("date", R.Date) && M.map("workload", R.Workload) &&
              M.map("device", R.Device) && M.map("driver", R.Driver) &&
              M.map("nvcc-version", R.NvccVersion) && M.map("scope", R.Scope) &&
              M.map("domain", R.Domain) && mapCount(M, "runs", R.Runs) &&
              M.map("wall-s", R.WallS) && M.map("plain-wall-s", R.PlainWallS) &&
              mapCount(M, "variants-timed", R.VariantsTimed) && M.map("program", R.Program) &&
              M.map("program-wall", R.ProgramWall) && mapCount(M, "pairs", R.Pairs) &&
              M.map("unstable-lines", UnstableLines) && mapHost(M, R) && M.map("note", R.Note) &&
              M.map("kernels", R.Kernels);
  R.UnstableLines = UnstableLines;
  return Read;
}

} // namespace carve

llvm::Expected<TuningReport> carve::parseJsonReport(llvm::StringRef Text, llvm::StringRef Name) {
  llvm::Expected<json::Value> Value = parseJsonText(Text);
  if (!Value)
    return malformed(Name + ": " + llvm::toString(Value.takeError()));
  const json::Object *Object = Value->getAsObject();
  if (!Object || Object->getInteger("carve-report") != 1)
    return malformed(Name + ": expected a report of format 1 (\"carve-report\": 1)");
  TuningReport R;
  json::Path::Root Root(Name);
  if (!fromJSON(*Value, R, Root))
    return malformed(llvm::toString(Root.getError()));
  return R;
}
