#include "Store/LinkJson.h"

#include "Nvcc/StepOptions.h"
#include "Store/RecordJson.h"

using namespace carve;
namespace json = llvm::json;

/// The format rises under the same rule as that of a unit's record (UnitJson.cpp).
static constexpr RecordKind LinkRecord = {"link", "carve-link", 1};

namespace carve {

static json::Value toValue(const LinkInput &I) {
  return json::Object{{"path", toValue(llvm::StringRef(I.Path))},
                      {"member", toValue(llvm::StringRef(I.Member))},
                      {"index", I.Index},
                      {"containers", toValue(I.Containers)}};
}

static json::Value toValue(const LinkedImage &I) {
  return json::Object{
      {"arch", I.Arch}, {"cubin", I.CubinDigest}, {"nvlink-options", toValue(I.NvlinkOptions)}};
}

bool readValue(const json::Value &V, LinkInput &Out, json::Path P) {
  Members M(V, P);
  return M.getPath("path", Out.Path) && M.get("member", Out.Member) && M.get("index", Out.Index) &&
         M.getNames("containers", Out.Containers);
}

bool readValue(const json::Value &V, LinkedImage &Out, json::Path P) {
  Members M(V, P);
  return M.getArch("arch", Out.Arch) && M.getName("cubin", Out.CubinDigest) &&
         M.get("nvlink-options", Out.NvlinkOptions) &&
         M.allowed("nvlink-options", refusedNvlinkOption(Out.NvlinkOptions),
                   "expected an option of nvlink that names no file but libraries");
}

bool readValue(const json::Value &V, DeviceLink &Out, json::Path P) {
  Members M(V, P);
  return M.getName("key", Out.Key) && M.getPath("project", Out.Project) &&
         M.getPath("output", Out.Output) && M.getPath("directory", Out.Directory) &&
         M.get("command", Out.Command) && M.get("nvcc", Out.Nvcc) &&
         M.get("nvcc-version", Out.NvccVersion) && M.getNames("containers", Out.Containers) &&
         M.get("inputs", Out.Inputs) && M.get("images", Out.Images);
}

} // namespace carve

std::string carve::printLink(const DeviceLink &L) {
  json::Array Inputs, Images;
  for (const LinkInput &I : L.Inputs)
    Inputs.push_back(toValue(I));
  for (const LinkedImage &I : L.Images)
    Images.push_back(toValue(I));
  return printRecord(json::Object{{LinkRecord.FormatKey, LinkRecord.Format},
                                  {"key", L.Key},
                                  {"project", toValue(llvm::StringRef(L.Project))},
                                  {"output", toValue(llvm::StringRef(L.Output))},
                                  {"directory", toValue(llvm::StringRef(L.Directory))},
                                  {"command", toValue(L.Command)},
                                  {"nvcc", toValue(llvm::StringRef(L.Nvcc))},
                                  {"nvcc-version", L.NvccVersion},
                                  {"containers", toValue(L.Containers)},
                                  {"inputs", std::move(Inputs)},
                                  {"images", std::move(Images)}});
}

llvm::Expected<DeviceLink> carve::parseLink(llvm::StringRef Json, llvm::StringRef Name) {
  return parseRecord<DeviceLink>(Json, Name, LinkRecord);
}
