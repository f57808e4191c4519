#include "Export/ExportPipeline.h"

#include "Export/ExportJob.h"
#include "Export/ExportPatch.h"
#include "Export/ExportPlaces.h"
#include "Export/ExportUnits.h"
#include "Export/FileFlags.h"
#include "Ptx/ProfileName.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

/// Returns true if ptxas ignores a register cap of the command line for such an entry.
bool ignoresFileCap(const EntryDirectives &D) { return D.MaxNTid || D.ReqNTid || D.MaxNReg; }

/// One export.
class Exporter {
public:
  Exporter(const ExportOptions &Options, ExportVerifier *Verifier, std::string WhyNotVerified,
           ExportJob &Job)
      : Options(Options), Verifier(Verifier), WhyNotVerified(std::move(WhyNotVerified)), Job(Job) {}

  llvm::Expected<ExportOutcome> run();

private:
  llvm::Error exportSource(ExportOutcome &Out);
  void exportFlags(ExportOutcome &Out);
  std::vector<FileKernel> kernelsOfFile(size_t Unit, size_t Image,
                                        const std::vector<size_t> &Items) const;
  void flagsOf(const std::string &Source, const std::vector<size_t> &Items, ExportOutcome &Out,
               PatchedProject &Compiled);
  void settle(ExportItem &Item, std::optional<VariantSetting> Setting);

  const ExportOptions &Options;
  ExportVerifier *Verifier;
  std::string WhyNotVerified;
  ExportJob &Job;
};

/// Fills in the gain and the losses of an item that gets the code of \p Setting.
void Exporter::settle(ExportItem &Item, std::optional<VariantSetting> Setting) {
  ExportedKernel &Out = Item.Out;
  // If the code differs from the decided code, it was not timed, even if it comes from the same
  // setting.
  bool Other = Out.Code.Match == CodeMatch::SameRegisters || Out.Code.Match == CodeMatch::Differs;
  if (Other && Setting == Item.Chosen.Variant)
    Setting.reset();
  Out.Gain = estimateGain(Item.Chosen.Variant, Setting, Out.Gain.Decided, reportOf(Job, Item));
  if (Out.Code.Match != CodeMatch::SameCode)
    return;
  // The code is the tuned code, so the losses that follow from the setting do not exist. Only the
  // bound on launches remains.
  Out.Gain.Same = true;
  Out.Gain.Exported = Out.Gain.Decided;
  llvm::erase_if(Out.Lost,
                 [](llvm::StringRef Text) { return !Text.contains("threads in a block"); });
}

llvm::Error Exporter::exportSource(ExportOutcome &Out) {
  locateItems(Job);
  if (llvm::Error E = findForms(Job))
    return E;
  ExportPatch Patch(Job);
  if (Verifier)
    Patch.chooseForms(*Verifier);
  for (const ExportGroup &G : Patch.groups())
    for (size_t Index : G.Items) {
      ExportItem &Item = Job.Items[Index];
      const AttributeForm &Form = Item.Forms[G.Form];
      Item.Out.Lost = Form.Lost;
      if (!Verifier)
        Item.Out.Code.Detail = WhyNotVerified;
      settle(Item, Form.Setting);
    }
  Out.Patch = Patch.diff();
  return llvm::Error::success();
}

/// Returns all kernels of an image, with the decisions of \p Items.
std::vector<FileKernel> Exporter::kernelsOfFile(size_t Unit, size_t Image,
                                                const std::vector<size_t> &Items) const {
  const ExportImage &I = Job.Units[Unit].Images[Image];
  std::vector<FileKernel> Kernels;
  for (const PtxEntry &Entry : I.Ptx.entries()) {
    FileKernel K;
    K.Bounded = ignoresFileCap(Entry.Directives);
    for (const KernelResources &R : I.Record.Kernels)
      if (R.Name == Entry.Name)
        K.DefaultRegs = R.RegsPerThread;
    ExportItem Named;
    Named.Unit = Unit;
    Named.Image = Image;
    Named.Mangled = Entry.Name;
    Named.Out.Kernel = profileName(Entry.Name);
    K.Report = reportOf(Job, Named);
    K.Share = K.Report ? K.Report->Share : 0;
    for (size_t Index : Items) {
      const ExportItem &Item = Job.Items[Index];
      if (Item.Mangled != Entry.Name || &Job.Units[Item.Unit].Images[Item.Image] != &I)
        continue;
      K.Decided = Item.Chosen.Variant;
      K.DecidedRatio = Item.Out.Gain.Decided;
    }
    Kernels.push_back(K);
  }
  return Kernels;
}

