// Reads units and decisions from the store, and finds which kernels of a project are tuned.
#include "Export/ExportUnits.h"

#include "Device/RegisterRegion.h"
#include "Emit/DecisionChoice.h"
#include "Ptx/ProfileName.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Store/UserProfile.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

/// Returns the decisions for \p U. If the user gave a profile, it is that profile.
llvm::Expected<Profile> decisionsOf(const Unit &U, const ExportJob &Job) {
  if (Job.Options.User)
    return *Job.Options.User;
  llvm::Expected<std::optional<std::string>> Text = readDecisions(Job.Store, U.Key);
  if (!Text)
    return Text.takeError();
  llvm::Expected<Profile> Own =
      *Text ? parseProfile(**Text, "decisions of " + U.Source) : Profile();
  return Own ? withSiteDecisions(std::move(*Own), U, Job.Store) : std::move(Own);
}

/// Reads the PTX of an image and, if the store kept it, the preprocessed text that it comes from.
llvm::Expected<ExportImage> readImage(const UnitImage &Record, const Unit &U,
                                      const UnitStore &Store) {
  llvm::Expected<std::string> Text = Store.blob(Record.PtxDigest);
  if (!Text)
    return Text.takeError();
  llvm::Expected<PtxModule> Ptx = PtxModule::parse(std::move(*Text));
  if (!Ptx)
    return Ptx.takeError();
  ExportImage I{Record, std::move(*Ptx), {}};
  for (const UnitFrontEnd &F : U.FrontEnds) {
    if (F.PtxDigest != Record.PtxDigest)
      continue;
    llvm::Expected<std::string> Preprocessed = Store.blob(F.InputDigest);
    if (Preprocessed)
      I.Preprocessed = findKernels(*Preprocessed);
    else
      logLine(llvm::toString(Preprocessed.takeError()));
    break;
  }
  return I;
}

/// Returns true if the user named this kernel, or no kernel at all.
bool isWanted(const ExportOptions &O, llvm::StringRef Name, llvm::StringRef Mangled) {
  if (O.Kernels.empty())
    return true;
  KernelName Parts = parseKernelName(Name);
  return llvm::any_of(O.Kernels, [&](const std::string &Wanted) {
    return Wanted == Name || Wanted == Mangled || Wanted == Parts.Base;
  });
}

/// Adds an item for each decided kernel of one image. A cap for the whole file counts as a decision
/// for each of its kernels.
llvm::Error collectImage(ExportJob &Job, size_t UnitIndex, size_t ImageIndex) {
  const ExportUnit &U = Job.Units[UnitIndex];
  const ExportImage &I = U.Images[ImageIndex];
  for (const PtxEntry &Entry : I.Ptx.entries()) {
    std::string Name = profileName(Entry.Name);
    if (!isWanted(Job.Options, Name, Entry.Name))
      continue;
    llvm::Expected<std::string> Digest = I.Ptx.kernelDigest(Entry.Name);
    if (!Digest)
      return Digest.takeError();
    KernelState Now{*Digest, I.Record.Arch, U.Record.NvccVersion, I.Record.PtxasOptions};
    DecisionChoice Choice = chooseDecision({&U.Decisions}, Name, Entry.Name, Now);
    for (const IgnoredDecision &Ignored : Choice.Ignored)
      Job.Notes.push_back(ignoredText(Ignored));
    Decision D;
    D.Kernel = Name;
    if (Choice.Chosen)
      D = *Choice.Chosen;
    if (!D.Entries.empty())
      Job.Notes.push_back(Name + ": its further entries are not exported, because a source has one "
                                 "kernel for all launches");
    if (D.Variant.isDefault() && U.Decisions.FileCap)
      D.Variant.Cap = D.Variant.FrontEndCap = U.Decisions.FileCap;
    if (D.Variant.isDefault())
      continue;
    ExportItem Item;
    Item.Unit = UnitIndex;
    Item.Image = ImageIndex;
    Item.Mangled = Entry.Name;
    Item.Chosen = std::move(D);
    Item.Out.Kernel = Name;
    Item.Out.Mangled = Entry.Name;
    Item.Out.Arch = I.Record.Arch;
    Item.Out.Decided = Item.Chosen.Variant;
    if (std::optional<KnownReason> Why = reasonNotTunable(Entry, U.Record.Relocatable))
      Item.Out.Reason = "carve-nvcc itself keeps its default: " + identifierOf(*Why).str();
    Item.Out.Source = Job.relative(U.Source);
    Job.Items.push_back(std::move(Item));
  }
  return llvm::Error::success();
}

} // namespace

