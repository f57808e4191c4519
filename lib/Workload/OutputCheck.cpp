#include "Workload/OutputCheck.h"

#include "Support/Error.h"
#include "Support/Log.h"

#include <utility>

using namespace carve;

llvm::Expected<std::optional<std::string>> OutputCheck::difference(const ProgramOutput &Output,
                                                                   MemoryOfRun Memory) {
  using OtherTimes = OutputReference::OtherTimes;
  std::lock_guard<std::mutex> Alone(Mutex);
  constexpr unsigned MostPlain = 4;
  std::optional<std::string> Difference = Reference.difference(Output);
  while (Difference) {
    const bool MayAsk = Stretch.any() || Plain < MostPlain;
    OtherTimes Allowed = OtherTimes::None;
    if (Memory != MemoryOfRun::NotCompared && MayAsk && WhyNoRun(/*Stretched=*/false))
      Allowed = OtherTimes::Any;
    else if (Memory == MemoryOfRun::Same)
      Allowed = OtherTimes::OfFormsThatChange;
    if (!Reference.difference(Output, Allowed)) {
      logLine("only times differ: " + *Difference);
      return std::nullopt;
    }
    if (!MayAsk)
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

bool OutputCheck::isSameButTimes(const ProgramOutput &Output) {
  std::lock_guard<std::mutex> Alone(Mutex);
  return !Reference.difference(Output, OutputReference::OtherTimes::Any);
}

void OutputCheck::keep(const ProgramOutput &Output, MemoryOfRun Memory) {
  std::lock_guard<std::mutex> Alone(Mutex);
  if (Reference.difference(Output))
    Kept.emplace_back(Output, Memory);
}

llvm::Expected<std::optional<std::string>> OutputCheck::differenceOfKept() {
  for (const auto &[Output, Memory] : std::exchange(Kept, {})) {
    if (Memory == MemoryOfRun::NotCompared && WhyNoRun(/*Stretched=*/false) &&
        isSameButTimes(Output))
      continue;
    auto Difference = difference(Output, Memory);
    if (!Difference || *Difference)
      return Difference;
  }
  return std::nullopt;
}
