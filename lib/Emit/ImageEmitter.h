/// \file
/// Applies decisions to one image: has DecisionEdits edit the PTX and assembles it in the same way
/// as the tuning did, so that the code is the code that was timed, and checks every kernel of the
/// result against CodePromises.h. UnitEmitter calls it for each image.
#pragma once

#include "Cubin/Assembler.h"
#include "Emit/CodePromises.h"
#include "Emit/DecisionChoice.h"
#include "Emit/DecisionEdits.h"
#include "Emit/UnitEmitter.h"
#include "Ptx/PtxModule.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A further entry of a unit. Every image and every PTX of the unit has it, because the host code
/// asks for it on every device.
struct UnitEntry {
  std::string Kernel, Name; ///< The kernel's mangled name, and the entry's.
  EntryGuard When;
  bool Applied = false;         ///< A decision for some image asked for it and could be applied.
  unsigned StaticSmemBytes = 0; ///< The most that it takes in an image so far.
};

/// Makes one image. It is used once.
class ImageEmitter {
public:
  /// \p Origin is FromPtx if the unit has PTX but no image for this architecture. All arguments
  /// must outlive the emitter.
  ImageEmitter(const DeviceImage &Image, ImageOrigin Origin, const PtxModule &Ptx,
               const EmitContext &Context)
      : Image(Image), Origin(Origin), Ptx(Ptx), Context(Context) {}

  /// Returns the further entries for which \p Profiles ask in this image, or fails.
  llvm::Expected<std::vector<UnitEntry>> wantedEntries(llvm::ArrayRef<const Profile *> Profiles);

  /// Returns the bytes of the image with the decisions of \p Profiles applied and with \p Entries,
  /// or an empty string if no decision remains and there are no entries. An entry for which no
  /// decision for this image asks, or that is refused here, gets its kernel's own code. Fails as
  /// emitUnit() does.
  llvm::Expected<std::string> emit(llvm::ArrayRef<const Profile *> Profiles,
                                   llvm::MutableArrayRef<UnitEntry> Entries);

  /// Returns what was done with each kernel for which a profile has a decision.
  std::vector<EmittedKernel> takeKernels() { return std::move(Kernels); }

  /// Returns the resources of the emitted image's kernels, spills included. Empty if nothing was
  /// emitted.
  std::vector<KernelResources> takeResources() { return std::move(Resources); }

private:
  /// A decision that is to be applied, with its edit of the PTX.
  struct Taken {
    const Decision *Chosen;
    EntryEdit Edit = {};
  };
  /// A further entry of this image.
  struct TakenEntry {
    UnitEntry *Entry;
    const FurtherEntry *Chosen = nullptr; ///< Null if it is a copy of its kernel.
    EntryEdit Edit = {};
  };
  /// A further entry, or the decision of a kernel.
  struct Part {
    TakenEntry *Further = nullptr;
    std::string Kernel; ///< The key in Decisions if it is one.
  };

  llvm::Expected<DecisionChoice> choose(llvm::ArrayRef<const Profile *> Profiles,
                                        const PtxEntry &Entry) const;
  llvm::Error takeDecisions(llvm::ArrayRef<const Profile *> Profiles);
  llvm::Error readOriginal();
  void makeEdits();
  void takeEntries(llvm::MutableArrayRef<UnitEntry> Entries);
  void leaveEntry(TakenEntry &T, std::string Reason);
  std::vector<CloneRequest> clones() const;
  std::optional<std::string> refusalOfEntry(const CubinKernel &New, const TakenEntry &T) const;
  llvm::Expected<Assembled>
  assembleWith(const llvm::StringMap<EntryEdit> &Edits, llvm::ArrayRef<CloneRequest> Clones,
               const std::map<std::string, AssemblerSetting> &Settings) const;
  llvm::Expected<Assembled> assembleTaken() const;
  llvm::Expected<Assembled> assembleParts(llvm::ArrayRef<Part> Parts) const;
  bool leaveWhatPtxasRefuses();
  llvm::Expected<bool> acceptable(llvm::StringRef CubinBytes);
  std::optional<std::string> refusalOfCode(const CubinKernel &New, const Taken &T) const;
  CodeChange changeOf(const CubinKernel &New, const EntryEdit &Edit) const;
  void leave(llvm::StringRef Kernel, std::string Reason);

  const DeviceImage &Image;
  ImageOrigin Origin;
  const PtxModule &Ptx;
  const EmitContext &Context;
  std::optional<DeviceModel> Model;
  Cubin Original;
  llvm::StringMap<const CubinKernel *> OriginalOf; ///< By mangled kernel name.
  /// Makes the edits of Decisions and Entries, which refer to it.
  DecisionEdits Edits{Image, Ptx, Context, OriginalOf, Model};
  std::map<std::string, Taken> Decisions; ///< By mangled kernel name. Refused decisions are erased.
  std::vector<TakenEntry> Entries;
  /// The decisions that were chosen, by mangled kernel name: those above, and defaults that have
  /// further entries.
  std::map<std::string, const Decision *> Choices;
  std::vector<EmittedKernel> Kernels;
  std::vector<KernelResources> Resources;
};

} // namespace carve
