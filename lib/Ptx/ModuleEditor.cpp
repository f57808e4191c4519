#include "Ptx/ModuleEditor.h"

#include "Ptx/GlobalLoads.h"
#include "Ptx/LaunchConstants.h"
#include "Ptx/TextEdits.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace carve;
using namespace llvm;

static Error nameTaken(StringRef Name) { return malformed("PTX: the name " + Name + " is taken"); }

/// Replaces a function's own name, which is also a part of its parameters' names, with \p NewName.
static void renameOwn(StringRef Text, ArrayRef<PtxToken> Tokens, StringRef Name, StringRef NewName,
                      TextEdits &E) {
  if (Name == NewName)
    return;
  std::string ParamPrefix = (Name + "_param_").str();
  for (const PtxToken &T : Tokens) {
    if (T.Kind != PtxToken::Word || T.Role == PtxToken::Opcode)
      continue;
    StringRef Word = textOf(Text, T);
    if (Word == Name || Word.starts_with(ParamPrefix))
      E.replace(T.Begin, T.Begin + Name.size(), NewName.str());
  }
}

Expected<std::string> carve::renamedFunction(StringRef Definition, StringRef Name,
                                             StringRef NewName) {
  auto Tokens = lexPtx(Definition);
  if (!Tokens)
    return Tokens.takeError();
  auto Open = find_if(*Tokens, [&](const PtxToken &T) { return isPunct(Definition, T, '{'); });
  if (Open == Tokens->end())
    return malformed("PTX: a function without a body");
  setRoles(Definition, MutableArrayRef(*Tokens).drop_front(Open - Tokens->begin() + 1).drop_back());
  TextEdits E;
  renameOwn(Definition, *Tokens, Name, NewName, E);
  return E.apply(Definition);
}

/// Writes the text from the linkage directive to the start of the body. New directives are added at
/// its end.
Expected<std::string> ModuleEditor::writeHeader(const PtxItem &Entry, StringRef NewName,
                                                const EntryEdit &Edit) const {
  StringRef Text = Base.Text.slice(Entry.Begin, Entry.HeaderEnd);
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  TextEdits E;
  renameOwn(Text, *Tokens, Entry.Name, NewName, E);
  const EntryDirectives &D = Entry.Directives;
  if (Edit.SmemSpillingMaxThreads && !D.MaxNTid && !D.ReqNTid)
    E.insert(Text.size(), "\n.maxntid " + std::to_string(*Edit.SmemSpillingMaxThreads) + ", 1, 1");
  if (!Edit.RegisterCap)
    return E.apply(Text);
  // ptxas takes the last `.maxnreg`, so every one that is present is changed.
  std::string Cap = std::to_string(*Edit.RegisterCap);
  for (auto [Begin, End] : Entry.MaxNRegValues)
    E.replace(Begin - Entry.Begin, End - Entry.Begin, Cap);
  if (Entry.MaxNRegValues.empty())
    E.insert(Text.size(), "\n.maxnreg " + Cap);
  return E.apply(Text);
}

/// Returns the names that a body declares for itself, except registers that start with `%`.
static StringSet<> declaredNames(StringRef Text, ArrayRef<PtxToken> Body) {
  StringSet<> Names;
  bool AtStart = true;
  for (size_t I = 0; I < Body.size(); ++I) {
    bool Declares = AtStart && Body[I].Kind == PtxToken::Directive;
    AtStart = Body[I].Kind == PtxToken::Line ||
              (Body[I].Kind == PtxToken::Punct && StringRef(";{}:").contains(Text[Body[I].Begin]));
    if (!Declares)
      continue;
    for (; I < Body.size() && !isPunct(Text, Body[I], ';'); ++I)
      if (Body[I].Kind == PtxToken::Word)
        Names.insert(textOf(Text, Body[I]));
    AtStart = true;
  }
  return Names;
}

