#include "Workload/OutputCheck.h"

#include "Support/Error.h"
#include "Support/Log.h"

#include <utility>

using namespace carve;

/// Whether the default has not yet run as often as it may.
bool OutputCheck::mayAsk() const {
  constexpr unsigned MostPlain = 4;
  return Stretch.any() || Plain < MostPlain;
}

llvm::Expected<std::optional<std::string>> OutputCheck::difference(const ProgramOutput &Output,
                                                                   MemoryOfRun Memory) {
  using OtherTimes = OutputReference::OtherTimes;
  std::lock_guard<std::mutex> Alone(Mutex);
  std::optional<std::string> Difference = Reference.difference(Output);
  while (Difference) {
    OtherTimes Allowed = OtherTimes::None;
    if (Memory != MemoryOfRun::NotCompared && mayAsk() && WhyNoRun(/*Stretched=*/false))
      Allowed = OtherTimes::Any;
    else if (Memory == MemoryOfRun::Same)
      Allowed = OtherTimes::OfFormsThatChange;
    if (!Reference.difference(Output, Allowed)) {
      logLine("only times differ: " + *Difference);
      return std::nullopt;
    }
    if (!mayAsk())
      break;
    if (std::optional<std::string> Why = WhyNoRun(Stretch.any())) {
      *Difference += "; the default was not run again: " + *Why;
      break;
    }
    const probe::TimeStretch By = std::exchange(Stretch, {});
    Plain += !By.any();
    ++Runs;
    llvm::Expected<RunRecord> Again = RunDefault(By);
    if (!Again) {
      logLine("the default could not run again: " + llvm::toString(Again.takeError()));
      break;
    }
    if (Again->Interrupted)
      return interrupted(Again->Interrupted);
    if (!Again->succeeded())
      break;
    Reference.addDefault(Again->Output);
    Difference = Reference.difference(Output);
  }
  return Difference;
}

bool OutputCheck::asksForTimes(const ProgramOutput &Output) {
  std::lock_guard<std::mutex> Alone(Mutex);
  return mayAsk() && Reference.difference(Output) &&
         !Reference.difference(Output, OutputReference::OtherTimes::Any);
}

void OutputCheck::keep(const ProgramOutput &Output, MemoryOfRun Memory) {
  std::lock_guard<std::mutex> Alone(Mutex);
  if (Reference.difference(Output))
    Kept[Memory].push_back(Output);
}

llvm::Expected<std::optional<std::string>> OutputCheck::differenceOfKept(MemoryOfRun Memory,
                                                                         bool MayRun) {
  for (const ProgramOutput &Output : std::exchange(Kept[Memory], {})) {
    if (!MayRun) {
      if (auto Known = Reference.difference(Output))
        return Known;
      continue;
    }
    auto Difference = difference(Output, Memory);
    if (!Difference || *Difference)
      return Difference;
  }
  return std::nullopt;
}
