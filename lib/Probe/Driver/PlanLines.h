/// \file
/// Reads the files in which the tools tell the probe what they want (Protocol/PlanRecords.h), a
/// line at a time.
#pragma once

#include "Protocol/RecordReader.h"

#include <fstream>
#include <string>

namespace carve::probe {

/// Hands the records of the file \p Path to \p Take, which says whether it knows a record. False if
/// the file cannot be read, is of another kind or version than \p Kind, or has a line that is not
/// known or not sound: a plan that is half understood has the wrong thing done.
template <class F> bool readPlanLines(const char *Path, const ProtocolFile &Kind, F Take) {
  std::ifstream In(Path);
  std::string Line;
  if (!std::getline(In, Line) || Line != headOf(Kind))
    return false;
  while (std::getline(In, Line)) {
    RecordReader Record(Line);
    if (!Take(Record) || Record.bad())
      return false;
  }
  return In.eof();
}

} // namespace carve::probe
