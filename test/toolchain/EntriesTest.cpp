// Further entries in objects of the real nvcc. A stand-in for the CUDA runtime is linked in its
// place; it writes which device function each launch takes. So the host code that nvcc and we made
// runs, without a GPU.
#include "BuiltTools.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"

#include <random>

using namespace carve;

namespace {

/// Registers, asks and launches as the runtime does. Each launch is a line: the device function,
/// threads per block, the first argument.
constexpr const char *Runtime = R"(
#include <stdio.h>
#include <stdlib.h>
typedef struct { unsigned x, y, z; } Dim;
typedef struct { Dim Grid, Block; size_t Smem; } Config; /* The first members of the runtime's. */
struct Function { const void *Host; const char *Name; } Functions[64];
static int Count; int Capture, Refuse, OneArgument;
static Dim Grid, Block; static size_t Smem; static void *Stream;
void **__cudaRegisterFatBinary(void *F) { static void *H; return H = F, &H; }
void __cudaRegisterFatBinaryEnd(void **H) {}
void __cudaUnregisterFatBinary(void **H) {}
char __cudaInitModule(void **H) { return 1; }
void __cudaRegisterVar(void **H, char *a, char *b, const char *c, int d, size_t e, int f, int g) {}
void __cudaRegisterFunction(void **H, const char *Host, char *D, const char *Name, int L, void *a,
                            void *b, void *c, void *d, int *e) {
  Functions[Count].Host = Host;
  Functions[Count++].Name = Name;
}
static struct Function *find(const void *Host) {
  for (int I = 0; I < Count; ++I)
    if (Functions[I].Host == Host)
      return &Functions[I];
  abort();
}
int __cudaGetKernel(struct Function **K, const void *Host) {
  *K = find(Host);
  return Refuse && *K != Functions;
}
unsigned __cudaPushCallConfiguration(Dim G, Dim B, size_t M, void *S) {
  Grid = G, Block = B, Smem = M, Stream = S;
  return 0;
}
int __cudaPopCallConfiguration(Dim *G, Dim *B, size_t *M, void *S) {
  *G = Grid, *B = Block, *M = Smem, *(void **)S = Stream;
  return 0;
}
static int launched(const char *Name, Dim G, Dim B, void **A, size_t M) {
  printf("%s %ux%ux%u %ux%ux%u %zu %d\n", Name, G.x, G.y, G.z, B.x, B.y, B.z, M,
         OneArgument ? 0 : *(int *)A[1]);
  return 0;
}
int __cudaLaunchKernel(struct Function *K, Dim G, Dim B, void **A, size_t M, void *S) {
  return launched(K->Name, G, B, A, M);
}
int __cudaLaunchKernel_ptsz(struct Function *K, Dim G, Dim B, void **A, size_t M, void *S) {
  return launched(K->Name, G, B, A, M);
}
int cudaLaunchKernel(const void *F, Dim G, Dim B, void **A, size_t M, void *S) {
  return launched(find(F)->Name, G, B, A, M);
}
int cudaLaunchKernel_ptsz(const void *F, Dim G, Dim B, void **A, size_t M, void *S) {
  return launched(find(F)->Name, G, B, A, M);
}
int cudaLaunchKernelExC(const Config *C, const void *F, void **A) {
  return launched(find(F)->Name, C->Grid, C->Block, A, C->Smem);
}
int cudaFuncGetAttributes(void *A, const void *Host) { return find(Host) == 0; }
int cudaStreamIsCapturing(void *S, int *Status) { return *Status = Capture & 1, Capture == 2; }
int cudaStreamIsCapturing_ptsz(void *S, int *Status) { return cudaStreamIsCapturing(S, Status); }
)";

constexpr const char *Source = R"(
#include <cstdlib>
__constant__ float Table[16];
extern "C" __global__ void chosen(float *P, int N) {
  __shared__ float S[256];
  float A[40];
  for (int I = 0; I < 40; ++I)
    A[I] = P[I * threadIdx.x];
  for (int J = 0; J < N; ++J)
    for (int I = 0; I < 40; ++I)
      A[I] = A[(I + 3) % 40] * Table[J & 15] + A[I];
  S[threadIdx.x & 255] = A[N % 40];
  __syncthreads();
  for (int I = 0; I < 40; ++I)
    P[I * 32 + threadIdx.x] = A[I] + S[I];
}
extern "C" __global__ void same(float *P, int N) { P[threadIdx.x] *= Table[N & 15]; }
#ifdef ALL
namespace {
__global__ void hidden(float *P, int N) { P[threadIdx.x] += N; }
}
static __global__ void local(float *P, int N) { P[threadIdx.x] -= N; }
template <class T> __global__ void generic(T *P, int N) { P[threadIdx.x] /= N; }
struct Class {
  static void run(float *P) { generic<float><<<1, 64>>>(P, 5); }
};
#endif
extern "C" int Capture, Refuse;
int main(int Count, char **Values) {
  // Each launch is eight numbers: grid, block, dynamic shared memory, and whether the stream is
  // captured: 1 that it is, 2 that asking fails, 3 that it is and that it is the default stream.
  for (int I = 1; I + 7 < Count; I += 8) {
    auto V = [&](int J) { return unsigned(std::atoi(Values[I + J])); };
    Capture = V(7);
    auto S = cudaStream_t(Capture == 1 || Capture == 2 ? 0x10ul : 0ul);
    chosen<<<dim3(V(0), V(1), V(2)), dim3(V(3), V(4), V(5)), V(6), S>>>(nullptr, I);
    same<<<dim3(V(0), V(1), V(2)), dim3(V(3), V(4), V(5)), V(6), S>>>(nullptr, I);
  }
#ifdef ALL
  hidden<<<1, 64>>>(nullptr, 1);
  hidden<<<1, 65>>>(nullptr, 2);
  local<<<1, 64>>>(nullptr, 3);
  generic<double><<<1, 64>>>(nullptr, 4);
  Class::run(nullptr);
#endif
}
)";

