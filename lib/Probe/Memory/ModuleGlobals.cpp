#include "Probe/Memory/ModuleGlobals.h"

#include "Probe/Driver/Container.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <iterator>

using namespace carve::probe;

namespace {
/// The sections of machine code. Every access is checked against the bounds.
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

/// The bit of a symbol's st_other which says that the variable is in managed memory.
static constexpr unsigned char ManagedSymbol = 4;

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
      else if (IsObject && Section.substr(0, 10) == ".nv.global") {
        if (Symbol.st_other & ManagedSymbol)
          Managed.insert(Name);
        Variables.insert(Name);
      } else if (IsObject && Section.substr(0, 13) == ".nv.constant3")
        Constants.insert(Name);
    }
  }
  return Sections.valid();
}

/// Returns the variable whose address the call returns, and sets its \p Name. The base is 0 if the
/// call returns none.
static MemoryRange askedFor(CUpti_CallbackId Id, const CUpti_CallbackData &Call,
                            std::string &Name) {
  MemoryRange Range;
  Range.Context = Call.context;
  auto Take = [&](const CUdeviceptr *Base, const size_t *Bytes) {
    Range.Base = Base ? *Base : 0;
    Range.Bytes = Bytes ? *Bytes : 0;
  };
  switch (Id) {
  case callOf<Role::GivesVariable>(CUPTI_DRIVER_TRACE_CBID_cuModuleGetGlobal_v2): {
    auto *P = static_cast<const cuModuleGetGlobal_v2_params *>(Call.functionParams);
    Take(P->dptr, P->bytes);
    Name = P->name ? P->name : "";
    break;
  }
  case callOf<Role::GivesVariable>(CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal): {
    auto *P = static_cast<const cuLibraryGetGlobal_params *>(Call.functionParams);
    Take(P->dptr, P->bytes);
    Name = P->name ? P->name : "";
    break;
  }
  case callOf<Role::GivesVariable>(CUPTI_DRIVER_TRACE_CBID_cuLibraryGetManaged): {
    auto *P = static_cast<const cuLibraryGetManaged_params *>(Call.functionParams);
    Take(P->dptr, P->bytes);
    // Managed memory has one address for all contexts.
    Range.Kind = MemoryKind::Managed;
    Range.Context = nullptr;
    break;
  }
  default:
    break;
  }
  return Range;
}

void ModuleGlobals::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  if (Handles.note(Id, Call))
    forgetFound();
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Call.callbackSite != CUPTI_API_EXIT || !Result || *Result != CUDA_SUCCESS)
    return;
  std::string Name;
  MemoryRange Range = askedFor(Id, Call, Name);
  if (!Range.Base)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  Asked[Range.Base] = {Range, std::move(Name)};
}

void ModuleGlobals::forgetFound() {
  std::lock_guard<std::mutex> Guard(Lock);
  ++Changes;
  Known.clear();
}

void ModuleGlobals::loaded(const char *Data, size_t Bytes) {
  Image New;
  if (!Data || !New.read({Data, Bytes}) || (New.Kernels.empty() && New.Variables.empty()))
    return;
  std::string Digest = digestOfImage(Data, Bytes);
  forgetFound();
  std::lock_guard<std::mutex> Guard(Lock);
  Managed.insert(New.Managed.begin(), New.Managed.end());
  Images.try_emplace(std::move(Digest), std::move(New));
}

void ModuleGlobals::contextDestroyed(CUcontext Context) {
  Handles.contextDestroyed(Context);
  std::lock_guard<std::mutex> Guard(Lock);
  Known.erase(Context);
  std::erase_if(Asked,
                [&](const auto &Each) { return Each.second.Range.Context == Context && Context; });
}

/// Returns whether \p Range still exists, and sets its size. Variables of an unloaded module need
/// not be saved. It is not kept which variables belonged to a module; instead the driver is asked
/// what exists.
/// If the program did not ask for the size, it may still know it, so the range goes to the end of
/// what the driver finds there.
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

static void dropGone(const DriverApi &Driver, std::map<CUdeviceptr, MemoryRange> &Variables) {
  for (auto It = Variables.begin(); It != Variables.end();)
    It = isThere(Driver, It->second) ? std::next(It) : Variables.erase(It);
}

static bool findIn(const DriverApi &Driver, const LoadedHandle &In, const std::string &Name,
                   MemoryRange &Range) {
  if (In.Context)
    return Driver.ModuleGetGlobal && Driver.ModuleGetGlobal(&Range.Base, &Range.Bytes, In.module(),
                                                            Name.c_str()) == CUDA_SUCCESS;
  auto Gives = [&](auto Call) {
    return Call && Call(&Range.Base, &Range.Bytes, In.library(), Name.c_str()) == CUDA_SUCCESS;
  };
  if (Range.Kind == MemoryKind::Managed && Gives(Driver.LibraryGetManaged))
    return true;
  return Gives(Driver.LibraryGetGlobal);
}

