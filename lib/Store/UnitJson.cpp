#include "Store/UnitJson.h"

#include "Nvcc/StepOptions.h"
#include "Store/RecordJson.h"

using namespace carve;
namespace json = llvm::json;

/// This rises when members of a record change their meaning. Added members do not raise it, since
/// readers ignore members that they do not know.
static constexpr int64_t RecordFormat = 1;
static constexpr llvm::StringLiteral FormatKey = "carve-unit";

// The readers must be in namespace carve: the reader of lists looks there for the reader of its
// elements.
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
                      {"cubin-name", toValue(llvm::StringRef(I.CubinName))},
                      {"kernels", std::move(Kernels)}};
}

static json::Value toValue(const ObjectRecord &O) {
  return json::Object{{"command", O.Command},
                      {"inputs", O.Inputs},
                      {"source-digest", O.SourceDigest},
                      {"keep-dir", toValue(llvm::StringRef(O.KeepDir))},
                      {"fatbinary-arguments", toValue(O.FatbinaryArguments)},
                      {"fatbin-name", toValue(llvm::StringRef(O.FatbinName))},
                      {"fatbin-bytes", O.FatbinBytes},
                      {"object-digest", O.ObjectDigest},
                      {"object-bytes", O.ObjectBytes},
                      {"header-offset", O.HeaderOffset},
                      {"section-offset", O.SectionOffset},
                      {"section-bytes", O.SectionBytes},
                      {"depfile", O.Depfile},
                      {"stdout", O.Stdout},
                      {"stderr", O.Stderr},
                      {"streams-merged", O.Streams.Merged},
                      {"stdout-terminal", O.Streams.OutTerminal},
                      {"stderr-terminal", O.Streams.ErrTerminal},
                      {"decisions", O.Decisions}};
}

static constexpr llvm::StringLiteral CueNames[] = {"none", "depfile", "cache"};

static json::Value toValue(const EmbeddedPtx &E) {
  return json::Object{{"compute", E.Compute},
                      {"ptx", E.PtxDigest},
                      {"ptx-name", toValue(llvm::StringRef(E.PtxName))},
                      {"ptxas-options", toValue(E.PtxasOptions)}};
}

static json::Value toValue(const UnitFrontEnd &F) {
  json::Value Cap = nullptr;
  if (F.Step.Cap)
    Cap = *F.Step.Cap;
  return json::Object{{"ptx", F.PtxDigest},
                      {"input", F.InputDigest},
                      {"module-id", toValue(llvm::StringRef(F.ModuleId))},
                      {"keep-dir", toValue(llvm::StringRef(F.Step.KeepDir))},
                      {"input-name", toValue(llvm::StringRef(F.Step.InputName))},
                      {"module-id-name", toValue(llvm::StringRef(F.Step.ModuleIdName))},
                      {"ptx-name", toValue(llvm::StringRef(F.Step.PtxName))},
                      {"arguments", toValue(F.Step.Arguments)},
                      {"cap", std::move(Cap)}};
}

bool readValue(const json::Value &V, KernelResources &Out, json::Path P) {
  Members M(V, P);
  return M.get("name", Out.Name) && M.get("regs", Out.RegsPerThread) &&
         M.get("static-smem-bytes", Out.StaticSmemBytes) && M.get("stack-bytes", Out.StackBytes) &&
         M.get("spill-store-bytes", Out.SpillStoreBytes) &&
         M.get("spill-load-bytes", Out.SpillLoadBytes) && M.get("barriers", Out.Barriers) &&
         M.get("stack-unknown", Out.StackUnknown);
}

static bool getPtxasOptions(Members &M, std::vector<std::string> &Out) {
  return M.get("ptxas-options", Out) && M.allowed("ptxas-options", refusedPtxasOption(Out),
                                                  "expected an option of ptxas that names no file");
}

bool readValue(const json::Value &V, UnitImage &Out, json::Path P) {
  Members M(V, P);
  return M.getArch("arch", Out.Arch) && M.getName("ptx", Out.PtxDigest) &&
         M.getName("cubin", Out.CubinDigest) && getPtxasOptions(M, Out.PtxasOptions) &&
         M.getName("ptx-name", Out.PtxName) && M.getName("cubin-name", Out.CubinName) &&
         M.get("kernels", Out.Kernels);
}

