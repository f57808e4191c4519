#include "Compile/CompilePipeline.h"
#include "Compile/Attempt.h"
#include "Compile/CompilerCache.h"
#include "Compile/Emission.h"
#include "Compile/Fallback.h"
#include "Compile/Flavours.h"
#include "Compile/LinkRecorder.h"
#include "Compile/RebuildCues.h"
#include "Compile/StoredCompile.h"
#include "Compile/UnitRecorder.h"
#include "Nvcc/CommandRewrite.h"
#include "Nvcc/KeptCompile.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Store/PublishedDecisions.h"
#include "Store/StoreUpkeep.h"
#include "Store/UserProfile.h"
#include "Support/Clock.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include "Tune/TunePipeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace carve;

namespace {

class CompilePipeline {
public:
  CompilePipeline(const CompileRequest &Request, UnitStore &Store, const Toolchain &T,
                  CommandRunner &Runner)
      : Request(Request), Line(Request.Line), Store(Store), T(T), Runner(Runner),
        Output(absolutePath(Request.Line.Output, Request.WorkDir)) {}

  llvm::Expected<CompileResult> run();

private:
  llvm::Expected<TempDir> acquireKeepDir() const;
  Profile ownDecisions(llvm::StringRef Key) const;
  Profile decisionsOf(const Unit &U) const;
  bool isDecidedBySite(const Unit &U) const;
  bool mayEmit() const;
  llvm::Error compileWithNvcc(TempDir &Keep);
  llvm::Error finish(const KeptCompile &Kept, TempDir &Keep);
  llvm::Error recordUnits(const BuildPlan &Plan);
  bool shouldTune() const;
  void tuneProgram();
  TuneRequest tuneRequest() const;

  bool mayRestore() const;
  CompileConditions conditions(const Profile &Decisions) const;
  void rememberObject(const KeptCompile &Kept);
  bool tryStore();
  llvm::Error reemit(const Unit &Record, Profile Decisions, RestoredCompile Restored);

  llvm::Error emit();
  void putUnits();
  void keepRecords();

  const CompileRequest &Request;
  const CommandLine &Line;
  UnitStore &Store;
  Toolchain T;
  CommandRunner &Runner;
  std::string KeepDir, NvccVersion;
  OutputPlace Output;
  UserProfile User;
  std::optional<SourceStamp> Source; ///< The state before nvcc read it.
  int64_t StartedNs = 0;
  std::vector<CompiledUnit> Units;
  bool FlavourMissing = false;
  CompileResult Result;
};

/// Creates the keep directory. Its name is derived from what is compiled, so that debug
/// information, which contains its path, is the same every time.
llvm::Expected<TempDir> CompilePipeline::acquireKeepDir() const {
  return TempDir::createNamed(Request.Tag, keepDirPatience(Line.AllWords));
}

/// Returns the decisions that this user's store has for a unit; none if there are none or they
/// cannot be read.
Profile CompilePipeline::ownDecisions(llvm::StringRef Key) const {
  auto Text = readDecisions(Store, Key);
  if (!Text) {
    logLine(llvm::toString(Text.takeError()));
    return {};
  }
  llvm::Expected<Profile> P =
      *Text ? parseProfile(**Text, "decisions of " + Line.Output) : Profile();
  if (P)
    return std::move(*P);
  logLine(llvm::toString(P.takeError()));
  return {};
}

/// Returns the decisions of a unit, and those of the site for kernels about which they say nothing.
Profile CompilePipeline::decisionsOf(const Unit &U) const {
  return withSiteDecisions(ownDecisions(U.Key), U, Store);
}

/// Returns true if the site has decided about a kernel of \p U: its tuning has looked at the unit.
bool CompilePipeline::isDecidedBySite(const Unit &U) const {
  Profile Decided = siteDecisions(U, Store);
  if (!Decided.Kernels.empty())
    logLine("not tuned: the site has decided about " + U.Source);
  return !Decided.Kernels.empty();
}

/// Returns true if decisions are already known that may change the result of the compile.
bool CompilePipeline::mayEmit() const {
  if (User.Read && !choicesOf(*User.Read).empty())
    return true;
  if (const UnitStore *Site = Store.site(); Site && hasPublished(*Site))
    return true; // Which kernels the source has is not known yet.
  return llvm::any_of(Line.Inputs, [&](const Input &I) {
    return I.Kind == InputKind::DeviceSource &&
           !choicesOf(ownDecisions(unitKeyOf(Line, I.Path, Request.WorkDir))).empty();
  });
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
    Profile Decisions = decisionsOf(*U);
    Units.push_back({Planned, std::move(*U), std::move(Decisions)});
  }
  if (Plan.Link)
    if (llvm::Error E = recordLink(
            *Plan.Link, {Line.Argv, Line.Output, Request.WorkDir, NvccVersion}, T, Store))
      logLine("device link not recorded: " + llvm::toString(std::move(E)));
  pruneSometimes(Store, Request.StoreLimitBytes);
  return llvm::Error::success();
}

