#include "Driver/ExportPipeline.h"

#include "Driver/ExportStages.h"
#include "Export/FileFlags.h"
#include "Support/Error.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

class Exporter {
public:
  Exporter(const ExportOptions &Options, ExportVerifier *Verifier, std::string WhyNotVerified,
           std::string DevicesDir, ExportJob &Job)
      : Options(Options), Verifier(Verifier), WhyNotVerified(std::move(WhyNotVerified)),
        DevicesDir(std::move(DevicesDir)), Job(Job) {}

  llvm::Expected<ExportOutcome> run();

private:
  llvm::Error findForms();
  void makeGroups();
  PatchedProject write(std::map<SourceFile *, std::vector<SourceEdit>> *AllEdits = nullptr);
  void verifyForms();
  void exportSource(ExportOutcome &Out);
  void exportFlags(ExportOutcome &Out);
  std::vector<FileKernel> kernelsOfFile(size_t Unit, size_t Image,
                                        const std::vector<size_t> &Items) const;
  void flagsOf(const std::string &Source, const std::vector<size_t> &Items, ExportOutcome &Out,
               PatchedProject &Compiled);
  void settle(ExportItem &Item, std::optional<VariantSetting> Setting);

  const ExportOptions &Options;
  ExportVerifier *Verifier;
  std::string WhyNotVerified, DevicesDir;
  ExportJob &Job;
  std::vector<ExportGroup> Groups;
};

llvm::Error Exporter::findForms() {
  for (ExportItem &Item : Job.Items) {
    if (!Item.File || !Item.Out.Reason.empty())
      continue;
    const ExportUnit &U = Job.Units[Item.Unit];
    const ExportImage &I = U.Images[Item.Image];
    llvm::Expected<DeviceModel> Model = loadDeviceModel(DevicesDir, I.Record.Arch);
    if (!Model)
      return Model.takeError();
    FormRequest R{
        Item.Chosen.Variant, I.Ptx.find(Item.Mangled)->Directives, 0, U.Record.NvccVersion, *Model,
        reportOf(Job, Item)};
    R.LargestBlock = Options.MaxThreads;
    if (!R.LargestBlock && Item.Chosen.Basis)
      R.LargestBlock = largestBlock(Item.Chosen.Basis->Shapes);
    if (!R.LargestBlock && R.Report)
      R.LargestBlock = largestBlock(R.Report->Shapes);
    std::string Reason;
    Item.Forms = formsOf(R, Options.As, Reason);
    if (Item.Forms.empty())
      Item.Out.Reason = Reason;
  }
  return llvm::Error::success();
}

void Exporter::makeGroups() {
  std::map<std::pair<SourceFile *, size_t>, size_t> GroupOf;
  for (size_t Index = 0; Index < Job.Items.size(); ++Index) {
    const ExportItem &Item = Job.Items[Index];
    if (Item.Forms.empty())
      continue;
    auto [It, IsNew] = GroupOf.try_emplace({Item.File, Item.Place}, Groups.size());
    if (IsNew)
      Groups.push_back({{}, Item.File, Item.Place, Item.Forms.size(), 0});
    ExportGroup &G = Groups[It->second];
    G.Items.push_back(Index);
    G.Forms = std::min(G.Forms, Item.Forms.size());
  }
}

/// The sources with the attributes in them. A group that no attribute can say is left, with the
/// reason.
PatchedProject Exporter::write(std::map<SourceFile *, std::vector<SourceEdit>> *AllEdits) {
  std::map<SourceFile *, std::vector<SourceEdit>> Edits;
  for (ExportGroup &G : Groups) {
    llvm::Expected<std::string> Text = attributeText(Job, G);
    // Of a template, say, one form can be said and another not.
    for (size_t Other = 0; !Text && Other < G.Forms; ++Other) {
      ExportGroup Tried = G;
      Tried.Form = Other;
      llvm::Expected<std::string> Instead = attributeText(Job, Tried);
      if (!Instead) {
        llvm::consumeError(Instead.takeError());
        continue;
      }
      llvm::consumeError(Text.takeError());
      Text = std::move(Instead);
      G.Form = Other;
    }
    if (!Text) {
      std::string Reason = llvm::toString(Text.takeError());
      for (size_t Index : G.Items) {
        Job.Items[Index].Out.Reason = Reason;
        Job.Items[Index].Forms.clear();
      }
      G.Items.clear();
      continue;
    }
    for (size_t Index : G.Items)
      Job.Items[Index].Out.Written = *Text;
    for (auto &[File, Own] : attributeEdits(Job, G, *Text))
      llvm::append_range(Edits[File], Own);
  }
  llvm::erase_if(Groups, [](const ExportGroup &G) { return G.Items.empty(); });
  PatchedProject Patched;
  for (const auto &[File, Own] : Edits)
    Patched.Files[File->Relative] = applyEdits(File->Text, Own);
  if (AllEdits)
    *AllEdits = std::move(Edits);
  return Patched;
}

