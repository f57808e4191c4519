// The image is an ELF file whose sections are named after their kernels. What belongs to the module
// must be the same in both images; then the sections of a kernel can be exchanged one by one.
// Symbols are told by name, because their numbers differ if the donor has fewer kernels.
//
//   .text.K .nv.constant*.K .nv.shared.K .nv.local.K     taken as they are
//   .rel*.*.K                                            taken, with the base's symbols
//   .nv.info.K                                           taken, with the base's symbols
//   .nv.info                                             the values of K and its local functions
//   .debug_frame                                         the blocks of K, padded to their old size
//   symbols of K                                         values and sizes

#include "Cubin/ReplaceKernels.h"

#include "Cubin/CubinElf.h"
#include "Cubin/CubinInfo.h"
#include "Cubin/ElfLayout.h"
#include "Cubin/ReplaceFrames.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"

#include <re2/re2.h>

#include <map>

using namespace carve;
using namespace llvm;
using namespace llvm::object;
using support::endian::read32le;
using support::endian::write32le;

namespace {

class KernelReplacement {
public:
  KernelReplacement(const CubinElf &Base, const CubinElf &Donor)
      : Base(Base), Donor(Donor), Made(Base) {}
  /// Checks that both images are of one module, and finds the donor's symbols in the base.
  Error prepare();
  Error replace(StringRef Kernel);
  Expected<std::string> finish(StringRef Bytes);

private:
  Error findSymbols();
  Error checkModule() const;
  Error mapOwnSymbols(StringRef Kernel);
  Error takeSections(StringRef Kernel);
  Error takeModuleInfo(StringRef Kernel);
  Error checkCalls(StringRef Kernel) const;
  Expected<uint32_t> placeOf(uint32_t DonorSymbol) const;
  Error moveRelocations(const CubinSection &Section, std::string &Bytes) const;
  Error moveInfo(std::string &Bytes) const;

  const CubinElf &Base, &Donor;
  ElfLayout Made;
  std::map<uint32_t, uint32_t> Places; ///< Of the donor's symbols in the base.
};

} // namespace

/// The name of \p Symbol that tells it from all others: a section's symbol may have no name.
static std::string keyOf(const CubinElf &Elf, const CubinSymbol &Symbol) {
  const CubinSection *Section = Elf.sectionOf(Symbol);
  if (Symbol.Entry->getType() == ELF::STT_SECTION && Section)
    return "section " + Section->Name.str();
  return Symbol.Name.str();
}

/// The name of \p Symbol without the number that ptxas counts through the image, such as in
/// `$__internal_3_$__cuda_sm3x_div_rn_noftz_f32_slowpath`.
static std::string uncounted(StringRef Symbol) {
  static const RE2 Count(R"(__internal_\d+_)");
  std::string Name = Symbol.str();
  RE2::GlobalReplace(&Name, Count, "__internal_");
  return Name;
}

static std::vector<uint32_t> ownSymbols(const CubinElf &Elf, StringRef Kernel) {
  std::vector<uint32_t> Own;
  for (uint32_t I = 0; I < Elf.Symbols.size(); ++I)
    if (Elf.ownerOf(Elf.Symbols[I]) == Kernel)
      Own.push_back(I);
  return Own;
}

/// Whether \p Section is the module's and need not be the same: tables that follow from the rest,
/// notes on how ptxas was called, and what is taken for each kernel by itself.
static bool mayDiffer(const CubinSection &Section) {
  static constexpr StringLiteral Names[] = {
      "",         ".shstrtab",    ".strtab",           ".symtab",          ".note.nv.tkinfo",
      ".nv.info", ".debug_frame", ".rela.debug_frame", ".rel.debug_frame", ".nv.callgraph"};
  return !Section.Kernel.empty() || is_contained(Names, Section.Name);
}

