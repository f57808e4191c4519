#include "Emit/ObjectSplicer.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MathExtras.h"

using namespace carve;
using llvm::object::ELF64LE;
using ElfFile = llvm::object::ELFFile<ELF64LE>;

/// nvcc's names for the section, without and with -rdc.
static constexpr llvm::StringLiteral DeviceSections[] = {".nv_fatbin", "__nv_relfatbin"};
/// The header of the container is read as 64-bit words.
static constexpr uint64_t MinAlign = 8;
/// nvcc never asks for an alignment of more than a page, and a larger one would only make the file
/// grow.
static constexpr uint64_t MaxAlign = 4096;

static llvm::Error broken(const llvm::Twine &Actual) {
  return malformed("bad object: " + Actual + ", expected a whole 64-bit little-endian ELF");
}

static llvm::Error broken(llvm::Error Cause) { return broken(llvm::toString(std::move(Cause))); }

static llvm::Expected<ElfFile> openObject(llvm::StringRef Object) {
  if (!Object.starts_with(llvm::ELF::ElfMagic) || Object.size() < sizeof(ELF64LE::Ehdr))
    return broken(llvm::Twine(Object.size()) + " bytes that do not start with an ELF header");
  if (Object[llvm::ELF::EI_CLASS] != llvm::ELF::ELFCLASS64 ||
      Object[llvm::ELF::EI_DATA] != llvm::ELF::ELFDATA2LSB)
    return broken("an ELF of another class or byte order");
  llvm::Expected<ElfFile> Elf = ElfFile::create(Object);
  if (!Elf)
    return broken(Elf.takeError());
  if (Elf->getHeader().e_type != llvm::ELF::ET_REL)
    return broken("an ELF of type " + llvm::Twine(Elf->getHeader().e_type) +
                  " that is not relocatable");
  return Elf;
}

/// Returns true if \p Content is \p Expected, possibly followed by the zeros with which the
/// assembler fills a section to its alignment.
static bool holds(llvm::StringRef Content, llvm::StringRef Expected) {
  return !Expected.empty() && Content.consume_front(Expected) && Content.size() < MaxAlign &&
         llvm::all_of(Content, [](char C) { return C == 0; });
}

/// Returns the file offset of the header of the section that holds \p Expected.
static llvm::Expected<uint64_t> findHeader(const ElfFile &Elf, llvm::StringRef Expected) {
  auto Sections = Elf.sections();
  if (!Sections)
    return broken(Sections.takeError());
  bool Seen = false;
  for (const ELF64LE::Shdr &Section : *Sections) {
    llvm::Expected<llvm::StringRef> Name = Elf.getSectionName(Section);
    if (!Name)
      return broken(Name.takeError());
    if (!llvm::is_contained(DeviceSections, *Name))
      continue;
    Seen = true;
    auto Content = Elf.getSectionContents(Section);
    if (!Content)
      return broken(Content.takeError());
    if (Section.sh_type == llvm::ELF::SHT_PROGBITS && holds(llvm::toStringRef(*Content), Expected))
      return reinterpret_cast<const uint8_t *>(&Section) - Elf.base();
  }
  if (!Seen)
    return unsupported("no-device-section", "neither .nv_fatbin nor __nv_relfatbin");
  return unsupported("foreign-object", "the device section is not the container that nvcc made");
}

llvm::Expected<std::string> carve::spliceContainer(llvm::StringRef Object, llvm::StringRef Expected,
                                                   llvm::StringRef Container) {
  llvm::Expected<ElfFile> Elf = openObject(Object);
  if (!Elf)
    return Elf.takeError();
  llvm::Expected<uint64_t> HeaderAt = findHeader(*Elf, Expected);
  if (!HeaderAt)
    return HeaderAt.takeError();

  std::string Result;
  Result.reserve(Object.size() + MaxAlign + Container.size());
  Result += Object;
  auto *Header = reinterpret_cast<ELF64LE::Shdr *>(Result.data() + *HeaderAt);
  uint64_t Align = std::max<uint64_t>(Header->sh_addralign, MinAlign);
  if (!llvm::isPowerOf2_64(Align) || Align > MaxAlign)
    return broken("a device section aligned to " + llvm::Twine(Align));
  Header->sh_offset = llvm::alignTo(Object.size(), Align);
  Header->sh_size = Container.size();
  // The old content stays where it was, and nobody reads it. So everything else in the file keeps
  // its place.
  Result.resize(llvm::alignTo(Object.size(), Align));
  Result += Container;
  return Result;
}

llvm::Expected<DeviceSection> carve::findDeviceSection(llvm::StringRef Object,
                                                       llvm::StringRef Container) {
  llvm::Expected<ElfFile> Elf = openObject(Object);
  if (!Elf)
    return Elf.takeError();
  llvm::Expected<uint64_t> HeaderAt = findHeader(*Elf, Container);
  if (!HeaderAt)
    return HeaderAt.takeError();
  auto *Header = reinterpret_cast<const ELF64LE::Shdr *>(Object.data() + *HeaderAt);
  return DeviceSection{Object.size(), *HeaderAt, Header->sh_offset, Header->sh_size};
}

llvm::Expected<std::string> carve::unsplicedObject(llvm::StringRef Object,
                                                   const DeviceSection &Original) {
  if (Object.size() < Original.ObjectBytes || Original.ObjectBytes < sizeof(ELF64LE::Shdr) ||
      Original.HeaderOffset > Original.ObjectBytes - sizeof(ELF64LE::Shdr))
    return unsupported("foreign-object", llvm::Twine(Object.size()) + " bytes, expected at least " +
                                             llvm::Twine(Original.ObjectBytes));
  std::string Result = Object.take_front(Original.ObjectBytes).str();
  auto *Header = reinterpret_cast<ELF64LE::Shdr *>(Result.data() + Original.HeaderOffset);
  Header->sh_offset = Original.Offset;
  Header->sh_size = Original.Bytes;
  return Result;
}
