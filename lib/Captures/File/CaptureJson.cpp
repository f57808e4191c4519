#include "Captures/File/CaptureJson.h"

#include "Store/RecordJson.h"
#include "Support/Error.h"

#include "llvm/Support/MathExtras.h"

using namespace carve;
namespace json = llvm::json;

// As in UnitJson.cpp: readers of lists look for the reader of their elements here.
namespace carve {

static json::Value toValue(uint64_t Value) { return Value; }
static json::Value toValue(const std::string &Text) { return toValue(llvm::StringRef(Text)); }

template <typename T> static json::Value listOf(const std::vector<T> &Values) {
  json::Array Result;
  for (const T &V : Values)
    Result.push_back(toValue(V));
  return Result;
}

static json::Value toValue(const CapturedBytes &B) {
  return json::Object{{"bytes", B.Bytes}, {"chunks", listOf(B.Chunks)}};
}

static json::Value toValue(const CapturedMemory &M) {
  return json::Object{{"address", M.Address},
                      {"kind", M.Kind},
                      {"content", toValue(M.Content)},
                      {"after", listOf(M.After)}};
}

static json::Value toValue(const CapturedVariable &V) {
  return json::Object{
      {"name", V.Name}, {"content", toValue(V.Content)}, {"after", listOf(V.After)}};
}

static json::Value toValue(const CapturedParameter &P) {
  return json::Object{{"offset", P.Offset}, {"hex", llvm::toHex(P.Bytes, /*LowerCase=*/true)}};
}

static json::Value toValue(const CapturedRecord &R) {
  return json::Object{{"name", R.Name}, {"content", toValue(R.Content)}};
}

static json::Value toValue(const std::array<unsigned, 3> &Triple) {
  return json::Array{Triple[0], Triple[1], Triple[2]};
}

static json::Value toValue(const LaunchShape &S, bool Cooperative) {
  return json::Object{{"grid", toValue(S.Grid)},
                      {"block", toValue(S.Block)},
                      {"dynamic-smem-bytes", S.DynamicSmemBytes},
                      {"cluster", toValue(S.Cluster)},
                      {"cooperative", Cooperative}};
}

// Each as in RecordJson.h.
bool readValue(const json::Value &V, CapturedBytes &Out, json::Path P) {
  Members M(V, P);
  if (!M.get("bytes", Out.Bytes) || !M.get("chunks", Out.Chunks))
    return false;
  if (Out.Chunks.size() == llvm::divideCeil(Out.Bytes, CaptureChunkBytes))
    return true;
  P.report("expected a chunk per MiB");
  return false;
}

bool readValue(const json::Value &V, CapturedMemory &Out, json::Path P) {
  Members M(V, P);
  return M.get("address", Out.Address) && M.get("kind", Out.Kind) &&
         M.get("content", Out.Content) && M.get("after", Out.After);
}

bool readValue(const json::Value &V, CapturedVariable &Out, json::Path P) {
  Members M(V, P);
  return M.get("name", Out.Name) && M.get("content", Out.Content) && M.get("after", Out.After);
}

bool readValue(const json::Value &V, CapturedParameter &Out, json::Path P) {
  Members M(V, P);
  std::string Hex;
  if (!M.get("offset", Out.Offset) || !M.get("hex", Hex))
    return false;
  if (llvm::tryGetFromHex(Hex, Out.Bytes))
    return true;
  P.report("expected hexadecimal digits");
  return false;
}

bool readValue(const json::Value &V, CapturedRecord &Out, json::Path P) {
  Members M(V, P);
  return M.get("name", Out.Name) && M.get("content", Out.Content);
}

/// The standard library's own types have no readers: these are of our namespace.
struct TripleReader {
  std::array<unsigned, 3> &Out;
};
struct ShapeReader {
  LaunchShape &Shape;
  bool &Cooperative;
};
struct AttributesReader {
  std::map<std::string, uint64_t> &Out;
};

static bool readValue(const json::Value &V, TripleReader &To, json::Path P) {
  std::vector<unsigned> Numbers;
  if (!readValue(V, Numbers, P))
    return false;
  if (Numbers.size() == To.Out.size()) {
    llvm::copy(Numbers, To.Out.begin());
    return true;
  }
  P.report("expected three numbers");
  return false;
}

static bool readValue(const json::Value &V, ShapeReader &To, json::Path P) {
  Members M(V, P);
  TripleReader Grid{To.Shape.Grid}, Block{To.Shape.Block}, Cluster{To.Shape.Cluster};
  return M.get("grid", Grid) && M.get("block", Block) &&
         M.get("dynamic-smem-bytes", To.Shape.DynamicSmemBytes) && M.get("cluster", Cluster) &&
         M.get("cooperative", To.Cooperative);
}

static bool readValue(const json::Value &V, AttributesReader &To, json::Path P) {
  const json::Object *O = V.getAsObject();
  if (!O) {
    P.report("expected object");
    return false;
  }
  for (const auto &[Name, Value] : *O)
    if (!readValue(Value, To.Out[Name.str()], P.field(Name)))
      return false;
  return true;
}

bool readValue(const json::Value &V, Capture &Out, json::Path P) {
  Members M(V, P);
  AttributesReader Attributes{Out.Attributes};
  ShapeReader Shape{Out.Shape, Out.Cooperative};
  return M.get("kernel", Out.Kernel) && M.get("shape", Shape) && M.get("launch", Out.Launch) &&
         M.get("traced-launches", Out.TracedLaunches) && M.get("mean-ns", Out.MeanNs) &&
         M.get("device", Out.Device) && M.get("arch", Out.Arch) &&
         M.get("driver", Out.DriverVersion) && M.get("workload", Out.Workload) &&
         M.get("attributes", Attributes) && M.get("parameters", Out.Parameters) &&
         M.get("memory", Out.Memory) && M.get("variables", Out.Variables) &&
         M.get("load-call", Out.LoadCall) && M.get("container-digest", Out.ContainerDigest) &&
         M.get("container", Out.Container) && M.get("units", Out.Units) &&
         M.get("links", Out.Links) && M.get("blobs", Out.Blobs);
}

/// A list per member: a capture of all memory of a GPU has a hundred thousand sections.
struct SectionTable {
  std::vector<uint64_t> Offsets, Stored, Bytes;
  std::vector<std::string> Digests;
};
struct CaptureIndex {
  Capture C;
  SectionTable Table;
};

static bool readValue(const json::Value &V, SectionTable &Out, json::Path P) {
  Members M(V, P);
  if (!M.get("offsets", Out.Offsets) || !M.get("stored-bytes", Out.Stored) ||
      !M.get("bytes", Out.Bytes) || !M.get("digests", Out.Digests))
    return false;
  size_t N = Out.Offsets.size();
  if (Out.Stored.size() == N && Out.Bytes.size() == N && Out.Digests.size() == N)
    return true;
  P.report("expected lists of one length");
  return false;
}

static bool readValue(const json::Value &V, CaptureIndex &Out, json::Path P) {
  Members M(V, P);
  return M.get("capture", Out.C) && M.get("sections", Out.Table);
}

} // namespace carve