static bool readValue(const json::Value &V, ObjectRecord &Out, json::Path P) {
  Members M(V, P);
  return M.get("command", Out.Command) && M.getName("inputs", Out.Inputs) &&
         M.get("source-digest", Out.SourceDigest) && M.getPath("keep-dir", Out.KeepDir) &&
         M.get("fatbinary-arguments", Out.FatbinaryArguments) &&
         M.allowed("fatbinary-arguments",
                   refusedFatbinaryOption(Out.FatbinaryArguments, Out.KeepDir),
                   "expected an option of fatbinary with files of the keep directory alone") &&
         M.getName("fatbin-name", Out.FatbinName) && M.get("fatbin-bytes", Out.FatbinBytes) &&
         M.get("object-digest", Out.ObjectDigest) && M.get("object-bytes", Out.ObjectBytes) &&
         M.get("header-offset", Out.HeaderOffset) && M.get("section-offset", Out.SectionOffset) &&
         M.get("section-bytes", Out.SectionBytes) && M.getName("depfile", Out.Depfile) &&
         M.getName("stdout", Out.Stdout) && M.getName("stderr", Out.Stderr) &&
         M.get("streams-merged", Out.Streams.Merged) &&
         M.get("stdout-terminal", Out.Streams.OutTerminal) &&
         M.get("stderr-terminal", Out.Streams.ErrTerminal) && M.get("decisions", Out.Decisions);
}

static bool readValue(const json::Value &V, std::optional<ObjectRecord> &Out, json::Path P) {
  if (V.getAsNull())
    return true;
  return readValue(V, Out.emplace(), P);
}

static bool readValue(const json::Value &V, RebuildCue &Out, json::Path P) {
  std::string Name;
  if (!readValue(V, Name, P))
    return false;
  auto Found = llvm::find(CueNames, Name);
  if (Found == std::end(CueNames)) {
    P.report("expected none, depfile or cache");
    return false;
  }
  Out = RebuildCue(Found - CueNames);
  return true;
}

bool readValue(const json::Value &V, EmbeddedPtx &Out, json::Path P) {
  Members M(V, P);
  return M.get("compute", Out.Compute) && M.getName("ptx", Out.PtxDigest) &&
         M.getName("ptx-name", Out.PtxName) && getPtxasOptions(M, Out.PtxasOptions);
}

bool readValue(const json::Value &V, UnitFrontEnd &Out, json::Path P) {
  Members M(V, P);
  return M.getName("ptx", Out.PtxDigest) && M.getName("input", Out.InputDigest) &&
         M.get("module-id", Out.ModuleId) && M.getPath("keep-dir", Out.Step.KeepDir) &&
         M.getName("input-name", Out.Step.InputName) &&
         M.getName("module-id-name", Out.Step.ModuleIdName) &&
         M.getName("ptx-name", Out.Step.PtxName) && M.get("arguments", Out.Step.Arguments) &&
         M.allowed("arguments", refusedFrontEndArgument(Out.Step),
                   "expected an argument that nvcc gives cicc") &&
         M.get("cap", Out.Step.Cap);
}

bool readValue(const json::Value &V, Unit &Out, json::Path P) {
  Members M(V, P);
  return M.getName("key", Out.Key) && M.getPath("project", Out.Project) &&
         M.getPath("source", Out.Source) && M.getPath("output", Out.Output) &&
         M.getPath("directory", Out.Directory) && M.get("command", Out.Command) &&
         M.get("nvcc", Out.Nvcc) && M.get("nvcc-version", Out.NvccVersion) &&
         M.get("relocatable", Out.Relocatable) && M.get("register-cap", Out.RegisterCap) &&
         M.getNames("containers", Out.Containers) && M.get("images", Out.Images) &&
         M.get("embedded-ptx", Out.Ptx) && M.getIfThere("front-ends", Out.FrontEnds) &&
         M.get("choices", Out.Choices) && M.get("rebuild-cue", Out.Cue) &&
         M.getIfThere("profile", Out.ProfilePath) &&
         M.getIfThere("profile-choices", Out.ProfileChoices) &&
         M.getIfThere("profile-by-option", Out.ProfileByOption) && M.get("object", Out.Object);
}

} // namespace carve

std::string carve::printUnit(const Unit &U) {
  json::Array Images;
  for (const UnitImage &I : U.Images)
    Images.push_back(toValue(I));
  json::Array Ptx;
  for (const EmbeddedPtx &E : U.Ptx)
    Ptx.push_back(toValue(E));
  json::Array FrontEnds;
  for (const UnitFrontEnd &F : U.FrontEnds)
    FrontEnds.push_back(toValue(F));
  json::Value Cap = nullptr;
  if (U.RegisterCap)
    Cap = *U.RegisterCap;
  json::Value Object = nullptr;
  if (U.Object)
    Object = toValue(*U.Object);
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
                      {"embedded-ptx", std::move(Ptx)},
                      {"front-ends", std::move(FrontEnds)},
                      {"choices", U.Choices},
                      {"rebuild-cue", CueNames[size_t(U.Cue)].str()},
                      {"profile", toValue(llvm::StringRef(U.ProfilePath))},
                      {"profile-choices", U.ProfileChoices},
                      {"profile-by-option", U.ProfileByOption},
                      {"object", std::move(Object)}};
  return printRecord(std::move(Record));
}

llvm::Expected<Unit> carve::parseUnit(llvm::StringRef Json, llvm::StringRef Name) {
  return parseRecord<Unit>(Json, Name, {"unit", FormatKey, RecordFormat});
}
