// A kernel's PTX at another register cap of the front end. What is made from the stored text, long
// after the compile, equals what nvcc makes of the source.
#include "BuiltTools.h"

#include "Compile/Flavours.h"
#include "Compile/UnitRecorder.h"
#include "Nvcc/FrontEnd.h"
#include "Nvcc/KeptCompile.h"
#include "Store/FlavourPtx.h"

#include "llvm/Support/Path.h"

using namespace carve;

namespace {

class Flavours : public BuiltToolsTest {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    // The source has internal names, a header of its own, and code that changes with the cap.
    write("inc/mine.h", "#pragma once\nstatic __device__ double Shift;\n");
    write("src/f.cu", R"(#include "mine.h"
namespace {
__device__ int Counter;
__global__ void hidden(float *Y) { Y[threadIdx.x] = sinf(Y[threadIdx.x]) + Counter; }
}
__global__ void __launch_bounds__(256) wide(double *Y, double X) {
  double S[32];
#pragma unroll
  for (int I = 0; I < 32; ++I)
    S[I] = Y[I * 32 + threadIdx.x] * X + Shift;
  for (int J = 0; J < 100; ++J)
#pragma unroll
    for (int I = 0; I < 32; ++I)
      S[I] = S[I] * S[(I + 3) % 32] + sqrt(S[(I + 7) % 32]);
#pragma unroll
  for (int I = 0; I < 32; ++I)
    Y[I * 32 + threadIdx.x] = S[I];
}
void run(float *Y) {
  hidden<<<1, 32>>>(Y);
  wide<<<1, 32>>>(reinterpret_cast<double *>(Y), 2);
}
)");
  }

  /// Compiles the source by carve-nvcc with \p Options and returns its unit.
  Unit compiled(const Words &Options) {
    Words Arguments = {"-Iinc", "-c", "src/f.cu", "-o", "f.o"};
    Arguments.insert(Arguments.end(), Options.begin(), Options.end());
    build(Arguments);
    std::vector<Unit> Units = store().units();
    if (Units.size() == 1)
      return Units.front();
    ADD_FAILURE() << Units.size() << " units\n" << log();
    return {};
  }

  /// Has nvcc compile with \p Options and keep its files in keep/.
  void keepNvccs(const Words &Options) {
    EXPECT_FALSE(llvm::sys::fs::create_directories(path("keep")));
    Words Arguments = {"-Iinc", "-c",     "src/f.cu",   "-o",
                       "f2.o",  "--keep", "--keep-dir", path("keep")};
    Arguments.insert(Arguments.end(), Options.begin(), Options.end());
    buildPlain(Arguments);
  }
  /// Returns the PTX \p Name that nvcc makes with \p Options.
  std::string nvccsPtx(const Words &Options, llvm::StringRef Name) {
    keepNvccs(Options);
    return read("keep/" + Name.str());
  }

  std::string madeAgain(const UnitFrontEnd &F, std::optional<unsigned> Cap) {
    std::string Text = llvm::cantFail(store().blob(F.InputDigest));
    std::string Original = llvm::cantFail(store().blob(F.PtxDigest));
    llvm::Expected<std::string> Ptx =
        compileFlavour({F.Step, Text, F.ModuleId, Original, Work.path(), {Cap}}, Tools, Runner);
    if (Ptx)
      return *Ptx;
    ADD_FAILURE() << llvm::toString(Ptx.takeError());
    return "";
  }

  std::string flavour(const Unit &U, const UnitFrontEnd &F, unsigned Cap) {
    UnitStore Store = store();
    llvm::Expected<std::string> Ptx = flavourPtx(U, F.PtxDigest, {Cap}, Store, Tools, Runner);
    if (Ptx)
      return *Ptx;
    ADD_FAILURE() << llvm::toString(Ptx.takeError());
    return "";
  }

  static constexpr char Wide[] = "_Z4widePdd";
  static constexpr char WideAt255[] = "carve-profile: 1\nkernels:\n"
                                      "  - kernel: \"wide(double*, double)\"\n"
                                      "    variant: {frontend-cap: 255}\n";

  void removeSources() {
    ASSERT_FALSE(llvm::sys::fs::remove_directories(path("src")));
    ASSERT_FALSE(llvm::sys::fs::remove_directories(path("inc")));
  }
};

} // namespace

TEST_F(Flavours, flavours_areWhatNvccMakes) {
  const Words Several = {"-gencode",  "arch=compute_80,code=sm_80",
                         "-gencode",  "arch=compute_90,code=[sm_90,compute_90]",
                         "-lineinfo", "-t",
                         "2"};
  struct {
    Words Options;
    size_t Count;
  } const Cases[] = {
      {Several, 2}, {{"-arch=sm_90", "-O3", "-g", "-rdc=true", "-std=c++20", "-use_fast_math"}, 1}};
  const Words Cap = {"-Xcicc", "-maxreg", "-Xcicc", "255"};
  for (const auto &Case : Cases) {
    SCOPED_TRACE(testing::PrintToString(Case.Options));
    llvm::sys::fs::remove_directories(path("store"));
    Unit U = compiled(Case.Options);
    ASSERT_EQ(U.FrontEnds.size(), Case.Count) << log();
    Words Capped = Case.Options;
    Capped.insert(Capped.end(), Cap.begin(), Cap.end());
    keepNvccs(Capped);
    for (const UnitFrontEnd &F : U.FrontEnds) {
      std::string Kept = llvm::cantFail(store().blob(F.PtxDigest));
      EXPECT_TRUE(madeAgain(F, std::nullopt) == Kept) << F.Step.PtxName;
      std::string Flavour = flavour(U, F, 255);
      EXPECT_TRUE(Flavour == read("keep/" + F.Step.PtxName)) << F.Step.PtxName;
      EXPECT_FALSE(Flavour == Kept) << "the PTX of the source must depend on the cap";
    }
    expectNoTemporaries();
  }
}

