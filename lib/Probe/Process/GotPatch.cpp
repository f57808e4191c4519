#include "Probe/Process/GotPatch.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace carve::probe;

// The addresses come from the objects' own tables, as numbers.
// NOLINTBEGIN(performance-no-int-to-ptr)

#if defined(__x86_64__)
static constexpr uint32_t JumpSlot = R_X86_64_JUMP_SLOT, GlobalData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
static constexpr uint32_t JumpSlot = R_AARCH64_JUMP_SLOT, GlobalData = R_AARCH64_GLOB_DAT;
#else
#error "no relocation types known for this processor"
#endif

namespace {
/// A loaded object, seen through its program headers. Every address is checked against them, so
/// that wrong tables of a broken or unusual object cannot make the probe write anywhere else.
class LoadedObject {
public:
  explicit LoadedObject(const dl_phdr_info &Info) : Info(Info) {}

  /// Returns whether \p Bytes from \p Address on lie in one loaded segment, which must be writable
  /// if \p Writable is set.
  bool holds(uintptr_t Address, uint64_t Bytes, bool Writable) const;
  unsigned patch(std::span<const ImportPatch> Patches);

private:
  struct Table {
    uintptr_t Address = 0;
    uint64_t Bytes = 0;
  };

  bool readDynamic();
  uintptr_t absolute(uint64_t Address) const;
  unsigned patchTable(const Table &Relocations, std::span<const ImportPatch> Patches) const;
  std::string_view symbolName(uint64_t Index) const;
  bool writeSlot(uintptr_t Address, void *Value) const;
  bool isRelro(uintptr_t Page) const;

  const dl_phdr_info &Info;
  uintptr_t Symbols = 0;
  Table Strings, Data, Calls;
};
} // namespace

bool LoadedObject::holds(uintptr_t Address, uint64_t Bytes, bool Writable) const {
  for (unsigned I = 0; I < Info.dlpi_phnum; ++I) {
    const ElfW(Phdr) &Segment = Info.dlpi_phdr[I];
    uintptr_t Begin = Info.dlpi_addr + Segment.p_vaddr;
    if (Segment.p_type == PT_LOAD && (!Writable || (Segment.p_flags & PF_W)) && Address >= Begin &&
        Address - Begin <= Segment.p_memsz && Bytes <= Segment.p_memsz - (Address - Begin))
      return true;
  }
  return false;
}

/// glibc replaces most addresses in the dynamic section by absolute ones when it loads an object.
uintptr_t LoadedObject::absolute(uint64_t Address) const {
  return Address < Info.dlpi_addr ? Info.dlpi_addr + Address : Address;
}

bool LoadedObject::readDynamic() {
  const ElfW(Dyn) *Dynamic = nullptr;
  for (unsigned I = 0; I < Info.dlpi_phnum; ++I)
    if (Info.dlpi_phdr[I].p_type == PT_DYNAMIC)
      Dynamic = reinterpret_cast<const ElfW(Dyn) *>(Info.dlpi_addr + Info.dlpi_phdr[I].p_vaddr);
  if (!Dynamic)
    return false;
  uint64_t CallKind = DT_RELA;
  for (; Dynamic->d_tag != DT_NULL; ++Dynamic) {
    uint64_t Value = Dynamic->d_un.d_val;
    switch (Dynamic->d_tag) {
    case DT_SYMTAB:
      Symbols = absolute(Value);
      break;
    case DT_STRTAB:
      Strings.Address = absolute(Value);
      break;
    case DT_STRSZ:
      Strings.Bytes = Value;
      break;
    case DT_RELA:
      Data.Address = absolute(Value);
      break;
    case DT_RELASZ:
      Data.Bytes = Value;
      break;
    case DT_JMPREL:
      Calls.Address = absolute(Value);
      break;
    case DT_PLTRELSZ:
      Calls.Bytes = Value;
      break;
    case DT_PLTREL:
      CallKind = Value;
      break;
    default:
      break;
    }
  }
  return CallKind == DT_RELA && Symbols && holds(Strings.Address, Strings.Bytes, false);
}

std::string_view LoadedObject::symbolName(uint64_t Index) const {
  uintptr_t Address = Symbols + Index * sizeof(ElfW(Sym));
  if (!holds(Address, sizeof(ElfW(Sym)), false))
    return {};
  uint64_t Offset = reinterpret_cast<const ElfW(Sym) *>(Address)->st_name;
  if (Offset >= Strings.Bytes)
    return {};
  auto *Name = reinterpret_cast<const char *>(Strings.Address + Offset);
  return {Name, ::strnlen(Name, Strings.Bytes - Offset)};
}

