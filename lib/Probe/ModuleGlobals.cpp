#include "Probe/ModuleGlobals.h"

#include "Probe/Container.h"

#include <cstring>
#include <elf.h>
#include <iterator>

using namespace carve::probe;

namespace {
/// The sections of machine code, every access within bounds.
class ElfSections {
public:
  explicit ElfSections(std::string_view Bytes) : Bytes(Bytes) {
    Valid = read(0, Header) && std::memcmp(Header.e_ident, ELFMAG, SELFMAG) == 0 &&
            Header.e_ident[EI_CLASS] == ELFCLASS64 && Header.e_shentsize == sizeof(Elf64_Shdr);
  }
  bool valid() const { return Valid; }
  size_t count() const { return Valid ? Header.e_shnum : 0; }
  bool section(size_t Index, Elf64_Shdr &Out) const {
    return Index < count() && read(Header.e_shoff + Index * sizeof Out, Out);
  }
  std::string_view text(size_t StringSection, size_t Offset) const {
    Elf64_Shdr Strings;
    if (!section(StringSection, Strings) || Strings.sh_offset > Bytes.size() ||
        Offset >= Strings.sh_size || Strings.sh_size > Bytes.size() - Strings.sh_offset)
      return "";
    std::string_view All = Bytes.substr(Strings.sh_offset, Strings.sh_size).substr(Offset);
    return All.substr(0, All.find('\0'));
  }
  std::string_view name(const Elf64_Shdr &Section) const {
    return text(Header.e_shstrndx, Section.sh_name);
  }
  template <class T> bool read(size_t Offset, T &Out) const {
    if (Offset > Bytes.size() || sizeof Out > Bytes.size() - Offset)
      return false;
    std::memcpy(&Out, Bytes.data() + Offset, sizeof Out);
    return true;
  }

private:
  std::string_view Bytes;
  Elf64_Ehdr Header{};
  bool Valid = false;
};
} // namespace

bool ModuleSymbols::read(std::string_view Elf) {
  ElfSections Sections(Elf);
  for (size_t I = 0; I < Sections.count(); ++I) {
    Elf64_Shdr Table;
    if (!Sections.section(I, Table) || Table.sh_type != SHT_SYMTAB)
      continue;
    for (size_t At = 0; At + sizeof(Elf64_Sym) <= Table.sh_size; At += sizeof(Elf64_Sym)) {
      Elf64_Sym Symbol;
      Elf64_Shdr Home;
      if (!Sections.read(Table.sh_offset + At, Symbol))
        return false;
      if (!Sections.section(Symbol.st_shndx, Home))
        continue;
      std::string Name(Sections.text(Table.sh_link, Symbol.st_name));
      std::string_view Section = Sections.name(Home);
      bool IsObject = ELF64_ST_TYPE(Symbol.st_info) == STT_OBJECT && Symbol.st_size > 0;
      if (ELF64_ST_TYPE(Symbol.st_info) == STT_FUNC)
        Kernels.insert(Name);
      else if (IsObject && Section.substr(0, 10) == ".nv.global")
        Variables.insert(Name);
      else if (IsObject && Section.substr(0, 13) == ".nv.constant3")
        Constants.insert(Name);
    }
  }
  return Sections.valid();
}

const std::vector<CUpti_CallbackId> &ModuleGlobals::calls() {
  // Never destroyed: threads of the program may still call while it ends.
  static const auto &Calls = *new const std::vector<CUpti_CallbackId>{
      CUPTI_DRIVER_TRACE_CBID_cuModuleGetGlobal_v2,
      CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal,
  };
  return Calls;
}

void ModuleGlobals::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Call.callbackSite != CUPTI_API_EXIT || !Result || *Result != CUDA_SUCCESS)
    return;
  MemoryRange Range;
  Range.Context = Call.context;
  auto Take = [&](const CUdeviceptr *Base, const size_t *Bytes) {
    Range.Base = Base ? *Base : 0;
    Range.Bytes = Bytes ? *Bytes : 0;
  };
  if (Id == CUPTI_DRIVER_TRACE_CBID_cuModuleGetGlobal_v2) {
    auto *P = static_cast<const cuModuleGetGlobal_v2_params *>(Call.functionParams);
    Take(P->dptr, P->bytes);
  } else if (Id == CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal) {
    auto *P = static_cast<const cuLibraryGetGlobal_params *>(Call.functionParams);
    Take(P->dptr, P->bytes);
  }
  if (!Range.Base)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  Asked[Range.Base] = Range;
}

void ModuleGlobals::loaded(const char *Data, size_t Bytes) {
  Image New;
  if (!Data || !New.read({Data, Bytes}) || New.Kernels.empty())
    return;
  std::string Digest = digestOfImage(Data, Bytes);
  std::lock_guard<std::mutex> Guard(Lock);
  Images.try_emplace(std::move(Digest), std::move(New));
}

void ModuleGlobals::contextDestroyed(CUcontext Context) {
  std::lock_guard<std::mutex> Guard(Lock);
  std::erase_if(Asked, [&](const auto &Each) { return Each.second.Context == Context; });
}

/// Of a module that is gone nothing is left to be saved. Which variables were its own is not kept:
/// the driver knows what is there. A program that does not ask for the size may know it, so it is
/// all that is there.
static bool isThere(const DriverApi &Driver, MemoryRange &Range) {
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
  if (!Driver.MemGetAddressRange ||
      Driver.MemGetAddressRange(&Base, &Bytes, Range.Base) != CUDA_SUCCESS)
    return false;
  size_t Offset = Range.Base - Base;
  if (Offset >= Bytes)
    return false;
  if (Range.Bytes == 0)
    Range.Bytes = Bytes - Offset;
  return Range.Bytes <= Bytes - Offset;
}

std::string ModuleGlobals::addTo(std::vector<MemoryRange> &Ranges, const DriverApi &Driver,
                                 const Place &Where, bool Constants) const {
  std::map<CUdeviceptr, MemoryRange> Found;
  std::set<std::string, std::less<>> Names;
  size_t Modules = 0;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    for (const auto &[Base, Range] : Asked)
      if (Range.Context == Where.Context)
        Found[Base] = Range;
    for (const auto &[Digest, I] : Images) {
      if (!I.Kernels.count(Where.Kernel))
        continue;
      ++Modules;
      Names.insert(I.Variables.begin(), I.Variables.end());
      if (Constants)
        Names.insert(I.Constants.begin(), I.Constants.end());
    }
  }
  if (Modules == 0)
    return "module-unseen";
  for (auto It = Found.begin(); It != Found.end();)
    It = isThere(Driver, It->second) ? std::next(It) : Found.erase(It);
  for (const std::string &Name : Names) {
    MemoryRange Range;
    Range.Context = Where.Context;
    bool Known = Driver.ModuleGetGlobal &&
                 Driver.ModuleGetGlobal(&Range.Base, &Range.Bytes, Where.Module, Name.c_str()) ==
                     CUDA_SUCCESS;
    // Of several modules with this kernel, each has its own variables.
    if (Known && Range.Bytes)
      Found[Range.Base] = Range;
    else if (Modules == 1)
      return "module-variables";
  }
  for (const auto &[Base, Range] : Found)
    Ranges.push_back(Range);
  return "";
}
