// A register-usage level is an option of the whole image. A module therefore has only one, and only
// whole runs can compare levels.

#include "Tune/TuneLevels.h"

#include "Emit/CodePromises.h"
#include "Ptx/ProfileName.h"
#include "Support/Log.h"
#include "Support/Parallel.h"
#include "Tune/TuneSelection.h"
#include "Tune/WholeRuns/WorkloadSampler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace carve;

/// ptxas accepts 0 to 10. Its default is 5.
static constexpr unsigned LevelsTried[] = {0, 5, 10};

namespace {

/// Makes the images of one module at all levels.
class LevelMaker {
public:
  LevelMaker(const TuningJob &Job, const JobBuild &Built, const VariantRounds &Rounds,
             size_t Module, llvm::ArrayRef<size_t> Chosen)
      : Job(Job), Built(Built), Rounds(Rounds), Module(Module), Chosen(Chosen) {}

  /// Returns the image at the command's level twice, as default and control, and then the images at
  /// the levels that may be tried. Returns nothing if the image at the command's level cannot be
  /// made. Adds the reasons for all that is left out to \p Dropped.
  std::vector<JobVariant> make(std::vector<std::string> &Dropped);

private:
  std::optional<std::string> whyNot(const Cubin &Image) const;
  std::optional<std::string> brokenBy(const CubinKernel &New) const;
  std::optional<std::string> brokenByCold(const CubinKernel &New, const CubinKernel &Default) const;