/// The content of each section of the module, by name. Relocations are in words, because symbols
/// may have other numbers.
static StringMap<std::string> moduleSections(const CubinElf &Elf) {
  StringMap<std::string> All;
  for (const CubinSection &Section : Elf.Sections) {
    if (mayDiffer(Section))
      continue;
    std::string &Content = All[Section.Name];
    Content = std::to_string(Section.Header->sh_type) + ' ';
    if (!Section.isRelocation()) {
      Content += std::to_string(Section.Header->sh_size) + ' ' + Section.Bytes.str();
      continue;
    }
    std::vector<std::string> Lines;
    for (const CubinRelocation &R : Section.relocations())
      Lines.push_back((Twine(R.Offset) + " " + Twine(R.Type) + " " + Twine(R.Addend) + " " +
                       (R.Symbol < Elf.Symbols.size() ? keyOf(Elf, Elf.Symbols[R.Symbol]) : ""))
                          .str());
    sort(Lines);
    for (const std::string &Line : Lines)
      Content += Line + '\n';
  }
  return All;
}

Error KernelReplacement::checkModule() const {
  if (Base.Header.e_type != ELF::ET_EXEC || Donor.Header.e_type != ELF::ET_EXEC ||
      Base.Header.e_flags != Donor.Header.e_flags)
    return unsupported("other-module", "the headers of the images differ, or nvlink has to link");
  for (const CubinSection &Section : Base.Sections) {
    if (Section.Name.starts_with(".nv.merc") || Section.Name.starts_with(".nv.capmerc"))
      return unsupported("mercury-code", "the image has code for other architectures as well");
    if ((Section.Name.starts_with(".debug_") && Section.Name != ".debug_frame") ||
        Section.Name.starts_with(".nv_debug"))
      return unsupported("line-information", "the image has " + Section.Name.str());
  }
  StringMap<std::string> Mine = moduleSections(Base), Others = moduleSections(Donor);
  for (const auto &Section : Others)
    if (auto Same = Mine.find(Section.first());
        Same == Mine.end() || Same->second != Section.second)
      return unsupported("other-module", "section " + Section.first().str() + " differs");
  return Error::success();
}

/// Whether a symbol of the module means the same in both images.
static bool sameSymbol(const ELF64LE::Sym &A, const ELF64LE::Sym &B) {
  return A.st_info == B.st_info && A.st_other == B.st_other && A.st_value == B.st_value &&
         A.st_size == B.st_size;
}

Error KernelReplacement::findSymbols() {
  StringMap<std::vector<uint32_t>> ByKey;
  for (uint32_t I = 0; I < Base.Symbols.size(); ++I)
    if (Base.ownerOf(Base.Symbols[I]).empty())
      ByKey[keyOf(Base, Base.Symbols[I])].push_back(I);
  for (uint32_t I = 0; I < Donor.Symbols.size(); ++I) {
    const CubinSymbol &Symbol = Donor.Symbols[I];
    std::string Key = keyOf(Donor, Symbol);
    auto Same = ByKey.find(Key);
    // A symbol that is not found or not unique must not be needed.
    if (Key.empty() || !Donor.ownerOf(Symbol).empty() || Same == ByKey.end() ||
        Same->second.size() != 1)
      continue;
    if (!sameSymbol(*Symbol.Entry, *Base.Symbols[Same->second.front()].Entry))
      return unsupported("other-module", "the symbol " + Key + " differs");
    Places[I] = Same->second.front();
  }
  return Error::success();
}

Error KernelReplacement::prepare() {
  if (Error E = checkModule())
    return E;
  return findSymbols();
}

Expected<uint32_t> KernelReplacement::placeOf(uint32_t DonorSymbol) const {
  auto Place = Places.find(DonorSymbol);
  if (Place == Places.end())
    return unsupported("other-module",
                       "the other image has no symbol for number " + std::to_string(DonorSymbol));
  return Place->second;
}

