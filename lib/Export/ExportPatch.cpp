#include "Export/ExportPatch.h"

#include "Export/ExportPlaces.h"
#include "Export/ExportUnits.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

llvm::Error carve::findForms(ExportJob &Job) {
  const ExportOptions &Options = Job.Options;
  for (ExportItem &Item : Job.Items) {
    if (!Item.File || !Item.Out.Reason.empty())
      continue;
    const ExportUnit &U = Job.Units[Item.Unit];
    const ExportImage &I = U.Images[Item.Image];
    llvm::Expected<DeviceModel> Model = loadDeviceModel(Job.DevicesDir, I.Record.Arch);
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

namespace {

/// Returns a rank for the result of a comparison; less is better.
int rank(const CodeComparison &C) {
  switch (C.Match) {
  case CodeMatch::SameCode:
    return 0;
  case CodeMatch::SameRegisters:
    return 1;
  case CodeMatch::Differs:
    return 2;
  case CodeMatch::NotVerified:
    return 3;
  case CodeMatch::Refused:
    break;
  }
  return 4;
}

/// Returns the rank of the worst comparison.
int rank(const Comparisons &Codes) {
  int Worst = 0;
  for (const auto &[Index, C] : Codes)
    Worst = std::max(Worst, rank(C));
  return Worst;
}

bool isRefused(const Comparisons &Codes) { return rank(Codes) == rank({CodeMatch::Refused, ""}); }

Comparisons ofGroup(const ExportGroup &G, const Comparisons &All) {
  Comparisons Own;
  for (size_t Index : G.Items)
    if (auto C = All.find(Index); C != All.end())
      Own.insert(*C);
  return Own;
}

} // namespace

ExportPatch::ExportPatch(ExportJob &Job) : Job(Job) {
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
  llvm::erase_if(Groups, [&](ExportGroup &G) { return !write(G); });
}

void ExportPatch::leave(ExportGroup &G, const std::string &Reason) {
  for (size_t Index : G.Items)
    Job.Items[Index].leave(Reason);
  G.Items.clear();
}

/// Writes the text of the group's attribute into its items. If the current form cannot be
/// expressed, for example for a template, it takes another form. If no form can, it leaves the
/// group out and returns false.
bool ExportPatch::write(ExportGroup &G) {
  llvm::Expected<std::string> Text = attributeText(Job, G);
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
    leave(G, llvm::toString(Text.takeError()));
    return false;
  }
  for (size_t Index : G.Items)
    Job.Items[Index].Out.Written = *Text;
  return true;
}

ExportPatch::Edits ExportPatch::edits(llvm::ArrayRef<ExportGroup> Of) const {
  Edits All;
  for (const ExportGroup &G : Of)
    for (auto &[File, Own] : attributeEdits(Job, G, Job.Items[G.Items.front()].Out.Written))
      llvm::append_range(All[File], Own);
  return All;
}

Comparisons ExportPatch::compile(ExportVerifier &Verifier, llvm::ArrayRef<ExportGroup> Of) const {
  PatchedProject Patched;
  for (const auto &[File, Own] : edits(Of))
    Patched.Files[File->Relative] = applyEdits(File->Text, Own);
  std::vector<size_t> Items;
  for (const ExportGroup &G : Of)
    llvm::append_range(Items, G.Items);
  return Verifier.compare(Patched, Items);
}

/// Leaves out the groups that nvcc refused. Returns true if there were any.
bool ExportPatch::leaveRefused() {
  size_t Before = Groups.size();
  llvm::erase_if(Groups, [&](ExportGroup &G) {
    for (size_t Index : G.Items) {
      const ExportedKernel &Out = Job.Items[Index].Out;
      if (Out.Code.Match != CodeMatch::Refused)
        continue;
      leave(G, refusal(Out.Written, Out.Code));
      return true;
    }
    return false;
  });
  return Groups.size() < Before;
}

void ExportPatch::chooseForms(ExportVerifier &Verifier) {
  std::vector<std::map<size_t, Comparisons>> Found(Groups.size()); // By group, then by form.
  auto Best = [&](size_t I) {
    return llvm::min_element(
        Found[I], [](const auto &A, const auto &B) { return rank(A.second) < rank(B.second); });
  };
  size_t Forms = 0;
  bool AsWhole = true; // The last compile had exactly the patch that is handed over.
  for (const ExportGroup &G : Groups)
    Forms = std::max(Forms, G.Forms);
  for (size_t Form = 0; Form < Forms; ++Form) {
    std::vector<size_t> Tried;
    for (size_t I = 0; I < Groups.size(); ++I) {
      if (Form >= Groups[I].Forms || Found[I].count(Form) ||
          (Form > 0 && rank(Best(I)->second) == 0))
        continue;
      Groups[I].Form = Form;
      write(Groups[I]);
      Tried.push_back(I);
    }
    if (Tried.empty())
      continue;
    Comparisons Codes = compile(Verifier, Groups);
    AsWhole = Form == 0;
    for (size_t I : Tried) {
      Comparisons Own = ofGroup(Groups[I], Codes);
      // nvcc may have refused the attribute of another group, so the group is compiled alone.
      if (isRefused(Own) && Groups.size() > 1) {
        Own = compile(Verifier, Groups[I]);
        AsWhole = false;
      }
      Found[I][Groups[I].Form] = std::move(Own);
    }
  }
  for (size_t I = 0; I < Groups.size(); ++I) {
    Groups[I].Form = Best(I)->first;
    write(Groups[I]);
    for (const auto &[Index, Code] : Best(I)->second)
      Job.Items[Index].Out.Code = Code;
  }
  // The patch that is handed over must compile as a whole.
  while ((leaveRefused() || !AsWhole) && !Groups.empty()) {
    for (const auto &[Index, Code] : compile(Verifier, Groups))
      Job.Items[Index].Out.Code = Code;
    AsWhole = true;
  }
}

std::string ExportPatch::diff() const {
  std::map<std::string, std::string> Diffs; // By path.
  for (const auto &[File, Own] : edits(Groups))
    Diffs[File->Relative] = unifiedDiff(File->Relative, File->Text, Own);
  std::string Patch;
  for (const auto &[Relative, Diff] : Diffs)
    Patch += Diff;
  return Patch;
}
