#include "WrongGuards.h"

using namespace carve;
using namespace carve::test;

std::vector<WrongGuard> carve::test::wrongGuards(const RandomProgram &P, size_t Kernel,
                                                 size_t Entry) {
  std::vector<WrongGuard> All;
  const EntryGuard &Right = P.Kernels[Kernel].Entries[Entry].When;
  auto Add = [&](const std::string &What, auto Change) {
    EntryGuard Wrong = Right;
    Change(Wrong);
    All.push_back({What, Kernel, Entry, Wrong});
  };
  if (Right.MaxThreads) {
    Add("threads not compared", [](EntryGuard &G) { G.MaxThreads.reset(); });
    Add("one thread more", [](EntryGuard &G) { ++*G.MaxThreads; });
    Add("one thread less", [](EntryGuard &G) { --*G.MaxThreads; });
  }
  if (Right.Block) {
    Add("block not compared", [](EntryGuard &G) { G.Block.reset(); });
    Add("block one longer", [](EntryGuard &G) { ++(*G.Block)[0]; });
  }
  if (Right.Grid)
    Add("grid not compared", [](EntryGuard &G) { G.Grid.reset(); });
  for (size_t I = 0; I < Right.Arguments.size(); ++I) {
    Add("argument not compared",
        [&](EntryGuard &G) { G.Arguments.erase(G.Arguments.begin() + I); });
    Add("argument one more", [&](EntryGuard &G) { ++G.Arguments[I].Bits; });
    if (Right.Arguments[I].Bytes > 1)
      Add("half of an argument compared", [&](EntryGuard &G) {
        ArgumentValue &V = G.Arguments[I];
        V.Bytes /= 2;
        V.Bits &= (1ull << 8 * V.Bytes) - 1;
      });
  }
  if (!Right.Apart.empty())
    Add("addresses not compared", [](EntryGuard &G) { G.Apart.clear(); });
  for (size_t I = 0; Right.Apart.size() > 1 && I < Right.Apart.size(); ++I)
    Add("one address not compared", [&](EntryGuard &G) { G.Apart.erase(G.Apart.begin() + I); });
  return All;
}

/// Compares floats of \p P as numbers. Then 0 is -0, and nothing is equal to what is no number.
static WrongText floatsByValue(const RandomProgram &P) {
  WrongText Wrong = {"floats are compared by their values", {}};
  for (const RandomKernel &K : P.Kernels)
    for (const FurtherEntry &E : K.Entries)
      for (const ArgumentValue &V : E.When.Arguments)
        for (const RandomNumber &N : numbersOf(K.Parameters[V.Parameter]))
          if (N.Kind == ParameterKind::Float && N.Offset == V.Offset && V.Bytes == 4) {
            std::string Place = "((const char *)Args[" + std::to_string(V.Parameter) + "] + " +
                                std::to_string(V.Offset) + ")",
                        Bits = std::to_string(V.Bits);
            Wrong.Changes["*(const U4 *)" + Place + " == " + Bits + "ull"] =
                "*(const float *)" + Place + " == floatOf(" + Bits + "u)";
          }
  return Wrong;
}

std::vector<WrongText> carve::test::wrongTexts(const RandomProgram &P) {
  return {
      {"a stream that is captured chooses", {{"!Captured", "1"}}},
      {"the stream of a thread is never captured", {{"(Size)Stream <= 1", "(Size)Stream <= 2"}}},
      {"shared memory is not compared", {{"Smem <= ", "1 || Smem <= "}}},
      {"a field is read at the beginning of its structure", {{" + 4) == ", " + 0) == "}}},
      {"a later guard always holds", {{"else if (Block", "else if (1 || Block"}}},
      floatsByValue(P),
      {"allocations are not compared", {{"if (MEANT(I, J) || MEANT(J, I))", "if (0)"}}},
      {"any memory is an allocation", {{"!(Capable & 0xff)", "0"}}},
      {"an address is read at the beginning of its structure", {{" + Places[I][1]", ""}}},
  };
}
