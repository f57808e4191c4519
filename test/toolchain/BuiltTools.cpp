#include "BuiltTools.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"

using namespace carve;
using ElfFile = llvm::object::ELFFile<llvm::object::ELF64LE>;

std::optional<std::string> carve::sectionOf(llvm::StringRef Elf, llvm::StringRef Name) {
  llvm::Expected<ElfFile> File = ElfFile::create(Elf);
  if (!File) {
    ADD_FAILURE() << llvm::toString(File.takeError());
    return std::nullopt;
  }
  for (const auto &Section : llvm::cantFail(File->sections()))
    if (llvm::cantFail(File->getSectionName(Section)) == Name)
      return llvm::toStringRef(llvm::cantFail(File->getSectionContents(Section))).str();
  return std::nullopt;
}

/// Returns the offset in \p Bytes at which a cubin begins, at or after \p From.
static size_t findCubin(llvm::StringRef Bytes, size_t From) {
  constexpr unsigned CudaMachine = 190, MachineAt = 18;
  while ((From = Bytes.find("\x7f"
                            "ELF",
                            From)) != llvm::StringRef::npos) {
    if (From + MachineAt < Bytes.size() && uint8_t(Bytes[From + MachineAt]) == CudaMachine)
      return From;
    ++From;
  }
  return llvm::StringRef::npos;
}

std::map<unsigned, ImageKernels> carve::deviceImages(llvm::StringRef Elf) {
  std::map<unsigned, ImageKernels> Images;
  // An executable of -rdc has both. The linked images count.
  std::optional<std::string> Section = sectionOf(Elf, ".nv_fatbin");
  if (!Section)
    Section = sectionOf(Elf, "__nv_relfatbin");
  if (!Section) {
    ADD_FAILURE() << "no device section";
    return Images;
  }
  llvm::StringRef Bytes = *Section;
  for (size_t At = findCubin(Bytes, 0); At != llvm::StringRef::npos;
       At = findCubin(Bytes, At + 1)) {
    llvm::Expected<Cubin> Image = parseCubin(Bytes.drop_front(At));
    if (!Image) {
      ADD_FAILURE() << llvm::toString(Image.takeError());
      continue;
    }
    for (CubinKernel &K : Image->Kernels)
      Images[Image->SmVersion][K.Resources.Name] = K;
  }
  return Images;
}

void BuiltToolsTest::SetUp() {
  RealNvccTest::SetUp();
  if (IsSkipped())
    return;
  llvm::Expected<std::string> Source = readFile(CARVE_TEST_INPUTS "/samples/three.cu");
  ASSERT_TRUE(bool(Source)) << llvm::toString(Source.takeError());
  write("three.cu", *Source);
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("tmp")));
}

void BuiltToolsTest::keepKernels(const std::vector<std::string> &Names) {
  std::string Text = read("three.cu");
  for (const std::string Name : {"bulky", "steady", "noisy", "bounded", "hidden"}) {
    if (llvm::is_contained(Names, Name))
      continue;
    size_t At = Text.find(" " + Name + "(double");
    ASSERT_NE(At, std::string::npos) << Name;
    size_t From = Text.rfind("__global__", At);
    Text.erase(From, Text.find("}\n", At) + 2 - From);
    At = Text.find("  " + Name + "<<<");
    ASSERT_NE(At, std::string::npos) << Name;
    Text.erase(At, Text.find('\n', At) + 1 - At);
  }
  write("three.cu", Text);
}

BuiltToolsTest::Words BuiltToolsTest::environment(const Words &More) const {
  Words Environment = {"TMPDIR=" + path("tmp"), "CARVE_STORE=" + path("store"),
                       "CARVE_LOG=" + path("carve.log"), "CARVE_PROFILE", "CARVE_RUN",
                       "CARVE_STORE_SIZE",
                       // three.samples has the critical points of its kernels and nothing else.
                       "CARVE_EFFORT=0", "CARVE_NVCC=" + Tools.Nvcc, "CUDA_VISIBLE_DEVICES="};
  Environment.insert(Environment.end(), More.begin(), More.end());
  return Environment;
}

CommandResult BuiltToolsTest::plain(Words Arguments, Words Environment) {
  return nvcc(std::move(Arguments), environment(Environment));
}

CommandResult BuiltToolsTest::carveNvcc(Words Arguments, Words Environment) {
  llvm::sys::fs::remove(path("carve.log"));
  Arguments.insert(Arguments.begin(), CARVE_NVCC_PROGRAM);
  return run(std::move(Arguments), environment(Environment));
}

CommandResult BuiltToolsTest::carve(Words Arguments, Words Environment) {
  llvm::sys::fs::remove(path("carve.log"));
  Arguments.insert(Arguments.begin(), CARVE_PROGRAM);
  return run(std::move(Arguments), environment(Environment));
}

void BuiltToolsTest::build(const Words &Arguments, const Words &Environment) {
  CommandResult R = carveNvcc(Arguments, Environment);
  EXPECT_TRUE(R.succeeded() && R.Stdout.empty() && R.Stderr.empty())
      << testing::PrintToString(Arguments) << "\n"
      << R.Stdout << R.Stderr << log();
  expectNoTemporaries();
}

void BuiltToolsTest::buildPlain(const Words &Arguments) {
  CommandResult R = plain(Arguments);
  EXPECT_TRUE(R.succeeded() && R.Stdout.empty() && R.Stderr.empty())
      << testing::PrintToString(Arguments) << "\n"
      << R.Stdout << R.Stderr;
}

std::string BuiltToolsTest::log() { return exists("carve.log") ? read("carve.log") : ""; }

bool BuiltToolsTest::logSays(llvm::StringRef Text) { return llvm::StringRef(log()).contains(Text); }

void BuiltToolsTest::expectNoTemporaries() {
  std::error_code Failed;
  for (llvm::sys::fs::recursive_directory_iterator It(Work.path(), Failed), End;
       It != End && !Failed; It.increment(Failed)) {
    llvm::StringRef Path = It->path();
    if (Path.ends_with(".lgenfe.bc"))
      continue; // cicc leaves this if it fails.
    EXPECT_FALSE(Path.contains(".carve-") || Path.starts_with(path("tmp/")))
        << Path.str() << " was left behind";
  }
}

ImageKernels BuiltToolsTest::kernelsOf(const std::string &Name) {
  std::map<unsigned, ImageKernels> Images = deviceImages(read(Name));
  EXPECT_EQ(Images.size(), 1u) << Name;
  return Images.empty() ? ImageKernels() : Images.begin()->second;
}

void BuiltToolsTest::expectSameCode(const ImageKernels &A, const ImageKernels &B,
                                    const std::vector<std::string> &Except) {
  ASSERT_FALSE(A.empty());
  EXPECT_EQ(A.size(), B.size());
  for (const auto &[Name, K] : A) {
    auto Other = B.find(Name);
    ASSERT_NE(Other, B.end()) << Name;
    if (llvm::is_contained(Except, Name))
      continue;
    EXPECT_EQ(K.CodeDigest, Other->second.CodeDigest) << Name;
    EXPECT_EQ(K.Resources.RegsPerThread, Other->second.Resources.RegsPerThread) << Name;
  }
}

void BuiltToolsTest::writeProfile(const std::string &Kernel, unsigned Cap,
                                  const std::string &More) {
  write("profile.yaml", "carve-profile: 1\nkernels:\n  - kernel: \"" + Kernel +
                            "\"\n    variant: {cap: " + std::to_string(Cap) + "}\n" + More);
}
