/// \file
/// Images, kernels and variables of the stand-in. An image is a fatbinary or a text. It contains
/// the registered kernels whose names it has as words, and the variables that it lists as
/// `global:<name>:<bytes>` or `constant:<name>:<bytes>`.

#include "unit/Probe/StandIn/Calls.h"

#include <cctype>
#include <cstdlib>
#include <set>

using namespace carve::standin;

void carve::standin::registerKernel(KernelCode Code) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  std::string Name = Code.Name;
  driver().Codes[Name] = std::make_shared<const KernelCode>(std::move(Code));
}

namespace {
struct Wrapper {
  unsigned Magic, Version;
  const void *Data, *Extra;
};
struct FatbinHeader {
  unsigned Magic;
  unsigned short Version, HeaderBytes;
  uint64_t BodyBytes;
};
} // namespace

/// Returns the content of the image at \p Code: of a wrapper, a fatbinary, an ELF file (up to its
/// table of sections) or a text.
static std::string bytesOf(const void *Code) {
  unsigned Magic = 0;
  std::memcpy(&Magic, Code, sizeof Magic);
  if (Magic == 0x466243b1)
    return bytesOf(static_cast<const Wrapper *>(Code)->Data);
  const char *Text = static_cast<const char *>(Code);
  if (Magic == 0xba55ed50) {
    FatbinHeader Header;
    std::memcpy(&Header, Code, sizeof Header);
    return {Text, Header.HeaderBytes + Header.BodyBytes};
  }
  if (std::memcmp(Text,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    uint64_t SectionsAt = 0;
    unsigned short Bytes = 0, Count = 0;
    std::memcpy(&SectionsAt, Text + 40, sizeof SectionsAt);
    std::memcpy(&Bytes, Text + 58, sizeof Bytes);
    std::memcpy(&Count, Text + 60, sizeof Count);
    return {Text, SectionsAt + size_t(Bytes) * Count};
  }
  return Text;
}

static bool isWordCharacter(char C) {
  return std::isalnum(static_cast<unsigned char>(C)) || C == '_' || C == '$';
}

static bool hasWord(const std::string &Text, const std::string &Word) {
  for (size_t At = Text.find(Word); At != std::string::npos; At = Text.find(Word, At + 1)) {
    size_t End = At + Word.size();
    if ((At == 0 || !isWordCharacter(Text[At - 1])) &&
        (End == Text.size() || !isWordCharacter(Text[End])))
      return true;
  }
  return false;
}

/// Returns the variables with the tag \p Tag in \p Text: their names and bytes.
static std::vector<std::pair<std::string, size_t>> tagged(const std::string &Text,
                                                          const std::string &Tag) {
  std::vector<std::pair<std::string, size_t>> Found;
  for (size_t At = Text.find(Tag); At != std::string::npos; At = Text.find(Tag, At + 1)) {
    size_t Colon = Text.find(':', At + Tag.size());
    Found.emplace_back(Text.substr(At + Tag.size(), Colon - At - Tag.size()),
                       std::strtoull(Text.c_str() + Colon + 1, nullptr, 10));
  }
  return Found;
}

static CUdeviceptr zeroed(size_t Bytes) {
  CUdeviceptr Base = allocate(Bytes, Kind::Global);
  std::memset(reinterpret_cast<void *>(Base), 0, Bytes); // NOLINT(performance-no-int-to-ptr)
  return Base;
}

/// The constants of a module are behind each other in one piece of memory.
static void makeGlobals(Image &I) {
  for (const auto &[Name, Bytes] : tagged(I.Text, "global:"))
    I.Globals[Name] = {zeroed(Bytes), Bytes};
  size_t All = 0;
  for (const auto &[Name, Bytes] : tagged(I.Text, "constant:"))
    All += Bytes;
  CUdeviceptr Next = All ? zeroed(All) : 0;
  for (const auto &[Name, Bytes] : tagged(I.Text, "constant:")) {
    I.Globals[Name] = {Next, Bytes};
    Next += Bytes;
  }
}

/// All images that were ever loaded, including those of contexts that are gone.
static std::set<Image *> &images() {
  static auto *All = new std::set<Image *>;
  return *All;
}

template <class Handle> static CUresult load(Handle *Out, const void *Code, bool Library) {
  if (CUresult Status = contextStatus(); Status && !Library)
    return Status;
  auto *I = new Image;
  I->Text = bytesOf(Code);
  I->Library = Library;
  I->Owner = Library ? nullptr : currentContext();
  makeGlobals(*I);
  {
    std::lock_guard<std::mutex> Guard(driver().Lock);
    images().insert(I);
  }
  *Out = reinterpret_cast<Handle>(I);
  if (!hooks().Callback)
    return CUDA_SUCCESS;
  CUpti_ModuleResourceData Module{};
  Module.pCubin = I->Text.data();
  Module.cubinSize = I->Text.size();
  CUpti_ResourceData Resource{};
  Resource.context = reinterpret_cast<CUcontext>(currentContext());
  Resource.resourceDescriptor = &Module;
  hooks().Callback(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &Resource);
  return CUDA_SUCCESS;
}

STANDIN_API cuModuleLoadData(CUmodule *Out, const void *Code) {
  return traced(CALL(cuModuleLoadData){Out, Code},
                [](auto &P, unsigned) { return load(P.module, P.image, /*Library=*/false); });
}

STANDIN_API cuModuleLoadDataEx(CUmodule *Out, const void *Code, unsigned Count,
                               CUjit_option *Options, void **Values) {
  return traced(CALL(cuModuleLoadDataEx){Out, Code, Count, Options, Values},
                [](auto &P, unsigned) { return load(P.module, P.image, /*Library=*/false); });
}

STANDIN_API cuLibraryLoadData(CUlibrary *Out, const void *Code, CUjit_option *Jit, void **JitValues,
                              unsigned JitCount, CUlibraryOption *Options, void **Values,
                              unsigned Count) {
  return traced(
      CALL(cuLibraryLoadData){Out, Code, Jit, JitValues, JitCount, Options, Values, Count},
      [](auto &P, unsigned) { return load(P.library, P.code, /*Library=*/true); });
}

static Image *imageOf(void *Handle) { return static_cast<Image *>(Handle); }

STANDIN_API cuModuleUnload(CUmodule Module) {
  return traced(CALL(cuModuleUnload){Module}, [](auto &P, unsigned) {
    synchronize(currentContext());
    Image *I = imageOf(P.hmod);
    for (auto &[Name, Global] : I->Globals)
      release(Global.first);
    {
      std::lock_guard<std::mutex> Guard(driver().Lock);
      images().erase(I);
    }
    delete I;
    return CUDA_SUCCESS;
  });
}

static Entry *entryOf(Image *I, const std::string &Name) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  auto Code = driver().Codes.find(Name);
  // The probe's own image is compressed.
  bool OfProbe = Name.starts_with("__carve_probe_");
  if (Code == driver().Codes.end() || (!OfProbe && !hasWord(I->Text, Name)))
    return nullptr;
  std::unique_ptr<Entry> &Known = I->Entries[Name];
  if (!Known) {
    Known = std::make_unique<Entry>();
    Known->Code = Code->second;
    Known->Owner = I;
    Known->Attributes = std::make_shared<std::map<int, int>>();
    if (I->Library)
      Known->Function = std::unique_ptr<Entry>(new Entry{Known->Code, I, Known->Attributes, {}});
  }
  return Known.get();
}