/// How good it is that the code compares so; less is better.
int rank(const CodeComparison &C) {
  switch (C.Match) {
  case CodeMatch::SameCode:
    return 0;
  case CodeMatch::SameRegisters:
    return 1;
  case CodeMatch::Differs:
    return 2;
  case CodeMatch::NotVerified:
    break;
  }
  return 3;
}

/// Compiles with the first form of each, then the others where the code is not the tuned one, and
/// leaves each group with the best.
void Exporter::verifyForms() {
  std::map<size_t, std::map<size_t, std::map<size_t, CodeComparison>>> Found; // By group and form.
  size_t Rounds = 1;
  for (const ExportGroup &G : Groups)
    Rounds = std::max(Rounds, G.Forms);
  auto Worst = [](const std::map<size_t, CodeComparison> &Codes) {
    int Most = 0;
    for (const auto &[Index, C] : Codes)
      Most = std::max(Most, rank(C));
    return Most;
  };
  auto Better = [&](const auto &A, const auto &B) { return Worst(A.second) < Worst(B.second); };
  for (size_t Round = 0; Round < Rounds; ++Round) {
    std::vector<size_t> Items;
    std::set<size_t> Tried;
    for (size_t I = 0; I < Groups.size(); ++I) {
      auto &Forms = Found[I];
      bool Tries = Round == 0 || (Round < Groups[I].Forms && !Forms.count(Round) &&
                                  Worst(llvm::min_element(Forms, Better)->second) > 0);
      if (!Tries)
        continue;
      Groups[I].Form = Round;
      Tried.insert(I);
      llvm::append_range(Items, Groups[I].Items);
    }
    if (Items.empty())
      continue;
    PatchedProject Patched = write();
    std::map<size_t, CodeComparison> Codes = Verifier->compare(Patched, Items);
    for (size_t I : Tried) {
      // write() takes another form where this one cannot be said.
      auto &Own = Found[I][Groups[I].Form];
      for (size_t Index : Groups[I].Items)
        if (auto C = Codes.find(Index); C != Codes.end())
          Own[Index] = C->second;
    }
  }
  for (size_t I = 0; I < Groups.size(); ++I) {
    auto Best = llvm::min_element(Found[I], Better);
    Groups[I].Form = Best->first;
    for (const auto &[Index, Code] : Best->second)
      Job.Items[Index].Out.Code = Code;
  }
}

/// Notes what is lost of an item that gets the code of \p Setting.
void Exporter::settle(ExportItem &Item, std::optional<VariantSetting> Setting) {
  ExportedKernel &Out = Item.Out;
  // Other code than the decision's was not timed, whatever it is called.
  bool Other = Out.Code.Match == CodeMatch::SameRegisters || Out.Code.Match == CodeMatch::Differs;
  if (Other && Setting == Item.Chosen.Variant)
    Setting.reset();
  Out.Gain = estimateGain(Item.Chosen.Variant, Setting, Out.Gain.Decided, reportOf(Job, Item));
  if (Out.Code.Match != CodeMatch::SameCode)
    return;
  // Whatever it says of the setting: the code is the tuned one.
  Out.Gain.Same = true;
  Out.Gain.Exported = Out.Gain.Decided;
  llvm::erase_if(Out.Lost,
                 [](llvm::StringRef Text) { return !Text.contains("threads in a block"); });
}