bool CompilePipeline::shouldTune() const {
  const DriverOptions &O = Request.Options;
  if (O.Run == RunMode::None || Request.ConfigureProbe)
    return false;
  if (!Request.OtherRank.empty()) {
    logLine("not tuned: this is " + Request.OtherRank + ", and rank 0 decides for all");
    return false;
  }
  if (O.Samples.empty() && !Request.GpuPresent) {
    logLine("not tuned: no GPU is present");
    return false;
  }
  bool ByHand = O.Run == RunMode::Command || !O.Samples.empty();
  if (!ByHand && (Line.Makes != Product::Executable || User.Read))
    return false;
  TuneRequest Tuning = tuneRequest();
  return llvm::any_of(Units, [&](const CompiledUnit &U) {
    return !alreadyAttempted(U.Record, llvm::join(Tuning.Workload.Argv, " "), Tuning.Options,
                             Store) &&
           (ByHand || !isDecidedBySite(U.Record));
  });
}

TuneRequest CompilePipeline::tuneRequest() const {
  const DriverOptions &O = Request.Options;
  TuneRequest R;
  R.Workload.Argv = O.RunCommand.empty() ? std::vector{Output.path()} : O.RunCommand;
  R.Workload.Dir = Request.WorkDir;
  R.Workload.TimeoutS = O.TimeoutS;
  R.Workload.OutputFiles = O.OutputFiles;
  R.Workload.Environment = Request.WorkloadEnvironment;
  R.Options.Scope = O.Scope;
  R.Options.Domain = O.Domain;
  R.Options.Entries = O.Entries;
  R.Options.Effort = O.Effort;
  R.Options.LeastShare = LeastTunedShare;
  R.Options.DevicesDir = Request.Install.DevicesDir;
  R.Limits.MaxRuns = O.MaxRuns;
  R.Limits.BudgetS = O.BudgetS;
  R.Mode = O.Mode;
  R.Probe = {Request.Install.Probe, findCupti(T.BinDir).value_or("")};
  R.SamplesPath = O.Samples;
  R.ProfilePath = O.ProfilePath;
  R.Gpus = Request.Gpus;
  R.Progress = Request.Progress;
  return R;
}

void CompilePipeline::tuneProgram() {
  TuneRequest Tuning = tuneRequest();
  llvm::Expected<TuneResult> Tuned = tune(Tuning, Store, T, Runner);
  if (!Tuned) {
    llvm::handleAllErrors(
        Tuned.takeError(),
        [&](const Interrupted &I) {
          Result.Signal = I.signal();
          logLine("not tuned: " + I.message());
        },
        [](const llvm::ErrorInfoBase &E) { logLine("not tuned: " + E.message()); });
    if (!Result.Signal) {
      TuningReport Report;
      Report.Workload = llvm::join(Tuning.Workload.Argv, " ");
      Report.Note = "see the log (--carve-log)";
      Result.Tuned = std::move(Report);
    }
    return;
  }
  for (CompiledUnit &U : Units) {
    if (auto D = Tuned->Decisions.find(U.Record.Key); D != Tuned->Decisions.end()) {
      U.Decisions = withSiteDecisions(D->second, U.Record, Store);
      // The current output will hold these decisions. They are new only to other outputs of this
      // build.
      if (llvm::Error E = antedateDecisions(Store, U.Record.Key))
        logLine(llvm::toString(std::move(E)));
    }
    rememberAttempt(U.Record, Tuned->Report.Workload, Tuning.Options, Tuned->Report.Note, Store);
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
                      Request.Options.Domain,
                      Request.Options.Entries,
                      flavoursOf(Units, Store, T, Runner, FlavourMissing)};
  EmissionRequest Emission{Line, Context, Request.WorkDir, KeepDir,
                           User.Read ? &*User.Read : nullptr};
  return emitDecisions(Emission, Units, Output, Store);
}

