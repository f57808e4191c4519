#include "Store/FlavourJson.h"

#include "Store/RecordJson.h"

using namespace carve;

/// The format rises under the same rule as that of a unit's record (UnitJson.cpp).
static constexpr RecordKind FlavourRecord = {"flavour", "carve-flavour", 1};

namespace {

struct Flavour {
  std::string PtxDigest;
};

template <class Fields> void describe(Fields &F, Flavour &Record) {
  F("ptx", FileNameValue{Record.PtxDigest});
}

} // namespace

std::string carve::printFlavour(llvm::StringRef PtxDigest) {
  return printRecord(Flavour{PtxDigest.str()}, FlavourRecord);
}

llvm::Expected<std::string> carve::parseFlavour(llvm::StringRef Json, llvm::StringRef Name) {
  llvm::Expected<Flavour> F = parseRecord<Flavour>(Json, Name, FlavourRecord);
  if (!F)
    return F.takeError();
  return std::move(F->PtxDigest);
}
