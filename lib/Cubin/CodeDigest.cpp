#include "Cubin/CodeDigest.h"

#include "Support/Digest.h"
#include "Support/Error.h"

#include "llvm/ADT/StringSet.h"

using namespace carve;
using namespace llvm;
using namespace llvm::object;

struct CodeDigester::Visit {
  std::vector<std::string> Fields;
  /// The functions reached so far, in order; those before Next are in Fields.
  std::vector<std::string> Functions;
  StringSet<> Seen;
};

CodeDigester::CodeDigester(const CubinElf &Elf) : Elf(Elf) {
  for (const CubinSection &Section : Elf.Sections)
    if (!Section.Kernel.empty())
      ByFunction[Section.Kernel].push_back(&Section);
}

std::string CodeDigester::reference(const CubinSymbol &Symbol, StringRef Function) const {
  if (Symbol.Name == Function)
    return "<self>";
  unsigned Index = Symbol.Entry->st_shndx;
  // Symbols in the function's own sections have names that contain the function's name or, for
  // static shared memory with `ptxas -c`, a line number of the PTX text. The place of the symbol
  // says the same without these.
  if (Index < Elf.Sections.size() && Elf.Sections[Index].Kernel == Function &&
      Index != ELF::SHN_UNDEF)
    return ("<own>" + Elf.Sections[Index].prefix() + "+" + Twine(uint64_t(Symbol.Entry->st_value)))
        .str();
  return Symbol.Name.str();
}

Error CodeDigester::addRelocations(const CubinSection &Relocations, StringRef Function,
                                   Visit &V) const {
  for (const CubinRelocation &R : Relocations.relocations()) {
    if (R.Symbol >= Elf.Symbols.size())
      return malformed("cubin: " + Relocations.Name + " refers to symbol " + Twine(R.Symbol) +
                       " of " + Twine(Elf.Symbols.size()));
    const CubinSymbol &Symbol = Elf.Symbols[R.Symbol];
    V.Fields.push_back((Twine(R.Offset) + " " + Twine(R.Type) + " " + Twine(R.Addend) + " " +
                        reference(Symbol, Function))
                           .str());
    if (Symbol.Entry->getType() == ELF::STT_FUNC && V.Seen.insert(Symbol.Name).second)
      V.Functions.push_back(Symbol.Name.str());
  }
  return Error::success();
}

static bool holdsCode(StringRef Prefix) {
  return Prefix == ".text." || (Prefix.starts_with(".nv.constant") && Prefix != ".nv.constant0.");
}

Error CodeDigester::addFunction(StringRef Function, Visit &V) const {
  auto Own = ByFunction.find(Function);
  if (Own == ByFunction.end())
    return Error::success(); // The function is outside of this image.
  for (const CubinSection *Section : Own->second) {
    StringRef Prefix = Section->prefix();
    StringRef Target = Prefix;
    if (holdsCode(Prefix)) {
      V.Fields.push_back(Prefix.str());
      V.Fields.push_back(Section->Bytes.str());
    } else if ((Target.consume_front(".rela") || Target.consume_front(".rel")) &&
               holdsCode(Target)) {
      if (Error E = addRelocations(*Section, Function, V))
        return E;
    }
  }
  return Error::success();
}

Expected<std::string> CodeDigester::digest(StringRef Kernel) const {
  Visit V;
  V.Seen.insert(Kernel);
  V.Functions.push_back(Kernel.str());
  for (size_t Next = 0; Next < V.Functions.size(); ++Next) {
    // The kernel's own name is left out, so that a clone has the same digest. The names of callees
    // tell them apart.
    V.Fields.push_back(Next ? V.Functions[Next] : "");
    std::string Function = V.Functions[Next];
    if (Error E = addFunction(Function, V))
      return E;
  }
  std::vector<StringRef> Fields(V.Fields.begin(), V.Fields.end());
  return digestOfFields(Fields);
}
