#include "Nvcc/IncludedFiles.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;

namespace carve {

/// Returns the name in the marker \p Line, which starts after `# `; empty if it is not a marker.
static std::string nameInMarker(StringRef Line) {
  Line = Line.ltrim("0123456789");
  std::string Name;
  if (!Line.consume_front(" \""))
    return Name;
  while (!Line.empty() && Line[0] != '"') {
    if (Line[0] == '\\' && Line.size() > 1)
      Line = Line.drop_front();
    Name += Line[0];
    Line = Line.drop_front();
  }
  return Name;
}

std::optional<std::set<std::string>> includedFiles(StringRef Preprocessed) {
  if (::memmem(Preprocessed.data(), Preprocessed.size(), ".incbin", 7))
    return std::nullopt;
  std::set<std::string> Files;
  StringRef Rest = Preprocessed, Last;
  while (!Rest.empty()) {
    auto *End = static_cast<const char *>(std::memchr(Rest.data(), '\n', Rest.size()));
    StringRef Line = Rest.take_front(End ? End - Rest.data() : Rest.size());
    Rest = Rest.drop_front(std::min(Rest.size(), Line.size() + 1));
    if (!Line.starts_with("# ") || Line.size() < 3 || !isDigit(Line[2]))
      continue;
    // Most markers repeat the name in the previous one.
    StringRef Marker = Line.drop_front(2).ltrim("0123456789");
    if (Marker == Last)
      continue;
    Last = Marker;
    std::string Name = nameInMarker(Line.drop_front(2));
    bool Invented = Name.empty() || Name.front() == '<' || Name.back() == '/';
    if (!Invented)
      Files.insert(std::move(Name));
  }
  if (Files.empty())
    return std::nullopt;
  return Files;
}

} // namespace carve
