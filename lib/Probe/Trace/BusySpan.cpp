#include "Probe/Trace/BusySpan.h"

#include "Protocol/RecordWriter.h"
#include "Protocol/TraceRecords.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

std::string BusySpan::drain() {
  if (New.empty())
    return "";
  // Concurrent kernels are delivered in the order in which they end.
  std::sort(New.begin(), New.end());
  uint64_t FirstNs = New.front().first, LastNs = 0, BusyNs = 0;
  for (auto [StartNs, EndNs] : New) {
    LastNs = std::max(LastNs, EndNs);
    uint64_t FromNs = std::max(StartNs, CoveredNs);
    if (EndNs > FromNs)
      BusyNs += EndNs - FromNs;
    CoveredNs = std::max(CoveredNs, EndNs);
  }
  New.clear();
  return recordLine(SpanRecord{FirstNs, LastNs, BusyNs});
}
