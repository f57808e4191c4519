// carve export. With the patch, plain nvcc makes what carve-nvcc makes of the decisions, in sources
// of every shape. `carve check` compares profiles of real compiles.
#include "BuiltTools.h"

#include "Store/Profile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Program.h"

using namespace carve;

namespace {

class Export : public BuiltToolsTest {
protected:
  /// Writes a profile that pins the caps, by name.
  void pin(std::initializer_list<std::pair<const char *, const char *>> Kernels) {
    std::string Text = "carve-profile: 1\nkernels:\n";
    for (const auto &[Name, Variant] : Kernels)
      Text += std::string("  - kernel: \"") + Name + "\"\n    variant: {" + Variant + "}\n";
    write("profile.yaml", Text);
  }
  Words withProfile(Words Arguments) {
    Arguments.insert(Arguments.begin(), "export");
    Arguments.push_back("--profile=profile.yaml");
    return Arguments;
  }
  /// Exports, and returns what `code` says of each kernel by the name before its parameters. Keeps
  /// the rest of the export in Written, Patch and Notes.
  std::map<std::string, std::string> codes(const Words &Arguments) {
    Words Json = withProfile(Arguments);
    Json.push_back("--format=json");
    CommandResult R = carve(Json);
    std::map<std::string, std::string> Codes;
    auto Parsed = llvm::json::parse(R.Stdout);
    if (!Parsed) {
      ADD_FAILURE() << llvm::toString(Parsed.takeError()) << R.Stdout << R.Stderr << log();
      return Codes;
    }
    const llvm::json::Object &Root = *Parsed->getAsObject();
    Patch = Root.getString("patch")->str();
    Notes.clear();
    for (const llvm::json::Value &Note : *Root.getArray("notes"))
      Notes += Note.getAsString()->str() + "\n";
    for (const llvm::json::Value &K : *Root.getArray("kernels")) {
      const llvm::json::Object &O = *K.getAsObject();
      std::string Reason = O.getString("reason")->str();
      Codes[O.getString("kernel")->split('(').first.str()] =
          Reason.empty() ? O.getString("code")->str() : Reason;
      Written[O.getString("kernel")->split('(').first.str()] = O.getString("written")->str();
    }
    return Codes;
  }
  /// Applies the patch of the last export, with git and with patch.
  void applyPatch() {
    write("export.patch", Patch);
    CommandResult Check = run({"git", "apply", "--check", "export.patch"});
    EXPECT_TRUE(Check.succeeded()) << Check.Stderr << Patch;
    CommandResult R;
    if (llvm::sys::findProgramByName("patch"))
      R = run({"patch", "-p1", "--binary", "-i", "export.patch"});
    else
      R = run({"git", "apply", "export.patch"});
    EXPECT_TRUE(R.succeeded()) << R.Stdout << R.Stderr << Patch;
  }

  std::string Patch, Notes;
  std::map<std::string, std::string> Written;
  const Words Archs = {"-arch=sm_90", "--no-compress"};
};

/// A kernel body that uses about 90 registers.
constexpr char Mix[] = R"(#pragma once
template <int Values> __device__ __forceinline__ void mix(double *Y, const double *X, int N) {
  double A[Values];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    A[I] = X[(threadIdx.x * Values + I) % N];
  for (int Round = 0; Round < N; ++Round)
#pragma unroll
    for (int I = 0; I < Values; ++I)
      A[I] = A[(I + 1) % Values] * 1.0625 + A[I];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    Y[threadIdx.x * Values + I] = A[I];
}
)";

/// The source has CRLF, a tab and a byte beyond ASCII, which must stay.
constexpr char Header[] =
    "#pragma once\r\n#include \"mix.cuh\"\r\n\r\nnamespace app {\r\n"
    "// h\xc3\xa9\r\n"
    "static __global__ void\tinHeader(double *Y, const double *X, int N) {\r\n"
    "\tmix<40>(Y, X, N);\r\n}\r\n}\r\n";

