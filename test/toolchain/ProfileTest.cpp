// Decisions by hand. A profile that caps one kernel reaches that kernel and nothing else. A
// decision that cannot be applied leaves nvcc's output, and the log says why.
#include "BuiltTools.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;

namespace {

struct Case {
  const char *Name;
  std::vector<std::string> Arguments;
  /// The kernels of three.cu that are compiled; all if empty. The objects have all of them, so the
  /// executables need only some.
  std::vector<std::string> Kernels = {};
};

void PrintTo(const Case &C, std::ostream *OS) { *OS << C.Name; }

class ProfileCases : public BuiltToolsTest, public testing::WithParamInterface<Case> {};
class ProfileByHand : public BuiltToolsTest {
protected:
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"};
  const Words WithProfile = {"CARVE_PROFILE=profile.yaml"};

  /// Checks that the profile changes nothing in the object, for a reason that the log names.
  /// Returns the object's kernels.
  ImageKernels expectLeft(const Words &Arguments, llvm::StringRef Reason);
  void expectRefused(const std::string &Profile, llvm::StringRef Message);
  /// Makes the folder out, with three.o in it as \p Kind says.
  void prepareOutput(llvm::StringRef Kind);
  /// Returns the kind, the permissions and the number of names of each file in \p Folder.
  std::string shapeOf(const std::string &Folder) const;
};

constexpr char Second[] = R"(
__global__ void second(float *Y, int N) {
  for (int I = 0; I < N; ++I)
    Y[I * blockDim.x + threadIdx.x] *= 1.5f;
}
void runSecond(float *Y) { second<<<1, 32>>>(Y, 8); }
)";

const Case Cases[] = {
    {"object", {"-O3", "-c", "three.cu", "-o", "out"}},
    {"lineinfo", {"-lineinfo", "-c", "three.cu", "-o", "out"}},
    {"relocatable", {"-rdc=true", "-c", "three.cu", "-o", "out"}},
    {"executable", {"-O3", "three.cu", "-o", "out"}, {"bulky", "hidden"}},
    {"several_sources", {"three.cu", "second.cu", "host.cpp", "-o", "out"}, {"bulky"}},
    {"relocatable_executable",
     {"-rdc=true", "three.cu", "second.cu", "-o", "out"},
     {"bulky", "hidden"}},
};

void ProfileByHand::prepareOutput(llvm::StringRef Kind) {
  llvm::sys::fs::remove_directories(path("out"));
  write("out/real", Kind.starts_with("empty") ? "" : "an older object");
  ::chmod(path("out/real").c_str(), 0604);
  if (Kind == "hard link")
    ASSERT_EQ(::link(path("out/real").c_str(), path("out/three.o").c_str()), 0);
  else
    ASSERT_EQ(::symlink("real", path("out/three.o").c_str()), 0);
  if (Kind == "dangling link")
    ::unlink(path("out/real").c_str());
}

std::string ProfileByHand::shapeOf(const std::string &Folder) const {
  std::set<std::string> Lines;
  std::error_code Failed;
  for (llvm::sys::fs::directory_iterator It(path(Folder), Failed, false), End; It != End && !Failed;
       It.increment(Failed)) {
    struct stat S;
    EXPECT_EQ(::lstat(It->path().c_str(), &S), 0);
    Lines.insert(llvm::formatv("{0} {1:x} {2}", llvm::sys::path::filename(It->path()), S.st_mode,
                               S.st_nlink));
  }
  return llvm::join(Lines, "\n");
}

} // namespace

