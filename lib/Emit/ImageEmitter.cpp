#include "Emit/ImageEmitter.h"

#include "Ptx/KernelHazards.h"
#include "Ptx/ProfileName.h"
#include "Search/VariantEdit.h"
#include "Support/Bisection.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/Path.h"

using namespace carve;

void ImageEmitter::leave(llvm::StringRef Kernel, std::string Reason) {
  logLine("default kept for " + Kernel + " on " + Image.Arch + ": " + Reason);
  Kernels.push_back({Kernel.str(), Image.Arch, {}, std::move(Reason), {}});
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
  std::vector<std::pair<const PtxEntry *, DecisionChoice>> All;
  for (const PtxEntry &Entry : Ptx.entries()) {
    llvm::Expected<DecisionChoice> Choice = choose(Profiles, Entry);
    if (!Choice)
      return Choice.takeError();
    All.emplace_back(&Entry, std::move(*Choice));
  }
  if (Origin == ImageOrigin::FromPtx && llvm::none_of(All, [](const auto &C) {
        return C.second.Chosen && C.second.Chosen->Digest && !C.second.Chosen->isDefault();
      }))
    return llvm::Error::success();
  for (const auto &[Entry, Choice] : All) {
    for (const IgnoredDecision &Ignored : Choice.Ignored)
      logLine(ignoredText(Ignored));
    if (!Choice.Chosen && !Choice.Ignored.empty())
      leave(Entry->Name, Choice.Ignored.front().Reason);
    const Decision *D = Choice.Chosen;
    if (!D || D->isDefault())
      continue;
    Choices[Entry->Name] = D;
    if (D->Variant.isDefault())
      continue;
    if (auto Reason = refusalOfSetting(D->Variant, *Entry, Image, Context))
      leave(Entry->Name, *Reason);
    else
      Decisions.try_emplace(Entry->Name, Taken{D});
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<UnitEntry>>
ImageEmitter::wantedEntries(llvm::ArrayRef<const Profile *> Profiles) {
  std::vector<UnitEntry> Wanted;
  if (Context.Entries == FurtherEntries::Off || llvm::none_of(Profiles, [](const Profile *P) {
        return llvm::any_of(P->Kernels, [](const Decision &D) { return !D.Entries.empty(); });
      }))
    return Wanted;
  for (const PtxEntry &Entry : Ptx.entries()) {
    llvm::Expected<DecisionChoice> Choice = choose(Profiles, Entry);
    if (!Choice)
      return Choice.takeError();
    if (Choice->Chosen)
      for (const FurtherEntry &E : Choice->Chosen->Entries)
        Wanted.push_back({Entry.Name, "", E.When});
  }
  return Wanted;
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
    llvm::Expected<Assembled> A = assembleWith({}, {}, {});
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

/// Makes \p T a copy of its kernel's own code.
void ImageEmitter::leaveEntry(TakenEntry &T, std::string Reason) {
  logLine("no further entry of " + T.Entry->Kernel + " when " + guardText(T.Entry->When) + " on " +
          Image.Arch + ": " + Reason);
  Kernels.push_back({T.Entry->Kernel, Image.Arch, {}, std::move(Reason), T.Entry->When});
  T.Chosen = nullptr;
}

/// Makes the edits of the image's further entries.
void ImageEmitter::takeEntries(llvm::MutableArrayRef<UnitEntry> Wanted) {
  for (UnitEntry &E : Wanted) {
    TakenEntry &T = Entries.emplace_back(TakenEntry{&E});
    auto D = Choices.find(E.Kernel);
    if (D == Choices.end())
      continue;
    auto Own =
        llvm::find_if(D->second->Entries, [&](const FurtherEntry &F) { return F.When == E.When; });
    if (Own == D->second->Entries.end())
      continue;
    T.Chosen = &*Own;
    const PtxEntry &Entry = *Ptx.find(E.Kernel);
    std::optional<std::string> Reason = refusalOfSetting(Own->Variant, Entry, Image, Context);
    if (!Reason)
      Reason = refusalOfGuard(*Own, Entry, Ptx, Context);
    if (!Reason) {
      if (llvm::Expected<EntryEdit> Edit = Edits.editFor(Entry, *Own))
        T.Edit = *Edit;
      else
        Reason = llvm::toString(Edit.takeError());
    }
    if (Reason)
      leaveEntry(T, *Reason);
  }
}

/// Returns the clones that are the further entries. What is no variant of its own is as the kernel.
std::vector<CloneRequest> ImageEmitter::clones() const {
  std::vector<CloneRequest> Clones;
  for (const TakenEntry &T : Entries) {
    auto Own = Decisions.find(T.Entry->Kernel);
    Clones.push_back({T.Entry->Kernel, T.Entry->Name,
                      T.Chosen                 ? T.Edit
                      : Own != Decisions.end() ? Own->second.Edit
                                               : EntryEdit()});
  }
  return Clones;
}

/// Makes the edits, and drops the decisions for which that fails.
void ImageEmitter::makeEdits() {
  for (auto It = Decisions.begin(); It != Decisions.end();) {
    llvm::Expected<EntryEdit> Edit = Edits.editFor(*Ptx.find(It->first), *It->second.Chosen);
    if (Edit) {
      (It++)->second.Edit = *Edit;
      continue;
    }
    leave(It->first, llvm::toString(Edit.takeError()));
    It = Decisions.erase(It);
  }
}

/// Returns the image with \p Edits and \p Clones. \p Settings are what ptxas is told for single
/// kernels and clones.
llvm::Expected<Assembled>
ImageEmitter::assembleWith(const llvm::StringMap<EntryEdit> &Edits,
                           llvm::ArrayRef<CloneRequest> Clones,
                           const std::map<std::string, AssemblerSetting> &Settings) const {
  llvm::Expected<std::string> Text = Ptx.changed(Edits, Clones);
  if (!Text)
    return Text.takeError();
  return assembleMixed(Context.T, Context.Runner, *Text, Image.PtxasOptions,
                       reassembledKernels(Settings, Image.PtxasOptions),
                       llvm::sys::path::filename(Image.PtxPath));
}

llvm::Expected<Assembled> ImageEmitter::assembleTaken() const {
  llvm::StringMap<EntryEdit> Edits;
  std::map<std::string, AssemblerSetting> Settings;
  for (const auto &[Kernel, T] : Decisions) {
    Edits[Kernel] = T.Edit;
    Settings[Kernel] = T.Chosen->Variant.assembler();
  }
  for (const TakenEntry &T : Entries) {
    auto Own = Decisions.find(T.Entry->Kernel);
    Settings[T.Entry->Name] = T.Chosen                 ? T.Chosen->Variant.assembler()
                              : Own != Decisions.end() ? Own->second.Chosen->Variant.assembler()
                                                       : AssemblerSetting();
  }
  return assembleWith(Edits, clones(), Settings);
}

/// Returns the image with nothing but \p Parts applied.
llvm::Expected<Assembled> ImageEmitter::assembleParts(llvm::ArrayRef<Part> Parts) const {
  llvm::StringMap<EntryEdit> Edits;
  std::vector<CloneRequest> Clones;
  std::map<std::string, AssemblerSetting> Settings;
  for (const Part &P : Parts)
    if (const TakenEntry *T = P.Further) {
      Clones.push_back({T->Entry->Kernel, T->Entry->Name, T->Edit});
      Settings[T->Entry->Name] = T->Chosen->Variant.assembler();
    } else {
      const Taken &Own = Decisions.at(P.Kernel);
      Edits[P.Kernel] = Own.Edit;
      Settings[P.Kernel] = Own.Chosen->Variant.assembler();
    }
  return assembleWith(Edits, Clones, Settings);
}

/// Drops the decisions and further entries with which ptxas fails, after it has failed with all of
/// them. Returns true if there were any.
bool ImageEmitter::leaveWhatPtxasRefuses() {
  std::vector<Part> Parts;
  for (TakenEntry &T : Entries)
    if (T.Chosen)
      Parts.push_back({&T, ""});
  for (const auto &[Kernel, T] : Decisions)
    Parts.push_back({nullptr, Kernel});
  std::vector<std::string> Why(Parts.size());
  std::vector<size_t> Refused = findFailing(Parts.size(), [&](llvm::ArrayRef<size_t> Indices) {
    llvm::Expected<Assembled> A =
        assembleParts(llvm::map_to_vector(Indices, [&](size_t I) { return Parts[I]; }));
    if (A)
      return false;
    Why[Indices.front()] = llvm::toString(A.takeError());
    return true;
  });
  for (size_t I : Refused) {
    if (Parts[I].Further) {
      leaveEntry(*Parts[I].Further, std::move(Why[I]));
      continue;
    }
    leave(Parts[I].Kernel, std::move(Why[I]));
    Decisions.erase(Parts[I].Kernel);
  }
  return !Refused.empty();
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

/// Returns why a further entry must not get its code, or nothing. It must accept every launch that
/// its guard lets through and that the kernel accepts, at least as many blocks must be resident if
/// they wait for each other, and local memory must not grow much: no attribute that the program
/// sets for the kernel holds for the entry.
std::optional<std::string> ImageEmitter::refusalOfEntry(const CubinKernel &New,
                                                        const TakenEntry &T) const {
  auto Default = OriginalOf.find(T.Entry->Kernel);
  if (!Model || Default == OriginalOf.end())
    return "the limits of " + Image.Arch + " are not known";
  llvm::Expected<KernelHazards> Hazards = Ptx.kernelHazards(T.Entry->Kernel);
  if (!Hazards)
    return llvm::toString(Hazards.takeError());
  const EntryDirectives &D = Ptx.find(T.Entry->Kernel)->Directives;
  CodeChange Change{Default->second->Resources, New.Resources};
  Change.DefaultMaxThreads = Change.NewMaxThreads =
      std::min(D.maxThreadsPerBlock(), T.Entry->When.mostThreads());
  Change.SpillsToSmem = T.Edit.SmemSpillingMaxThreads.has_value();
  if (!T.Chosen->CodeDigest.empty() && T.Chosen->CodeDigest != New.CodeDigest)
    return std::string("the code would not be the code that was timed");
  bool BlocksMeet = Hazards->SpinWait || D.ReqNCtaPerCluster || D.ExplicitCluster;
  // A tuning has bounded the local memory of what it timed, by the memory of its device.
  if (!T.Chosen->CodeDigest.empty() && !BlocksMeet)
    return brokenPromise(*Model, Change, LaunchDomain::Preserve);
  return brokenPromiseUntimed(*Model, Change, BlocksMeet);
}

/// Checks assembled code against the promises. If decisions must be dropped, it drops them and
/// returns false, so that the image is assembled again without them.
llvm::Expected<bool> ImageEmitter::acceptable(llvm::StringRef CubinBytes) {
  llvm::Expected<Cubin> New = parseCubin(CubinBytes);
  if (!New)
    return New.takeError();
  size_t Before = Decisions.size();
  bool EntriesStay = true;
  llvm::StringMap<std::string> CodeOf; // Of all kernels of the image.
  for (const CubinKernel &K : New->Kernels)
    CodeOf[K.Resources.Name] = K.CodeDigest;
  for (const CubinKernel &K : New->Kernels) {
    const std::string &Name = K.Resources.Name;
    auto Further =
        llvm::find_if(Entries, [&](const TakenEntry &T) { return T.Entry->Name == Name; });
    if (Further != Entries.end()) {
      if (!Further->Chosen)
        continue;
      std::optional<std::string> Reason = refusalOfEntry(K, *Further);
      if (!Reason && K.CodeDigest == CodeOf.lookup(Further->Entry->Kernel))
        Reason = "it would have the code of its kernel";
      if (Reason) {
        leaveEntry(*Further, *Reason);
        EntriesStay = false;
      }
      continue;
    }
    auto Default = OriginalOf.find(Name);
    if (auto It = Decisions.find(Name); It != Decisions.end()) {
      if (auto Reason = refusalOfCode(K, It->second)) {
        leave(Name, *Reason);
        Decisions.erase(It);
      }
    } else if (Default != OriginalOf.end() && Default->second->CodeDigest != K.CodeDigest) {
      return unsupported("neighbour-changed", Name + " has no decision, yet its code would change");
    }
  }
  return EntriesStay && Decisions.size() == Before;
}

llvm::Expected<std::string> ImageEmitter::emit(llvm::ArrayRef<const Profile *> Profiles,
                                               llvm::MutableArrayRef<UnitEntry> Wanted) {
  if (llvm::Error E = takeDecisions(Profiles))
    return E;
  // An image that no decision asks for is not added for further entries alone.
  bool NotAdded = Origin == ImageOrigin::FromPtx && Choices.empty();
  if (Decisions.empty() && (Wanted.empty() || NotAdded))
    return std::string();
  if (llvm::Error E = readOriginal())
    return E;
  if (llvm::Expected<DeviceModel> M = loadDeviceModel(Context.DevicesDir, Image.Arch))
    Model = std::move(*M);
  else
    logLine(llvm::toString(M.takeError()));
  makeEdits();
  takeEntries(Wanted);
  // Every iteration but the last drops a decision or a further entry, so the loop ends.
  while (!Decisions.empty() || !Wanted.empty()) {
    llvm::Expected<Assembled> A = assembleTaken();
    if (!A && leaveWhatPtxasRefuses()) {
      llvm::consumeError(A.takeError());
      continue;
    }
    if (!A)
      return A.takeError();
    llvm::Expected<bool> Sound = acceptable(A->CubinBytes);
    if (!Sound)
      return Sound.takeError();
    if (!*Sound)
      continue;
    for (const auto &[Kernel, T] : Decisions)
      Kernels.push_back({Kernel, Image.Arch, T.Chosen->Variant, "", {}});
    for (const TakenEntry &T : Entries) {
      if (T.Chosen) {
        Kernels.push_back({T.Entry->Kernel, Image.Arch, T.Chosen->Variant, "", T.Entry->When});
        T.Entry->Applied = true;
      }
      for (const KernelResources &R : A->Kernels)
        if (R.Name == T.Entry->Name)
          T.Entry->StaticSmemBytes = std::max(T.Entry->StaticSmemBytes, R.StaticSmemBytes);
    }
    Resources = std::move(A->Kernels);
    return std::move(A->CubinBytes);
  }
  return std::string();
}
