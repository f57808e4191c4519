#include "Explain/LimitsJson.h"

#include "Ptx/ProfileName.h"
#include "Report/JsonReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

namespace {

json::Value knownOrNull(double Value) {
  return Value > 0 ? json::Value(Value) : json::Value(nullptr);
}

json::Value toJson(const std::array<unsigned, 3> &T) { return json::Array{T[0], T[1], T[2]}; }

json::Value toJson(const KernelCounts &C) {
  const PipeCounts &P = C.Pipes;
  return json::Object{{"instructions", C.Instructions},
                      {"regions", C.Regions},
                      {"global-loads", C.GlobalLoads},
                      {"global-stores", C.GlobalStores},
                      {"global-load-bytes", C.GlobalLoadBytes},
                      {"global-store-bytes", C.GlobalStoreBytes},
                      {"least-moved-bytes", C.LeastMovedBytes},
                      {"most-moved-bytes", C.MostMovedBytes},
                      {"coalesced-share", C.CoalescedShare},
                      {"shared-accesses", C.SharedAccesses},
                      {"shared-rounds", C.SharedRounds},
                      {"local-accesses", C.LocalAccesses},
                      {"local-load-bytes", C.LocalLoadBytes},
                      {"local-store-bytes", C.LocalStoreBytes},
                      {"fp32", P.Fp32},
                      {"integer-multiply", P.IntegerMultiply},
                      {"integer", P.Integer},
                      {"fp64", P.Fp64},
                      {"special", P.Special},
                      {"tensor", P.Tensor},
                      {"assumed-trips", C.AssumedTrips}};
}

json::Value toJson(const KernelCounters &C) {
  return json::Object{{"launches", C.Launches},
                      {"duration-ns", C.DurationNs},
                      {"dram-share", C.DramShare},
                      {"l2-share", C.L2Share},
                      {"l2-part", C.L2Part.empty() ? json::Value(nullptr) : json::Value(C.L2Part)},
                      {"l1-share", C.L1Share},
                      {"shared-share", C.SharedShare},
                      {"issue-share", C.IssueShare},
                      {"pipe-share", C.PipeShare},
                      {"pipe", C.Pipe.empty() ? json::Value(nullptr) : json::Value(C.Pipe)},
                      {"active-warps-per-sm", C.ActiveWarpsPerSm},
                      {"dram-bytes", C.DramBytes},
                      {"l2-bytes", C.L2Bytes},
                      {"instructions", C.Instructions},
                      {"local-instructions", C.LocalInstructions}};
}

json::Value toJson(const ModifiedTimes &M) {
  return json::Object{{"whole-ns", knownOrNull(M.WholeNs)},
                      {"memory-ns", knownOrNull(M.MemoryNs)},
                      {"arithmetic-ns", knownOrNull(M.ArithmeticNs)},
                      {"overlap", M.overlap()},
                      {"reason", json::fixUTF8(M.Reason)}};
}

json::Value toJson(const TriedVariant &V) {
  return json::Object{{"name", V.Name},       {"ratio", V.Ratio}, {"ratio-low", V.Low},
                      {"ratio-high", V.High}, {"regs", V.Regs},   {"spill-bytes", V.SpillBytes}};
}

json::Value toJson(const TriedVariants &T) {
  return json::Object{
      {"compiled", T.Compiled},
      {"timed", T.Timed},
      {"carved", T.Carved},
      {"best", T.Best ? toJson(*T.Best) : json::Value(nullptr)},
      {"least-spilled", T.LeastSpilled ? toJson(*T.LeastSpilled) : json::Value(nullptr)},
      {"chosen", T.Chosen},
      {"reason", json::fixUTF8(T.Reason)},
      {"least-regs", T.LeastRegs},
      {"most-regs", T.MostRegs}};
}

template <typename T> json::Value toJson(const std::optional<T> &Value) {
  return Value ? toJson(*Value) : json::Value(nullptr);
}

json::Value sharesOf(const std::vector<ResourceShare> &Shares) {
  json::Array A;
  for (const ResourceShare &S : Shares)
    A.push_back(json::Object{{"resource", S.Resource},
                             {"kind", limitName(S.Kind)},
                             {"share", S.Share},
                             {"most", S.Most},
                             {"measured", S.Measured}});
  return A;
}

json::Value toJson(const KernelLimit &L) {
  return json::Object{{"limit", L.Kind ? json::Value(limitName(*L.Kind)) : json::Value(nullptr)},
                      {"resource", L.Resource},
                      {"share", L.Share},
                      {"basis", basisName(L.Basis)},
                      {"certainty", certaintyName(L.Sure)},
                      {"why", json::fixUTF8(L.Why)},
                      {"headline", json::fixUTF8(headline(L))},
                      {"shares", sharesOf(L.Shares)}};
}

json::Value toJson(const Finding &F) {
  return json::Object{
      {"topic", F.Topic},   {"text", json::fixUTF8(F.Text)}, {"tried", json::fixUTF8(F.Tried)},
      {"author", F.Author}, {"at-most", F.AtMost},           {"measured", F.Measured}};
}

json::Value toJson(const KernelLimits &K, const DeviceBalance &B) {
  const KernelEvidence &E = K.Evidence;
  json::Array Entries;
  for (const EntryHold &Entry : E.Entries)
    Entries.push_back(entryHoldJson(Entry));
  json::Array Findings;
  for (const Finding &F : K.Findings)
    Findings.push_back(toJson(F));
  json::Array Derived = std::move(*sharesOf(derivedShares(E, B)).getAsArray());
  return json::Object{
      {"kernel", json::fixUTF8(profileName(E.Kernel))},
      {"mangled", json::fixUTF8(E.Kernel)},
      {"share", E.Share},
      {"launches", static_cast<int64_t>(E.Launches)},
      {"mean-ns", E.MeanNs},
      {"grid", toJson(E.Shape.Grid)},
      {"block", toJson(E.Shape.Block)},
      {"dynamic-smem-bytes", E.Shape.DynamicSmemBytes},
      {"static-smem-bytes", E.StaticSmemBytes},
      {"regs", E.RegsPerThread},
      {"spill-bytes", E.SpillBytes},
      {"limiter", toJson(K.Limit)},
      {"findings", std::move(Findings)},
      {"derived-shares", std::move(Derived)},
      {"resident-warps", residentWarps(E, B)},
      {"counts", toJson(E.Counts)},
      {"counts-of", !E.Counts ? json::Value(nullptr) : json::Value(E.OfCode ? "code" : "ptx")},
      {"trips-known", E.TripsKnown},
      {"counts-reason", json::fixUTF8(E.CountsReason)},
      {"counters", toJson(E.Counters)},
      {"modified", toJson(E.Modified)},
      {"tried", toJson(E.Tried)},
      {"entries", std::move(Entries)}};
}

json::Value toJson(const DeviceBalance &B) {
  return json::Object{{"name", json::fixUTF8(B.Name)},
                      {"arch", B.Model.Arch},
                      {"sms", B.Sms},
                      {"clock-hz", knownOrNull(B.ClockHz)},
                      {"dram-bytes-per-s", knownOrNull(B.DramBytes)},
                      {"l2-bytes-per-s", knownOrNull(B.L2Bytes)},
                      {"dram-latency-ns", knownOrNull(B.DramLatencyNs)},
                      {"instructions-per-byte", knownOrNull(B.instructionsPerByte())},
                      {"bytes-in-flight-per-sm", knownOrNull(B.bytesInFlightPerSm())}};
}

} // namespace

std::string carve::printLimitsJson(const LimitsReport &R) {
  json::Array Kernels, Notes;
  for (const KernelLimits &K : R.Kernels)
    Kernels.push_back(toJson(K, R.Balance));
  for (const std::string &Note : R.Notes)
    Notes.push_back(json::fixUTF8(Note));
  json::Object O{{"carve-explain", 1},
                 {"workload", json::fixUTF8(R.Workload)},
                 {"device", toJson(R.Balance)},
                 {"program", json::Object{{"span-ns", knownOrNull(R.Program.SpanNs)},
                                          {"busy-ns", knownOrNull(R.Program.BusyNs)},
                                          {"busy-share", R.Program.busyShare()},
                                          {"launches", static_cast<int64_t>(R.Program.Launches)}}},
                 {"runs", R.Runs},
                 {"counters-refused", R.CountersOff ? "off" : json::fixUTF8(R.CountersRefused)},
                 {"modified-refused", R.ModifiedOff ? "off" : json::fixUTF8(R.ModifiedRefused)},
                 {"tuned-on", R.TunedOn},
                 {"notes", std::move(Notes)},
                 {"kernels", std::move(Kernels)}};
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::formatv("{0:2}", json::Value(std::move(O))) << "\n";
  return Text;
}