/// Chooses the options for one source and writes them into its items.
void Exporter::flagsOf(const std::string &Source, const std::vector<size_t> &Items,
                       ExportOutcome &Out, PatchedProject &Compiled) {
  std::vector<FileKernel> Kernels;
  std::set<std::pair<size_t, size_t>> Seen;
  for (size_t Index : Items) {
    const ExportItem &Item = Job.Items[Index];
    if (Seen.insert({Item.Unit, Item.Image}).second)
      llvm::append_range(Kernels, kernelsOfFile(Item.Unit, Item.Image, Items));
  }
  FileOptions Chosen = chooseFileOptions(Kernels);
  const ExportUnit &U = Job.Units[Job.Items[Items.front()].Unit];
  std::string Relative = Job.relative(Source);
  if (Chosen.empty()) {
    for (size_t Index : Items)
      Job.Items[Index].Out.Reason = "no options for the whole file are expected to make it faster";
    return;
  }
  Out.Flags.push_back({Relative, Chosen.words(), {}});
  if (Chosen.Cap)
    Out.Flags.back().Replaced = U.Record.RegisterCap;
  Compiled.Options[Source] = Chosen.words();
  for (size_t Index : Items) {
    ExportItem &Item = Job.Items[Index];
    FileKernel K;
    K.Bounded =
        ignoresFileCap(Job.Units[Item.Unit].Images[Item.Image].Ptx.find(Item.Mangled)->Directives);
    VariantSetting Given = Chosen.settingOf(K);
    Item.Out.Written = llvm::join(Chosen.words(), " ");
    if (Given != Item.Chosen.Variant)
      Item.Out.Lost = {"decided " + settingText(Item.Chosen.Variant) + ", gets " +
                       settingText(Given)};
  }
}

void Exporter::exportFlags(ExportOutcome &Out) {
  std::map<std::string, std::vector<size_t>> BySource;
  for (size_t Index = 0; Index < Job.Items.size(); ++Index)
    if (Job.Items[Index].Out.Reason.empty())
      BySource[Job.Units[Job.Items[Index].Unit].Source].push_back(Index);
  PatchedProject Compiled;
  for (const auto &[Source, Items] : BySource)
    flagsOf(Source, Items, Out, Compiled);
  std::vector<size_t> Written;
  for (size_t Index = 0; Index < Job.Items.size(); ++Index)
    if (Job.Items[Index].Out.Reason.empty())
      Written.push_back(Index);
  Comparisons Codes;
  if (Verifier)
    Codes = Verifier->compare(Compiled, Written);
  std::map<std::string, CodeComparison> Refused; // By source.
  for (const auto &[Index, Code] : Codes)
    if (Code.Match == CodeMatch::Refused)
      Refused[Job.relative(Job.Units[Job.Items[Index].Unit].Source)] = Code;
  llvm::erase_if(Out.Flags, [&](const SourceFlags &F) { return Refused.count(F.Source) > 0; });
  for (const SourceFlags &F : Out.Flags)
    if (F.Replaced)
      Out.Notes.push_back(F.Source + ": its command already has -maxrregcount=" +
                          std::to_string(*F.Replaced) + ", which must be replaced");
  for (size_t Index : Written) {
    ExportItem &Item = Job.Items[Index];
    if (auto R = Refused.find(Job.relative(Job.Units[Item.Unit].Source)); R != Refused.end()) {
      Item.leave(refusal(Item.Out.Written, R->second));
      continue;
    }
    Item.Out.Code =
        Verifier ? Codes[Index] : CodeComparison{CodeMatch::NotVerified, WhyNotVerified};
    std::optional<VariantSetting> Given;
    if (Item.Out.Lost.empty())
      Given = Item.Chosen.Variant;
    settle(Item, Given);
  }
}

llvm::Expected<ExportOutcome> Exporter::run() {
  ExportOutcome Out;
  Out.As = Options.As;
  Out.Project = Options.Root;
  if (llvm::Error E = collectDecisions(Job))
    return E;
  Out.NvccVersion = Job.Units.front().Record.NvccVersion;
  if (Options.As == ExportForm::Flags) {
    exportFlags(Out);
  } else if (llvm::Error E = exportSource(Out)) {
    return E;
  }
  for (const ExportUnit &U : Job.Units)
    Out.Sources.push_back(U.Source);
  for (const auto &[Path, File] : Job.Files)
    Out.Sources.push_back(Path);
  std::set<size_t> Exported; // Indices of units.
  for (ExportItem &Item : Job.Items) {
    if (Item.Out.Reason.empty())
      Exported.insert(Item.Unit);
    Out.Kernels.push_back(std::move(Item.Out));
  }
  llvm::append_range(Out.Notes, Job.Notes);
  if (Verifier)
    llvm::append_range(Out.Notes, Verifier->otherKernels(Exported));
  llvm::sort(Out.Notes);
  Out.Notes.erase(llvm::unique(Out.Notes), Out.Notes.end());
  return Out;
}

} // namespace

llvm::Expected<ExportOutcome> carve::exportDecisions(const ExportOptions &Options, UnitStore &Store,
                                                     const Toolchain *T, llvm::StringRef WhyNoTools,
                                                     CommandRunner &Runner,
                                                     llvm::StringRef DevicesDir) {
  ExportJob Job{Options, Store, DevicesDir.str(), {}, {}, {}, {}, {}};
  std::optional<ExportVerifier> Verifier;
  if (T && Options.Verify)
    Verifier.emplace(Job, *T, Runner);
  if (Verifier)
    Job.CapLikeDefault = [&](const ExportImage &I, llvm::StringRef Mangled) {
      return Verifier->capLikeDefault(I, Mangled);
    };
  std::string Why = Options.Verify ? WhyNoTools.str() : "not asked for";
  return Exporter(Options, Verifier ? &*Verifier : nullptr, std::move(Why), Job).run();
}