/// A kernel with a structure and floating-point numbers. Each launch is given by five words: the
/// fields Count, Short and Byte, and the bits of the numbers Scale and Shift.
constexpr const char *Fields = R"(
#include <cstdlib>
#include <cstring>
struct Field { float *P; int Count; short Short; unsigned char Byte; float Scale; };
extern "C" __global__ void fields(Field F, int Launch, double Shift) {
  float Sum = Launch;
  for (int I = 0; I < F.Count; ++I)
    Sum = Sum * F.Scale + F.P[I * F.Short + F.Byte];
  F.P[threadIdx.x] = Sum / F.Scale + float(Shift * Sum);
}
template <class To> To number(const char *Text) {
  unsigned long long Bits = std::strtoull(Text, nullptr, 0);
  To Result;
  std::memcpy(&Result, &Bits, sizeof Result);
  return Result;
}
extern "C" int Capture, Refuse;
int main(int Count, char **Words) {
  Capture = 0;
  for (int I = 1; I + 4 < Count; I += 5) {
    Field F;
    std::memset(&F, 0xcc, sizeof F); // What is between fields differs from machine to machine.
    F.P = nullptr;
    F.Count = number<int>(Words[I]);
    F.Short = number<short>(Words[I + 1]);
    F.Byte = number<unsigned char>(Words[I + 2]);
    F.Scale = number<float>(Words[I + 3]);
    fields<<<1, 32>>>(F, I / 5, number<double>(Words[I + 4]));
  }
}
)";

/// Functors that are launched as Kokkos does it: by a pointer to a kernel that a function of a
/// class returns, and whose overloads differ in their template parameters alone.
constexpr const char *Functors = R"(
#ifdef CHANGED
#define CONST
#else
#define CONST const
#endif
template <class Driver> __global__ static void launch(CONST Driver driver) { driver(); }
template <class Driver, unsigned Threads, unsigned Blocks>
__global__ __launch_bounds__(Threads, Blocks) static void launch(CONST Driver
                                                                     driver) {
  driver();
}
struct Filtered {
  float *Out;
  const float *In;
  int Count, NumTaps;
  __device__ void operator()(int I) const {
    if (I + NumTaps >= Count)
      return;
    float Window[8], Sum = 0;
    for (int K = 0; K < NumTaps; ++K)
      Window[K] = In[I + K];
    for (int K = 0; K < NumTaps; ++K)
      Sum += Window[NumTaps - 1 - K] * Window[K];
    Out[I] = Sum;
  }
  void operator&() const = delete;
};
namespace {
struct Hidden : Filtered {};
} // namespace
template <class F> struct ParallelFor {
  F Functor;
  __device__ void operator()() const { Functor(blockIdx.x * blockDim.x + threadIdx.x); }
};
template <class Driver, unsigned Threads = 0> struct Launch {
  static auto kernel() { return launch<Driver, Threads, 1>; }
};
template <class Driver> struct Launch<Driver, 0> {
  static auto kernel() { return launch<Driver>; }
};
template <class F, unsigned Threads = 0> void run(const F &Functor) {
  Launch<ParallelFor<F>, Threads>::kernel()<<<16, 256>>>(ParallelFor<F>{Functor});
}
extern "C" int OneArgument;
int main() {
  OneArgument = 1;
  for (int Taps : {8, 7})
    run(Filtered{nullptr, nullptr, 4096, Taps});
  for (int Taps : {8, 7})
    run<Filtered, 256>(Filtered{nullptr, nullptr, 4096, Taps});
  for (int Taps : {8, 7})
    run(Hidden{{nullptr, nullptr, 4096, Taps}});
  for (int Taps : {8, 7})
    run<Hidden, 128>(Hidden{{nullptr, nullptr, 4096, Taps}});
}
)";

/// The static shared memory of `chosen`.
constexpr unsigned StaticSmem = 1024;

class Entries : public BuiltToolsTest {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    write("k.cu", Source);
    write("fields.cu", Fields);
    write("runtime.c", Runtime);
    ASSERT_TRUE(run({"cc", "-w", "-c", "runtime.c", "-o", "runtime.o"}).succeeded());
  }

  /// Writes a profile with the lines \p Entries of `chosen`'s further entries.
  void pin(const std::string &Entries, const std::string &Variant = "default") {
    write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: chosen\n    variant: " + Variant +
                        "\n    entries:\n" + Entries);
  }
  static std::string entry(const std::string &When, const std::string &Variant) {
    return "      - when: {" + When + "}\n        variant: {" + Variant + "}\n";
  }
  void buildWithProfile(Words Arguments) {
    Arguments.insert(Arguments.begin(), {"-O3", "--no-compress"});
    build(Arguments, {"CARVE_PROFILE=p.yaml"});
  }

  /// Links \p Object with the stand-in and returns what the program \p Arguments prints.
  std::string launched(const std::string &Object, Words Arguments, const Words &Environment = {}) {
    CommandResult Linked = run({"c++", Object, "runtime.o", "-o", "program"});
    EXPECT_TRUE(Linked.succeeded()) << Linked.Stderr;
    Arguments.insert(Arguments.begin(), path("program"));
    CommandResult R = run(Arguments, Environment);
    EXPECT_EQ(R.ExitStatus, 0) << R.Stderr;
    return R.Stdout;
  }

  /// Writes a profile with the lines \p Entries of `fields`'s further entries, and builds with it.
  void buildFields(const std::string &Entries, const Words &Options = {}) {
    write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: fields\n    variant: default\n"
                    "    entries:\n" +
                        Entries);
    Words Arguments = {"-arch=sm_90", "-c", "fields.cu", "-o", "fields.o"};
    Arguments.insert(Arguments.end(), Options.begin(), Options.end());
    buildWithProfile(Arguments);
  }
  /// Returns the numbers of the entries that launches of `fields` take; 0 is the kernel itself.
  std::string takenByFields(const Words &Arguments) {
    std::string Taken, Printed = launched("fields.o", Arguments);
    for (llvm::StringRef Line : llvm::split(llvm::StringRef(Printed).trim(), '\n')) {
      llvm::StringRef Name = Line.split(' ').first;
      EXPECT_TRUE(Name.consume_front("fields")) << Printed;
      Taken += Name.consume_front("__carve_e") ? Name.str() : "0";
    }
    return Taken;
  }
  static std::string argument(unsigned Parameter, unsigned Offset, unsigned Bytes, uint64_t Value) {
    return "{parameter: " + std::to_string(Parameter) + ", offset: " + std::to_string(Offset) +
           ", bytes: " + std::to_string(Bytes) + ", value: " + std::to_string(Value) + "}";
  }

  /// Returns the device functions that launches with the blocks \p Threads take.
  Words taken(const std::string &Object, const std::vector<unsigned> &Threads) {
    Words Arguments;
    for (unsigned T : Threads)
      for (unsigned V : {1u, 1u, 1u, T, 1u, 1u, 0u, 0u})
        Arguments.push_back(std::to_string(V));
    Words Names;
    std::string Printed = launched(Object, Arguments);
    for (llvm::StringRef Line : llvm::split(llvm::StringRef(Printed).trim(), '\n'))
      if (!Line.starts_with("same "))
        Names.push_back(Line.split(' ').first.str());
    return Names;
  }
};

} // namespace