/// Returns whether \p Page lies in the range that the loader makes read-only after relocation. It
/// protects whole pages: both ends of the range are rounded down.
bool LoadedObject::isRelro(uintptr_t Page) const {
  uintptr_t Mask = ~(static_cast<uintptr_t>(::getpagesize()) - 1);
  for (unsigned I = 0; I < Info.dlpi_phnum; ++I) {
    const ElfW(Phdr) &Segment = Info.dlpi_phdr[I];
    uintptr_t Begin = Info.dlpi_addr + Segment.p_vaddr;
    if (Segment.p_type == PT_GNU_RELRO && Page >= (Begin & Mask) &&
        Page < ((Begin + Segment.p_memsz) & Mask))
      return true;
  }
  return false;
}

bool LoadedObject::writeSlot(uintptr_t Address, void *Value) const {
  if (Address % alignof(void *) != 0 || !holds(Address, sizeof(void *), /*Writable=*/true))
    return false;
  if (std::atomic_ref<void *>(*reinterpret_cast<void **>(Address)).load() == Value)
    return false;
  auto PageBytes = static_cast<uintptr_t>(::getpagesize());
  uintptr_t PageAddress = Address & ~(PageBytes - 1);
  auto *Page = reinterpret_cast<void *>(PageAddress);
  bool Protected = isRelro(PageAddress);
  if (Protected && ::mprotect(Page, PageBytes, PROT_READ | PROT_WRITE) != 0)
    return false;
  // Another thread may be calling through the slot.
  std::atomic_ref<void *>(*reinterpret_cast<void **>(Address)).store(Value);
  if (Protected)
    ::mprotect(Page, PageBytes, PROT_READ);
  return true;
}

unsigned LoadedObject::patchTable(const Table &Relocations,
                                  std::span<const ImportPatch> Patches) const {
  if (!Relocations.Address || !holds(Relocations.Address, Relocations.Bytes, /*Writable=*/false))
    return 0;
  auto *Begin = reinterpret_cast<const ElfW(Rela) *>(Relocations.Address);
  unsigned Written = 0;
  for (auto *R = Begin; R != Begin + Relocations.Bytes / sizeof *R; ++R) {
    uint32_t Type = ELF64_R_TYPE(R->r_info);
    if (Type != JumpSlot && Type != GlobalData)
      continue;
    std::string_view Name = symbolName(ELF64_R_SYM(R->r_info));
    for (const ImportPatch &Patch : Patches)
      if (Name == Patch.Symbol)
        Written += writeSlot(Info.dlpi_addr + R->r_offset, Patch.Replacement);
  }
  return Written;
}

unsigned LoadedObject::patch(std::span<const ImportPatch> Patches) {
  return readDynamic() ? patchTable(Data, Patches) + patchTable(Calls, Patches) : 0;
}

static bool isSystemLibrary(std::string_view Path) {
  std::string_view Name = Path.substr(Path.rfind('/') + 1);
  for (std::string_view Prefix : {"libc.so", "ld-linux", "linux-vdso"})
    if (Name.substr(0, Prefix.size()) == Prefix)
      return true;
  return false;
}

namespace {
struct PatchJob {
  std::span<const ImportPatch> Patches;
  unsigned Written = 0;
};
} // namespace

static int patchObject(dl_phdr_info *Info, size_t, void *Arg) {
  auto &Job = *static_cast<PatchJob *>(Arg);
  LoadedObject Object(*Info);
  bool Ourselves = Object.holds(reinterpret_cast<uintptr_t>(&patchObject), 1, /*Writable=*/false);
  if (!Ourselves && !isSystemLibrary(Info->dlpi_name ? Info->dlpi_name : ""))
    Job.Written += Object.patch(Job.Patches);
  return 0;
}

unsigned carve::probe::patchImports(std::span<const ImportPatch> Patches) {
  PatchJob Job{Patches};
  ::dl_iterate_phdr(patchObject, &Job);
  return Job.Written;
}

unsigned long long carve::probe::loadedObjects() {
  unsigned long long Loaded = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info *Info, size_t, void *Arg) {
        *static_cast<unsigned long long *>(Arg) = Info->dlpi_adds;
        return 1;
      },
      &Loaded);
  return Loaded;
}

// NOLINTEND(performance-no-int-to-ptr)