TEST_F(Flavours, flavours_withoutTheSource_areMade) {
  Unit U = compiled({"-arch=sm_90", "-lineinfo"});
  ASSERT_EQ(U.FrontEnds.size(), 1u);
  const UnitFrontEnd &F = U.FrontEnds.front();
  std::string Expected =
      nvccsPtx({"-arch=sm_90", "-lineinfo", "-Xcicc", "-maxreg=255"}, F.Step.PtxName);
  removeSources();
  EXPECT_TRUE(flavour(U, F, 255) == Expected);
  EXPECT_TRUE(madeAgain(F, std::nullopt) == llvm::cantFail(store().blob(F.PtxDigest)));
  // If the flavour is stored, cicc is not needed, either.
  Tools.BinDir = "/none";
  EXPECT_TRUE(flavour(U, F, 255) == Expected);
}

TEST_F(Flavours, flavours_userHasACap_areBelowIt) {
  Unit U = compiled({"-arch=sm_90", "-maxrregcount=40"});
  ASSERT_EQ(U.FrontEnds.size(), 1u);
  const UnitFrontEnd &F = U.FrontEnds.front();
  EXPECT_EQ(F.Step.Cap, 40u);
  EXPECT_TRUE(madeAgain(F, std::nullopt) == llvm::cantFail(store().blob(F.PtxDigest)));
  EXPECT_TRUE(flavour(U, F, 24) == nvccsPtx({"-arch=sm_90", "-maxrregcount=24"}, "f.ptx"));
  UnitStore Store = store();
  llvm::Expected<std::string> Above = flavourPtx(U, F.PtxDigest, {48}, Store, Tools, Runner);
  EXPECT_EQ(llvm::toString(Above.takeError()),
            "above-register-cap: front-end cap 48, the command's own is 40");
}

TEST_F(Flavours, flavours_fromTheKeepDirectory_areMade) {
  EXPECT_FALSE(llvm::sys::fs::create_directories(path("kept")));
  Words Arguments = {"-arch=sm_90", "-Iinc", "-c", "src/f.cu", "-o", "f.o"};
  auto Kept = llvm::cantFail(
      compileKeeping(Tools, Runner, Arguments, Work.path(), path("kept"), /*Quiet=*/true));
  ASSERT_EQ(Kept.Plan.Units.size(), 1u);
  UnitStore Store = store();
  Unit Record = llvm::cantFail(
      recordUnit(Kept.Plan.Units[0], parsed(Arguments), Tools, "13.0", Work.path(), Store));
  ASSERT_EQ(Record.FrontEnds.size(), 1u);
  std::vector<CompiledUnit> Units;
  Units.push_back({Kept.Plan.Units[0], Record, {}});
  std::string Expected = flavour(Record, Record.FrontEnds.front(), 32);
  Units.front().Record.FrontEnds.clear();
  removeSources();
  bool Missing = false;
  auto FlavourPtx = flavoursOf(Units, Store, Tools, Runner, Missing);
  EXPECT_TRUE(llvm::cantFail(FlavourPtx(Kept.Plan.Units[0].Images[0], {32})) == Expected);
  EXPECT_FALSE(Missing);
  ASSERT_FALSE(llvm::sys::fs::remove(path("kept/f.cpp1.ii")));
  EXPECT_NE(llvm::toString(FlavourPtx(Kept.Plan.Units[0].Images[0], {32}).takeError()), "");
  EXPECT_TRUE(Missing);
  // A compile does not fail because of this.
  EXPECT_TRUE(llvm::cantFail(recordUnit(Kept.Plan.Units[0], parsed(Arguments), Tools, "13.0",
                                        Work.path(), Store))
                  .FrontEnds.empty());
}

