#include "Probe/Driver/Container.h"
#include "Support/Digest.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace carve;
using namespace carve::probe;

namespace {
struct FatbinHeader {
  uint32_t Magic = 0xba55ed50;
  uint16_t Version = 1, HeaderBytes = 16;
  uint64_t BodyBytes = 0;
};
struct Wrapper {
  uint32_t Magic = 0x466243b1, Version = 1;
  const void *Data = nullptr, *Extra = nullptr;
};

template <class T> std::string bytesOf(const T &Value) {
  return {reinterpret_cast<const char *>(&Value), sizeof Value};
}

std::string fatbin(uint64_t BodyBytes) {
  FatbinHeader Header;
  Header.BodyBytes = BodyBytes;
  return bytesOf(Header) + std::string(BodyBytes, 'x');
}

/// Returns an ELF image with one section of 10 bytes after the header, then the section headers.
/// \p Change edits both.
template <class F> std::string elf(F Change) {
  Elf64_Ehdr Header{};
  std::memcpy(Header.e_ident, ELFMAG, SELFMAG);
  Header.e_ident[EI_CLASS] = ELFCLASS64;
  Header.e_shentsize = sizeof(Elf64_Shdr);
  Header.e_shnum = 2;
  Header.e_shoff = 80;
  Elf64_Shdr Sections[2] = {};
  Sections[1].sh_type = SHT_PROGBITS;
  Sections[1].sh_offset = 64;
  Sections[1].sh_size = 10;
  Change(Header, Sections);
  std::string Bytes = bytesOf(Header);
  Bytes.resize(80, 'x');
  return Bytes + bytesOf(Sections);
}
constexpr size_t ElfBytes = 80 + 2 * sizeof(Elf64_Shdr);
} // namespace

static size_t sizeOf(const std::string &Bytes) {
  auto Found = findContainer(Bytes.data(), Bytes.size());
  return Found ? Found->Bytes : 0;
}

TEST(Container, fatbin_endsWhereItsHeaderSays) {
  std::string Bytes = fatbin(40);
  EXPECT_EQ(sizeOf(Bytes), 56u);
  EXPECT_EQ(sizeOf(Bytes + "padding"), 56u);
  EXPECT_EQ(sizeOf(Bytes.substr(0, 55)), 0u) << "a cut one must not be read beyond its end";
  EXPECT_EQ(sizeOf(Bytes.substr(0, 8)), 0u);
  EXPECT_TRUE(findContainer(Bytes.data(), Bytes.size())->Fatbin);
}

TEST(Container, fatbinWithOverflowingSizes_isRefused) {
  FatbinHeader Header;
  for (uint64_t Body : {UINT64_MAX, UINT64_MAX - 15, uint64_t(1) << 63}) {
    Header.BodyBytes = Body;
    EXPECT_FALSE(findContainer(&Header, SIZE_MAX)) << Body;
  }
  Header.BodyBytes = 0;
  Header.HeaderBytes = 8;
  EXPECT_FALSE(findContainer(&Header, SIZE_MAX));
}

TEST(Container, elf_endsAfterItsLastPart) {
  EXPECT_EQ(sizeOf(elf([](auto &, auto *) {}) + "more"), ElfBytes);
  std::string LongSection = elf([](auto &, auto *S) { S[1].sh_size = 200; });
  LongSection.resize(300);
  EXPECT_EQ(sizeOf(LongSection), 264u);
  std::string NoBits = elf([](auto &, auto *S) {
    S[1].sh_type = SHT_NOBITS;
    S[1].sh_size = 1 << 20;
  });
  EXPECT_EQ(sizeOf(NoBits), ElfBytes) << ".nv.shared has no bytes in the file";
  std::string Segments = elf([](auto &H, auto *) {
    H.e_phoff = ElfBytes;
    H.e_phnum = 2;
    H.e_phentsize = sizeof(Elf64_Phdr);
  });
  Segments.resize(1000);
  EXPECT_EQ(sizeOf(Segments), ElfBytes + 2 * sizeof(Elf64_Phdr));
  std::string Many = elf([](auto &H, auto *S) {
    H.e_shnum = 0;
    S[0].sh_size = 2;
  });
  EXPECT_EQ(sizeOf(Many), ElfBytes);
}

TEST(Container, elfThatPointsOutside_isRefused) {
  EXPECT_EQ(sizeOf(elf([](auto &H, auto *) { H.e_shoff = UINT64_MAX - 8; })), 0u);
  EXPECT_EQ(sizeOf(elf([](auto &H, auto *) { H.e_shnum = 9; })), 0u);
  EXPECT_EQ(sizeOf(elf([](auto &, auto *S) { S[1].sh_size = UINT64_MAX; })), 0u);
  EXPECT_EQ(sizeOf(elf([](auto &H, auto *) { H.e_ident[EI_CLASS] = ELFCLASS32; })), 0u);
  EXPECT_EQ(sizeOf(elf([](auto &H, auto *S) {
              H.e_shnum = 0;
              S[0].sh_size = UINT64_MAX / 2;
            })),
            0u);
}

TEST(Container, otherInput_isNoContainer) {
  EXPECT_FALSE(findLoadedContainer(nullptr));
  for (std::string Text : {"", "//\n.version 8.0\n", "\x7f",
                           "\x7f"
                           "EL",
                           "BC\xc0\xde"})
    EXPECT_FALSE(findLoadedContainer(Text.c_str()));
}

TEST(Container, shortText_isNotReadBeyondItsEnd) {
  auto PageBytes = size_t(::getpagesize());
  auto *Pages = static_cast<char *>(
      ::mmap(nullptr, 2 * PageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void *>(Pages), MAP_FAILED);
  ASSERT_EQ(::mprotect(Pages + PageBytes, PageBytes, PROT_NONE), 0);
  Pages[PageBytes - 1] = '\0';
  EXPECT_FALSE(findLoadedContainer(Pages + PageBytes - 1));
  ::munmap(Pages, 2 * PageBytes);
}

TEST(Container, wrapper_leadsToItsFatbin) {
  std::string Image = fatbin(8);
  Wrapper Plain{0x466243b1, 1, Image.data(), nullptr};
  auto Found = findLoadedContainer(&Plain);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Data, Image.data());
  EXPECT_EQ(Found->Bytes, 24u);
  // The wrapper of a device link. The list after it is not read.
  Wrapper Linked{0x466243b1, 2, Image.data(), &Plain};
  EXPECT_EQ(findLoadedContainer(&Linked)->Data, Image.data());
  Plain.Data = nullptr;
  EXPECT_FALSE(findLoadedContainer(&Plain));
}

TEST(Container, digest_equalsTheTunersDigest) {
  std::string Bytes;
  for (size_t Length : {0, 1, 3, 16, 17, 128, 129, 240, 241, 1024, 100'000}) {
    while (Bytes.size() < Length)
      Bytes += char(Bytes.size() * 31 + 7);
    EXPECT_EQ(digestOfImage(Bytes.data(), Length),
              digestOf(llvm::StringRef(Bytes).take_front(Length)))
        << Length;
  }
}
