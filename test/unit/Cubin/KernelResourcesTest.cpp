#include "unit/Ptx/PtxTesting.h"

#include "Cubin/KernelResources.h"

using namespace carve;
using namespace llvm;

static const KernelResources *kernelNamed(ArrayRef<KernelResources> All, StringRef Name) {
  for (const KernelResources &K : All)
    if (K.Name == Name)
      return &K;
  ADD_FAILURE() << "no " << Name.str();
  static const KernelResources None;
  return &None;
}

TEST(PtxasReport, spillsAndCumulativeStack_areRead) {
  auto Kernels = parsePtxasReport(recorded("spills.ptxas-13.0.88.txt"));
  EXPECT_EQ(Kernels.size(), 5u);
  const KernelResources &Bulky = *kernelNamed(Kernels, "_Z5bulkyPdi");
  EXPECT_EQ(Bulky.RegsPerThread, 24u);
  EXPECT_EQ(Bulky.StackBytes, 608u);
  EXPECT_EQ(Bulky.SpillStoreBytes, 1444u);
  EXPECT_EQ(Bulky.SpillLoadBytes, 1532u);
  EXPECT_EQ(Bulky.spillBytes(), 2976u);
  EXPECT_EQ(kernelNamed(Kernels, "_Z2avPf")->StaticSmemBytes, 512u);
  EXPECT_EQ(kernelNamed(Kernels, "_Z2avPf")->Barriers, 1u);
}

TEST(PtxasReport, spillsOfCallees_areNotTheEntrys) {
  auto Kernels = parsePtxasReport(recorded("two-archs.ptxas-13.0.88.txt"));
  // `ackermann`, which is printed after it, spills 40 bytes.
  EXPECT_EQ(kernelNamed(Kernels, "_Z9recursivePi")->spillBytes(), 0u);
}

TEST(PtxasReport, severalArchitectures_keepKernelsOfEach) {
  auto Kernels = parsePtxasReport(recorded("two-archs.ptxas-13.0.88.txt"));
  ASSERT_EQ(Kernels.size(), 10u);
  EXPECT_EQ(Kernels[2].Name, "x_Z2avPf");
  EXPECT_EQ(Kernels[2].RegsPerThread, 10u);
  EXPECT_EQ(Kernels[7].Name, "x_Z2avPf");
  EXPECT_EQ(Kernels[7].RegsPerThread, 12u);
}

TEST(PtxasReport, unboundedStack_isUnknown) {
  // The linker's warning, which ptxas words in the same way, comes before the kernel's block.
  auto Kernels = parsePtxasReport(recorded("recursion.nvlink-13.0.88.txt") +
                                  recorded("spills.ptxas-13.0.88.txt"));
  EXPECT_TRUE(kernelNamed(Kernels, "_Z9recursivePi")->StackUnknown);
  EXPECT_FALSE(kernelNamed(Kernels, "_Z5bulkyPdi")->StackUnknown);
}

TEST(PtxasReport, otherLines_areSkipped) {
  EXPECT_TRUE(parsePtxasReport("").empty());
  EXPECT_TRUE(parsePtxasReport("a.cu(3): warning: Used 7 registers\nptxas info : Used 3 registers\n"
                               "  8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n")
                  .empty());
  auto Kernels = parsePtxasReport("ptxas info    : Compiling entry function 'k' for 'sm_90'\r\n"
                                  "some other line\r\n"
                                  "ptxas info    : Used 99999999999 registers\r\n");
  ASSERT_EQ(Kernels.size(), 1u);
  EXPECT_EQ(Kernels[0].RegsPerThread, 0u);
}
