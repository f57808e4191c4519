// Compares what MachineCode reads with nvdisasm's listing.

#include "RealNvcc.h"

#include "Cubin/Cubin.h"
#include "Cubin/MachineCode.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <map>
#include <re2/re2.h>

using namespace carve;
using Instruction = MachineInstruction;

namespace {

// These kernels have what the examples lack.
constexpr const char *Source = R"(
struct alignas(16) Four { float A, B, C, D; };
extern "C" {
__global__ void widths(unsigned char *A, short *B, int *C, double *D, Four *E, int N) {
  int I = threadIdx.x + blockIdx.x * blockDim.x;
  int S = A[I] + B[I] + C[I];
  double T = D[I];
  Four V = E[I];
  A[I + N] = S; B[I + N] = S; C[I + N] = S; D[I + N] = T * 2; V.A += S; E[I + N] = V;
}
__global__ void shared(Four *E, int N) {
  __shared__ Four S[64];
  __shared__ char C[256];
  __shared__ short H[256];
  __shared__ double D[256];
  int I = threadIdx.x;
  S[I & 63] = E[I]; C[I] = N; H[I] = N + 1; D[I] = N;
  __syncthreads();
  Four V = S[63 - (I & 63)];
  V.A += C[255 - I] + H[255 - I] + D[255 - I];
  E[I + N] = V;
}
__global__ void locals(int *P, int N) {
  int X[64]; char Y[64]; double Z[32];
  for (int I = 0; I < 64; I++) { X[I] = P[I]; Y[I] = P[I + 64]; Z[I & 31] = P[I]; }
  for (int I = 0; I < N; I++) { X[P[I] & 63] += P[I + 1]; Y[P[I + 2] & 63] ^= 1; Z[P[I + 1] & 31] *= 2; }
  int S = 0;
  for (int I = 0; I < 64; I++) S += X[(I + N) & 63] + Y[(I + N * 2) & 63] + Z[(I + N) & 31];
  P[threadIdx.x] = S;
}
__global__ void atomics(int *P, float *F, double *D, unsigned long long *U) {
  __shared__ int S[32];
  S[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&S[P[0] & 31], 1);
  int R = atomicAdd(P, 1);
  atomicAdd(P + 1, R); atomicAdd(F, 1.f); atomicAdd(D, 1.);
  F[3] = atomicAdd(F + 1, 2.f); D[3] = atomicAdd(D + 1, 2.);
  P[8] = atomicCAS(P + 2, R, 3); U[1] = atomicExch(U, R); U[7] = atomicCAS(U + 3, 5ull, 7ull);
  S[3] = atomicCAS(&S[5], 1, 2);
  __syncthreads();
  P[threadIdx.x] = S[threadIdx.x];
}
__global__ void textures(cudaTextureObject_t T, cudaSurfaceObject_t Q, float *O) {
  O[0] = tex2D<float>(T, O[1], O[2]) + tex1Dfetch<float>(T, 3);
  float4 G = tex2Dgather<float4>(T, O[1], O[2]);
  O[8] = G.x + G.y;
  surf2Dwrite(O[3], Q, 4, 5);
  O[9] = surf2Dread<float>(Q, 8, 9);
}
__device__ __noinline__ int below(int N, int *P) { return N < 2 ? 1 : below(N - 1, P) * N + below(N - 2, P); }
__device__ __noinline__ int leaf(int N, int *P) { int S = 0; for (int I = 0; I < N; I++) S += P[I] * I; return S; }
__global__ void calls(int *P) {
  P[0] = below(P[1], P) + leaf(P[2], P);
  for (int I = 0; I < P[3]; I++) P[I] = leaf(P[I + 5], P);
}
__global__ void nested(int *P, int N) {
  for (int I = 0; I < N; I++) {
    for (int J = 0; J < I; J++) { P[J] = P[J + 1] * I; if (P[J] > 5) break; __syncthreads(); }
    P[I]++;
  }
}
__global__ void cases(int *P) {
  switch (P[0]) {
  case 0: P[1] = 5; break;
  case 1: P[2] = 7; break;
  case 2: P[3] = P[4] * P[6]; break;
  case 3: P[2] = 9; P[5] = 1; break;
  case 4: P[8] = 1; break;
  case 5: __syncthreads(); P[4] = 3; break;
  case 6: P[7] = P[8] / P[9]; break;
  case 7: P[9] = 3; break;
  default: P[0] = 3;
  }
}
}
)";

/// An instruction by nvdisasm's name and by what MachineCode reads.
struct Listed {
  uint64_t Address = 0;
  bool Guarded = false;
  std::string Mnemonic; ///< With its modifiers.
  std::string Target;   ///< The label that a branch leads to.
};

/// The listing of one kernel's section, with the addresses of its labels.
struct Listing {
  std::vector<Listed> Instructions;
  std::map<std::string, uint64_t> Labels;
};

