#include "Ptx/GlobalLoads.h"

#include "llvm/ADT/StringSwitch.h"

using namespace carve;
using namespace llvm;

namespace {

enum class Part { Weak, Global, NonCoherent, Type, Decides };

/// Returns what a modifier of `ld` says of the load (PTX ISA, "Data Movement and Conversion
/// Instructions: ld" and "ld.global.nc"). A modifier that decides about the caches, or that is
/// unknown, counts as Decides, so that the load is left alone.
Part partOf(StringRef Directive) {
  return StringSwitch<Part>(Directive)
      .Case(".weak", Part::Weak)
      .Case(".global", Part::Global)
      .Case(".nc", Part::NonCoherent)
      .Cases(".v2", ".v4", ".v8", Part::Type)
      .Cases(".b8", ".b16", ".b32", ".b64", ".b128", Part::Type)
      .Cases(".u8", ".u16", ".u32", ".u64", Part::Type)
      .Cases(".s8", ".s16", ".s32", ".s64", Part::Type)
      .Cases(".f32", ".f64", Part::Type)
      .Default(Part::Decides);
}

/// Whether the four tokens from index \p I on are `.L2::64B`, `.L2::128B` or `.L2::256B`.
bool isPrefetchSize(StringRef Text, ArrayRef<PtxToken> Tokens, size_t I) {
  if (I + 3 >= Tokens.size() || textOf(Text, Tokens[I]) != ".L2" ||
      !isPunct(Text, Tokens[I + 1], ':') || !isPunct(Text, Tokens[I + 2], ':'))
    return false;
  StringRef Size = textOf(Text, Tokens[I + 3]);
  return Size == "64B" || Size == "128B" || Size == "256B";
}

/// A load that says nothing about the caches.
struct PlainLoad {
  bool Global = false, NonCoherent = false;
  size_t OperatorPlace = 0; ///< A cache operator comes after the state space.
  size_t PriorityPlace = 0; ///< An eviction priority comes after `.nc`, too.
};

/// Returns \p Instruction if it is such a load.
std::optional<PlainLoad> plainLoad(StringRef Text, ArrayRef<PtxToken> Instruction) {
  if (textOf(Text, Instruction[0]) != "ld")
    return std::nullopt;
  PlainLoad Load;
  Load.OperatorPlace = Load.PriorityPlace = Instruction[0].End;
  for (size_t I = 1; I < Instruction.size() && Instruction[I].Kind == PtxToken::Directive; ++I) {
    if (isPrefetchSize(Text, Instruction, I)) {
      I += 3;
      continue;
    }
    Part P = partOf(textOf(Text, Instruction[I]));
    if (P == Part::Decides)
      return std::nullopt;
    if (P == Part::Type)
      continue;
    Load.Global |= P == Part::Global;
    Load.NonCoherent |= P == Part::NonCoherent;
    Load.PriorityPlace = Instruction[I].End;
    if (P != Part::NonCoherent)
      Load.OperatorPlace = Instruction[I].End;
  }
  return Load;
}

} // namespace

std::optional<LoadModifier> carve::loadModifier(StringRef Text, ArrayRef<PtxToken> Instruction,
                                                LoadCaching Caching) {
  std::optional<PlainLoad> Load = plainLoad(Text, Instruction);
  if (!Load)
    return std::nullopt;
  switch (Caching) {
  case LoadCaching::AsCompiled:
    break;
  case LoadCaching::L2Only:
    if (!Load->NonCoherent)
      return LoadModifier{Load->OperatorPlace, ".cg"};
    break;
  case LoadCaching::EvictFirst:
    if (Load->Global)
      return LoadModifier{Load->OperatorPlace, ".cs"};
    break;
  case LoadCaching::NoAllocate:
    if (Load->Global)
      return LoadModifier{Load->PriorityPlace, ".L1::no_allocate"};
    break;
  }
  return std::nullopt;
}
