#include "Search/VariantEdit.h"

#include "Device/Occupancy.h"
#include "Support/Digest.h"
#include "Support/Error.h"

using namespace carve;

/// Returns the suffix for the names of functions that are copied with the kernel. It must be the
/// same in tuning and in emission, and must differ between settings whose copies may differ in
/// text.
static std::string calleeSuffix(const VariantSetting &V, const PtxModule *Flavour) {
  std::string Suffix = "__carve";
  if (V.FrontEndCap)
    Suffix += "_f" + std::to_string(*V.FrontEndCap);
  if (V.FrontEnd != FrontEndKnob::None)
    Suffix += ("_" + nameOf(V.FrontEnd)).str();
  // Each kernel has PTX of its own then.
  if (V.FrontEnd == FrontEndKnob::KnownLaunch)
    Suffix += "_" + digestOf(Flavour->text()).substr(0, 8);
  if (V.Loads != LoadCaching::AsCompiled)
    Suffix += ("_" + nameOf(V.Loads)).str();
  return Suffix;
}

/// Returns the rule of ptxas that forbids \p Entry to spill to shared memory in any compile, or
/// nothing.
static std::optional<std::string> reasonInEntry(const PtxEntry &Entry) {
  if (Entry.UsesDynamicSmem)
    return "dynamic-shared-memory";
  // ptxas says "Smem spilling should not be enabled when functions use abi" (C7800), for printf and
  // assert, too.
  if (Entry.CallsBodiless || Entry.UnknownStack)
    return "abi-calls";
  return std::nullopt;
}

std::optional<std::string> carve::reasonNotSmemSpilling(const PtxEntry &Entry, bool Relocatable,
                                                        llvm::StringRef NvccVersion) {
  unsigned Major = 0;
  if (NvccVersion.split('.').first.getAsInteger(10, Major) || Major < 13)
    return "toolkit-before-13";
  if (Relocatable)
    return "relocatable";
  return reasonInEntry(Entry);
}

unsigned carve::smemSpillingMaxThreads(const DeviceModel &D, const EntryDirectives &Directives,
                                       unsigned DefaultRegs) {
  return std::min(Directives.maxThreadsPerBlock(), maxThreadsForRegisters(D, DefaultRegs));
}

std::vector<std::string> carve::ptxasOptionsFor(const VariantSetting &V,
                                                llvm::ArrayRef<std::string> Options) {
  if (!V.RegisterUsageLevel)
    return Options;
  // ptxas warns about an option that is given twice.
  std::vector<std::string> Left;
  for (size_t I = 0; I < Options.size(); ++I) {
    auto [Name, Value] = llvm::StringRef(Options[I]).split('=');
    if (Name != "--register-usage-level" && Name != "-regUsageLevel")
      Left.push_back(Options[I]);
    else if (Name.size() == Options[I].size())
      ++I; // The next word is the option's value.
  }
  Left.push_back("--register-usage-level=" + std::to_string(*V.RegisterUsageLevel));
  return Left;
}

llvm::Expected<EntryEdit> carve::entryEdit(const VariantSetting &V, const PtxEntry &Entry,
                                           unsigned SmemSpillingMaxThreads, FlavourSource Flavours,
                                           std::optional<unsigned> Ceiling,
                                           const KnownLaunch &Known) {
  EntryEdit Edit;
  Edit.RegisterCap = V.Cap;
  const PtxEntry *Body = &Entry;
  if (!V.frontEnd().isDefault()) {
    llvm::Expected<const PtxModule *> Flavour = Flavours(V.frontEnd());
    if (!Flavour)
      return Flavour.takeError();
    Edit.FrontEnd = *Flavour;
    Body = (*Flavour)->find(Entry.Name);
    if (!Body)
      return unsupported("front-end-declarations", "the flavour has no entry " + Entry.Name);
  }
  if (V.SmemSpilling) {
    if (auto Reason = reasonInEntry(*Body))
      return unsupported(*Reason, "ptxas does not spill " + Entry.Name + " to shared memory");
    Edit.SmemSpillingMaxThreads = SmemSpillingMaxThreads;
    // ptxas ignores --maxrregcount for an entry with `.maxntid`, and this entry is given one.
    const EntryDirectives &D = Entry.Directives;
    if (!V.Cap && !D.MaxNReg && !D.MaxNTid && !D.ReqNTid)
      Edit.RegisterCap = Ceiling;
  }
  if (V.Loads != LoadCaching::AsCompiled && !Body->Loads.by(V.Loads))
    return unsupported("no-plain-global-loads", Entry.Name + " has no load to change");
  Edit.Loads = V.Loads;
  if (V.KnownPtx)
    Edit.Known = Known;
  if (Edit.FrontEnd || Edit.Loads != LoadCaching::AsCompiled)
    Edit.CalleeSuffix = calleeSuffix(V, Edit.FrontEnd);
  return Edit;
}