/// Every module is asked for every variable by name, because no call tells which module has which
/// variables.
ModuleGlobals::Found ModuleGlobals::ofAllModules(const DriverApi &Driver, CUcontext Context) const {
  Names All, OfHost;
  uint64_t Then = 0;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (auto It = Known.find(Context); It != Known.end())
      return It->second;
    Then = Changes;
    OfHost = Managed;
    for (const auto &[Digest, I] : Images)
      All.insert(I.Variables.begin(), I.Variables.end());
  }
  Found Result;
  for (const LoadedHandle &In : Handles.of(Context))
    for (const std::string &Name : All) {
      MemoryRange Range;
      Range.Kind = OfHost.count(Name) ? MemoryKind::Managed : MemoryKind::Device;
      Range.Context = Context;
      if (findIn(Driver, In, Name, Range) && Range.Base && Range.Bytes)
        Result[Range.Base] = Range;
    }
  std::lock_guard<std::mutex> Guard(Lock);
  if (Changes == Then)
    Known[Context] = Result;
  return Result;
}

/// Passes the variables of one \p Kind of the kernel's module to \p Take.
Failure ModuleGlobals::ofOwnModule(Names Image::*Kind, const DriverApi &Driver, const Place &Where,
                                   const Taker &Take) const {
  Names Own, OfHost;
  size_t Modules = 0;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    OfHost = Managed;
    for (const auto &[Digest, I] : Images) {
      if (!I.Kernels.count(Where.Kernel))
        continue;
      ++Modules;
      Own.insert((I.*Kind).begin(), (I.*Kind).end());
    }
  }
  if (Modules == 0)
    return Failure("module-unseen");
  for (const std::string &Name : Own) {
    MemoryRange Range;
    Range.Context = Where.Context;
    Range.Kind = OfHost.count(Name) ? MemoryKind::Managed : MemoryKind::Device;
    bool Known = findIn(Driver, {Where.Module, Where.Context}, Name, Range);
    // If several modules have this kernel, each has variables of its own.
    if (Known && Range.Bytes)
      Take(Name, Range);
    else if (Modules == 1)
      return Failure("module-variables");
  }
  return Failure::none();
}

Failure ModuleGlobals::addTo(std::vector<MemoryRange> &Ranges, const DriverApi &Driver,
                             const Place &Where) const {
  Found Variables;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    for (const auto &[Base, Its] : Asked)
      if (!Its.Range.Context || Its.Range.Context == Where.Context)
        Variables[Base] = Its.Range;
  }
  dropGone(Driver, Variables);
  Failure Why = ofOwnModule(
      &Image::Variables, Driver, Where,
      [&](const std::string &, const MemoryRange &Range) { Variables[Range.Base] = Range; });
  if (Why)
    return Why;
  for (const auto &[Base, Range] : ofAllModules(Driver, Where.Context))
    Variables[Base] = Range;
  for (const auto &[Base, Range] : Variables)
    Ranges.push_back(Range);
  return Failure::none();
}

/// The variables that the program has asked for in \p Context and that are constants in all images
/// in which there is a variable of that name.
ModuleGlobals::Found ModuleGlobals::askedConstants(CUcontext Context) const {
  std::lock_guard<std::mutex> Guard(Lock);
  auto Any = [&](Names Image::*Kind, const std::string &Name) {
    return std::any_of(Images.begin(), Images.end(),
                       [&](const auto &Each) { return (Each.second.*Kind).count(Name) > 0; });
  };
  Found Constants;
  for (const auto &[Base, Its] : Asked)
    if (Its.Range.Context == Context && Any(&Image::Constants, Its.Name) &&
        !Any(&Image::Variables, Its.Name))
      Constants[Base] = Its.Range;
  return Constants;
}

Failure ModuleGlobals::findConstants(std::vector<MemoryRange> &Named,
                                     std::vector<MemoryRange> &Unnamed, const DriverApi &Driver,
                                     const Place &Where, const std::set<std::string> &Names) const {
  Found Others = askedConstants(Where.Context);
  dropGone(Driver, Others);
  Failure Why = ofOwnModule(&Image::Constants, Driver, Where,
                            [&](const std::string &Name, const MemoryRange &Range) {
                              Others.erase(Range.Base);
                              (Names.count(Name) ? Named : Unnamed).push_back(Range);
                            });
  for (const auto &[Base, Range] : Others)
    Unnamed.push_back(Range);
  return Why;
}
