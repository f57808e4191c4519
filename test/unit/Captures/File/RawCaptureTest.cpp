#include "Captures/File/RawCapture.h"

#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

struct RawCaptureTest : testing::Test {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-raw-test"));
  std::string Folder = Dir.path() + "/77-0", Out = Dir.path() + "/k" + CaptureSuffix;
  std::string Memory = std::string(CaptureChunkBytes, 'a') + "bcd", Container = "container";

  RawCaptureTest() { llvm::sys::fs::create_directory(Folder); }

  std::string text() const {
    return "carve-captured\t1\nkernel\t_Z1kPf\t4,1,1\t64,2,1\t16\t1,1,1\t1\t5\n"
           "attribute\tstack-bytes\t1024\nrange\t4096\t1048578\tdevice\nvariable\tTable\t1\n"
           "parameter\t8\t00ff\nafter\tx\ty\nafter\tz\ncontainer\t" +
           digestOf(Container) + "\t9\tcuLibraryLoadData\nend\n";
  }

  void write(llvm::StringRef Text) {
    llvm::cantFail(writeFileAtomically(Folder + "/launch", Text));
    llvm::cantFail(writeFileAtomically(Folder + "/memory", Memory));
    llvm::cantFail(writeFileAtomically(Folder + "/container", Container));
  }

  llvm::Error pack() {
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(Out));
    Capture C;
    if (llvm::Error E = packRawCapture(Folder, W, C))
      return E;
    return W.finish(C);
  }

  std::string failure() { return llvm::toString(pack()); }
};

} // namespace

TEST_F(RawCaptureTest, rawFiles_arePackedCompletely) {
  write(text());
  llvm::cantFail(pack());
  CaptureReader R = llvm::cantFail(CaptureReader::open(Out));
  const Capture &C = R.capture();
  EXPECT_EQ(C.Kernel, "_Z1kPf");
  EXPECT_EQ(C.Shape, (LaunchShape{{4, 1, 1}, {64, 2, 1}, 16, {1, 1, 1}}));
  EXPECT_TRUE(C.Cooperative);
  EXPECT_EQ(C.Launch, 5u);
  EXPECT_EQ(C.Attributes.at("stack-bytes"), 1024u);
  ASSERT_EQ(C.Memory.size(), 1u);
  EXPECT_EQ(C.Memory[0].Address, 4096u);
  EXPECT_EQ(C.Memory[0].After, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(llvm::cantFail(R.all(C.Memory[0].Content, "memory", FileLimit::Object)),
            std::string(CaptureChunkBytes, 'a') + "bc");
  ASSERT_EQ(C.Variables.size(), 1u);
  EXPECT_EQ(llvm::cantFail(R.all(C.Variables[0].Content, "variable", FileLimit::Object)), "d");
  EXPECT_EQ(C.Variables[0].After, std::vector<std::string>{"z"});
  ASSERT_EQ(C.Parameters.size(), 1u);
  EXPECT_EQ(C.Parameters[0].Bytes, std::string("\0\xff", 2));
  EXPECT_EQ(C.LoadCall, "cuLibraryLoadData");
  EXPECT_EQ(llvm::cantFail(R.all(C.Container, "container", FileLimit::Object)), "container");
}

TEST_F(RawCaptureTest, stoppedPacking_leavesNoFile) {
  write(text());
  unsigned Asked = 0;
  {
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(Out));
    Capture C;
    llvm::Error E = packRawCapture(Folder, W, C, [&]() -> llvm::Error {
      return ++Asked < 2 ? llvm::Error::success() : interrupted(2);
    });
    EXPECT_EQ(llvm::toString(std::move(E)), "interrupted: 2");
  }
  EXPECT_EQ(Asked, 2u) << "once for each chunk";
  std::error_code Failed;
  for (llvm::sys::fs::directory_iterator I(llvm::sys::path::parent_path(Out), Failed), End;
       !Failed && I != End; I.increment(Failed))
    EXPECT_EQ(llvm::StringRef(I->path()).find(Out), llvm::StringRef::npos) << I->path();
}

TEST_F(RawCaptureTest, incompleteFiles_areRefused) {
  write(llvm::StringRef(text()).drop_back(4));
  EXPECT_EQ(failure(), Folder + "/launch: expected 'carve-captured 1' to 'end'");
  Memory.resize(CaptureChunkBytes);
  write(text());
  EXPECT_EQ(failure(), Folder + "/memory: ends at 1048576 bytes, expected more");
  Memory += "bcd";
  Container = "containes";
  std::string Text = text();
  Container = "container";
  write(Text);
  EXPECT_EQ(failure().rfind(Folder + "/container: digest ", 0), 0u);
  EXPECT_FALSE(llvm::sys::fs::exists(Out));
}

TEST_F(RawCaptureTest, wrongLine_isNamed) {
  for (const char *Line :
       {"kernel\tk\t4,1\t64,2,1\t16\t1,1,1\t1\t5", "range\tx\t1\tdevice", "range\t1\t1",
        "parameter\t0\tzz", "attribute\ta\t-1", "container\tx\t1", "something"}) {
    write("carve-captured\t1\n" + std::string(Line) + "\nend\n");
    EXPECT_EQ(failure(), Folder + "/launch: unexpected line '" + Line + "'");
  }
  write("carve-captured\t1\nrange\t0\t1\tdevice\nend\n");
  EXPECT_EQ(failure(), Folder + "/launch: 0 'after' lines, expected 1");
}

TEST_F(RawCaptureTest, foldersAndRefusals_areFoundByWish) {
  write(text());
  // The process of this capture ended before it was complete.
  llvm::sys::fs::create_directory(Dir.path() + "/78-0");
  llvm::cantFail(writeFileAtomically(Dir.path() + "/78-1.refused", "no reason\n"));
  EXPECT_EQ(findRawCaptures(Dir.path(), 0).Folders, std::vector<std::string>{Folder});
  EXPECT_EQ(findRawCaptures(Dir.path(), 0).Refused, "");
  EXPECT_EQ(findRawCaptures(Dir.path(), 1).Folders.size(), 0u);
  EXPECT_EQ(findRawCaptures(Dir.path(), 1).Refused, "no reason");
  EXPECT_EQ(findRawCaptures(Dir.path(), 7).Folders.size(), 0u);
}

TEST_F(RawCaptureTest, wishes_arePrintedAsPlan) {
  EXPECT_EQ(printCaptureWishes({{"k", {{4, 1, 1}, {64, 2, 1}, 16, {2, 1, 1}}, 5}}, "/d"),
            "carve-capture-plan\t1\ndirectory\t/d\ncapture\tk\t4,1,1\t64,2,1\t16\t2,1,1\t5\n");
}
