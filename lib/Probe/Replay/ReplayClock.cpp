#include "Probe/Replay/ReplayClock.h"

#include "Probe/Trace/Activity.h"

#include <algorithm>
#include <utility>

using namespace carve;
using namespace carve::probe;

/// A flush takes well below a millisecond and delivers before it returns. Records that another
/// thread is delivering, or that CUPTI has not seen yet, come a little later.
static constexpr std::chrono::milliseconds FlushLimit{5};
static constexpr unsigned MaxFlushes = 10;

void StreamRecords::add(Run R) {
  std::lock_guard<std::mutex> Guard(Lock);
  Runs.push_back(std::move(R));
  Changed.notify_all();
}

bool StreamRecords::wait(size_t Count, std::chrono::milliseconds Limit) {
  std::unique_lock<std::mutex> Guard(Lock);
  return Changed.wait_for(Guard, Limit, [&] { return Runs.size() >= Count; });
}

std::vector<StreamRecords::Run> StreamRecords::take() {
  std::vector<Run> Taken;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Taken.swap(Runs);
  }
  std::stable_sort(Taken.begin(), Taken.end(),
                   [](const Run &A, const Run &B) { return A.StartNs < B.StartNs; });
  return Taken;
}

bool ReplayClock::event(size_t Index, CUevent &Event) {
  while (Events.size() <= Index) {
    CUevent New = nullptr;
    if (Driver.EventCreate(&New, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
      return false;
    Events.push_back(New);
  }
  Event = Events[Index];
  return true;
}

bool ReplayClock::begin(const std::string &Name, bool Timed) {
  // The events of an untimed run are used again for the next run.
  size_t Pair = 0;
  for (const Run &R : Runs)
    Pair += R.Timed;
  Runs.push_back({Name, Timed, Pair});
  CUevent Event;
  return !Timed || (event(2 * Pair, Event) && Driver.EventRecord(Event, Stream) == CUDA_SUCCESS);
}

bool ReplayClock::end() {
  const Run &R = Runs.back();
  CUevent Event;
  return !R.Timed ||
         (event(2 * R.Events + 1, Event) && Driver.EventRecord(Event, Stream) == CUDA_SUCCESS);
}

std::vector<double> ReplayClock::collect() {
  std::vector<Run> Done = std::exchange(Runs, {});
  std::vector<double> Ns;
  if (RecordsCome && !byRecords(Done, Ns)) {
    RecordsCome = false;
    Ns.clear();
  }
  if (!RecordsCome && !byEvents(Done, Ns))
    Ns.clear();
  return Ns;
}

bool ReplayClock::byRecords(const std::vector<Run> &Done, std::vector<double> &Ns) {
  // CUPTI allows this flush on the thread that is in its callback.
  bool There = false;
  for (unsigned I = 0; I < MaxFlushes && !There; ++I) {
    flushActivity(/*Last=*/false);
    There = Records.wait(Done.size(), FlushLimit);
  }
  std::vector<StreamRecords::Run> Found = Records.take();
  if (Found.size() != Done.size())
    return false;
  for (size_t I = 0; I < Done.size(); ++I) {
    if (Found[I].Name != Done[I].Name)
      return false;
    if (Done[I].Timed)
      Ns.push_back(double(Found[I].EndNs - Found[I].StartNs));
  }
  return true;
}

bool ReplayClock::byEvents(const std::vector<Run> &Done, std::vector<double> &Ns) const {
  for (const Run &R : Done) {
    float Ms = 0;
    if (!R.Timed)
      continue;
    if (Driver.EventElapsedTime(&Ms, Events[2 * R.Events], Events[2 * R.Events + 1]) !=
        CUDA_SUCCESS)
      return false;
    Ns.push_back(double(Ms) * 1e6);
    if (Ns.back() < LeastEventNs)
      return false;
  }
  return true;
}
