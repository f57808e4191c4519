#include "Nvcc/Text/KernelAssumptions.h"

#include "Nvcc/Text/CxxTokens.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;
using llvm::StringRef;

namespace {

/// Returns the size of an integer, a boolean or a floating-point number of the type \p Type, or
/// nothing for any other type.
std::optional<unsigned> numberBytes(StringRef Type) {
  llvm::SmallVector<StringRef, 6> Words;
  llvm::SplitString(Type, Words);
  auto Has = [&](StringRef Word) { return llvm::is_contained(Words, Word); };
  if (isFloatType(Type))
    return Has("double") ? 8 : 4;
  if (!isIntegerType(Type))
    return std::nullopt;
  return Has("char") || Has("bool") ? 1 : Has("short") ? 2 : Has("long") ? 8 : 4;
}

/// The last word of \p Type that is no qualifier.
StringRef lastTypeWord(StringRef Type) {
  llvm::SmallVector<StringRef, 6> Words;
  llvm::SplitString(Type, Words);
  while (!Words.empty() && (Words.back() == "const" || Words.back() == "volatile" ||
                            Words.back().contains("restrict")))
    Words.pop_back();
  return Words.empty() ? StringRef() : Words.back();
}

bool isPointerType(StringRef Type) { return lastTypeWord(Type).ends_with("*"); }
bool isReferenceType(StringRef Type) { return lastTypeWord(Type).ends_with("&"); }

/// Whether \p P, of the type \p Type, is an address of which something may be assumed. Where a
/// restricted one is used in an assumption, cicc takes it for one that may be copied, and forgets
/// that nothing else leads to its memory.
bool isPlainAddress(const KernelParameter &P, StringRef Type) {
  return isPointerType(Type) && !StringRef(P.Type).contains("restrict") &&
         !Type.contains("restrict");
}

/// Whether \p P does not say that it is a number or a pointer. If it belongs to a template, it may
/// be a class in another instantiation, which has the same body. What is written there has to be
/// valid in all of them; in the others it may be untrue, since only one kernel is taken from the
/// module.
bool mayHaveAnyType(const KernelParameter &P) {
  return !isPointerType(P.Type) && !numberBytes(P.Type);
}

/// Whether a parameter that is declared as \p P is `const`.
bool isConstant(const KernelParameter &P) {
  return llvm::is_contained(llvm::split(StringRef(P.Type), ' '), "const");
}

/// Returns whether `x == c` says all of the number \p V: no NaN equals itself, and 0 equals -0.
bool isComparable(const ArgumentValue &V) {
  const uint64_t Exponent = V.Bytes == 8 ? 0x7ff0000000000000 : 0x7f800000;
  const uint64_t Sign = uint64_t(1) << (8 * V.Bytes - 1);
  return (V.Bits & Exponent) != Exponent && V.Bits & ~Sign;
}

/// Whether \p V, a part of what is neither a number nor an address by its own type, may be an
/// address: one in a structure, or one whose type has another name. None is below 4 GB.
bool mayBeAddress(const ArgumentValue &V) { return V.Bytes == 8 && V.Bits > UINT32_MAX; }

/// Returns what can be assumed of \p V, a value of the parameter \p P with the type \p Type.
std::optional<ArgumentValue> assumableOf(const ArgumentValue &V, const KernelParameter &P,
                                         StringRef Type) {
  // The name of a reference is what it refers to, and the launch has its address.
  if (P.Name.empty() || Type.empty() || isReferenceType(Type))
    return std::nullopt;
  if (isPlainAddress(P, Type)) {
    bool IsAligned = V.Offset == 0 && (V.Bytes == 8 || V.Bytes == 1) && V.Bits % 256 == 0;
    return IsAligned ? std::optional(ArgumentValue{V.Parameter, 1, 0}) : std::nullopt;
  }
  if (std::optional<unsigned> Bytes = numberBytes(Type)) {
    bool IsWhole = V.Offset == 0 && V.Bytes == Bytes;
    bool CannotBeSaid = isFloatType(Type) && isConstant(P) && !isComparable(V);
    return IsWhole && !CannotBeSaid ? std::optional(V) : std::nullopt;
  }
  return isPointerType(Type) || mayBeAddress(V) ? std::nullopt : std::optional(V);
}

KnownLaunch assumableAt(const TypedKernel &Place, const KnownLaunch &Known) {
  KnownLaunch Result;
  const std::vector<KernelParameter> &Parameters = Place.Definition->Parameters;
  for (const ArgumentValue &V : Known.Values)
    if (V.Parameter < Parameters.size())
      if (auto Said = assumableOf(V, Parameters[V.Parameter], Place.Types[V.Parameter]))
        Result.Values.push_back(*Said);
  auto IsHidden = [&](StringRef Variable) {
    return llvm::any_of(Parameters, [&](const KernelParameter &P) { return P.Name == Variable; });
  };
  if (!IsHidden("blockDim"))
    Result.Block = Known.Block;
  if (!IsHidden("gridDim"))
    Result.Grid = Known.Grid;
  return Result;
}

/// An unsigned integer of the size of \p V.
const char *unsignedType(const ArgumentValue &V) {
  return V.Bytes == 1   ? "unsigned char"
         : V.Bytes == 2 ? "unsigned short"
         : V.Bytes == 4 ? "unsigned"
                        : "unsigned long long";
}

/// The bytes of the parameter \p Name from \p Offset. Another cast, or `&Name`, might call an
/// operator of its class.
std::string bytesOf(const std::string &Name, unsigned Offset) {
  return "(char *)&reinterpret_cast<const volatile char &>(" + Name + ") + " +
         std::to_string(Offset);
}

/// The statement that assumes \p Condition of `__carve_part`, the bytes that the parameter \p Name
/// has at the place of \p V, as a \p Type. cicc makes the same loads of this as of the fields, so
/// that it knows their values, whatever their types are.
std::string assumptionOfBytes(const std::string &Name, const ArgumentValue &V,
                              const std::string &Type, const std::string &Condition) {
  return " { " + Type + " __carve_part; __builtin_memcpy(&__carve_part, " +
         bytesOf(Name, V.Offset) + ", " + std::to_string(V.Bytes) + "); __builtin_assume(" +
         Condition + "); }";
}

/// The statement that sets the parameter \p Name, whatever its type is, to the bytes of \p V.
std::string settingOfBytes(const std::string &Name, const ArgumentValue &V) {
  return std::string(" { ") + unsignedType(V) + " __carve_part = " + std::to_string(V.Bits) +
         "ull; __builtin_memcpy(" + bytesOf(Name, V.Offset) + ", &__carve_part, " +
         std::to_string(V.Bytes) + "); }";
}

/// What is known of the floating-point parameter \p P. cicc draws no conclusion from an assumption
/// on the bits of a number.
std::string knownFloat(const KernelParameter &P, const ArgumentValue &V) {
  const std::string Type = V.Bytes == 8 ? "double" : "float";
  const std::string Value =
      "__builtin_bit_cast(" + Type + ", " + std::to_string(V.Bits) + (V.Bytes == 8 ? "ull)" : "u)");
  if (!isConstant(P))
    return mayHaveAnyType(P) ? settingOfBytes(P.Name, V) : " " + P.Name + " = " + Value + ";";
  if (mayHaveAnyType(P))
    return assumptionOfBytes(P.Name, V, Type, "__carve_part == " + Value);
  return " __builtin_assume(" + P.Name + " == " + Value + ");";
}

/// Says that the address \p P is a multiple of 256.
std::string knownAlignment(const KernelParameter &P, const ArgumentValue &V) {
  if (mayHaveAnyType(P))
    return assumptionOfBytes(P.Name, {V.Parameter, 8, 0}, "unsigned long long",
                             "(__carve_part & 255) == 0");
  return " __builtin_assume(((unsigned long long)" + P.Name + " & 255) == 0);";
}

/// The statements that say what is known of \p Assumed.
std::string assumptions(const AssumedLaunch &Assumed) {
  const KernelDefinition &K = *Assumed.Kernel;
  const KnownLaunch &Known = Assumed.Launch;
  std::string Text;
  auto Add = [&](const std::string &Condition) { Text += " __builtin_assume(" + Condition + ");"; };
  for (const ArgumentValue &V : Known.Values) {
    const KernelParameter &P = K.Parameters[V.Parameter];
    if (llvm::is_contained(Assumed.Floats, V.Parameter))
      Text += knownFloat(P, V);
    else if (llvm::is_contained(Assumed.Aligned, V.Parameter))
      Text += knownAlignment(P, V);
    else if (mayHaveAnyType(P))
      Text += assumptionOfBytes(P.Name, V, unsignedType(V),
                                "__carve_part == " + std::to_string(V.Bits) + "ull");
    else
      // The conversion keeps the low bits, so that a negative value is the same number, too.
      Add(P.Name + " == (decltype(" + P.Name + "))" + std::to_string(V.Bits) + "ull");
  }
  for (const auto &[Variable, Exact] :
       {std::pair(std::string("blockDim."), Known.Block), {"gridDim.", Known.Grid}})
    for (size_t I = 0; Exact && I < 3; ++I)
      Add(Variable + "xyz"[I] + " == " + std::to_string((*Exact)[I]) + "u");
  return Text;
}

} // namespace

