#include "Nvcc/RelocatableCode.h"

#include "DeviceObject.h"
#include "NvccTesting.h"
#include "Support/Digest.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;

namespace {

std::string member(const std::string &Name, const std::string &Bytes) {
  std::string Header = Name + "/";
  Header.resize(48, ' ');
  std::string Size = std::to_string(Bytes.size());
  Size.resize(10, ' ');
  return Header + Size + "`\n" + Bytes + (Bytes.size() % 2 ? "\n" : "");
}

class RelocatableCodeTest : public testing::Test {
protected:
  std::string write(const std::string &Name, const std::string &Bytes) {
    EXPECT_EQ(llvm::toString(writeFileAtomically(Dir.path() + "/" + Name, Bytes)), "");
    return Dir.path() + "/" + Name;
  }
  std::vector<RelocatableObject> find(const std::string &Path) {
    llvm::Expected<std::vector<RelocatableObject>> Found = findRelocatableCode(Path);
    if (Found)
      return *Found;
    ADD_FAILURE() << llvm::toString(Found.takeError());
    return {};
  }
  TempDir Dir = llvm::cantFail(TempDir::create("carve-objects"));
  const std::string A = deviceContainer("first"), B = deviceContainer("the second");
};

} // namespace

TEST_F(RelocatableCodeTest, object_withOneContainer_isFound) {
  std::string Path = write("a.o", deviceObject("__nv_relfatbin", A));
  EXPECT_EQ(find(Path), (std::vector<RelocatableObject>{{"", {digestOf(A)}}}));
  EXPECT_TRUE(hasRelocatableCode(Path));
  EXPECT_EQ(llvm::cantFail(readRelocatableObject(Path, 0)), deviceObject("__nv_relfatbin", A));
  EXPECT_NE(llvm::toString(readRelocatableObject(Path, 1).takeError()), "");
}

/// `ld -r` concatenates the sections of its inputs.
TEST_F(RelocatableCodeTest, section_severalContainers_areAllFound) {
  std::string First = A;
  First.resize((A.size() + 15) / 8 * 8);
  std::string Path = write("r.o", deviceObject("__nv_relfatbin", First + B));
  EXPECT_EQ(find(Path), (std::vector<RelocatableObject>{{"", {digestOf(A), digestOf(B)}}}));
  // A container that is cut short does not count.
  Path = write("cut.o", deviceObject("__nv_relfatbin", First + B.substr(0, B.size() - 1)));
  EXPECT_EQ(find(Path), (std::vector<RelocatableObject>{{"", {digestOf(A)}}}));
}

TEST_F(RelocatableCodeTest, otherFiles_read_haveNone) {
  for (const std::string &Bytes :
       {deviceObject(".nv_fatbin", A), deviceObject("__nv_relfatbin", A, llvm::ELF::ET_DYN),
        std::string("text"), std::string(), std::string("!<arch>\n")}) {
    std::string Path = write("other", Bytes);
    EXPECT_TRUE(find(Path).empty());
    EXPECT_FALSE(hasRelocatableCode(Path));
  }
  EXPECT_FALSE(hasRelocatableCode(Dir.path() + "/absent.o"));
  EXPECT_NE(llvm::toString(findRelocatableCode(Dir.path() + "/absent.o").takeError()), "");
}

TEST_F(RelocatableCodeTest, damagedObjects_read_fail) {
  std::string Bytes = deviceObject("__nv_relfatbin", A);
  std::string Path = write("cut.o", Bytes.substr(0, Bytes.size() - 8));
  EXPECT_NE(llvm::toString(findRelocatableCode(Path).takeError()), "");
  EXPECT_FALSE(hasRelocatableCode(Path));
  Path = write("cut.a", "!<arch>\n" + member("a.o", Bytes).substr(0, 90));
  EXPECT_NE(llvm::toString(findRelocatableCode(Path).takeError()), "");
}

TEST_F(RelocatableCodeTest, archive_members_areFound) {
  std::string Host = deviceObject(".text", "host"), First = deviceObject("__nv_relfatbin", A),
              Second = deviceObject("__nv_relfatbin", B);
  std::string Path = write("lib.a", "!<arch>\n" + member("x.o", First) + member("h.o", Host) +
                                        member("x.o", Second));
  EXPECT_EQ(find(Path),
            (std::vector<RelocatableObject>{{"x.o", {digestOf(A)}}, {"x.o", {digestOf(B)}}}));
  EXPECT_TRUE(hasRelocatableCode(Path));
  EXPECT_EQ(llvm::cantFail(readRelocatableObject(Path, 1)), Second);
}

TEST_F(RelocatableCodeTest, library_inSeveralFolders_firstArchiveIsFound) {
  for (const char *Name : {"one", "two"})
    ASSERT_FALSE(llvm::sys::fs::create_directory(Dir.path() + "/" + Name));
  write("two/libk.a", "!<arch>\n");
  EXPECT_EQ(findArchive("k", {"one", "two"}, Dir.path()), "two/libk.a");
  write("one/libk.a", "!<arch>\n");
  EXPECT_EQ(findArchive("k", {"one", "two"}, Dir.path()), "one/libk.a");
  EXPECT_EQ(findArchive("k", {"."}, Dir.path()), "");
}
