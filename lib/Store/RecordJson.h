/// \file
/// What the JSON forms of the store's records share: text that need not be UTF-8, members that must
/// be there, and the format that stands in front of all else. Of use to UnitJson, LinkJson
/// and Captures/File/CaptureJson alone.
#pragma once

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Text as JSON; what is no UTF-8 (a path may be anything) becomes `{"hex": "..."}`.
llvm::json::Value toValue(llvm::StringRef Text);
llvm::json::Value toValue(const std::vector<std::string> &Texts);

/// Each reads \p V, or says at \p P what was expected and returns false.
bool readValue(const llvm::json::Value &V, std::string &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, unsigned &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, uint64_t &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, bool &Out, llvm::json::Path P);
/// `null` is nothing.
bool readValue(const llvm::json::Value &V, std::optional<unsigned> &Out, llvm::json::Path P);

/// Text that names a file or an entry of the store, and so becomes a part of a path: nothing, or
/// one component of a path.
struct NameReader {
  std::string &Out;
};
bool readValue(const llvm::json::Value &V, NameReader To, llvm::json::Path P);
struct NamesReader {
  std::vector<std::string> &Out;
};
bool readValue(const llvm::json::Value &V, NamesReader To, llvm::json::Path P);

/// `sm_90`, which becomes a part of options and names; or nothing.
struct ArchReader {
  std::string &Out;
};
bool readValue(const llvm::json::Value &V, ArchReader To, llvm::json::Path P);

/// A path that is handed on to programs: nothing, or one that they do not take for an option.
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

/// The members of one object; those that get() reads must be there.
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

  /// Reports word \p At of the list \p Name, if given, as one that a record may not hand on.
  /// Returns true if \p At is empty.
  bool allowed(llvm::StringLiteral Name, std::optional<size_t> At, llvm::StringLiteral Expected) {
    if (At)
      P.field(Name).index(*At).report(Expected);
    return !At;
  }

  /// A member that records of older releases lack: \p Out stays what it is.
  template <typename T> bool getIfThere(llvm::StringLiteral Name, T &Out) {
    return Object && (!Object->get(Name) || get(Name, Out));
  }

private:
  const llvm::json::Object *Object;
  llvm::json::Path P;
};

/// What kind of record a text is to hold, and in which format.
struct RecordKind {
  llvm::StringLiteral What;      ///< For messages: `unit`.
  llvm::StringLiteral FormatKey; ///< The member that tells the format.
  int64_t Format;
};

/// The record's text.
std::string printRecord(llvm::json::Object Record);

/// Parses \p Json. Fails naming \p Name where it is no record of \p Kind, with NewerFormat where it
/// is one of another format.
llvm::Expected<llvm::json::Value> openRecord(llvm::StringRef Json, llvm::StringRef Name,
                                             const RecordKind &Kind);

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
