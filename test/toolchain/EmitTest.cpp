// Splices into objects that nvcc really makes. The object keeps everything but its device code, and
// every linker, strip and the device linker accept it.
#include "BuiltTools.h"

#include "Emit/ObjectSplicer.h"
#include "Nvcc/Toolchain.h"
#include "Support/CommandRunner.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

using namespace carve;

namespace {

// Host templates and inline functions give the object COMDAT groups, including one with a local
// signature from the kernel's launch.
constexpr char Source[] = R"(
#include <functional>
#include <map>
#include <string>
template <typename T> __global__ void scale(T *Data, T Factor) {
  T Sum = 0;
  for (int I = 0; I < 32; ++I)
    Sum += Data[threadIdx.x * 32 + I] * Data[I] + Data[I + 7] / Factor;
  Data[threadIdx.x] = Sum;
}
namespace {
struct Table {
  std::map<std::string, std::function<int()>> Entries;
  ~Table() { Entries.clear(); }
};
} // namespace
int main() {
  Table T;
  T.Entries["a"] = [] { return 1; };
  scale<double><<<1, 128>>>(nullptr, 2.0);
  scale<float><<<1, 128>>>(nullptr, 2.0f);
  return static_cast<int>(T.Entries.size()) - T.Entries["a"]();
}
)";

struct Compiled {
  std::string Object, Container; ///< Their bytes; the container is the one that nvcc kept.
};

class Emit : public testing::Test {
protected:
  void SetUp() override {
    auto Found = findToolchain(
        [](llvm::StringRef Name) -> std::optional<std::string> {
          const char *Value = std::getenv(Name.str().c_str());
          return Value ? std::optional<std::string>(Value) : std::nullopt;
        },
        "");
    if (!Found)
      GTEST_SKIP() << "no nvcc: " << llvm::toString(Found.takeError());
    T = *Found;
    auto Created = TempDir::create("emit-test");
    ASSERT_TRUE(static_cast<bool>(Created)) << llvm::toString(Created.takeError());
    Dir.emplace(std::move(*Created));
    write("k.cu", Source);
  }

  std::string path(llvm::StringRef Name) const { return Dir->path() + "/" + Name.str(); }

  void write(llvm::StringRef Name, llvm::StringRef Bytes) {
    EXPECT_EQ(llvm::toString(writeFileAtomically(path(Name), Bytes)), "");
  }

  std::string read(llvm::StringRef Name) {
    auto Bytes = readFile(path(Name));
    if (Bytes)
      return std::move(*Bytes);
    ADD_FAILURE() << llvm::toString(Bytes.takeError());
    return "";
  }

  /// Returns the standard output of a command in the test's directory, which must succeed.
  std::string run(std::vector<std::string> Argv) {
    Command C;
    C.Argv = std::move(Argv);
    C.Dir = Dir->path();
    C.CaptureStdout = C.CaptureStderr = true;
    auto Result = Runner.run(C);
    if (!Result) {
      ADD_FAILURE() << llvm::toString(Result.takeError());
      return "";
    }
    EXPECT_EQ(Result->ExitStatus, 0) << llvm::join(C.Argv, " ") << "\n" << Result->Stderr;
    return Result->Stdout;
  }

  Compiled compile(std::vector<std::string> Options, llvm::StringRef KeepDir) {
    run({"mkdir", path(KeepDir)});
    std::vector<std::string> Argv = {T.Nvcc, "-c",     "k.cu",       "-o",
                                     "k.o",  "--keep", "--keep-dir", KeepDir.str()};
    Argv.insert(Argv.end(), Options.begin(), Options.end());
    run(Argv);
    return {read("k.o"), read((KeepDir + "/k.fatbin").str())};
  }

  /// Runs `readelf` on \p Bytes, and removes the lines with offsets and sizes of sections.
  std::string readelf(llvm::StringRef Option, llvm::StringRef Bytes) {
    write("dump.o", Bytes);
    return run({"readelf", Option.str(), "dump.o"});
  }

  void linksWithEveryLinker(llvm::StringRef Object, const std::vector<std::string> &Options,
                            const Compiled &Default, const Compiled &Tuned);

  Toolchain T;
  ProcessRunner Runner;
  std::optional<TempDir> Dir;
};

struct Flavour {
  const char *Name;
  std::vector<std::string> Options;
};

class EmitFlavours : public Emit, public testing::WithParamInterface<Flavour> {};

/// Returns the section \p Name of \p Object, which must exist.
std::string sectionOfObject(llvm::StringRef Object, llvm::StringRef Name) {
  std::optional<std::string> Section = sectionOf(Object, Name);
  EXPECT_TRUE(Section) << "no section " << Name.str();
  return Section.value_or("");
}

std::string spliced(llvm::StringRef Object, llvm::StringRef Expected, llvm::StringRef Container) {
  auto Result = spliceContainer(Object, Expected, Container);
  if (Result)
    return std::move(*Result);
  ADD_FAILURE() << llvm::toString(Result.takeError());
  return "";
}

