#include "Workload/InRunRecords.h"

#include "Protocol/RecordWriter.h"
#include "Support/Error.h"

using namespace carve;
using namespace llvm;

/// Adds the record in \p In to \p All if it is of kind \p T. Returns false if it is not.
template <class T> static bool takeInto(RecordReader &In, std::vector<T> &All) {
  return takeRecord<T>(In, [&](T Record) { All.push_back(std::move(Record)); });
}

bool carve::takeInRunLine(RecordReader &In, InRunRecord &Record) {
  return takeInto(In, Record.Replays) || takeInto(In, Record.Verified) ||
         takeInto(In, Record.Timed) || takeInto(In, Record.Rotated) ||
         takeInto(In, Record.StoodBack) || takeInto(In, Record.Faults);
}

Error carve::checkLine(const RecordReader &In, bool Known, StringRef Name, unsigned Number) {
  std::string Kind = "'" + std::string(In.kind()) + "'";
  if (!Known)
    return malformed(Name + ":" + Twine(Number) + ": unknown record " + Kind);
  if (In.bad())
    return malformed(Name + ":" + Twine(Number) + ": " + Kind + " record: " + *In.bad());
  return Error::success();
}

std::string carve::printInRun(const InRunRecord &Record) {
  std::string Text;
  auto Print = [&](const auto &Records) {
    for (const auto &R : Records)
      Text += recordLine(R);
  };
  Print(Record.Replays);
  Print(Record.Verified);
  Print(Record.Timed);
  Print(Record.Rotated);
  Print(Record.StoodBack);
  Print(Record.Faults);
  return Text;
}

Expected<InRunRecord> carve::readInRun(StringRef Text, StringRef Name) {
  InRunRecord Record;
  for (unsigned Line = 1; !Text.empty(); ++Line) {
    auto [Current, Rest] = Text.split('\n');
    Text = Rest;
    RecordReader In(Current);
    bool Known = takeInRunLine(In, Record);
    if (Error E = checkLine(In, Known, Name, Line))
      return E;
  }
  return Record;
}
