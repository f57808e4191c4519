#include "Emit/DispatchSource.h"

#include "Protocol/Protocol.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace carve;

/// The shared memory that a launch may take without asking for more, static and dynamic.
static constexpr unsigned SmemBytes = 48 << 10;

std::string carve::replacementOf(llvm::StringRef Call, llvm::StringRef Tag) {
  return ("carve_" + Tag + "_" + Call.ltrim('_')).str();
}

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

/// Whether the addresses in the arguments lead into different allocations of cuMemAlloc, and none
/// may be meant for the allocation of another (Probe/Driver/Allocation.h). The driver is asked for
/// CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, which is true of that memory alone, and for the
/// start and size of the range. A program that has no dlopen() takes the kernel itself.
static constexpr llvm::StringLiteral Separation =
    R"(extern void *dlopen(const char *, int) __attribute__((weak));
extern void *dlsym(void *, const char *) __attribute__((weak));
typedef int Ask(unsigned, int *, void **, unsigned long long);
static Ask *asker(void) {
  static Ask *Known;
  Ask *Its = __atomic_load_n(&Known, __ATOMIC_ACQUIRE);
  if (!Its && dlopen && dlsym) {
    void *Driver = dlopen("libcuda.so.1", 1 | 4); /* RTLD_LAZY | RTLD_NOLOAD */
    if (Driver)
      Its = (Ask *)dlsym(Driver, "cuPointerGetAttributes");
    __atomic_store_n(&Known, Its, __ATOMIC_RELEASE);
  }
  return Its;
}
#define MEANT(I, J) (At[I] + 64 >= Starts[J] && At[I] <= Ends[J])
static int apart(void **Args, const unsigned short (*Places)[2], int Count) {
  Ask *Its = asker();
  unsigned long long At[MOST_APART], Starts[MOST_APART], Ends[MOST_APART];
  for (int I = 0; I < Count; ++I) {
    unsigned long long Capable = 0, Start = 0, Bytes = 0;
    int Attributes[3] = {10, 11, 12};
    void *Answers[3] = {&Capable, &Start, &Bytes};
    At[I] = *(const U8 *)((const char *)Args[Places[I][0]] + Places[I][1]);
    if (!Its || Its(3, Attributes, Answers, At[I]) || !(Capable & 0xff) || !Start || !Bytes)
      return 0;
    Starts[I] = Start;
    Ends[I] = Start + Bytes;
    for (int J = 0; J < I; ++J)
      if (MEANT(I, J) || MEANT(J, I))
        return 0;
  }
  return 1;
}
)";

/// The addresses that must be apart where entry number \p I of a kernel is launched.
static std::string placesOf(const DispatchedEntry &E, size_t I) {
  std::string Text;
  for (const PointerPlace &P : E.When.Apart)
    Text += (Text.empty() ? "{" : ", {") + std::to_string(P.Parameter) + ", " +
            std::to_string(P.Offset) + "}";
  return "static const unsigned short Places" + std::to_string(I) + "[][2] = {" + Text + "};\n";
}

/// The C condition for a launch of entry number \p Number, which is \p E.
static std::string conditionOf(const DispatchedEntry &E, size_t Number) {
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
  // Asking the driver takes 75 ns for each address, so it comes last.
  if (!E.When.Apart.empty())
    Add("apart(Args, Places" + std::to_string(Number) + ", " + std::to_string(E.When.Apart.size()) +
        ")");
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
          replacementOf(RegisterCall, Tag) +
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
          replacementOf(HandleCall, Tag) +
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
                     replacementOf(Call, Tag) + "(" + Arguments +
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
      Text += std::string(N ? "    else if (" : "    if (") + conditionOf(Entries[I], I) +
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

/// What launches need to ask whether addresses are apart; empty if no guard asks.
static std::string separation(llvm::ArrayRef<DispatchedEntry> Entries) {
  std::string Places;
  size_t Most = 0;
  for (size_t I = 0; I < Entries.size(); ++I)
    if (size_t Count = Entries[I].When.Apart.size()) {
      Places += placesOf(Entries[I], I);
      Most = std::max(Most, Count);
    }
  return Most ? "#define MOST_APART " + std::to_string(Most) + "\n" + Separation.str() + Places
              : Places;
}

std::string carve::dispatchSource(llvm::ArrayRef<DispatchedEntry> Entries,
                                  llvm::ArrayRef<std::string> Calls, llvm::StringRef Tag) {
  std::vector<KernelEntries> Kernels = byKernel(Entries);
  bool ByHandle = llvm::is_contained(Calls, HandleCall);
  std::string Text = SourceHead.str() + registration(Entries, Kernels, ByHandle, Tag) +
                     "static char Loaded[" + std::to_string(Kernels.size()) + "];\n" +
                     Loading.str() + separation(Entries);
  for (llvm::StringRef Call : Calls)
    if (Call != RegisterCall && Call != HandleCall)
      Text += launch(Entries, Kernels, Call, Tag);
  return Text;
}
