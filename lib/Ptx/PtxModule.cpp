#include "Ptx/PtxModule.h"

#include "Ptx/PtxScanner.h"
#include "Support/Error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace carve;
using namespace llvm;

unsigned EntryDirectives::maxThreadsPerBlock() const {
  const auto &Bound = ReqNTid ? ReqNTid : MaxNTid;
  return Bound ? (*Bound)[0] * (*Bound)[1] * (*Bound)[2] : 1024;
}

bool carve::isSystemFunction(StringRef Name) {
  return Name == "vprintf" || Name == "malloc" || Name == "free" || Name == "__assertfail" ||
         Name.starts_with("cuda");
}

namespace {

/// Walks the calls of one entry, depth first in the order of the text.
class CallWalk {
public:
  CallWalk(const ScannedPtx &Module, PtxEntry &Result) : Module(Module), Result(Result) {}
  void run(const PtxItem &Entry);

private:
  struct Frame {
    const PtxItem *Item;
    size_t NextCall;
  };
  void enter(const PtxItem &Item);
  void follow(StringRef Callee);

  const ScannedPtx &Module;
  PtxEntry &Result;
  std::vector<Frame> Stack; // Not recursive: call chains of generated code can be long.
  DenseMap<const PtxItem *, bool> OnStack;
};

void CallWalk::enter(const PtxItem &Item) {
  Result.UsesSetMaxNReg |= Item.SetsMaxNReg;
  Result.UnknownStack |= Item.CallsIndirectly;
  OnStack[&Item] = true;
  Stack.push_back({&Item, 0});
}

void CallWalk::follow(StringRef Callee) {
  const PtxItem *Item = Module.find(Callee);
  auto Known = OnStack.find(Item);
  if (Known != OnStack.end()) {
    Result.UnknownStack |= Known->second; // A cycle.
    return;
  }
  Result.Callees.push_back(Callee.str());
  if (Item->HasBody)
    Result.CallsShared = true;
  else
    Result.CallsExternal |= !isSystemFunction(Callee);
  enter(*Item);
}

void CallWalk::run(const PtxItem &Entry) {
  enter(Entry);
  while (!Stack.empty()) {
    Frame &Top = Stack.back();
    if (Top.NextCall < Top.Item->Calls.size()) {
      follow(Top.Item->Calls[Top.NextCall++]);
      continue;
    }
    OnStack[Top.Item] = false;
    Stack.pop_back();
  }
}

/// Changes to a text, applied in one pass.
class Edits {
public:
  /// Puts \p New in place of [\p Begin, \p End). Insertions at one place keep their order.
  void replace(size_t Begin, size_t End, std::string New) {
    Changes.emplace(Begin, std::pair(End, std::move(New)));
  }
  std::string apply(StringRef Text) const {
    std::string Out;
    size_t At = 0;
    for (const auto &[Begin, Change] : Changes) {
      Out += Text.slice(At, Begin);
      Out += Change.second;
      At = Change.first;
    }
    Out += Text.drop_front(At);
    return Out;
  }

private:
  std::multimap<size_t, std::pair<size_t, std::string>> Changes;
};

/// Sets the cap of \p Entry, whose text starts at \p Base of the text under edit.
void setCap(Edits &E, const PtxItem &Entry, unsigned Cap, size_t Base = 0) {
  // ptxas takes the last `.maxnreg`, so every one there is changed.
  for (auto [Begin, End] : Entry.MaxNRegValues)
    E.replace(Begin - Base, End - Base, std::to_string(Cap));
  if (Entry.MaxNRegValues.empty())
    E.replace(Entry.HeaderEnd - Base, Entry.HeaderEnd - Base, "\n.maxnreg " + std::to_string(Cap));
}

} // namespace

Expected<PtxModule> PtxModule::parse(std::string Text) {
  PtxModule Module;
  Module.Text = std::move(Text);
  auto Scanned = scanPtx(Module.Text);
  if (!Scanned)
    return Scanned.takeError();
  auto Scan = std::make_shared<Impl>();
  static_cast<ScannedPtx &>(*Scan) = std::move(*Scanned);
  for (const PtxItem &Item : Scan->Items) {
    if (Item.Kind != PtxItem::Entry || !Item.HasBody)
      continue;
    PtxEntry Entry;
    Entry.Name = Item.Name;
    Entry.Directives = Item.Directives;
    CallWalk(*Scan, Entry).run(Item);
    Module.Entries.push_back(std::move(Entry));
  }
  Module.Scan = std::move(Scan);
  return Module;
}

const PtxEntry *PtxModule::find(StringRef Name) const {
  for (const PtxEntry &Entry : Entries)
    if (Entry.Name == Name)
      return &Entry;
  return nullptr;
}

StringRef PtxModule::definitionOf(StringRef Name) const {
  const PtxItem *Item = Scan->find(Name);
  return Item && Item->HasBody ? StringRef(Text).slice(Item->Begin, Item->End) : "";
}

static Expected<const PtxItem *> findEntry(const ScannedPtx &Module, StringRef Name) {
  const PtxItem *Item = Module.find(Name);
  if (!Item || Item->Kind != PtxItem::Entry || !Item->HasBody)
    return malformed("PTX: no entry named " + Name);
  return Item;
}

Expected<std::string> PtxModule::withRegisterCaps(const StringMap<unsigned> &Caps) const {
  Edits E;
  for (const auto &Cap : Caps) {
    auto Entry = findEntry(*Scan, Cap.first());
    if (!Entry)
      return Entry.takeError();
    setCap(E, **Entry, Cap.second);
  }
  return E.apply(Text);
}

/// The text of \p Entry with its name, and its parameters' names, made those of the clone.
static Expected<std::string> cloneText(StringRef ModuleText, const PtxItem &Entry,
                                       const CloneRequest &Clone) {
  StringRef Text = ModuleText.slice(Entry.Begin, Entry.End);
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  auto Body = find_if(*Tokens, [&](const PtxToken &T) { return isPunct(Text, T, '{'); });
  setRoles(Text, MutableArrayRef(*Tokens).drop_front(Body - Tokens->begin() + 1).drop_back());
  Edits E;
  std::string ParamPrefix = Entry.Name + "_param_";
  for (const PtxToken &T : *Tokens) {
    if (T.Kind != PtxToken::Word || T.Role == PtxToken::Opcode)
      continue;
    StringRef Word = textOf(Text, T);
    if (Word == Entry.Name || Word.starts_with(ParamPrefix))
      E.replace(T.Begin, T.Begin + Entry.Name.size(), Clone.CloneName);
  }
  if (Clone.Edit.RegisterCap)
    setCap(E, Entry, *Clone.Edit.RegisterCap, Entry.Begin);
  return E.apply(Text);
}

Expected<std::string> PtxModule::withClones(ArrayRef<CloneRequest> Clones) const {
  Edits E;
  StringSet<> Taken;
  for (const CloneRequest &Clone : Clones) {
    auto Entry = findEntry(*Scan, Clone.Entry);
    if (!Entry)
      return Entry.takeError();
    if (Scan->Symbols.contains(Clone.CloneName) || Scan->Aliases.contains(Clone.CloneName) ||
        !Taken.insert(Clone.CloneName).second)
      return malformed("PTX: the name " + Clone.CloneName + " is taken");
    auto Copy = cloneText(Text, **Entry, Clone);
    if (!Copy)
      return Copy.takeError();
    E.replace((*Entry)->End, (*Entry)->End, "\n" + *Copy);
  }
  return E.apply(Text);
}
