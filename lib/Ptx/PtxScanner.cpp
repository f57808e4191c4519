#include "Ptx/PtxScanner.h"
#include "Ptx/PtxBody.h"
#include "Support/Error.h"

using namespace carve;
using namespace llvm;

namespace {

/// The body of a function between its braces, as indices of tokens.
struct BodySpan {
  unsigned Item;
  size_t First, Last;
};

class Scanner {
public:
  Scanner(StringRef Text, std::vector<PtxToken> Tokens) : Text(Text), Tokens(std::move(Tokens)) {}
  Expected<ScannedPtx> run();

private:
  bool atEnd() const { return Pos >= Tokens.size(); }
  StringRef word() const { return textOf(Text, Tokens[Pos]); }
  bool at(char C) const { return !atEnd() && isPunct(Text, Tokens[Pos], C); }
  bool isDirective() const { return !atEnd() && Tokens[Pos].Kind == PtxToken::Directive; }

  Error scanStatement();
  Error scanAlias();
  Error scanSection();
  Error scanItem();
  Error scanFunction(PtxItem &Item);
  Error scanVariable(PtxItem Item);
  void scanPerformanceDirective(PtxItem &Item);
  std::array<unsigned, 3> scanTriple();
  std::optional<unsigned> scanNumber();
  /// Advances from an opening bracket to after the one that closes it.
  Error skipBracketed();
  Error skipPast(char C);
  void add(PtxItem Item);
  Error unended(size_t Begin) const;

