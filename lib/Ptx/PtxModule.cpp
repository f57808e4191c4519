#include "Ptx/PtxModule.h"

#include "Ptx/KernelDigest.h"
#include "Ptx/PtxScanner.h"
#include "Support/Error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

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

/// Walks the calls of one entry depth-first, in the order of the text.
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
  std::vector<Frame> Stack; // An explicit stack, because call chains of generated code can be long.
  DenseMap<const PtxItem *, bool> OnStack;
};

void CallWalk::enter(const PtxItem &Item) {
  Result.UsesSetMaxNReg |= Item.SetsMaxNReg;
  Result.UnknownStack |= Item.CallsIndirectly;
  Result.UsesDynamicSmem |= Item.MentionsDynamicSmem;
  Result.Loads |= Item.Loads;
  OnStack[&Item] = true;
  Stack.push_back({&Item, 0});
}

void CallWalk::follow(StringRef Callee) {
  const PtxItem *Item = Module.find(Callee);
  auto Known = OnStack.find(Item);
  if (Known != OnStack.end()) {
    Result.UnknownStack |= Known->second; // The calls form a cycle.
    return;
  }
  Result.Callees.push_back(Callee.str());
  Result.CallsShared |= Item->HasBody;
  Result.CallsBodiless |= !Item->HasBody;
  Result.CallsExternal |= !Item->HasBody && !isSystemFunction(Callee);
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

/// Returns PtxEntry::ParameterBytes of the entry that begins with \p Header. The size of a
/// parameter that is declared in an unknown way is 0.
std::vector<unsigned> parameterBytes(StringRef Header) {
  std::vector<unsigned> Sizes;
  StringRef List = Header.slice(Header.find('(') + 1, Header.find(')'));
  if (!Header.contains('(') || List.trim().empty())
    return Sizes;
  for (StringRef Parameter : split(List, ',')) {
    Sizes.push_back(0);
    // Such as `.param .u64 .ptr .align 1 k_param_0`; a struct is `.param .align 8 .b8
    // k_param_1[24]`.
    auto [Declared, Rest] = Parameter.split('[');
    unsigned Elements = 1;
    if (!Rest.empty() && Rest.split(']').first.trim().getAsInteger(10, Elements))
      continue;
    SmallVector<StringRef, 8> Words;
    SplitString(Declared, Words);
    for (StringRef Word : Words)
      if (unsigned Bits = 0; Word.size() > 2 && Word[0] == '.' &&
                             StringRef("usbf").contains(Word[1]) &&
                             !Word.drop_front(2).getAsInteger(10, Bits))
        Sizes.back() = Bits / 8 * Elements;
  }
  return Sizes;
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
    Entry.ParameterBytes = parameterBytes(StringRef(Module.Text).slice(Item.Begin, Item.HeaderEnd));
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

Expected<LaunchReads> PtxModule::launchReads(StringRef Entry) const {
  if (!find(Entry))
    return malformed("PTX: no entry named " + Entry);
  return carve::launchReads(definitionOf(Entry), Entry);
}

Expected<std::string> PtxModule::kernelDigest(StringRef Entry) const {
  return carve::kernelDigest(*Scan, Text, Entry);
}
