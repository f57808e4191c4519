#include "Nvcc/RelocatableCode.h"

#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/RegularFile.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using object::ELF64LE;
using ElfFile = object::ELFFile<ELF64LE>;

namespace carve {

namespace {

/// Called with an object's name in its archive, its bytes, and the content of the section.
/// Returning false ends the walk.
using Visitor = function_ref<bool(StringRef Member, StringRef Object, StringRef Section)>;

} // namespace

static bool isObject(StringRef Bytes) {
  if (Bytes.size() < sizeof(ELF64LE::Ehdr) || !Bytes.starts_with(StringRef(ELF::ElfMagic, 4)) ||
      Bytes[ELF::EI_CLASS] != ELF::ELFCLASS64 || Bytes[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return false;
  return support::endian::read16le(Bytes.data() + offsetof(ELF64LE::Ehdr, e_type)) == ELF::ET_REL;
}

static Expected<bool> visitObject(StringRef Member, StringRef Object, Visitor Visit) {
  if (!isObject(Object))
    return true;
  Expected<ElfFile> Elf = ElfFile::create(Object);
  if (!Elf)
    return Elf.takeError();
  auto Sections = Elf->sections();
  if (!Sections)
    return Sections.takeError();
  for (const ELF64LE::Shdr &Section : *Sections) {
    Expected<StringRef> Name = Elf->getSectionName(Section);
    if (!Name)
      return Name.takeError();
    if (*Name != "__nv_relfatbin" || Section.sh_type != ELF::SHT_PROGBITS)
      continue;
    auto Content = Elf->getSectionContents(Section);
    if (!Content)
      return Content.takeError();
    return Visit(Member, Object, toStringRef(*Content));
  }
  return true;
}

static Error visitArchive(MemoryBufferRef File, Visitor Visit) {
  Expected<std::unique_ptr<object::Archive>> Archive = object::Archive::create(File);
  if (!Archive)
    return Archive.takeError();
  bool Thin = (*Archive)->isThin(); // The members of a thin archive are files of their own.
  Error Failed = Error::success();
  for (const object::Archive::Child &Child : (*Archive)->children(Failed)) {
    Expected<StringRef> Name = Child.getName();
    Expected<StringRef> Bytes = Name ? Child.getBuffer() : Name.takeError();
    // LLVM trusts the size in a member's header.
    if (Bytes && !Thin && Bytes->end() > File.getBufferEnd())
      return joinErrors(std::move(Failed), malformed("the archive is cut short in " + *Name));
    Expected<bool> More = Bytes ? visitObject(*Name, *Bytes, Visit) : Bytes.takeError();
    if (!More)
      return joinErrors(std::move(Failed), More.takeError());
    if (!*More)
      break;
  }
  return Failed;
}

/// Visits the objects of \p Path that have the section.
static Error visitFile(StringRef Path, Visitor Visit) {
  Expected<RegularFile> File = RegularFile::open(Path, FileLimit::Object);
  auto Buffer = File ? File->map() : File.takeError();
  if (!Buffer)
    return Buffer.takeError();
  StringRef Bytes = (*Buffer)->getBuffer();
  if (Bytes.starts_with("!<arch>\n") || Bytes.starts_with("!<thin>\n")) {
    if (Error E = visitArchive(**Buffer, Visit))
      return createFileError(Path, std::move(E));
    return Error::success();
  }
  Expected<bool> Done = visitObject("", Bytes, Visit);
  return Done ? Error::success() : createFileError(Path, Done.takeError());
}

/// Returns the digests of the containers in \p Section. They follow each other, each aligned to 8
/// bytes.
static std::vector<std::string> containerDigests(StringRef Section) {
  constexpr uint32_t Magic = 0xba55ed50;
  constexpr size_t HeaderBytes = 16;
  std::vector<std::string> Digests;
  while (Section.size() >= HeaderBytes) {
    if (support::endian::read32le(Section.data()) != Magic) {
      Section = Section.drop_front(std::min<size_t>(8, Section.size()));
      continue;
    }
    uint64_t Header = support::endian::read16le(Section.data() + 6);
    uint64_t Body = support::endian::read64le(Section.data() + 8);
    if (Header < HeaderBytes || Header > Section.size() || Body > Section.size() - Header)
      break;
    Digests.push_back(digestOf(Section.take_front(Header + Body)));
    Section = Section.drop_front(std::min<size_t>((Header + Body + 7) / 8 * 8, Section.size()));
  }
  return Digests;
}

Expected<std::vector<RelocatableObject>> findRelocatableCode(StringRef Path) {
  std::vector<RelocatableObject> Objects;
  Error Failed = visitFile(Path, [&](StringRef Member, StringRef, StringRef Section) {
    Objects.push_back({Member.str(), containerDigests(Section)});
    return true;
  });
  if (Failed)
    return Failed;
  return Objects;
}

bool hasRelocatableCode(StringRef Path) {
  bool Found = false;
  consumeError(visitFile(Path, [&](StringRef, StringRef, StringRef) {
    Found = true;
    return false;
  }));
  return Found;
}

Expected<std::string> readRelocatableObject(StringRef Path, size_t Index) {
  std::optional<std::string> Bytes;
  Error Failed = visitFile(Path, [&](StringRef, StringRef Object, StringRef) {
    if (Index-- == 0)
      Bytes = Object.str();
    return !Bytes;
  });
  if (Failed)
    return Failed;
  if (!Bytes)
    return malformed(Path + ": fewer objects with relocatable device code than expected");
  return std::move(*Bytes);
}

std::string findArchive(StringRef Name, ArrayRef<std::string> Dirs, StringRef WorkDir) {
  for (const std::string &Dir : Dirs) {
    SmallString<256> Path(Dir);
    sys::path::append(Path, "lib" + Name + ".a");
    if (sys::fs::exists(absolutePath(Path, WorkDir)))
      return Path.str().str();
  }
  return "";
}

} // namespace carve