TEST_F(Flavours, flavours_decided_areEmitted) {
  const Words Object = {"-arch=sm_90", "--no-compress", "-Iinc", "-c", "src/f.cu", "-o", "f.o"};
  Words Capped = Object;
  Capped.insert(Capped.end(), {"-Xcicc", "-maxreg=255"});
  Capped[6] = "capped.o";
  buildPlain(Capped);
  ImageKernels Wanted = kernelsOf("capped.o");
  build(Object);
  std::string Untuned = read("f.o");
  ImageKernels Default = kernelsOf("f.o");
  ASSERT_NE(Wanted[Wide].CodeDigest, Default[Wide].CodeDigest) << "the cap must change the code";
  auto ExpectEmitted = [&] {
    ImageKernels Tuned = kernelsOf("f.o");
    EXPECT_EQ(Tuned[Wide].CodeDigest, Wanted[Wide].CodeDigest) << log();
    expectSameCode(Tuned, Default, {Wide});
  };
  // First from the store, then by nvcc.
  std::vector<Unit> Units = store().units();
  ASSERT_EQ(Units.size(), 1u);
  write("store/decisions/" + Units[0].Key + ".yaml", WideAt255);
  build(Object);
  EXPECT_TRUE(logSays("made from the store")) << log();
  ExpectEmitted();
  std::string Tuned = read("f.o");
  ASSERT_FALSE(llvm::sys::fs::remove(path("f.o")));
  build(Object);
  EXPECT_FALSE(logSays("made from the store"));
  EXPECT_TRUE(read("f.o") == Tuned);
  // Now without a store.
  write("profile.yaml", WideAt255);
  build(Object, {"CARVE_STORE=/proc/none", "CARVE_PROFILE=" + path("profile.yaml")});
  ExpectEmitted();
}

TEST_F(Flavours, flavours_missingInTheRecord_areMadeByNvcc) {
  const Words Object = {"-arch=sm_90", "--no-compress", "-Iinc", "-c", "src/f.cu", "-o", "f.o"};
  build(Object);
  ImageKernels Default = kernelsOf("f.o");
  Unit U = store().units().at(0);
  U.FrontEnds.clear(); // As an older release wrote it.
  UnitStore Store = store();
  ASSERT_EQ(llvm::toString(Store.putUnit(U)), "");
  write("store/decisions/" + U.Key + ".yaml", WideAt255);
  build(Object);
  EXPECT_TRUE(logSays("compiled anew: not-stored")) << log();
  EXPECT_NE(kernelsOf("f.o")[Wide].CodeDigest, Default[Wide].CodeDigest) << log();
  EXPECT_EQ(store().units().at(0).FrontEnds.size(), 1u);
}

TEST_F(Flavours, flavours_directoryReachedByALink_areTheSame) {
  write("src/f.cu", R"(#include "mine.h"
namespace {
__device__ int Counter;
__global__ void hidden(float *Y) { Y[threadIdx.x] += Counter + Shift; }
}
void run(float *Y) { hidden<<<1, 32>>>(Y); }
)");
  ASSERT_FALSE(llvm::sys::fs::create_link(Work.path(), path("link")));
  Command C;
  C.Argv = {CARVE_NVCC_PROGRAM, "-arch=sm_90", "-lineinfo", "-Iinc", "-c", "src/f.cu", "-o", "f.o"};
  C.Dir = path("link");
  C.Environment = environment({"PWD=" + path("link")});
  C.CaptureStderr = true;
  CommandResult R = llvm::cantFail(Runner.run(C));
  ASSERT_TRUE(R.succeeded()) << R.Stderr;
  std::vector<Unit> Units = store().units();
  ASSERT_EQ(Units.size(), 1u);
  const UnitFrontEnd &F = Units[0].FrontEnds.at(0);
  std::string Text = llvm::cantFail(store().blob(F.InputDigest));
  std::string Kept = llvm::cantFail(store().blob(F.PtxDigest));
  EXPECT_TRUE(
      llvm::cantFail(compileFlavour({F.Step, Text, F.ModuleId, Kept, Units[0].Directory, {}}, Tools,
                                    Runner)) == Kept);
}

TEST_F(Flavours, flavours_ptxWithoutAKernel_areNone) {
  write("src/f.cu", "__device__ int Value;\nint host() { return 0; }\n");
  EXPECT_TRUE(compiled({"-arch=sm_90"}).FrontEnds.empty());
}

TEST_F(Flavours, flavours_fileFullOfTemplates_areTheSame) {
  // A sort by Thrust would take much longer and show the same.
  write("src/f.cu", R"(#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
template <typename T, int Block, int Items> __global__ void sorted(T *Y) {
  using Sort = cub::BlockRadixSort<T, Block, Items>;
  using Scan = cub::BlockScan<T, Block>;
  __shared__ typename Sort::TempStorage ForSort;
  __shared__ typename Scan::TempStorage ForScan;
  T Mine[Items];
  for (int I = 0; I < Items; ++I)
    Mine[I] = Y[threadIdx.x * Items + I];
  Sort(ForSort).Sort(Mine);
  Scan(ForScan).InclusiveSum(Mine, Mine);
  for (int I = 0; I < Items; ++I)
    Y[threadIdx.x * Items + I] = Mine[I];
}
void run(float *Y, int *Z) {
  sorted<float, 64, 2><<<1, 64>>>(Y);
  sorted<int, 128, 1><<<1, 128>>>(Z);
}
)");
  Unit U = compiled({"-arch=sm_90"});
  ASSERT_EQ(U.FrontEnds.size(), 1u);
  const UnitFrontEnd &F = U.FrontEnds.front();
  EXPECT_TRUE(madeAgain(F, std::nullopt) == llvm::cantFail(store().blob(F.PtxDigest)));
}
