#include "Cubin/ExchangeNames.h"

#include "Cubin/CubinElf.h"
#include "Support/Error.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"

using namespace carve;
using namespace llvm;
using namespace llvm::object;

namespace {

/// A string table of the image: the offsets of its names, and the names that it lacks.
class NameTable {
public:
  explicit NameTable(StringRef Bytes) : Bytes(Bytes) {}
  void know(StringRef Name, uint32_t Offset) { Offsets.try_emplace(Name, Offset); }

  /// Returns the offset of \p Name. A name that is absent is added after the others. This happens
  /// if only one of the two kernels has a section of some kind, such as a bank of constants.
  uint32_t offsetOf(StringRef Name) {
    auto [It, New] = Offsets.try_emplace(Name, Bytes.size() + Added.size());
    if (New)
      (Added += Name).push_back('\0');
    return It->second;
  }
  bool grew() const { return !Added.empty(); }
  std::string grown() const { return (Bytes + Added).str(); }

private:
  StringRef Bytes;
  StringMap<uint32_t> Offsets;
  std::string Added;
};

class NameExchange {
public:
  NameExchange(StringRef Bytes, const CubinElf &Elf)
      : Elf(Elf), Out(Bytes.str()), Base(Bytes.data()),
        SectionNames(Elf.Sections[Elf.NamesSection].Bytes),
        SymbolNames(Elf.Sections[Elf.StringsSection].Bytes) {}
  Error addPair(StringRef First, StringRef Second);
  std::string run();

private:
  /// Returns the new name of a kernel; its own if it is in no pair.
  StringRef newName(StringRef Kernel) const {
    auto It = NewNames.find(Kernel);
    return It == NewNames.end() ? Kernel : StringRef(It->second);
  }
  std::string newSectionName(const CubinSection &Section) const {
    return (Section.prefix() + newName(Section.Kernel)).str();
  }
  std::string newSymbolName(const CubinSymbol &Symbol) const;
  bool hasKernel(StringRef Name) const;
  void write32(const void *Field, uint32_t Value) {
    support::endian::write32le(&Out[static_cast<const char *>(Field) - Base], Value);
  }
  void appendTable(unsigned Section, const NameTable &Table);

  const CubinElf &Elf;
  std::string Out;
  const char *Base;
  NameTable SectionNames, SymbolNames;
  StringMap<std::string> NewNames;
};

bool NameExchange::hasKernel(StringRef Name) const {
  return any_of(Elf.Symbols, [&](const CubinSymbol &S) { return S.isKernel() && S.Name == Name; });
}

Error NameExchange::addPair(StringRef First, StringRef Second) {
  for (StringRef Name : {First, Second})
    if (!hasKernel(Name))
      return malformed("cubin: no kernel named " + Name);
  if (First == Second)
    return Error::success();
  if (!NewNames.try_emplace(First, Second.str()).second ||
      !NewNames.try_emplace(Second, First.str()).second)
    return malformed("cubin: " + First + " or " + Second + " is in two pairs");
  return Error::success();
}

std::string NameExchange::newSymbolName(const CubinSymbol &Symbol) const {
  StringRef Name = Symbol.Name;
  // A callee that is compiled into the kernel's section is a local symbol `$<kernel>$<callee>`.
  unsigned Index = Symbol.Entry->st_shndx;
  if (Index != ELF::SHN_UNDEF && Index < Elf.Sections.size()) {
    StringRef Kernel = Elf.Sections[Index].Kernel;
    StringRef Callee = Name;
    if (!Kernel.empty() && Callee.consume_front("$") && Callee.consume_front(Kernel) &&
        Callee.starts_with("$"))
      return ("$" + newName(Kernel) + Callee).str();
  }
  if (Symbol.Entry->getType() == ELF::STT_SECTION) {
    StringRef Kernel = kernelOfSection(Name);
    return (Name.drop_back(Kernel.size()) + newName(Kernel)).str();
  }
  return Symbol.Entry->getType() == ELF::STT_FUNC ? newName(Name).str() : Name.str();
}

/// Appends a table that has grown and no longer fits into its old place. At the end of the image it
/// moves nothing else.
void NameExchange::appendTable(unsigned Section, const NameTable &Table) {
  if (!Table.grew())
    return;
  std::string Grown = Table.grown();
  size_t Field = reinterpret_cast<const char *>(Elf.Sections[Section].Header) - Base;
  support::endian::write64le(&Out[Field + offsetof(ELF64LE::Shdr, sh_offset)], Out.size());
  support::endian::write64le(&Out[Field + offsetof(ELF64LE::Shdr, sh_size)], Grown.size());
  Out += Grown;
}

std::string NameExchange::run() {
  for (const CubinSection &Section : Elf.Sections)
    SectionNames.know(Section.Name, Section.Header->sh_name);
  for (const CubinSymbol &Symbol : Elf.Symbols)
    SymbolNames.know(Symbol.Name, Symbol.Entry->st_name);
  for (const CubinSection &Section : Elf.Sections)
    if (std::string Name = newSectionName(Section); Name != Section.Name)
      write32(&Section.Header->sh_name, SectionNames.offsetOf(Name));
  for (const CubinSymbol &Symbol : Elf.Symbols)
    if (std::string Name = newSymbolName(Symbol); Name != Symbol.Name)
      write32(&Symbol.Entry->st_name, SymbolNames.offsetOf(Name));
  appendTable(Elf.NamesSection, SectionNames);
  appendTable(Elf.StringsSection, SymbolNames);
  return std::move(Out);
}

} // namespace

Expected<std::string>
carve::exchangeKernelNames(StringRef Bytes, ArrayRef<std::pair<std::string, std::string>> Pairs) {
  auto Elf = CubinElf::parse(Bytes);
  if (!Elf)
    return Elf.takeError();
  if (Elf->NamesSection == Elf->StringsSection)
    return malformed("cubin: sections and symbols share one table of names");
  NameExchange Exchange(Bytes, *Elf);
  for (const auto &[First, Second] : Pairs)
    if (Error E = Exchange.addPair(First, Second))
      return E;
  return Exchange.run();
}
