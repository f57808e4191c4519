#include "Store/LinkJson.h"

#include "Nvcc/StepOptions.h"
#include "Store/RecordJson.h"

using namespace carve;

/// The format rises under the same rule as that of a unit's record (UnitJson.cpp).
static constexpr RecordKind LinkRecord = {"link", "carve-link", 1};

namespace carve {

template <class Fields> void describe(Fields &F, LinkInput &I) {
  F("path", PathValue{I.Path});
  F("member", I.Member);
  F("index", I.Index);
  F("containers", EntryNameValues{I.Containers});
}

template <class Fields> void describe(Fields &F, LinkedImage &I) {
  F("arch", ArchValue{I.Arch});
  F("cubin", FileNameValue{I.CubinDigest});
  F("nvlink-options", I.NvlinkOptions);
  F.refuse(
      "nvlink-options", [&] { return refusedNvlinkOption(I.NvlinkOptions); },
      "expected an option of nvlink that names no file but libraries");
}

template <class Fields> void describe(Fields &F, DeviceLink &L) {
  F("key", FileNameValue{L.Key});
  F("project", PathValue{L.Project});
  F("output", PathValue{L.Output});
  F("directory", PathValue{L.Directory});
  F("command", L.Command);
  F("nvcc", L.Nvcc);
  F("nvcc-version", L.NvccVersion);
  F("containers", EntryNameValues{L.Containers});
  F("inputs", L.Inputs);
  F("images", L.Images);
}

} // namespace carve

std::string carve::printLink(const DeviceLink &L) { return printRecord(L, LinkRecord); }

llvm::Expected<DeviceLink> carve::parseLink(llvm::StringRef Json, llvm::StringRef Name) {
  return parseRecord<DeviceLink>(Json, Name, LinkRecord);
}
