#include "Support/JsonRecord.h"

#include "Support/Error.h"
#include "Support/NewerFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace carve;
namespace json = llvm::json;

json::Value carve::toValue(const std::string &Text) {
  if (json::isUTF8(Text))
    return Text;
  return json::Object{{"hex", llvm::toHex(Text, /*LowerCase=*/true)}};
}

json::Value carve::toValue(const std::array<unsigned, 3> &Extents) {
  return json::Array{Extents[0], Extents[1], Extents[2]};
}

bool carve::readValue(const json::Value &V, std::string &Out, json::Path P) {
  bool Read = false;
  if (auto Text = V.getAsString()) {
    Out = Text->str();
    Read = true;
  } else if (const json::Object *O = V.getAsObject()) {
    auto Hex = O->getString("hex");
    Read = Hex && llvm::tryGetFromHex(*Hex, Out);
  }
  if (Read && llvm::StringRef(Out).contains('\0')) {
    P.report("expected string without a null character");
    return false;
  }
  if (!Read)
    P.report("expected string");
  return Read;
}

bool carve::readValue(const json::Value &V, unsigned &Out, json::Path P) {
  auto Number = V.getAsInteger();
  if (!Number || *Number < 0 || *Number > std::numeric_limits<unsigned>::max()) {
    P.report("expected integer in 0..4294967295");
    return false;
  }
  Out = static_cast<unsigned>(*Number);
  return true;
}

bool carve::readValue(const json::Value &V, uint64_t &Out, json::Path P) {
  std::optional<uint64_t> Number = V.getAsUINT64();
  if (!Number)
    P.report("expected unsigned number");
  Out = Number.value_or(0);
  return Number.has_value();
}

bool carve::readValue(const json::Value &V, double &Out, json::Path P) {
  std::optional<double> Number = V.getAsNumber();
  if (!Number)
    P.report("expected number");
  Out = Number.value_or(0);
  return Number.has_value();
}

bool carve::readValue(const json::Value &V, bool &Out, json::Path P) {
  auto Flag = V.getAsBoolean();
  if (!Flag)
    P.report("expected boolean");
  Out = Flag.value_or(false);
  return Flag.has_value();
}

bool carve::readValue(const json::Value &V, std::array<unsigned, 3> &Out, json::Path P) {
  std::vector<unsigned> Numbers;
  if (!readValue(V, Numbers, P))
    return false;
  if (Numbers.size() == Out.size()) {
    llvm::copy(Numbers, Out.begin());
    return true;
  }
  P.report("expected three numbers");
  return false;
}

std::string carve::printRecord(json::Value Record, const RecordKind &Kind) {
  (*Record.getAsObject())[Kind.FormatKey] = Kind.Format;
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", Record);
  return Text;
}

llvm::Expected<json::Value> carve::openRecord(llvm::StringRef Json, llvm::StringRef Name,
                                              const RecordKind &Kind) {
  llvm::Expected<json::Value> Parsed = parseJsonText(Json);
  if (!Parsed)
    return malformed(Name + ": not JSON: " + llvm::toString(Parsed.takeError()));
  const json::Object *Record = Parsed->getAsObject();
  std::optional<int64_t> Format;
  if (Record)
    Format = Record->getInteger(Kind.FormatKey);
  if (!Format)
    return malformed(Name + ": not a " + Kind.What + " record: expected an object with '" +
                     Kind.FormatKey + "': " + llvm::Twine(Kind.Format));
  if (*Format != Kind.Format)
    return llvm::make_error<NewerFormat>(Name + ": " + Kind.What + " record of format " +
                                         llvm::Twine(*Format) + ", expected " +
                                         llvm::Twine(Kind.Format));
  return Parsed;
}
