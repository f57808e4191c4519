#include "DriverTier.h"

using namespace carve;
using Words = std::vector<std::string>;

namespace {

class ToolchainSearchTest : public DriverTierTest {
protected:
  ToolchainSearchTest() { Env.erase("CARVE_NVCC"); }

  /// Installs carve-nvcc as \p Name by a link or by a copy, and returns its path.
  std::string install(const std::string &Name, bool Link) const {
    std::filesystem::create_directories(std::filesystem::path(path(Name)).parent_path());
    if (Link)
      std::filesystem::create_symlink(CARVE_NVCC_TOOL, path(Name));
    else
      std::filesystem::copy_file(CARVE_NVCC_TOOL, path(Name));
    return path(Name);
  }
  void expectFound(const Ended &E) const {
    EXPECT_EQ(E.Status, 0) << E.Stderr;
    EXPECT_EQ(calls("compile"), 1u);
  }
};

} // namespace

TEST_F(ToolchainSearchTest, carveNvccVariable_isUsed) {
  Env["CARVE_NVCC"] = path("cuda/bin/nvcc");
  expectFound(carveNvcc(Compile));
}

// nvcc names its headers and libraries after the path that it is called by.
TEST_F(ToolchainSearchTest, linkToNvcc_found_isCalledByThatPath) {
  std::filesystem::create_symlink(path("cuda/bin/nvcc"), path("linked"));
  Env["CARVE_NVCC"] = path("linked");
  expectFound(carveNvcc({"-E", "x.cu"}));
  EXPECT_EQ(read("cuda/bin/log/name"), path("linked") + "\n");
  std::filesystem::create_directories(path("view/bin"));
  std::filesystem::create_symlink(path("cuda/bin/nvcc"), path("view/bin/nvcc"));
  Env.erase("CARVE_NVCC");
  Env["PATH"] = path("view/bin") + "/:/usr/bin:/bin";
  write("cuda/bin/log/calls", "");
  expectFound(carveNvcc(Compile));
  EXPECT_EQ(read("cuda/bin/log/name"), path("view/bin/nvcc") + "\n");
}

TEST_F(ToolchainSearchTest, path_isSearched) {
  Env["PATH"] = path("none") + ":" + path("cuda/bin") + ":/usr/bin:/bin";
  expectFound(carveNvcc(Compile));
}

TEST_F(ToolchainSearchTest, cudaPathAndCudaHome_areSearched) {
  for (const char *Name : {"CUDA_PATH", "CUDA_HOME"}) {
    Env.erase("CUDA_PATH");
    Env[Name] = path("cuda");
    write("cuda/bin/log/calls", "");
    expectFound(carveNvcc(Compile));
  }
}

TEST_F(ToolchainSearchTest, carveNvcc_calledNvcc_findsTheRealOne) {
  for (bool Link : {true, false}) {
    std::string Dir = Link ? "linked" : "copied";
    std::string Ours = install(Dir + "/nvcc", Link);
    Env["PATH"] = path(Dir) + ":" + path("cuda/bin") + ":/usr/bin:/bin";
    for (Words Arguments : {Words{"-E", "x.cu"}, Compile}) {
      write("cuda/bin/log/calls", "");
      Arguments.insert(Arguments.begin(), Ours);
      expectFound(run(Arguments));
    }
  }
}

TEST_F(ToolchainSearchTest, carveNvcc_twoCalledNvcc_doNotCallEachOther) {
  std::string First = install("first/nvcc", false);
  install("second/nvcc", false);
  Env["PATH"] = path("first") + ":" + path("second") + ":" + path("cuda/bin") + ":/usr/bin:/bin";
  expectFound(run({First, "-E", "x.cu"}));
}

// Such a script may set options of its own. It takes the place of nvcc in PATH.
TEST_F(ToolchainSearchTest, scriptCalledNvcc_callsCarveNvcc_endsAtTheRealOne) {
  std::filesystem::create_directories(path("script"));
  write("script/nvcc", "#!/bin/sh\nexec " CARVE_NVCC_TOOL " \"$@\"\n");
  std::filesystem::permissions(path("script/nvcc"), std::filesystem::perms::owner_all);
  Env["PATH"] = path("script") + ":" + path("cuda/bin") + ":/usr/bin:/bin";
  expectFound(run({path("script/nvcc"), "-E", "x.cu"}));
  write("cuda/bin/log/calls", "");
  expectFound(carveNvcc(Compile));
}

TEST_F(ToolchainSearchTest, carveNvcc_asCarveNvccVariable_isAnError) {
  Env["CARVE_NVCC"] = install("linked/nvcc", true);
  Ended E = carveNvcc({"-E", "x.cu"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_EQ(E.Stderr, "carve-nvcc: error: CARVE_NVCC is '" + Env["CARVE_NVCC"] +
                          "', expected the path of nvcc\n");
}

TEST_F(ToolchainSearchTest, carveNvccVariable_wrong_isAnError) {
  for (std::string Wrong : {path("none"), path("cuda"), path("cuda/bin/plan")}) {
    Env["CARVE_NVCC"] = Wrong;
    for (Ended E : {carveNvcc(Compile), carve({"points", "x.cu"})}) {
      EXPECT_EQ(E.Status, 1);
      EXPECT_NE(E.Stderr.find("error: CARVE_NVCC is '" + Wrong + "', expected the path of nvcc"),
                std::string::npos)
          << E.Stderr;
    }
  }
}

TEST_F(ToolchainSearchTest, nvcc_missing_placesAreNamed) {
  if (std::filesystem::exists("/usr/local/cuda/bin/nvcc"))
    GTEST_SKIP() << "/usr/local/cuda/bin/nvcc is there and would be found";
  Env["CUDA_PATH"] = path("none");
  Ended E = carveNvcc(Compile);
  EXPECT_EQ(E.Status, 1);
  EXPECT_EQ(E.Stderr, "carve-nvcc: error: no nvcc found; looked for CARVE_NVCC, /usr/bin/nvcc, "
                      "/bin/nvcc, " +
                          path("none/bin/nvcc") + ", /usr/local/cuda/bin/nvcc\n");
}
