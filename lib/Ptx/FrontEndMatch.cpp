#include "Ptx/FrontEndMatch.h"

#include "Ptx/ProfileName.h"
#include "Support/Error.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;
using namespace llvm;

static Error differs(const Twine &What) { return unsupported("front-end-declarations", What); }

/// Returns the tokens of \p Text, each followed by one space, without comments and line directives.
static Expected<std::string> plainTokens(StringRef Text) {
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  std::string Out;
  for (const PtxToken &T : *Tokens)
    if (T.Kind != PtxToken::Line)
      (Out += textOf(Text, T)) += ' ';
  return Out;
}

FrontEndMatch::LineTable FrontEndMatch::readLineTable(PtxSource Module) {
  LineTable Table;
  auto Add = [&](StringRef Name, StringRef Text) {
    Table.TextOf[Name] = Text.str();
    Table.Named.try_emplace(Text, Name.str());
  };
  for (auto [Begin, End] : Module.Scan.LineTables) {
    StringRef Text = Module.Text.slice(Begin, End).trim();
    auto [Directive, Rest] = getToken(Text);
    if (Directive == ".file") {
      auto [Number, Path] = getToken(Rest);
      Add(Number, Path.trim());
    } else if (getToken(Rest).first == ".debug_str") {
      // The section holds labels such as `$L__info_string0:`, each followed by lines of bytes up to
      // the next label.
      StringRef Left = Text.split('{').second.rsplit('}').first;
      for (size_t Colon = Left.find(':'); Colon != StringRef::npos; Colon = Left.find(':')) {
        StringRef Label = Left.take_front(Colon).trim();
        Left = Left.drop_front(Colon + 1);
        StringRef Bytes = Left.take_front(Left.find(':'));
        if (Bytes.size() < Left.size())
          Bytes = Bytes.take_front(Bytes.rfind('\n'));
        Add(Label, Bytes.trim());
        Left = Left.drop_front(Bytes.size());
      }
    } else {
      (Table.Other += Text) += '\n';
    }
  }
  return Table;
}

const std::pair<FrontEndMatch::LineTable, FrontEndMatch::LineTable> &FrontEndMatch::lineTables() {
  if (!Lines)
    Lines.emplace(readLineTable(Base), readLineTable(Flavour));
  return *Lines;
}

Error FrontEndMatch::checkDebugSections() {
  const auto &[Ours, Theirs] = lineTables();
  if (Ours.Other == Theirs.Other)
    return Error::success();
  return differs("the flavour has other debug information than the default");
}

std::string FrontEndMatch::locInBase(StringRef Loc) {
  const auto &[Ours, Theirs] = lineTables();
  SmallVector<StringRef, 12> Words;
  SplitString(Loc, Words, " \t,");
  // The form is `.loc file line column`, or that with
  // `function_name label inlined_at file line column` after it.
  if (Words.size() != 4 && (Words.size() != 10 || Words[4] != "function_name"))
    return "";
  for (size_t I : {1, 5, 7}) {
    if (I >= Words.size())
      break;
    auto Text = Theirs.TextOf.find(Words[I]);
    auto Name = Text == Theirs.TextOf.end() ? Ours.Named.end() : Ours.Named.find(Text->second);
    if (Name == Ours.Named.end())
      return "";
    Words[I] = Name->second;
  }
  std::string Line = join(ArrayRef(Words).take_front(4), " ");
  if (Words.size() > 4)
    Line += ", " + join(ArrayRef(Words).slice(4, 2), " ") + ", " +
            join(ArrayRef(Words).drop_front(6), " ");
  return Line;
}

/// Returns \p Parameters, tokens with one space after each, without what says where a pointer
/// points to: `.ptr`, a state space, and an alignment. Some releases of LLVM write it.
static std::string withoutPointees(StringRef Parameters) {
  std::string Rest;
  while (!Parameters.empty()) {
    auto [Token, Left] = Parameters.split(' ');
    Parameters = Left;
    if (Token != ".ptr") {
      (Rest += Token) += ' ';
      continue;
    }
    for (StringRef Space : {".global ", ".const ", ".shared ", ".local "})
      Parameters.consume_front(Space);
    if (Parameters.consume_front(".align "))
      Parameters = Parameters.split(' ').second;
  }
  return Rest;
}

