#include "Ptx/ProfileName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

#include <optional>

using namespace carve;
using namespace llvm;

/// Whether \p S starts as a tag does: `<8 hex digits>_<n>_<file name of n characters>_`.
static bool startsWithTag(StringRef S) {
  if (S.size() < 9 || !all_of(S.take_front(8), isHexDigit) || S[8] != '_')
    return false;
  unsigned FileLength = 0;
  S = S.drop_front(9);
  return !S.consumeInteger(10, FileLength) && S.consume_front("_") && S.size() >= FileLength;
}

static bool demangles(const std::string &Name) { return demangle(Name) != Name; }

/// Returns \p Name with \p Constant in place of the source name `<length><Word><tag>` whose Word is
/// at offset \p At; nothing if there is no such source name. The digits before the Word may partly
/// belong to what comes before the length (`D1` and `35` make `135`). If several readings are
/// possible, the one that demangles is taken.
static std::optional<std::string> replaceTagged(StringRef Name, size_t At, StringRef Word,
                                                StringRef Constant) {
  if (!startsWithTag(Name.substr(At + Word.size())))
    return std::nullopt;
  size_t FirstDigit = At;
  while (FirstDigit && isDigit(Name[FirstDigit - 1]))
    --FirstDigit;
  std::optional<std::string> First;
  for (size_t I = FirstDigit; I < At; ++I) {
    size_t Length = 0;
    if (Name[I] == '0' || Name.slice(I, At).getAsInteger(10, Length) || Length > Name.size() - At ||
        Length < Word.size() + 11)
      continue;
    std::string Candidate = (Name.take_front(I) + Constant + Name.drop_front(At + Length)).str();
    if (I == FirstDigit && At - FirstDigit <= 2)
      return Candidate;
    // The name of a parameter is that of its function followed by `_param_<n>`.
    if (demangles(StringRef(Candidate).split("_param_").first.str()))
      return Candidate;
    if (!First)
      First = std::move(Candidate);
  }
  return First;
}

/// Replaces every tagged source name that starts with \p Word.
static void replaceAllTagged(std::string &Name, StringRef Word, StringRef Constant) {
  for (size_t At = Name.find(Word); At != std::string::npos;) {
    if (std::optional<std::string> Replaced = replaceTagged(Name, At, Word, Constant)) {
      Name = std::move(*Replaced);
      At = Name.find(Word);
    } else {
      At = Name.find(Word, At + 1);
    }
  }
}

/// Removes the prefix that -rdc gives static names: `__nv_static_<n>_<tag of n characters>_<name>`.
static StringRef withoutStaticPrefix(StringRef Name) {
  StringRef Rest = Name;
  unsigned Length = 0;
  if (!Rest.consume_front("__nv_static_") || Rest.consumeInteger(10, Length) ||
      !Rest.consume_front("_") || Rest.size() < size_t(Length) + 2 || Rest[Length] != '_')
    return Name;
  return Rest.drop_front(Length + 1);
}

std::string carve::withoutModuleTags(StringRef Name) {
  std::string Result = withoutStaticPrefix(Name).str();
  replaceAllTagged(Result, "_GLOBAL__N__", "12_GLOBAL__N_1");
  replaceAllTagged(Result, "_INTERNAL_", "9_INTERNAL");
  return Result;
}

std::string carve::profileName(StringRef Mangled) {
  std::string Name = demangle(withoutModuleTags(Mangled));
  // nvcc puts a namespace around internal functions, which is not part of the source.
  StringRef Internal = "_INTERNAL::";
  for (size_t At = Name.find(Internal); At != std::string::npos; At = Name.find(Internal, At))
    Name.erase(At, Internal.size());
  return Name;
}
