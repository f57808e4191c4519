#include "Store/LinkJson.h"

#include "Store/RecordJson.h"

using namespace carve;
namespace json = llvm::json;

/// As for a unit's record.
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
  return M.get("path", Out.Path) && M.get("member", Out.Member) && M.get("index", Out.Index) &&
         M.get("containers", Out.Containers);
}

bool readValue(const json::Value &V, LinkedImage &Out, json::Path P) {
  Members M(V, P);
  return M.get("arch", Out.Arch) && M.get("cubin", Out.CubinDigest) &&
         M.get("nvlink-options", Out.NvlinkOptions);
}

bool readValue(const json::Value &V, DeviceLink &Out, json::Path P) {
  Members M(V, P);
  return M.get("key", Out.Key) && M.get("project", Out.Project) && M.get("output", Out.Output) &&
         M.get("directory", Out.Directory) && M.get("command", Out.Command) &&
         M.get("nvcc", Out.Nvcc) && M.get("nvcc-version", Out.NvccVersion) &&
         M.get("containers", Out.Containers) &&
         M.get("fatbinary-arguments", Out.FatbinaryArguments) && M.get("inputs", Out.Inputs) &&
         M.get("images", Out.Images);
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
                                  {"fatbinary-arguments", toValue(L.FatbinaryArguments)},
                                  {"inputs", std::move(Inputs)},
                                  {"images", std::move(Images)}});
}

llvm::Expected<DeviceLink> carve::parseLink(llvm::StringRef Json, llvm::StringRef Name) {
  return parseRecord<DeviceLink>(Json, Name, LinkRecord);
}
