#include "Probe/Driver/Container.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace carve::probe;

namespace {
/// The header of a fatbinary. Its body follows: a list of images, each of which has a header of its
/// own.
struct FatbinHeader {
  uint32_t Magic;
  uint16_t Version;
  uint16_t HeaderBytes;
  uint64_t BodyBytes;
};

/// The layout of __fatBinC_Wrapper_t. In the wrapper of a device link (version 2) Data is the
/// linked container, and Extra lists the relocatable containers that it was linked from, as
/// crt/link.stub fills it in.
struct Wrapper {
  uint32_t Magic;
  uint32_t Version;
  const void *Data;
  const void *Extra;
};
} // namespace

static constexpr uint32_t FatbinMagic = 0xba55ed50;
static constexpr uint32_t WrapperMagic = 0x466243b1;
/// No toolkit makes containers of this size. A larger number is not the size of a container.
static constexpr uint64_t MaxBytes = uint64_t(1) << 40;

/// Compares byte by byte, because the pointer may be to PTX text that ends right before an unmapped
/// page.
static bool startsWith(const void *Pointer, const void *Magic, size_t Bytes) {
  auto *Have = static_cast<const volatile unsigned char *>(Pointer);
  auto *Want = static_cast<const unsigned char *>(Magic);
  for (size_t I = 0; I < Bytes; ++I)
    if (Have[I] != Want[I])
      return false;
  return true;
}

template <class T> static T readAs(const void *Base, uint64_t Offset) {
  T Value;
  std::memcpy(&Value, static_cast<const char *>(Base) + Offset, sizeof Value);
  return Value;
}

static bool fits(uint64_t Offset, uint64_t Bytes, uint64_t Limit) {
  return Offset <= Limit && Bytes <= Limit - Offset;
}

static std::optional<uint64_t> sizeOfFatbin(const void *Data, uint64_t Limit) {
  if (!fits(0, sizeof(FatbinHeader), Limit))
    return std::nullopt;
  auto Header = readAs<FatbinHeader>(Data, 0);
  if (Header.HeaderBytes < sizeof(FatbinHeader) ||
      !fits(Header.HeaderBytes, Header.BodyBytes, Limit))
    return std::nullopt;
  return Header.HeaderBytes + Header.BodyBytes;
}

/// Returns the size of an ELF image, which ends at the end of its last table, section or segment.
static std::optional<uint64_t> sizeOfElf(const void *Data, uint64_t Limit) {
  if (!fits(0, sizeof(Elf64_Ehdr), Limit))
    return std::nullopt;
  auto Header = readAs<Elf64_Ehdr>(Data, 0);
  if (Header.e_ident[EI_CLASS] != ELFCLASS64 || Header.e_shoff == 0 ||
      Header.e_shentsize != sizeof(Elf64_Shdr) || !fits(Header.e_shoff, sizeof(Elf64_Shdr), Limit))
    return std::nullopt;
  uint64_t Sections = Header.e_shnum;
  if (Sections == 0) // An image with 65280 or more sections has their number in the first one.
    Sections = readAs<Elf64_Shdr>(Data, Header.e_shoff).sh_size;
  uint64_t End = sizeof(Elf64_Ehdr);
  auto Cover = [&](uint64_t Offset, uint64_t Bytes) {
    if (!fits(Offset, Bytes, Limit))
      return false;
    End = std::max(End, Offset + Bytes);
    return true;
  };
  if (Sections > Limit / sizeof(Elf64_Shdr) ||
      !Cover(Header.e_shoff, Sections * sizeof(Elf64_Shdr)))
    return std::nullopt;
  for (uint64_t I = 0; I < Sections; ++I) {
    auto Section = readAs<Elf64_Shdr>(Data, Header.e_shoff + I * sizeof(Elf64_Shdr));
    if (Section.sh_type != SHT_NOBITS && Section.sh_type != SHT_NULL &&
        !Cover(Section.sh_offset, Section.sh_size))
      return std::nullopt;
  }
  // The segments lie over the sections, so only their table can extend the image.
  if (Header.e_phnum && !Cover(Header.e_phoff, uint64_t(Header.e_phnum) * Header.e_phentsize))
    return std::nullopt;
  return End;
}

std::optional<Container> carve::probe::findContainer(const void *Pointer, size_t Available) {
  if (!Pointer || Available < sizeof FatbinMagic)
    return std::nullopt;
  uint64_t Limit = std::min<uint64_t>(Available, MaxBytes);
  bool Fatbin = startsWith(Pointer, &FatbinMagic, sizeof FatbinMagic);
  if (!Fatbin && !startsWith(Pointer, ELFMAG, SELFMAG))
    return std::nullopt;
  auto Bytes = Fatbin ? sizeOfFatbin(Pointer, Limit) : sizeOfElf(Pointer, Limit);
  if (!Bytes)
    return std::nullopt;
  return Container{Pointer, static_cast<size_t>(*Bytes), Fatbin};
}

std::optional<Container> carve::probe::findLoadedContainer(const void *Pointer) {
  if (!Pointer || !startsWith(Pointer, &WrapperMagic, sizeof WrapperMagic))
    return findContainer(Pointer, SIZE_MAX);
  return findContainer(readAs<Wrapper>(Pointer, 0).Data, SIZE_MAX);
}

std::string carve::probe::digestOfImage(const void *Data, size_t Bytes) {
  XXH128_hash_t Hash = XXH3_128bits(Data, Bytes);
  char Text[33];
  std::snprintf(Text, sizeof Text, "%016llx%016llx", static_cast<unsigned long long>(Hash.high64),
                static_cast<unsigned long long>(Hash.low64));
  return Text;
}
