#include "Captures/File/CaptureJson.h"

#include "Support/Error.h"
#include "Support/JsonRecord.h"

#include "llvm/Support/MathExtras.h"

using namespace carve;
namespace json = llvm::json;

namespace carve {

/// Bytes as hexadecimal digits.
struct HexValue {
  std::string &Bytes;
};
static json::Value toValue(const HexValue &V) { return llvm::toHex(V.Bytes, /*LowerCase=*/true); }
static bool readValue(const json::Value &V, HexValue To, json::Path P) {
  std::string Digits;
  if (!readValue(V, Digits, P))
    return false;
  To.Bytes.clear();
  if (llvm::tryGetFromHex(Digits, To.Bytes))
    return true;
  P.report("expected hexadecimal digits");
  return false;
}

template <class Fields> void describe(Fields &F, CapturedBytes &B) {
  F("bytes", B.Bytes);
  F("chunks", B.Chunks);
  F.require([&] { return B.Chunks.size() == llvm::divideCeil(B.Bytes, CaptureChunkBytes); },
            "expected a chunk per MiB");
}

template <class Fields> void describe(Fields &F, CapturedMemory &M) {
  F("address", M.Address);
  F("kind", M.Kind);
  F("content", M.Content);
  F("after", M.After);
}

template <class Fields> void describe(Fields &F, CapturedVariable &V) {
  F("name", V.Name);
  F("content", V.Content);
  F("after", V.After);
}

template <class Fields> void describe(Fields &F, CapturedParameter &P) {
  F("offset", P.Offset);
  F("hex", HexValue{P.Bytes});
}

template <class Fields> void describe(Fields &F, CapturedRecord &R) {
  F("name", R.Name);
  F("content", R.Content);
}

/// The shape of a launch, and whether it is cooperative.
struct LaunchMembers {
  LaunchShape &Shape;
  bool &Cooperative;
};
template <class Fields> void describe(Fields &F, LaunchMembers &L) {
  F("grid", L.Shape.Grid);
  F("block", L.Shape.Block);
  F("dynamic-smem-bytes", L.Shape.DynamicSmemBytes);
  F("cluster", L.Shape.Cluster);
  F("cooperative", L.Cooperative);
}

template <class Fields> void describe(Fields &F, Capture &C) {
  F("kernel", C.Kernel);
  F("shape", LaunchMembers{C.Shape, C.Cooperative});
  F("launch", C.Launch);
  F("traced-launches", C.TracedLaunches);
  F("mean-ns", C.MeanNs);
  F("device", C.Device);
  F("arch", C.Arch);
  F("driver", C.DriverVersion);
  F("workload", C.Workload);
  F("attributes", C.Attributes);
  F("parameters", C.Parameters);
  F("memory", C.Memory);
  F("variables", C.Variables);
  F("load-call", C.LoadCall);
  F("container-digest", C.ContainerDigest);
  F("container", C.Container);
  F("units", C.Units);
  F("links", C.Links);
  F("blobs", C.Blobs);
}

/// A list per member: a capture of all memory of a GPU has a hundred thousand sections.
struct SectionTable {
  std::vector<uint64_t> Offsets, Stored, Bytes;
  std::vector<std::string> Digests;
};
template <class Fields> void describe(Fields &F, SectionTable &T) {
  F("offsets", T.Offsets);
  F("stored-bytes", T.Stored);
  F("bytes", T.Bytes);
  F("digests", T.Digests);
  F.require(
      [&] {
        size_t N = T.Offsets.size();
        return T.Stored.size() == N && T.Bytes.size() == N && T.Digests.size() == N;
      },
      "expected lists of one length");
}

struct CaptureIndex {
  Capture C;
  SectionTable Table;
};
template <class Fields> void describe(Fields &F, CaptureIndex &I) {
  F("capture", I.C);
  F("sections", I.Table);
}

} // namespace carve

static constexpr RecordKind Kind{"capture", "carve-capture", CaptureFormat};

std::string carve::printCaptureIndex(const Capture &C, llvm::ArrayRef<CaptureSection> Sections) {
  CaptureIndex Index{C, {}};
  for (const CaptureSection &S : Sections) {
    Index.Table.Offsets.push_back(S.Offset);
    Index.Table.Stored.push_back(S.StoredBytes);
    Index.Table.Bytes.push_back(S.Bytes);
    Index.Table.Digests.push_back(S.Digest);
  }
  return printRecord(Index, Kind);
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
