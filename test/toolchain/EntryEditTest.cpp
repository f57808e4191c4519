// Every edit of an entry, in place and as a clone, gives the machine code that nvcc or ptxas makes
// with their own options for it.
#include "RealNvcc.h"

#include "Cubin/Assembler.h"
#include "Search/VariantEdit.h"
#include "Support/Error.h"

using namespace carve;
using namespace llvm;

namespace {

// The source has what differs between flavours and could go wrong: functions that are not inlined,
// functions of the mathematical library with their tables, strings and asserts, names of internal
// linkage, templates, launch bounds, inline assembly with a comment, and inlined functions of other
// files (for -lineinfo).
constexpr const char *Source = R"(
#include <cassert>
#include <cstdio>
#include "scale.h"
__constant__ float Bank[64];
__device__ double Table[4] = {1, 2, 3, 4};
namespace {
__device__ __noinline__ double slow(double X, const double *P) { return X > 2 ? sin(X) / X : pow(X, P[3]); }
__global__ void anonymous(double *P) { P[threadIdx.x] = slow(P[threadIdx.x], P); }
}
template <int N> __global__ void heavy(double *P, int M) {
  double A[N];
  for (int I = 0; I < N; ++I) A[I] = P[I * threadIdx.x];
  for (int J = 0; J < M; ++J) {
    asm volatile("{ // a brace } in a comment, ld.global\n\t}");
    for (int I = 0; I < N; ++I) A[I] = A[(I + 3) % N] * Table[I & 3] + sin(A[I]);
  }
  for (int I = 0; I < N; ++I) P[I + threadIdx.x] = A[I];
  if (P[0] > FACTOR) printf("large %f\n", P[0]);
  assert(M < 5);
}
__global__ void __launch_bounds__(128, 4) bounded(double *P, int N) {
  double A[40];
  for (int I = 0; I < 40; ++I) A[I] = P[I * threadIdx.x];
  for (int J = 0; J < N; ++J)
    for (int I = 0; I < 40; ++I) A[I] = A[(I + 3) % 40] * 1.25 + sin(A[I]) * Bank[I];
  for (int I = 0; I < 40; ++I) P[I + threadIdx.x] = A[I];
}
__global__ void loads(const float4 *__restrict__ A, float *B, volatile float *C, float **D) {
  float4 X = A[threadIdx.x];
  float Y = B[threadIdx.x] + C[threadIdx.x] + __ldcg(B + 77) + __ldcs(B + 78);
  B[threadIdx.x + 1000] = X.x + X.y + X.z + X.w + Y + D[1][threadIdx.x];
  B[55] = atomicAdd(B + 9, __ldca(B + 5));
}
__global__ void spills(float *P, int N) {
  float A[48];
  for (int I = 0; I < 48; ++I) A[I] = P[I * threadIdx.x];
  for (int J = 0; J < N; ++J)
    for (int I = 0; I < 48; ++I) A[I] = A[(I + 3) % 48] * 1.25f + A[I] * Bank[I];
  for (int I = 0; I < 48; ++I) P[I * 32 + threadIdx.x] = A[I];
}
__global__ void dynamic(float *P) {
  extern __shared__ float S[];
  S[threadIdx.x] = P[threadIdx.x];
  __syncthreads();
  P[threadIdx.x] = S[31 - threadIdx.x];
}
void launch() {
  anonymous<<<1, 1>>>(nullptr);
  heavy<40><<<1, 1>>>(nullptr, 1);
  heavy<12><<<1, 1>>>(nullptr, 1);
}
)";

class EntryEdits : public RealNvccTest {
protected:
  /// Returns the PTX that nvcc keeps with \p Options. Its cubin is beside it.
  PtxModule compiled(const std::string &KeepDir, Words Options, const char *Text = Source) {
    write(KeepDir + "/keep", "");
    write("e.cu", Text);
    Words Arguments = {"-O3",    "-arch=sm_90", "-c",   "e.cu", "-o", KeepDir + "/e.o",
                       "--keep", "--keep-dir",  KeepDir};
    Arguments.insert(Arguments.end(), Options.begin(), Options.end());
    compile(Arguments);
    return cantFail(PtxModule::parse(read(KeepDir + "/e.ptx")));
  }

  static Words frontEndCap(unsigned Cap) {
    return {"-Xcicc", "-maxreg", "-Xcicc", std::to_string(Cap)};
  }

  Cubin assembled(StringRef Text, Words Options = {}) {
    Options.insert(Options.begin(), "-arch=sm_90");
    auto A = assemble(Tools, Runner, Text, Options);
    if (A)
      return cantFail(parseCubin(A->CubinBytes));
    ADD_FAILURE() << toString(A.takeError());
    return {};
  }

