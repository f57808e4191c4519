#include "Emit/ImageEmitter.h"

#include "Ptx/KernelHazards.h"
#include "Ptx/ProfileName.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace carve;

void ImageEmitter::leave(llvm::StringRef Kernel, std::string Reason) {
  logLine("default kept for " + Kernel + " on " + Image.Arch + ": " + Reason);
  Kernels.push_back({Kernel.str(), Image.Arch, {}, std::move(Reason)});
}

/// Drops all decisions that set a register-usage level.
void ImageEmitter::leaveLevel(const std::string &Reason) {
  for (auto It = Decisions.begin(); It != Decisions.end();) {
    bool Needs = It->second.Chosen->Variant.RegisterUsageLevel.has_value();
    if (Needs)
      leave(It->first, "register-usage-level: " + Reason);
    It = Needs ? Decisions.erase(It) : std::next(It);
  }
}

/// Returns why \p V must not be applied, as far as its numbers and the entry tell before anything
/// is assembled, or nothing.
std::optional<std::string> ImageEmitter::refusal(const PtxEntry &Entry,
                                                 const VariantSetting &V) const {
  if (auto Reason = reasonNotTunable(Entry, Context.Relocatable))
    return identifierOf(*Reason).str();
  for (auto [Cap, Name] : {std::pair(V.Cap, "cap "), std::pair(V.FrontEndCap, "frontend-cap ")})
    if (Cap && Context.Ceiling && *Cap > *Context.Ceiling)
      return Name + std::to_string(*Cap) +
             " is above the command's own -maxrregcount=" + std::to_string(*Context.Ceiling);
  if (V.SmemSpilling)
    if (auto Reason = reasonNotSmemSpilling(Entry, Context.Relocatable, Context.NvccVersion))
      return "smem-spilling: " + *Reason;
  // With -rdc, kernels of other units may call functions of this one, which would take other
  // registers.
  if (V.RegisterUsageLevel && Context.Relocatable)
    return std::string("register-usage-level: relocatable");
  return std::nullopt;
}

/// Returns what the profiles decide for \p Entry.
llvm::Expected<DecisionChoice> ImageEmitter::choose(llvm::ArrayRef<const Profile *> Profiles,
                                                    const PtxEntry &Entry) const {
  std::string Name = profileName(Entry.Name);
  if (llvm::all_of(Profiles, [&](const Profile *P) {
        return P->candidates(Name, Entry.Name, Image.Arch).empty();
      }))
    return DecisionChoice();
  llvm::Expected<std::string> Digest = Ptx.kernelDigest(Entry.Name);
  if (!Digest)
    return Digest.takeError();
  KernelState Now{*Digest, Image.Arch, Context.NvccVersion, Image.PtxasOptions, Origin};
  return chooseDecision(Profiles, Name, Entry.Name, Now);
}

/// Takes the decisions that apply. An image is added only if one of its decisions was timed in an
/// image that was likewise made from the PTX. Without such a decision, nobody knows what the image
/// would do, since this unit is not compiled for that architecture.
llvm::Error ImageEmitter::takeDecisions(llvm::ArrayRef<const Profile *> Profiles) {
  std::vector<std::pair<const PtxEntry *, DecisionChoice>> Choices;
  for (const PtxEntry &Entry : Ptx.entries()) {
    llvm::Expected<DecisionChoice> Choice = choose(Profiles, Entry);
    if (!Choice)
      return Choice.takeError();
    Choices.emplace_back(&Entry, std::move(*Choice));
  }
  if (Origin == ImageOrigin::FromPtx && llvm::none_of(Choices, [](const auto &C) {
        return C.second.Chosen && C.second.Chosen->Digest && !C.second.Chosen->Variant.isDefault();
      }))
    return llvm::Error::success();
  for (const auto &[Entry, Choice] : Choices) {
    for (const IgnoredDecision &Ignored : Choice.Ignored)
      logLine(ignoredText(Ignored));
    if (!Choice.Chosen && !Choice.Ignored.empty())
      leave(Entry->Name, Choice.Ignored.front().Reason);
    const Decision *D = Choice.Chosen;
    if (!D || D->Variant.isDefault())
      continue;
    if (auto Reason = refusal(*Entry, D->Variant))
      leave(Entry->Name, *Reason);
    else
      Decisions.try_emplace(Entry->Name, Taken{D});
  }
  return llvm::Error::success();
}