Error FrontEndMatch::checkParameters(const PtxItem &BaseEntry, const PtxItem &Entry) const {
  auto Parameters = [](PtxSource Module, const PtxItem &Item) {
    StringRef Header = Module.Text.slice(Item.Begin, Item.HeaderEnd);
    return plainTokens(Header.slice(Header.find('('), Header.find(')')));
  };
  auto Ours = Parameters(Base, BaseEntry), Theirs = Parameters(Flavour, Entry);
  if (!Ours || !Theirs)
    return joinErrors(Ours.takeError(), Theirs.takeError());
  if (withoutPointees(*Ours) == withoutPointees(*Theirs))
    return Error::success();
  return differs(Entry.Name + " takes other parameters in the flavour than in the default");
}

Expected<std::string> FrontEndMatch::contentOf(PtxSource Module, const PtxItem &Item,
                                               unsigned Depth) {
  StringRef Text = Module.textOf(Item);
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  std::string Out;
  for (const PtxToken &T : *Tokens) {
    if (T.Kind == PtxToken::Line)
      continue;
    StringRef Word = textOf(Text, T);
    const PtxItem *Other = nullptr;
    if (T.Kind == PtxToken::Word && isNumberedOverFile(Word) && Word != Item.Name)
      Other = Module.Scan.find(Word);
    if (Other && Depth == 8)
      return differs(Item.Name + " refers to too long a chain of strings");
    if (Other) {
      auto Content = contentOf(Module, *Other, Depth + 1);
      if (!Content)
        return Content.takeError();
      Out += "{" + *Content + "} ";
    } else {
      bool Own = T.Kind == PtxToken::Word && Word == Item.Name && isNumberedOverFile(Word);
      (Out += Own ? "$numbered" : Word) += ' ';
    }
  }
  return Out;
}

Error FrontEndMatch::indexNumbered() {
  if (std::exchange(Indexed, true))
    return Error::success();
  for (const PtxItem &Item : Base.Scan.Items) {
    if (Item.Kind != PtxItem::Variable || !isNumberedOverFile(Item.Name))
      continue;
    auto Content = contentOf(Base, Item);
    if (!Content)
      return Content.takeError();
    NumberedByContent.try_emplace(*Content, Item.Name);
  }
  return Error::success();
}

Expected<std::string> FrontEndMatch::nameInBase(const PtxItem &Item) {
  if (auto It = Known.find(Item.Name); It != Known.end())
    return It->second;
  const PtxItem *Ours = Base.Scan.find(Item.Name);
  // Only the kernel's name is used here, and programs see kernels by that name, too.
  if (Item.Kind == PtxItem::Entry && Ours && Ours->Kind == PtxItem::Entry)
    return Known[Item.Name] = Item.Name;
  auto Wanted = contentOf(Flavour, Item);
  if (!Wanted)
    return Wanted.takeError();
  if (isNumberedOverFile(Item.Name)) {
    if (Error E = indexNumbered())
      return E;
    auto It = NumberedByContent.find(*Wanted);
    if (It == NumberedByContent.end())
      return differs("the default has no string like the flavour's " + Item.Name);
    return Known[Item.Name] = It->second;
  }
  if (!Ours || Ours->Kind != Item.Kind || Ours->HasBody != Item.HasBody)
    return differs("the default does not declare " + Item.Name + " as the flavour does");
  auto Present = contentOf(Base, *Ours);
  if (!Present)
    return Present.takeError();
  if (*Present != *Wanted)
    return differs("the default declares " + Item.Name + " differently from the flavour");
  return Known[Item.Name] = Item.Name;
}