  const TuningJob &Job;
  const JobBuild &Built;
  const VariantRounds &Rounds;
  size_t Module;
  llvm::ArrayRef<size_t> Chosen;
  std::map<std::string, CubinKernel> Base; ///< The kernels at the command's level, by name.
  std::map<std::string, size_t> Hot;       ///< Indices of the job's kernels, by name.
};

/// Why \p New may not replace \p Default, a kernel that is not in the job. Such a kernel was not
/// timed and its launches are not known, so the rules are stricter.
std::optional<std::string> LevelMaker::brokenByCold(const CubinKernel &New,
                                                    const CubinKernel &Default) const {
  const PtxEntry *Entry = Rounds.entry(Module, New.Resources.Name);
  if (!Entry)
    return std::string("it is not in the PTX");
  CodeChange Change{Default.Resources, New.Resources};
  Change.DefaultMaxThreads = Change.NewMaxThreads = Entry->Directives.maxThreadsPerBlock();
  // It is not known whether its blocks wait for each other, so this is assumed.
  return brokenPromiseUntimed(Job.Model, Change, /*BlocksMeet=*/true);
}

std::optional<std::string> LevelMaker::brokenBy(const CubinKernel &New) const {
  auto Default = Base.find(New.Resources.Name);
  if (Default == Base.end() || Default->second.CodeDigest == New.CodeDigest)
    return std::nullopt;
  auto K = Hot.find(New.Resources.Name);
  if (K == Hot.end())
    return brokenByCold(New, Default->second);
  JobVariant V;
  V.Setting = Built.Kernels[K->second].Variants[Chosen[K->second]].Setting;
  V.Resources = New.Resources;
  return forbidden(Job.Kernels[K->second], Built.Kernels[K->second], V, Job);
}

std::optional<std::string> LevelMaker::whyNot(const Cubin &Image) const {
  bool Changes = false;
  for (const CubinKernel &New : Image.Kernels) {
    if (auto Why = brokenBy(New))
      return New.Resources.Name + ": " + *Why;
    auto Default = Base.find(New.Resources.Name);
    Changes |= Hot.count(New.Resources.Name) && Default != Base.end() &&
               Default->second.CodeDigest != New.CodeDigest;
  }
  if (!Changes)
    return std::string("no hot kernel gets other code");
  return std::nullopt;
}

std::vector<JobVariant> LevelMaker::make(std::vector<std::string> &Dropped) {
  if (Job.Modules[Module].Source.Relocatable) {
    Dropped.push_back("relocatable device code: functions of other files would change");
    return {};
  }
  for (size_t K : Job.Modules[Module].Kernels) {
    Hot[Job.Kernels[K].Traced.Kernel] = K;
    const KernelBuild &B = Built.Kernels[K];
    if (Chosen[K] && needsGuard(B.Variants[Chosen[K]], B)) {
      Dropped.push_back("a kernel has a further entry, for which a level would hold, too");
      return {};
    }
  }
  std::vector<std::optional<unsigned>> Levels{std::nullopt};
  Levels.insert(Levels.end(), std::begin(LevelsTried), std::end(LevelsTried));
  std::vector<std::pair<std::string, Cubin>> Images(Levels.size());
  std::vector<std::string> Failures(Levels.size());
  runInParallel(Levels.size(), [&](size_t I) {
    llvm::Expected<Assembled> Made = Rounds.assembleChosen(Module, Chosen, Levels[I]);
    llvm::Expected<Cubin> Read = Made ? parseCubin(Made->CubinBytes) : Made.takeError();
    if (Read)
      Images[I] = {std::move(Made->CubinBytes), std::move(*Read)};
    else
      Failures[I] = llvm::toString(Read.takeError());
  });
  if (!Failures.front().empty()) {
    Dropped.push_back("at the command's level: " + Failures.front());
    return {};
  }
  for (const CubinKernel &K : Images.front().second.Kernels)
    Base[K.Resources.Name] = K;
  JobVariant AsItIs;
  AsItIs.Cubin = Images.front().first;
  std::vector<JobVariant> Variants{AsItIs, AsItIs};
  for (size_t I = 1; I < Levels.size(); ++I) {
    JobVariant V;
    V.Setting.RegisterUsageLevel = Levels[I];
    V.Cubin = std::move(Images[I].first);
    std::optional<std::string> Why = Failures[I].empty() ? whyNot(Images[I].second) : Failures[I];
    if (Why)
      Dropped.push_back(variantName(V.Setting) + ": " + *Why);
    else
      Variants.push_back(std::move(V));
  }
  return Variants;
}

/// Sets \p Unit to the outcome \p O of the runs.
void takeOutcome(const SubjectOutcome &O, const ModuleBuild &M, LeveledUnit &Unit) {
  Unit.Report.Ratio = O.Ratio;
  Unit.Report.Pairs = O.Pairs;
  Unit.Report.Reason = parseStayReason(O.Reason);
  for (const ScreenedVariant &S : O.Screened) {
    VariantReport V;
    V.Name = variantName(M.FileVariants[S.Variant].Setting);
    if (!S.Ratios.empty())
      V.setRatio(ratioInterval(S.Ratios));
    V.Fault = S.Fault.value_or("");
    Unit.Report.Variants.push_back(std::move(V));
  }
  if (!O.Chosen)
    return;
  const JobVariant &Winner = M.FileVariants[O.Chosen];
  llvm::Expected<Cubin> Image = parseCubin(Winner.Cubin);
  if (!Image) { // This cannot happen: the image was parsed when it was made.
    llvm::consumeError(Image.takeError());
    return;
  }
  Unit.Image = std::move(*Image);
  Unit.Level = Winner.Setting.RegisterUsageLevel;
  Unit.Report.Variant = variantName(Winner.Setting);
}

/// The subjects of the runs. With recorded samples, subjects and variants that they lack are left
/// out.
std::vector<SubjectSpace> levelSubjects(const TuneState &State, const TuningJob &Job,
                                        const JobBuild &ByUnit) {
  std::vector<SubjectSpace> Subjects = subjectsOf(Job, ByUnit, TuningScope::File);
  std::vector<std::vector<std::string>> Names = variantNames(ByUnit, TuningScope::File);
  for (size_t S = 0; S < Subjects.size(); ++S)
    for (size_t V = 0; V < Names[S].size(); ++V)
      if (State.recorded() && !State.Samples.has(Subjects[S].Name, Names[S][V])) {
        if (V < 2)
          Subjects[S].Stays = "the recorded samples lack it";
        else
          Subjects[S].Excluded[V] = "the recorded samples lack it";
      }
  return Subjects;
}

} // namespace

