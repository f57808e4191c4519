#include "Workload/InRunRecords.h"

#include "Support/Error.h"
#include "Workload/ProbeFields.h"

#include "llvm/Support/raw_ostream.h"

using namespace carve;
using namespace llvm;

// In the order of Verdict.
static constexpr StringLiteral Verdicts[] = {"equal", "within-spread", "differs", "stray",
                                             "refused"};
static constexpr StringLiteral Phases[] = {"screen", "confirm"};

namespace {

LaunchPlace readPlace(ProbeFields &F) {
  LaunchPlace P;
  P.Kernel = F.name();
  F.shape(P.Shape);
  F.number(P.Launch);
  return P;
}

ReplayedLaunch readReplayed(ProbeFields &F) {
  ReplayedLaunch R;
  R.Place = readPlace(F);
  F.flag(R.Deterministic);
  F.flag(R.Idempotent);
  F.number(R.SavedBytes);
  F.number(R.DirtyBytes);
  F.number(R.DirtyRanges);
  F.number(R.SaveNs);
  F.number(R.CompareNs);
  F.number(R.RestoreNs);
  F.number(R.WholeNs);
  return R;
}

VerifiedVariant readVerified(ProbeFields &F) {
  VerifiedVariant V;
  V.Place = readPlace(F);
  F.number(V.Variant);
  V.Result = static_cast<Verdict>(F.oneOf(Verdicts));
  V.Detail = F.text();
  return V;
}

TimedSample readTimed(ProbeFields &F) {
  TimedSample T;
  T.Place = readPlace(F);
  T.Confirming = F.oneOf(Phases) == 1;
  F.number(T.Round);
  F.number(T.Variant);
  F.number(T.ColdNs);
  F.number(T.WarmNs);
  return T;
}

RotatedSample readRotated(ProbeFields &F) {
  RotatedSample R;
  R.Kernel = F.name();
  F.shape(R.Shape);
  F.number(R.Cycle);
  F.number(R.Variant);
  F.number(R.Ns);
  return R;
}

InRunRecord::Reason readReason(ProbeFields &F) {
  InRunRecord::Reason R;
  R.Kernel = F.name();
  R.Why = F.text();
  return R;
}

InRunRecord::Fault readFault(ProbeFields &F) {
  InRunRecord::Fault R;
  R.Kernel = F.name();
  F.number(R.Variant);
  R.Why = F.text();
  return R;
}

/// Only a whole line counts.
template <typename T> void take(ProbeFields &F, T Value, std::vector<T> &All) {
  F.end();
  if (!F.bad())
    All.push_back(std::move(Value));
}

} // namespace

bool carve::takeInRunLine(ProbeFields &F, InRunRecord &Record) {
  StringRef Tag = F.tag();
  if (Tag == "replayed")
    take(F, readReplayed(F), Record.Replays);
  else if (Tag == "verified")
    take(F, readVerified(F), Record.Verified);
  else if (Tag == "timed")
    take(F, readTimed(F), Record.Timed);
  else if (Tag == "rotated")
    take(F, readRotated(F), Record.Rotated);
  else if (Tag == "stood-back")
    take(F, readReason(F), Record.StoodBack);
  else if (Tag == "fault")
    take(F, readFault(F), Record.Faults);
  else
    return false;
  return true;
}

static std::string printPlace(const LaunchPlace &P) {
  return P.Kernel + "\t" + shapeFields(P.Shape) + "\t" + std::to_string(P.Launch);
}

std::string carve::printInRun(const InRunRecord &Record) {
  std::string Text;
  raw_string_ostream OS(Text);
  for (const ReplayedLaunch &R : Record.Replays)
    OS << "replayed\t" << printPlace(R.Place) << '\t' << R.Deterministic << '\t' << R.Idempotent
       << '\t' << R.SavedBytes << '\t' << R.DirtyBytes << '\t' << R.DirtyRanges << '\t' << R.SaveNs
       << '\t' << R.CompareNs << '\t' << R.RestoreNs << '\t' << R.WholeNs << '\n';
  for (const VerifiedVariant &V : Record.Verified)
    OS << "verified\t" << printPlace(V.Place) << '\t' << V.Variant << '\t'
       << Verdicts[static_cast<size_t>(V.Result)] << '\t' << V.Detail << '\n';
  for (const TimedSample &T : Record.Timed)
    OS << "timed\t" << printPlace(T.Place) << '\t' << Phases[T.Confirming] << '\t' << T.Round
       << '\t' << T.Variant << '\t' << printNumber(T.ColdNs) << '\t' << printNumber(T.WarmNs)
       << '\n';
  for (const RotatedSample &R : Record.Rotated)
    OS << "rotated\t" << R.Kernel << '\t' << shapeFields(R.Shape) << '\t' << R.Cycle << '\t'
       << R.Variant << '\t' << printNumber(R.Ns) << '\n';
  for (const InRunRecord::Reason &R : Record.StoodBack)
    OS << "stood-back\t" << R.Kernel << '\t' << R.Why << '\n';
  for (const InRunRecord::Fault &F : Record.Faults)
    OS << "fault\t" << F.Kernel << '\t' << F.Variant << '\t' << F.Why << '\n';
  return Text;
}

Expected<InRunRecord> carve::readInRun(StringRef Text, StringRef Name) {
  InRunRecord Record;
  for (unsigned Line = 1; !Text.empty(); ++Line) {
    auto [Current, Rest] = Text.split('\n');
    Text = Rest;
    ProbeFields F(Current);
    bool Known = takeInRunLine(F, Record);
    if (!Known)
      return malformed(Name + ":" + Twine(Line) + ": '" + F.tag() +
                       "' is no record of a timing run");
    if (F.bad())
      return malformed(Name + ":" + Twine(Line) + ": '" + F.tag() + "' record: " + *F.bad());
  }
  return Record;
}
