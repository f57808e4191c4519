#include "Compile/UnitRecorder.h"
#include "Store/UserProfile.h"

#include "Nvcc/EmbeddedPtx.h"
#include "Ptx/PtxModule.h"
#include "Store/Profile.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace carve;

TEST(KernelDigests, addedImage_digests_dependOnItsArchitectureAndOrigin) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-digests"));
  UnitStore Store(Dir.path() + "/s");
  std::string Text = llvm::cantFail(readFile(CARVE_TEST_INPUTS "/ptx/kernels.cuda-13.0.88.ptx"));
  Unit U;
  U.NvccVersion = "13.0.88";
  std::vector<std::string> Options = {"-arch=sm_75", "-m64"};
  U.Ptx = {{75, llvm::cantFail(Store.putBlob(Text)), "kernels.ptx", Options}};
  PtxModule Ptx = llvm::cantFail(PtxModule::parse(Text));
  std::string Added =
      decisionDigest(llvm::cantFail(Ptx.kernelDigest(Ptx.entries().front().Name)), "sm_90",
                     U.NvccVersion, withArchitecture(Options, "sm_90"), ImageOrigin::FromPtx);

  std::vector<std::string> With = llvm::cantFail(kernelDigests(U, Store, {"sm_90"}));
  EXPECT_TRUE(llvm::is_contained(With, Added));
  EXPECT_FALSE(llvm::is_contained(llvm::cantFail(kernelDigests(U, Store)), Added));
  EXPECT_FALSE(llvm::is_contained(llvm::cantFail(kernelDigests(U, Store, {"sm_80"})), Added));
  EXPECT_EQ(With.size(), 2 * Ptx.entries().size());
}
