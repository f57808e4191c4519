// Shared objects made in one step. They are nvcc's own if nothing is decided. With a decision they
// are the same except for the device code.
#include "BuiltTools.h"
#include "Store/StoreUpkeep.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Program.h"

#include <map>
#include <set>

using namespace carve;

namespace {

class SharedObject : public BuiltToolsTest {
protected:
  const Words Library = {"-O3",
                         "-arch=sm_90",
                         "--no-compress",
                         "-shared",
                         "-Xcompiler",
                         "-fPIC,-fvisibility=hidden",
                         "-Xlinker",
                         "-soname,libthree.so.1,--build-id=none",
                         "three.cu",
                         "api.cpp",
                         "-o",
                         "libthree.so"};
  const std::string Samples =
      std::string("--carve-samples=") + CARVE_TEST_INPUTS "/samples/three.samples";

  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    keepKernels({"bulky", "steady"});
    write("api.cpp", "extern \"C\" __attribute__((visibility(\"default\"))) int api() { return 7; "
                     "}\nextern \"C\" int hidden() { return 8; }\n");
  }

  /// Returns its dynamic symbols: name, type, binding and visibility.
  std::multiset<std::string> symbols() {
    std::multiset<std::string> Found;
    std::string Text = run({"readelf", "--dyn-syms", "-W", "libthree.so"}).Stdout;
    llvm::SmallVector<llvm::StringRef> Lines, Words;
    llvm::StringRef(Text).split(Lines, '\n');
    for (llvm::StringRef Line : Lines) {
      Words.clear();
      Line.split(Words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      if (Words.size() >= 8 && Words[0] != "Num:")
        Found.insert((Words[3] + " " + Words[4] + " " + Words[5] + " " + Words[7]).str());
    }
    return Found;
  }
  std::string soname() {
    std::string Text = run({"readelf", "-d", "libthree.so"}).Stdout;
    return llvm::StringRef(Text).split("soname: ").second.split('\n').first.str();
  }
  /// Returns the names and sizes of the sections that the host uses. Addresses in them move with
  /// the device code.
  std::map<std::string, size_t> hostSections() {
    std::map<std::string, size_t> Sizes;
    std::string Bytes = read("libthree.so");
    for (const char *Name : {".text", ".rodata", ".init_array", ".dynsym", ".dynstr", ".plt"})
      Sizes[Name] = sectionOf(Bytes, Name).value_or("").size();
    return Sizes;
  }
  unsigned bulkyRegs() { return kernelsOf("libthree.so")[Bulky].Resources.RegsPerThread; }
};

} // namespace

TEST_F(SharedObject, sharedObject_withoutADecision_isNvccs) {
  buildPlain(Library);
  std::string Wanted = stripped("libthree.so");
  build(Library);
  EXPECT_TRUE(stripped("libthree.so") == Wanted);
  EXPECT_EQ(storeStats(store()).Units, 1u);
  EXPECT_TRUE(storeStats(store()).Passthroughs.empty());
}

