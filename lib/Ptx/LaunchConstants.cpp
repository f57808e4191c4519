#include "Ptx/LaunchConstants.h"

#include "Nvcc/Text/KernelText.h"
#include "Ptx/PtxLexer.h"
#include "Ptx/TextEdits.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace carve;
using namespace llvm;

namespace {

using Instruction = ArrayRef<PtxToken>;

/// A type such as `.u32`: its class, one of the letters `u`, `s`, `b` and `f`, and its size.
struct ScalarType {
  char Class = 0;
  unsigned Bits = 0;

  bool operator==(const ScalarType &) const = default;
};

std::optional<ScalarType> scalarType(StringRef Directive) {
  ScalarType Type;
  if (Directive.size() < 3 || !StringRef("usbf").contains(Directive[1]) ||
      Directive.drop_front(2).getAsInteger(10, Type.Bits) || Type.Bits < 8 || Type.Bits > 64)
    return std::nullopt;
  Type.Class = Directive[1];
  return Type;
}

/// `ld.param` of a place in a parameter that the instruction names.
struct ParameterLoad {
  unsigned Parameter = 0;
  uint64_t Offset = 0;
  ScalarType Type;
  SmallVector<StringRef, 4> Registers; ///< What it loads, one after the other.

  unsigned bytes() const { return Type.Bits / 8; }
  uint64_t offsetOf(size_t I) const { return Offset + I * bytes(); }
};

/// Reads the body of one entry.
class BodyReads {
public:
  BodyReads(StringRef Text, StringRef Name, ArrayRef<PtxToken> Body);

  /// Calls \p Visit with each instruction that has no predicate.
  void forEach(function_ref<void(Instruction)> Visit) const;
  std::optional<ParameterLoad> load(Instruction I) const;
  /// Returns the type of a register, if one is declared.
  std::optional<ScalarType> typeOf(StringRef Register) const;
  /// Whether an instruction takes \p Register for a floating-point number.
  bool isUsedAsFloat(StringRef Register) const { return FloatUses.contains(Register); }

private:
  void readDeclarations();
  void readUses();