TEST_F(Entries, launches_takeTheFirstEntryWhoseGuardHolds) {
  pin(entry("block: 64x2x1, grid: 3x1x1", "cap: 40") + entry("threads: 256", "cap: 72") +
      entry("threads: 512", "load-cache: cg"));
  buildWithProfile({"-arch=sm_90", "-c", "k.cu", "-o", "k.o"});
  EXPECT_TRUE(logSays("chosen on sm_90 is emitted as r72 when threads <= 256")) << log();
  std::mt19937 Random(17);
  Words Arguments;
  std::string Expected, First;
  for (int I = 0; I < 400; ++I) {
    auto Pick = [&](std::initializer_list<unsigned> Values) {
      return *(Values.begin() + Random() % Values.size());
    };
    unsigned G[3] = {Pick({1, 3, 65535}), Pick({1, 1, 2}), Pick({1, 1, 7})};
    unsigned B[3] = {Pick({1, 31, 64, 255, 256, 257, 512, 1024}), Pick({1, 1, 2, 4}),
                     Pick({1, 1, 1, 3, 64})};
    unsigned Smem = Pick({0, 0, 16, 48 * 1024 - StaticSmem, 48 * 1024 - StaticSmem + 1, 200000});
    unsigned Capture = Pick({0, 0, 0, 1, 2});
    std::string Name = "chosen";
    unsigned Threads = B[0] * B[1] * B[2];
    if (!Capture && Smem <= 48 * 1024 - StaticSmem) {
      if (B[0] == 64 && B[1] == 2 && B[2] == 1 && G[0] == 3 && G[1] == 1 && G[2] == 1)
        Name += "__carve_e1";
      else if (Threads <= 256)
        Name += "__carve_e2";
      else if (Threads <= 512)
        Name += "__carve_e3";
    }
    std::string Launch;
    for (unsigned V : {G[0], G[1], G[2], B[0], B[1], B[2], Smem, Capture})
      Arguments.push_back(std::to_string(V));
    Launch = " " + std::to_string(G[0]) + "x" + std::to_string(G[1]) + "x" + std::to_string(G[2]) +
             " " + std::to_string(B[0]) + "x" + std::to_string(B[1]) + "x" + std::to_string(B[2]) +
             " " + std::to_string(Smem) + " " + std::to_string(1 + 8 * I) + "\n";
    Expected += Name + Launch + "same" + Launch;
    First += "chosen" + Launch + "same" + Launch;
  }
  EXPECT_EQ(launched("k.o", Arguments), Expected);
  EXPECT_EQ(launched("k.o", Arguments, {"CARVE_ENTRIES=off"}), First);
  EXPECT_EQ(launched("k.o", Arguments, {"CARVE_ENTRIES=on"}), Expected);
}

TEST_F(Entries, defaultStream_isCapturedOnlyIfEachThreadHasOne) {
  const Words Launch = {"1", "1", "1", "64", "1", "1", "0", "3"};
  pin(entry("threads: 64", "cap: 72"));
  buildWithProfile({"-arch=sm_90", "-c", "k.cu", "-o", "k.o"});
  EXPECT_TRUE(llvm::StringRef(launched("k.o", Launch)).starts_with("chosen__carve_e1 "));
  buildWithProfile({"-arch=sm_90", "-default-stream=per-thread", "-c", "k.cu", "-o", "k.o"});
  EXPECT_TRUE(llvm::StringRef(launched("k.o", Launch)).starts_with("chosen "));
}

TEST_F(Entries, valuesOfArguments_chooseCodeThatIsCompiledForThem) {
  auto Argument = [](unsigned Parameter, unsigned Bytes, unsigned Value) {
    return "{parameter: " + std::to_string(Parameter) + ", bytes: " + std::to_string(Bytes) +
           ", value: " + std::to_string(Value) + "}";
  };
  // Launch number I of the program has the argument 8 I + 1.
  pin(entry("arguments: [" + Argument(1, 4, 9) + "]", "frontend-knob: known") +
      entry("block: 64x1x1, arguments: [" + Argument(0, 8, 0) + ", " + Argument(1, 4, 17) + "]",
            "cap: 56, frontend-knob: known") +
      entry("arguments: [" + Argument(1, 8, 25) + "]", "load-cache: cg"));
  const Words Command = {"-arch=sm_90", "-c", "k.cu", "-o", "k.o"};
  buildWithProfile(Command);
  ImageKernels New = kernelsOf("k.o");
  ASSERT_TRUE(New.count("chosen__carve_e1")) << log();
  EXPECT_NE(New["chosen__carve_e1"].CodeDigest, New["chosen"].CodeDigest);
  EXPECT_EQ(New["chosen__carve_e2"].Resources.RegsPerThread, 56u);
  EXPECT_TRUE(logSays("no further entry of chosen when parameter 1 = 25 (8 bytes) on sm_90: "
                      "parameter 1 has no 8 bytes at offset 0"))
      << log();
  EXPECT_EQ(taken("k.o", {64, 64, 64, 64, 65}),
            (Words{"chosen", "chosen__carve_e1", "chosen__carve_e2", "chosen", "chosen"}));
  EXPECT_EQ(taken("k.o", {64, 64, 65}), (Words{"chosen", "chosen__carve_e1", "chosen"}));
  Words Blocks = Command;
  Blocks.push_back("--carve-entries=blocks");
  buildWithProfile(Blocks);
  EXPECT_FALSE(kernelsOf("k.o").count("chosen__carve_e1"));
  EXPECT_TRUE(logSays("entries for values are not wanted")) << log();
}