/// Returns true if the object of this command may be made from the store.
bool CompilePipeline::mayRestore() const {
  const DriverOptions &O = Request.Options;
  return Line.Makes == Product::Object && Line.Inputs.size() == 1 && !Request.ConfigureProbe &&
         O.Run != RunMode::Command && O.Samples.empty() && O.Scope == TuningScope::Kernel &&
         !(User.Read && User.Read->FileCap);
}

CompileConditions CompilePipeline::conditions(const Profile &Decisions) const {
  return {digestOfFields({Request.CommandDigest, T.Wrapped}), Request.WorkDir, KeepDir,
          digestOfFields({choicesOf(Decisions), User.Text, nameOf(Request.Options.Domain),
                          std::to_string(unsigned(Request.Options.Entries))})};
}

/// Adds to the unit's record what a later compile with changed decisions needs.
void CompilePipeline::rememberObject(const KeptCompile &Kept) {
  if (!Source || Units.size() != 1)
    return;
  CompiledUnit &U = Units.front();
  locateTools(T, Runner);
  llvm::Expected<ObjectRecord> O =
      recordObject(U.Planned, Kept, Line, conditions(U.Decisions), T, *Source, StartedNs, Store);
  if (O)
    U.Record.Object = std::move(*O);
  else
    logLine("the next compile starts anew: " + llvm::toString(O.takeError()));
}

/// Emits the current decisions into the restored object of \p Record.
llvm::Error CompilePipeline::reemit(const Unit &Record, Profile Decisions,
                                    RestoredCompile Restored) {
  if (!Line.Depfile.empty())
    if (llvm::Error E =
            writeFileAtomically(absolutePath(Line.Depfile, Request.WorkDir), Restored.Depfile))
      return E;
  Output.setMade(Restored.Planned.ObjectPath);
  NvccVersion = Record.NvccVersion;
  Units.push_back({std::move(Restored.Planned), Record, std::move(Decisions)});
  Unit &New = Units.front().Record;
  New.Containers.resize(1); // This is nvcc's own container.
  New.Object->Decisions = conditions(Units.front().Decisions).Decisions;
  llvm::Error Emitted = emit();
  if (FlavourMissing || Units.front().NeedsHostCommand) {
    llvm::consumeError(std::move(Emitted));
    return unsupported("not-stored", FlavourMissing ? "a front-end flavour could not be made"
                                                    : "the host compiler has to make further "
                                                      "entries");
  }
  countUntuned(Store, std::move(Emitted), "nvcc's output kept");
  if (llvm::Error E = Output.place())
    return E;
  keepRecords();
  llvm::outs() << Restored.Stdout;
  llvm::outs().flush();
  llvm::errs() << Restored.Stderr;
  return llvm::Error::success();
}

/// Makes the object from the store if only its decisions have changed. Returns false, with nothing
/// changed, if nvcc has to make it.
bool CompilePipeline::tryStore() {
  if (!mayRestore())
    return false;
  auto Record = Store.unit(unitKeyOf(Line, Line.Inputs.front().Path, Request.WorkDir));
  if (!Record)
    logLine("compiled anew: " + llvm::toString(Record.takeError()));
  if (!Record || !*Record)
    return false;
  Profile Decisions = decisionsOf(**Record);
  if (Decisions.FileCap)
    return false;
  if ((*Record)->Object)
    locateTools(T, Runner);
  auto Restored = restoreCompile(**Record, Output.path(), conditions(Decisions), Store);
  llvm::Error Failed = Restored ? reemit(**Record, std::move(Decisions), std::move(*Restored))
                                : Restored.takeError();
  if (!Failed) {
    logLine("made from the store: " + Line.Output);
    return true;
  }
  logLine("compiled anew: " + llvm::toString(std::move(Failed)));
  Output.forgetMade();
  Units.clear();
  return false;
}

