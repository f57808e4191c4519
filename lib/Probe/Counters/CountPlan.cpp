#include "Probe/Counters/CountPlan.h"

#include "Probe/Driver/PlanWords.h"
#include "Protocol/Protocol.h"

#include <fstream>

using namespace carve::probe;

static bool readLine(PlanWords &Line, CountPlan &P) {
  std::string Tag = Line.text();
  if (Tag == "pass") {
    P.Pass = Line.number<size_t>();
  } else if (Tag == "metric") {
    P.Metrics.push_back(Line.text());
  } else if (Tag == "kernel") {
    CountPlan::Wish &W = P.Wishes.emplace_back();
    W.Kernel = Line.text();
    W.Shape = Line.shape();
    W.First = Line.number<uint64_t>();
    W.Launches = Line.number<uint64_t>();
  } else {
    return false;
  }
  return Line.whole();
}

bool CountPlan::read(const char *File) {
  std::ifstream In(File);
  std::string Line;
  if (!std::getline(In, Line) || Line != "carve-metrics\t" + std::to_string(MetricsVersion))
    return false;
  while (std::getline(In, Line)) {
    PlanWords W(Line);
    if (!readLine(W, *this))
      return false;
  }
  return In.eof() && !Metrics.empty() && !Wishes.empty();
}
