#include "Driver/CompilePipeline.h"

#include "Driver/Attempt.h"
#include "Driver/TunePipeline.h"
#include "Driver/UnitRecorder.h"
#include "Emit/ObjectSplicer.h"
#include "Emit/UnitEmitter.h"
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

/// One unit of the command with its record and what has been decided for it.
struct CompiledUnit {
  DeviceUnit Planned;
  Unit Record;
  Profile Decisions;
};

class CompilePipeline {
public:
  CompilePipeline(const CompileRequest &Request, UnitStore &Store, const Toolchain &T,
                  CommandRunner &Runner)
      : Request(Request), Line(Request.Line), Store(Store), T(T), Runner(Runner) {}
  ~CompilePipeline() {
    if (!TemporaryOutput.empty())
      // Gone where it was renamed.
      llvm::sys::fs::remove(TemporaryOutput);
  }

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
  llvm::Error emitFileCap(unsigned Cap);
  std::optional<unsigned> commonFileCap() const;
  llvm::Expected<std::optional<std::string>> spliced(CompiledUnit &U);
  llvm::Error emitObject();
  llvm::Error emitExecutable();
  void rememberContainer(CompiledUnit &U, llvm::StringRef Container);
  llvm::Error replaceOutput(const std::string &Made);
  llvm::Error placeOutput();

  std::string pathInWorkDir(llvm::StringRef Path) const {
    return path::is_absolute(Path) ? Path.str() : Request.WorkDir + "/" + Path.str();
  }

  const CompileRequest &Request;
  const CommandLine &Line;
  UnitStore &Store;
  const Toolchain &T;
  CommandRunner &Runner;
  std::string KeepDir, NvccVersion;
  std::string TemporaryOutput; ///< Where nvcc writes while decisions are known; else empty.
  bool OutputPlaced = false;   ///< The output stands under its own name, tuned or not.
  std::optional<Profile> UserProfile;
  bool ProfileFileExists = false;
  std::vector<CompiledUnit> Units;
  CompileResult Result;
};