  StringRef Text;
  std::string ParamPrefix;
  ArrayRef<PtxToken> Body;
  /// By the name before the number, as in `.reg .b32 %r<9>`, or by the whole name. A name with two
  /// types has size 0.
  StringMap<ScalarType> Types;
  StringSet<> FloatUses;
};

BodyReads::BodyReads(StringRef Text, StringRef Name, ArrayRef<PtxToken> Body)
    : Text(Text), ParamPrefix((Name + "_param_").str()), Body(Body) {
  readDeclarations();
  readUses();
}

void BodyReads::readDeclarations() {
  for (size_t I = 0; I + 1 < Body.size(); ++I) {
    if (textOf(Text, Body[I]) != ".reg")
      continue;
    ScalarType Type = scalarType(textOf(Text, Body[++I])).value_or(ScalarType());
    for (; I < Body.size() && !isPunct(Text, Body[I], ';'); ++I)
      if (Body[I].Kind == PtxToken::Word) {
        auto [At, New] = Types.try_emplace(textOf(Text, Body[I]), Type);
        if (!New && At->second != Type)
          At->second = ScalarType();
      }
  }
}

/// The last modifier of an instruction is the type of its sources.
void BodyReads::readUses() {
  forEachInstruction(Text, Body, [&](Instruction Tokens) {
    size_t I = 1;
    while (I < Tokens.size() && Tokens[I].Kind == PtxToken::Directive)
      ++I;
    StringRef Last = textOf(Text, Tokens[I - 1]);
    bool IsFloat = Last.consume_front(".") &&
                   (Last.consume_front("bf") || Last.consume_front("f")) && !Last.empty() &&
                   isDigit(Last.front());
    for (; IsFloat && I < Tokens.size(); ++I)
      if (Tokens[I].Kind == PtxToken::Word)
        FloatUses.insert(textOf(Text, Tokens[I]));
  });
}

void BodyReads::forEach(function_ref<void(Instruction)> Visit) const {
  forEachInstruction(Text, Body, [&](Instruction Tokens) {
    // After `@%p1` the opcode comes, after a label its colon.
    bool Predicated =
        Tokens.data() != Body.data() && std::prev(Tokens.data())->Kind == PtxToken::Word;
    if (!Predicated)
      Visit(Tokens);
  });
}

std::optional<ScalarType> BodyReads::typeOf(StringRef Register) const {
  auto Found = Types.find(Register);
  if (Found == Types.end())
    Found = Types.find(Register.rtrim("0123456789"));
  if (Found == Types.end() || !Found->second.Bits)
    return std::nullopt;
  return Found->second;
}

/// Reads `ld.param.v2.u32 {%r1, %r2}, [k_param_0+8]`.
std::optional<ParameterLoad> BodyReads::load(Instruction Tokens) const {
  if (textOf(Text, Tokens[0]) != "ld" || Tokens.size() < 2 || textOf(Text, Tokens[1]) != ".param")
    return std::nullopt;
  ParameterLoad Load;
  size_t I = 2, Elements = 1;
  if (I + 2 < Tokens.size() && isPunct(Text, Tokens[I], ':') && isPunct(Text, Tokens[I + 1], ':')) {
    if (textOf(Text, Tokens[I + 2]) != "entry")
      return std::nullopt;
    I += 3;
  }
  for (; I < Tokens.size() && Tokens[I].Kind == PtxToken::Directive; ++I) {
    StringRef Modifier = textOf(Text, Tokens[I]);
    if (std::optional<ScalarType> Type = scalarType(Modifier))
      Load.Type = *Type;
    else if (!Modifier.consume_front(".v") || Modifier.getAsInteger(10, Elements))
      return std::nullopt;
  }
  for (; I < Tokens.size() && !isPunct(Text, Tokens[I], '['); ++I)
    if (Tokens[I].Kind == PtxToken::Word)
      Load.Registers.push_back(textOf(Text, Tokens[I]));
  Instruction Address = Tokens.drop_front(std::min(I + 1, Tokens.size()));
  StringRef Name = Address.empty() ? "" : textOf(Text, Address[0]);
  if (!Load.Type.Bits || Load.Registers.size() != Elements || !Name.consume_front(ParamPrefix) ||
      Name.getAsInteger(10, Load.Parameter))
    return std::nullopt;
  if (Address.size() == 2 && isPunct(Text, Address[1], ']'))
    return Load;
  bool HasOffset = Address.size() == 4 && isPunct(Text, Address[1], '+') &&
                   !textOf(Text, Address[2]).getAsInteger(0, Load.Offset) &&
                   Load.Offset <= UINT16_MAX && isPunct(Text, Address[3], ']');
  return HasOffset ? std::optional(Load) : std::nullopt;
}

/// Returns the tokens of \p Text from after its first `{` to before its last `}`, with roles set.
/// \p Header gets the tokens before.
Expected<std::vector<PtxToken>> bodyTokens(StringRef Text, std::vector<PtxToken> &Header) {
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  auto Open = find_if(*Tokens, [&](const PtxToken &T) { return isPunct(Text, T, '{'); });
  if (Open == Tokens->end() || !isPunct(Text, Tokens->back(), '}'))
    return malformed("PTX: an entry without a body");
  Header.assign(Tokens->begin(), Open);
  std::vector<PtxToken> Body(std::next(Open), std::prev(Tokens->end()));
  setRoles(Text, Body);
  return Body;
}

/// Returns the dimension that the three tokens `%ntid` or `%nctaid`, and `.x`, `.y` or `.z`, at the
/// end of a `mov` of 32 bits name: the special register, and the number of the dimension.
std::optional<std::pair<StringRef, size_t>> dimensionRead(StringRef Text, Instruction Tokens) {
  if (Tokens.size() != 6 || textOf(Text, Tokens[0]) != "mov")
    return std::nullopt;
  std::optional<ScalarType> Type = scalarType(textOf(Text, Tokens[1]));
  StringRef Register = textOf(Text, Tokens[4]), Dimension = textOf(Text, Tokens[5]);
  if (!Type || Type->Class == 'f' || Type->Bits != 32 ||
      (Register != "%ntid" && Register != "%nctaid") || Dimension.size() != 2 ||
      Dimension[1] < 'x' || Dimension[1] > 'z')
    return std::nullopt;
  return std::pair(Register, size_t(Dimension[1] - 'x'));
}

/// Bytes of parameters that are known.
class KnownBytes {
public:
  explicit KnownBytes(const KnownLaunch &Known) {
    for (const ArgumentValue &V : Known.Values)
      for (unsigned I = 0; I < V.Bytes; ++I)
        Bytes[{V.Parameter, V.Offset + I}] = uint8_t(V.Bits >> 8 * I);
  }
  /// Returns the value of \p Count bytes at \p Offset, if all of them are known.
  std::optional<uint64_t> at(unsigned Parameter, uint64_t Offset, unsigned Count) const {
    uint64_t Bits = 0;
    for (unsigned I = 0; I < Count; ++I) {
      auto Found = Bytes.find({Parameter, Offset + I});
      if (Found == Bytes.end())
        return std::nullopt;
      Bits |= uint64_t(Found->second) << 8 * I;
    }
    return Bits;
  }

private:
  std::map<std::pair<unsigned, uint64_t>, uint8_t> Bytes;
};

/// Returns the instruction by which \p Register, of the type \p Own, gets what a load of the type
/// \p Loaded puts there if memory has \p Bits; nothing if it cannot be written.
std::optional<std::string> moveOf(StringRef Register, ScalarType Own, ScalarType Loaded,
                                  uint64_t Bits) {
  if (Own.Bits < Loaded.Bits || Own.Bits < 16)
    return std::nullopt;
  if ((Own.Class == 'f' || Loaded.Class == 'f') && Own.Bits != Loaded.Bits)
    return std::nullopt;
  if (Own.Class == 'f') {
    if (Own.Bits < 32)
      return std::nullopt;
    // The exact bits, so that -0 and every NaN stay what they are.
    const char *Prefix = Own.Bits == 32 ? "0f" : "0d";
    // All digits must be there. utohexstr() with a width would give one too many for 0.
    std::string Digits = utohexstr(Bits);
    Digits.insert(0, Own.Bits / 4 - Digits.size(), '0');
    return formatv("mov.f{0} {1}, {2}{3}", Own.Bits, Register, Prefix, Digits).str();
  }
  if (Loaded.Class == 's')
    Bits = uint64_t(SignExtend64(Bits, Loaded.Bits)) & maskTrailingOnes<uint64_t>(Own.Bits);
  return formatv("mov.b{0} {1}, 0x{2}", Own.Bits, Register, utohexstr(Bits)).str();
}

/// Writes the constants of one body.
class ConstantWriter {
public:
  ConstantWriter(StringRef Text, const BodyReads &Reads, const KnownLaunch &Known)
      : Text(Text), Reads(Reads), Known(Known), Bytes(Known) {}