/// Returns the result's name for \p Mentioned, an item of the source's module.
Expected<std::string> ModuleEditor::nameOf(const PtxItem &Mentioned, Job &J) {
  if (Mentioned.Kind != PtxItem::Function || !Mentioned.HasBody)
    return J.Edit.FrontEnd ? matchWith(J.Source).nameInBase(Mentioned) : Mentioned.Name;
  std::string Name = Mentioned.Name + J.Edit.CalleeSuffix;
  auto [At, New] = Copies.try_emplace(Name, Copy{J.Source, &Mentioned, J.Edit.Loads, "", ""});
  const Copy &Known = At->second;
  if (Known.Original != &Mentioned || Known.Loads != J.Edit.Loads ||
      Base.Scan.Symbols.contains(Name) || Base.Scan.Aliases.contains(Name))
    return nameTaken(Name);
  if (New)
    J.Pending.push_back(&Mentioned);
  return Name;
}

Error ModuleEditor::renameMentioned(StringRef Text, ArrayRef<PtxToken> Body, const PtxItem &Item,
                                    Job &J, TextEdits &E) {
  StringSet<> Declared = declaredNames(Text, Body);
  for (const PtxToken &T : Body) {
    StringRef Word = textOf(Text, T);
    if (T.Kind != PtxToken::Word || T.Role != PtxToken::Operand || Word[0] == '%' ||
        Word == Item.Name || Word.starts_with(Item.Name + "_param_"))
      continue;
    const PtxItem *Mentioned = J.Source.Scan.find(Word);
    if (!Mentioned)
      continue;
    // It would depend on the scopes in the body which of the two is meant.
    if (Declared.contains(Word))
      return unsupported("front-end-declarations",
                         Item.Name + " declares the module's " + Word + " for itself");
    auto Name = nameOf(*Mentioned, J);
    if (!Name)
      return Name.takeError();
    if (*Name != Word)
      E.replace(T.Begin, T.End, std::move(*Name));
  }
  return Error::success();
}

/// Writes the text from the end of the header to the closing brace.
Expected<std::string> ModuleEditor::writeBody(const PtxItem &Item, StringRef NewName, Job &J) {
  StringRef Text = J.Source.Text.slice(Item.HeaderEnd, Item.End);
  std::string Constant; // Its own text, because what becomes constant has names that change, too.
  if (Item.Kind == PtxItem::Entry && !J.Edit.Known.empty()) {
    auto Written = withConstants(Text, Item.Name, J.Edit.Known);
    if (!Written)
      return Written.takeError();
    Text = Constant = std::move(*Written);
  }
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  size_t Open =
      find_if(*Tokens, [&](const PtxToken &T) { return isPunct(Text, T, '{'); }) - Tokens->begin();
  MutableArrayRef<PtxToken> Body = MutableArrayRef(*Tokens).drop_front(Open + 1).drop_back();
  setRoles(Text, Body);
  TextEdits E;
  if (J.Edit.SmemSpillingMaxThreads && Item.Kind == PtxItem::Entry)
    E.insert((*Tokens)[Open].End, "\n\t.pragma \"enable_smem_spilling\";");
  renameOwn(Text, Body, Item.Name, NewName, E);
  if (J.CopiesFunctions)
    if (Error Failed = renameMentioned(Text, Body, Item, J, E))
      return Failed;
  if (J.Edit.FrontEnd)
    for (const PtxToken &T : Body)
      if (T.Kind == PtxToken::Line && textOf(Text, T).starts_with(".loc"))
        E.replace(T.Begin, T.End, matchWith(J.Source).locInBase(textOf(Text, T)));
  if (J.Edit.Loads != LoadCaching::AsCompiled)
    forEachInstruction(Text, Body, [&](ArrayRef<PtxToken> Instruction) {
      if (auto Added = loadModifier(Text, Instruction, J.Edit.Loads))
        E.insert(Added->Place, Added->Modifier.str());
    });
  return E.apply(Text);
}

