#include "Emit/ObjectSplicer.h"

#include "Support/Error.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>
#include <vector>

using namespace carve;
using namespace llvm::ELF;

namespace {

struct Section {
  std::string Name, Content;
  uint64_t Align = 8;
  uint32_t Type = SHT_PROGBITS;
};

/// Returns a relocatable ELF with the given sections and the header table last, as an assembler
/// lays it out.
std::string makeObject(std::vector<Section> Sections, uint16_t Type = ET_REL) {
  Sections.insert(Sections.begin(), Section{"", "", 0, SHT_NULL});
  std::string Names(1, '\0');
  Sections.push_back({".shstrtab", "", 1, SHT_STRTAB});
  std::vector<Elf64_Shdr> Headers(Sections.size());
  for (size_t I = 1; I < Sections.size(); ++I) {
    Headers[I].sh_name = Names.size();
    Names += Sections[I].Name + '\0';
  }
  Sections.back().Content = Names;
  std::string Object(sizeof(Elf64_Ehdr), '\0');
  for (size_t I = 1; I < Sections.size(); ++I) {
    Object.resize(llvm::alignTo(Object.size(), std::clamp<uint64_t>(Sections[I].Align, 1, 64)));
    Headers[I].sh_type = Sections[I].Type;
    Headers[I].sh_offset = Object.size();
    Headers[I].sh_size = Sections[I].Content.size();
    Headers[I].sh_addralign = Sections[I].Align;
    Object += Sections[I].Content;
  }
  Object.resize(llvm::alignTo(Object.size(), 8));
  Elf64_Ehdr Header{};
  std::memcpy(Header.e_ident, ElfMagic, 4);
  Header.e_ident[EI_CLASS] = ELFCLASS64;
  Header.e_ident[EI_DATA] = ELFDATA2LSB;
  Header.e_ident[EI_VERSION] = EV_CURRENT;
  Header.e_type = Type;
  Header.e_machine = EM_X86_64;
  Header.e_shoff = Object.size();
  Header.e_ehsize = sizeof(Elf64_Ehdr);
  Header.e_shentsize = sizeof(Elf64_Shdr);
  Header.e_shnum = Headers.size();
  Header.e_shstrndx = Headers.size() - 1;
  std::memcpy(Object.data(), &Header, sizeof(Header));
  Object.append(reinterpret_cast<const char *>(Headers.data()),
                Headers.size() * sizeof(Elf64_Shdr));
  return Object;
}

size_t headerOffset(const std::string &Object, unsigned Index) {
  Elf64_Ehdr Header;
  std::memcpy(&Header, Object.data(), sizeof(Header));
  return Header.e_shoff + Index * sizeof(Elf64_Shdr);
}

Elf64_Shdr headerOf(const std::string &Object, unsigned Index) {
  Elf64_Shdr Header;
  std::memcpy(&Header, Object.data() + headerOffset(Object, Index), sizeof(Header));
  return Header;
}

std::string contentOf(const std::string &Object, unsigned Index) {
  Elf64_Shdr Header = headerOf(Object, Index);
  return Object.substr(Header.sh_offset, Header.sh_size);
}

std::string spliced(llvm::StringRef Object, llvm::StringRef Expected, llvm::StringRef Container) {
  llvm::Expected<std::string> Result = spliceContainer(Object, Expected, Container);
  if (Result)
    return *Result;
  ADD_FAILURE() << llvm::toString(Result.takeError());
  return "";
}

/// Returns the reason of an Unsupported error, or the message of any other error.
std::string failureOf(llvm::StringRef Object, llvm::StringRef Expected, llvm::StringRef Container) {
  llvm::Expected<std::string> Result = spliceContainer(Object, Expected, Container);
  if (Result)
    return "";
  std::string Text;
  llvm::handleAllErrors(
      Result.takeError(), [&](const Unsupported &Reason) { Text = Reason.reason(); },
      [&](const llvm::ErrorInfoBase &Other) { Text = Other.message(); });
  return Text;
}

const std::string Old = "the old container, of 40 bytes in length", New(1001, 'n');

} // namespace

TEST(ObjectSplicer, splice_changesOneHeaderAndAppends) {
  for (const char *Name : {".nv_fatbin", "__nv_relfatbin"}) {
    std::string Object = makeObject({{".text", "code!"}, {Name, Old}, {".data", "data"}});
    std::string Result = spliced(Object, Old, New);
    ASSERT_GT(Result.size(), Object.size());
    EXPECT_EQ(contentOf(Result, 2), New);
    EXPECT_EQ(headerOf(Result, 2).sh_offset % 8, 0u);
    EXPECT_EQ(headerOf(Result, 2).sh_offset + New.size(), Result.size());
    // Only these two fields of the old bytes differ.
    size_t Fields = headerOffset(Object, 2) + offsetof(Elf64_Shdr, sh_offset);
    std::string Restored = Result.substr(0, Object.size());
    Restored.replace(Fields, 16, Object, Fields, 16);
    EXPECT_EQ(Restored, Object);
    size_t Fill = headerOf(Result, 2).sh_offset - Object.size();
    EXPECT_EQ(Result.substr(Object.size(), Fill), std::string(Fill, '\0'));
  }
}

TEST(ObjectSplicer, splice_keepsTheSectionsAlignment) {
  for (uint64_t Align : {1, 8, 16, 64, 4096}) {
    std::string Object = makeObject({{".nv_fatbin", Old, Align}});
    EXPECT_EQ(headerOf(spliced(Object + "x", Old, New), 1).sh_offset % std::max<uint64_t>(Align, 8),
              0u);
    EXPECT_EQ(headerOf(spliced(Object, Old, New), 1).sh_addralign, Align);
  }
}