  static std::string digestOf(const Cubin &C, StringRef Name) {
    for (const CubinKernel &K : C.Kernels)
      if (K.Resources.Name == Name)
        return K.CodeDigest;
    ADD_FAILURE() << "no kernel " << Name.str();
    return "";
  }

  static std::string nameOf(const PtxModule &M, StringRef Part) {
    for (const PtxEntry &E : M.entries())
      if (StringRef(E.Name).contains(Part))
        return E.Name;
    ADD_FAILURE() << "no entry with " << Part.str();
    return "";
  }

  static EntryEdit editFor(const VariantSetting &V, const PtxEntry &Entry,
                           const std::map<unsigned, const PtxModule *> &Flavours = {}) {
    return cantFail(
        entryEdit(V, Entry, 256, [&](const FrontEndSetting &S) -> Expected<const PtxModule *> {
          return Flavours.at(S.Cap.value());
        }));
  }

  /// Assembles \p Base with \p Edits, first made in place and then as clones. The edited code must
  /// equal \p Wanted's in both cases. The code of the other entries and of the originals must not
  /// change.
  void expectCode(const PtxModule &Base, const StringMap<EntryEdit> &Edits, const Cubin &Wanted,
                  const Words &Options = {}) {
    std::vector<CloneRequest> Clones;
    for (const auto &Edit : Edits)
      Clones.push_back({Edit.first().str(), (Edit.first() + "__clone").str(), Edit.second});
    Cubin Default = assembled(Base.text(), Options);
    Cubin InPlace = assembled(cantFail(Base.withEdits(Edits)), Options);
    Cubin Cloned = assembled(cantFail(Base.withClones(Clones)), Options);
    for (const CubinKernel &K : Default.Kernels) {
      const std::string &Name = K.Resources.Name;
      EXPECT_EQ(digestOf(Cloned, Name), K.CodeDigest) << Name;
      if (!Edits.contains(Name)) {
        EXPECT_EQ(digestOf(InPlace, Name), K.CodeDigest) << Name;
        continue;
      }
      EXPECT_EQ(digestOf(InPlace, Name), digestOf(Wanted, Name)) << Name;
      EXPECT_EQ(digestOf(Cloned, Name + "__clone"), digestOf(Wanted, Name)) << Name;
    }
  }
};

} // namespace

TEST_F(EntryEdits, flavour_givesTheCodeOfACompileWithThatCap) {
  for (auto [Cap, Options] : {std::pair(32u, Words{"-lineinfo"}), std::pair(255u, Words())}) {
    PtxModule Base = compiled("base", Options);
    Words WithCap = frontEndCap(Cap);
    WithCap.insert(WithCap.end(), Options.begin(), Options.end());
    PtxModule Flavour = compiled("flavour", WithCap);
    Cubin Default = assembled(Base.text(), Options), Wanted = assembled(Flavour.text(), Options);
    StringMap<EntryEdit> All, One;
    unsigned Different = 0;
    for (const PtxEntry &E : Base.entries()) {
      All[E.Name] = editFor({{}, Cap}, E, {{Cap, &Flavour}});
      Different += digestOf(Wanted, E.Name) != digestOf(Default, E.Name);
    }
    EXPECT_GE(Different, 2u)
        << "the front-end cap must change code, or the comparison shows nothing";
    expectCode(Base, All, Wanted, Options);
    std::string Name = nameOf(Base, "heavyILi40E");
    One[Name] = All[Name];
    expectCode(Base, One, Wanted, Options);
  }
}

TEST_F(EntryEdits, flavourWithCap_givesTheCodeOfMaxrregcount) {
  PtxModule Base = compiled("base", {});
  PtxModule Flavour = compiled("flavour", frontEndCap(40));
  compiled("capped", {"-maxrregcount=40"});
  StringMap<EntryEdit> Edits;
  for (const PtxEntry &E : Base.entries())
    // Entries with launch bounds ignore nvcc's option, but not the edit's cap.
    if (!E.Directives.MaxNTid)
      Edits[E.Name] = editFor({40, 40}, E, {{40, &Flavour}});
  expectCode(Base, Edits, cantFail(parseCubin(read("capped/e.sm_90.cubin"))));
}