TEST_F(Entries, fieldsOfAStructure_chooseCodeWithTheirValues) {
  buildFields(entry("arguments: [" + argument(0, 8, 4, 5) + ", " + argument(0, 14, 1, 3) + "]",
                    "known-ptx: true") +
              entry("arguments: [" + argument(0, 12, 2, 0xfffe) + "]", "cap: 32, known-ptx: true") +
              entry("arguments: [" + argument(0, 22, 4, 0) + "]", "known-ptx: true"));
  ImageKernels New = kernelsOf("fields.o");
  ASSERT_TRUE(New.count("fields__carve_e1") && New.count("fields__carve_e2")) << log();
  EXPECT_NE(New["fields__carve_e1"].CodeDigest, New["fields"].CodeDigest);
  EXPECT_NE(New["fields__carve_e2"].CodeDigest, New["fields"].CodeDigest);
  EXPECT_FALSE(New.count("fields__carve_e3"));
  EXPECT_TRUE(logSays("parameter 0 has no 4 bytes at offset 22")) << log();
  const Words Launches = {"5", "7",  "3",   "0", "0", // Both fields.
                          "5", "7",  "4",   "0", "0", // One of them.
                          "6", "7",  "3",   "0", "0", "5", "-2",  "3", "0", "0",
                          "0", "-2", "255", "0", "0", "0", "254", "0", "0", "0"};
  EXPECT_EQ(takenByFields(Launches), "100120");
}

TEST_F(Entries, fieldsOfAFunctor_chooseCodeThatIsCompiledForThem) {
  write("functors.cu", Functors);
  const std::string When =
      entry("arguments: [" + argument(0, 16, 4, 4096) + ", " + argument(0, 20, 4, 8) + "]",
            "frontend-knob: known");
  write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: /launch/\n    variant: default\n"
                  "    entries:\n" +
                      When);
  for (const Words &Way : {Words{"-arch=sm_90"}, {"-arch=sm_90", "-DCHANGED"}, {"-arch=sm_100"}}) {
    SCOPED_TRACE(testing::PrintToString(Way));
    Words Arguments = {"-c", "functors.cu", "-o", "functors.o"};
    Arguments.insert(Arguments.end(), Way.begin(), Way.end());
    buildWithProfile(Arguments);
    ImageKernels New = kernelsOf("functors.o");
    ASSERT_EQ(New.size(), 8u) << log();
    for (const auto &[Name, K] : New) {
      if (llvm::StringRef(Name).ends_with("__carve_e1"))
        continue;
      const auto &Entry = New[Name + "__carve_e1"];
      EXPECT_NE(Entry.CodeDigest, K.CodeDigest) << Name;
      EXPECT_GT(K.Resources.StackBytes, 0u) << Name;
      EXPECT_EQ(Entry.Resources.StackBytes, 0u) << Name << ": its array is in registers";
    }
    std::string Printed = launched("functors.o", {}), Taken;
    for (llvm::StringRef Line : llvm::split(llvm::StringRef(Printed).trim(), '\n'))
      Taken += Line.split(' ').first.ends_with("__carve_e1") ? '1' : '0';
    EXPECT_EQ(Taken, "10101010") << Printed;
  }
}

TEST_F(Entries, templateWithOtherTypesElsewhere_isCompiledForItsValues) {
  // Like the reductions of thrust and CUB: one instantiation has addresses and numbers, the other
  // has classes.
  write("types.cu", R"(
    struct Place {
      float *First;
      __device__ float &operator[](int I) const { return First[I]; }
    };
    struct Number {
      int N[3];
      __device__ operator int() const { return N[0]; }
      template <class T> __device__ operator T &() const { return T::none; }
    };
    struct Factor {
      double F;
      __device__ operator float() const { return float(F); }
    };
    template <class P, class N, class V> __global__ void filled(P To, N Count, V By, const V Plus) {
      for (int I = 0; I < int(Count); ++I)
        To[threadIdx.x + I] = float(By) * I + float(Plus);
    }
    extern "C" int Capture, Refuse;
    int main() {
      Capture = 0;
      filled<<<1, 32>>>((float *)0x100, 4, 3.0f, 2.0f);
      filled<<<1, 32>>>((float *)0x100, 4, 2.0f, 2.0f);
      filled<<<1, 32>>>((float *)0x100, 5, 3.0f, 1.0f);
      filled<<<1, 32>>>(Place{}, Number{}, Factor{}, Factor{});
    }
  )");
  const std::string Name = "_Z6filledIPfifEvT_T0_T1_S3_";
  write("p.yaml",
        "carve-profile: 1\nkernels:\n  - kernel: " + Name +
            "\n    variant: default\n    entries:\n" +
            entry("arguments: [" + argument(0, 0, 1, 0) + ", " + argument(1, 0, 4, 4) + ", " +
                      argument(2, 0, 4, 0x40400000) + ", " + argument(3, 0, 4, 0x40000000) + "]",
                  "frontend-knob: known") +
            entry("arguments: [" + argument(2, 0, 4, 0x40000000) + "]", "frontend-knob: known") +
            entry("arguments: [" + argument(3, 0, 4, 0x3f800000) + "]", "frontend-knob: known"));
  buildWithProfile({"-arch=sm_90", "--carve-entries=floats", "-c", "types.cu", "-o", "types.o"});
  ImageKernels New = kernelsOf("types.o");
  ASSERT_EQ(New.size(), 5u) << log();
  std::set<std::string> Codes = {New[Name].CodeDigest};
  for (const char *Entry : {"__carve_e1", "__carve_e2", "__carve_e3"}) {
    ASSERT_TRUE(New.count(Name + Entry)) << log();
    Codes.insert(New[Name + Entry].CodeDigest);
  }
  EXPECT_EQ(Codes.size(), 4u) << "each value changes the code";
  std::string Printed = launched("types.o", {});
  llvm::SmallVector<llvm::StringRef> Lines;
  llvm::StringRef(Printed).trim().split(Lines, '\n');
  ASSERT_EQ(Lines.size(), 4u) << Printed;
  EXPECT_TRUE(Lines[0].starts_with(Name + "__carve_e1 ")) << Printed;
  EXPECT_TRUE(Lines[1].starts_with(Name + "__carve_e2 ")) << Printed;
  EXPECT_TRUE(Lines[2].starts_with(Name + "__carve_e3 ")) << Printed;
  EXPECT_TRUE(Lines[3].starts_with("_Z6filledI5Place6Number6FactorEvT_T0_T1_S5_ ")) << Printed;
}