static constexpr RecordKind Kind{"capture", "carve-capture", CaptureFormat};

std::string carve::printCaptureIndex(const Capture &C, llvm::ArrayRef<CaptureSection> Sections) {
  json::Array Offsets, Stored, Bytes, Digests;
  for (const CaptureSection &S : Sections) {
    Offsets.push_back(S.Offset);
    Stored.push_back(S.StoredBytes);
    Bytes.push_back(S.Bytes);
    Digests.push_back(S.Digest);
  }
  json::Object Attributes;
  for (const auto &[Name, Value] : C.Attributes)
    Attributes[Name] = Value;
  json::Object Body{{"kernel", C.Kernel},
                    {"shape", toValue(C.Shape, C.Cooperative)},
                    {"launch", C.Launch},
                    {"traced-launches", C.TracedLaunches},
                    {"mean-ns", C.MeanNs},
                    {"device", toValue(C.Device)},
                    {"arch", C.Arch},
                    {"driver", C.DriverVersion},
                    {"workload", toValue(C.Workload)},
                    {"attributes", std::move(Attributes)},
                    {"parameters", listOf(C.Parameters)},
                    {"memory", listOf(C.Memory)},
                    {"variables", listOf(C.Variables)},
                    {"load-call", C.LoadCall},
                    {"container-digest", C.ContainerDigest},
                    {"container", toValue(C.Container)},
                    {"units", listOf(C.Units)},
                    {"links", listOf(C.Links)},
                    {"blobs", listOf(C.Blobs)}};
  json::Object Table{{"offsets", std::move(Offsets)},
                     {"stored-bytes", std::move(Stored)},
                     {"bytes", std::move(Bytes)},
                     {"digests", std::move(Digests)}};
  return printRecord(json::Object{
      {Kind.FormatKey, Kind.Format}, {"capture", std::move(Body)}, {"sections", std::move(Table)}});
}

llvm::Error carve::parseCaptureIndex(llvm::StringRef Json, llvm::StringRef Name, Capture &C,
                                     std::vector<CaptureSection> &Sections) {
  llvm::Expected<CaptureIndex> Read = parseRecord<CaptureIndex>(Json, Name, Kind);
  if (!Read)
    return Read.takeError();
  C = std::move(Read->C);
  const SectionTable &T = Read->Table;
  for (size_t I = 0; I < T.Offsets.size(); ++I) {
    if (T.Bytes[I] > CaptureChunkBytes)
      return malformed(Name + ": section " + llvm::Twine(I) + " has " + llvm::Twine(T.Bytes[I]) +
                       " bytes, expected at most " + llvm::Twine(CaptureChunkBytes));
    Sections.push_back({T.Offsets[I], T.Stored[I], T.Bytes[I], T.Digests[I]});
  }
  return llvm::Error::success();
}