const KernelReport *carve::reportOf(const ExportJob &Job, const ExportItem &Item) {
  if (!Job.Options.Report)
    return nullptr;
  unsigned Regs = 0;
  for (const KernelResources &R : Job.Units[Item.Unit].Images[Item.Image].Record.Kernels)
    if (R.Name == Item.Mangled)
      Regs = R.RegsPerThread;
  // If several units have the kernel, the report names the output of one of them, and the first
  // source.
  std::set<std::string> Sources, Outputs;
  for (const ExportUnit &U : Job.Units)
    for (const ExportImage &I : U.Images)
      if (I.Ptx.find(Item.Mangled)) {
        Sources.insert(sourceInProject(U.Record));
        Outputs.insert(U.Record.Output);
      }
  for (const KernelReport &R : Job.Options.Report->Kernels)
    if (R.Mangled == Item.Mangled && Outputs.count(R.Output) &&
        (R.Source.empty() || Sources.count(R.Source)) &&
        (!Regs || !R.RegsBefore || R.RegsBefore == Regs))
      return &R;
  return nullptr;
}

llvm::Error carve::collectDecisions(ExportJob &Job) {
  const ExportOptions &O = Job.Options;
  for (Unit &U : Job.Store.units()) {
    std::string Source = normalisedPath(U.Source, U.Directory);
    if (Job.relative(Source).empty())
      continue;
    llvm::Expected<Profile> Decisions = decisionsOf(U, Job);
    if (!Decisions)
      return Decisions.takeError();
    ExportUnit New{std::move(U), std::move(*Decisions), Source, {}};
    for (const UnitImage &Record : New.Record.Images) {
      if (!O.Arch.empty() && Record.Arch != O.Arch)
        continue;
      llvm::Expected<ExportImage> Image = readImage(Record, New.Record, Job.Store);
      if (!Image)
        return Image.takeError();
      New.Images.push_back(std::move(*Image));
    }
    Job.Units.push_back(std::move(New));
  }
  if (Job.Units.empty())
    return usageError("no source below " + O.Root + " was compiled by carve-nvcc with the store " +
                      Job.Store.root());
  // Sorted by source, so that the result does not depend on the order of the store's files.
  llvm::sort(Job.Units, [](const ExportUnit &A, const ExportUnit &B) {
    return std::tie(A.Source, A.Record.Key) < std::tie(B.Source, B.Record.Key);
  });
  bool Named = O.Kernels.empty();
  for (size_t U = 0; U < Job.Units.size(); ++U)
    for (size_t I = 0; I < Job.Units[U].Images.size(); ++I) {
      if (llvm::Error E = collectImage(Job, U, I))
        return E;
      for (const PtxEntry &Entry : Job.Units[U].Images[I].Ptx.entries())
        Named = Named || isWanted(O, profileName(Entry.Name), Entry.Name);
    }
  if (!Named)
    return usageError("no unit below " + O.Root + " has a kernel '" +
                      llvm::join(O.Kernels, "', '") + "'");
  for (ExportItem &Item : Job.Items) {
    const KernelReport *Report = reportOf(Job, Item);
    const std::optional<Evidence> &E = Item.Chosen.Basis;
    std::optional<double> Ratio;
    if (E && E->Pairs)
      Ratio = E->Ratio;
    else if (Report && Report->Tuned && Report->Pairs &&
             Report->Variant == variantName(Item.Chosen.Variant))
      Ratio = Report->Ratio.Median;
    Item.Out.Gain.Decided = Ratio;
  }
  return llvm::Error::success();
}