TEST_F(Entries, classWithAConversion_isKnownByItsOwnBytes) {
  // A cast would call the operator, and the assumption would be one on C.
  write("box.cu", R"(
    struct Box {
      int A;
      char C;
      int D;
      __device__ operator char &() { return C; }
      __device__ Box *operator&() { return nullptr; }
    };
    extern "C" __global__ void boxed(Box B, int *P) { P[0] = B.C == 7 ? 1 : B.D; }
    extern "C" __global__ void open(Box B, int *P) { P[0] = B.A == 7 ? B.C : B.D; }
    extern "C" int Capture, Refuse;
    int main() {
      boxed<<<1, 1>>>(Box{7, 1, 2}, nullptr);
      open<<<1, 1>>>(Box{7, 1, 2}, nullptr);
    }
  )");
  write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: /./\n    variant: default\n"
                  "    entries:\n" +
                      entry("arguments: [" + argument(0, 0, 4, 7) + "]", "frontend-knob: known"));
  buildWithProfile({"-arch=sm_90", "-c", "box.cu", "-o", "box.o"});
  ImageKernels New = kernelsOf("box.o");
  EXPECT_FALSE(New.count("boxed__carve_e1")) << "it does not read A, so nothing changes";
  EXPECT_TRUE(New.count("open__carve_e1")) << log();
}

TEST_F(Entries, floats_areComparedByTheirBitsIfTheyAreWanted) {
  const std::string MinusZero = "0x80000000", NotANumber = "0x7fc00001";
  const std::string Guards =
      entry("arguments: [" + argument(0, 16, 4, 0x80000000) + "]", "known-ptx: true") +
      entry("arguments: [" + argument(2, 0, 8, 0x7ff8000000000001) + "]", "frontend-knob: known") +
      entry("arguments: [" + argument(0, 16, 4, 0x7fc00001) + ", " +
                argument(2, 0, 8, 0x3ff8000000000000) + "]",
            "frontend-knob: known, known-ptx: true");
  buildFields(Guards, {"--carve-entries=floats"});
  ImageKernels New = kernelsOf("fields.o");
  for (const char *Name : {"fields__carve_e1", "fields__carve_e2", "fields__carve_e3"}) {
    ASSERT_TRUE(New.count(Name)) << log();
    EXPECT_NE(New[Name].CodeDigest, New["fields"].CodeDigest) << Name;
  }
  EXPECT_NE(New["fields__carve_e2"].CodeDigest, New["fields__carve_e3"].CodeDigest);
  const Words Launches = {"1", "1", "1", MinusZero,    "0",
                          "1", "1", "1", "0",          "0",
                          "1", "1", "1", "0x7fc00000", "0x7ff8000000000001",
                          "1", "1", "1", "0x7fc00000", "0x7ff8000000000000",
                          "1", "1", "1", NotANumber,   "0x3ff8000000000000",
                          "1", "1", "1", NotANumber,   "0xbff8000000000000",
                          "1", "1", "1", MinusZero,    "0x7ff8000000000001"};
  EXPECT_EQ(takenByFields(Launches), "1020301");
  buildFields(Guards);
  EXPECT_EQ(kernelsOf("fields.o").size(), 1u);
  EXPECT_TRUE(logSays("entries for floating-point values are not wanted")) << log();
}

TEST_F(Entries, alignedAddress_choosesCodeOfItsOwn) {
  write("aligned.cu", R"(
    struct Point { float X, Y, Z, W; };
    extern "C" __global__ void summed(Point *P, int N) {
      Point Q = P[threadIdx.x];
      P[threadIdx.x].X = Q.X + Q.Y * Q.Z + Q.W * N;
    }
    extern "C" int Capture, Refuse;
    int main() {
      Capture = 0;
      for (unsigned long At : {0x100ul, 0x110ul, 0x101ul, 0x7f0000000200ul})
        summed<<<1, 32>>>((Point *)At, 7);
      summed<<<1, 32>>>((Point *)0x100, 8);
    }
  )");
  write("p.yaml",
        "carve-profile: 1\nkernels:\n  - kernel: summed\n    variant: default\n"
        "    entries:\n" +
            entry("arguments: [" + argument(0, 0, 1, 0) + ", " + argument(1, 0, 4, 7) + "]",
                  "frontend-knob: known") +
            entry("arguments: [" + argument(1, 0, 4, 7) + "]", "frontend-knob: known"));
  buildWithProfile({"-arch=sm_90", "-c", "aligned.cu", "-o", "aligned.o"});
  ImageKernels New = kernelsOf("aligned.o");
  ASSERT_TRUE(New.count("summed__carve_e1") && New.count("summed__carve_e2")) << log();
  EXPECT_NE(New["summed__carve_e1"].CodeDigest, New["summed__carve_e2"].CodeDigest)
      << "neighbouring loads become one";
  EXPECT_EQ(launched("aligned.o", {}),
            "summed__carve_e1 1x1x1 32x1x1 0 7\nsummed__carve_e2 1x1x1 32x1x1 0 7\n"
            "summed__carve_e2 1x1x1 32x1x1 0 7\nsummed__carve_e1 1x1x1 32x1x1 0 7\n"
            "summed 1x1x1 32x1x1 0 8\n");
}