/// Finds the kernel's own symbols, which have the same order in both images, and takes what they
/// say.
Error KernelReplacement::mapOwnSymbols(StringRef Kernel) {
  std::vector<uint32_t> Mine = ownSymbols(Base, Kernel), Others = ownSymbols(Donor, Kernel);
  if (Mine.empty() || Others.empty())
    return malformed("cubin: no kernel named " + Kernel);
  auto Describe = [](const CubinElf &Elf, uint32_t I) {
    const CubinSymbol &S = Elf.Symbols[I];
    return std::pair(uncounted(S.Name), Elf.sectionOf(S)->Name);
  };
  bool Same = Mine.size() == Others.size();
  for (size_t I = 0; Same && I < Mine.size(); ++I)
    Same = Describe(Base, Mine[I]) == Describe(Donor, Others[I]);
  if (!Same)
    return unsupported("other-sections", "the local functions of " + Kernel.str() + " differ");
  for (auto [To, From] : zip_equal(Mine, Others)) {
    const ELF64LE::Sym &Entry = *Donor.Symbols[From].Entry;
    ELF64LE::Sym &New = Made.Symbols[To];
    New.st_info = Entry.st_info;
    New.st_other = Entry.st_other;
    New.st_value = Entry.st_value;
    New.st_size = Entry.st_size;
    Places[From] = To;
  }
  return Error::success();
}

/// Gives the relocations in \p Bytes, the content of \p Section of the donor, the base's symbols.
Error KernelReplacement::moveRelocations(const CubinSection &Section, std::string &Bytes) const {
  for (const CubinRelocation &R : Section.relocations()) {
    Expected<uint32_t> Place = placeOf(R.Symbol);
    if (!Place)
      return Place.takeError();
    write32le(Bytes.data() + R.At + 12, *Place);
  }
  return Error::success();
}

/// Gives the attributes in \p Bytes, a kernel's own section of the donor, the base's symbols.
Error KernelReplacement::moveInfo(std::string &Bytes) const {
  Error Failed = Error::success();
  std::string Moved = Bytes;
  forEachInfo(Bytes, [&](const CubinInfo &Info) {
    // The only attributes whose payload has symbols: the constants that hold the parameters, and
    // the list of external functions.
    size_t Words = Info.Attribute == AttrParamCbank ? 1
                   : Info.Attribute == AttrExterns  ? Info.Payload.size() / 4
                                                    : 0;
    for (size_t Word = 0; Word < Words && !Failed; ++Word) {
      size_t At = Info.Payload.data() - Bytes.data() + 4 * Word;
      if (Expected<uint32_t> Place = placeOf(read32le(Bytes.data() + At)))
        write32le(Moved.data() + At, *Place);
      else
        Failed = joinErrors(std::move(Failed), Place.takeError());
    }
  });
  Bytes = std::move(Moved);
  return Failed;
}

Error KernelReplacement::takeSections(StringRef Kernel) {
  auto IsOwn = [&](const CubinSection &S) { return S.Kernel == Kernel; };
  if (count_if(Base.Sections, IsOwn) != count_if(Donor.Sections, IsOwn))
    return unsupported("other-sections", "the sections of " + Kernel.str() + " differ");
  for (const CubinSection &Section : make_filter_range(Donor.Sections, IsOwn)) {
    const CubinSection *Old = Base.section(Section.Name);
    if (!Old || Old->Header->sh_type != Section.Header->sh_type)
      return unsupported("other-sections", Section.Name.str() + " is in one image only");
    size_t Index = Old - Base.Sections.data();
    std::string Bytes = Section.Bytes.str();
    if (Section.isRelocation())
      if (Error E = moveRelocations(Section, Bytes))
        return E;
    if (Section.prefix() == ".nv.info.")
      if (Error E = moveInfo(Bytes))
        return E;
    ELF64LE::Shdr &New = Made.Headers[Index];
    // NVIDIA keeps the number of barriers in the flags of older architectures, and the registers in
    // the upper byte of the information, beside the kernel's symbol.
    New.sh_flags = Section.Header->sh_flags;
    New.sh_size = Section.Header->sh_size;
    New.sh_addralign = Section.Header->sh_addralign;
    if (Section.prefix() == ".text.")
      New.sh_info = (Section.Header->sh_info & 0xff000000) | (New.sh_info & 0x00ffffff);
    Made.Contents[Index] = std::move(Bytes);
  }
  return Error::success();
}

