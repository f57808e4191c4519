// nvcc reads its profile next to the name that it is called by, and writes that name into depfiles,
// line information and messages. So the path by which it is found affects its output.
#include "ComparedCommands.h"
#include "Store/StoreUpkeep.h"

#include "llvm/Support/Path.h"

#include <filesystem>

using namespace carve;
namespace stdfs = std::filesystem;

namespace {

class NvccPlaces : public ComparedCommandsTest {
protected:
  void SetUp() override {
    ComparedCommandsTest::SetUp();
    if (!IsSkipped())
      keepKernels({"bulky"});
  }

  /// Returns the folder of the toolkit, with links resolved.
  stdfs::path toolkit() const { return stdfs::canonical(Tools.Nvcc).parent_path().parent_path(); }

  /// Makes a folder whose files are links to those of the toolkit, as Spack, Guix and Nix do. Its
  /// nvcc is a link to a folder in which there is nothing else. Returns the path of its nvcc.
  std::string makeView() {
    stdfs::path View = path("elsewhere/view"), Alone = path("elsewhere/alone");
    stdfs::path Real = toolkit(), Nvcc = Real / "bin/nvcc";
    for (const char *Folder : {"bin", "nvvm/bin"}) {
      stdfs::create_directories(View / Folder);
      for (const auto &File : stdfs::directory_iterator(Real / Folder))
        stdfs::create_symlink(File.path(), View / Folder / File.path().filename());
    }
    for (const char *Entry : {"include", "lib", "lib64", "targets", "nvvm/libdevice"})
      if (stdfs::exists(Real / Entry))
        stdfs::create_symlink(Real / Entry, View / Entry);
    stdfs::create_directories(Alone);
    stdfs::copy_file(Nvcc, Alone / "nvcc");
    stdfs::remove(View / "bin/nvcc");
    stdfs::create_symlink(Alone / "nvcc", View / "bin/nvcc");
    return (View / "bin/nvcc").string();
  }

  /// Makes a script that calls nvcc, in a folder of its own.
  std::string makeWrapper() {
    std::string Script = "elsewhere/wrapped/nvcc";
    write(Script, "#!/bin/sh\nexec '" + Tools.Nvcc + "' \"$@\"\n");
    stdfs::permissions(path(Script), stdfs::perms::owner_all);
    return path(Script);
  }

  /// Checks that carve-nvcc with \p Nvcc applies a pinned cap to bulky.
  void expectCapped(const std::string &Nvcc, const Words &More) {
    Words Command = {"-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"};
    build(Command, More);
    unsigned Free = kernelsOf("three.o").at(Bulky).Resources.RegsPerThread;
    ASSERT_GT(Free, BulkyCap);
    writeProfile(BulkyName, BulkyCap);
    Words Pinned = More;
    Pinned.push_back("CARVE_PROFILE=" + path("profile.yaml"));
    build(Command, Pinned);
    EXPECT_TRUE(logSays("made from the store")) << Nvcc << "\n" << log();
    EXPECT_EQ(kernelsOf("three.o").at(Bulky).Resources.RegsPerThread, BulkyCap) << log();
    stdfs::remove(path("three.o"));
    build(Command, Pinned);
    EXPECT_TRUE(logSays("compiled anew")) << log();
    EXPECT_EQ(kernelsOf("three.o").at(Bulky).Resources.RegsPerThread, BulkyCap) << log();
  }
};

const std::string Sm90 = "-arch=sm_90", NoId = "-Xlinker=--build-id=none";

// A depfile and line information hold the names of the toolkit's headers, each in a file of its
// own.
const Style Dryrun = {"dryrun", {Sm90, "--dryrun", "-c", "main.cu"}},
            Preprocessed = {"preprocessed", {Sm90, "-E", "main.cu"}},
            Lines = {"depfile and lineinfo", {Sm90, "-MD", "-lineinfo", "-c", "main.cu"}},
            Debug = {"debug", {Sm90, "-g", "-c", "main.cu"}},
            Program = {"program", {Sm90, NoId, "main.cu", "-o", "app"}},
            Relocatable = {"relocatable", {Sm90, NoId, "-rdc=true", "main.cu", "-o", "app"}};

TEST_F(NvccPlaces, linkedToolkit_commands_leaveWhatItsNvccLeaves) {
  Tools.Nvcc = makeView();
  for (const Style &S : {Dryrun, Preprocessed, Lines, Debug, Relocatable})
    EXPECT_TRUE(expectSame(Tools.Nvcc, S)) << S.Name;
  EXPECT_NE(plain({Sm90, "-M", "main.cu"}).Stdout.find("/elsewhere/view/"), std::string::npos);
}

TEST_F(NvccPlaces, linkedToolkitInPath_commands_leaveWhatItsNvccLeaves) {
  std::string View = makeView();
  std::string Path = llvm::sys::path::parent_path(View).str() + ":/usr/bin:/bin";
  for (Style S : {Dryrun, Lines}) {
    S.Environment = {"CARVE_NVCC", "PATH=" + Path};
    EXPECT_TRUE(expectSame("nvcc", S)) << S.Name;
  }
}

TEST_F(NvccPlaces, linkedToolkit_pinnedCap_isEmitted) {
  std::string View = makeView();
  expectCapped(View, {"CARVE_NVCC=" + View});
}

TEST_F(NvccPlaces, linkWithoutAToolkit_compile_failsAsNvccDoes) {
  stdfs::create_directories(path("elsewhere/link"));
  stdfs::create_symlink(stdfs::canonical(Tools.Nvcc), path("elsewhere/link/nvcc"));
  Tools.Nvcc = path("elsewhere/link/nvcc");
  EXPECT_FALSE(expectSame(Tools.Nvcc, {"link", {Sm90, "-c", "main.cu"}}));
}

TEST_F(NvccPlaces, wrapperScript_pinnedCap_isEmitted) {
  std::string Wrapper = makeWrapper();
  expectCapped(Wrapper, {"CARVE_NVCC=" + Wrapper});
}

TEST_F(NvccPlaces, wrapperScript_commands_leaveWhatItsNvccLeaves) {
  Tools.Nvcc = makeWrapper();
  for (const Style &S : {Dryrun, Lines, Program, Relocatable})
    EXPECT_TRUE(expectSame(Tools.Nvcc, S)) << S.Name;
  EXPECT_EQ(storeStats(store()).Units, 2u) << log(); // The units of main.o and app.
}

TEST_F(NvccPlaces, wrapperScript_metrics_countsTheCode) {
  CommandResult R = carve({"metrics", "--arch=sm_90", "three.cu"}, {"CARVE_NVCC=" + makeWrapper()});
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  EXPECT_NE(R.Stdout.find("bulky"), std::string::npos) << R.Stdout;
}

} // namespace
