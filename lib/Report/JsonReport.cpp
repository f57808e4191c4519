#include "Report/JsonReport.h"

#include "Support/Error.h"
#include "Support/JsonRecord.h"

using namespace carve;

static constexpr RecordKind ReportRecord = {"report", "carve-report", 1};

namespace carve {

static llvm::json::Value toValue(const StayReason &R) { return llvm::json::fixUTF8(R.text()); }
static bool readValue(const llvm::json::Value &V, StayReason &Out, llvm::json::Path P) {
  std::string Text;
  if (!readValue(V, Text, P))
    return false;
  Out = parseStayReason(Text);
  return true;
}

template <class Fields> void describe(Fields &F, RatioInterval &R) {
  F("median", R.Median);
  F("low", R.Low);
  F("high", R.High);
}

template <class Fields> void describe(Fields &F, VariantReport &V) {
  F("name", V.Name);
  F("regs", V.Regs);
  F("spill-bytes", V.SpillBytes);
  F("occupancy", V.Occupancy);
  F("screening-ratio", V.Ratio);
  F.ifSet("ratio-low", V.RatioLow);
  F.ifSet("ratio-high", V.RatioHigh);
  F.ifSet("efficiency", V.Efficiency);
  F.ifSet("utilization", V.Utilization);
  F.ifSet("local-bytes", V.LocalBytes);
  F.readableIfSet("fault", V.Fault);
  F.readableIfSet("carved", V.Carved);
}

template <class Fields> void describe(Fields &F, GpuUser &U) {
  F("pid", U.Pid);
  F("name", Readable{U.Name});
  F.ifSet("busy-percent", U.BusyPercent);
}

template <class Fields> void describe(Fields &F, LeftGpu &L) {
  F("gpu", L.Gpu);
  F("why", Readable{L.Why});
}

template <class Fields> void describe(Fields &F, InRunFinding &R) {
  F("mode", R.Mode);
  F("mode-reason", Readable{R.Reason});
  F("verified", R.Verified);
  F("rounds", R.Rounds);
  F("ratio", R.Ratio);
  F("control-distance", R.ControlDistance);
  F("cold-ns", R.ColdNs);
  F("warm-ns", R.WarmNs);
  F("warm-weight", R.WarmWeight);
  F.ifSet("gpu", R.Gpu);
}

template <class Fields> void describe(Fields &F, ConcurrencyLevel &L) {
  F("max-regs", L.MaxRegs);
  F("blocks-per-sm", L.BlocksPerSm);
  F("occupancy", L.Occupancy);
}

template <class Fields> void describe(Fields &F, GuardHold &H) {
  F("launches", H.Held);
  F("of", H.Launches);
  F("share", H.Share);
  F.ifSet("at-most", H.AtMost);
}

template <class Fields> void describe(Fields &F, EntryHold &E) {
  F("when", E.When);
  F("variant", E.Variant);
  F.ifSet("held-when-tuned", E.Tuned);
  F("held", E.Now);
}

template <class Fields> void describe(Fields &F, KernelReport &K) {
  F("kernel", Readable{K.Kernel});
  F("mangled", Readable{K.Mangled});
  F("output", Readable{K.Output});
  F("source", Readable{K.Source});
  F("share", K.Share);
  F("launches", K.Launches);
  F("mean-ns", K.MeanNs);
  F("least-regs", K.LeastRegs);
  F("most-regs", K.MostRegs);
  F("levels", K.Levels);
  F("efficiency-before", K.EfficiencyBefore);
  F("utilization-before", K.UtilizationBefore);
  F("local-bytes-before", K.LocalBytesBefore);
  F("regs-before", K.RegsBefore);
  F("regs-after", K.RegsAfter);
  F("occupancy-before", K.OccupancyBefore);
  F("occupancy-after", K.OccupancyAfter);
  F("spill-bytes-before", K.SpillBefore);
  F("spill-bytes-after", K.SpillAfter);
  F("tuned", K.Tuned);
  F("variant", K.Variant);
  F.ifSet("entries", K.Entries);
  F.ifSet("earlier-entries", K.Earlier);
  F("ratio", K.Ratio);
  F("pairs", K.Pairs);
  F("reason", K.Reason);
  F("shapes", K.Shapes);
  F("compiled", K.Compiled);
  F.ifSet("untried", K.End.Untried);
  F.ifSet("promise", K.End.Promise);
  F.ifSet("forbidden-cap", K.End.ForbiddenCap);
  F.ifSet("forbidden-promise", K.End.ForbiddenPromise);
  F("variants", K.Variants);
  F("carved", K.Carved);
  F("dropped", K.Dropped);
  F.when(!K.InRun.Mode.empty(), "in-run", K.InRun);
}

template <class Fields> void describe(Fields &F, TuningReport &R) {
  F("date", R.Date);
  F("workload", Readable{R.Workload});
  F("device", Readable{R.Device});
  F("driver", Readable{R.Driver});
  F("nvcc-version", R.NvccVersion);
  F("scope", R.Scope);
  F("domain", R.Domain);
  F("runs", R.Runs);
  F("runs-before-confirmation", R.RunsBeforeConfirmation);
  F("reruns", R.Reruns);
  F("timing-wall-s", R.TimingWallS);
  F("variants-compared", R.VariantsCompared);
  F("wall-s", R.WallS);
  F("plain-wall-s", R.PlainWallS);
  F("variants-compiled", R.VariantsCompiled);
  F("variants-timed", R.VariantsTimed);
  F("program", R.Program);
  F("program-wall", R.ProgramWall);
  F.when(R.ProgramSpan.Median > 0, "program-span", R.ProgramSpan);
  F("pairs", R.Pairs);
  F.ifSet("pairs-made", R.PairsMade);
  F.ifSet("confirmation-end", R.Ended);
  F("unstable-lines", R.UnstableLines);
  F("unordered-lines", R.Unordered);
  F("processes", R.Processes);
  F("gpus", R.Gpus);
  F.ifSet("graph-share", R.GraphShare);
  F("other-gpu-users", R.OtherUsers);
  F.ifSet("timed-on", R.TimedOn);
  F.ifSet("left-gpus", R.LeftGpus);
  F.readableIfSet("gpu-note", R.GpuNote);
  F("note", Readable{R.Note});
  F("kernels", R.Kernels);
}

} // namespace carve

std::string carve::printJsonReport(const TuningReport &R) { return printRecord(R, ReportRecord); }

llvm::json::Value carve::guardHoldJson(const GuardHold &Hold) { return toValue(Hold); }

llvm::json::Value carve::entryHoldJson(const EntryHold &Entry) { return toValue(Entry); }

llvm::Expected<TuningReport> carve::parseJsonReport(llvm::StringRef Text, llvm::StringRef Name) {
  return parseRecord<TuningReport>(Text, Name, ReportRecord);
}
