/// \file
/// Turns the decisions for one image into edits of its PTX, and says why one must not be applied as
/// far as that is known before anything is assembled. ImageEmitter assembles the image with the
/// edits.
#pragma once

#include "Cubin/Cubin.h"
#include "Device/DeviceModel.h"
#include "Emit/UnitEmitter.h"
#include "Ptx/PtxModule.h"
#include "Store/Profile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <string>

namespace carve {

/// Returns why \p V must not be applied to \p Entry in \p Image, as far as its numbers and the
/// entry tell before anything is assembled, or nothing.
std::optional<std::string> refusalOfSetting(const VariantSetting &V, const PtxEntry &Entry,
                                            const DeviceImage &Image, const EmitContext &Context);

/// Returns why \p E cannot be a further entry of \p Entry, which is in \p Ptx, as far as its guard
/// tells, or nothing.
std::optional<std::string> refusalOfGuard(const FurtherEntry &E, const PtxEntry &Entry,
                                          const PtxModule &Ptx, const EmitContext &Context);

/// Makes the edits of one image. It owns the PTX of other front-end settings that they take code
/// from, so it must outlive them.
class DecisionEdits {
public:
  /// \p OriginalOf has the kernels of the image without decisions by their mangled names. \p Model
  /// is absent if the limits of the image's architecture are not known. All arguments must outlive
  /// the object.
  DecisionEdits(const DeviceImage &Image, const PtxModule &Ptx, const EmitContext &Context,
                const llvm::StringMap<const CubinKernel *> &OriginalOf,
                const std::optional<DeviceModel> &Model)
      : Image(Image), Ptx(Ptx), Context(Context), OriginalOf(OriginalOf), Model(Model) {}

  /// Returns the edit of \p Entry for \p D. Fails with Unsupported if the setting is not possible.
  llvm::Expected<EntryEdit> editFor(const PtxEntry &Entry, const Decision &D);

  /// Does the same for \p E, a further entry of \p Entry.
  llvm::Expected<EntryEdit> editFor(const PtxEntry &Entry, const FurtherEntry &E);

private:
  llvm::Expected<const PtxModule *> flavour(const FrontEndSetting &Setting);
  llvm::Expected<unsigned> largestBlock(const PtxEntry &Entry) const;
  llvm::Expected<unsigned> smemSpillingThreads(const PtxEntry &Entry, const FurtherEntry &E) const;
  llvm::Expected<EntryEdit> triedAlone(const PtxEntry &Entry, llvm::Expected<EntryEdit> Edit) const;

  const DeviceImage &Image;
  const PtxModule &Ptx;
  const EmitContext &Context;
  const llvm::StringMap<const CubinKernel *> &OriginalOf;
  const std::optional<DeviceModel> &Model;
  std::map<FrontEndSetting, PtxModule> Flavours;
  /// Why the PTX of a setting could not be made.
  std::map<FrontEndSetting, std::string> FlavourFaults;
};

} // namespace carve
