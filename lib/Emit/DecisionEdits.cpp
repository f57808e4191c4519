#include "Emit/DecisionEdits.h"

#include "Device/RegisterRegion.h"
#include "Ptx/PointerSources.h"
#include "Search/VariantEdit.h"
#include "Support/Error.h"
#include "Support/StayReason.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

std::optional<std::string> carve::refusalOfSetting(const VariantSetting &V, const PtxEntry &Entry,
                                                   const DeviceImage &Image,
                                                   const EmitContext &Context) {
  if (auto Reason = reasonNotTunable(Entry, Context.Relocatable))
    return identifierOf(*Reason).str();
  for (auto [Cap, Name] : {std::pair(V.Cap, "cap "), std::pair(V.FrontEndCap, "frontend-cap ")})
    if (Cap && Context.Ceiling && *Cap > *Context.Ceiling)
      return Name + std::to_string(*Cap) +
             " is above the command's own -maxrregcount=" + std::to_string(*Context.Ceiling);
  if (V.SmemSpilling)
    if (auto Reason = reasonNotSmemSpilling(Entry, Context.Relocatable, Context.NvccVersion))
      return "smem-spilling: " + *Reason;
  if (!V.assembler().isDefault())
    if (auto Reason = reasonNotReassembled(Image.Arch, Image.PtxasOptions, Context.Relocatable))
      return (V.OptimizationLevel ? "optimization-level: " : "register-usage-level: ") + *Reason;
  return std::nullopt;
}

/// Whether \p Entry, or what it calls, asks for its place in a cluster or works with other blocks
/// of it, or whether it must be launched with one. An address or a fence may be of a cluster in a
/// kernel that has none.
static bool usesClusters(const PtxModule &Ptx, const PtxEntry &Entry) {
  auto Names = [&](llvm::StringRef Function) {
    llvm::StringRef Text = Ptx.definitionOf(Function);
    return llvm::any_of(llvm::ArrayRef({"%cluster", "%ncluster", "%is_explicit_cluster", "mapa.",
                                        "getctarank.", "barrier.cluster.", ".multicast::cluster"}),
                        [&](llvm::StringRef Part) { return Text.contains(Part); });
  };
  return Entry.Directives.ExplicitCluster || Names(Entry.Name) ||
         llvm::any_of(Entry.Callees, Names);
}

/// Whether parameter number \p Number of \p Entry has \p Bytes bytes at \p Offset.
static bool hasBytes(const PtxEntry &Entry, unsigned Number, unsigned Offset, unsigned Bytes) {
  return Number < Entry.ParameterBytes.size() &&
         uint64_t(Offset) + Bytes <= Entry.ParameterBytes[Number];
}

std::optional<std::string> carve::refusalOfGuard(const FurtherEntry &E, const PtxEntry &Entry,
                                                 const PtxModule &Ptx, const EmitContext &Context) {
  // A launch takes an entry without asking for its cluster, so the code must name it.
  if (!Entry.Directives.ReqNCtaPerCluster && usesClusters(Ptx, Entry))
    return std::string("a launch may have a cluster that the entry would not have");
  if (!allowValues(Context.Entries) &&
      (!E.When.Arguments.empty() || !E.When.Apart.empty() || E.Variant.isForKnownLaunches()))
    return std::string("entries for values are not wanted");
  llvm::Expected<LaunchReads> Reads = Ptx.launchReads(Entry.Name);
  if (!Reads)
    return llvm::toString(Reads.takeError());
  // The guard reads the arguments of every launch.
  for (const PointerPlace &P : E.When.Apart)
    if (!hasBytes(Entry, P.Parameter, P.Offset, sizeof(uint64_t)))
      return "parameter " + std::to_string(P.Parameter) + " has no address at offset " +
             std::to_string(P.Offset);
  for (const ArgumentValue &V : E.When.Arguments) {
    if (!hasBytes(Entry, V.Parameter, V.Offset, V.Bytes))
      return "parameter " + std::to_string(V.Parameter) + " has no " + std::to_string(V.Bytes) +
             " bytes at offset " + std::to_string(V.Offset);
    if (Context.Entries != FurtherEntries::Floats && Reads->readFloatAt(V))
      return std::string("entries for floating-point values are not wanted");
  }
  return std::nullopt;
}

/// Returns the unit's PTX with \p Setting. It is made once for each setting.
llvm::Expected<const PtxModule *> DecisionEdits::flavour(const FrontEndSetting &Setting) {
  if (auto It = Flavours.find(Setting); It != Flavours.end())
    return &It->second;
  if (auto It = FlavourFaults.find(Setting); It != FlavourFaults.end())
    return unsupported("no-flavour", It->second);
  if (!Context.FlavourPtx)
    return unsupported("no-front-end", "cicc cannot be run again here");
  llvm::Expected<std::string> Text = Context.FlavourPtx(Image, Setting);
  llvm::Expected<PtxModule> Parsed = Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
  if (Parsed)
    return &Flavours.emplace(Setting, std::move(*Parsed)).first->second;
  // Other kernels with this setting would only run cicc in vain again.
  std::string Why = llvm::toString(Parsed.takeError());
  FlavourFaults.emplace(Setting, Why);
  return unsupported("no-flavour", Why);
}