/// The keep directory: named by what is compiled, so that debug information that holds its path is
/// the same every time.
llvm::Expected<TempDir> CompilePipeline::acquireKeepDir() const {
  std::vector<llvm::StringRef> Fields = {Request.WorkDir, Line.Output};
  for (const std::string &Arg : Line.Argv)
    Fields.push_back(Arg);
  return TempDir::createLocked(Request.TempRoot + "/carve-nvcc-" + std::to_string(::geteuid()) +
                               "-" + digestOfFields(Fields).substr(0, 16));
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
    if (auto P = parseProfile(**Text, "decisions"))
      return changesSomething(*P);
    else
      llvm::consumeError(P.takeError());
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
    R.Workload.Argv = {pathInWorkDir(Line.Output)};
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

void CompilePipeline::rememberContainer(CompiledUnit &U, llvm::StringRef Container) {
  std::string Digest = digestOf(Container);
  if (llvm::is_contained(U.Record.Containers, Digest))
    return;
  U.Record.Containers.push_back(Digest);
  if (llvm::Error E = Store.putUnit(U.Record))
    logLine(llvm::toString(std::move(E)));
}

/// The unit's object with its decisions in it, or nothing where they change nothing.
llvm::Expected<std::optional<std::string>> CompilePipeline::spliced(CompiledUnit &U) {
  std::vector<const Profile *> Profiles;
  if (UserProfile)
    Profiles.push_back(&*UserProfile);
  Profiles.push_back(&U.Decisions);
  EmitContext Context{T,
                      Runner,
                      NvccVersion,
                      Request.Install.DevicesDir,
                      Line.Relocatable,
                      Line.RegisterCap,
                      Request.Options.Domain};
  std::string WorkDir = KeepDir + "/carve-" + std::to_string(&U - Units.data());
  if (std::error_code E = llvm::sys::fs::create_directory(WorkDir))
    return llvm::createFileError(WorkDir, E);
  llvm::Expected<EmittedUnit> Emitted = emitUnit(U.Planned, Profiles, Context, WorkDir);
  if (!Emitted)
    return Emitted.takeError();
  if (Emitted->Container.empty())
    return std::nullopt;
  llvm::Expected<std::string> Object = readFile(pathInWorkDir(U.Planned.ObjectPath));
  if (!Object)
    return Object.takeError();
  llvm::Expected<std::string> Old = readFile(U.Planned.FatbinPath);
  if (!Old)
    return Old.takeError();
  llvm::Expected<std::string> New = spliceContainer(*Object, *Old, Emitted->Container);
  if (!New)
    return New.takeError();
  rememberContainer(U, Emitted->Container);
  return std::optional<std::string>(std::move(*New));
}

llvm::Error CompilePipeline::emitObject() {
  llvm::Expected<std::optional<std::string>> New = spliced(Units.front());
  if (!New)
    return New.takeError();
  if (!*New)
    return llvm::Error::success();
  if (llvm::Error E = writeFileAtomically(pathInWorkDir(Line.Output), **New))
    return E;
  OutputPlaced = true;
  return llvm::Error::success();
}

llvm::Error CompilePipeline::emitExecutable() {
  llvm::StringMap<std::string> Objects;
  bool Changed = false;
  for (CompiledUnit &U : Units) {
    std::string ObjectPath = pathInWorkDir(U.Planned.ObjectPath);
    llvm::Expected<std::optional<std::string>> New = spliced(U);
    if (!New)
      return New.takeError();
    if (*New) {
      Changed = true;
      ObjectPath = KeepDir + "/carve-" + std::to_string(&U - Units.data()) + "/" +
                   path::filename(ObjectPath).str();
      if (llvm::Error E = writeFileAtomically(ObjectPath, **New))
        return E;
    }
    Objects[U.Planned.Source] = ObjectPath;
  }
  if (!Changed)
    return llvm::Error::success();
  std::string Linked = temporaryBeside(pathInWorkDir(Line.Output));
  Command Link;
  Link.Argv = {T.Nvcc};
  llvm::append_range(Link.Argv, relinkArguments(Line, Objects, Linked));
  llvm::Expected<CommandResult> Done = runChecked(Runner, Link);
  if (!Done) {
    llvm::sys::fs::remove(Linked);
    return Done.takeError();
  }
  return llvm::errorCodeToError(llvm::sys::fs::rename(
      Linked, TemporaryOutput.empty() ? pathInWorkDir(Line.Output) : TemporaryOutput));
}

/// The cap that all units' file decisions agree on.
std::optional<unsigned> CompilePipeline::commonFileCap() const {
  std::optional<unsigned> Cap = UserProfile ? UserProfile->FileCap : std::nullopt;
  for (const CompiledUnit &U : Units) {
    if (!U.Decisions.FileCap && Cap)
      continue;
    if (!U.Decisions.FileCap || (Cap && *Cap != *U.Decisions.FileCap))
      return std::nullopt;
    Cap = U.Decisions.FileCap;
  }
  return Cap;
}

/// The paper's method: nvcc again, with the cap.
llvm::Error CompilePipeline::emitFileCap(unsigned Cap) {
  if (Line.RegisterCap && *Line.RegisterCap < Cap)
    return unsupported("above-register-cap", llvm::Twine(Cap));
  std::string Capped = temporaryBeside(pathInWorkDir(Line.Output));
  std::string Keep = KeepDir + "/carve-file";
  if (std::error_code E = llvm::sys::fs::create_directory(Keep))
    return llvm::createFileError(Keep, E);
  llvm::Expected<KeptCompile> Kept =
      compileKeeping(T, Runner, withRegisterCap(Line, Cap, Capped), "", Keep, /*Quiet=*/true);
  if (!Kept || !Kept->Nvcc.succeeded()) {
    llvm::sys::fs::remove(Capped);
    if (!Kept)
      return Kept.takeError();
    return llvm::make_error<ToolFailure>(T.Nvcc, Kept->Nvcc.ExitStatus, Kept->Nvcc.Stderr);
  }
  for (CompiledUnit &U : Units)
    for (const DeviceUnit &New : Kept->Plan.Units) {
      if (New.Source != U.Planned.Source)
        continue;
      llvm::Expected<std::string> Container = readFile(New.FatbinPath);
      if (!Container)
        return Container.takeError();
      rememberContainer(U, *Container);
    }
  return llvm::errorCodeToError(llvm::sys::fs::rename(
      Capped, TemporaryOutput.empty() ? pathInWorkDir(Line.Output) : TemporaryOutput));
}

llvm::Error CompilePipeline::emit() {
  if (auto Cap = commonFileCap())
    return emitFileCap(*Cap);
  if (Units.empty())
    return llvm::Error::success();
  return Line.Makes == Product::Object ? emitObject() : emitExecutable();
}

/// Renames \p Made over the output, through a symbolic link.
llvm::Error CompilePipeline::replaceOutput(const std::string &Made) {
  std::string Target = pathInWorkDir(Line.Output);
  llvm::SmallString<256> Real;
  if (!llvm::sys::fs::real_path(Target, Real))
    Target = Real.str().str();
  if (std::error_code E = llvm::sys::fs::rename(Made, Target)) {
    llvm::sys::fs::remove(Made);
    return llvm::createFileError(Target, E);
  }
  OutputPlaced = true;
  return llvm::Error::success();
}

/// Puts nvcc's own output into place where it went to a temporary and nothing replaced it yet.
llvm::Error CompilePipeline::placeOutput() {
  if (TemporaryOutput.empty() || OutputPlaced)
    return llvm::Error::success();
  return replaceOutput(TemporaryOutput);
}

llvm::Error CompilePipeline::finish(const KeptCompile &Kept) {
  if (Kept.NoPlan)
    return unsupported("unknown-plan", *Kept.NoPlan);
  if (llvm::Error E = recordUnits(Kept.Plan))
    return E;
  readDecisions();
  if (shouldTune()) {
    // The program is run from its own place.
    if (llvm::Error E = placeOutput())
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
  if (mayEmit()) {
    TemporaryOutput = temporaryBeside(pathInWorkDir(Line.Output));
    Arguments = withOutput(Line, TemporaryOutput);
  }
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
  if (llvm::Error E = placeOutput())
    return E;
  return std::move(Result);
}

} // namespace

llvm::Expected<CompileResult> carve::compile(const CompileRequest &Request, UnitStore &Store,
                                             const Toolchain &T, CommandRunner &Runner) {
  return CompilePipeline(Request, Store, T, Runner).run();
}
