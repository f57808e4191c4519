#include "Emit/EntryDispatch.h"

#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MathExtras.h"

using namespace carve;
using llvm::object::ELF64LE;
using ElfFile = llvm::object::ELFFile<ELF64LE>;

static llvm::Error brokenElf(llvm::Error Cause) {
  return malformed("bad object: " + llvm::toString(std::move(Cause)) +
                   ", expected a whole 64-bit little-endian ELF");
}

/// Calls \p See with each symbol of \p Object and its name.
static llvm::Error
forEachSymbol(llvm::StringRef Object,
              llvm::function_ref<void(const ELF64LE::Sym &, llvm::StringRef)> See) {
  llvm::Expected<ElfFile> Elf = ElfFile::create(Object);
  if (!Elf)
    return brokenElf(Elf.takeError());
  auto Sections = Elf->sections();
  if (!Sections)
    return brokenElf(Sections.takeError());
  for (const ELF64LE::Shdr &Section : *Sections) {
    if (Section.sh_type != llvm::ELF::SHT_SYMTAB)
      continue;
    auto Symbols = Elf->symbols(&Section);
    auto Names = Elf->getStringTableForSymtab(Section);
    if (!Symbols || !Names)
      return brokenElf(llvm::joinErrors(Symbols.takeError(), Names.takeError()));
    for (const ELF64LE::Sym &Symbol : *Symbols) {
      llvm::Expected<llvm::StringRef> Name = Symbol.getName(*Names);
      if (!Name)
        return brokenElf(Name.takeError());
      See(Symbol, *Name);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<std::string>> carve::dispatchedCalls(llvm::StringRef Object) {
  llvm::StringSet<> Called;
  if (llvm::Error E = forEachSymbol(Object, [&](const ELF64LE::Sym &Symbol, llvm::StringRef Name) {
        if (Symbol.isUndefined())
          Called.insert(Name);
      }))
    return E;
  ElfFile Elf = llvm::cantFail(ElfFile::create(Object));
  for (const ELF64LE::Shdr &Section : llvm::cantFail(Elf.sections()))
    if (llvm::StringRef(llvm::cantFail(Elf.getSectionName(Section))).starts_with(".gnu.lto_"))
      return unsupported("lto-object", "the host compiler left its code to the linker");
  std::vector<std::string> Calls;
  auto Take = [&](llvm::ArrayRef<llvm::StringLiteral> Among) {
    size_t Before = Calls.size();
    for (llvm::StringRef Name : Among)
      if (Called.contains(Name))
        Calls.push_back(Name.str());
    return Calls.size() > Before;
  };
  bool Known =
      Take(RegisterCall) && (Take(HandleCall) ? Take(HandleLaunches) : Take(PointerLaunches));
  if (!Known)
    return unsupported("no-launches", "the object does not launch kernels in a known way");
  return Calls;
}

llvm::Expected<std::string> carve::withRenamedCalls(llvm::StringRef Object,
                                                    llvm::ArrayRef<std::string> Calls,
                                                    llvm::StringRef Tag) {
  std::vector<std::pair<size_t, std::string>> Renamed; // Places of symbols, and their new names.
  if (llvm::Error E = forEachSymbol(Object, [&](const ELF64LE::Sym &Symbol, llvm::StringRef Name) {
        if (Symbol.isUndefined() && llvm::is_contained(Calls, Name))
          Renamed.emplace_back(reinterpret_cast<const char *>(&Symbol) - Object.data(),
                               replacementOf(Name, Tag));
      }))
    return E;
  ElfFile Elf = llvm::cantFail(ElfFile::create(Object));
  auto Sections = llvm::cantFail(Elf.sections());
  const ELF64LE::Shdr *Symbols = llvm::find_if(
      Sections, [](const ELF64LE::Shdr &S) { return S.sh_type == llvm::ELF::SHT_SYMTAB; });
  const ELF64LE::Shdr &Names = Sections[Symbols->sh_link];
  // The names move behind everything else, with the new ones at their end.
  std::string Result = Object.str();
  Result.resize(llvm::alignTo(Result.size(), 8));
  uint64_t NamesAt = Result.size();
  Result += Object.substr(Names.sh_offset, Names.sh_size);
  for (const auto &[Place, Name] : Renamed) {
    reinterpret_cast<ELF64LE::Sym *>(Result.data() + Place)->st_name = Result.size() - NamesAt;
    Result += Name;
    Result += '\0';
  }
  auto *Moved = reinterpret_cast<ELF64LE::Shdr *>(
      Result.data() + (reinterpret_cast<const char *>(&Names) - Object.data()));
  Moved->sh_offset = NamesAt;
  Moved->sh_size = Result.size() - NamesAt;
  return Result;
}

/// Returns the content of each section of \p Object that is loaded and whose bytes the linker only
/// puts behind each other, by name.
static llvm::Expected<llvm::StringMap<std::vector<std::string>>>
loadedSections(llvm::StringRef Object) {
  llvm::Expected<ElfFile> Elf = ElfFile::create(Object);
  if (!Elf)
    return brokenElf(Elf.takeError());
  auto Sections = Elf->sections();
  if (!Sections)
    return brokenElf(Sections.takeError());
  llvm::StringMap<std::vector<std::string>> Loaded;
  for (const ELF64LE::Shdr &Section : *Sections) {
    auto Name = Elf->getSectionName(Section);
    if (!Name)
      return brokenElf(Name.takeError());
    // Others may have no bytes in the file: those of zeros, which are as large as the program's
    // variables on the device.
    if (Section.sh_type != llvm::ELF::SHT_PROGBITS || !(Section.sh_flags & llvm::ELF::SHF_ALLOC) ||
        Section.sh_flags & llvm::ELF::SHF_MERGE || *Name == ".eh_frame")
      continue;
    auto Content = Elf->getSectionContents(Section);
    if (!Content)
      return brokenElf(Content.takeError());
    Loaded[*Name].push_back(llvm::toStringRef(*Content).str());
  }
  return Loaded;
}

/// Fails unless \p Merged has all that \p Object has.
static llvm::Error checkMerged(llvm::StringRef Object, llvm::StringRef Merged) {
  auto Before = loadedSections(Object), After = loadedSections(Merged);
  if (!Before || !After)
    return llvm::joinErrors(Before.takeError(), After.takeError());
  for (const auto &Section : *Before) {
    std::vector<std::string> &Now = (*After)[Section.first()];
    for (const std::string &Content : Section.second) {
      auto Same = llvm::find_if(
          Now, [&](const std::string &S) { return llvm::StringRef(S).starts_with(Content); });
      if (Same == Now.end())
        return unsupported("object-changed", "its section " + Section.first());
      Now.erase(Same);
    }
  }
  return llvm::Error::success();
}

/// Fails if a kernel of \p Entries has a host function that several objects may define.
static llvm::Error checkStubs(llvm::StringRef Object, llvm::ArrayRef<DispatchedEntry> Entries) {
  std::string Shared;
  if (llvm::Error E = forEachSymbol(Object, [&](const ELF64LE::Sym &Symbol, llvm::StringRef Name) {
        if (Symbol.getBinding() == llvm::ELF::STB_WEAK &&
            llvm::any_of(Entries, [&](const DispatchedEntry &D) { return D.Kernel == Name; }))
          Shared = Name;
      }))
    return E;
  if (Shared.empty())
    return llvm::Error::success();
  return unsupported("shared-stub", "other objects may have the host function of " + Shared);
}

/// Returns the words of \p HostCommand that say for which machine, and with which tools, the
/// compiler works.
static std::vector<std::string> machineOptions(llvm::ArrayRef<std::string> HostCommand) {
  std::vector<std::string> Options;
  for (size_t I = 1; I < HostCommand.size(); ++I) {
    llvm::StringRef Word = HostCommand[I];
    if (Word == "-target" && I + 1 < HostCommand.size())
      Options.insert(Options.end(), {Word.str(), HostCommand[++I]});
    else if (Word.starts_with("-m") || Word.starts_with("-B") ||
             Word.starts_with("-fcf-protection") || Word.starts_with("--sysroot=") ||
             Word.starts_with("--target=") || Word.starts_with("--gcc-toolchain="))
      Options.push_back(Word.str());
  }
  return Options;
}

llvm::Expected<std::string> carve::withDispatch(llvm::StringRef Object,
                                                llvm::ArrayRef<DispatchedEntry> Entries,
                                                llvm::ArrayRef<std::string> HostCommand,
                                                CommandRunner &Runner, llvm::StringRef WorkDir) {
  if (HostCommand.empty())
    return unsupported("no-host-command", "how the object was compiled is not known");
  llvm::Expected<std::vector<std::string>> Calls = dispatchedCalls(Object);
  if (!Calls)
    return Calls.takeError();
  if (llvm::Error E = checkStubs(Object, Entries))
    return E;
  // Hidden symbols of two objects must differ if one link takes both.
  std::string Tag = digestOf(Object).substr(0, 16);
  llvm::Expected<std::string> Renamed = withRenamedCalls(Object, *Calls, Tag);
  if (!Renamed)
    return Renamed.takeError();
  std::string Source = WorkDir.str() + "/dispatch.c", Compiled = WorkDir.str() + "/dispatch.o",
              Own = WorkDir.str() + "/renamed.o", Merged = WorkDir.str() + "/merged.o";
  if (llvm::Error E = writeFileAtomically(Source, dispatchSource(Entries, *Calls, Tag)))
    return E;
  if (llvm::Error E = writeFileAtomically(Own, *Renamed))
    return E;
  auto Run = [&](llvm::ArrayRef<std::string> Words) {
    Command C;
    C.Argv = {HostCommand.front()};
    llvm::append_range(C.Argv, machineOptions(HostCommand));
    llvm::append_range(C.Argv, Words);
    return runChecked(Runner, C).takeError();
  };
  if (llvm::Error E =
          Run({"-x", "c", "-std=gnu99", "-O2", "-fPIC", "-w", "-c", Source, "-o", Compiled}))
    return E;
  if (llvm::Error E = Run({"-r", "-nostdlib", Own, Compiled, "-o", Merged}))
    return E;
  llvm::Expected<std::string> Result = readFile(Merged);
  if (!Result)
    return Result;
  if (llvm::Error E = checkMerged(*Renamed, *Result))
    return E;
  return Result;
}
