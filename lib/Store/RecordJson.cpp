#include "Store/RecordJson.h"

#include "Nvcc/StepOptions.h"
#include "Store/NewerFormat.h"
#include "Store/StoreLayout.h"
#include "Support/Error.h"
#include "Support/JsonText.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace carve;
namespace json = llvm::json;

json::Value carve::toValue(llvm::StringRef Text) {
  if (json::isUTF8(Text))
    return Text.str();
  return json::Object{{"hex", llvm::toHex(Text, /*LowerCase=*/true)}};
}

json::Value carve::toValue(const std::vector<std::string> &Texts) {
  json::Array Result;
  for (const std::string &Text : Texts)
    Result.push_back(toValue(llvm::StringRef(Text)));
  return Result;
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
  // System calls end a path at the first null character.
  if (Read && llvm::StringRef(Out).contains('\0')) {
    P.report("expected string without a null character");
    return false;
  }
  if (!Read)
    P.report("expected string");
  return Read;
}

bool carve::readValue(const json::Value &V, NameReader To, json::Path P) {
  if (!readValue(V, To.Out, P))
    return false;
  if (To.Out.empty() || isFileName(To.Out))
    return true;
  P.report("expected one component of a path");
  return false;
}

bool carve::readValue(const json::Value &V, NamesReader To, json::Path P) {
  if (!readValue(V, To.Out, P))
    return false;
  auto Bad = llvm::find_if(To.Out, [](llvm::StringRef Name) { return !isEntryName(Name); });
  if (Bad == To.Out.end())
    return true;
  P.index(Bad - To.Out.begin()).report("expected one component of a path");
  return false;
}

bool carve::readValue(const json::Value &V, ArchReader To, json::Path P) {
  if (!readValue(V, To.Out, P))
    return false;
  if (To.Out.empty() || isGpuArchitecture(To.Out))
    return true;
  P.report("expected an architecture such as sm_90");
  return false;
}

bool carve::readValue(const json::Value &V, PathReader To, json::Path P) {
  if (!readValue(V, To.Out, P))
    return false;
  if (!llvm::StringRef(To.Out).starts_with("-") && !llvm::StringRef(To.Out).starts_with("@"))
    return true;
  P.report("expected a path");
  return false;
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

bool carve::readValue(const json::Value &V, std::optional<unsigned> &Out, json::Path P) {
  Out.reset();
  return V.kind() == json::Value::Null || readValue(V, Out.emplace(), P);
}

bool carve::readValue(const json::Value &V, bool &Out, json::Path P) {
  auto Flag = V.getAsBoolean();
  if (!Flag)
    P.report("expected boolean");
  Out = Flag.value_or(false);
  return Flag.has_value();
}

std::string carve::printRecord(json::Object Record) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", json::Value(std::move(Record)));
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