/// Returns the largest block, in threads, that nvcc's code of \p Entry accepts. 0 if it has none.
llvm::Expected<unsigned> DecisionEdits::largestBlock(const PtxEntry &Entry) const {
  auto Default = OriginalOf.find(Entry.Name);
  if (Default == OriginalOf.end())
    return 0;
  if (!Model)
    return unsupported("unknown-device", "the limits of " + Image.Arch + " are not known");
  return smemSpillingMaxThreads(*Model, Entry.Directives, Default->second->Resources.RegsPerThread);
}

llvm::Expected<EntryEdit> DecisionEdits::editFor(const PtxEntry &Entry, const Decision &D) {
  unsigned MaxThreads = 0;
  if (D.Variant.SmemSpilling) {
    llvm::Expected<unsigned> Largest = largestBlock(Entry);
    if (!Largest)
      return Largest.takeError();
    MaxThreads = *Largest;
    if (MaxThreads && Context.Domain == LaunchDomain::Traced && D.Basis &&
        D.Basis->SmemSpillingThreads)
      MaxThreads = D.Basis->SmemSpillingThreads;
  }
  llvm::Expected<EntryEdit> Edit = entryEdit(
      D.Variant, Entry, MaxThreads, [&](const FrontEndSetting &S) { return flavour(S); },
      Context.Ceiling);
  return triedAlone(Entry, std::move(Edit));
}

/// Returns \p Edit if it can be made alone, so that if its front-end PTX lacks something, only this
/// decision is dropped.
llvm::Expected<EntryEdit> DecisionEdits::triedAlone(const PtxEntry &Entry,
                                                    llvm::Expected<EntryEdit> Edit) const {
  if (!Edit)
    return Edit;
  llvm::StringMap<EntryEdit> Alone;
  Alone[Entry.Name] = *Edit;
  llvm::Expected<std::string> Text = Ptx.withEdits(Alone);
  if (!Text)
    return Text.takeError();
  return Edit;
}

/// Returns the block size, in threads, with which the further entry \p E of \p Entry spills to
/// shared memory: the largest that its guard lets through. But a tuning has timed code whose guard
/// names no block with the largest that the kernel accepts (VariantCompiler).
llvm::Expected<unsigned> DecisionEdits::smemSpillingThreads(const PtxEntry &Entry,
                                                            const FurtherEntry &E) const {
  if (!E.Variant.SmemSpilling || E.When.Block || E.CodeDigest.empty())
    return E.When.mostThreads();
  return largestBlock(Entry);
}

/// Returns the parameters of \p Entry, which is in \p Ptx, that are restrict pointers in \p E; none
/// if it has none. Fails with Unsupported if the guard of \p E does not ask about all addresses by
/// which nvcc's own code reads and writes memory.
static llvm::Expected<std::vector<unsigned>>
restrictOf(const FurtherEntry &E, const PtxEntry &Entry, const PtxModule &Ptx) {
  if (!E.Variant.Restrict)
    return std::vector<unsigned>();
  llvm::Expected<std::vector<PointerSource>> Sources = Ptx.pointerSources(Entry.Name);
  if (!Sources)
    return unsupported(RestrictName, llvm::toString(Sources.takeError()));
  for (const PointerSource &S : *Sources)
    if (!llvm::is_contained(E.When.Apart, S.Place))
      return unsupported(RestrictName, "the guard does not ask about the address at offset " +
                                           llvm::Twine(S.Place.Offset) + " of parameter " +
                                           llvm::Twine(S.Place.Parameter));
  return restrictParameters(*Sources);
}

llvm::Expected<EntryEdit> DecisionEdits::editFor(const PtxEntry &Entry, const FurtherEntry &E) {
  llvm::Expected<std::vector<unsigned>> Restrict = restrictOf(E, Entry, Ptx);
  if (!Restrict)
    return Restrict.takeError();
  auto Flavour = [&](const FrontEndSetting &S) {
    return flavour(S.forKernel({Entry.Name, E.When.known(), *Restrict}));
  };
  llvm::Expected<unsigned> MaxThreads = smemSpillingThreads(Entry, E);
  if (!MaxThreads)
    return MaxThreads.takeError();
  return triedAlone(
      Entry, entryEdit(E.Variant, Entry, *MaxThreads, Flavour, Context.Ceiling, E.When.known()));
}