TEST(ObjectSplicer, splicedObject_isSplicedAgainAndBack) {
  std::string Object = makeObject({{".nv_fatbin", Old}});
  std::string Twice = spliced(spliced(Object, Old, New), New, "third");
  EXPECT_EQ(contentOf(Twice, 1), "third");
  EXPECT_EQ(contentOf(spliced(Twice, "third", Old), 1), Old);
}

TEST(ObjectSplicer, zerosAfterContainer_areAllowed) {
  std::string Object = makeObject({{".nv_fatbin", Old + std::string(7, '\0')}});
  EXPECT_EQ(contentOf(spliced(Object, Old, New), 1), New);
}

TEST(ObjectSplicer, foreignObject_isRefused) {
  std::string Object = makeObject({{".nv_fatbin", Old + "tail"}});
  EXPECT_EQ(failureOf(Object, Old, New), "foreign-object");
  EXPECT_EQ(failureOf(Object, "", New), "foreign-object");
  EXPECT_EQ(failureOf(Object, Old + "tail and more", New), "foreign-object");
  EXPECT_EQ(failureOf(makeObject({{".nv_fatbin", Old, 8, SHT_NOBITS}}), Old, New),
            "foreign-object");
  EXPECT_EQ(failureOf(makeObject({{".nv_fatbin", Old + std::string(5000, '\0')}}), Old, New),
            "foreign-object");
}

TEST(ObjectSplicer, objectWithoutDeviceSection_isRefused) {
  EXPECT_EQ(failureOf(makeObject({{".text", Old}, {".nvFatBinSegment", Old}}), Old, New),
            "no-device-section");
  EXPECT_EQ(failureOf(makeObject({}), Old, New), "no-device-section");
}

// `ld -r` joins objects under one section name, and -rdc code may meet plain code.
TEST(ObjectSplicer, containerAmongSeveralSections_isFound) {
  std::string Object =
      makeObject({{".nv_fatbin", "another"}, {"__nv_relfatbin", Old}, {".nv_fatbin", "third"}});
  std::string Result = spliced(Object, Old, New);
  EXPECT_EQ(contentOf(Result, 1), "another");
  EXPECT_EQ(contentOf(Result, 2), New);
  EXPECT_EQ(contentOf(Result, 3), "third");
}

TEST(ObjectSplicer, fileOtherThanRelocatable64BitElf_isRefused) {
  std::string Object = makeObject({{".nv_fatbin", Old}});
  auto with = [&](size_t At, char Byte) {
    std::string Changed = Object;
    Changed[At] = Byte;
    return Changed;
  };
  const std::string Bad = "bad object: ";
  for (const std::string &Text :
       {std::string(), std::string("\x7f"), std::string("!<arch>\n"), std::string(4096, 'x'),
        with(EI_CLASS, ELFCLASS32), with(EI_DATA, ELFDATA2MSB),
        makeObject({{".nv_fatbin", Old}}, ET_EXEC), makeObject({{".nv_fatbin", Old}}, ET_DYN),
        with(offsetof(Elf64_Ehdr, e_shentsize), 1), with(offsetof(Elf64_Ehdr, e_shoff) + 7, 0x7f),
        makeObject({{".nv_fatbin", Old, 24}}), makeObject({{".nv_fatbin", Old, 1u << 20}})})
    EXPECT_EQ(failureOf(Text, Old, New).rfind(Bad, 0), 0u) << failureOf(Text, Old, New);
}

TEST(ObjectSplicer, truncatedObject_isRefused) {
  std::string Object = makeObject({{".text", "code"}, {".nv_fatbin", Old}});
  for (size_t Length = 0; Length < Object.size(); ++Length)
    ASSERT_NE(failureOf(llvm::StringRef(Object).take_front(Length), Old, New), "") << Length;
}

TEST(ObjectSplicer, damagedObject_isRefusedOrSplicedInBounds) {
  const std::string Object = makeObject({{".text", "code"}, {".nv_fatbin", Old}});
  std::mt19937 Random(1);
  for (int Round = 0; Round < 20000; ++Round) {
    std::string Damaged = Object;
    for (unsigned Flips = 1 + Random() % 4; Flips > 0; --Flips)
      Damaged[Random() % Damaged.size()] = static_cast<char>(Random());
    llvm::Expected<std::string> Result = spliceContainer(Damaged, Old, New);
    if (!Result)
      llvm::consumeError(Result.takeError());
    else
      ASSERT_LE(Result->size(), Damaged.size() + 4096 + New.size());
  }
}

TEST(ObjectSplicer, unsplicedObject_isTheOriginal) {
  std::string Object = makeObject({{".text", "code"}, {".nv_fatbin", "container"}});
  llvm::Expected<DeviceSection> Section = findDeviceSection(Object, "container");
  ASSERT_TRUE(bool(Section));
  EXPECT_EQ(Object.substr(Section->Offset, Section->Bytes), "container");
  std::string Once = spliced(Object, "container", "a longer container");
  EXPECT_EQ(llvm::cantFail(unsplicedObject(Once, *Section)), Object);
  EXPECT_EQ(llvm::cantFail(unsplicedObject(Object, *Section)), Object);
  llvm::Error Other = findDeviceSection(Object, "another").takeError();
  EXPECT_TRUE(Other.isA<Unsupported>());
  llvm::consumeError(std::move(Other));
  DeviceSection Wrong = *Section;
  Wrong.HeaderOffset = Object.size();
  for (const auto &[Bytes, Where] :
       {std::pair(Object.substr(0, 100), *Section), std::pair(Object, Wrong)}) {
    llvm::Error Failed = unsplicedObject(Bytes, Where).takeError();
    EXPECT_TRUE(Failed.isA<Unsupported>());
    llvm::consumeError(std::move(Failed));
  }
}