  std::string run();

private:
  void writeLoad(Instruction Tokens, const ParameterLoad &Load);

  StringRef Text;
  const BodyReads &Reads;
  const KnownLaunch &Known;
  KnownBytes Bytes;
  TextEdits Edits;
};

void ConstantWriter::writeLoad(Instruction Tokens, const ParameterLoad &Load) {
  std::string Moves;
  size_t Written = 0;
  for (size_t I = 0; I < Load.Registers.size(); ++I) {
    StringRef Register = Load.Registers[I];
    std::optional<ScalarType> Own = Reads.typeOf(Register);
    std::optional<uint64_t> Bits = Bytes.at(Load.Parameter, Load.offsetOf(I), Load.bytes());
    std::optional<std::string> Move =
        Own && Bits ? moveOf(Register, *Own, Load.Type, *Bits) : std::nullopt;
    if (!Move)
      continue;
    Moves += (Written++ ? ";\n\t" : "") + *Move;
  }
  if (!Written)
    return;
  // What a vector load has loaded besides is still needed.
  if (Written == Load.Registers.size())
    Edits.replace(Tokens.front().Begin, Tokens.back().End, std::move(Moves));
  else
    Edits.insert(Tokens.back().End, ";\n\t" + Moves);
}

std::string ConstantWriter::run() {
  Reads.forEach([&](Instruction Tokens) {
    if (auto Dimension = dimensionRead(Text, Tokens)) {
      const auto &Exact = Dimension->first == "%ntid" ? Known.Block : Known.Grid;
      if (Exact)
        Edits.replace(Tokens[4].Begin, Tokens[5].End, std::to_string((*Exact)[Dimension->second]));
    } else if (auto Load = Reads.load(Tokens)) {
      writeLoad(Tokens, *Load);
    }
  });
  return Edits.apply(Text);
}

/// Returns the types of the parameters that \p Header declares; a structure has none.
std::vector<ScalarType> parameterTypesOf(StringRef Text, ArrayRef<PtxToken> Header) {
  std::vector<ScalarType> Types;
  ScalarType Type;
  for (size_t I = 0; I < Header.size(); ++I) {
    StringRef Word = textOf(Text, Header[I]);
    if (Word == ".param") {
      Types.emplace_back();
      Type = {};
    } else if (Header[I].Kind == PtxToken::Directive) {
      Type = scalarType(Word).value_or(Type);
    } else if (Header[I].Kind == PtxToken::Word && !Types.empty()) {
      bool IsArray = I + 1 < Header.size() && isPunct(Text, Header[I + 1], '[');
      Types.back() = IsArray ? ScalarType() : Type;
    }
  }
  return Types;
}

} // namespace