/// Writes the functions that the job has met so far, and the functions that they reach.
Error ModuleEditor::copyFunctions(Job &J) {
  while (!J.Pending.empty()) {
    const PtxItem &Function = *J.Pending.back();
    J.Pending.pop_back();
    std::string Name = Function.Name + J.Edit.CalleeSuffix;
    StringRef Text = J.Source.Text.slice(Function.Begin, Function.HeaderEnd);
    auto Tokens = lexPtx(Text);
    if (!Tokens)
      return Tokens.takeError();
    TextEdits E;
    renameOwn(Text, *Tokens, Function.Name, Name, E);
    auto Body = writeBody(Function, Name, J);
    if (!Body)
      return Body.takeError();
    Copy &C = Copies.at(Name);
    C.Header = E.apply(Text);
    C.Body = std::move(*Body);
  }
  return Error::success();
}

std::string ModuleEditor::functions() const {
  // A copy calls only copies of its own flavour, so the order between flavours is free.
  auto Declared = [](const Copy *C) {
    return find_if(C->Source.Scan.Items,
                   [&](const PtxItem &I) { return I.Name == C->Original->Name; })
        ->Begin;
  };
  std::vector<std::pair<size_t, const Copy *>> Order;
  for (const auto &[Name, C] : Copies)
    Order.emplace_back(Declared(&C), &C);
  stable_sort(Order, less_first());
  std::string Text;
  for (const auto &[At, C] : Order)
    Text += C->Header + ";\n";
  for (auto &[At, C] : Order)
    At = C->Original->Begin;
  stable_sort(Order, less_first());
  for (const auto &[At, C] : Order)
    Text += C->Header + C->Body + "\n";
  return Text;
}

FrontEndMatch &ModuleEditor::matchWith(PtxSource Flavour) {
  return Flavours.try_emplace(&Flavour.Scan, Base, Flavour).first->second;
}

/// Whether \p Entry calls functions whose loads \p Caching changes.
static bool callsLoads(const ScannedPtx &Module, const PtxItem &Entry, LoadCaching Caching) {
  std::vector<const PtxItem *> Reached = {&Entry};
  for (size_t I = 0; I < Reached.size(); ++I)
    for (const std::string &Name : Reached[I]->Calls) {
      const PtxItem *Callee = Module.find(Name);
      if (Callee->Loads.by(Caching))
        return true;
      if (!is_contained(Reached, Callee))
        Reached.push_back(Callee);
    }
  return false;
}

Expected<std::string> ModuleEditor::write(const PtxItem &Entry, StringRef NewName,
                                          const EntryEdit &Edit, PtxSource Source) {
  const PtxItem *BodyOf = &Entry;
  if (Edit.FrontEnd) {
    BodyOf = Source.Scan.find(Entry.Name);
    if (!BodyOf || BodyOf->Kind != PtxItem::Entry || !BodyOf->HasBody)
      return unsupported("front-end-declarations", "the flavour has no entry " + Entry.Name);
    FrontEndMatch &Match = matchWith(Source);
    if (Error E = Match.checkDebugSections())
      return E;
    if (Error E = Match.checkParameters(Entry, *BodyOf))
      return E;
  }
  bool CopiesFunctions = Edit.FrontEnd || callsLoads(Source.Scan, *BodyOf, Edit.Loads);
  Job J{Source, Edit, CopiesFunctions, {}};
  auto Header = writeHeader(Entry, NewName, Edit);
  if (!Header)
    return Header.takeError();
  auto Body = writeBody(*BodyOf, NewName, J);
  if (!Body)
    return Body.takeError();
  if (Error E = copyFunctions(J))
    return E;
  return *Header + *Body;
}

static Expected<const PtxItem *> findEntry(const ScannedPtx &Module, StringRef Name) {
  const PtxItem *Item = Module.find(Name);
  if (!Item || Item->Kind != PtxItem::Entry || !Item->HasBody)
    return malformed("PTX: no entry named " + Name);
  return Item;
}

Expected<std::string> PtxModule::withRegisterCaps(const StringMap<unsigned> &Caps) const {
  StringMap<EntryEdit> Edits;
  for (const auto &Cap : Caps)
    Edits[Cap.first()].RegisterCap = Cap.second;
  return withEdits(Edits);
}

