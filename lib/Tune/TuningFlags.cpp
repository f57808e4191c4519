#include "Tune/TuningFlags.h"

using namespace carve;

void carve::registerTuning(Flags &F, llvm::StringRef Prefix, const TuningValues &Values) {
  auto Name = [&](llvm::StringRef Bare) { return (Prefix + Bare).str(); };
  F.seconds(Name("timeout"), "SECONDS", Values.TimeoutS, "limit for one run of the program");
  F.number(Name("max-runs"), "N", Values.MaxRuns, 1, 1000000,
           "limit for the runs that trace, time, screen and confirm");
  F.seconds(Name("budget"), "SECONDS", Values.BudgetS,
            "limit for the whole tuning; an undecided kernel keeps its default")
      .Default = "8 plain runs, but at least 20 s";
  F.choice(Name("mode"), {"auto", "fixed", "rotate", "replay"}, Values.Mode,
           "how variants are timed: rotate and replay within one run, fixed by a run for each");
  if (Values.Effort)
    F.number(
         Name("effort"), "0|1|2|3", *Values.Effort, 0, MaxEffort,
         "what is tried: 0 register caps; 1 also caps of the front end; 2 also other knobs; 3 also "
         "register-usage levels, with three times the time")
        .Variable = "CARVE_EFFORT";
  if (Values.Scope)
    F.choice(Name("scope"), {"kernel", "file"}, *Values.Scope,
             "a setting for each kernel, or a cap for each file by -maxrregcount");
  F.choice(Name("launch-domain"), {"preserve", "traced"}, Values.Domain,
           "block sizes that stay launchable: all, or those up to the largest that was seen");
  F.choice(Name("entries"), {"off", "blocks", "values", "floats"}, Values.Entries,
           "further entries of a kernel, which a launch chooses by its dimensions, also by integer "
           "arguments, or by floating-point arguments, too");
  F.list(Name("output"), "FILE", Values.OutputFiles,
         "a file that the program writes, whose content must not change");
  F.text(Name("samples"), "FILE", Values.SamplesPath,
         "take the times from recorded samples instead of running the program");
  if (Values.Gpus)
    F.value(
         Name("gpus"), "GPUS",
         [Gpus = Values.Gpus](llvm::StringRef Value) { return setGpus(Value, *Gpus); },
         "time kernels on these GPUs at once: all, or numbers such as 0,2; the first confirms")
        .Default = "one GPU, which the program chooses";
}