TEST_F(EntryEdits, clonesOfAllFlavours_shareOneModule) {
  PtxModule Base = compiled("base", {});
  PtxModule Low = compiled("low", frontEndCap(32)), High = compiled("high", frontEndCap(255));
  std::vector<CloneRequest> Clones;
  for (const PtxEntry &E : Base.entries()) {
    Clones.push_back({E.Name, E.Name + "__f32", editFor({{}, 32}, E, {{32, &Low}})});
    Clones.push_back({E.Name, E.Name + "__f255r48", editFor({48, 255}, E, {{255, &High}})});
  }
  std::string Text = cantFail(Base.withClones(Clones));
  EXPECT_EQ(StringRef(Text).count("__internal_accurate_pow__carve_f32("), 2u)
      << "one declaration, one definition";
  Cubin All = assembled(Text), Default = assembled(Base.text()), AtLow = assembled(Low.text());
  for (const PtxEntry &E : Base.entries()) {
    StringMap<EntryEdit> Alone;
    Alone[E.Name] = editFor({48, 255}, E, {{255, &High}});
    Cubin Capped = assembled(cantFail(Base.withEdits(Alone)));
    EXPECT_EQ(digestOf(All, E.Name), digestOf(Default, E.Name)) << E.Name;
    EXPECT_EQ(digestOf(All, E.Name + "__f32"), digestOf(AtLow, E.Name)) << E.Name;
    EXPECT_EQ(digestOf(All, E.Name + "__f255r48"), digestOf(Capped, E.Name)) << E.Name;
  }
}

TEST_F(EntryEdits, loadsFromL2_giveTheCodeOfDlcm) {
  VariantSetting V;
  V.Loads = LoadCaching::L2Only;
  PtxModule Base = compiled("base", {}), Flavour = compiled("flavour", frontEndCap(32));
  Cubin Default = assembled(Base.text()), Wanted = assembled(Base.text(), {"-dlcm=cg"});
  StringMap<EntryEdit> Edits, OfFlavour;
  for (const PtxEntry &E : Base.entries()) {
    EXPECT_TRUE(E.Loads.by(LoadCaching::L2Only)) << E.Name;
    EXPECT_NE(digestOf(Wanted, E.Name), digestOf(Default, E.Name)) << E.Name;
    Edits[E.Name] = editFor(V, E);
    VariantSetting Both = V;
    Both.FrontEndCap = 32;
    OfFlavour[E.Name] = editFor(Both, E, {{32, &Flavour}});
  }
  expectCode(Base, Edits, Wanted);
  expectCode(Base, OfFlavour, assembled(Flavour.text(), {"-dlcm=cg"}));
}

TEST_F(EntryEdits, smemSpilling_givesTheCodeOfThePragma) {
  PtxModule Base = compiled("base", {});
  StringMap<EntryEdit> CapsAlone, Edits;
  std::string Text = Base.text();
  for (auto [Part, Bounded] : {std::pair("spills", false), std::pair("bounded", true)}) {
    std::string Name = nameOf(Base, Part);
    VariantSetting V;
    V.Cap = 40;
    CapsAlone[Name] = editFor(V, *Base.find(Name));
    V.SmemSpilling = true;
    Edits[Name] = editFor(V, *Base.find(Name));
    // This is what a person would write.
    size_t Open = Text.find("\n{", Text.find(".entry " + Name));
    Text.replace(Open, 2,
                 std::string(Bounded ? "" : "\n.maxntid 256") +
                     "\n.maxnreg 40\n{\n.pragma \"enable_smem_spilling\";");
  }
  Cubin Capped = assembled(cantFail(Base.withEdits(CapsAlone))), Wanted = assembled(Text);
  for (const auto &Edit : Edits)
    EXPECT_NE(digestOf(Wanted, Edit.first()), digestOf(Capped, Edit.first()))
        << "nothing was spilled to shared memory";
  expectCode(Base, Edits, Wanted);
}

TEST_F(EntryEdits, smemSpilling_ptxasRefuses_isRefusedBefore) {
  PtxModule Base = compiled("base", {});
  VariantSetting V;
  V.Cap = 24;
  V.SmemSpilling = true;
  for (auto [Part, Reason] :
       {std::pair("dynamic", "dynamic-shared-memory"), std::pair("heavyILi40E", "abi-calls")}) {
    const PtxEntry &E = *Base.find(nameOf(Base, Part));
    Error Refused =
        entryEdit(V, E, 256, [](const FrontEndSetting &) -> Expected<const PtxModule *> {
          return nullptr;
        }).takeError();
    ASSERT_TRUE(Refused.isA<Unsupported>());
    EXPECT_TRUE(StringRef(toString(std::move(Refused))).starts_with(Reason));
    // ptxas itself refuses the whole module.
    StringMap<EntryEdit> Edits;
    Edits[E.Name] = {24, nullptr, "", 256};
    auto Made = assemble(Tools, Runner, cantFail(Base.withEdits(Edits)), {"-arch=sm_90"});
    EXPECT_FALSE(static_cast<bool>(Made)) << Part;
    consumeError(Made.takeError());
  }
}
