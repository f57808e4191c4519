// Several architectures in one unit: only the image that was tuned is replaced, the other images
// and the PTX stay, and decisions for several GPUs coexist. Recorded samples take the place of an
// H200 and, with changed numbers, of an A100.
#include "BuiltTools.h"

#include "Store/Profile.h"
#include "Store/ProfileReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELF.h"

using namespace carve;

namespace {

const std::string H200 = CARVE_TEST_INPUTS "/samples/three.samples";

/// The parts of a container, byte for byte.
struct ContainerParts {
  std::map<unsigned, std::string> Cubins;
  std::vector<std::string> Ptx;
};

std::string replaced(std::string Text, llvm::StringRef From, llvm::StringRef To) {
  EXPECT_NE(Text.find(From), std::string::npos) << From.str();
  for (size_t At = 0; (At = Text.find(From, At)) != std::string::npos; At += To.size())
    Text.replace(At, From.size(), To);
  return Text;
}

/// Returns the ELF file at the start of \p Bytes, up to the end of its two tables.
std::string elfAt(llvm::StringRef Bytes) {
  llvm::object::ELF64LE::Ehdr Header;
  std::memcpy(&Header, Bytes.data(), sizeof(Header));
  uint64_t Sections = Header.e_shoff + uint64_t(Header.e_shnum) * Header.e_shentsize;
  uint64_t Segments = Header.e_phoff + uint64_t(Header.e_phnum) * Header.e_phentsize;
  return Bytes.take_front(std::max(Sections, Segments)).str();
}

/// Returns the parts of the container of an object that was made with --no-compress.
ContainerParts partsOf(llvm::StringRef Object) {
  ContainerParts Parts;
  std::string Section = sectionOf(Object, ".nv_fatbin").value_or("");
  llvm::StringRef Bytes = Section;
  constexpr llvm::StringLiteral Magic("\x7f"
                                      "ELF\x02\x01");
  for (size_t At = Bytes.find(Magic); At != llvm::StringRef::npos; At = Bytes.find(Magic, At + 1)) {
    llvm::Expected<Cubin> Image = parseCubin(Bytes.drop_front(At));
    if (Image)
      Parts.Cubins[Image->SmVersion] = elfAt(Bytes.drop_front(At));
    else
      llvm::consumeError(Image.takeError());
  }
  for (size_t At = Bytes.find("\n.version "); At != llvm::StringRef::npos;
       At = Bytes.find("\n.version ", At + 1))
    Parts.Ptx.push_back(Bytes.drop_front(At).split('\0').first.str());
  return Parts;
}

class Architectures : public BuiltToolsTest {
protected:
  const Words Two = {"-O3",
                     "-gencode=arch=compute_80,code=sm_80",
                     "-gencode=arch=compute_90,code=[sm_90,compute_90]",
                     "--no-compress",
                     "-c",
                     "three.cu",
                     "-o",
                     "three.o"};
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (!IsSkipped())
      keepKernels({"bulky", "steady"});
  }
  static Words object(const Words &Architecture) {
    Words Arguments = {"-O3", "--no-compress", "-c", "three.cu", "-o", "three.o"};
    Arguments.insert(Arguments.begin(), Architecture.begin(), Architecture.end());
    return Arguments;
  }

  /// Returns the recording as an A100 would have made it. There bulky is fastest at 80.
  std::string a100();
  /// Tunes what was built, and writes profile.yaml, too.
  void tune(const std::string &Samples);
  void expectOnlyOneImageChanges(const Words &Arguments, size_t PtxTexts);
  unsigned bulkyRegs(unsigned Sm) {
    return deviceImages(read("three.o"))[Sm][Bulky].Resources.RegsPerThread;
  }
};

std::string Architectures::a100() {
  std::string Text = llvm::cantFail(readFile(H200));
  Text = replaced(Text, "NVIDIA H200\tGPU-0\t9\t0\t132\t150109880320",
                  "NVIDIA A100\tGPU-0\t8\t0\t108\t85899345920");
  Text = replaced(Text, "\t233472\t232448\t", "\t167936\t166912\t");
  Text = replaced(Text, "_Z5bulkyPdPKdi\tr64\t", "_Z5bulkyPdPKdi\tr-\t");
  Text = replaced(Text, "_Z5bulkyPdPKdi\tr80\t", "_Z5bulkyPdPKdi\tr64\t");
  Text = replaced(Text, "_Z5bulkyPdPKdi\tr-\t", "_Z5bulkyPdPKdi\tr80\t");
  // The A100 has other critical points.
  for (const char *Kernel : {Bulky, Steady, Noisy})
    for (unsigned Cap = 24; Cap < 256; ++Cap) {
      std::string Sample = "sample\t" + std::string(Kernel) + "\tr" + std::to_string(Cap) + "\t";
      if (Text.find(Sample) == std::string::npos)
        Text += Sample + "9000000\n";
    }
  write("a100.samples", Text);
  return path("a100.samples");
}

