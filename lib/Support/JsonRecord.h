/// \file
/// Records as JSON. A record's members are named once, in a function that both writes and reads
/// them:
///
///   template <class Fields> void describe(Fields &F, GpuUser &U) {
///     F("pid", U.Pid);
///     F("name", U.Name);
///   }
///
/// toValue() and readValue() then work for the type, for lists of it, and where it may be absent.
/// describe() is looked up in the namespace of the record.
#pragma once

#include "Support/JsonText.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

class FieldWriter;
class FieldReader;

template <class T>
concept Described = requires(FieldWriter &W, T &Record) { describe(W, Record); };

/// \p Text as JSON. What is no UTF-8 (a path may be anything) becomes `{"hex": "..."}`.
llvm::json::Value toValue(const std::string &Text);
llvm::json::Value toValue(const std::array<unsigned, 3> &Extents);
inline llvm::json::Value toValue(bool Value) { return Value; }
inline llvm::json::Value toValue(unsigned Value) { return Value; }
inline llvm::json::Value toValue(uint64_t Value) { return Value; }
inline llvm::json::Value toValue(double Value) { return Value; }

// Each of these reads \p V into \p Out. If \p V is something else it says at \p P what was
// expected, and returns false.

/// Fails for text with a null character: the system would take the part before it for the whole.
bool readValue(const llvm::json::Value &V, std::string &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, unsigned &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, uint64_t &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, double &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, bool &Out, llvm::json::Path P);
bool readValue(const llvm::json::Value &V, std::array<unsigned, 3> &Out, llvm::json::Path P);

template <Described T> llvm::json::Value toValue(const T &Record);
template <Described T> bool readValue(const llvm::json::Value &V, T &Out, llvm::json::Path P);

template <class T> llvm::json::Value toValue(const std::vector<T> &List) {
  llvm::json::Array Values;
  Values.reserve(List.size());
  for (const T &Element : List)
    Values.push_back(toValue(Element));
  return Values;
}
template <class T>
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

/// Absent is `null`.
template <class T> llvm::json::Value toValue(const std::optional<T> &Value) {
  return Value ? toValue(*Value) : llvm::json::Value(nullptr);
}
template <class T>
bool readValue(const llvm::json::Value &V, std::optional<T> &Out, llvm::json::Path P) {
  Out.reset();
  return V.kind() == llvm::json::Value::Null || readValue(V, Out.emplace(), P);
}

template <class T> llvm::json::Value toValue(const std::map<std::string, T> &Members) {
  llvm::json::Object O;
  for (const auto &[Name, Value] : Members)
    O[Name] = toValue(Value);
  return O;
}
template <class T>
bool readValue(const llvm::json::Value &V, std::map<std::string, T> &Out, llvm::json::Path P) {
  const llvm::json::Object *O = V.getAsObject();
  if (!O) {
    P.report("expected object");
    return false;
  }
  for (const auto &[Name, Value] : *O)
    if (!readValue(Value, Out[Name.str()], P.field(Name)))
      return false;
  return true;
}

/// Text for readers of all languages: what is no UTF-8 is replaced, and does not come back.
struct Readable {
  std::string &Text;
};
inline llvm::json::Value toValue(const Readable &R) { return llvm::json::fixUTF8(R.Text); }
inline bool readValue(const llvm::json::Value &V, Readable R, llvm::json::Path P) {
  return readValue(V, R.Text, P);
}

/// Writes the members that describe() names. See FieldReader for the meaning of its functions.
class FieldWriter {
public:
  explicit FieldWriter(llvm::json::Object &O) : O(O) {}

  template <class T> void operator()(llvm::StringLiteral Name, T &&Value) {
    O[Name] = toValue(Value);
  }
  template <class T> void when(bool Condition, llvm::StringLiteral Name, T &&Value) {
    if (Condition)
      (*this)(Name, Value);
  }
  template <class T> void ifSet(llvm::StringLiteral Name, T &Value) {
    when(Value != T(), Name, Value);
  }
  void readableIfSet(llvm::StringLiteral Name, std::string &Text) {
    when(!Text.empty(), Name, Readable{Text});
  }
  void require(llvm::function_ref<bool()>, llvm::StringLiteral) {}
  void refuse(llvm::StringLiteral, llvm::function_ref<std::optional<size_t>()>,
              llvm::StringLiteral) {}

private:
  llvm::json::Object &O;
};

/// Reads the members that describe() names, up to the first that is wrong.
class FieldReader {
public:
  FieldReader(const llvm::json::Value &V, llvm::json::Path P) : O(V.getAsObject()), P(P) {
    if (!O)
      P.report("expected object");
  }
  bool good() const { return O != nullptr; }

  /// The member \p Name, which must be there.
  template <class T> void operator()(llvm::StringLiteral Name, T &&Value) {
    if (!O)
      return;
    llvm::json::Path Member = P.field(Name);
    const llvm::json::Value *V = O->get(Name);
    if (!V)
      Member.report("missing value");
    if (!V || !readValue(*V, Value, Member))
      O = nullptr;
  }
  /// A member that is written under a condition, and read if it is there.
  template <class T> void when(bool, llvm::StringLiteral Name, T &&Value) {
    if (O && O->get(Name))
      (*this)(Name, Value);
  }
  /// A member that is left out if it is empty, 0 or false.
  template <class T> void ifSet(llvm::StringLiteral Name, T &Value) { when(true, Name, Value); }
  void readableIfSet(llvm::StringLiteral Name, std::string &Text) { ifSet(Name, Text); }
  /// What must hold of the members read so far.
  void require(llvm::function_ref<bool()> Holds, llvm::StringLiteral Expected) {
    if (O && !Holds()) {
      P.report(Expected);
      O = nullptr;
    }
  }
  /// \p Refused finds a word in the list \p Name that may not be there.
  void refuse(llvm::StringLiteral Name, llvm::function_ref<std::optional<size_t>()> Refused,
              llvm::StringLiteral Expected) {
    if (!O)
      return;
    if (std::optional<size_t> At = Refused()) {
      P.field(Name).index(*At).report(Expected);
      O = nullptr;
    }
  }

private:
  const llvm::json::Object *O; ///< Null after a failure.
  llvm::json::Path P;
};

template <Described T> llvm::json::Value toValue(const T &Record) {
  llvm::json::Object O;
  FieldWriter Writer(O);
  describe(Writer, const_cast<T &>(Record)); // A writer changes nothing.
  return O;
}
template <Described T> bool readValue(const llvm::json::Value &V, T &Out, llvm::json::Path P) {
  FieldReader Reader(V, P);
  describe(Reader, Out);
  return Reader.good();
}

/// What kind of record a text holds, and in which format.
struct RecordKind {
  llvm::StringLiteral What;      ///< For messages: `unit`.
  llvm::StringLiteral FormatKey; ///< The member that tells the format.
  int64_t Format;
};

/// The text of \p Record, indented by two spaces, with the format among its members.
std::string printRecord(llvm::json::Value Record, const RecordKind &Kind);
template <Described T> std::string printRecord(const T &Record, const RecordKind &Kind) {
  return printRecord(toValue(Record), Kind);
}

/// Parses \p Json. Fails naming \p Name if it is no record of \p Kind, with NewerFormat if it is
/// one of another format.
llvm::Expected<llvm::json::Value> openRecord(llvm::StringRef Json, llvm::StringRef Name,
                                             const RecordKind &Kind);

template <Described T>
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