void Exporter::exportSource(ExportOutcome &Out) {
  makeGroups();
  // Once, so that a group that cannot be written is left before it is verified.
  write();
  if (Verifier && !Groups.empty())
    verifyForms();
  std::map<SourceFile *, std::vector<SourceEdit>> Edits;
  write(&Edits);
  for (const ExportGroup &G : Groups)
    for (size_t Index : G.Items) {
      ExportItem &Item = Job.Items[Index];
      const AttributeForm &Form = Item.Forms[G.Form];
      Item.Out.Lost = Form.Lost;
      if (!Verifier)
        Item.Out.Code.Detail = WhyNotVerified;
      settle(Item, Form.Setting);
    }
  std::map<std::string, std::string> Diffs;
  for (const auto &[File, Own] : Edits)
    Diffs[File->Relative] = unifiedDiff(File->Relative, File->Text, Own);
  for (const auto &[Relative, Diff] : Diffs)
    Out.Patch += Diff;
}

/// All kernels of an image, the decided ones as \p Items have them.
std::vector<FileKernel> Exporter::kernelsOfFile(size_t Unit, size_t Image,
                                                const std::vector<size_t> &Items) const {
  const ExportImage &I = Job.Units[Unit].Images[Image];
  std::vector<FileKernel> Kernels;
  for (const PtxEntry &Entry : I.Ptx.entries()) {
    FileKernel K;
    K.Bounded = Entry.Directives.MaxNTid || Entry.Directives.ReqNTid || Entry.Directives.MaxNReg;
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
    Kernels.push_back(std::move(K));
  }
  return Kernels;
}

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
  std::string Relative = llvm::StringRef(Source).drop_front(Options.Root.size()).ltrim('/').str();
  if (Chosen.empty()) {
    for (size_t Index : Items)
      Job.Items[Index].Out.Reason =
          "no options for the whole file are expected to make it faster than none";
    return;
  }
  if (Chosen.Cap && U.Record.RegisterCap)
    Out.Notes.push_back(Relative + ": its command has -maxrregcount=" +
                        std::to_string(*U.Record.RegisterCap) + " already, to be replaced");
  Out.Flags.push_back({Relative, Chosen.words()});
  Compiled.Options[Source] = Chosen.words();
  for (size_t Index : Items) {
    ExportItem &Item = Job.Items[Index];
    FileKernel K;
    const EntryDirectives &D =
        Job.Units[Item.Unit].Images[Item.Image].Ptx.find(Item.Mangled)->Directives;
    K.Bounded = D.MaxNTid || D.ReqNTid || D.MaxNReg;
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
  std::map<size_t, CodeComparison> Codes;
  if (Verifier)
    Codes = Verifier->compare(Compiled, Written);
  for (size_t Index : Written) {
    ExportItem &Item = Job.Items[Index];
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
  } else {
    locateItems(Job);
    if (llvm::Error E = findForms())
      return E;
    exportSource(Out);
  }
  for (const ExportUnit &U : Job.Units)
    Out.Sources.push_back(U.Source);
  for (const auto &[Path, File] : Job.Files)
    Out.Sources.push_back(Path);
  for (ExportItem &Item : Job.Items)
    Out.Kernels.push_back(std::move(Item.Out));
  llvm::append_range(Out.Notes, Job.Notes);
  if (Verifier)
    llvm::append_range(Out.Notes, Verifier->otherKernels());
  llvm::sort(Out.Notes);
  Out.Notes.erase(llvm::unique(Out.Notes), Out.Notes.end());
  return Out;
}

} // namespace

llvm::Expected<ExportOutcome> carve::exportDecisions(const ExportOptions &Options, UnitStore &Store,
                                                     const Toolchain *T, llvm::StringRef WhyNoTools,
                                                     CommandRunner &Runner,
                                                     llvm::StringRef DevicesDir) {
  ExportJob Job{Options, Store, {}, {}, {}, {}, {}};
  Job.DevicesDir = DevicesDir.str();
  std::optional<ExportVerifier> Verifier;
  if (T && Options.Verify)
    Verifier.emplace(Job, *T, Runner, DevicesDir);
  if (Verifier)
    Job.CapLikeDefault = [&](const ExportImage &I, llvm::StringRef Mangled) {
      return Verifier->capLikeDefault(I, Mangled);
    };
  std::string Why = Options.Verify ? WhyNoTools.str() : "not asked for";
  return Exporter(Options, Verifier ? &*Verifier : nullptr, std::move(Why), DevicesDir.str(), Job)
      .run();
}