bool LaunchReads::readFloatAt(const ArgumentValue &Value) const {
  return any_of(Words, [&](const ParameterRead &R) {
    return R.Kind == ParameterRead::Float && R.Parameter == Value.Parameter &&
           R.Offset < Value.Offset + Value.Bytes && Value.Offset < R.Offset + R.Bytes;
  });
}

Expected<LaunchReads> carve::launchReads(StringRef Definition, StringRef Name) {
  std::vector<PtxToken> Header;
  auto Body = bodyTokens(Definition, Header);
  if (!Body)
    return Body.takeError();
  std::vector<ScalarType> Declared = parameterTypesOf(Definition, Header);
  BodyReads In(Definition, Name, *Body);
  LaunchReads Reads;
  for (size_t I = 0; I < Declared.size(); ++I)
    if (Declared[I] == ScalarType())
      Reads.Structures.push_back(I);
  // Newer front ends load numbers of both kinds as bits.
  auto IsFloat = [&](const ParameterLoad &Load, StringRef Register) {
    char Class = Load.Parameter < Declared.size() ? Declared[Load.Parameter].Class : '\0';
    return Load.Type.Class == 'f' || Class == 'f' ||
           (Load.Type.Class == 'b' && (!Class || Class == 'b') && In.isUsedAsFloat(Register));
  };
  In.forEach([&](Instruction Tokens) {
    if (auto Dimension = dimensionRead(Definition, Tokens))
      (Dimension->first == "%ntid" ? Reads.Block : Reads.Grid) = true;
    std::optional<ParameterLoad> Load = In.load(Tokens);
    for (size_t I = 0; Load && I < Load->Registers.size(); ++I)
      Reads.Words.push_back({Load->Parameter, unsigned(Load->offsetOf(I)), Load->bytes(),
                             IsFloat(*Load, Load->Registers[I]) ? ParameterRead::Float
                             : Load->bytes() == 8               ? ParameterRead::Wide
                                                                : ParameterRead::Integer});
  });
  return Reads;
}

KnownLaunch carve::constantsOf(const KnownLaunch &Seen, const LaunchReads &Reads,
                               const ConstantRules &Rules) {
  KnownBytes Bytes(Seen);
  KnownLaunch Known;
  for (const ParameterRead &R : Reads.Words) {
    std::optional<uint64_t> Bits = Bytes.at(R.Parameter, R.Offset, R.Bytes);
    bool IsInteger = R.Parameter < Rules.Types.size() && isIntegerType(Rules.Types[R.Parameter]);
    bool IsSmallField = Bits && *Bits <= UINT32_MAX && is_contained(Reads.Structures, R.Parameter);
    if (!Bits || (R.Kind == ParameterRead::Float && !Rules.Floats) ||
        (R.Kind == ParameterRead::Wide && !IsInteger && !IsSmallField))
      continue;
    addValue(Known.Values, {R.Parameter, R.Bytes, *Bits, R.Offset});
  }
  if (Reads.Block)
    Known.Block = Seen.Block;
  if (Reads.Grid)
    Known.Grid = Seen.Grid;
  return Known;
}

Expected<std::string> carve::withConstants(StringRef Text, StringRef Name,
                                           const KnownLaunch &Known) {
  std::vector<PtxToken> Header;
  auto Body = bodyTokens(Text, Header);
  if (!Body)
    return Body.takeError();
  return ConstantWriter(Text, BodyReads(Text, Name, *Body), Known).run();
}
