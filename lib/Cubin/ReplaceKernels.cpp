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
#include "Cubin/SymbolPlaces.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <map>

using namespace carve;
using namespace llvm;
using namespace llvm::object;
using support::endian::read32le;
using support::endian::write32le;

namespace {

class KernelReplacement {
public:
  /// \p Places has the symbols of the module.
  KernelReplacement(const CubinElf &Base, const CubinElf &Donor, SymbolPlaces Places)
      : Base(Base), Donor(Donor), Made(Base), Places(std::move(Places)) {}
  Error replace(StringRef Kernel);
  Expected<std::string> finish(StringRef Bytes);

private:
  Error mapOwnSymbols(StringRef Kernel);
  Error takeSections(StringRef Kernel);
  Error takeModuleInfo(StringRef Kernel);
  Error checkCalls(StringRef Kernel) const;

  const CubinElf &Base, &Donor;
  ElfLayout Made;
  SymbolPlaces Places;
};

} // namespace

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
    Places.set(From, To);
  }
  return Error::success();
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
      if (Error E = Places.moveRelocations(Section, Bytes))
        return E;
    if (Section.prefix() == ".nv.info.")
      if (Error E = Places.moveInfo(Bytes))
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
    std::optional<uint32_t> Place = Places.find(Info.Symbol);
    if (Info.Payload.size() == 8 && Place && Donor.ownerOf(Donor.Symbols[Info.Symbol]) == Kernel)
      Values[{Info.Attribute, *Place}] = Info.Value;
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
      Line +=
          " " + (Known ? uncounted(symbolKey(Elf, Elf.Symbols[Symbol])) : std::to_string(Symbol));
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
  Expected<SymbolPlaces> Places = SymbolPlaces::ofModule(*Mine, *Others);
  if (!Places)
    return Places.takeError();
  KernelReplacement Replacement(*Mine, *Others, std::move(*Places));
  for (const std::string &Kernel : Kernels)
    if (Error E = Replacement.replace(Kernel))
      return E;
  return Replacement.finish(Base);
}