llvm::Expected<std::vector<LeveledUnit>> carve::tuneLevels(TuneState &State, const TuningJob &Job,
                                                           const JobBuild &Built,
                                                           const VariantRounds &Rounds,
                                                           SelectionOutcome &Outcome) {
  const TuningOptions &Options = State.Request.Options;
  std::vector<LeveledUnit> Units;
  if (Options.Effort < MaxEffort || Options.Points != PointSet::Critical)
    return Units;
  std::vector<size_t> Chosen;
  for (const SubjectOutcome &O : Outcome.Subjects)
    Chosen.push_back(O.Chosen);
  JobBuild ByUnit(Job);
  bool Any = false;
  for (size_t M = 0; M < ByUnit.Modules.size(); ++M) {
    LeveledUnit &Unit = Units.emplace_back();
    ModuleBuild &Module = ByUnit.Modules[M];
    Unit.Report.Output = Job.Modules[M].Source.Output;
    Unit.Report.Source = Job.Modules[M].Source.Source;
    Module.FileVariants = LevelMaker(Job, Built, Rounds, M, Chosen).make(Unit.Report.Dropped);
    Module.Cubin = Module.FileVariants.empty() ? "" : Module.FileVariants.front().Cubin;
    Module.FileVariants.resize(std::max<size_t>(2, Module.FileVariants.size()));
    Unit.Tried = Module.FileVariants.size() > FirstPlace;
    Any |= Unit.Tried;
  }
  std::vector<SubjectSpace> Subjects = levelSubjects(State, Job, ByUnit);
  if (!Any || llvm::any_of(Subjects, [](const SubjectSpace &S) { return !S.Stays.empty(); }))
    return Units;
  auto ByRuns = selectAmong(State, Job, ByUnit, TuningScope::File, Subjects, Outcome.Runs,
                            /*DefaultInPlace=*/true);
  if (!ByRuns)
    return ByRuns.takeError();
  Outcome.Runs += ByRuns->Runs;
  for (size_t M = 0; M < Units.size(); ++M)
    if (Units[M].Tried)
      takeOutcome(ByRuns->Subjects[M], ByUnit.Modules[M], Units[M]);
  return Units;
}

static const CubinKernel *findKernel(const Cubin &Image, llvm::StringRef Name) {
  auto K =
      llvm::find_if(Image.Kernels, [&](const CubinKernel &K) { return K.Resources.Name == Name; });
  return K == Image.Kernels.end() ? nullptr : &*K;
}

void carve::decideLevels(llvm::ArrayRef<LeveledUnit> Units, const TuningJob &Job,
                         std::vector<DecidedUnit> &Decided) {
  for (size_t M = 0; M < Units.size(); ++M) {
    const LeveledUnit &Unit = Units[M];
    if (!Unit.Level)
      continue;
    for (DecidedKernel &D : Decided[M].Kernels) {
      const JobKernel &K = Job.Kernels[D.Kernel];
      const CubinKernel *New = findKernel(Unit.Image, K.Traced.Kernel);
      if (!New)
        continue;
      if (!D.Tuned) {
        D.Ratio = Unit.Report.Ratio;
        D.Pairs = Unit.Report.Pairs;
        D.Reason = {};
      }
      D.Tuned = true;
      D.Setting.RegisterUsageLevel = Unit.Level;
      D.CodeDigest = New->CodeDigest;
      D.Chosen.RegsPerThread = New->Resources.RegsPerThread; // An image does not tell spills.
      D.ChosenOccupancy = heaviestOccupancy(Job, K, New->Resources);
    }
  }
}
