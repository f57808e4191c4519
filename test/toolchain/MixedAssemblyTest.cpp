// Kernels of one ptxas run are put into the image of another one. What the image says of them must
// be what ptxas says, and nothing else may change.
#include "RealNvcc.h"

#include "Cubin/Assembler.h"
#include "Cubin/CubinElf.h"
#include "Cubin/JoinKernels.h"
#include "Cubin/ReplaceKernels.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace carve;

namespace {

// Each kernel has something that an image keeps apart for it: constants of the code and a table of
// jumps, shared memory, local functions and slow paths of divisions, a stack, calls of the system,
// and references to variables of the module.
constexpr const char *Source = R"(
#include <cstdio>
#include <set>
extern "C" {
__constant__ float C[16];
__device__ int Count;
__device__ float Table[64] = {1, 2, 3};
__global__ void plain(float *A, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  float S = A[I];
  for (int K = 0; K < N; ++K) S += A[K] * C[K & 15] + Table[K & 63];
  A[I] = sinf(S);
}
__global__ void shares(float *A, int N) {
  __shared__ float T[256];
  T[threadIdx.x] = A[threadIdx.x];
  __syncthreads();
  A[threadIdx.x] = T[(threadIdx.x * 7) & 255] * N + pow((double)N, 1.5);
  atomicAdd(&Count, 1);
}
__device__ __noinline__ float step(float X, int N) {
  for (int I = 0; I < N; ++I) X = X * X + C[1];
  return X / N;
}
__global__ void calls(float *A, int N) { A[threadIdx.x] = step(A[threadIdx.x], N); }
__global__ void prints(float *A, int N) {
  if (A[threadIdx.x] > N) printf("%d %f\n", N, A[threadIdx.x]);
  else A[threadIdx.x] /= N;
}
__global__ __launch_bounds__(256, 4) void spills(float *A, int N) {
  float R[96];
  for (int I = 0; I < 96; ++I) R[I] = A[I * N];
  for (int K = 0; K < N; ++K)
    for (int I = 0; I < 96; ++I) R[I] = R[I] * R[(I + 7) % 96] + K;
  for (int I = 0; I < 96; ++I) A[I * N + threadIdx.x] = R[I];
}
__global__ void jumps(float *A, int N) {
  switch (N) {
  case 0: A[0] = 1; break;
  case 1: A[1] = expf(A[2]); break;
  case 2: A[3] *= 2; break;
  case 3: A[4] = A[1] + A[2]; break;
  case 4: A[7] = 9; break;
  case 5: A[8] -= 5; break;
  case 6: A[9] /= A[8]; break;
  case 7: A[1] = 7; break;
  }
}
// At -O1 the frame information of rems is longer and that of quotients shorter, on sm_90.
__global__ void rems(unsigned long long *A, double *B, int N) {
  unsigned long long S = A[threadIdx.x];
  for (int K = 1; K < N; ++K) {
    S = (2806196910506780709ull * S + 1) % 9223372036854775808ull;
    S = S / (A[K] + 1) + (long long)S % (long long)(A[K + 1] | 1);
    B[K] = B[K] / (double)S;
  }
  A[threadIdx.x] = S;
}
__global__ void quotients(float *A, int N) {
  float S = A[threadIdx.x];
  for (int K = 1; K < N; ++K) {
    S = S / (A[K] + K) + sqrtf(S) + 1.0f / S;
    A[K] = S;
  }
}
__global__ void dynamic(float *A, int N) {
  extern __shared__ float S[];
  S[threadIdx.x] = A[N];
  __syncthreads();
  A[threadIdx.x] = S[N];
}
}
)";

class MixedAssembly : public RealNvccTest, public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override {
    RealNvccTest::SetUp();
    if (IsSkipped())
      return;
    write("k.cu", Source);
    compile({std::string("-arch=") + GetParam(), "-ptx", "k.cu", "-o", "k.ptx"});
    Ptx = read("k.ptx");
    Options = {std::string("-arch=") + GetParam(), "-m64"};
  }

  Assembled made(std::vector<std::string> Further = {}) {
    Further.insert(Further.begin(), Options.begin(), Options.end());
    return llvm::cantFail(assemble(Tools, Runner, Ptx, Further));
  }
  static std::map<std::string, CubinKernel> kernelsOf(llvm::StringRef Bytes) {
    std::map<std::string, CubinKernel> All;
    for (CubinKernel &K : llvm::cantFail(parseCubin(Bytes)).Kernels)
      All[K.Resources.Name] = K;
    return All;
  }

  std::string Ptx;
  std::vector<std::string> Options;
};

size_t frameBytes(const std::string &Image) {
  const CubinElf Elf = llvm::cantFail(CubinElf::parse(Image));
  const CubinSection *Frames = Elf.section(".debug_frame");
  return Frames ? Frames->Bytes.size() : 0;
}

