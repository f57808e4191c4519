// What needs no object of a compiler. test/toolchain/EntriesTest.cpp runs what nvcc and we make.
#include "Emit/EntryDispatch.h"

#include "Support/Error.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

/// Returns how often \p Text has \p Part.
size_t count(llvm::StringRef Text, llvm::StringRef Part) { return Text.count(Part); }

std::vector<DispatchedEntry> entries() {
  return {{"a", "a__carve_e1", {.MaxThreads = 128}, 1024},
          {"a", "a__carve_e2", {.Grid = {{7, 1, 1}}}, 0},
          {"b", "b__carve_e1", {.Block = {{32, 2, 1}}}, 60000}};
}

} // namespace

TEST(EntryDispatch, source_asksForHandlesOnlyIfTheObjectDoes) {
  std::string ByHandle = dispatchSource(
      entries(), {"__cudaRegisterFunction", "__cudaGetKernel", "__cudaLaunchKernel"}, "tag");
  EXPECT_EQ(count(ByHandle, "carve_tag_cudaGetKernel("), 1u);
  EXPECT_EQ(count(ByHandle, "carve_tag_cudaLaunchKernel("), 1u);
  EXPECT_EQ(count(ByHandle, "cudaStreamIsCapturing_ptsz"), 0u);
  std::string ByPointer = dispatchSource(
      entries(), {"__cudaRegisterFunction", "cudaLaunchKernel", "cudaLaunchKernel_ptsz"}, "tag");
  EXPECT_EQ(count(ByPointer, "GetKernel"), 0u);
  EXPECT_EQ(count(ByPointer, "carve_tag_cudaLaunchKernel("), 1u);
  EXPECT_EQ(count(ByPointer, "carve_tag_cudaLaunchKernel_ptsz("), 1u);
  EXPECT_EQ(count(ByPointer, "cudaStreamIsCapturing_ptsz(Stream"), 1u);
}

TEST(EntryDispatch, source_asksForTheSharedMemoryThatIsLeft) {
  std::string Text = dispatchSource(entries(), {"__cudaRegisterFunction", "cudaLaunchKernel"}, "t");
  EXPECT_EQ(count(Text, "Smem <= 48128u"), 1u);
  EXPECT_EQ(count(Text, "Smem <= 49152u"), 1u);
  EXPECT_EQ(count(Text, "Smem <= 0u"), 1u);
  EXPECT_EQ(count(Text, "Grid.x == 7u && Grid.y == 1u && Grid.z == 1u"), 1u);
  EXPECT_EQ(count(Text, "Block.x == 32u && Block.y == 2u && Block.z == 1u"), 1u);
}

TEST(EntryDispatch, source_comparesBytesOfArguments) {
  std::string Text =
      dispatchSource({{"a", "a__carve_e1", {.Arguments = {{0, 2, 7, 12}, {3, 8, UINT64_MAX}}}, 0}},
                     {"__cudaRegisterFunction", "cudaLaunchKernel"}, "t");
  EXPECT_EQ(count(Text, "*(const U2 *)((const char *)Args[0] + 12) == 7ull && "
                        "*(const U8 *)((const char *)Args[3] + 0) == 18446744073709551615ull"),
            1u);
}

TEST(EntryDispatch, source_asksTheDriverAboutAddressesAfterAllElse) {
  const std::vector<std::string> Calls = {"__cudaRegisterFunction", "cudaLaunchKernel"};
  EXPECT_EQ(count(dispatchSource(entries(), Calls, "t"), "cuPointerGetAttributes"), 0u);
  std::vector<DispatchedEntry> Asking = entries();
  Asking[0].When.Apart = {{0, 0}, {3, 8}, {3, 16}};
  Asking[2].When.Apart = {{2, 0}};
  std::string Text = dispatchSource(Asking, Calls, "t");
  EXPECT_EQ(count(Text, "\"cuPointerGetAttributes\""), 1u);
  EXPECT_EQ(count(Text, "#define MOST_APART 3\n"), 1u);
  EXPECT_EQ(count(Text, "Places0[][2] = {{0, 0}, {3, 8}, {3, 16}};"), 1u);
  EXPECT_EQ(count(Text, "Places2[][2] = {{2, 0}};"), 1u);
  EXPECT_EQ(count(Text, "Smem <= 48128u && apart(Args, Places0, 3))"), 1u);
  EXPECT_EQ(count(Text, "Smem <= 0u && apart(Args, Places2, 1))"), 1u);
  EXPECT_EQ(count(Text, "apart(Args"), 2u);
}

TEST(EntryDispatch, whatIsNoObject_fails) {
  for (const char *Bad : {"", "text",
                          "\x7f"
                          "ELF"}) {
    EXPECT_NE(llvm::toString(dispatchedCalls(Bad).takeError()), "");
    EXPECT_NE(llvm::toString(withRenamedCalls(Bad, {}, "t").takeError()), "");
  }
}
