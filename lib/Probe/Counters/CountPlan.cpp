#include "Probe/Counters/CountPlan.h"

#include "Probe/Driver/PlanLines.h"

using namespace carve::probe;
using namespace carve;

bool CountPlan::read(const char *File) {
  auto Take = [&](RecordReader &In) {
    return takeRecord<PassRecord>(In, [&](PassRecord R) { Pass = R.Pass; }) ||
           takeRecord<MetricRecord>(In,
                                    [&](const MetricRecord &R) { Metrics.push_back(R.Metric); }) ||
           takeRecord<CountWish>(In, [&](const CountWish &R) { Wishes.push_back(R); });
  };
  return readPlanLines(File, MetricsFile, Take) && !Metrics.empty() && !Wishes.empty();
}