/// What the frame information of \p Image says of \p Kernel and its local functions: by function
/// and place in it, the block that describes it and the one that this refers to.
std::vector<std::string> framesOf(const std::string &Image, const std::string &Kernel) {
  using llvm::support::endian::read64le;
  const CubinElf Elf = llvm::cantFail(CubinElf::parse(Image));
  const CubinSection *Frames = Elf.section(".debug_frame");
  const CubinSection *Relocations = Elf.section(".rela.debug_frame");
  std::vector<std::string> All;
  if (!Frames || !Relocations)
    return All;
  std::map<uint64_t, llvm::StringRef> Blocks; // By place.
  for (uint64_t At = 0; At < Frames->Bytes.size();) {
    uint64_t Size = 12 + read64le(Frames->Bytes.data() + At + 4);
    Blocks[At] = Frames->Bytes.substr(At, Size);
    EXPECT_EQ(Blocks[At].size(), Size);
    At += Size;
  }
  for (const CubinRelocation &R : Relocations->relocations()) {
    auto Block = std::prev(Blocks.upper_bound(R.Offset));
    EXPECT_LE(R.Offset + 8, Block->first + Block->second.size());
    if (Elf.ownerOf(Elf.Symbols[R.Symbol]) != Kernel)
      continue;
    uint64_t Place = read64le(Block->second.data() + 12);
    std::string Text = std::to_string(R.Offset - Block->first) + "+" + std::to_string(R.Addend) +
                       ":" + Block->second.drop_front(20).str();
    if (Place != UINT64_MAX) {
      auto Shared = Blocks.find(Place);
      if (Shared == Blocks.end())
        ADD_FAILURE() << "a block refers to " << Place << ", where none is";
      else
        Text += Shared->second.str();
    }
    All.push_back(std::move(Text));
  }
  llvm::sort(All);
  return All;
}

void expectSame(const CubinKernel &A, const CubinKernel &B, const std::string &Name) {
  EXPECT_EQ(A.CodeDigest, B.CodeDigest) << Name;
  EXPECT_EQ(A.CodeBytes, B.CodeBytes) << Name;
  EXPECT_EQ(A.Resources.RegsPerThread, B.Resources.RegsPerThread) << Name;
  EXPECT_EQ(A.Resources.StackBytes, B.Resources.StackBytes) << Name;
  EXPECT_EQ(A.Resources.StaticSmemBytes, B.Resources.StaticSmemBytes) << Name;
  EXPECT_EQ(A.Resources.Barriers, B.Resources.Barriers) << Name;
}

} // namespace

TEST_P(MixedAssembly, eachKernelAndSetting_isTakenAndCanBeTakenBack) {
  const std::string Base = made().CubinBytes;
  auto Before = kernelsOf(Base);
  size_t Changed = 0, Grown = 0;
  for (const char *Setting :
       {"--opt-level=1", "--register-usage-level=0", "--register-usage-level=10"}) {
    const std::string Donor = made({Setting}).CubinBytes;
    auto Others = kernelsOf(Donor);
    for (const auto &[Name, Kernel] : Others) {
      SCOPED_TRACE(Name + " with " + Setting);
      if (Kernel.CodeDigest == Before[Name].CodeDigest)
        continue;
      ++Changed;
      auto Mixed = replaceKernels(Base, Donor, Name);
      ASSERT_TRUE(bool(Mixed)) << llvm::toString(Mixed.takeError());
      Grown += frameBytes(*Mixed) > frameBytes(Base);
      for (const auto &[Each, Now] : Before)
        EXPECT_EQ(framesOf(*Mixed, Each), framesOf(Each == Name ? Donor : Base, Each)) << Each;
      for (const auto &[Each, Now] : kernelsOf(*Mixed))
        expectSame(Now, Each == Name ? Kernel : Before[Each], Each);
      // All that was changed comes back, so nothing else was.
      auto Back = replaceKernels(*Mixed, Base, Name);
      ASSERT_TRUE(bool(Back)) << llvm::toString(Back.takeError());
      EXPECT_TRUE(*Back == Base);
    }
  }
  EXPECT_GT(Changed, 5u);
  if (GetParam() == std::string("sm_90")) {
    EXPECT_GT(Grown, 0u) << "what debuggers know of the stack may take more room";
  }
}

TEST_P(MixedAssembly, assembleMixed_givesEachKernelTheCodeOfItsOptions) {
  auto Options1 = Options, Options10 = Options;
  Options1.push_back("--opt-level=1");
  Options10.push_back("--register-usage-level=10");
  const std::vector<std::string> InOne = {"plain", "spills", "rems", "quotients"};
  llvm::Expected<Assembled> Mixed =
      assembleMixed(Tools, Runner, Ptx, Options, {{Options1, InOne}, {Options10, {"jumps"}}});
  ASSERT_TRUE(bool(Mixed)) << llvm::toString(Mixed.takeError());
  const Assembled Plain = made(), Less = made({"--opt-level=1"}),
                  More = made({"--register-usage-level=10"});
  for (const auto &[Name, Kernel] : kernelsOf(Mixed->CubinBytes)) {
    const Assembled &Own = llvm::is_contained(InOne, Name) ? Less : Name == "jumps" ? More : Plain;
    expectSame(Kernel, kernelsOf(Own.CubinBytes)[Name], Name);
    EXPECT_EQ(framesOf(Mixed->CubinBytes, Name), framesOf(Own.CubinBytes, Name)) << Name;
  }
  auto SpillsOf = [](const Assembled &A) {
    auto K = llvm::find_if(A.Kernels, [](auto &R) { return R.Name == "spills"; });
    return K == A.Kernels.end() ? 0 : K->spillBytes();
  };
  EXPECT_EQ(SpillsOf(*Mixed), SpillsOf(Less)) << "the report is that of the kernel's own run";
}

