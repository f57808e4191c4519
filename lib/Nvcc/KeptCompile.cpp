#include "Nvcc/KeptCompile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <thread>

using namespace carve;

static Command nvccCommand(const Toolchain &T, llvm::ArrayRef<std::string> Arguments,
                           llvm::StringRef Dir, llvm::StringRef KeepDir) {
  Command C;
  C.Argv = {T.Nvcc};
  C.Argv.insert(C.Argv.end(), Arguments.begin(), Arguments.end());
  C.Argv.insert(C.Argv.end(), {"--keep", "--keep-dir", KeepDir.str()});
  C.Dir = Dir.str();
  return C;
}

/// Returns the plan of the command. Fails with the reason if there is none.
static llvm::Expected<BuildPlan> planOf(Command C, CommandRunner &Runner) {
  C.Argv.insert(C.Argv.begin() + 1, "--dryrun");
  C.StdinPath = "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  llvm::Expected<CommandResult> Result = Runner.run(C);
  if (!Result)
    return Result.takeError();
  return parseDryrun(Result->Stderr);
}

llvm::Expected<KeptCompile> carve::compileKeeping(const Toolchain &T, CommandRunner &Runner,
                                                  llvm::ArrayRef<std::string> Arguments,
                                                  llvm::StringRef Dir, llvm::StringRef KeepDir,
                                                  bool Quiet) {
  Command Compile = nvccCommand(T, Arguments, Dir, KeepDir);
  Compile.CaptureStdout = Compile.CaptureStderr = Quiet;
  Compile.Tee = !Quiet;
  llvm::Expected<BuildPlan> Plan = BuildPlan();
  std::thread Planner([&, C = Compile] { Plan = planOf(C, Runner); });
  llvm::Expected<CommandResult> Result = Runner.run(Compile);
  Planner.join();
  if (!Result) {
    if (!Plan)
      llvm::consumeError(Plan.takeError());
    return Result.takeError();
  }
  KeptCompile Kept;
  Kept.Nvcc = std::move(*Result);
  if (Plan)
    Kept.Plan = std::move(*Plan);
  else
    Kept.NoPlan = llvm::toString(Plan.takeError());
  return Kept;
}

/// Returns true if \p Word, an option of nvcc or of -Xcompiler, asks for debug information of the
/// host code.
static bool asksForDebugInfo(llvm::StringRef Word) {
  if (Word == "-G" || Word == "--debug" || Word == "--device-debug")
    return true;
  return Word.consume_front("-g") && (Word.empty() || Word.front() <= '9' ||
                                      Word.starts_with("gdb") || Word.starts_with("dwarf"));
}

double carve::keepDirPatience(llvm::ArrayRef<std::string> Words) {
  constexpr double Short = 1, Long = 60;
  for (llvm::StringRef Word : Words) {
    llvm::SmallVector<llvm::StringRef> Parts;
    for (llvm::StringRef Part : llvm::split(Word, ',')) // For example -Xcompiler=-Wall,-g.
      Parts.push_back(Part.substr(Part.rfind('=') + 1));
    if (llvm::any_of(Parts, asksForDebugInfo) || asksForDebugInfo(Word))
      return Long;
  }
  return Short;
}
