#include "Store/UnitJson.h"

#include "Store/NewerFormat.h"
#include "Support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace carve;
namespace json = llvm::json;

/// Raised when a record changes its meaning; members that are only added do not raise it, since
/// readers pass over what they do not know.
static constexpr int64_t RecordFormat = 1;
static constexpr llvm::StringLiteral FormatKey = "carve-unit";

namespace {

json::Value toValue(llvm::StringRef Text) {
  if (json::isUTF8(Text))
    return Text.str();
  return json::Object{{"hex", llvm::toHex(Text, /*LowerCase=*/true)}};
}

json::Value toValue(const std::vector<std::string> &Texts) {
  json::Array Result;
  for (const std::string &Text : Texts)
    Result.push_back(toValue(llvm::StringRef(Text)));
  return Result;
}

json::Value toValue(const KernelResources &K) {
  return json::Object{{"name", toValue(llvm::StringRef(K.Name))},
                      {"regs", K.RegsPerThread},
                      {"static-smem-bytes", K.StaticSmemBytes},
                      {"stack-bytes", K.StackBytes},
                      {"spill-store-bytes", K.SpillStoreBytes},
                      {"spill-load-bytes", K.SpillLoadBytes},
                      {"barriers", K.Barriers},
                      {"stack-unknown", K.StackUnknown}};
}

json::Value toValue(const UnitImage &I) {
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

json::Value toValue(const ObjectRecord &O) {
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

constexpr llvm::StringLiteral CueNames[] = {"none", "depfile", "cache"};

json::Value toValue(const EmbeddedPtx &E) {
  return json::Object{{"compute", E.Compute},
                      {"ptx", E.PtxDigest},
                      {"ptx-name", toValue(llvm::StringRef(E.PtxName))},
                      {"ptxas-options", toValue(E.PtxasOptions)}};
}

bool readValue(const json::Value &V, std::string &Out, json::Path P) {
  if (auto Text = V.getAsString()) {
    Out = Text->str();
    return true;
  }
  if (const json::Object *O = V.getAsObject())
    if (auto Hex = O->getString("hex"); Hex && llvm::tryGetFromHex(*Hex, Out))
      return true;
  P.report("expected string");
  return false;
}

bool readValue(const json::Value &V, unsigned &Out, json::Path P) {
  auto Number = V.getAsInteger();
  if (!Number || *Number < 0 || *Number > std::numeric_limits<unsigned>::max()) {
    P.report("expected integer in 0..4294967295");
    return false;
  }
  Out = static_cast<unsigned>(*Number);
  return true;
}

bool readValue(const json::Value &V, uint64_t &Out, json::Path P) {
  std::optional<uint64_t> Number = V.getAsUINT64();
  if (!Number)
    P.report("expected unsigned number");
  Out = Number.value_or(0);
  return Number.has_value();
}

bool readValue(const json::Value &V, std::optional<unsigned> &Out, json::Path P) {
  Out.reset();
  return V.kind() == json::Value::Null || readValue(V, Out.emplace(), P);
}

bool readValue(const json::Value &V, bool &Out, json::Path P) {
  auto Flag = V.getAsBoolean();
  if (!Flag)
    P.report("expected boolean");
  Out = Flag.value_or(false);
  return Flag.has_value();
}

bool readValue(const json::Value &V, KernelResources &Out, json::Path P);
bool readValue(const json::Value &V, UnitImage &Out, json::Path P);
bool readValue(const json::Value &V, EmbeddedPtx &Out, json::Path P);
bool readValue(const json::Value &V, std::optional<ObjectRecord> &Out, json::Path P);
bool readValue(const json::Value &V, RebuildCue &Out, json::Path P);

template <typename T> bool readValue(const json::Value &V, std::vector<T> &Out, json::Path P) {
  const json::Array *A = V.getAsArray();
  if (!A) {
    P.report("expected array");
    return false;
  }
  Out.resize(A->size());
  for (size_t I = 0; I < A->size(); ++I)
    if (!readValue((*A)[I], Out[I], P.index(I)))
      return false;
  return true;
}

/// The members of one object, all of which must be there.
class Members {
public:
  Members(const json::Value &V, json::Path P) : Object(V.getAsObject()), P(P) {
    if (!Object)
      P.report("expected object");
  }

  template <typename T> bool get(llvm::StringLiteral Name, T &Out) {
    if (!Object)
      return false;
    json::Path Member = P.field(Name);
    if (const json::Value *V = Object->get(Name))
      return readValue(*V, Out, Member);
    Member.report("missing value");
    return false;
  }

private:
  const json::Object *Object;
  json::Path P;
};

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
         M.get("ptx-name", Out.PtxName) && M.get("cubin-name", Out.CubinName) &&
         M.get("kernels", Out.Kernels);
}

bool readValue(const json::Value &V, ObjectRecord &Out, json::Path P) {
  Members M(V, P);
  return M.get("command", Out.Command) && M.get("inputs", Out.Inputs) &&
         M.get("source-digest", Out.SourceDigest) && M.get("keep-dir", Out.KeepDir) &&
         M.get("fatbinary-arguments", Out.FatbinaryArguments) &&
         M.get("fatbin-name", Out.FatbinName) && M.get("fatbin-bytes", Out.FatbinBytes) &&
         M.get("object-digest", Out.ObjectDigest) && M.get("object-bytes", Out.ObjectBytes) &&
         M.get("header-offset", Out.HeaderOffset) && M.get("section-offset", Out.SectionOffset) &&
         M.get("section-bytes", Out.SectionBytes) && M.get("depfile", Out.Depfile) &&
         M.get("stdout", Out.Stdout) && M.get("stderr", Out.Stderr) &&
         M.get("streams-merged", Out.Streams.Merged) &&
         M.get("stdout-terminal", Out.Streams.OutTerminal) &&
         M.get("stderr-terminal", Out.Streams.ErrTerminal) && M.get("decisions", Out.Decisions);
}

bool readValue(const json::Value &V, std::optional<ObjectRecord> &Out, json::Path P) {
  if (V.getAsNull())
    return true;
  return readValue(V, Out.emplace(), P);
}

bool readValue(const json::Value &V, RebuildCue &Out, json::Path P) {
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
         M.get("images", Out.Images) && M.get("embedded-ptx", Out.Ptx) &&
         M.get("choices", Out.Choices) && M.get("rebuild-cue", Out.Cue) &&
         M.get("object", Out.Object);
}

} // namespace

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
                      {"choices", U.Choices},
                      {"rebuild-cue", CueNames[size_t(U.Cue)].str()},
                      {"object", std::move(Object)}};
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", json::Value(std::move(Record)));
  return Text;
}

llvm::Expected<Unit> carve::parseUnit(llvm::StringRef Json, llvm::StringRef Name) {
  llvm::Expected<json::Value> Parsed = json::parse(Json);
  if (!Parsed)
    return malformed(Name + ": no JSON: " + llvm::toString(Parsed.takeError()));
  const json::Object *Record = Parsed->getAsObject();
  std::optional<int64_t> Format;
  if (Record)
    Format = Record->getInteger(FormatKey);
  if (!Format)
    return malformed(Name + ": no unit record: expected an object with '" + FormatKey +
                     "': " + llvm::Twine(RecordFormat));
  if (*Format != RecordFormat)
    return llvm::make_error<NewerFormat>(Name + ": unit record of format " + llvm::Twine(*Format) +
                                         ", expected " + llvm::Twine(RecordFormat));
  json::Path::Root Root("unit");
  Unit Result;
  if (!readValue(*Parsed, Result, Root))
    return malformed(Name + ": " + llvm::toString(Root.getError()));
  return Result;
}