llvm::Expected<AssumedLaunch> carve::assumable(llvm::ArrayRef<KernelDefinition> Kernels,
                                               StringRef Mangled, const KnownLaunch &Known) {
  llvm::Expected<TypedKernel> Place = definitionOf(Kernels, Mangled);
  if (!Place)
    return Place.takeError();
  AssumedLaunch Assumed{Place->Definition, assumableAt(*Place, Known), {}, {}};
  if (Assumed.Launch.empty())
    return unknownText("nothing that is known of " + Mangled + " can be assumed");
  for (const ArgumentValue &V : Assumed.Launch.Values)
    if (isFloatType(Place->Types[V.Parameter]))
      Assumed.Floats.push_back(V.Parameter);
    else if (isPlainAddress(Place->Definition->Parameters[V.Parameter], Place->Types[V.Parameter]))
      Assumed.Aligned.push_back(V.Parameter);
  return Assumed;
}

llvm::Expected<std::string> carve::withAssumptions(StringRef Text, StringRef Mangled,
                                                   const KnownLaunch &Known) {
  llvm::Expected<std::vector<KernelDefinition>> Kernels = kernelDefinitions(Text);
  if (!Kernels)
    return Kernels.takeError();
  llvm::Expected<AssumedLaunch> Assumed = assumable(*Kernels, Mangled, Known);
  if (!Assumed)
    return Assumed.takeError();
  size_t Body = Assumed->Kernel->Body;
  return (Text.take_front(Body) + assumptions(*Assumed) + Text.drop_front(Body)).str();
}