std::map<std::string, Listing> readListing(llvm::StringRef Text) {
  static const re2::RE2 Line(
      R"(\s+/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(@!?U?P\w+\s+)?([A-Z][\w.]*).*)");
  static const re2::RE2 Branch(R"(`\((\.L_\w+)\))");
  static const re2::RE2 Label(R"((\.L_\S+):)");
  std::map<std::string, Listing> Result;
  Listing *Here = nullptr;
  std::vector<std::string> Waiting;
  for (llvm::StringRef L : llvm::split(Text, '\n')) {
    llvm::StringRef Function = L;
    if (Function.consume_front(".text.") && Function.consume_back(":")) {
      Here = &Result[Function.str()];
      continue;
    }
    std::string Name, Address, Guard, Mnemonic, Target;
    if (RE2::FullMatch(L.str(), Label, &Name)) {
      Waiting.push_back(Name);
    } else if (Here && RE2::FullMatch(L.str(), Line, &Address, &Guard, &Mnemonic)) {
      RE2::PartialMatch(L.str(), Branch, &Target);
      uint64_t At = std::stoull(Address, nullptr, 16);
      for (const std::string &W : Waiting)
        Here->Labels[W] = At;
      Waiting.clear();
      Here->Instructions.push_back({At, !Guard.empty(), Mnemonic, Target});
    }
  }
  return Result;
}

/// Returns the kind that a mnemonic names.
Instruction::KindTy kindOf(llvm::StringRef Mnemonic) {
  static const std::map<std::string, Instruction::KindTy> Kinds = {
      {"LD", Instruction::GlobalLoad},
      {"LDG", Instruction::GlobalLoad},
      {"ST", Instruction::GlobalStore},
      {"STG", Instruction::GlobalStore},
      {"ATOM", Instruction::GlobalAtomic},
      {"ATOMG", Instruction::GlobalAtomic},
      {"RED", Instruction::GlobalAtomic},
      {"REDG", Instruction::GlobalAtomic},
      {"LDGSTS", Instruction::GlobalToShared},
      {"LDL", Instruction::LocalLoad},
      {"STL", Instruction::LocalStore},
      {"LDS", Instruction::SharedLoad},
      {"LDSM", Instruction::SharedLoad},
      {"STS", Instruction::SharedStore},
      {"ATOMS", Instruction::SharedAtomic},
      {"TEX", Instruction::GlobalLoad},
      {"TLD", Instruction::GlobalLoad},
      {"TLD4", Instruction::GlobalLoad},
      {"SULD", Instruction::GlobalLoad},
      {"SUST", Instruction::GlobalStore},
      {"BAR", Instruction::Barrier},
      {"NOP", Instruction::Nop},
      {"BRA", Instruction::Branch},
      {"BRX", Instruction::IndirectBranch},
      {"CALL", Instruction::Call},
      {"EXIT", Instruction::Exit},
      {"RET", Instruction::Return}};
  auto It = Kinds.find(Mnemonic.split('.').first.str());
  return It == Kinds.end() ? Instruction::Other : It->second;
}

/// Returns the width in bytes of a plain load or store from its modifiers.
unsigned bytesOf(llvm::StringRef Mnemonic) {
  for (auto [Modifier, Bytes] :
       {std::pair("U8", 1), {"S8", 1}, {"U16", 2}, {"S16", 2}, {"64", 8}, {"128", 16}, {"256", 32}})
    if (llvm::is_contained(llvm::split(Mnemonic, '.'), Modifier))
      return Bytes;
  return 4;
}

/// Returns the pipe of \p Mnemonic, for those that have the same number on every architecture.
std::optional<Instruction::PipeTy> pipeOf(llvm::StringRef Mnemonic) {
  static const std::map<std::string, Instruction::PipeTy> Pipes = {
      {"FMUL", Instruction::Fp32},     {"FADD", Instruction::Fp32},
      {"FFMA", Instruction::Fp32},     {"IMAD", Instruction::IntegerMultiply},
      {"IADD3", Instruction::Integer}, {"LOP3", Instruction::Integer},
      {"SHF", Instruction::Integer},   {"ISETP", Instruction::Integer},
      {"LEA", Instruction::Integer},   {"DMUL", Instruction::Fp64},
      {"DADD", Instruction::Fp64},     {"DFMA", Instruction::Fp64},
      {"DSETP", Instruction::Fp64},    {"MUFU", Instruction::Special},
      {"F2I", Instruction::Special},   {"I2F", Instruction::Special},
      {"F2F", Instruction::Special},   {"POPC", Instruction::Special},
      {"LDG", Instruction::NoPipe},    {"BRA", Instruction::NoPipe},
      {"HMMA", Instruction::Tensor}};
  auto It = Pipes.find(Mnemonic.split('.').first.str());
  return It == Pipes.end() ? std::nullopt : std::optional(It->second);
}

class MachineCode : public RealNvccTest {
protected:
  void SetUp() override {
    RealNvccTest::SetUp();
    if (IsSkipped())
      return;
    auto Found =
        llvm::sys::findProgramByName("nvdisasm", {llvm::sys::path::parent_path(Tools.Nvcc)});
    if (!Found)
      Found = llvm::sys::findProgramByName("nvdisasm");
    if (!Found)
      GTEST_SKIP() << "no nvdisasm beside " << Tools.Nvcc << " or in PATH";
    Disassembler = *Found;
  }

