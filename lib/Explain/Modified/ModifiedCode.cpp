#include "Explain/Modified/ModifiedCode.h"

#include "Cubin/MachineCode.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace carve;
using namespace llvm;

/// The numbers of floating-point instructions may differ by these. ptxas makes constants with some
/// of them, and contracts others where it can.
static constexpr double FloatTolerance = 0.1;
static constexpr unsigned FloatSlack = 4;

static void count(const MachineInstruction &I, CodeMix &Mix) {
  using Kind = MachineInstruction::KindTy;
  Mix.Floats += I.IsFloat;
  if (I.Kind == Kind::GlobalLoad)
    ++Mix.Loads;
  else if (I.Kind == Kind::GlobalStore)
    ++Mix.Stores;
  else if (I.Kind == Kind::GlobalToShared)
    ++Mix.Copies;
  else if (!I.IsFloat && I.Kind != Kind::Nop)
    ++Mix.Others;
}

Expected<std::vector<CodeMix>> carve::codeMix(StringRef CubinBytes, StringRef Kernel) {
  auto Functions = readMachineCode(CubinBytes, Kernel);
  if (!Functions)
    return Functions.takeError();
  std::vector<CodeMix> Mix(1);
  for (const MachineFunction &F : *Functions)
    for (unsigned Block : F.Flow.ReversePostOrder) {
      unsigned Depth = F.Flow.depth(Block);
      Mix.resize(std::max<size_t>(Mix.size(), Depth + 1));
      for (size_t At = F.Flow.Blocks[Block].First; At < F.Flow.Blocks[Block].Last; ++At)
        count(F.Code[At], Mix[Depth]);
    }
  return Mix;
}

static CodeMix at(const std::vector<CodeMix> &Mix, size_t Depth) {
  return Depth < Mix.size() ? Mix[Depth] : CodeMix();
}

static std::string place(size_t Depth) {
  return Depth ? "in loops of depth " + std::to_string(Depth) : "outside of loops";
}

std::string carve::whyNotMemoryOnly(const std::vector<CodeMix> &Whole,
                                    const std::vector<CodeMix> &Modified) {
  for (size_t Depth = 0; Depth < std::max(Whole.size(), Modified.size()); ++Depth) {
    CodeMix W = at(Whole, Depth), M = at(Modified, Depth);
    if (W.Loads != M.Loads || W.Stores != M.Stores || W.Copies != M.Copies)
      return formatv("ptxas made {0} loads, {1} stores and {2} copies {3}, expected {4}, "
                     "{5} and {6}",
                     M.Loads, M.Stores, M.Copies, place(Depth), W.Loads, W.Stores, W.Copies)
          .str();
  }
  return "";
}

static CodeMix inLoops(const std::vector<CodeMix> &Mix) {
  CodeMix Sum;
  for (size_t Depth = 1; Depth < Mix.size(); ++Depth)
    Sum.Floats += Mix[Depth].Floats;
  return Sum;
}

std::string carve::whyNotArithmeticOnly(const std::vector<CodeMix> &Whole,
                                        const std::vector<CodeMix> &Modified) {
  for (const CodeMix &M : Modified)
    if (M.Loads || M.Stores || M.Copies)
      return formatv("{0} loads and {1} stores remain", M.Loads + M.Copies, M.Stores);
  for (bool Loops : {true, false}) {
    unsigned W = Loops ? inLoops(Whole).Floats : at(Whole, 0).Floats;
    unsigned M = Loops ? inLoops(Modified).Floats : at(Modified, 0).Floats;
    if (std::abs(double(M) - double(W)) > std::max(FloatTolerance * W, double(FloatSlack)))
      return formatv("ptxas made {0} floating-point instructions {1}, expected about {2}", M,
                     Loops ? "in loops" : "outside of loops", W);
  }
  return "";
}
