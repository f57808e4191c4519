/// \file
/// From decisions to the code of one image: the PTX edited and assembled as it was when timed, and
/// every kernel of the result held against what may not change.
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

class ImageEmitter {
public:
  /// \p Origin: FromPtx where the unit has PTX but no image for this architecture. What is passed
  /// has to outlive the emitter.
  ImageEmitter(const DeviceImage &Image, ImageOrigin Origin, const PtxModule &Ptx,
               const EmitContext &Context)
      : Image(Image), Origin(Origin), Ptx(Ptx), Context(Context) {}

  /// The bytes of the image with the decisions of \p Profiles in it; empty where none stands. Fails
  /// as emitUnit() does.
  llvm::Expected<std::string> emit(llvm::ArrayRef<const Profile *> Profiles);

  /// What was done with each kernel that a decision spoke of.
  std::vector<EmittedKernel> takeKernels() { return std::move(Kernels); }

  /// What the kernels of the emitted image take, spills included; empty where none was emitted.
  std::vector<KernelResources> takeResources() { return std::move(Resources); }

private:
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
  llvm::Expected<const PtxModule *> flavour(unsigned FrontEndCap);
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
  llvm::StringMap<const CubinKernel *> OriginalOf; ///< By the kernel's mangled name.
  std::map<std::string, Taken> Decisions;          ///< Likewise; those that may still stand.
  std::map<unsigned, PtxModule> Flavours;          ///< By front-end cap.
  std::map<unsigned, std::string> FlavourFaults;   ///< Why there is none; likewise.
  std::vector<EmittedKernel> Kernels;
  std::vector<KernelResources> Resources;
};

} // namespace carve