constexpr char Source[] = R"(#include "app/kernels.cuh"
#define MAKE(NAME) __global__ void NAME(double *Y, const double *X, int N) { mix<40>(Y, X, N); }
MAKE(made)
typedef double Real;
__global__ void over(Real *Y, const Real *X, int N) { mix<40>(Y, X, N); }
__global__ void over(Real *Y, const Real *X) { mix<36>(Y, X, 7); }
enum class Mode { A, B };
template <int V, Mode M, typename T>
__global__ void shaped(T *Y, const T *X, int N) { mix<V>((double *)Y, (double *)X, N); }
template __global__ void shaped<40, Mode::A, double>(double *, const double *, int);
template __global__ void shaped<40, Mode::B, double>(double *, const double *, int);
template __global__ void shaped<44, Mode::B, float>(float *, const float *, int);
namespace {
#ifdef NEVER
__global__ void hidden(float *Y) {
#else
__global__ void hidden(double *Y, const double *X, int N) {
#endif
  mix<40>(Y, X, N);
}
} // namespace
void run(double *Y) {
  app::inHeader<<<1, 32>>>(Y, Y, 4);
  hidden<<<1, 32>>>(Y, Y, 4);
}
extern "C" __global__ void last(double *Y, const double *X, int N) { mix<40>(Y, X, N); })";

} // namespace

TEST_F(Export, patch_appliedSource_givesTheTunedCode) {
  write(".git/keep", ""); // Marks the project's root, which is above the directory of the build.
  write("include/app/mix.cuh", Mix);
  write("include/app/kernels.cuh", Header);
  write("src/k.cu", Source);
  pin({{"app::inHeader(double*, double const*, int)", "cap: 48"},
       {"made(double*, double const*, int)", "cap: 48"},
       {"over(double*, double const*, int)", "cap: 56"},
       {"over(double*, double const*)", "cap: 40"},
       {"void shaped<40, (Mode)0, double>(double*, double const*, int)", "cap: 64"},
       {"void shaped<44, (Mode)1, float>(float*, float const*, int)", "cap: 48"},
       {"(anonymous namespace)::hidden(double*, double const*, int)", "cap: 40"},
       {"last", "cap: 72"}});
  const Words Tail = {"-O3", "-Iinclude", "-c", "src/k.cu", "-o"};
  Words Compile = Archs;
  Compile.insert(Compile.end(), Tail.begin(), Tail.end());
  Compile.push_back("k.o");
  build(Compile, {"CARVE_PROFILE=profile.yaml"});
  ImageKernels Tuned = kernelsOf("k.o");

  std::map<std::string, std::string> Codes = codes({"--as=patch"});
  for (const char *Name : {"app::inHeader", "over", "void shaped<40, ", "last"})
    EXPECT_EQ(Codes[Name], "same code") << Name << log();
  EXPECT_EQ(Written["app::inHeader"], "__maxnreg__(48)");
  EXPECT_EQ(Codes["made"],
            "no definition of it is written at src/k.cu:3: a macro makes it, or the source "
            "has changed since it was compiled");
  applyPatch();
  EXPECT_EQ(read("include/app/kernels.cuh").size(), sizeof(Header) - 1 + 16);
  EXPECT_NE(read("include/app/kernels.cuh")
                .find("void\t__maxnreg__(48) inHeader(double *Y, const "
                      "double *X, int N) {\r\n\tmix"),
            std::string::npos);
  EXPECT_EQ(read("src/k.cu").back(), '}');
  Compile.back() = "plain.o";
  buildPlain(Compile);
  ImageKernels Plain = kernelsOf("plain.o");
  ASSERT_EQ(Plain.size(), Tuned.size());
  // The instantiation without a decision keeps its code, too.
  EXPECT_NE(read("src/k.cu").find("static_cast<long long>(M) == 1 && __is_same(T, double) ? "),
            std::string::npos);
  for (const auto &[Name, K] : Tuned) {
    if (Name.find("made") == std::string::npos) {
      EXPECT_EQ(K.CodeDigest, Plain[Name].CodeDigest) << Name;
    }
  }
}