TEST_P(ProfileCases, profile_capsOneKernel_nothingElseChanges) {
  write("second.cu", Second);
  if (!GetParam().Kernels.empty())
    keepKernels(GetParam().Kernels);
  Words Arguments = {"-arch=sm_90", "--no-compress"};
  Arguments.insert(Arguments.end(), GetParam().Arguments.begin(), GetParam().Arguments.end());
  const std::string Output = "out";
  build(Arguments);
  std::string Before = read(Output);
  ImageKernels Default = kernelsOf(Output);
  ASSERT_GT(Default[Bulky].Resources.RegsPerThread, BulkyCap);

  writeProfile(BulkyName, BulkyCap);
  const Words WithProfile = {"CARVE_PROFILE=profile.yaml"};
  build(Arguments, WithProfile);
  ImageKernels Tuned = kernelsOf(Output);
  EXPECT_EQ(Tuned[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  expectSameCode(Default, Tuned, {Bulky});
  if (Before.substr(16, 1) == std::string(1, '\x01')) { // A relocatable object has groups.
    write("before", Before);
    std::string Groups = run({"readelf", "-gW", "before"}).Stdout;
    EXPECT_NE(Groups.find("COMDAT"), std::string::npos);
    EXPECT_EQ(run({"readelf", "-gW", Output}).Stdout, Groups);
  }
  std::string First = read(Output);
  build(Arguments, WithProfile);
  EXPECT_TRUE(read(Output) == First) << "a second build differs";
}

INSTANTIATE_TEST_SUITE_P(, ProfileCases, testing::ValuesIn(Cases),
                         [](const auto &Info) { return std::string(Info.param.Name); });

TEST_F(ProfileByHand, profile_removed_objectIsNvccs) {
  keepKernels({"bulky", "hidden"});
  buildPlain(Object);
  std::string Wanted = stripped("three.o");
  writeProfile(BulkyName, BulkyCap);
  build(Object, WithProfile);
  EXPECT_FALSE(stripped("three.o") == Wanted);
  build(Object);
  EXPECT_TRUE(stripped("three.o") == Wanted);
}

TEST_F(ProfileByHand, tunedObject_linksWithEveryLinker) {
  keepKernels({"bulky", "hidden"});
  writeProfile(BulkyName, BulkyCap);
  build(Object, WithProfile);
  for (llvm::StringRef Linker : {"bfd", "gold", "lld"}) {
    if (!llvm::sys::findProgramByName("ld." + Linker.str())) {
      std::fprintf(stderr, "no ld.%s here: not tried\n", Linker.str().c_str());
      continue;
    }
    buildPlain({"three.o", "-o", "app", "-Xcompiler", "-fuse-ld=" + Linker.str()});
    EXPECT_EQ(kernelsOf("app")[Bulky].Resources.RegsPerThread, BulkyCap) << Linker.str();
  }
}

TEST_F(ProfileByHand, profile_namesAnArchitecture_onlyThatOneChanges) {
  keepKernels({"bulky", "hidden"});
  Words Arguments = {"-gencode=arch=compute_80,code=sm_80",
                     "-gencode=arch=compute_90,code=[sm_90,compute_90]", "--no-compress", "-c",
                     "three.cu"};
  build(Arguments);
  auto Default = deviceImages(read("three.o"));
  writeProfile(BulkyName, BulkyCap, "    arch: sm_90\n");
  build(Arguments, WithProfile);
  auto Tuned = deviceImages(read("three.o"));
  ASSERT_EQ(Tuned.size(), 2u);
  expectSameCode(Default[80], Tuned[80], {});
  expectSameCode(Default[90], Tuned[90], {Bulky});
  EXPECT_EQ(Tuned[90][Bulky].Resources.RegsPerThread, BulkyCap);
}

TEST_F(ProfileByHand, kernel_inAnAnonymousNamespace_isNamedAsInTheSource) {
  keepKernels({"bulky", "hidden"});
  build(Object);
  ImageKernels Default = kernelsOf("three.o");
  // Its mangled name holds a hash of the file.
  writeProfile("(anonymous namespace)::hidden(double*, double const*, int)", 40);
  build(Object, WithProfile);
  ImageKernels Tuned = kernelsOf("three.o");
  unsigned Changed = 0;
  for (const auto &[Name, K] : Tuned)
    if (K.CodeDigest != Default[Name].CodeDigest) {
      ++Changed;
      EXPECT_NE(Name.find("hidden"), std::string::npos) << Name;
      EXPECT_EQ(K.Resources.RegsPerThread, 40u);
    }
  EXPECT_EQ(Changed, 1u) << log();
}

ImageKernels ProfileByHand::expectLeft(const Words &Arguments, llvm::StringRef Reason) {
  build(Arguments);
  std::string Before = read("three.o");
  build(Arguments, WithProfile);
  EXPECT_TRUE(read("three.o") == Before) << log();
  EXPECT_TRUE(logSays(Reason)) << log();
  return kernelsOf("three.o");
}

TEST_F(ProfileByHand, decision_staleUnknownOrForbidden_changesNothing) {
  keepKernels({"bulky", "hidden"});
  writeProfile(BulkyName, BulkyCap, "    digest: \"00000000000000000000000000000000\"\n");
  expectLeft(Object, "stale");
  writeProfile("no_such(int)", BulkyCap);
  expectLeft(Object, "");
  writeProfile(BulkyName, BulkyCap, "    arch: sm_80\n");
  expectLeft(Object, "");
  writeProfile(BulkyName, BulkyCap);
  Words Capped = Object;
  Capped.push_back("-maxrregcount=48");
  expectLeft(Capped, "above the command's own -maxrregcount=48");
}

TEST_F(ProfileByHand, capOfTheUser_isACeilingOnly) {
  keepKernels({"bulky", "hidden"});
  Words Capped = Object;
  Capped.insert(Capped.end(), {"-Xptxas", "-maxrregcount=80"});
  build(Capped);
  ImageKernels Default = kernelsOf("three.o");
  writeProfile(BulkyName, BulkyCap);
  build(Capped, WithProfile);
  ImageKernels Tuned = kernelsOf("three.o");
  EXPECT_EQ(Tuned[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  expectSameCode(Default, Tuned, {Bulky});
}

TEST_F(ProfileByHand, largestBlock_shrinksOnlyIfAllowed) {
  keepKernels({"bounded"});
  writeProfile(BoundedName, 128);
  EXPECT_EQ(expectLeft(Object, "would shrink the largest block from 1024 to 512 threads")[Bounded]
                .Resources.RegsPerThread,
            64u);
  Words Traced = Object;
  Traced.push_back("--carve-launch-domain=traced");
  build(Traced, WithProfile);
  EXPECT_EQ(kernelsOf("three.o")[Bounded].Resources.RegsPerThread, 128u) << log();
}

void ProfileByHand::expectRefused(const std::string &Profile, llvm::StringRef Message) {
  SCOPED_TRACE(Profile);
  write("profile.yaml", Profile);
  write("three.o", "an older object");
  CommandResult R = carveNvcc(Object, WithProfile);
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_EQ(R.Stdout, "");
  EXPECT_EQ(llvm::StringRef(R.Stderr).count('\n'), 1u) << R.Stderr;
  EXPECT_TRUE(llvm::StringRef(R.Stderr).starts_with("carve-nvcc: error: profile.yaml:"))
      << R.Stderr;
  EXPECT_NE(R.Stderr.find(Message), std::string::npos) << R.Stderr;
  EXPECT_EQ(read("three.o"), "an older object");
  EXPECT_EQ(read("profile.yaml"), Profile);
  expectNoTemporaries();
}

TEST_F(ProfileByHand, malformedProfile_isOneMessageAndNoOutput) {
  expectRefused("", "carve-profile");
  expectRefused("kernels: [", "profile.yaml:1");
  expectRefused("carve-profile: 99\nkernels: []\n", "99");
  expectRefused("carve-profile: 1\nkernels:\n  - kernel: \"k\"\n    variant: {cap: 300}\n", "300");
  expectRefused("carve-profile: 1\nkernels:\n  - kernel: \"k\"\n    variant: {cpa: 30}\n", "cpa");
  expectRefused("carve-profile: 1\nkernels:\n  - variant: {cap: 30}\n", "'kernel'");
}

TEST_F(ProfileByHand, unreadableProfile_fails) {
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("profile.yaml")));
  CommandResult R = carveNvcc(Object, WithProfile);
  EXPECT_EQ(R.ExitStatus, 1) << R.Stderr;
  EXPECT_EQ(llvm::StringRef(R.Stderr).count('\n'), 1u) << R.Stderr;
  EXPECT_FALSE(exists("three.o"));
}

TEST_F(ProfileByHand, fileCap_isWhatNvccMakesWithThatCap) {
  keepKernels({"bulky", "hidden"});
  write("profile.yaml", "carve-profile: 1\nfile-cap: 40\nkernels: []\n");
  Words Capped = Object;
  Capped.push_back("-maxrregcount=40");
  buildPlain(Capped);
  std::string Wanted = stripped("three.o");
  Words Arguments = Object;
  Arguments.push_back("--carve-scope=file");
  build(Arguments, WithProfile);
  EXPECT_TRUE(stripped("three.o") == Wanted) << log();
  Arguments.push_back("-maxrregcount=32");
  expectLeft(Arguments, "above-register-cap");

  Words Program = {"-arch=sm_90", "--no-compress", "three.cu", "-o", "app"};
  build(Program, WithProfile);
  EXPECT_EQ(kernelsOf("app")[Bulky].Resources.RegsPerThread, 40u) << log();
}

TEST_F(ProfileByHand, output_thatIsThere_isLeftOrRemovedAsByAFailingNvcc) {
  writeProfile(BulkyName, BulkyCap);
  write("undefined.cu", "void nowhere();\n__global__ void k() {}\n"
                        "int main() { k<<<1, 1>>>(); nowhere(); }\n");
  write("wrong-assembly.cu", "__global__ void k() {}\nasm(\".no_such_directive\");\n");
  write("wrong-syntax.cu", "__global__ void k( {}\n");
  const Words Commands[] = {{"undefined.cu", "-o", "out/old"},
                            {"-c", "wrong-assembly.cu", "-o", "out/old"},
                            {"-c", "wrong-syntax.cu", "-o", "out/old"}};
  for (const Words &Arguments : Commands) {
    std::string Left[2];
    for (bool Decided : {false, true}) {
      write("out/old", "an older output");
      CommandResult Ended = Decided ? carveNvcc(Arguments, WithProfile) : plain(Arguments);
      EXPECT_NE(Ended.ExitStatus, 0);
      Left[Decided] = exists("out/old") ? read("out/old") : "none";
    }
    EXPECT_EQ(Left[true], Left[false]) << testing::PrintToString(Arguments);
  }
}

TEST_F(ProfileByHand, output_thatNvccDoesNotMake_staysAsItWas) {
  keepKernels({"bulky", "hidden"});
  writeProfile(BulkyName, BulkyCap);
  Words Checked = Object;
  Checked.insert(Checked.begin(), {"-Xcompiler", "-fsyntax-only"});
  for (const char *Old : {"an older object", ""}) {
    if (*Old)
      write("three.o", Old);
    else
      ::unlink(path("three.o").c_str());
    CommandResult Plain = plain(Checked);
    CommandResult Decided = carveNvcc(Checked, WithProfile);
    EXPECT_EQ(Decided.ExitStatus, Plain.ExitStatus);
    EXPECT_EQ(exists("three.o") ? read("three.o") : "", Old);
  }
}

// The shape of nvcc's output does not depend on the source, so nvcc compiles a shorter one. Without
// a decision nvcc itself writes the output, so two of the pairs are enough.
TEST_F(ProfileByHand, output_thatIsThere_endsAsWithNvcc) {
  keepKernels({"bulky"});
  const Words Program = {"-arch=sm_90", "--no-compress", "three.cu", "-o", "out/three.o"},
              InFolder = {"-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "out/three.o"};
  const std::pair<std::string, Words> Undecided[] = {{"empty symbolic link", InFolder},
                                                     {"hard link", Program}};
  for (const std::string Kind :
       {"symbolic link", "empty symbolic link", "dangling link", "hard link"})
    for (const Words &Arguments : {InFolder, Program}) {
      SCOPED_TRACE(Kind + testing::PrintToString(Arguments));
      Words Plain = Arguments;
      *llvm::find(Plain, "three.cu") = "main.cu";
      prepareOutput(Kind);
      buildPlain(Plain);
      const std::string Wanted = shapeOf("out");
      // With the first cap nvcc compiles. The store makes the object with the second.
      std::vector<unsigned> Caps = {BulkyCap};
      if (Arguments == InFolder)
        Caps.push_back(BulkyCap + 8);
      for (unsigned Cap : Caps) {
        writeProfile(BulkyName, Cap);
        prepareOutput(Kind);
        build(Arguments, WithProfile);
        EXPECT_EQ(shapeOf("out"), Wanted);
        EXPECT_EQ(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, Cap) << log();
      }
      if (!llvm::is_contained(Undecided, std::pair(Kind, Arguments)))
        continue;
      prepareOutput(Kind);
      build(Arguments);
      EXPECT_EQ(shapeOf("out"), Wanted) << "without a decision";
      EXPECT_GT(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, BulkyCap + 8);
    }
}

TEST_F(ProfileByHand, output_withoutRoomForATemporary_isTunedInPlace) {
  keepKernels({"bulky", "hidden"});
  writeProfile(BulkyName, BulkyCap);
  Words Arguments = Object;
  Arguments.back() = "out/" + std::string(240, 'n');
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("out")));
  build(Arguments, WithProfile);
  EXPECT_EQ(kernelsOf(Arguments.back())[Bulky].Resources.RegsPerThread, BulkyCap) << log();

  // The kernel must check permissions for root, too, as in a container without these capabilities.
  Words Unprivileged;
  if (::geteuid() == 0)
    Unprivileged = {"setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"};
  Unprivileged.push_back(CARVE_NVCC_PROGRAM);
  Unprivileged.insert(Unprivileged.end(), Object.begin(), Object.end());
  Unprivileged.back() = "out/three.o";
  write("out/three.o", "an older object");
  ASSERT_EQ(::chmod(path("out").c_str(), 0555), 0);
  CommandResult R = run(Unprivileged, environment(WithProfile));
  ASSERT_EQ(::chmod(path("out").c_str(), 0755), 0);
  EXPECT_EQ(R.ExitStatus, 0) << R.Stderr;
  EXPECT_EQ(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  expectNoTemporaries();
}