llvm::Expected<std::vector<KernelParameter>>
carve::restrictable(llvm::ArrayRef<KernelDefinition> Kernels, StringRef Mangled,
                    llvm::ArrayRef<unsigned> Parameters) {
  llvm::Expected<TypedKernel> Place = definitionOf(Kernels, Mangled);
  if (!Place)
    return Place.takeError();
  if (Place->Definition->AsksForTypes)
    return unknownText(Mangled + " asks for types, which __restrict__ changes");
  std::vector<KernelParameter> All;
  for (unsigned Number : Parameters) {
    if (Number >= Place->Definition->Parameters.size())
      continue;
    const KernelParameter &P = Place->Definition->Parameters[Number];
    StringRef Type = P.Type;
    if (P.Name.empty() || Type.contains("restrict") || Type.contains("volatile"))
      continue;
    while (Type.consume_back(" const"))
      ;
    if (Type.ends_with("*"))
      All.push_back(P);
  }
  if (All.empty())
    return unknownText("no parameter of " + Mangled +
                       " is declared as a pointer that may be restrict");
  return All;
}

llvm::Expected<std::string> carve::withRestrict(StringRef Text, StringRef Mangled,
                                                llvm::ArrayRef<unsigned> Parameters) {
  llvm::Expected<std::vector<KernelDefinition>> Kernels = kernelDefinitions(Text);
  if (!Kernels)
    return Kernels.takeError();
  llvm::Expected<std::vector<KernelParameter>> Restrict =
      restrictable(*Kernels, Mangled, Parameters);
  if (!Restrict)
    return Restrict.takeError();
  std::string Result;
  size_t Done = 0;
  for (const KernelParameter &P : *Restrict) {
    Result += Text.slice(Done, P.NameAt);
    Result += " __restrict__ ";
    Done = P.NameAt;
  }
  return Result + Text.drop_front(Done).str();
}
