#include "Store/UnitJson.h"

#include "Store/RecordJson.h"

using namespace carve;
namespace json = llvm::json;

/// Raised when a record changes its meaning; members that are only added do not raise it, since
/// readers pass over what they do not know.
static constexpr int64_t RecordFormat = 1;
static constexpr llvm::StringLiteral FormatKey = "carve-unit";

// In our own namespace, where the readers of lists look for the reader of their elements.
namespace carve {

static json::Value toValue(const KernelResources &K) {
  return json::Object{{"name", toValue(llvm::StringRef(K.Name))},
                      {"regs", K.RegsPerThread},
                      {"static-smem-bytes", K.StaticSmemBytes},
                      {"stack-bytes", K.StackBytes},
                      {"spill-store-bytes", K.SpillStoreBytes},
                      {"spill-load-bytes", K.SpillLoadBytes},
                      {"barriers", K.Barriers},
                      {"stack-unknown", K.StackUnknown}};
}

static json::Value toValue(const UnitImage &I) {
  json::Array Kernels;
  for (const KernelResources &K : I.Kernels)
    Kernels.push_back(toValue(K));
  return json::Object{{"arch", I.Arch},
                      {"ptx", I.PtxDigest},
                      {"cubin", I.CubinDigest},
                      {"ptxas-options", toValue(I.PtxasOptions)},
                      {"ptx-name", toValue(llvm::StringRef(I.PtxName))},
                      {"kernels", std::move(Kernels)}};
}

static json::Value toValue(const EmbeddedPtx &E) {
  return json::Object{{"compute", E.Compute},
                      {"ptx", E.PtxDigest},
                      {"ptx-name", toValue(llvm::StringRef(E.PtxName))},
                      {"ptxas-options", toValue(E.PtxasOptions)}};
}

bool readValue(const json::Value &V, KernelResources &Out, json::Path P) {
  Members M(V, P);
  return M.get("name", Out.Name) && M.get("regs", Out.RegsPerThread) &&
         M.get("static-smem-bytes", Out.StaticSmemBytes) && M.get("stack-bytes", Out.StackBytes) &&
         M.get("spill-store-bytes", Out.SpillStoreBytes) &&
         M.get("spill-load-bytes", Out.SpillLoadBytes) && M.get("barriers", Out.Barriers) &&
         M.get("stack-unknown", Out.StackUnknown);
}

bool readValue(const json::Value &V, UnitImage &Out, json::Path P) {
  Members M(V, P);
  return M.get("arch", Out.Arch) && M.get("ptx", Out.PtxDigest) &&
         M.get("cubin", Out.CubinDigest) && M.get("ptxas-options", Out.PtxasOptions) &&
         M.get("ptx-name", Out.PtxName) && M.get("kernels", Out.Kernels);
}

bool readValue(const json::Value &V, EmbeddedPtx &Out, json::Path P) {
  Members M(V, P);
  return M.get("compute", Out.Compute) && M.get("ptx", Out.PtxDigest) &&
         M.get("ptx-name", Out.PtxName) && M.get("ptxas-options", Out.PtxasOptions);
}

bool readValue(const json::Value &V, Unit &Out, json::Path P) {
  Members M(V, P);
  return M.get("key", Out.Key) && M.get("project", Out.Project) && M.get("source", Out.Source) &&
         M.get("output", Out.Output) && M.get("directory", Out.Directory) &&
         M.get("command", Out.Command) && M.get("nvcc", Out.Nvcc) &&
         M.get("nvcc-version", Out.NvccVersion) && M.get("relocatable", Out.Relocatable) &&
         M.get("register-cap", Out.RegisterCap) && M.get("containers", Out.Containers) &&
         M.get("images", Out.Images) && M.get("embedded-ptx", Out.Ptx);
}

} // namespace carve

std::string carve::printUnit(const Unit &U) {
  json::Array Images;
  for (const UnitImage &I : U.Images)
    Images.push_back(toValue(I));
  json::Array Ptx;
  for (const EmbeddedPtx &E : U.Ptx)
    Ptx.push_back(toValue(E));
  json::Value Cap = nullptr;
  if (U.RegisterCap)
    Cap = *U.RegisterCap;
  json::Object Record{{FormatKey, RecordFormat},
                      {"key", U.Key},
                      {"project", toValue(llvm::StringRef(U.Project))},
                      {"source", toValue(llvm::StringRef(U.Source))},
                      {"output", toValue(llvm::StringRef(U.Output))},
                      {"directory", toValue(llvm::StringRef(U.Directory))},
                      {"command", toValue(U.Command)},
                      {"nvcc", toValue(llvm::StringRef(U.Nvcc))},
                      {"nvcc-version", U.NvccVersion},
                      {"relocatable", U.Relocatable},
                      {"register-cap", std::move(Cap)},
                      {"containers", toValue(U.Containers)},
                      {"images", std::move(Images)},
                      {"embedded-ptx", std::move(Ptx)}};
  return printRecord(std::move(Record));
}

llvm::Expected<Unit> carve::parseUnit(llvm::StringRef Json, llvm::StringRef Name) {
  return parseRecord<Unit>(Json, Name, {"unit", FormatKey, RecordFormat});
}
