#include "Emit/EntryDispatch.h"

#include "Protocol/Protocol.h"
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

/// The functions of the runtime, as crt/host_runtime.h calls them. Up to CUDA 12 a stub calls
/// cudaLaunchKernel, later ones ask for a handle first. `_ptsz` means a default stream per thread.
static constexpr llvm::StringLiteral RegisterCall = "__cudaRegisterFunction";
static constexpr llvm::StringLiteral HandleCall = "__cudaGetKernel";
static constexpr llvm::StringLiteral HandleLaunches[] = {"__cudaLaunchKernel",
                                                         "__cudaLaunchKernel_ptsz"};
static constexpr llvm::StringLiteral PointerLaunches[] = {"cudaLaunchKernel",
                                                          "cudaLaunchKernel_ptsz"};
/// The shared memory that a launch may take without asking for more, static and dynamic.
static constexpr unsigned SmemBytes = 48 << 10;

static std::string replacement(llvm::StringRef Call, llvm::StringRef Tag) {
  return ("carve_" + Tag + "_" + Call.ltrim('_')).str();
}

//===------------------------------------------------------------------------------------------===//
// The source
//===------------------------------------------------------------------------------------------===//

/// The source of everything but the launches. A kernel's number is its place among the kernels.
static constexpr llvm::StringLiteral SourceHead = R"(/* Written by carve-nvcc. */
typedef __SIZE_TYPE__ Size;
typedef struct { unsigned x, y, z; } Dim;
typedef unsigned char U1;
typedef unsigned short __attribute__((may_alias, aligned(1))) U2;
typedef unsigned __attribute__((may_alias, aligned(1))) U4;
typedef unsigned long long __attribute__((may_alias, aligned(1))) U8;
#define HIDDEN __attribute__((visibility("hidden")))
extern char *getenv(const char *);
extern int strcmp(const char *, const char *);
)";

/// Loads the entries of a kernel when it is launched for the first time, as the driver loads the
/// kernel then. Loading may wait for kernels that run, and later in the program these may wait for
/// the launch. It is allowed while streams are captured.
static constexpr llvm::StringLiteral Loading =
    R"(extern int cudaFuncGetAttributes(void *, const void *);
static void load(int Kernel, int First, int Last) {
  long long Attributes[128]; /* The runtime's struct is smaller. */
  Loaded[Kernel] = 1;
  for (; First <= Last; ++First)
    if (cudaFuncGetAttributes(Attributes, &Function[First]))
      Other[First] = 0;
}
)";

/// The C condition for a launch of \p E.
static std::string conditionOf(const DispatchedEntry &E) {
  std::string Text;
  auto Add = [&](const std::string &Part) { Text += (Text.empty() ? "" : " && ") + Part; };
  if (E.When.MaxThreads) {
    std::string Most = std::to_string(*E.When.MaxThreads) + "u";
    // No product of what passes the first comparisons is too large for its type.
    Add("Block.x <= " + Most + " && Block.y <= " + Most + " && Block.z <= " + Most +
        " && (unsigned long long)Block.x * Block.y * Block.z <= " + Most);
  }
  for (const auto &[Name, Exact] :
       {std::pair(std::string("Block"), E.When.Block), {"Grid", E.When.Grid}})
    for (size_t I = 0; Exact && I < 3; ++I)
      Add(Name + "." + "xyz"[I] + " == " + std::to_string((*Exact)[I]) + "u");
  // DecisionEdits has seen that the value is within the parameter, so that nothing beside it is
  // read.
  for (const ArgumentValue &V : E.When.Arguments)
    Add("*(const U" + std::to_string(V.Bytes) + " *)((const char *)Args[" +
        std::to_string(V.Parameter) + "] + " + std::to_string(V.Offset) +
        ") == " + std::to_string(V.Bits) + "ull");
  Add("Smem <= " + std::to_string(SmemBytes - std::min(SmemBytes, E.StaticSmemBytes)) + "u");
  return Text;
}

namespace {

/// The entries of one kernel, by their places among all.
struct KernelEntries {
  llvm::StringRef Kernel;
  std::vector<size_t> Entries;
};

} // namespace

static std::vector<KernelEntries> byKernel(llvm::ArrayRef<DispatchedEntry> Entries) {
  std::vector<KernelEntries> Kernels;
  for (size_t I = 0; I < Entries.size(); ++I) {
    if (Kernels.empty() || Kernels.back().Kernel != Entries[I].Kernel)
      Kernels.push_back({Entries[I].Kernel, {}});
    Kernels.back().Entries.push_back(I);
  }
  return Kernels;
}