template <class Handle> static CUresult give(Handle *Out, Entry *Found) {
  *Out = reinterpret_cast<Handle>(Found);
  return Found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

STANDIN_API cuModuleGetFunction(CUfunction *Out, CUmodule Module, const char *Name) {
  return traced(CALL(cuModuleGetFunction){Out, Module, Name}, [](auto &P, unsigned) {
    // For a library it is the CUfunction of the CUkernel.
    Entry *Found = entryOf(imageOf(P.hmod), P.name);
    return give(P.hfunc, Found && Found->isKernel() ? Found->Function.get() : Found);
  });
}

STANDIN_API cuLibraryGetKernel(CUkernel *Out, CUlibrary Library, const char *Name) {
  return traced(CALL(cuLibraryGetKernel){Out, Library, Name}, [](auto &P, unsigned) {
    return give(P.pKernel, entryOf(imageOf(P.library), P.name));
  });
}

static CUresult global(CUdeviceptr *Out, size_t *Bytes, void *Owner, const char *Name) {
  auto &Globals = imageOf(Owner)->Globals;
  auto It = Globals.find(Name);
  if (It == Globals.end())
    return CUDA_ERROR_NOT_FOUND;
  if (Out)
    *Out = It->second.first;
  if (Bytes)
    *Bytes = It->second.second;
  return CUDA_SUCCESS;
}

STANDIN_API cuModuleGetGlobal(CUdeviceptr *Out, size_t *Bytes, CUmodule Module, const char *Name) {
  return traced(CALL(cuModuleGetGlobal_v2){Out, Bytes, Module, Name},
                [](auto &P, unsigned) { return global(P.dptr, P.bytes, P.hmod, P.name); });
}

/// A library has different variables in each context. Kernels run with those of the primary
/// context.
static CUdeviceptr inOtherContext(CUdeviceptr Base, size_t Bytes) {
  static std::mutex Lock;
  static auto &Known = *new std::map<std::pair<Context *, CUdeviceptr>, CUdeviceptr>;
  std::lock_guard<std::mutex> Guard(Lock);
  CUdeviceptr &There = Known[{currentContext(), Base}];
  if (!There) {
    There = allocate(Bytes, Kind::Global);
    std::memset(reinterpret_cast<void *>(There), 0, Bytes); // NOLINT(performance-no-int-to-ptr)
  }
  return There;
}

STANDIN_API cuLibraryGetGlobal(CUdeviceptr *Out, size_t *Bytes, CUlibrary Library,
                               const char *Name) {
  return traced(CALL(cuLibraryGetGlobal){Out, Bytes, Library, Name}, [](auto &P, unsigned) {
    CUresult Status = global(P.dptr, P.bytes, P.library, P.name);
    if (Status == CUDA_SUCCESS && P.dptr && currentContext() != driver().Primary)
      *P.dptr = inOtherContext(*P.dptr, P.bytes ? *P.bytes : 0);
    return Status;
  });
}

static Entry *entry(const void *Handle) { return static_cast<Entry *>(const_cast<void *>(Handle)); }

STANDIN_API cuFuncGetName(const char **Name, CUfunction Function) {
  *Name = entry(Function)->Code->Name.c_str();
  return CUDA_SUCCESS;
}

STANDIN_API cuKernelGetName(const char **Name, CUkernel Kernel) {
  *Name = entry(Kernel)->Code->Name.c_str();
  return CUDA_SUCCESS;
}

STANDIN_API cuKernelGetLibrary(CUlibrary *Out, CUkernel Kernel) {
  if (!entry(Kernel)->isKernel())
    return CUDA_ERROR_INVALID_HANDLE;
  *Out = reinterpret_cast<CUlibrary>(entry(Kernel)->Owner);
  return CUDA_SUCCESS;
}

STANDIN_API cuFuncGetModule(CUmodule *Out, CUfunction Function) {
  if (entry(Function)->isKernel())
    return CUDA_ERROR_INVALID_HANDLE;
  *Out = reinterpret_cast<CUmodule>(entry(Function)->Owner);
  return CUDA_SUCCESS;
}

STANDIN_API cuKernelGetFunction(CUfunction *Out, CUkernel Kernel) {
  if (!entry(Kernel)->isKernel())
    return CUDA_ERROR_INVALID_HANDLE;
  *Out = reinterpret_cast<CUfunction>(entry(Kernel)->Function.get());
  return CUDA_SUCCESS;
}

STANDIN_API cuLibraryGetModule(CUmodule *Out, CUlibrary Library) {
  *Out = reinterpret_cast<CUmodule>(Library);
  return CUDA_SUCCESS;
}

static CUresult argumentInfo(const Entry &E, size_t Index, size_t *Offset, size_t *Bytes) {
  const std::vector<size_t> &All = E.Code->ArgumentBytes;
  if (Index >= All.size())
    return CUDA_ERROR_INVALID_VALUE;
  size_t At = 0;
  for (size_t I = 0; I <= Index; ++I) {
    size_t Alignment = std::min<size_t>(All[I], 8);
    At = (At + Alignment - 1) / Alignment * Alignment;
    if (I < Index)
      At += All[I];
  }
  *Offset = At;
  if (Bytes)
    *Bytes = All[Index];
  return CUDA_SUCCESS;
}

STANDIN_API cuFuncGetParamInfo(CUfunction Function, size_t Index, size_t *Offset, size_t *Bytes) {
  return argumentInfo(*entry(Function), Index, Offset, Bytes);
}

STANDIN_API cuKernelGetParamInfo(CUkernel Kernel, size_t Index, size_t *Offset, size_t *Bytes) {
  return argumentInfo(*entry(Kernel), Index, Offset, Bytes);
}

static CUresult attribute(int *Value, int Attribute, const Entry &E) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  if (auto It = E.Attributes->find(Attribute); It != E.Attributes->end())
    *Value = It->second;
  else if (Attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
    *Value = E.Code->Registers;
  else if (Attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    *Value = E.Code->MaxThreadsPerBlock;
  else if (Attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    *Value = -1;
  else if (Attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    *Value = 48 << 10;
  else
    *Value = 0;
  return CUDA_SUCCESS;
}

static CUresult setAttribute(int Attribute, int Value, Entry &E) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  (*E.Attributes)[Attribute] = Value;
  return CUDA_SUCCESS;
}

STANDIN_API cuFuncGetAttribute(int *Value, CUfunction_attribute Attribute, CUfunction Function) {
  return traced(CALL(cuFuncGetAttribute){Value, Attribute, Function},
                [](auto &P, unsigned) { return attribute(P.pi, P.attrib, *entry(P.hfunc)); });
}

STANDIN_API cuKernelGetAttribute(int *Value, CUfunction_attribute Attribute, CUkernel Kernel,
                                 CUdevice Device) {
  return traced(CALL(cuKernelGetAttribute){Value, Attribute, Kernel, Device},
                [](auto &P, unsigned) { return attribute(P.pi, P.attrib, *entry(P.kernel)); });
}

STANDIN_API cuFuncSetAttribute(CUfunction Function, CUfunction_attribute Attribute, int Value) {
  return traced(CALL(cuFuncSetAttribute){Function, Attribute, Value},
                [](auto &P, unsigned) { return setAttribute(P.attrib, P.value, *entry(P.hfunc)); });
}

STANDIN_API cuKernelSetAttribute(CUfunction_attribute Attribute, int Value, CUkernel Kernel,
                                 CUdevice Device) {
  return traced(CALL(cuKernelSetAttribute){Attribute, Value, Kernel, Device},
                [](auto &P, unsigned) { return setAttribute(P.attrib, P.val, *entry(P.kernel)); });
}

STANDIN_API cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }

STANDIN_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *Blocks, CUfunction, int, size_t) {
  *Blocks = 2;
  return CUDA_SUCCESS;
}

STANDIN_API cuOccupancyMaxActiveClusters(int *Clusters, CUfunction, const CUlaunchConfig *) {
  *Clusters = 4;
  return CUDA_SUCCESS;
}
