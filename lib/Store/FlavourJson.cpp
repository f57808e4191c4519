#include "Store/FlavourJson.h"

#include "Store/RecordJson.h"

using namespace carve;
namespace json = llvm::json;

/// The format rises under the same rule as that of a unit's record (UnitJson.cpp).
static constexpr RecordKind FlavourRecord = {"flavour", "carve-flavour", 1};

namespace {

struct Flavour {
  std::string PtxDigest;
};

bool readValue(const json::Value &V, Flavour &Out, json::Path P) {
  return Members(V, P).getName("ptx", Out.PtxDigest);
}

} // namespace

std::string carve::printFlavour(llvm::StringRef PtxDigest) {
  return printRecord(
      json::Object{{FlavourRecord.FormatKey, FlavourRecord.Format}, {"ptx", PtxDigest.str()}});
}

llvm::Expected<std::string> carve::parseFlavour(llvm::StringRef Json, llvm::StringRef Name) {
  llvm::Expected<Flavour> F = parseRecord<Flavour>(Json, Name, FlavourRecord);
  if (!F)
    return F.takeError();
  return std::move(F->PtxDigest);
}