TEST_F(Export, launchBounds_appliedSource_hasTheDecisionsRegisters) {
  keepKernels({"bulky", "steady", "bounded"});
  pin({{"bulky(double*, double const*, int)", "cap: 64"},
       {"bounded(double*, double const*, int)", "cap: 32"},
       {"steady(double*, double const*, int)", "frontend-cap: 32"}});
  Words Compile = Archs;
  Compile.insert(Compile.end(), {"-O3", "-c", "three.cu", "-o", "three.o"});
  build(Compile, {"CARVE_PROFILE=profile.yaml"});
  std::map<std::string, std::string> Codes = codes({"--as=launch-bounds", "--max-threads=128"});
  EXPECT_EQ(Written["bulky"], "__launch_bounds__(128, 8)");
  EXPECT_EQ(Written["bounded"], "__launch_bounds__(1024, 2)");
  EXPECT_EQ(Codes["bounded"], "same code");
  EXPECT_EQ(Codes["steady"], "no attribute can express frontend-cap 32");
  // What is written can be applied, and the registers are those of the decision.
  applyPatch();
  EXPECT_NE(read("three.cu").find("__launch_bounds__(1024, 2) bounded("), std::string::npos);
  buildPlain(Compile);
  ImageKernels Plain = kernelsOf("three.o");
  EXPECT_EQ(Plain[Bulky].Resources.RegsPerThread, 64u);
  EXPECT_EQ(Plain[Bounded].Resources.RegsPerThread, 32u);

  // From here on the source differs from the one that was compiled.
  CommandResult R = carve(withProfile({"--as=maxnreg", "bulky"}));
  EXPECT_NE(R.Stdout.find("code     same code"), std::string::npos) << "its attribute is replaced\n"
                                                                    << R.Stdout << R.Stderr;
  std::string Edited = read("three.cu");
  Edited.replace(Edited.find("mix<40>"), 7, "mix<41>");
  write("three.cu", Edited);
  R = carve(withProfile({"--as=maxnreg", "bulky"}));
  EXPECT_NE(R.Stdout.find("the source has changed since it was compiled for tuning"),
            std::string::npos)
      << R.Stdout << R.Stderr;
  EXPECT_EQ(read("three.cu"), Edited) << "the user's file is never touched";
}

/// nvcc refuses both attributes on one kernel. An attribute that a macro hides is not seen.
TEST_F(Export, attribute_refusedByNvcc_isLeft) {
  write("mix.cuh", Mix);
  const std::string Head = "#include \"mix.cuh\"\n#define LB __launch_bounds__(128)\n",
                    Hidden = "__global__ void LB hidden(double *Y, const double *X, int N) "
                             "{ mix<40>(Y, X, N); }\n",
                    Open = "__global__ void open(double *Y, const double *X, int N) "
                           "{ mix<40>(Y, X, N); }\n";
  write("k.cu", Head + Hidden + Open);
  pin({{"hidden(double*, double const*, int)", "cap: 64"},
       {"open(double*, double const*, int)", "cap: 64"}});
  Words Compile = Archs;
  Compile.insert(Compile.end(), {"-O3", "-c", "k.cu", "-o", "k.o"});
  build(Compile, {"CARVE_PROFILE=profile.yaml"});
  std::map<std::string, std::string> Codes = codes({"--as=maxnreg"});
  EXPECT_EQ(Codes["open"], "same code") << log();
  EXPECT_TRUE(llvm::StringRef(Codes["hidden"]).starts_with("nvcc refuses __maxnreg__(64): k.cu(3"))
      << Codes["hidden"];

  // If nothing else can be exported, no file is written.
  CommandResult R = carve(withProfile({"--as=maxnreg", "-o", "none.patch", "hidden"}));
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_NE(R.Stderr.find("none of the 1 tuned kernel(s) can be exported in this form"),
            std::string::npos)
      << R.Stderr;
  EXPECT_FALSE(exists("none.patch"));

  applyPatch();
  buildPlain(Compile);
  EXPECT_EQ(kernelsOf("k.o")["_Z4openPdPKdi"].Resources.RegsPerThread, 64u);

  // Nothing can be verified for a source that does not compile.
  write("k.cu", Head + Hidden + Open + "#error changed\n");
  EXPECT_EQ(codes({"--as=maxnreg", "hidden"})["hidden"], "not verified");
}