TEST_F(Entries, restrictPointers_needAGuardOfAllAddresses) {
  write("pointers.cu", R"(
    extern "C" __global__ void sums(const float *a, float *b, int n) {
      for (int i = 0; i < n; ++i)
        b[threadIdx.x] += a[i];
    }
    extern "C" __global__ void fenced(const float *a, float *b) {
      b[0] = a[0];
      __threadfence();
      b[1] = a[1];
    }
    extern "C" __global__ void handed(const float *a, float *b) {
      b[threadIdx.x] = a[0];
      __syncthreads();
      b[threadIdx.x ^ 1] += a[0];
    }
    extern "C" __global__ void written(float *b, float *c) {
      b[threadIdx.x] = 1;
      c[threadIdx.x] = 1;
      __syncthreads();
      b[threadIdx.x ^ 1] += 1;
      c[threadIdx.x ^ 1] += 1;
    }
    int main() {
      sums<<<1, 32>>>(nullptr, nullptr, 1);
      fenced<<<1, 32>>>(nullptr, nullptr);
      handed<<<1, 32>>>(nullptr, nullptr);
      written<<<1, 32>>>(nullptr, nullptr);
    }
  )");
  auto Build = [&](const std::string &Apart) {
    write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: /./\n    variant: default\n"
                    "    entries:\n      - when: {pointers-apart: [" +
                        Apart + "]}\n        variant: {restrict: true}\n");
    buildWithProfile({"-arch=sm_90", "-c", "pointers.cu", "-o", "pointers.o"});
    return kernelsOf("pointers.o");
  };
  ImageKernels New = Build("{parameter: 0}, {parameter: 1}");
  ASSERT_TRUE(New.count("sums__carve_e1")) << log();
  EXPECT_NE(New["sums__carve_e1"].CodeDigest, New["sums"].CodeDigest);
  EXPECT_EQ(New.count("fenced__carve_e1"), 0u);
  EXPECT_TRUE(logSays("restrict: memory-fence")) << log();
  EXPECT_TRUE(New.count("handed__carve_e1")) << "what is only read may be restrict";
  EXPECT_EQ(New.count("written__carve_e1"), 0u) << "neither may be";
  EXPECT_TRUE(logSays("no parameter of written is declared as a pointer that may be restrict"))
      << log();
  New = Build("{parameter: 1}");
  EXPECT_EQ(New.count("sums__carve_e1"), 0u);
  EXPECT_TRUE(logSays("restrict: the guard does not ask about the address at offset 0 of parameter "
                      "0"))
      << log();
  New = Build("{parameter: 0}, {parameter: 1}, {parameter: 2}");
  EXPECT_EQ(New.count("sums__carve_e1"), 0u);
  EXPECT_TRUE(logSays("parameter 2 has no address at offset 0")) << log();
}

TEST_F(Entries, launchWithACluster_takesNoEntryWithoutIt) {
  write("clusters.cu", R"(
    #include <cooperative_groups.h>
    extern "C" __global__ void plain(float *P, int N) { P[threadIdx.x] += N; }
    extern "C" __global__ void __cluster_dims__(2) fixed(float *P, int N) {
      cooperative_groups::this_cluster().sync();
      P[threadIdx.x] += N;
    }
    extern "C" __global__ void asked(float *P, int N) {
      P[threadIdx.x] += N + cooperative_groups::this_cluster().num_blocks();
    }
    extern "C" int Capture, Refuse;
    int main() {
      Capture = 0;
      float *P = nullptr;
      plain<<<2, 32>>>(P, 1);
      fixed<<<2, 32>>>(P, 2);
      asked<<<2, 32>>>(P, 3);
      cudaLaunchAttribute Cluster;
      Cluster.id = cudaLaunchAttributeClusterDimension;
      Cluster.val.clusterDim.x = 2;
      Cluster.val.clusterDim.y = Cluster.val.clusterDim.z = 1;
      cudaLaunchConfig_t Config = {};
      Config.gridDim = 2;
      Config.blockDim = 32;
      Config.attrs = &Cluster;
      Config.numAttrs = 1;
      cudaLaunchKernelEx(&Config, plain, P, 4);
      cudaLaunchKernelEx(&Config, asked, P, 5);
    }
  )");
  write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: /./\n    variant: default\n"
                  "    entries:\n" +
                      entry("threads: 64", "load-cache: cs"));
  buildWithProfile({"-gencode=arch=compute_90,code=[sm_90,compute_90]", "-c", "clusters.cu", "-o",
                    "clusters.o"});
  EXPECT_TRUE(logSays("no further entry of asked when threads <= 64 on sm_90: a launch may have a "
                      "cluster that the entry would not have"))
      << log();
  std::string Printed = launched("clusters.o", {});
  EXPECT_EQ(Printed, "plain__carve_e1 2x1x1 32x1x1 0 1\nfixed__carve_e1 2x1x1 32x1x1 0 2\n"
                     "asked 2x1x1 32x1x1 0 3\nplain 2x1x1 32x1x1 0 4\nasked 2x1x1 32x1x1 0 5\n");
  std::string Object = read("clusters.o");
  size_t Entry = Object.find(".entry fixed__carve_e1(");
  ASSERT_NE(Entry, std::string::npos);
  EXPECT_NE(Object.substr(Entry, Object.find('{', Entry) - Entry).find(".reqnctapercluster 2"),
            std::string::npos)
      << "the cluster of the source is the entry's, too";
}