  /// Compares each instruction of each kernel in \p Image with the listing.
  void compareAll(const std::string &Image) {
    CommandResult R = run({Disassembler, "-c", Image});
    ASSERT_TRUE(R.succeeded()) << R.Stderr;
    std::map<std::string, Listing> Listings = readListing(R.Stdout);
    std::string Bytes = read(Image);
    Cubin Parsed = llvm::cantFail(parseCubin(Bytes));
    ASSERT_FALSE(Parsed.Kernels.empty());
    for (const CubinKernel &K : Parsed.Kernels) {
      SCOPED_TRACE(Image + ": " + K.Resources.Name);
      auto Functions = readMachineCode(Bytes, K.Resources.Name);
      ASSERT_TRUE(bool(Functions)) << llvm::toString(Functions.takeError());
      compare(Functions->front(), Listings[K.Resources.Name]);
    }
  }

  void compare(const MachineFunction &F, const Listing &L) {
    ASSERT_EQ(F.Code.size(), L.Instructions.size());
    for (size_t I = 0; I < F.Code.size(); ++I) {
      const Instruction &Ours = F.Code[I];
      const Listed &Theirs = L.Instructions[I];
      SCOPED_TRACE(Theirs.Mnemonic + " at " + llvm::utohexstr(Theirs.Address));
      auto Kind = kindOf(Theirs.Mnemonic);
      bool Indirect = Ours.Kind == Instruction::IndirectCall;
      EXPECT_EQ(Indirect ? Instruction::Call : Ours.Kind, Kind);
      ++Seen[Kind];
      if (auto Pipe = pipeOf(Theirs.Mnemonic)) {
        EXPECT_EQ(Ours.Pipe, *Pipe);
        ++Used[*Pipe];
      }
      constexpr llvm::StringLiteral Plain[] = {"LD",  "ST",  "LDG", "STG",   "LDL",
                                               "STL", "LDS", "STS", "LDGSTS"};
      if (llvm::is_contained(Plain, llvm::StringRef(Theirs.Mnemonic).split('.').first)) {
        EXPECT_EQ(Ours.Bytes, bytesOf(Theirs.Mnemonic));
      }
      if (Kind != Instruction::Branch)
        continue;
      EXPECT_TRUE(!Theirs.Guarded || Ours.Conditional);
      auto Label = L.Labels.find(Theirs.Target);
      ASSERT_NE(Label, L.Labels.end()) << Theirs.Target;
      EXPECT_EQ(Ours.Target, Label->second);
    }
  }

  std::string Disassembler;
  std::map<Instruction::KindTy, unsigned> Seen;
  std::map<Instruction::PipeTy, unsigned> Used;
};

} // namespace

TEST_F(MachineCode, machineCode_isReadAsNvdisasmDoes) {
  write("more.cu", Source);
  const std::string Examples = CARVE_SOURCE_DIR "/share/carve-nvcc/examples/";
  for (const char *Arch : {"75", "80", "86", "89", "90", "100", "120"}) {
    std::string Image = std::string("more.") + Arch + ".cubin";
    compile({"-cubin", std::string("-arch=sm_") + Arch, "more.cu", "-o", Image});
    compareAll(Image);
  }
  for (auto [Kind, Name] : {std::pair(Instruction::GlobalLoad, "global loads"),
                            {Instruction::GlobalStore, "stores"},
                            {Instruction::GlobalAtomic, "atomics"},
                            {Instruction::LocalLoad, "local loads"},
                            {Instruction::LocalStore, "local stores"},
                            {Instruction::SharedLoad, "shared loads"},
                            {Instruction::SharedStore, "shared stores"},
                            {Instruction::SharedAtomic, "shared atomics"},
                            {Instruction::Barrier, "barriers"},
                            {Instruction::Branch, "branches"},
                            {Instruction::IndirectBranch, "indirect branches"},
                            {Instruction::Call, "calls"},
                            {Instruction::Return, "returns"},
                            {Instruction::Exit, "exits"}})
    EXPECT_GT(Seen[Kind], 0u) << "the source has no " << Name;
  // With too few registers there are spills.
  for (const char *Example : {"chemistry", "stencil3d", "matmul"})
    for (const char *Arch : {"75", "90", "120"}) {
      std::string Image = std::string(Example) + "." + Arch + ".cubin";
      compile({"-cubin", std::string("-arch=sm_") + Arch, "-Xptxas", "-maxrregcount=32",
               Examples + Example + ".cu", "-o", Image});
      compareAll(Image);
    }
  for (auto Pipe : {Instruction::Fp32, Instruction::IntegerMultiply, Instruction::Integer,
                    Instruction::Fp64, Instruction::Special})
    EXPECT_GT(Used[Pipe], 0u) << "no example has pipe " << Pipe;
}
