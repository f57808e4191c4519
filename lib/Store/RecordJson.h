/// \file
/// The parts that the JSON forms of the store's records share: text that need not be UTF-8, members
/// that must exist, and the format number that is checked before everything else. Only the JSON
/// forms of records use it: UnitJson, LinkJson, FlavourJson and Captures/File/CaptureJson.
#pragma once

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Returns text as JSON. Text that is not UTF-8 becomes `{"hex": "..."}`, because a path may hold
/// any bytes.
llvm::json::Value toValue(llvm::StringRef Text);
llvm::json::Value toValue(const std::vector<std::string> &Texts);

/// Each function reads \p V into \p Out. If it cannot, it reports at \p P what it expected and
/// returns false.
bool readValue(const llvm::json::Value &V, std::string &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, unsigned &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, uint64_t &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, bool &Out, llvm::json::Path P);
/// A JSON `null` gives an empty optional.
bool readValue(const llvm::json::Value &V, std::optional<unsigned> &Out, llvm::json::Path P);

/// Reads text that names a file or an entry of the store and becomes part of a path. It must be
/// empty or one component of a path.
struct NameReader {
  std::string &Out;
};
bool readValue(const llvm::json::Value &V, NameReader To, llvm::json::Path P);
/// Reads a list of such names, none of them empty.
struct NamesReader {
  std::vector<std::string> &Out;
};
bool readValue(const llvm::json::Value &V, NamesReader To, llvm::json::Path P);

/// Reads an architecture such as `sm_90`, which becomes part of options and names, or an empty
/// text.
struct ArchReader {
  std::string &Out;
};
bool readValue(const llvm::json::Value &V, ArchReader To, llvm::json::Path P);

/// Reads a path that is passed to programs. It must be empty or a path that they do not take for an
/// option.
struct PathReader {
  std::string &Out;
};
bool readValue(const llvm::json::Value &V, PathReader To, llvm::json::Path P);

template <typename T>
bool readValue(const llvm::json::Value &V, std::vector<T> &Out, llvm::json::Path P) {
  const llvm::json::Array *A = V.getAsArray();
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

/// Reads the members of one object. A member that get() reads must exist.
class Members {
public:
  Members(const llvm::json::Value &V, llvm::json::Path P) : Object(V.getAsObject()), P(P) {
    if (!Object)
      P.report("expected object");
  }

  template <typename T> bool get(llvm::StringLiteral Name, T &&Out) {
    if (!Object)
      return false;
    llvm::json::Path Member = P.field(Name);
    if (const llvm::json::Value *V = Object->get(Name))
      return readValue(*V, Out, Member);
    Member.report("missing value");
    return false;
  }
  bool getName(llvm::StringLiteral Name, std::string &Out) { return get(Name, NameReader{Out}); }
  bool getNames(llvm::StringLiteral Name, std::vector<std::string> &Out) {
    return get(Name, NamesReader{Out});
  }
  bool getArch(llvm::StringLiteral Name, std::string &Out) { return get(Name, ArchReader{Out}); }
  bool getPath(llvm::StringLiteral Name, std::string &Out) { return get(Name, PathReader{Out}); }

  /// Reports word \p At of the list \p Name, if given, as one that a record must not pass on to a
  /// program. Returns true if \p At is empty.
  bool allowed(llvm::StringLiteral Name, std::optional<size_t> At, llvm::StringLiteral Expected) {
    if (At)
      P.field(Name).index(*At).report(Expected);
    return !At;
  }

  /// Reads a member that may be absent; \p Out is unchanged then.
  template <typename T> bool getIfThere(llvm::StringLiteral Name, T &Out) {
    return Object && (!Object->get(Name) || get(Name, Out));
  }

private:
  const llvm::json::Object *Object;
  llvm::json::Path P;
};

/// The kind of record that a text should hold, and its format.
struct RecordKind {
  llvm::StringLiteral What;      ///< The name for messages, e.g. `unit`.
  llvm::StringLiteral FormatKey; ///< The member that holds the format.
  int64_t Format;
};

/// Returns the text of the record.
std::string printRecord(llvm::json::Object Record);

/// Parses \p Json. Fails and names \p Name if it is not a record of \p Kind, with NewerFormat if it
/// has another format.
llvm::Expected<llvm::json::Value> openRecord(llvm::StringRef Json, llvm::StringRef Name,
                                             const RecordKind &Kind);

/// Reads a record of type T from \p Json. Fails as openRecord() does, and if a member is missing or
/// has another type.
template <typename T>
llvm::Expected<T> parseRecord(llvm::StringRef Json, llvm::StringRef Name, const RecordKind &Kind) {
  llvm::Expected<llvm::json::Value> Parsed = openRecord(Json, Name, Kind);
  if (!Parsed)
    return Parsed.takeError();
  llvm::json::Path::Root Root(Kind.What);
  T Result;
  if (!readValue(*Parsed, Result, Root))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   Name + ": " + llvm::toString(Root.getError()));
  return Result;
}

} // namespace carve
