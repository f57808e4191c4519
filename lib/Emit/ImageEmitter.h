/// \file
/// Applies decisions to one image: edits the PTX and assembles it in the same way as the tuning
/// did, so that the code is the code that was timed, and checks every kernel of the result against
/// CodePromises.h. UnitEmitter calls it for each image.
#pragma once

#include "Cubin/Assembler.h"
#include "Emit/CodePromises.h"
#include "Emit/DecisionChoice.h"
#include "Emit/UnitEmitter.h"
#include "Ptx/PtxModule.h"
#include "Search/VariantEdit.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Makes one image. It is used once.
class ImageEmitter {
public:
  /// \p Origin is FromPtx if the unit has PTX but no image for this architecture. All arguments
  /// must outlive the emitter.
  ImageEmitter(const DeviceImage &Image, ImageOrigin Origin, const PtxModule &Ptx,
               const EmitContext &Context)
      : Image(Image), Origin(Origin), Ptx(Ptx), Context(Context) {}

  /// Returns the bytes of the image with the decisions of \p Profiles applied, or an empty string
  /// if no decision remains. Fails as emitUnit() does.
  llvm::Expected<std::string> emit(llvm::ArrayRef<const Profile *> Profiles);

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

  llvm::Expected<DecisionChoice> choose(llvm::ArrayRef<const Profile *> Profiles,
                                        const PtxEntry &Entry) const;
  llvm::Error takeDecisions(llvm::ArrayRef<const Profile *> Profiles);
  std::optional<std::string> refusal(const PtxEntry &Entry, const VariantSetting &V) const;
  llvm::Error readOriginal();
  void makeEdits();
  llvm::Expected<EntryEdit> editFor(const PtxEntry &Entry, const Decision &D);
  llvm::Expected<const PtxModule *> flavour(const FrontEndSetting &Setting);
  std::optional<unsigned> commonLevel();
  llvm::Expected<Assembled> assembleWith(const llvm::StringMap<EntryEdit> &Edits,
                                         std::optional<unsigned> Level) const;
  llvm::Expected<Assembled> assembleTaken(std::optional<unsigned> Level) const;
  bool leaveWhatPtxasRefuses(std::optional<unsigned> Level);
  llvm::Expected<bool> acceptable(llvm::StringRef CubinBytes, std::optional<unsigned> Level);
  std::optional<std::string> refusalOfCode(const CubinKernel &New, const Taken &T) const;
  std::optional<std::string> refusalOfNeighbour(const CubinKernel &New) const;
  CodeChange changeOf(const CubinKernel &New, const EntryEdit &Edit) const;
  void leave(llvm::StringRef Kernel, std::string Reason);
  void leaveLevel(const std::string &Reason);

  const DeviceImage &Image;
  ImageOrigin Origin;
  const PtxModule &Ptx;
  const EmitContext &Context;
  std::optional<DeviceModel> Model;
  Cubin Original;
  llvm::StringMap<const CubinKernel *> OriginalOf; ///< By mangled kernel name.
  std::map<std::string, Taken> Decisions; ///< By mangled kernel name. Refused decisions are erased.
  std::map<FrontEndSetting, PtxModule> Flavours;
  /// Why the PTX of a setting could not be made.
  std::map<FrontEndSetting, std::string> FlavourFaults;
  std::vector<EmittedKernel> Kernels;
  std::vector<KernelResources> Resources;
};

} // namespace carve
