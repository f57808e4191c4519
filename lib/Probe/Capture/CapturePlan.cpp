#include "Probe/Capture/CapturePlan.h"

#include "Probe/Driver/PlanLines.h"

using namespace carve::probe;
using namespace carve;

bool CapturePlan::read(const char *File) {
  auto Take = [&](RecordReader &In) {
    return takeRecord<DirectoryRecord>(In, [&](const DirectoryRecord &R) { Directory = R.Path; }) ||
           takeRecord<CaptureWish>(In, [&](const CaptureWish &R) { Wishes.push_back(R); });
  };
  return readPlanLines(File, CapturePlanFile, Take) && !Directory.empty() && !Wishes.empty();
}