bool contains(const std::vector<std::string> &Options, llvm::StringRef Option) {
  return llvm::is_contained(Options, Option);
}

} // namespace

void Emit::linksWithEveryLinker(llvm::StringRef Object, const std::vector<std::string> &Options,
                                const Compiled &Default, const Compiled &Tuned) {
  write("tuned.o", Object);
  for (llvm::StringRef Linker : {"bfd", "gold", "lld"}) {
    if (!llvm::sys::findProgramByName("ld." + Linker.str())) {
      std::fprintf(stderr, "no ld.%s here: not tried\n", Linker.str().c_str());
      continue;
    }
    std::vector<std::string> Argv = {T.Nvcc, "tuned.o",    "-o",
                                     "app",  "-Xcompiler", "-fuse-ld=" + Linker.str()};
    Argv.insert(Argv.end(), Options.begin(), Options.end());
    run(Argv);
    run({"strip", "app"});
    // With -rdc the device linker makes another image of it.
    std::string App = read("app");
    EXPECT_TRUE(contains(Options, "-rdc=true") || App.find(Tuned.Container) != std::string::npos)
        << Linker.str();
    EXPECT_EQ(App.find(Default.Container), std::string::npos) << Linker.str();
  }
}

TEST_P(EmitFlavours, splicedObject_keepsAllButTheDeviceCodeAndLinks) {
  const std::vector<std::string> &Options = GetParam().Options;
  Compiled Default = compile(Options, "default");
  std::vector<std::string> Capped = Options;
  Capped.insert(Capped.end(), {"-Xptxas", "-maxrregcount=24"});
  Compiled Tuned = compile(Capped, "tuned");
  ASSERT_NE(Default.Container, Tuned.Container);
  bool Relocatable = contains(Options, "-rdc=true");
  llvm::StringRef Name = Relocatable ? "__nv_relfatbin" : ".nv_fatbin";

  std::string Object = spliced(Default.Object, Default.Container, Tuned.Container);
  EXPECT_EQ(sectionOfObject(Object, Name), Tuned.Container);
  EXPECT_EQ(sectionOfObject(Object, ".text"), sectionOfObject(Default.Object, ".text"));
  std::string Groups = readelf("-gW", Default.Object);
  EXPECT_NE(Groups.find("COMDAT"), std::string::npos);
  EXPECT_EQ(readelf("-gW", Object), Groups);
  EXPECT_EQ(readelf("-sW", Object), readelf("-sW", Default.Object));
  EXPECT_EQ(readelf("-rW", Object), readelf("-rW", Default.Object));

  // A second tuning finds the container of the first one, and the default can be restored.
  std::string Back = spliced(Object, Tuned.Container, Default.Container);
  EXPECT_EQ(sectionOfObject(Back, Name), Default.Container);

  write("stripped.o", Object);
  run({"strip", "-g", "stripped.o"});
  EXPECT_EQ(sectionOfObject(read("stripped.o"), Name), Tuned.Container);

  linksWithEveryLinker(Object, Options, Default, Tuned);
  if (Relocatable) {
    std::vector<std::string> Argv = {T.Nvcc, "-dlink", "tuned.o", "-o", "dlink.o"};
    Argv.insert(Argv.end(), Options.begin(), Options.end());
    run(Argv);
    EXPECT_FALSE(sectionOfObject(read("dlink.o"), ".nv_fatbin").empty());
  }
}

const Flavour Flavours[] = {
    {"plain", {"-arch=sm_90"}},
    {"rdc", {"-arch=sm_90", "-rdc=true"}},
    {"debug", {"-arch=sm_90", "-g"}},
    {"lineinfo", {"-arch=sm_90", "-lineinfo"}},
    {"gencodes",
     {"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]"}},
};
INSTANTIATE_TEST_SUITE_P(All, EmitFlavours, testing::ValuesIn(Flavours),
                         [](const auto &Info) { return std::string(Info.param.Name); });

TEST_F(Emit, linkTimeOptimisation_hasNoDeviceSection) {
  run({T.Nvcc, "-arch=sm_90", "-Xcompiler", "-flto", "-c", "k.cu", "-o", "k.o"});
  llvm::Error Failed = spliceContainer(read("k.o"), "any", "other").takeError();
  ASSERT_TRUE(Failed.isA<Unsupported>()) << llvm::toString(std::move(Failed));
  EXPECT_EQ(llvm::toString(std::move(Failed)).rfind("no-device-section", 0), 0u);
}

TEST_F(Emit, objectOfAnotherCompile_isLeft) {
  Compiled Mine = compile({"-arch=sm_90"}, "mine");
  Compiled Other = compile({"-arch=sm_80"}, "other");
  llvm::Error Failed = spliceContainer(Other.Object, Mine.Container, "new").takeError();
  EXPECT_EQ(llvm::toString(std::move(Failed)).rfind("foreign-object", 0), 0u);
}