/// A build and a shell may see different paths to the project because of a symbolic link.
TEST_F(Export, project_reachedByALink_isFound) {
  keepKernels({"bulky"});
  write("real/three.cu", read("three.cu"));
  ASSERT_FALSE(llvm::sys::fs::create_link("real", path("linked")));
  pin({{"bulky(double*, double const*, int)", "cap: 64"}});
  Words Compile = Archs;
  Compile.insert(Compile.end(), {"-O3", "-c", path("real/three.cu"), "-o", "three.o"});
  build(Compile, {"CARVE_PROFILE=profile.yaml"});
  EXPECT_EQ(codes({"--as=patch", "--dir=linked"})["bulky"], "same code");
  EXPECT_EQ(codes({"--as=patch", "--dir=real"})["bulky"], "same code");
  // Files beside a link to a part of a project do not belong to it.
  write("other/src/three.cu", read("three.cu"));
  ASSERT_FALSE(llvm::sys::fs::create_link("other/src", path("src")));
  Compile[Compile.size() - 3] = path("src/three.cu");
  build(Compile, {"CARVE_PROFILE=profile.yaml"});
  CommandResult R = carve(withProfile({"--as=patch", "--dir=other"}));
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_NE(R.Stderr.find("no source below " + path("other")), std::string::npos) << R.Stderr;
}

TEST_F(Export, flags_forAFile_areWritten) {
  keepKernels({"bulky"});
  pin({{"bulky(double*, double const*, int)", "cap: 64"}});
  Words Compile = Archs;
  Compile.insert(Compile.end(), {"-O3", "-c", "three.cu", "-o", "three.o"});
  build(Compile, {"CARVE_PROFILE=profile.yaml"});
  EXPECT_EQ(codes({"--as=flags"})["bulky"], "same code");
  EXPECT_EQ(Written["bulky"], "-Xptxas=-maxrregcount=64");
  CommandResult R = carve(withProfile({"--as=flags", "--format=make", "--no-verify"}));
  EXPECT_NE(R.Stdout.find("\nthree.o: NVCCFLAGS += -Xptxas=-maxrregcount=64\n"), std::string::npos)
      << R.Stdout << R.Stderr;
  EXPECT_NE(R.Stdout.find("not verified: not asked for"), std::string::npos) << R.Stdout;
}

/// A cap for a file also reaches a kernel that carve-nvcc leaves alone.
TEST_F(Export, relocatableCode_callingKernelIsLeft) {
  write("mix.cuh", Mix);
  write("k.cu", "#include \"mix.cuh\"\n__device__ double far(double);\n"
                "__global__ void own(double *Y, const double *X, int N) { mix<40>(Y, X, N); }\n"
                "__global__ void calls(double *Y, const double *X, int N) "
                "{ mix<40>(Y, X, N); Y[0] = far(Y[1]); }\n");
  pin({{"own(double*, double const*, int)", "cap: 64"},
       {"calls(double*, double const*, int)", "cap: 64"}});
  Words Compile = Archs;
  Compile.insert(Compile.end(), {"-O3", "-rdc=true", "-c", "k.cu", "-o", "k.o"});
  build(Compile, {"CARVE_PROFILE=profile.yaml"});
  const std::string Left = "carve-nvcc itself keeps its default: external-call",
                    Others = "kernels that are not exported get other code too";
  std::map<std::string, std::string> Codes = codes({"--as=maxnreg"});
  EXPECT_EQ(Codes["own"], "same code") << log();
  EXPECT_EQ(Codes["calls"], Left);
  EXPECT_EQ(Notes.find(Others), std::string::npos) << Notes;
  CommandResult R = carve(withProfile({"--as=flags"}));
  EXPECT_NE(R.Stdout.find(Others + ": calls("), std::string::npos) << R.Stdout;
}

