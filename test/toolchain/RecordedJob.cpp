#include "RecordedJob.h"

#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

using namespace carve;

RecordedJob::RecordedJob(llvm::StringRef Samples, UnitStore Recorded, const Toolchain &T,
                         CommandRunner &Runner, std::function<std::optional<double>()> LeftS)
    : Store(std::move(Recorded)), Context{Store, T, Runner, Options} {
  Context.LeftS = std::move(LeftS);
  Options.DevicesDir = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";
  Options.Effort = 0;
  std::string Lines;
  for (llvm::StringRef Line : llvm::split(Samples, "\n"))
    if (Line.consume_front("probe\t"))
      Lines += (Line + "\n").str();
  ProbeRecord Trace;
  EXPECT_EQ(llvm::toString(readProbeFile(Lines, "trace", Trace)), "");
  llvm::Expected<TuningJob> Made = prepareJob(Trace, Context, /*AllUnits=*/true, Sources);
  if (Made)
    Job = std::move(*Made);
  else
    ADD_FAILURE() << llvm::toString(Made.takeError());
}