/// One kernel that does not fit costs no further run of ptxas, and not the others.
TEST_P(MixedAssembly, kernelsThatDoNotFit_areNamedAndStayAsTheyWere) {
  const std::string Base = made().CubinBytes;
  auto Before = kernelsOf(Base);
  for (const char *Setting : {"--opt-level=1", "--register-usage-level=0"}) {
    auto Further = Options;
    Further.push_back(Setting);
    const std::string Donor = made({Setting}).CubinBytes;
    auto Others = kernelsOf(Donor);
    ReassembledKernels Wanted{Further, {}};
    std::set<std::string> Expected, Found;
    for (const auto &[Name, Kernel] : Others) {
      Wanted.Kernels.push_back(Name);
      if (auto Alone = replaceKernels(Base, Donor, Name); !Alone) {
        llvm::consumeError(Alone.takeError());
        Expected.insert(Name);
      }
    }
    UnfitKernels Unfit;
    llvm::Expected<Assembled> Mixed =
        assembleMixed(Tools, Runner, Ptx, Options, {Wanted}, "module.ptx", &Unfit);
    ASSERT_TRUE(bool(Mixed)) << llvm::toString(Mixed.takeError());
    for (const auto &[Name, Why] : Unfit)
      Found.insert(Name);
    EXPECT_EQ(Found, Expected) << Setting;
    for (const auto &[Name, Now] : kernelsOf(Mixed->CubinBytes))
      expectSame(Now, Expected.count(Name) ? Before[Name] : Others[Name], Name);
  }
  // Code for another architecture fits nowhere.
  auto Other = Options;
  Other[0] = Other[0] == "-arch=sm_90" ? "-arch=sm_100" : "-arch=sm_90";
  UnfitKernels Unfit;
  llvm::Expected<Assembled> Mixed = assembleMixed(
      Tools, Runner, Ptx, Options, {{Other, {"plain", "spills"}}}, "module.ptx", &Unfit);
  ASSERT_TRUE(bool(Mixed)) << llvm::toString(Mixed.takeError());
  EXPECT_EQ(Unfit.size(), 2u);
  EXPECT_TRUE(Mixed->CubinBytes == Base);
}

/// Variants are assembled by themselves, and then join the module that nvcc has assembled.
TEST_P(MixedAssembly, kernelsAssembledAlone_joinTheirModule) {
  const std::string Base = made().CubinBytes;
  if (GetParam() != std::string("sm_90")) {
    llvm::Expected<std::string> Joined = joinKernels(Base, {{Base, "spills", "copy"}});
    ASSERT_FALSE(bool(Joined));
    EXPECT_NE(llvm::toString(Joined.takeError()).find("elf-layout"), std::string::npos);
    return;
  }
  std::vector<std::string> Images;
  std::vector<JoinedKernel> Added;
  std::map<std::string, CubinKernel> Alone;
  Images.reserve(100); // The list refers to them.
  for (const auto &[Name, Kernel] : kernelsOf(Base))
    for (const char *Level : {"3", "1"}) {
      Images.push_back(made({"--entry", Name, "--opt-level", Level}).CubinBytes);
      const JoinedKernel Own{Images.back(), Name, Name + "__carve_o" + Level};
      llvm::Expected<std::string> Joined = joinKernels(Base, Own);
      if (Name == "prints") { // ptxas puts vprintf before the variables here, and behind in Base.
        ASSERT_FALSE(bool(Joined));
        EXPECT_NE(llvm::toString(Joined.takeError()).find("other-module"), std::string::npos);
        continue;
      }
      ASSERT_TRUE(bool(Joined)) << Name << ": " << llvm::toString(Joined.takeError());
      Alone[Own.Name] = kernelsOf(Images.back())[Name];
      Added.push_back(Own);
    }
  EXPECT_EQ(Added.size(), 2 * 8u);
  llvm::Expected<std::string> Joined = joinKernels(Base, Added);
  ASSERT_TRUE(bool(Joined)) << llvm::toString(Joined.takeError());
  auto Before = kernelsOf(Base);
  for (const auto &[Name, Kernel] : kernelsOf(*Joined))
    expectSame(Kernel, Alone.count(Name) ? Alone[Name] : Before[Name], Name);
}

INSTANTIATE_TEST_SUITE_P(Architectures, MixedAssembly,
                         testing::Values("sm_75", "sm_80", "sm_86", "sm_90"),
                         [](const auto &Info) { return Info.param; });
