#include "Ptx/KernelHazards.h"

#include "Ptx/PtxScanner.h"
#include "Ptx/SpinLoops.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;
using namespace llvm;

/// Whether \p Name is a function of the device runtime that only returns information.
static bool onlyAnswers(StringRef Name) {
  return is_contained({"cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString",
                       "cudaGetErrorName", "cudaGetDevice", "cudaGetDeviceCount",
                       "cudaDeviceGetAttribute", "cudaRuntimeGetVersion"},
                      Name);
}

/// Adds to \p H what a call of the function \p Name means, which has no body in the module.
static void noteSystemCall(StringRef Name, KernelHazards &H) {
  // Since CUDA 12 the device runtime has names of its own, such as `__cudaCDP2LaunchDevice`.
  StringRef Runtime = Name;
  bool Internal = Runtime.consume_front("__cudaCDP2");
  if (Name == "vprintf")
    H.Printf = true;
  else if (Name == "malloc" || Name == "free" || Name == "cudaMalloc" || Name == "cudaFree" ||
           (Internal && (Runtime == "Malloc" || Runtime == "Free")))
    H.DeviceHeap = true;
  else if (Name == "__assertfail")
    H.Asserts = true;
  else if (Internal ? !onlyAnswers(("cuda" + Runtime).str())
                    : Name.starts_with("cuda") && !onlyAnswers(Name))
    H.DeviceLaunch = true;
  else if (!Internal && !isSystemFunction(Name))
    H.External.push_back(Name.str());
}

namespace {

/// Adds the hazards in the bodies of functions to those of a kernel.
class BodyScan {
public:
  BodyScan(StringRef ModuleText, const ScannedPtx &Module, KernelHazards &Result)
      : ModuleText(ModuleText), Module(Module), H(Result) {}
  Error add(const PtxItem &Item);

private:
  Error note(StringRef Text, ArrayRef<PtxToken> Instruction);
  Error noteVariable(StringRef Name);

  StringRef ModuleText;
  const ScannedPtx &Module;
  KernelHazards &H;
};

/// Notes that the kernel names \p Name, if that is a variable of the module.
Error BodyScan::noteVariable(StringRef Name) {
  const PtxItem *Item = Module.find(Name);
  if (!Item || Item->Kind != PtxItem::Variable)
    return Error::success();
  // Only the declaration before the initial value tells the kind:
  // `.global .attribute(.managed) .align 4 .u32 Counter`.
  auto [Declaration, Value] = ModuleText.slice(Item->Begin, Item->End).split('=');
  H.ManagedVariable |= Declaration.contains(".managed");
  if (!Declaration.contains(".const") || !H.Constants.insert(Name.str()).second)
    return Error::success();
  auto Tokens = lexPtx(Value);
  if (!Tokens)
    return Tokens.takeError();
  for (const PtxToken &T : *Tokens)
    if (T.Kind == PtxToken::Word)
      if (Error E = noteVariable(textOf(Value, T)))
        return E;
  return Error::success();
}

Error BodyScan::note(StringRef Text, ArrayRef<PtxToken> Instruction) {
  StringRef Opcode = textOf(Text, Instruction[0]);
  H.SurfaceWrites |= Opcode == "sust" || Opcode == "sured";
  H.Multimem |= Opcode == "multimem";
  H.Programmatic |= Opcode == "griddepcontrol";
  for (const PtxToken &T : Instruction.drop_front()) {
    if (T.Kind == PtxToken::Directive)
      H.SystemScope |= textOf(Text, T) == ".sys";
    else if (T.Kind == PtxToken::Word)
      if (Error E = noteVariable(textOf(Text, T)))
        return E;
  }
  return Error::success();
}

Error BodyScan::add(const PtxItem &Item) {
  StringRef Text = ModuleText.slice(Item.Begin, Item.End);
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  ArrayRef<PtxToken> Body = bodyOf(Text, *Tokens);
  Error Failed = Error::success();
  forEachInstruction(Text, Body, [&](ArrayRef<PtxToken> I) {
    if (!Failed)
      Failed = note(Text, I);
  });
  H.SpinWait = H.SpinWait || hasSpinLoop(Text, Body);
  return Failed;
}

} // namespace

Expected<KernelHazards> PtxModule::kernelHazards(StringRef Name) const {
  const PtxEntry *Entry = find(Name);
  if (!Entry)
    return malformed("PTX: no entry named " + Name);
  KernelHazards H;
  BodyScan Scanner(Text, *Scan, H);
  if (Error E = Scanner.add(*Scan->find(Name)))
    return E;
  for (const std::string &Callee : Entry->Callees) {
    const PtxItem *Item = Scan->find(Callee);
    if (!Item->HasBody)
      noteSystemCall(Callee, H);
    else if (Error E = Scanner.add(*Item))
      return E;
  }
  return H;
}

bool PtxModule::usesDeviceHeap() const {
  // nvcc declares every function that is called, so the declarations tell.
  return any_of(ArrayRef<StringRef>{"malloc", "free", "cudaMalloc", "__cudaCDP2Malloc"},
                [&](StringRef Name) {
                  const PtxItem *Item = Scan->find(Name);
                  return Item && Item->Kind == PtxItem::Function && !Item->HasBody;
                });
}