TEST_F(Entries, everythingElse_isAsNvccMadeIt) {
  const Words Arguments = {"-O3", "-g",   "-lineinfo", "-arch=sm_90", "--no-compress",
                           "-c",  "k.cu", "-o",        "k.o"};
  write("p.yaml", "carve-profile: 1\n");
  build(Arguments);
  std::string Plain = read("k.o");
  ImageKernels Default = kernelsOf("k.o");
  std::string Symbols = run({"nm", "-g", "k.o"}).Stdout;
  pin(entry("threads: 256", "cap: 72"));
  build(Arguments, {"CARVE_PROFILE=p.yaml"});
  std::string Tuned = read("k.o");
  ImageKernels New = kernelsOf("k.o");
  ASSERT_TRUE(New.count("chosen__carve_e1")) << log();
  EXPECT_EQ(New["chosen__carve_e1"].Resources.RegsPerThread, 72u);
  New.erase("chosen__carve_e1");
  expectSameCode(Default, New, {});
  for (const char *Section : {".text", ".text.startup", ".text.unlikely", ".data", ".init_array"}) {
    std::optional<std::string> Before = sectionOf(Plain, Section),
                               After = sectionOf(Tuned, Section);
    ASSERT_EQ(Before.has_value(), After.has_value()) << Section;
    if (Before) {
      EXPECT_EQ(After->substr(0, Before->size()), *Before) << Section;
    }
  }
  // The program sees the same names; ours are hidden.
  std::string Visible, Listed = run({"nm", "-g", "k.o"}).Stdout;
  for (llvm::StringRef Line : llvm::split(llvm::StringRef(Listed), '\n'))
    if (!Line.empty() && !Line.contains(" carve_") && !Line.contains("cudaStreamIsCapturing") &&
        !Line.contains("cudaFuncGetAttributes") && !Line.contains(" getenv") &&
        !Line.contains(" strcmp"))
      Visible += Line.ltrim("0123456789abcdef ").str() + "\n";
  std::string Wanted;
  for (llvm::StringRef Line : llvm::split(Symbols, '\n'))
    if (!Line.empty())
      Wanted += Line.ltrim("0123456789abcdef ").str() + "\n";
  EXPECT_EQ(Visible, Wanted);
  EXPECT_EQ(run({"readelf", "-gW", "k.o"}).Stdout.empty(), false);
  build(Arguments, {"CARVE_PROFILE=p.yaml"});
  EXPECT_TRUE(read("k.o") == Tuned) << "a second build differs";
  build(Arguments);
  EXPECT_TRUE(read("k.o") == Plain) << "without the profile it is nvcc's object again";
}

TEST_F(Entries, everyKindOfKernel_hasEntries) {
  write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: /./\n    variant: default\n"
                  "    entries:\n" +
                      entry("threads: 64", "load-cache: cs"));
  const Words Launches = {"1", "1", "1", "64", "1", "1", "0", "0"};
  std::vector<Words> Ways = {{},
                             {"-default-stream=per-thread"},
                             {"-Xcompiler=-fPIC", "-g"},
                             {"-Xcompiler=-ffunction-sections,-fdata-sections"}};
  if (llvm::sys::findProgramByName("clang++-19"))
    Ways.push_back({"-ccbin=clang++-19", "-allow-unsupported-compiler"});
  for (const Words &Way : Ways) {
    SCOPED_TRACE(testing::PrintToString(Way));
    Words Arguments = {"-arch=sm_90", "-DALL", "-c", "k.cu", "-o", "k.o"};
    Arguments.insert(Arguments.end(), Way.begin(), Way.end());
    buildWithProfile(Arguments);
    std::string Printed = launched("k.o", Launches);
    llvm::SmallVector<llvm::StringRef, 8> Lines;
    llvm::StringRef(Printed).trim().split(Lines, '\n');
    ASSERT_EQ(Lines.size(), 7u) << Printed;
    for (size_t I = 0; I < Lines.size(); ++I)
      EXPECT_EQ(Lines[I].split(' ').first.ends_with("__carve_e1"), I != 3) << Lines[I].str();
  }
}

TEST_F(Entries, everyImageAndThePtx_haveTheEntry) {
  write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: chosen\n    arch: sm_90\n    variant: "
                  "default\n    entries:\n" +
                      entry("threads: 256", "cap: 72"));
  buildWithProfile({"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90",
                    "-gencode=arch=compute_90,code=compute_90", "-c", "k.cu", "-o", "k.o"});
  std::map<unsigned, ImageKernels> Images = deviceImages(read("k.o"));
  ASSERT_EQ(Images.size(), 2u);
  EXPECT_EQ(Images[90]["chosen__carve_e1"].Resources.RegsPerThread, 72u) << log();
  ASSERT_TRUE(Images[80].count("chosen__carve_e1"));
  EXPECT_EQ(Images[80]["chosen__carve_e1"].CodeDigest, Images[80]["chosen"].CodeDigest)
      << "no decision is for it, so it is the kernel's own code";
  EXPECT_NE(read("k.o").find(".entry chosen__carve_e1("), std::string::npos);
  EXPECT_EQ(taken("k.o", {256, 257}), (Words{"chosen__carve_e1", "chosen"}));
}

/// The host has as many zeros as the variable has bytes. They are in no file, so they may go beyond
/// its end.
TEST_F(Entries, variableLargerThanTheObject_changesNothing) {
  write("large.cu", std::string("__device__ float Large[1 << 20];\n") + Source);
  pin(entry("threads: 256", "cap: 72"));
  buildWithProfile({"-arch=sm_90", "-c", "large.cu", "-o", "large.o"});
  EXPECT_LT(read("large.o").size(), 4u << 20);
  EXPECT_EQ(taken("large.o", {256, 257}), (Words{"chosen__carve_e1", "chosen"})) << log();
}