TEST_F(SharedObject, decision_changesOnlyTheDeviceCode) {
  buildPlain(Library);
  ImageKernels Default = kernelsOf("libthree.so");
  std::multiset<std::string> Symbols = symbols();
  std::map<std::string, size_t> Host = hostSections();
  EXPECT_EQ(soname(), "[libthree.so.1]");
  EXPECT_EQ(Symbols.count("FUNC GLOBAL DEFAULT api"), 1u);

  writeProfile(BulkyName, BulkyCap);
  build(Library, {"CARVE_PROFILE=" + path("profile.yaml")});
  ImageKernels Tuned = kernelsOf("libthree.so");
  EXPECT_EQ(Tuned[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  expectSameCode(Default, Tuned, {Bulky});
  EXPECT_EQ(symbols(), Symbols);
  EXPECT_EQ(soname(), "[libthree.so.1]");
  EXPECT_EQ(hostSections(), Host);

  // The paper's method, a cap for the whole file, gives the same.
  writeProfile(BulkyName, BulkyCap, "file-cap: 64\n");
  build(Library, {"CARVE_PROFILE=" + path("profile.yaml"), "CARVE_STORE=" + path("other")});
  EXPECT_LE(bulkyRegs(), 64u) << log();
  EXPECT_EQ(symbols(), Symbols);
}

TEST_F(SharedObject, sharedObject_tuned_canBeLoadedAndCalled) {
  if (!llvm::sys::findProgramByName("python3"))
    GTEST_SKIP() << "no python3 here";
  writeProfile(BulkyName, BulkyCap);
  build(Library, {"CARVE_PROFILE=" + path("profile.yaml")});
  CommandResult R = run({"python3", "-c",
                         "import ctypes; l = ctypes.CDLL('./libthree.so'); print(l.api(), "
                         "hasattr(l, 'hidden'))"});
  EXPECT_EQ(R.Stdout, "7 False\n") << R.Stderr;
}

TEST_F(SharedObject, tuning_ofItsHost_isEmittedByTheNextBuild) {
  build(Library);
  unsigned Default = bulkyRegs();
  ASSERT_GT(Default, BulkyCap);
  CommandResult R = carve(
      {"tune", "--samples=" + Samples.substr(Samples.find('=') + 1), "--", "python3", "host.py"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  EXPECT_EQ(bulkyRegs(), Default);
  build(Library);
  EXPECT_EQ(bulkyRegs(), BulkyCap) << log();
  std::string First = read("libthree.so");
  build(Library);
  EXPECT_TRUE(read("libthree.so") == First) << log();
}

// A decision made with one program applies to the object in all its programs. A workload for the
// object has to be named by hand.
TEST_F(SharedObject, workloadByHand_isTuned) {
  Words ByHand = Library;
  ByHand.insert(ByHand.end(), {Samples, "--carve-run=python3 host.py"});
  build(ByHand);
  EXPECT_EQ(bulkyRegs(), BulkyCap) << log();
  EXPECT_EQ(storeStats(store()).Reports, 1u);
  std::string Report = carve({"report"}).Stdout;
  EXPECT_NE(Report.find("python3 host.py on "), std::string::npos) << Report;
}

// With a GPU, or what looks like one, an executable is run to tune it.
TEST_F(SharedObject, sharedObject_isNeverRunByItself) {
  const std::string Pretend =
      "mkdir dev && mount -t tmpfs none dev || exit 99; for F in null zero urandom; do "
      "touch dev/$F && mount --bind /dev/$F dev/$F || exit 99; done; touch dev/nvidia0; "
      "mount --rbind dev /dev || exit 99; exec \"$0\" \"$@\"";
  auto BuildWithGpu = [&](Words Arguments) {
    llvm::sys::fs::remove_directories(path("dev"));
    llvm::sys::fs::remove(path("carve.log"));
    Words Argv = {"unshare", "--mount", "sh", "-c", Pretend, CARVE_NVCC_PROGRAM};
    Argv.insert(Argv.end(), Arguments.begin(), Arguments.end());
    return run(Argv, environment({"CUDA_VISIBLE_DEVICES"}));
  };
  CommandResult R = BuildWithGpu({"-arch=sm_90", "three.cu", "-o", "app"});
  if (R.ExitStatus == 99 || llvm::StringRef(R.Stderr).starts_with("unshare:"))
    GTEST_SKIP() << "no device directory of our own can be mounted here";
  EXPECT_TRUE(logSays("run: " + path("app"))) << log();
  R = BuildWithGpu(Library);
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  EXPECT_FALSE(logSays("run: " + path("libthree.so"))) << log();
  EXPECT_FALSE(logSays("not tuned: no GPU")) << log();
}

TEST_F(SharedObject, relocatableDeviceCode_isTunedAndLinks) {
  Words Relocatable = Library;
  Relocatable.push_back("-rdc=true");
  buildPlain(Relocatable);
  std::string Wanted = stripped("libthree.so");
  build(Relocatable);
  EXPECT_TRUE(stripped("libthree.so") == Wanted) << log();
  writeProfile(BulkyName, BulkyCap);
  build(Relocatable, {"CARVE_PROFILE=" + path("profile.yaml")});
  EXPECT_EQ(bulkyRegs(), BulkyCap) << log();
}