/// The functions that register kernels and ask for handles. `First` is what launches of the kernel
/// name: a handle, or the address of its host function. `Other` is the same of its entries.
static std::string registration(llvm::ArrayRef<DispatchedEntry> Entries,
                                llvm::ArrayRef<KernelEntries> Kernels, bool ByHandle,
                                llvm::StringRef Tag) {
  std::string NumKernels = std::to_string(Kernels.size());
  std::string NumEntries = std::to_string(Entries.size());
  std::string Text = "static char Function[" + NumEntries +
                     "]; /* Their addresses stand for the entries. */\n"
                     "static const void *Host[" +
                     NumKernels + "];\n" + "static const void *First[" + NumKernels + "], *Other[" +
                     NumEntries + "];\n";
  Text += "extern void " + RegisterCall.str() +
          "(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int "
          "*);\n"
          "HIDDEN void " +
          replacement(RegisterCall, Tag) +
          "(void **Module, const char *Fun, char *DeviceFun, const char *Name, int Limit, void *A, "
          "void *B, void *C, void *D, int *E) {\n"
          "  const char *Wanted = getenv(\"" +
          std::string(probe::EntriesVariable) +
          "\");\n"
          "  " +
          RegisterCall.str() +
          "(Module, Fun, DeviceFun, Name, Limit, A, B, C, D, E);\n"
          "  if (Wanted && !strcmp(Wanted, \"off\"))\n    return;\n";
  for (size_t K = 0; K < Kernels.size(); ++K) {
    Text += "  if (!strcmp(Name, \"" + Kernels[K].Kernel.str() + "\")) {\n    Host[" +
            std::to_string(K) + "] = Fun;\n";
    for (size_t I : Kernels[K].Entries) {
      std::string Name = "\"" + Entries[I].Name + "\"", At = "&Function[" + std::to_string(I) + "]";
      Text += "    " + RegisterCall.str() + "(Module, " + At + ", (char *)" + Name + ", " + Name +
              ", Limit, A, B, C, D, E);\n";
      if (!ByHandle)
        Text += "    Other[" + std::to_string(I) + "] = " + At + ";\n";
    }
    if (!ByHandle)
      Text += "    First[" + std::to_string(K) + "] = Fun;\n";
    Text += "    return;\n  }\n";
  }
  Text += "}\n";
  if (!ByHandle)
    return Text;
  // A stub asks for its kernel's handle once, before it launches for the first time.
  Text += "extern int " + HandleCall.str() +
          "(const void **, const void *);\n"
          "HIDDEN int " +
          replacement(HandleCall, Tag) +
          "(const void **Handle, const void *Fun) {\n"
          "  int Failed = " +
          HandleCall.str() + "(Handle, Fun);\n  if (Failed)\n    return Failed;\n";
  for (size_t K = 0; K < Kernels.size(); ++K) {
    Text += "  if (Fun == Host[" + std::to_string(K) + "]) {\n";
    for (size_t I : Kernels[K].Entries)
      Text += "    if (" + HandleCall.str() + "(&Other[" + std::to_string(I) + "], &Function[" +
              std::to_string(I) + "]))\n      Other[" + std::to_string(I) + "] = 0;\n";
    Text += "    __atomic_store_n(&First[" + std::to_string(K) +
            "], *Handle, __ATOMIC_RELEASE);\n  }\n";
  }
  return Text + "  return 0;\n}\n";
}

/// The function that replaces \p Call.
static std::string launch(llvm::ArrayRef<DispatchedEntry> Entries,
                          llvm::ArrayRef<KernelEntries> Kernels, llvm::StringRef Call,
                          llvm::StringRef Tag) {
  const char *Arguments = "const void *Fun, Dim Grid, Dim Block, void **Args, Size Smem, void "
                          "*Stream";
  std::string Capturing =
      std::string("cudaStreamIsCapturing") + (Call.ends_with("_ptsz") ? "_ptsz" : "");
  std::string Text = "extern int " + Capturing +
                     "(void *, int *);\n"
                     "extern int " +
                     Call.str() +
                     "(const void *, Dim, Dim, void **, Size, void *);\n"
                     "HIDDEN int " +
                     replacement(Call, Tag) + "(" + Arguments +
                     ") {\n"
                     "  const void *Entry = 0;\n  int Captured = 1;\n";
  for (size_t K = 0; K < Kernels.size(); ++K) {
    Text += std::string(K ? "  } else " : "  ") + "if (Fun && Fun == __atomic_load_n(&First[" +
            std::to_string(K) + "], __ATOMIC_ACQUIRE)) {\n    if (!Loaded[" + std::to_string(K) +
            "])\n      load(" + std::to_string(K) + ", " +
            std::to_string(Kernels[K].Entries.front()) + ", " +
            std::to_string(Kernels[K].Entries.back()) + ");\n";
    for (size_t N = 0; N < Kernels[K].Entries.size(); ++N) {
      size_t I = Kernels[K].Entries[N];
      Text += std::string(N ? "    else if (" : "    if (") + conditionOf(Entries[I]) +
              ")\n      Entry = Other[" + std::to_string(I) + "];\n";
    }
  }
  // Who changes a node of a graph later changes the first entry, whose name the program knows. The
  // legacy stream, which is 0 or 1, is never captured. Where each thread has a default stream of
  // its own, that is 0, and may be.
  std::string Legacy = Call.ends_with("_ptsz") ? "Stream == (void *)1" : "(Size)Stream <= 1";
  return Text + "  }\n  if (Entry && (" + Legacy + " || (!" + Capturing +
         "(Stream, &Captured) && !Captured)))\n" + "    Fun = Entry;\n  return " + Call.str() +
         "(Fun, Grid, Block, Args, Smem, Stream);\n}\n";
}

std::string carve::dispatchSource(llvm::ArrayRef<DispatchedEntry> Entries,
                                  llvm::ArrayRef<std::string> Calls, llvm::StringRef Tag) {
  std::vector<KernelEntries> Kernels = byKernel(Entries);
  bool ByHandle = llvm::is_contained(Calls, HandleCall);
  std::string Text = SourceHead.str() + registration(Entries, Kernels, ByHandle, Tag) +
                     "static char Loaded[" + std::to_string(Kernels.size()) + "];\n" +
                     Loading.str();
  for (llvm::StringRef Call : Calls)
    if (Call != RegisterCall && Call != HandleCall)
      Text += launch(Entries, Kernels, Call, Tag);
  return Text;
}

//===------------------------------------------------------------------------------------------===//
// The object
//===------------------------------------------------------------------------------------------===//

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
                               replacement(Name, Tag));
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
