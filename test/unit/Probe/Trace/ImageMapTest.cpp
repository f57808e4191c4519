#include "Probe/Trace/ImageMap.h"
#include "Support/Files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace carve;
using namespace carve::probe;

static std::string write(const TempDir &Dir, const char *Name, const std::string &Bytes) {
  std::string Path = Dir.path() + "/" + Name;
  llvm::cantFail(writeFileAtomically(Path, Bytes));
  return Path;
}

TEST(ImageMap, read_otherFile_isRefused) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-probe-test"));
  std::string Digest(32, 'a');
  auto Reads = [&](const std::string &Text) {
    return ImageMap().read(write(Dir, "map", Text).c_str());
  };
  EXPECT_TRUE(Reads(""));
  EXPECT_TRUE(Reads(Digest + "\t/some/path\n"));
  EXPECT_FALSE(Reads(Digest + "\t\n"));
  EXPECT_FALSE(Reads(Digest + " /some/path\n"));
  EXPECT_FALSE(Reads("abc\t/some/path\n"));
  EXPECT_FALSE(ImageMap().read("/dev/null/nonexistent"));
}

TEST(ImageMap, unreadableImage_hasAReason) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-probe-test"));
  std::string Missing(32, 'a'), Text(32, 'b'), Pipe(32, 'c'), Empty(32, 'd');
  std::string PipePath = Dir.path() + "/pipe";
  ASSERT_EQ(::mkfifo(PipePath.c_str(), 0600), 0);
  ImageMap Map;
  ASSERT_TRUE(Map.read(write(Dir, "map",
                             Missing + "\t/dev/null/nonexistent\n" + Text + "\t" +
                                 write(Dir, "text", "not an image") + "\n" + Pipe + "\t" +
                                 PipePath + "\n" + Empty + "\t" + write(Dir, "empty", "") + "\n")
                           .c_str()));
  EXPECT_EQ(Map.find(std::string(32, 'e')), nullptr);
  for (auto &[Digest, Reason] : {std::pair{Missing, "image-unreadable"},
                                 {Text, "image-malformed"},
                                 {Pipe, "image-unreadable"},
                                 {Empty, "image-unreadable"}}) {
    const ImageMap::Image *Found = Map.find(Digest);
    ASSERT_NE(Found, nullptr);
    EXPECT_EQ(Found->Data, nullptr);
    EXPECT_STREQ(Found->Reason, Reason);
  }
}
