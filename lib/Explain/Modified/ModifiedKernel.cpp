#include "Explain/Modified/ModifiedKernel.h"

#include "Ptx/PtxInstructions.h"
#include "Ptx/TextEdits.h"

using namespace carve;
using namespace llvm;

std::string carve::withModifiedClones(const PtxModule &M, ArrayRef<ModifiedClone> Clones) {
  TextEdits E;
  for (const ModifiedClone &C : Clones) {
    StringRef Definition = M.definitionOf(C.Entry);
    E.insert(Definition.end() - M.text().data(), "\n" + C.Text);
  }
  return E.apply(M.text());
}

Expected<std::string> carve::withoutUnrolling(StringRef Definition) {
  auto F = readPtxFunction(Definition);
  if (!F)
    return F.takeError();
  TextEdits E;
  for (const FlowLoop &L : F->Flow.Loops) {
    const FlowBlock &Header = F->Flow.Blocks[L.Header];
    if (Header.First < Header.Last)
      E.insert(F->Code[Header.First].Begin, ".pragma \"nounroll\";\n\t");
  }
  return E.apply(Definition);
}
