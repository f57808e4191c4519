#include "EmittedEntries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;
using namespace carve::test;

static constexpr llvm::StringLiteral Mark = "__carve_e";

std::set<std::string> carve::test::entryNames(llvm::StringRef Content) {
  auto IsWord = [](char C) { return llvm::isAlnum(C) || C == '_' || C == '$'; };
  std::set<std::string> Names;
  for (size_t At = Content.find(Mark); At != llvm::StringRef::npos;
       At = Content.find(Mark, At + 1)) {
    size_t Begin = At, End = At + Mark.size();
    while (Begin > 0 && IsWord(Content[Begin - 1]))
      --Begin;
    while (End < Content.size() && llvm::isDigit(Content[End]))
      ++End;
    if (Begin < At && End > At + Mark.size() && (End == Content.size() || !IsWord(Content[End])))
      Names.insert(Content.slice(Begin, End).str());
  }
  return Names;
}

bool carve::test::isEntry(llvm::StringRef Name, const RandomKernel &K, size_t Index) {
  return Name.contains(K.mangledPart()) && Name.ends_with((Mark + llvm::Twine(Index + 1)).str());
}

EmittedEntries carve::test::emittedEntries(const RandomProgram &P,
                                           const std::set<std::string> &Names) {
  EmittedEntries Emitted;
  for (const RandomKernel &K : P.Kernels) {
    std::vector<bool> &Has = Emitted.emplace_back();
    for (size_t I = 0; I < K.Entries.size(); ++I)
      Has.push_back(llvm::any_of(Names, [&](const std::string &N) { return isEntry(N, K, I); }));
  }
  return Emitted;
}

std::vector<DispatchedEntry> carve::test::dispatchedEntries(const RandomProgram &P,
                                                            const std::set<std::string> &Names) {
  std::vector<DispatchedEntry> Entries;
  for (const std::string &Name : Names)
    for (const RandomKernel &K : P.Kernels)
      for (size_t I = 0; I < K.Entries.size(); ++I)
        if (isEntry(Name, K, I))
          Entries.push_back({llvm::StringRef(Name).rsplit(Mark).first.str(), Name,
                             K.Entries[I].When, 4 * K.StaticWords});
  return Entries;
}