void Architectures::tune(const std::string &Samples) {
  CommandResult R =
      carve({"tune", "--samples=" + Samples, "--profile=profile.yaml", "--", "./app"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
}

void Architectures::expectOnlyOneImageChanges(const Words &Arguments, size_t PtxTexts) {
  build(Arguments);
  ContainerParts Before = partsOf(read("three.o"));
  auto Default = deviceImages(read("three.o"));
  ASSERT_EQ(Before.Ptx.size(), PtxTexts);
  ASSERT_EQ(Before.Cubins.count(90), 1u);
  ASSERT_GT(Before.Cubins.size(), 1u);
  tune(H200);
  build(Arguments);
  ContainerParts After = partsOf(read("three.o"));
  EXPECT_TRUE(After.Ptx == Before.Ptx);
  ASSERT_EQ(After.Cubins.size(), Before.Cubins.size());
  for (const auto &[Sm, Bytes] : Before.Cubins)
    EXPECT_EQ(After.Cubins[Sm] == Bytes, Sm != 90) << "sm_" << Sm;
  auto Tuned = deviceImages(read("three.o"));
  EXPECT_EQ(Tuned[90][Bulky].Resources.RegsPerThread, 64u) << log();
  expectSameCode(Default[90], Tuned[90], {Bulky});
}

} // namespace

TEST_F(Architectures, tuning_ofOneImage_leavesOtherImagesAndPtx) {
  expectOnlyOneImageChanges(Two, 1);
}

TEST_F(Architectures, allMajorArchitectures_onlyTheTunedImageChanges) {
  expectOnlyOneImageChanges(object({"-arch=all-major"}), 1);
}

TEST_F(Architectures, decisions_forTwoGpus_coexist) {
  build(Two);
  ContainerParts Default = partsOf(read("three.o"));
  tune(H200);
  std::string One = read("profile.yaml");
  tune(a100());
  build(Two);
  EXPECT_EQ(bulkyRegs(90), 64u) << log();
  EXPECT_EQ(bulkyRegs(80), 80u) << log();
  EXPECT_TRUE(partsOf(read("three.o")).Ptx == Default.Ptx);
  std::string First = read("three.o"), Both = read("profile.yaml");

  // Each tuning leaves the other one's entries alone, and a third tuning changes nothing.
  Profile P = llvm::cantFail(parseProfile(Both, "both"));
  llvm::erase_if(P.Kernels, [](const Decision &D) { return D.Arch != "sm_90"; });
  EXPECT_EQ(printProfile(P), One);
  tune(H200);
  EXPECT_EQ(read("profile.yaml"), Both);
  build(Two);
  EXPECT_TRUE(read("three.o") == First) << log();

  // The profile alone gives the same bytes, and so does the merge of two that were made separately.
  build(Two, {"CARVE_STORE=" + path("fresh"), "CARVE_PROFILE=profile.yaml"});
  EXPECT_TRUE(read("three.o") == First) << log();
  llvm::sys::fs::remove(path("profile.yaml"));
  tune(a100());
  write("one.yaml", One);
  EXPECT_TRUE(carve({"merge", "one.yaml", "profile.yaml", "-o", "merged.yaml"}).succeeded());
  build(Two, {"CARVE_STORE=" + path("fresher"), "CARVE_PROFILE=merged.yaml"});
  EXPECT_TRUE(read("three.o") == First) << log();
}

// A decision for sm_90 code does not apply to an object for sm_80, although the driver of an sm_90
// device would compile its PTX.
TEST_F(Architectures, decision_ofACompiledImage_addsNoImage) {
  build(object({"-arch=sm_90"}));
  tune(H200);
  const Words Older = object({"-arch=sm_80"});
  build(Older, {"CARVE_STORE=" + path("fresh")});
  std::string Before = read("three.o");
  ASSERT_EQ(partsOf(Before).Ptx.size(), 1u) << "the object has to hold PTX";
  for (const Words &Environment :
       {Words{}, Words{"CARVE_STORE=" + path("fresh"), "CARVE_PROFILE=profile.yaml"}}) {
    build(Older, Environment);
    EXPECT_TRUE(read("three.o") == Before) << log();
    EXPECT_TRUE(logSays("decision for " + std::string(BulkyName) +
                        " on sm_90 ignored: foreign: this unit is compiled for sm_80"))
        << log();
  }
  // A pin adds no image, either.
  writeProfile(BulkyName, BulkyCap, "    arch: sm_90\n");
  build(Older, {"CARVE_STORE=" + path("fresh"), "CARVE_PROFILE=profile.yaml"});
  EXPECT_TRUE(read("three.o") == Before) << log();
}

TEST_F(Architectures, decision_ofAnAddedImage_addsItAndHoldsForNoCompiledOne) {
  build(object({}));
  ASSERT_EQ(partsOf(read("three.o")).Cubins.count(90), 0u);
  tune(H200);
  build(object({}));
  EXPECT_EQ(bulkyRegs(90), 64u) << log();
  const Words Exact = object({"-arch=sm_90"});
  build(Exact, {"CARVE_STORE=" + path("fresh")});
  std::string Before = read("three.o");
  build(Exact);
  EXPECT_TRUE(read("three.o") == Before) << log();
  EXPECT_TRUE(logSays("timed in an object that had only PTX for the device")) << log();
}
