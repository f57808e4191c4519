// A kernel's digest covers its own normalised text and that of everything that it reaches, in the
// order of first mention. Names that nvcc numbers over the whole file are numbered within each item
// instead. The content that such a name refers to follows, so that the digest still covers it.
#include "Ptx/KernelDigest.h"

#include "Ptx/AssertArguments.h"
#include "Ptx/ProfileName.h"
#include "Support/Digest.h"
#include "Support/Error.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

using namespace carve;
using namespace llvm;

namespace {

/// Writes one item in normal form.
class ItemNormalizer {
public:
  ItemNormalizer(const ScannedPtx &Module, const PtxItem &Item, StringRef Text,
                 std::vector<PtxToken> Tokens)
      : Module(Module), Item(Item), Text(Text), Tokens(std::move(Tokens)) {}

  std::string run();
  /// Returns the module's items that the text mentions, in order of first mention. Valid after
  /// run().
  ArrayRef<const PtxItem *> mentioned() const { return Mentioned; }

private:
  void scanBody();
  void noteLocals(ArrayRef<PtxToken> Body);
  void write(StringRef Token) { (Out += Token).push_back(' '); }
  void writeWord(const PtxToken &T);
  std::string numbered(StringMap<unsigned> &Numbers, StringRef Name, StringRef Prefix);

  const ScannedPtx &Module;
  const PtxItem &Item;
  StringRef Text;
  std::vector<PtxToken> Tokens;
  StringMap<unsigned> LocalNumbers, StringNumbers;
  StringMap<unsigned> LabelUses; // The uses of each label and other local name of the body.
  DenseSet<size_t> AssertArguments;
  std::vector<const PtxItem *> Mentioned;
  SmallPtrSet<const PtxItem *, 8> Known;
  std::string Out;
};

std::string ItemNormalizer::numbered(StringMap<unsigned> &Numbers, StringRef Name,
                                     StringRef Prefix) {
  unsigned Number = Numbers.try_emplace(Name, Numbers.size()).first->second;
  return (Prefix + Twine(Number)).str();
}

/// Notes the names that the body declares: labels, prototypes, depots and static shared memory.
void ItemNormalizer::noteLocals(ArrayRef<PtxToken> Body) {
  for (size_t I = 0; I < Body.size(); ++I) {
    if (Body[I].Kind == PtxToken::Word && Body[I].Role == PtxToken::Label)
      LabelUses.try_emplace(textOf(Text, Body[I]), 0);
    StringRef Directive = textOf(Text, Body[I]);
    if (Body[I].Kind != PtxToken::Directive || (Directive != ".local" && Directive != ".shared"))
      continue;
    // After an opcode or another modifier (`ld.shared`, `cvta.to.local`) the directive declares
    // nothing.
    if (!I || Body[I - 1].Kind == PtxToken::Word || Body[I - 1].Kind == PtxToken::Directive)
      continue;
    while (I < Body.size() && Body[I].Kind != PtxToken::Word)
      ++I;
    if (I < Body.size())
      // Memory stays in the text even if it is unused, because it takes space.
      LabelUses[textOf(Text, Body[I])] = 1;
  }
  for (const PtxToken &T : Body)
    if (T.Kind == PtxToken::Word && T.Role == PtxToken::Operand)
      if (auto It = LabelUses.find(textOf(Text, T)); It != LabelUses.end())
        ++It->second;
}

void ItemNormalizer::scanBody() {
  if (!Item.HasBody) // The braces of a variable hold its initial values.
    return;
  auto Open = find_if(Tokens, [&](const PtxToken &T) { return isPunct(Text, T, '{'); });
  MutableArrayRef<PtxToken> Body =
      MutableArrayRef(Tokens).drop_front(Open - Tokens.begin() + 1).drop_back();
  setRoles(Text, Body);
  noteLocals(ArrayRef(Tokens).drop_front(Open - Tokens.begin()));
  AssertArguments = findAssertArguments(Text, Body);
}

void ItemNormalizer::writeWord(const PtxToken &T) {
  StringRef Word = textOf(Text, T);
  if (T.Role == PtxToken::Opcode) {
    write(Word);
    return;
  }
  if (LabelUses.contains(Word)) {
    write(numbered(LocalNumbers, Word, "$local"));
    return;
  }
  if (const PtxItem *Other = Module.find(Word); Other && Known.insert(Other).second)
    Mentioned.push_back(Other);
  if (isNumberedOverFile(Word))
    write(numbered(StringNumbers, Word, "$string"));
  else
    write(Word[0] == '%' ? Word.str() : withoutModuleTags(Word));
}

std::string ItemNormalizer::run() {
  scanBody();
  for (size_t I = 0; I < Tokens.size(); ++I) {
    const PtxToken &T = Tokens[I];
    if (T.Kind == PtxToken::Line)
      continue;
    if (AssertArguments.contains(T.Begin)) {
      write("$assert");
      continue;
    }
    // Debug information adds labels that no instruction refers to.
    if (T.Role == PtxToken::Label && !LabelUses.lookup(textOf(Text, T))) {
      ++I; // Skips the label's colon.
      continue;
    }
    if (T.Kind == PtxToken::Word)
      writeWord(T);
    else
      write(textOf(Text, T));
  }
  return std::move(Out);
}

} // namespace

Expected<std::string> carve::kernelDigest(const ScannedPtx &Module, StringRef Text,
                                          StringRef Entry) {
  const PtxItem *Kernel = Module.find(Entry);
  if (!Kernel || Kernel->Kind != PtxItem::Entry || !Kernel->HasBody)
    return malformed("PTX: no entry named " + Entry);
  std::vector<const PtxItem *> Reached = {Kernel};
  SmallPtrSet<const PtxItem *, 16> Known = {Kernel};
  std::vector<std::string> Fields;
  for (size_t Next = 0; Next < Reached.size(); ++Next) {
    const PtxItem &Item = *Reached[Next];
    StringRef ItemText = Text.slice(Item.Begin, Item.End);
    auto Tokens = lexPtx(ItemText);
    if (!Tokens)
      return Tokens.takeError();
    ItemNormalizer Normalizer(Module, Item, ItemText, std::move(*Tokens));
    Fields.push_back(Normalizer.run());
    for (const PtxItem *Mentioned : Normalizer.mentioned())
      if (Known.insert(Mentioned).second)
        Reached.push_back(Mentioned);
  }
  std::vector<StringRef> Views(Fields.begin(), Fields.end());
  return digestOfFields(Views);
}
