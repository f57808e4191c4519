#include "Driver/CompilePipeline.h"

#include "Driver/Attempt.h"
#include "Driver/Emission.h"
#include "Driver/LinkRecorder.h"
#include "Driver/TunePipeline.h"
#include "Driver/UnitRecorder.h"
#include "Nvcc/KeptCompile.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace carve;
namespace path = llvm::sys::path;

namespace {

/// What is compiled, in 16 digits: the same for the same command.
std::string commandTag(const CompileRequest &Request) {
  std::vector<llvm::StringRef> Fields = {Request.WorkDir, Request.Line.Output};
  for (const std::string &Arg : Request.Line.Argv)
    Fields.push_back(Arg);
  return digestOfFields(Fields).substr(0, 16);
}

class CompilePipeline {
public:
  CompilePipeline(const CompileRequest &Request, UnitStore &Store, const Toolchain &T,
                  CommandRunner &Runner)
      : Request(Request), Line(Request.Line), Store(Store), T(T), Runner(Runner),
        Output(pathInWorkDir(Request.Line.Output), commandTag(Request)) {}

  llvm::Expected<CompileResult> run();

private:
  llvm::Expected<TempDir> acquireKeepDir() const;
  llvm::Error readProfile();
  bool mayEmit() const;
  llvm::Error finish(const KeptCompile &Kept);
  llvm::Error recordUnits(const BuildPlan &Plan);
  void readDecisions();
  bool shouldTune() const;
  void tuneProgram();
  TuneRequest tuneRequest() const;

  llvm::Error emit();

  std::string pathInWorkDir(llvm::StringRef Path) const {
    return path::is_absolute(Path) ? Path.str() : Request.WorkDir + "/" + Path.str();
  }

