/// \file
/// The commands of `carve`, each given the words behind its name.
#pragma once

#include "Compile/DriverOptions.h"
#include "Store/UserProfile.h"
#include "Tune/TunePipeline.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// What every command may need of the process it runs in.
struct CommandContext {
  std::string OwnPath;
  InstallTree Install;
  GetEnv Env;
};

/// Said where a command needs a GPU and there is none.
constexpr char NoGpu[] = "no GPU is present (no /dev/nvidia*, or CUDA_VISIBLE_DEVICES hides it)";

/// The directory of the store that \p Env names. Fails with UsageError where none can
/// be, and where another user can write it.
llvm::Expected<std::string> storeFolder(GetEnv Env);
/// Fails with UsageError where there is no GPU; \p What says what one is needed for.
llvm::Error needGpu(GetEnv Env, llvm::StringRef What);
/// nvcc and its tools, as findToolchain() and locateTools() find them.
llvm::Expected<Toolchain> toolchainOf(const CommandContext &Context);
/// Fills in what \p Request needs of the machine and of our installation.
void placeRequest(TuneRequest &Request, const Toolchain &T, const CommandContext &Context);

/// The last tuning's report of the store that \p Env names. Fails with UsageError where there is
/// none.
llvm::Expected<TuningReport> lastReport(GetEnv Env);
/// The report in the file \p Name; `latest`: lastReport().
llvm::Expected<TuningReport> namedReport(const std::string &Name, GetEnv Env);

/// The profiles that builds compile with now: \p Given by `--profile`, which must exist, else the
/// one that CARVE_PROFILE names, and the ones that commands name by option. Warns of a variable
/// that names no file.
llvm::Expected<CurrentProfiles> currentProfiles(std::string Given, GetEnv Env);

/// Makes the words of \p Command in \p Folders absolute. Fails with UsageError where one is no
/// folder, and where \p Rest, what came after `--`, is not empty.
llvm::Error takeFolders(llvm::StringRef Command, std::vector<std::string> &Folders,
                        llvm::ArrayRef<std::string> Rest);

/// Exit status 1 without a message: what was asked for differs.
class Differs : public llvm::ErrorInfo<Differs> {
public:
  static char ID;
  void log(llvm::raw_ostream &OS) const override { OS << "the profiles differ"; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// Exit status 2: nothing could be compared.
class CannotCompare : public llvm::ErrorInfo<CannotCompare> {
public:
  static char ID;
  explicit CannotCompare(std::string Message) : Message(std::move(Message)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string Message;
};

/// `carve metrics [options] FILE.cu|FILE.ptx|FILE.cubin [-- nvcc options]`,
/// `carve metrics --count [options] -- COMMAND...`
llvm::Error runMetrics(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve tune [options] -- COMMAND...`
llvm::Error runTune(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve capture [options] -- COMMAND...`, `carve capture --list FILE...`
llvm::Error runCapture(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve kernels [--profile=FILE] [--exit-code] [--format=text|json] [FOLDER...]`
llvm::Error runKernels(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve touch [--profile=FILE] [--list] [--all] [--format=text|json] [FOLDER...]`
llvm::Error runTouch(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve report [--format=text|json|html] [--report=FILE|latest] [-o FILE]`
llvm::Error runReport(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve explain [--report=FILE|latest] [--format=text|json] [KERNEL] [options -- COMMAND...]`
llvm::Error runExplain(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve merge FILE... [-o FILE]`
llvm::Error runMerge(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve diff [--format=text|json] [--exit-code] BEFORE AFTER`
llvm::Error runDiff(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve export --as=launch-bounds|maxnreg|patch|flags [options] [KERNEL...]`
llvm::Error runExport(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve check [--format=text|json|junit|sarif] [-o FILE] [tolerances] BASE NEW`
llvm::Error runCheck(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve evaluate SWEEP.tsv [--budget=N] [--effort=0..3] [--arch=sm_90] [--format=text|json]`
llvm::Error runEvaluate(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve search --space SPACE [options] -- COMPILER...`
llvm::Error runSearch(llvm::ArrayRef<std::string> Args, const CommandContext &Context);
/// `carve store stats|verify|prune|clear [--format=text|json]`
llvm::Error runStore(llvm::ArrayRef<std::string> Args, const CommandContext &Context);

} // namespace carve
