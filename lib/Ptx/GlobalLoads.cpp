#include "Ptx/GlobalLoads.h"

#include "llvm/ADT/StringSwitch.h"

using namespace carve;
using namespace llvm;

namespace {

enum class Modifier { BeforeOperator, Harmless, Decides };

/// Returns what a modifier of `ld` means for the place of a cache operator, which comes after the
/// state space (PTX ISA, "Data Movement and Conversion Instructions: ld"). An unknown modifier
/// counts as Decides, so that the load is left alone.
Modifier modifierKind(StringRef Directive) {
  return StringSwitch<Modifier>(Directive)
      .Cases(".weak", ".global", Modifier::BeforeOperator)
      .Cases(".v2", ".v4", ".v8", Modifier::Harmless)
      .Cases(".b8", ".b16", ".b32", ".b64", ".b128", Modifier::Harmless)
      .Cases(".u8", ".u16", ".u32", ".u64", Modifier::Harmless)
      .Cases(".s8", ".s16", ".s32", ".s64", Modifier::Harmless)
      .Cases(".f32", ".f64", Modifier::Harmless)
      .Default(Modifier::Decides);
}

/// Whether the four tokens from index \p I on are `.L2::64B`, `.L2::128B` or `.L2::256B`.
bool isPrefetchSize(StringRef Text, ArrayRef<PtxToken> Tokens, size_t I) {
  if (I + 3 >= Tokens.size() || textOf(Text, Tokens[I]) != ".L2" ||
      !isPunct(Text, Tokens[I + 1], ':') || !isPunct(Text, Tokens[I + 2], ':'))
    return false;
  StringRef Size = textOf(Text, Tokens[I + 3]);
  return Size == "64B" || Size == "128B" || Size == "256B";
}

} // namespace

std::optional<size_t> carve::placeOfCacheOperator(StringRef Text, ArrayRef<PtxToken> Instruction) {
  if (textOf(Text, Instruction[0]) != "ld")
    return std::nullopt;
  size_t Place = Instruction[0].End;
  for (size_t I = 1; I < Instruction.size() && Instruction[I].Kind == PtxToken::Directive; ++I) {
    if (isPrefetchSize(Text, Instruction, I)) {
      I += 3;
      continue;
    }
    switch (modifierKind(textOf(Text, Instruction[I]))) {
    case Modifier::Decides:
      return std::nullopt;
    case Modifier::BeforeOperator:
      Place = Instruction[I].End;
      break;
    case Modifier::Harmless:
      break;
    }
  }
  return Place;
}