  const CompileRequest &Request;
  const CommandLine &Line;
  UnitStore &Store;
  const Toolchain &T;
  CommandRunner &Runner;
  std::string KeepDir, NvccVersion;
  OutputPlace Output;
  std::optional<Profile> UserProfile;
  std::vector<CompiledUnit> Units;
  CompileResult Result;
};

/// The keep directory: named by what is compiled, so that debug information that holds its path is
/// the same every time.
llvm::Expected<TempDir> CompilePipeline::acquireKeepDir() const {
  return TempDir::createLocked(Request.TempRoot + "/carve-nvcc-" + std::to_string(::geteuid()) +
                               "-" + commandTag(Request));
}

llvm::Error CompilePipeline::readProfile() {
  const std::string &Path = Request.Options.ProfilePath;
  if (Path.empty() || !llvm::sys::fs::exists(Path))
    return llvm::Error::success();
  llvm::Expected<std::string> Text = readFile(Path);
  llvm::Expected<Profile> P = Text ? parseProfile(*Text, Path) : Text.takeError();
  if (!P)
    return usageError("carve-nvcc: " + llvm::toString(P.takeError()));
  UserProfile = std::move(*P);
  return llvm::Error::success();
}

static bool changesSomething(const Profile &P) {
  return P.FileCap ||
         llvm::any_of(P.Kernels, [](const Decision &D) { return !D.Variant.isDefault(); });
}

/// Whether decisions are known before the compile that may change what it makes.
bool CompilePipeline::mayEmit() const {
  if (UserProfile && changesSomething(*UserProfile))
    return true;
  for (const Input &I : Line.Inputs) {
    if (I.Kind != InputKind::DeviceSource)
      continue;
    auto Text = Store.decisions(unitKeyOf(Line, I.Path, Request.WorkDir));
    if (!Text) {
      llvm::consumeError(Text.takeError());
      continue;
    }
    if (!*Text)
      continue;
    llvm::Expected<Profile> P = parseProfile(**Text, "decisions");
    if (!P)
      llvm::consumeError(P.takeError()); // Said in the log when they are read in earnest.
    else if (changesSomething(*P))
      return true;
  }
  return false;
}

llvm::Error CompilePipeline::recordUnits(const BuildPlan &Plan) {
  llvm::Expected<std::string> Version = nvccVersion(T, Runner);
  if (!Version)
    return Version.takeError();
  NvccVersion = std::move(*Version);
  for (const DeviceUnit &Planned : Plan.Units) {
    llvm::Expected<Unit> U = recordUnit(Planned, Line, T, NvccVersion, Request.WorkDir, Store);
    if (!U)
      return U.takeError();
    Units.push_back({Planned, std::move(*U), {}});
  }
  if (Plan.Link)
    if (llvm::Error E = recordLink(
            *Plan.Link, {Line.Argv, Line.Output, Request.WorkDir, NvccVersion}, T, Store))
      logLine("device link not recorded: " + llvm::toString(std::move(E)));
  Store.pruneSometimes(Request.StoreLimitBytes);
  return llvm::Error::success();
}

void CompilePipeline::readDecisions() {
  for (CompiledUnit &U : Units) {
    auto Text = Store.decisions(U.Record.Key);
    if (!Text) {
      logLine(llvm::toString(Text.takeError()));
      continue;
    }
    if (!*Text)
      continue;
    if (auto P = parseProfile(**Text, "decisions of " + U.Record.Output))
      U.Decisions = std::move(*P);
    else
      logLine(llvm::toString(P.takeError()));
  }
}

bool CompilePipeline::shouldTune() const {
  const DriverOptions &O = Request.Options;
  if (O.Run == RunMode::None || Request.ConfigureProbe)
    return false;
  if (O.Samples.empty() && !Request.GpuPresent) {
    logLine("not tuned: no GPU is present");
    return false;
  }
  bool ByHand = O.Run == RunMode::Command || !O.Samples.empty();
  if (!ByHand && (Line.Makes != Product::Executable || UserProfile))
    return false;
  return llvm::any_of(Units, [&](const CompiledUnit &U) {
    return !alreadyAttempted(U.Record, llvm::join(tuneRequest().Workload.Argv, " "), O.Scope,
                             O.Domain, Store);
  });
}

TuneRequest CompilePipeline::tuneRequest() const {
  const DriverOptions &O = Request.Options;
  TuneRequest R;
  R.Workload.Argv = O.RunCommand;
  if (R.Workload.Argv.empty())
    R.Workload.Argv = {Output.target()};
  R.Workload.Dir = Request.WorkDir;
  R.Workload.TimeoutS = O.TimeoutS;
  R.Workload.OutputFiles = O.OutputFiles;
  R.Options.Scope = O.Scope;
  R.Options.Domain = O.Domain;
  R.Options.DevicesDir = Request.Install.DevicesDir;
  R.Limits.MaxRuns = O.MaxRuns;
  R.Probe = {Request.Install.Probe, findCupti(T.BinDir).value_or("")};
  R.SamplesPath = O.Samples;
  R.ProfilePath = O.ProfilePath;
  R.Progress = Request.Progress;
  return R;
}

void CompilePipeline::tuneProgram() {
  TuneRequest Tuning = tuneRequest();
  llvm::Expected<TuneResult> Tuned = tune(Tuning, Store, T, Runner);
  if (!Tuned) {
    llvm::handleAllErrors(
        Tuned.takeError(),
        [&](const Unsupported &U) {
          if (U.reason() == "interrupted")
            llvm::StringRef(U.detail()).getAsInteger(10, Result.Signal);
          logLine("not tuned: " + U.reason() + ": " + U.detail());
        },
        [&](const llvm::ErrorInfoBase &E) { logLine("not tuned: " + E.message()); });
    if (!Result.Signal) {
      TuningReport Report;
      Report.Workload = llvm::join(Tuning.Workload.Argv, " ");
      Report.Note = "see the log (--carve-log)";
      Result.Tuned = std::move(Report);
    }
    return;
  }
  for (CompiledUnit &U : Units) {
    if (auto D = Tuned->Decisions.find(U.Record.Key); D != Tuned->Decisions.end())
      U.Decisions = D->second;
    rememberAttempt(U.Record, Tuned->Report.Workload, Request.Options.Scope, Request.Options.Domain,
                    Tuned->Report.Note, Store);
  }
  if (!Tuned->Report.Note.empty())
    logLine("not tuned: " + Tuned->Report.Note);
  Result.Tuned = std::move(Tuned->Report);
}

llvm::Error CompilePipeline::emit() {
  EmitContext Context{T,
                      Runner,
                      NvccVersion,
                      Request.Install.DevicesDir,
                      Line.Relocatable,
                      Line.RegisterCap,
                      Request.Options.Domain};
  EmissionRequest Emission{Line, Context, Request.WorkDir, KeepDir,
                           UserProfile ? &*UserProfile : nullptr};
  return emitDecisions(Emission, Units, Output, Store);
}

llvm::Error CompilePipeline::finish(const KeptCompile &Kept) {
  if (Kept.NoPlan)
    return unsupported("unknown-plan", *Kept.NoPlan);
  if (llvm::Error E = recordUnits(Kept.Plan))
    return E;
  readDecisions();
  if (shouldTune()) {
    // The program is run from its own place.
    if (llvm::Error E = Output.place())
      return E;
    tuneProgram();
  }
  return Result.Signal ? llvm::Error::success() : emit();
}

llvm::Expected<CompileResult> CompilePipeline::run() {
  if (llvm::Error E = readProfile())
    return E;
  llvm::Expected<TempDir> Keep = acquireKeepDir();
  if (!Keep)
    return unsupported("no-keep-dir", llvm::toString(Keep.takeError()));
  KeepDir = Keep->path();
  std::vector<std::string> Arguments = Line.Argv;
  if (mayEmit() && Output.hasRoom())
    Arguments = withOutput(Line, Output.useTemporary());
  llvm::Expected<KeptCompile> Kept =
      compileKeeping(T, Runner, Arguments, "", KeepDir, /*Quiet=*/false);
  if (!Kept)
    return Kept.takeError();
  Result.ExitStatus = Kept->Nvcc.ExitStatus;
  Result.Signal = Kept->Nvcc.Interrupted ? Kept->Nvcc.Interrupted : Kept->Nvcc.Signal;
  if (Result.ExitStatus != 0 || Result.Signal)
    return std::move(Result);
  // From here on nvcc has succeeded, and so do we.
  llvm::handleAllErrors(
      finish(*Kept),
      [&](const Unsupported &U) {
        logLine("nvcc's output kept: " + U.reason() + ": " + U.detail());
        Store.countPassthrough(U.reason());
      },
      [&](const llvm::ErrorInfoBase &E) {
        logLine("nvcc's output kept: " + E.message());
        Store.countPassthrough("internal");
      });
  if (llvm::Error E = Output.place())
    return E;
  return std::move(Result);
}

} // namespace

CompileRequest carve::makeCompileRequest(CommandLine Line, DriverOptions Options,
                                         llvm::StringRef OwnPath, std::string WorkDir, GetEnv Env) {
  CompileRequest R;
  R.ConfigureProbe = isConfigureProbe(Line, WorkDir);
  R.Line = std::move(Line);
  R.Options = std::move(Options);
  R.WorkDir = std::move(WorkDir);
  R.TempRoot = Env("TMPDIR").value_or("");
  if (R.TempRoot.empty())
    R.TempRoot = "/tmp";
  R.Install = findInstallTree(OwnPath);
  R.GpuPresent = gpuPresent(Env);
  R.StoreLimitBytes = storeLimit(Env);
  return R;
}

llvm::Expected<CompileResult> carve::compile(const CompileRequest &Request, UnitStore &Store,
                                             const Toolchain &T, CommandRunner &Runner) {
  return CompilePipeline(Request, Store, T, Runner).run();
}