TEST_F(Export, export_withoutADecision_fails) {
  keepKernels({"bulky"});
  Words Compile = Archs;
  Compile.insert(Compile.end(), {"-O3", "-c", "three.cu", "-o", "three.o"});
  build(Compile);
  CommandResult R = carve({"export", "--as=patch"});
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_NE(R.Stderr.find("is tuned: every decision is the default, or does not hold"),
            std::string::npos)
      << R.Stderr;
  R = carve({"export", "--as=patch", "nothere"});
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_NE(R.Stderr.find("has a kernel 'nothere'"), std::string::npos) << R.Stderr;
  R = carve({"export"});
  EXPECT_NE(R.Stderr.find("--as is missing"), std::string::npos) << R.Stderr;
  R = carve({"export", "--as=patch", "--dir=/"}, {"CARVE_STORE=" + path("empty")});
  EXPECT_NE(R.Stderr.find("was compiled by carve-nvcc with the store"), std::string::npos)
      << R.Stderr;
}

TEST_F(Export, check_plantedSpill_isARegression) {
  keepKernels({"bulky"});
  auto Tune = [&](const std::string &Profile) {
    build({"-O3", "-arch=sm_90", "three.cu", "-o", "app"});
    const std::string Samples = CARVE_TEST_INPUTS "/samples/three.samples";
    CommandResult R =
        carve({"tune", "--samples=" + Samples, "--profile=" + Profile, "--", "./app"});
    EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  };
  Tune("base.yaml");
  // These are the store's own decisions. The last report tells what the export loses.
  CommandResult Exported = carve({"export", "--as=patch", "-o", "export.patch"});
  ASSERT_TRUE(Exported.succeeded()) << Exported.Stderr;
  const std::string Text = read("export.patch");
  EXPECT_NE(Text.find("+__global__ void __maxnreg__(64) bulky("), std::string::npos)
      << Text << log();
  for (const char *Line : {"code     same code\n", "loses    nothing: 1."})
    EXPECT_NE(Text.find(Line), std::string::npos) << Text;
  // The summary before the patch is no part of it.
  CommandResult Fits = run({"git", "apply", "--check", "export.patch"});
  EXPECT_TRUE(Fits.succeeded()) << Fits.Stderr << Text;
  if (llvm::sys::findProgramByName("patch")) {
    Fits = run({"patch", "-p1", "--binary", "--dry-run", "-i", "export.patch"});
    EXPECT_TRUE(Fits.succeeded()) << Fits.Stdout << Fits.Stderr;
  }
  Tune("again.yaml");
  CommandResult R = carve({"check", "base.yaml", "again.yaml"});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr;
  // With two more values the kernel that is tuned to 64 registers spills more.
  std::string Source = read("three.cu");
  Source.replace(Source.find("mix<40>"), 7, "mix<42>");
  write("three.cu", Source);
  Tune("new.yaml");
  R = carve({"check", "base.yaml", "new.yaml"});
  EXPECT_EQ(R.ExitStatus, 1) << R.Stdout << R.Stderr;
  EXPECT_NE(R.Stdout.find("spill-increase: "), std::string::npos) << R.Stdout;
  EXPECT_NE(R.Stdout.find("1 regression(s)"), std::string::npos) << R.Stdout;
  R = carve({"check", "--format=sarif", "base.yaml", "new.yaml"});
  unsigned Line = 1 + llvm::StringRef(Source).take_front(Source.find("mix<42>")).count('\n');
  EXPECT_NE(R.Stdout.find("\"startLine\": " + std::to_string(Line)), std::string::npos) << R.Stdout;
}
