/// \file
/// Reads the files in which the tools tell the probe what to do (Protocol/PlanRecords.h), one line
/// at a time.
#pragma once

#include "Protocol/RecordReader.h"

#include <fstream>
#include <string>

namespace carve::probe {

/// Passes the records of the file \p Path to \p Take, which returns whether it knows the record.
/// Returns false if the file cannot be read, if it is of another kind or version than \p Kind, or
/// if a line is unknown or malformed. A plan of which a part is not understood is refused, because
/// the probe would do the wrong thing.
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