  StringRef Text;
  std::vector<PtxToken> Tokens;
  size_t Pos = 0;
  bool SawTarget = false;
  std::vector<BodySpan> Bodies;
  ScannedPtx Module;
};

Error Scanner::unended(size_t Begin) const {
  return malformed("PTX: the statement at offset " + Twine(Begin) + " does not end");
}

Error Scanner::skipBracketed() {
  size_t Begin = Tokens[Pos].Begin;
  std::string Open;
  for (; !atEnd(); ++Pos) {
    if (at('{') || at('(') || at('['))
      Open.push_back(at('{') ? '}' : at('(') ? ')' : ']');
    else if (at('}') || at(')') || at(']')) {
      if (!at(Open.back()))
        return malformed("PTX: the bracket at offset " + Twine(Tokens[Pos].Begin) +
                         " closes no bracket of its kind");
      Open.pop_back();
    }
    if (Open.empty()) {
      ++Pos;
      return Error::success();
    }
  }
  return malformed("PTX: the bracket at offset " + Twine(Begin) + " is not closed");
}

Error Scanner::skipPast(char C) {
  size_t Begin = atEnd() ? Text.size() : Tokens[Pos].Begin;
  while (!atEnd() && !at(C))
    ++Pos;
  if (atEnd())
    return unended(Begin);
  ++Pos;
  return Error::success();
}

std::optional<unsigned> Scanner::scanNumber() {
  unsigned Value = 0;
  if (atEnd() || Tokens[Pos].Kind != PtxToken::Number || word().getAsInteger(0, Value))
    return std::nullopt;
  ++Pos;
  return Value;
}

std::array<unsigned, 3> Scanner::scanTriple() {
  std::array<unsigned, 3> Values = {1, 1, 1};
  for (unsigned I = 0; I < 3; ++I) {
    if (I && !at(','))
      break;
    Pos += I != 0;
    if (std::optional<unsigned> Value = scanNumber())
      Values[I] = *Value;
  }
  return Values;
}

void Scanner::scanPerformanceDirective(PtxItem &Item) {
  StringRef Directive = word();
  EntryDirectives &D = Item.Directives;
  ++Pos;
  if (Directive == ".maxntid") {
    D.MaxNTid = scanTriple();
  } else if (Directive == ".reqntid") {
    D.ReqNTid = scanTriple();
  } else if (Directive == ".reqnctapercluster") {
    D.ReqNCtaPerCluster = scanTriple();
  } else if (Directive == ".minnctapersm" || Directive == ".maxnctapersm") {
    D.MinNCtaPerSm = scanNumber();
  } else if (Directive == ".explicitcluster" || Directive == ".maxclusterrank") {
    D.ExplicitCluster = true;
  } else if (Directive == ".maxnreg") {
    D.MaxNReg = scanNumber();
    if (D.MaxNReg)
      Item.MaxNRegValues.emplace_back(Tokens[Pos - 1].Begin, Tokens[Pos - 1].End);
  }
}

/// Scans from the name of an entry or function, or from the brackets of its result before the name.
Error Scanner::scanFunction(PtxItem &Item) {
  bool Named = false;
  while (!atEnd() && !at('{') && !at(';') && !at('}')) {
    Item.HeaderEnd = Tokens[Pos].End;
    if (at('(')) {
      if (Error E = skipBracketed())
        return E;
      Item.HeaderEnd = Tokens[Pos - 1].End;
    } else if (isDirective()) {
      scanPerformanceDirective(Item);
      Item.HeaderEnd = Tokens[Pos - 1].End;
    } else {
      if (Tokens[Pos].Kind == PtxToken::Word && !Named) {
        Item.Name = word().str();
        Named = true;
      }
      ++Pos;
    }
  }
  if (atEnd() || at('}') || !Named)
    return unended(Item.Begin);
  if (at('{')) {
    size_t First = Pos + 1;
    if (Error E = skipBracketed())
      return E;
    Item.HasBody = true;
    Bodies.push_back({static_cast<unsigned>(Module.Items.size()), First, Pos - 1});
  } else {
    ++Pos;
  }
  Item.End = Tokens[Pos - 1].End;
  add(std::move(Item));
  return Error::success();
}

/// Scans from after the state space. One statement may declare several names.
Error Scanner::scanVariable(PtxItem Item) {
  std::vector<std::string> Names;
  bool InInitialiser = false;
  while (!atEnd() && !at(';')) {
    if (at('{') || at('(') || at('[')) {
      if (Error E = skipBracketed())
        return E;
      continue;
    }
    if (at('}'))
      return malformed("PTX: the bracket at offset " + Twine(Tokens[Pos].Begin) +
                       " closes no bracket of its kind");
    if (at('=') || at(','))
      InInitialiser = at('=');
    else if (Tokens[Pos].Kind == PtxToken::Word && !InInitialiser)
      Names.push_back(word().str());
    ++Pos;
  }
  if (atEnd())
    return unended(Item.Begin);
  Item.End = Tokens[Pos++].End;
  for (std::string &Name : Names) {
    Item.Name = std::move(Name);
    add(Item);
  }
  return Error::success();
}

void Scanner::add(PtxItem Item) {
  unsigned Index = Module.Items.size();
  auto [It, New] = Module.Symbols.try_emplace(Item.Name, Index);
  if (!New && !Module.Items[It->second].HasBody)
    It->second = Index;
  Module.Items.push_back(std::move(Item));
}

Error Scanner::scanItem() {
  PtxItem Item;
  Item.Begin = Tokens[Pos].Begin;
  bool Extern = false;
  while (!atEnd() && !at(';') && !at('}')) {
    bool IsEntry = word() == ".entry";
    Extern |= word() == ".extern";
    Item.DynamicSmem |= Extern && word() == ".shared";
    if (isDirective() && (IsEntry || word() == ".func")) {
      Item.Kind = IsEntry ? PtxItem::Entry : PtxItem::Function;
      ++Pos;
      return scanFunction(Item);
    }
    if (at('(')) { // Skips the brackets of `.attribute(.managed)`.
      if (Error E = skipBracketed())
        return E;
      continue;
    }
    // Directives and numbers such as `.align 8` come before the name.
    if (!isDirective() && Tokens[Pos].Kind != PtxToken::Number)
      return scanVariable(std::move(Item));
    ++Pos;
  }
  return unended(Item.Begin);
}

Error Scanner::scanAlias() {
  std::vector<StringRef> Names;
  size_t Begin = Tokens[Pos].Begin;
  for (++Pos; !atEnd() && !at(';'); ++Pos)
    if (Tokens[Pos].Kind == PtxToken::Word)
      Names.push_back(word());
  if (atEnd() || Names.size() != 2)
    return unended(Begin);
  Module.Aliases[Names[0]] = Names[1].str();
  ++Pos;
  return Error::success();
}

Error Scanner::scanSection() {
  size_t Begin = Tokens[Pos].Begin;
  while (!atEnd() && !at('{'))
    ++Pos;
  if (atEnd())
    return unended(Text.size());
  if (Error E = skipBracketed())
    return E;
  Module.LineTables.emplace_back(Begin, Tokens[Pos - 1].End);
  return Error::success();
}

Error Scanner::scanStatement() {
  if (Tokens[Pos].Kind == PtxToken::Line) {
    SawTarget |= word().starts_with(".target");
    if (word().starts_with(".file"))
      Module.LineTables.emplace_back(Tokens[Pos].Begin, Tokens[Pos].End);
    ++Pos;
    return Error::success();
  }
  if (at(';')) {
    ++Pos;
    return Error::success();
  }
  if (!isDirective())
    return malformed("PTX: unexpected '" + word() + "' at offset " + Twine(Tokens[Pos].Begin));
  if (word() == ".version" || word() == ".address_size") {
    ++Pos;
    if (!atEnd() && Tokens[Pos].Kind == PtxToken::Number)
      ++Pos;
    return Error::success();
  }
  if (word() == ".alias")
    return scanAlias();
  if (word() == ".pragma")
    return skipPast(';');
  if (word() == ".section")
    return scanSection();
  return scanItem();
}

Expected<ScannedPtx> Scanner::run() {
  while (!atEnd())
    if (Error E = scanStatement())
      return E;
  if (!SawTarget)
    return malformed("PTX: no .target");
  // Calls are resolved when all names are known, because a function may be defined after its
  // caller.
  for (const BodySpan &B : Bodies) {
    MutableArrayRef<PtxToken> Body(Tokens.data() + B.First, B.Last - B.First);
    setRoles(Text, Body);
    scanBody(Text, Body, Module, Module.Items[B.Item]);
  }
  return std::move(Module);
}

} // namespace

const PtxItem *ScannedPtx::find(StringRef Name) const {
  if (auto Alias = Aliases.find(Name); Alias != Aliases.end())
    Name = Alias->second;
  auto It = Symbols.find(Name);
  return It == Symbols.end() ? nullptr : &Items[It->second];
}

Expected<ScannedPtx> carve::scanPtx(StringRef Text) {
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  return Scanner(Text, std::move(*Tokens)).run();
}