/// Takes what `.nv.info` of the module says about the kernel and its local functions.
Error KernelReplacement::takeModuleInfo(StringRef Kernel) {
  const CubinSection *Mine = Base.section(".nv.info"), *Others = Donor.section(".nv.info");
  if (!Mine || !Others)
    return unsupported("other-attributes", "an image says nothing about its kernels");
  std::map<std::pair<uint8_t, uint32_t>, uint32_t> Values; // By attribute and symbol of the base.
  forEachInfo(Others->Bytes, [&](const CubinInfo &Info) {
    auto Place = Places.find(Info.Symbol);
    if (Info.Payload.size() == 8 && Place != Places.end() &&
        Donor.ownerOf(Donor.Symbols[Info.Symbol]) == Kernel)
      Values[{Info.Attribute, Place->second}] = Info.Value;
  });
  std::string &Made = this->Made.Contents[Mine - Base.Sections.data()];
  bool Same = true;
  size_t Taken = 0;
  forEachInfo(Mine->Bytes, [&](const CubinInfo &Info) {
    if (Info.Payload.size() < 8 || Info.Symbol >= Base.Symbols.size() ||
        Base.ownerOf(Base.Symbols[Info.Symbol]) != Kernel)
      return;
    auto New = Values.find({Info.Attribute, Info.Symbol});
    Same &= Info.Payload.size() == 8 && New != Values.end();
    if (!Same)
      return;
    write32le(Made.data() + (Info.Payload.data() - Mine->Bytes.data()) + 4, New->second);
    ++Taken;
  });
  if (!Same || Taken != Values.size())
    return unsupported("other-attributes", "`.nv.info` says other things about " + Kernel.str());
  return Error::success();
}

/// The calls of \p Kernel and its local functions in the call graph of \p Elf, in words.
static std::vector<std::string> callsOf(const CubinElf &Elf, StringRef Kernel) {
  std::vector<std::string> Calls;
  const CubinSection *Graph = Elf.section(".nv.callgraph");
  for (size_t At = 0; Graph && At + 8 <= Graph->Bytes.size(); At += 8) {
    bool Own = false;
    std::string Line;
    for (size_t Word : {0, 4}) {
      uint32_t Symbol = read32le(Graph->Bytes.data() + At + Word);
      bool Known = Symbol < Elf.Symbols.size(); // Larger numbers are marks.
      Own |= Known && Elf.ownerOf(Elf.Symbols[Symbol]) == Kernel;
      Line += " " + (Known ? uncounted(keyOf(Elf, Elf.Symbols[Symbol])) : std::to_string(Symbol));
    }
    if (Own)
      Calls.push_back(std::move(Line));
  }
  sort(Calls);
  return Calls;
}

Error KernelReplacement::checkCalls(StringRef Kernel) const {
  if (callsOf(Base, Kernel) == callsOf(Donor, Kernel))
    return Error::success();
  return unsupported("other-sections", "the calls of " + Kernel.str() + " differ");
}

Error KernelReplacement::replace(StringRef Kernel) {
  if (Error E = mapOwnSymbols(Kernel))
    return E;
  if (Error E = takeSections(Kernel))
    return E;
  if (Error E = takeModuleInfo(Kernel))
    return E;
  if (Error E = checkCalls(Kernel))
    return E;
  return replaceFrames(Base, Donor, Kernel, Made);
}

Expected<std::string> KernelReplacement::finish(StringRef Bytes) { return Made.write(Bytes); }

Expected<std::string> carve::replaceKernels(StringRef Base, StringRef Donor,
                                            ArrayRef<std::string> Kernels) {
  auto Mine = CubinElf::parse(Base), Others = CubinElf::parse(Donor);
  if (!Mine || !Others)
    return joinErrors(Mine.takeError(), Others.takeError());
  KernelReplacement Replacement(*Mine, *Others);
  if (Error E = Replacement.prepare())
    return E;
  for (const std::string &Kernel : Kernels)
    if (Error E = Replacement.replace(Kernel))
      return E;
  return Replacement.finish(Base);
}