void CompilePipeline::putUnits() {
  for (CompiledUnit &U : Units) {
    U.Record.Choices = digestOf(choicesOf(U.Decisions));
    User.noteIn(U.Record, Store);
    if (llvm::Error E = Store.putUnit(U.Record))
      logLine(llvm::toString(std::move(E)));
  }
}

/// Ends a compile: lists the decisions where a build system sees them, and writes the units into
/// the store.
void CompilePipeline::keepRecords() {
  if (Request.ListDecisions)
    listDecisions(Line, Request.WorkDir, User.Read ? User.Path : "", Request.BehindCache, Units,
                  Store);
  putUnits();
}

llvm::Error CompilePipeline::finish(const KeptCompile &Kept, TempDir &Keep) {
  if (Kept.NoPlan)
    return unsupported("unknown-plan", *Kept.NoPlan);
  takeToolDirs(T, Kept.Plan.Environment);
  if (llvm::Error E = recordUnits(Kept.Plan))
    return E;
  if (shouldTune()) {
    putUnits(); // The tuning looks for them in the store.
    // The program is run from its final path.
    if (llvm::Error E = Output.place())
      return E;
    Keep.passLockOn(false); // The program may leave processes behind, which must not hold the lock.
    tuneProgram();
    Keep.passLockOn(true);
  }
  if (Result.Signal)
    return llvm::Error::success();
  rememberObject(Kept);
  llvm::Error Emitted = emit();
  keepRecords();
  return Emitted;
}

llvm::Error CompilePipeline::compileWithNvcc(TempDir &Keep) {
  std::vector<std::string> Arguments = Line.Argv;
  if (mayEmit() && Output.canBeReplaced() && !Line.makesSeveralObjects()) {
    llvm::Expected<std::string> Elsewhere = Output.makeIn(KeepDir + "/carve-output");
    if (!Elsewhere)
      return Elsewhere.takeError();
    Arguments = withOutput(Line, *Elsewhere);
  }
  if (mayRestore()) {
    if (auto Stamp = stampSource(Line.Inputs.front().Path, Request.WorkDir))
      Source = std::move(*Stamp);
    else
      llvm::consumeError(Stamp.takeError()); // nvcc will report it.
  }
  StartedNs = unixNanoseconds();
  llvm::Expected<KeptCompile> Kept =
      compileKeeping(T, Runner, Arguments, "", KeepDir, /*Quiet=*/false);
  if (!Kept)
    return Kept.takeError();
  Result.ExitStatus = Kept->Nvcc.ExitStatus;
  Result.Signal = Kept->endingSignal();
  if (Result.Signal)
    return llvm::Error::success();
  if (Result.ExitStatus != 0) {
    Output.removeAsNvccDid();
    return llvm::Error::success();
  }
  // nvcc has succeeded, so from here on the command succeeds.
  countUntuned(Store, finish(*Kept, Keep), "nvcc's output kept");
  return Output.place();
}

llvm::Expected<CompileResult> CompilePipeline::run() {
  llvm::Expected<UserProfile> Given = UserProfile::read(
      Request.Options.ProfilePath, Request.Options.ProfileByOption, Request.WorkDir);
  if (!Given)
    return Given.takeError();
  User = std::move(*Given);
  llvm::Expected<TempDir> Keep = acquireKeepDir();
  if (!Keep)
    return unsupported("no-keep-dir", llvm::toString(Keep.takeError()));
  KeepDir = Keep->path();
  if (!tryStore())
    if (llvm::Error E = compileWithNvcc(*Keep))
      return E;
  // A configure step takes any text on standard error for a failed check.
  if (Result.ExitStatus == 0 && !Result.Signal && !Request.ConfigureProbe)
    Result.Warning = Request.BehindCache ? CacheAdvice : User.warning();
  return std::move(Result);
}

} // namespace

llvm::Expected<CompileResult> carve::compile(const CompileRequest &Request, UnitStore &Store,
                                             const Toolchain &T, CommandRunner &Runner) {
  return CompilePipeline(Request, Store, T, Runner).run();
}