TEST_F(Entries, entryBesideAVariant_bothAreEmitted) {
  pin(entry("threads: 128", "cap: 72, load-cache: cg"), "{cap: 48}");
  buildWithProfile({"-arch=sm_90", "-c", "k.cu", "-o", "k.o"});
  ImageKernels New = kernelsOf("k.o");
  EXPECT_EQ(New["chosen"].Resources.RegsPerThread, 48u) << log();
  EXPECT_EQ(New["chosen__carve_e1"].Resources.RegsPerThread, 72u);
  EXPECT_EQ(taken("k.o", {128, 129}), (Words{"chosen__carve_e1", "chosen"}));
}

TEST_F(Entries, entryThatMayNotBe_isLeft) {
  pin("      - when: {block: 8x8x1}\n        variant: default\n" +
      entry("threads: 640", "cap: 72"));
  buildWithProfile({"-arch=sm_90", "-c", "k.cu", "-o", "k.o"});
  EXPECT_TRUE(logSays("no further entry of chosen when block 8x8x1 on sm_90: it would have the "
                      "code of its kernel"))
      << log();
  EXPECT_EQ(taken("k.o", {64, 640, 641}), (Words{"chosen__carve_e2", "chosen__carve_e2", "chosen"}))
      << "the other one keeps its number";
  EXPECT_FALSE(kernelsOf("k.o").count("chosen__carve_e1"));
  pin(entry("threads: 640", "cap: 90"));
  buildWithProfile({"-arch=sm_90", "-maxrregcount=80", "-c", "k.cu", "-o", "k.o"});
  EXPECT_TRUE(logSays("cap 90 is above the command's own -maxrregcount=80")) << log();
  EXPECT_EQ(taken("k.o", {1}), Words{"chosen"});
}

TEST_F(Entries, entryThatRefusesLaunchesOfItsGuard_isLeft) {
  keepKernels({"bounded"});
  auto Pin = [&](unsigned Threads) {
    write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: " + std::string(BoundedName) +
                        "\n    variant: default\n    entries:\n" +
                        entry("threads: " + std::to_string(Threads), "cap: 128"));
    buildWithProfile({"-arch=sm_90", "-c", "three.cu", "-o", "three.o"});
    return kernelsOf("three.o");
  };
  ImageKernels New = Pin(512);
  const std::string Name = std::string(Bounded) + "__carve_e1";
  EXPECT_EQ(New[Name].Resources.RegsPerThread, 128u) << log();
  EXPECT_EQ(New[Bounded].Resources.RegsPerThread, 64u) << "all blocks stay possible";
  EXPECT_FALSE(Pin(513).count(Name));
  EXPECT_TRUE(logSays("its 128 registers would shrink the largest block from 513 to 512 threads"))
      << log();
}

TEST_F(Entries, objectThatCannotChoose_keepsItsKernelsVariant) {
  pin(entry("threads: 128", "cap: 72"), "{cap: 48}");
  for (const Words &Way : {Words{"-Xcompiler=-flto"}, Words{"-Xcompiler=-flto,-ffat-lto-objects"},
                           Words{"-rdc=true"}, Words{"--carve-entries=off"}}) {
    SCOPED_TRACE(Way.front());
    Words Arguments = {"-arch=sm_90", "-c", "k.cu", "-o", "k.o"};
    Arguments.insert(Arguments.end(), Way.begin(), Way.end());
    write("k.o", "");
    Words All = {"-O3", "--no-compress"};
    All.insert(All.end(), Arguments.begin(), Arguments.end());
    CommandResult R = carveNvcc(All, {"CARVE_PROFILE=p.yaml"});
    ASSERT_TRUE(R.succeeded()) << R.Stderr;
    if (Way.front() == "-Xcompiler=-flto")
      continue; // The container is in no section that anybody could read.
    ImageKernels New = kernelsOf("k.o");
    EXPECT_EQ(New["chosen"].Resources.RegsPerThread, 48u) << log();
    EXPECT_FALSE(New.count("chosen__carve_e1"));
  }
}

TEST_F(Entries, hostFunctionThatObjectsShare_keepsItsKernel) {
  write("t.cu", "template <class T> __global__ void generic(T *P) { P[threadIdx.x] += 1; }\n"
                "void run(float *P) { generic<<<1, 32>>>(P); }\n");
  write("p.yaml", "carve-profile: 1\nkernels:\n  - kernel: /generic/\n    variant: default\n"
                  "    entries:\n" +
                      entry("threads: 64", "load-cache: cs"));
  const Words Arguments = {"-arch=sm_90", "-c", "t.cu", "-o", "t.o"};
  buildWithProfile(Arguments);
  EXPECT_TRUE(kernelsOf("t.o").count("_Z7genericIfEvPT___carve_e1")) << log();
  Words Shared = Arguments;
  Shared.push_back("-static-global-template-stub=false");
  buildWithProfile(Shared);
  EXPECT_FALSE(kernelsOf("t.o").count("_Z7genericIfEvPT___carve_e1"));
  EXPECT_TRUE(logSays("shared-stub: other objects may have the host function of "
                      "_Z7genericIfEvPT_"))
      << log();
}

TEST_F(Entries, executableAndSharedObject_areLinked) {
  pin(entry("threads: 128", "cap: 72"));
  buildWithProfile(
      {"-arch=sm_90", "k.cu", "-Xlinker=--defsym=Capture=0,--defsym=Refuse=0", "-o", "app"});
  EXPECT_TRUE(kernelsOf("app").count("chosen__carve_e1")) << log();
  buildWithProfile({"-arch=sm_90", "-Xcompiler=-fPIC", "-shared", "k.cu",
                    "-Xlinker=--defsym=Capture=0,--defsym=Refuse=0", "-o", "lib.so"});
  EXPECT_TRUE(kernelsOf("lib.so").count("chosen__carve_e1")) << log();
  EXPECT_EQ(run({"nm", "-D", "lib.so"}).Stdout.find("carve_"), std::string::npos);
}