Expected<std::string> PtxModule::withEdits(const StringMap<EntryEdit> &Edits) const {
  return changed(Edits, {});
}

Expected<std::string> PtxModule::withClones(ArrayRef<CloneRequest> Clones) const {
  return changed({}, Clones);
}

Expected<std::string> PtxModule::clonesAlone(ArrayRef<CloneRequest> Clones,
                                             ArrayRef<std::string> Names) const {
  StringSet<> Alone;
  for (const std::string &Name : Names)
    Alone.insert(Name);
  return changed({}, Clones, &Alone);
}

Expected<std::string> PtxModule::changed(const StringMap<EntryEdit> &Edits,
                                         ArrayRef<CloneRequest> Clones) const {
  return changed(Edits, Clones, nullptr);
}

Expected<std::string> PtxModule::changed(const StringMap<EntryEdit> &Edits,
                                         ArrayRef<CloneRequest> Clones,
                                         const StringSet<> *Alone) const {
  /// What becomes of one entry of the text.
  struct Change {
    const PtxItem *Entry;
    const EntryEdit *Edit = nullptr;
    std::vector<const CloneRequest *> Clones = {};
  };
  std::map<size_t, Change> InOrder;
  auto ChangeOf = [&](StringRef Name) -> Expected<Change *> {
    auto Entry = findEntry(*Scan, Name);
    if (!Entry)
      return Entry.takeError();
    return &InOrder.try_emplace((*Entry)->Begin, Change{*Entry}).first->second;
  };
  for (const auto &Edit : Edits) {
    auto Of = ChangeOf(Edit.first());
    if (!Of)
      return Of.takeError();
    (*Of)->Edit = &Edit.second;
  }
  StringSet<> Taken;
  for (const CloneRequest &Clone : Clones) {
    auto Of = ChangeOf(Clone.Entry);
    if (!Of)
      return Of.takeError();
    if (Scan->Symbols.contains(Clone.CloneName) || Scan->Aliases.contains(Clone.CloneName) ||
        !Taken.insert(Clone.CloneName).second)
      return nameTaken(Clone.CloneName);
    (*Of)->Clones.push_back(&Clone);
  }
  ModuleEditor Editor({Text, *Scan});
  TextEdits E;
  auto Write = [&](const Change &C, StringRef Name, const EntryEdit &Edit) {
    const PtxModule &Source = Edit.FrontEnd ? *Edit.FrontEnd : *this;
    return Editor.write(*C.Entry, Name, Edit, {Source.Text, *Source.Scan});
  };
  std::vector<std::pair<const Change *, std::string>> Written;
  for (const auto &[Begin, C] : InOrder) {
    auto &[Of, New] = Written.emplace_back(&C, "");
    if (C.Edit) {
      auto Own = Write(C, C.Entry->Name, *C.Edit);
      if (!Own)
        return Own.takeError();
      New = std::move(*Own);
    } else {
      New = Text.substr(C.Entry->Begin, C.Entry->End - C.Entry->Begin);
    }
    for (const CloneRequest *Clone : C.Clones) {
      auto Copy = Write(C, Clone->CloneName, Clone->Edit);
      if (!Copy)
        return Copy.takeError();
      (New += '\n') += *Copy;
    }
  }
  if (!Written.empty())
    E.insert(Written.front().first->Entry->Begin, Editor.functions());
  for (auto &[C, New] : Written)
    E.replace(C->Entry->Begin, C->Entry->End, std::move(New));
  if (Alone) {
    StringSet<> Changed;
    for (const auto &[Begin, C] : InOrder)
      Changed.insert(C.Entry->Name);
    for (const PtxItem &Item : Scan->Items)
      if (Item.Kind == PtxItem::Entry && !Alone->contains(Item.Name) &&
          !Changed.contains(Item.Name))
        E.replace(Item.Begin, Item.End, "");
  }
  return E.apply(Text);
}