/// Reads the image without decisions: nvcc's own, or, for an added image, what ptxas makes of the
/// PTX.
llvm::Error ImageEmitter::readOriginal() {
  std::string Bytes;
  if (Origin == ImageOrigin::Compiled) {
    llvm::Expected<std::string> File = readFile(Image.CubinPath);
    if (!File)
      return File.takeError();
    Bytes = std::move(*File);
  } else {
    llvm::Expected<Assembled> A = assembleWith({}, std::nullopt);
    if (!A)
      return A.takeError();
    Bytes = std::move(A->CubinBytes);
  }
  llvm::Expected<Cubin> Parsed = parseCubin(Bytes);
  if (!Parsed)
    return Parsed.takeError();
  Original = std::move(*Parsed);
  for (const CubinKernel &K : Original.Kernels)
    OriginalOf[K.Resources.Name] = &K;
  return llvm::Error::success();
}

/// Returns the unit's PTX with \p Setting. It is made once for each setting.
llvm::Expected<const PtxModule *> ImageEmitter::flavour(const FrontEndSetting &Setting) {
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

/// Returns the edit of \p Entry for \p D. Fails with Unsupported if the setting is not possible.
llvm::Expected<EntryEdit> ImageEmitter::editFor(const PtxEntry &Entry, const Decision &D) {
  unsigned MaxThreads = 0;
  auto Default = OriginalOf.find(Entry.Name);
  if (D.Variant.SmemSpilling && Default != OriginalOf.end()) {
    if (!Model)
      return unsupported("unknown-device", "the limits of " + Image.Arch + " are not known");
    MaxThreads =
        smemSpillingMaxThreads(*Model, Entry.Directives, Default->second->Resources.RegsPerThread);
    if (Context.Domain == LaunchDomain::Traced && D.Basis && D.Basis->SmemSpillingThreads)
      MaxThreads = D.Basis->SmemSpillingThreads;
  }
  llvm::Expected<EntryEdit> Edit = entryEdit(
      D.Variant, Entry, MaxThreads, [&](const FrontEndSetting &S) { return flavour(S); },
      Context.Ceiling);
  if (!Edit)
    return Edit;
  // The edit is first tried alone, so that if its front-end PTX lacks something, only this decision
  // is dropped.
  llvm::StringMap<EntryEdit> Alone;
  Alone[Entry.Name] = *Edit;
  llvm::Expected<std::string> Text = Ptx.withEdits(Alone);
  if (!Text)
    return Text.takeError();
  return Edit;
}

/// Makes the edits, and drops the decisions for which that fails.
void ImageEmitter::makeEdits() {
  for (auto It = Decisions.begin(); It != Decisions.end();) {
    llvm::Expected<EntryEdit> Edit = editFor(*Ptx.find(It->first), *It->second.Chosen);
    if (Edit) {
      (It++)->second.Edit = *Edit;
      continue;
    }
    leave(It->first, llvm::toString(Edit.takeError()));
    It = Decisions.erase(It);
  }
}

/// Returns the register-usage level for the image, or nothing if it is the command's. The option
/// holds for the whole image, so if decisions disagree about it, all that set one are dropped.
std::optional<unsigned> ImageEmitter::commonLevel() {
  std::optional<unsigned> Level;
  for (const auto &[Kernel, T] : Decisions) {
    std::optional<unsigned> Own = T.Chosen->Variant.RegisterUsageLevel;
    if (Own && Level && *Own != *Level) {
      leaveLevel("decisions for one image name " + std::to_string(*Level) + " and " +
                 std::to_string(*Own));
      return std::nullopt;
    }
    if (Own)
      Level = Own;
  }
  return Level;
}

/// Returns the image with \p Edits at register-usage level \p Level.
llvm::Expected<Assembled> ImageEmitter::assembleWith(const llvm::StringMap<EntryEdit> &Edits,
                                                     std::optional<unsigned> Level) const {
  llvm::Expected<std::string> Text = Ptx.withEdits(Edits);
  if (!Text)
    return Text.takeError();
  VariantSetting OfImage;
  OfImage.RegisterUsageLevel = Level;
  return assemble(Context.T, Context.Runner, *Text, ptxasOptionsFor(OfImage, Image.PtxasOptions),
                  llvm::sys::path::filename(Image.PtxPath));
}

llvm::Expected<Assembled> ImageEmitter::assembleTaken(std::optional<unsigned> Level) const {
  llvm::StringMap<EntryEdit> Edits;
  for (const auto &[Kernel, T] : Decisions)
    Edits[Kernel] = T.Edit;
  return assembleWith(Edits, Level);
}

/// Tries each decision alone and drops those with which ptxas fails. Returns true if there were
/// any.
bool ImageEmitter::leaveWhatPtxasRefuses(std::optional<unsigned> Level) {
  size_t Before = Decisions.size();
  for (auto It = Decisions.begin(); It != Decisions.end();) {
    llvm::StringMap<EntryEdit> Alone;
    Alone[It->first] = It->second.Edit;
    llvm::Expected<Assembled> A = assembleWith(Alone, Level);
    if (A) {
      ++It;
      continue;
    }
    leave(It->first, llvm::toString(A.takeError()));
    It = Decisions.erase(It);
  }
  return Decisions.size() < Before;
}

/// Returns the resources of \p New and of the default's code, with the block bounds of both.
CodeChange ImageEmitter::changeOf(const CubinKernel &New, const EntryEdit &Edit) const {
  const EntryDirectives &D = Ptx.find(New.Resources.Name)->Directives;
  CodeChange Change{OriginalOf.lookup(New.Resources.Name)->Resources, New.Resources};
  Change.DefaultMaxThreads = Change.NewMaxThreads = D.maxThreadsPerBlock();
  if (Edit.SmemSpillingMaxThreads && !D.MaxNTid && !D.ReqNTid)
    Change.NewMaxThreads = *Edit.SmemSpillingMaxThreads;
  Change.SpillsToSmem = Edit.SmemSpillingMaxThreads.has_value();
  return Change;
}

/// Returns why the code made by a decision must not be emitted, or nothing.
std::optional<std::string> ImageEmitter::refusalOfCode(const CubinKernel &New,
                                                       const Taken &T) const {
  const std::optional<Evidence> &Basis = T.Chosen->Basis;
  if (Basis && !Basis->CodeDigest.empty() && Basis->CodeDigest != New.CodeDigest)
    return std::string("the code would not be the code that was timed");
  if (!OriginalOf.count(New.Resources.Name))
    return std::nullopt;
  if (!Model)
    return "the limits of " + Image.Arch + " are not known";
  return brokenPromise(*Model, changeOf(New, T.Edit), Context.Domain);
}

/// Returns why a kernel without a decision must not get the code that the image's register-usage
/// level makes of it, or nothing.
std::optional<std::string> ImageEmitter::refusalOfNeighbour(const CubinKernel &New) const {
  const PtxEntry *Entry = Ptx.find(New.Resources.Name);
  if (!Model || !Entry)
    return "the limits of " + Image.Arch + " are not known";
  llvm::Expected<KernelHazards> Hazards = Ptx.kernelHazards(Entry->Name);
  if (!Hazards)
    return llvm::toString(Hazards.takeError());
  bool BlocksMeet =
      Hazards->SpinWait || Entry->Directives.ReqNCtaPerCluster || Entry->Directives.ExplicitCluster;
  return brokenPromiseUntimed(*Model, changeOf(New, {}), BlocksMeet);
}

/// Checks assembled code against the promises. If decisions must be dropped, it drops them and
/// returns false, so that the image is assembled again without them.
llvm::Expected<bool> ImageEmitter::acceptable(llvm::StringRef CubinBytes,
                                              std::optional<unsigned> Level) {
  llvm::Expected<Cubin> New = parseCubin(CubinBytes);
  if (!New)
    return New.takeError();
  size_t Before = Decisions.size();
  for (const CubinKernel &K : New->Kernels) {
    const std::string &Name = K.Resources.Name;
    auto Default = OriginalOf.find(Name);
    if (auto It = Decisions.find(Name); It != Decisions.end()) {
      if (auto Reason = refusalOfCode(K, It->second)) {
        leave(Name, *Reason);
        Decisions.erase(It);
      }
    } else if (Default != OriginalOf.end() && Default->second->CodeDigest != K.CodeDigest) {
      if (!Level)
        return unsupported("neighbour-changed",
                           Name + " has no decision, yet its code would change");
      if (auto Reason = refusalOfNeighbour(K)) {
        leaveLevel(Name + " has no decision, and " + *Reason);
        return false;
      }
    }
  }
  return Decisions.size() == Before;
}

llvm::Expected<std::string> ImageEmitter::emit(llvm::ArrayRef<const Profile *> Profiles) {
  if (llvm::Error E = takeDecisions(Profiles))
    return E;
  if (Decisions.empty())
    return std::string();
  if (llvm::Error E = readOriginal())
    return E;
  if (llvm::Expected<DeviceModel> M = loadDeviceModel(Context.DevicesDir, Image.Arch))
    Model = std::move(*M);
  else
    logLine(llvm::toString(M.takeError()));
  makeEdits();
  // Every iteration but the last drops a decision, so the loop ends.
  while (!Decisions.empty()) {
    std::optional<unsigned> Level = commonLevel();
    llvm::Expected<Assembled> A = assembleTaken(Level);
    if (!A && leaveWhatPtxasRefuses(Level)) {
      llvm::consumeError(A.takeError());
      continue;
    }
    if (!A)
      return A.takeError();
    llvm::Expected<bool> Sound = acceptable(A->CubinBytes, Level);
    if (!Sound)
      return Sound.takeError();
    if (!*Sound)
      continue;
    for (const auto &[Kernel, T] : Decisions)
      Kernels.push_back({Kernel, Image.Arch, T.Chosen->Variant, ""});
    Resources = std::move(A->Kernels);
    return std::move(A->CubinBytes);
  }
  return std::string();
}
