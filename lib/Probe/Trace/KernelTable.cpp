#include "Probe/Trace/KernelTable.h"

#include "Protocol/RecordWriter.h"
#include "Protocol/TraceRecords.h"

#include <algorithm>
#include <type_traits>

using namespace carve;
using namespace carve::probe;

static_assert(std::has_unique_object_representations_v<KernelShape>);

size_t KernelTable::ShapeHash::operator()(const KernelShape &Shape) const {
  return std::hash<std::string_view>()({reinterpret_cast<const char *>(&Shape), sizeof Shape});
}

void KernelTable::add(std::string_view Name, const KernelShape &Shape, uint64_t TimeNs,
                      uint64_t LocalBytesTotal, bool FromGraph) {
  auto &[Kernel, Known] = entryOf(Kernels, Name);
  Sum &S = sumOf(Known, Kernel, Shape);
  ++S.Launches;
  S.FromGraphs += FromGraph;
  S.FromGraphsNs += FromGraph ? TimeNs : 0;
  S.TotalNs += TimeNs;
  S.MinNs = std::min(S.MinNs, TimeNs);
  S.LocalBytesTotal = std::max(S.LocalBytesTotal, LocalBytesTotal);
}

KernelTable::Sum &KernelTable::sumOf(Shapes &Known, std::string_view Name, KernelShape Shape) {
  auto It = Known.find(Shape);
  if (It == Known.end()) {
    if (Known.size() >= MaxShapesPerKernel)
      Shape.Grid = {0, 0, 0};
    It = Known.try_emplace(Shape).first;
  }
  if (It->second.Launches == 0)
    Dirty.emplace_back(Name, &*It);
  return It->second;
}

std::string KernelTable::drain() {
  std::string Lines;
  for (auto &[Name, Entry] : Dirty) {
    const KernelShape &K = Entry->first;
    Sum &S = Entry->second;
    KernelLaunches Record;
    Record.Kernel = Name;
    Record.Shape = K;
    Record.Cooperative = K.Cooperative != 0;
    Record.StaticSmemBytes = K.StaticSmemBytes;
    Record.RegsPerThread = K.Registers;
    Record.LocalBytesPerThread = K.LocalBytesPerThread;
    Record.LocalBytesTotal = S.LocalBytesTotal;
    Record.Launches = S.Launches;
    Record.TotalNs = S.TotalNs;
    Record.MinNs = S.MinNs;
    Lines += recordLine(Record);
    if (S.FromGraphs)
      Lines += recordLine(GraphRecord{Record.Kernel, S.FromGraphs, S.FromGraphsNs});
    S = Sum();
  }
  Dirty.clear();
  return Lines;
}
