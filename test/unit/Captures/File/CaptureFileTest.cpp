#include "Captures/File/CaptureFile.h"

#include "Support/Digest.h"
#include "Support/Files.h"
#include "Support/NewerFormat.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

std::string noise(size_t Bytes, unsigned Seed) {
  std::string Result(Bytes, 0);
  for (char &C : Result)
    C = char((Seed = Seed * 1664525 + 1013904223) >> 24);
  return Result;
}

struct CaptureFileTest : testing::Test {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-capture-test"));
  std::string Path = Dir.path() + "/k" + CaptureSuffix;
  std::string Memory = noise(CaptureChunkBytes * 2 + 5, 1);

  Capture sample(CaptureWriter &W) {
    Capture C;
    C.Kernel = "_Z1kPf";
    C.Shape = {{10, 2, 3}, {256, 1, 1}, 48, {2, 1, 1}};
    C.Cooperative = true;
    C.Launch = 7;
    C.TracedLaunches = 100;
    C.MeanNs = 12345;
    C.Device = "NVIDIA H200";
    C.Arch = "sm_90";
    C.DriverVersion = "580.159.03";
    C.Workload = "./app \xff";
    C.Attributes = {{"max-dynamic-smem", 100000}, {"stack-bytes", 1024}};
    C.Parameters = {{0, std::string("\x01\0\xff", 3)}, {8, "x"}};
    C.Memory = {{0x7f0000000000, "device", W.put(Memory), {"d1", "d2", "d3"}},
                {0xfffffffffffff000, "pool", W.put(std::string(CaptureChunkBytes, 0)), {"z"}}};
    C.Variables = {{"Table", W.put("abc"), {"d4"}}};
    C.LoadCall = "cuLibraryLoadData";
    C.ContainerDigest = digestOf("container");
    C.Container = W.put("container");
    C.Units = {{"key", W.put("{}")}};
    C.Blobs = {{"digest", W.put("ptx")}};
    return C;
  }

  void write() {
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
    Capture C = sample(W);
    llvm::cantFail(W.finish(C));
  }

  /// Returns the first failure of reading the whole file, or an empty text.
  std::string readAll() {
    llvm::Expected<CaptureReader> R = CaptureReader::open(Path);
    if (!R)
      return llvm::toString(R.takeError());
    const Capture &C = R->capture();
    auto Failure = [&](const CapturedBytes &B, const char *What) {
      llvm::Expected<std::string> Bytes = R->all(B, What, FileLimit::Object);
      return Bytes ? std::string() : llvm::toString(Bytes.takeError());
    };
    for (const CapturedMemory &M : C.Memory)
      if (std::string F = Failure(M.Content, "memory"); !F.empty())
        return F;
    for (const auto &[Content, What] : {std::pair{C.Variables.at(0).Content, "variable"},
                                        {C.Container, "container"},
                                        {C.Units.at(0).Content, "unit"},
                                        {C.Blobs.at(0).Content, "blob"}})
      if (std::string F = Failure(Content, What); !F.empty())
        return F;
    return "";
  }

  size_t filesInDir() {
    std::error_code E;
    size_t N = 0;
    for (llvm::sys::fs::directory_iterator I(Dir.path(), E), End; !E && I != End; I.increment(E))
      ++N;
    return N;
  }
};

} // namespace

TEST_F(CaptureFileTest, capture_writtenAndRead_isTheSame) {
  write();
  CaptureReader R = llvm::cantFail(CaptureReader::open(Path));
  const Capture &C = R.capture();
  EXPECT_EQ(C.Kernel, "_Z1kPf");
  EXPECT_EQ(C.Shape, (LaunchShape{{10, 2, 3}, {256, 1, 1}, 48, {2, 1, 1}}));
  EXPECT_TRUE(C.Cooperative);
  EXPECT_EQ(C.Launch, 7u);
  EXPECT_EQ(C.TracedLaunches, 100u);
  EXPECT_EQ(C.MeanNs, 12345u);
  EXPECT_EQ(C.Device + " " + C.Arch + " " + C.DriverVersion, "NVIDIA H200 sm_90 580.159.03");
  EXPECT_EQ(C.Workload, "./app \xff") << "a command line may be anything";
  EXPECT_EQ(C.Attributes.at("stack-bytes"), 1024u);
  ASSERT_EQ(C.Parameters.size(), 2u);
  EXPECT_EQ(C.Parameters[0].Bytes, std::string("\x01\0\xff", 3));
  EXPECT_EQ(C.Parameters[1].Offset, 8u);
  ASSERT_EQ(C.Memory.size(), 2u);
  EXPECT_EQ(C.Memory[1].Address, 0xfffffffffffff000);
  EXPECT_EQ(C.Memory[1].Kind, "pool");
  EXPECT_EQ(C.Memory[0].After, (std::vector<std::string>{"d1", "d2", "d3"}));
  EXPECT_EQ(llvm::cantFail(R.all(C.Memory[0].Content, "memory", FileLimit::Object)), Memory);
  EXPECT_EQ(llvm::cantFail(R.all(C.Memory[1].Content, "memory", FileLimit::Object)),
            std::string(CaptureChunkBytes, 0));
  EXPECT_EQ(llvm::cantFail(R.all(C.Variables[0].Content, "variable", FileLimit::Object)), "abc");
  EXPECT_EQ(llvm::cantFail(R.all(C.Container, "container", FileLimit::Object)), "container");
  EXPECT_EQ(C.Units[0].Name, "key");
  EXPECT_EQ(C.Links.size(), 0u);
  EXPECT_EQ(C.memoryBytes(), Memory.size() + CaptureChunkBytes);
}

TEST_F(CaptureFileTest, zerosAndRepeatedBytes_takeNoRoom) {
  CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
  Capture C;
  C.Memory = {{0, "device", W.put(std::string(64 << 20, 0)), {}}};
  std::string Twice = noise(CaptureChunkBytes, 2);
  C.Memory.push_back({1 << 30, "device", W.put(Twice + Twice), {}});
  llvm::cantFail(W.finish(C));
  CaptureReader R = llvm::cantFail(CaptureReader::open(Path));
  EXPECT_LT(R.fileBytes(), CaptureChunkBytes + 100'000);
  EXPECT_EQ(llvm::cantFail(R.all(R.capture().Memory[1].Content, "memory", FileLimit::Object)),
            Twice + Twice);
}

TEST_F(CaptureFileTest, failedSource_leavesNoFile) {
  {
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
    auto B = W.put(3 * CaptureChunkBytes, [](uint64_t Offset, uint64_t) {
      return Offset ? llvm::Expected<llvm::StringRef>(
                          llvm::createStringError(llvm::inconvertibleErrorCode(), "gone"))
                    : llvm::StringRef("x");
    });
    EXPECT_EQ(llvm::toString(B.takeError()), "gone");
    EXPECT_EQ(filesInDir(), 1u) << "the temporary one";
  }
  EXPECT_EQ(filesInDir(), 0u);
}

TEST_F(CaptureFileTest, flippedByte_isFound) {
  write();
  ASSERT_EQ(readAll(), "");
  const std::string Whole = llvm::cantFail(readFile(Path));
  for (size_t At = 0; At < Whole.size(); At += At < Whole.size() - 3000 ? 9973 : 7) {
    std::string Bytes = Whole;
    Bytes[At] = char(Bytes[At] ^ 0x40);
    llvm::cantFail(writeFileAtomically(Path, Bytes));
    std::string Failure = readAll();
    EXPECT_EQ(Failure.rfind(Path + ": ", 0), 0u) << At << " of " << Whole.size() << ": " << Failure;
  }
}

TEST_F(CaptureFileTest, cutOffFile_isRefused) {
  write();
  const std::string Whole = llvm::cantFail(readFile(Path));
  for (size_t Length = 0; Length < Whole.size();
       Length += Length < Whole.size() - 200 ? Whole.size() / 50 : 1) {
    llvm::cantFail(writeFileAtomically(Path, llvm::StringRef(Whole).take_front(Length)));
    EXPECT_NE(readAll(), "") << Length << " of " << Whole.size();
  }
}

TEST_F(CaptureFileTest, damagedChunk_isNamed) {
  write();
  std::string Bytes = llvm::cantFail(readFile(Path));
  Bytes[500] = char(~Bytes[500]); // This byte is in the first chunk of the first range.
  llvm::cantFail(writeFileAtomically(Path, Bytes));
  std::string Failure = readAll();
  EXPECT_EQ(Failure.rfind(Path + ": damaged: memory, bytes from 0: ", 0), 0u) << Failure;
}

TEST_F(CaptureFileTest, newerFormat_isRefusedAsSuch) {
  write();
  std::string Bytes = llvm::cantFail(readFile(Path));
  Bytes[strlen("carve-capture ")] = '2';
  llvm::cantFail(writeFileAtomically(Path, Bytes));
  llvm::Expected<CaptureReader> R = CaptureReader::open(Path);
  ASSERT_FALSE(bool(R));
  llvm::Error E = R.takeError();
  EXPECT_TRUE(E.isA<NewerFormat>());
  EXPECT_EQ(llvm::toString(std::move(E)), Path + ": capture of format 2, expected 1");
}

TEST_F(CaptureFileTest, fileOfAnotherKind_isNotACapture) {
  llvm::cantFail(writeFileAtomically(Path, "\x7f"
                                           "ELF"));
  EXPECT_EQ(readAll(),
            Path + ": not a capture: expected 'carve-capture <format>' in the first line");
}

/// A tensor of zeros takes no space in the file, but its whole size in memory.
TEST_F(CaptureFileTest, content_largerThanTheReaderAllows_isRefusedBeforeItIsUnpacked) {
  CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
  Capture C = sample(W);
  C.Units = {{"key", W.put(std::string(3 * CaptureChunkBytes, 0))}};
  llvm::cantFail(W.finish(C));
  CaptureReader R = llvm::cantFail(CaptureReader::open(Path));
  llvm::Expected<std::string> Read =
      R.all(R.capture().Units[0].Content, "the unit", 2 * CaptureChunkBytes);
  ASSERT_FALSE(bool(Read));
  EXPECT_EQ(llvm::toString(Read.takeError()),
            Path + ": damaged: the unit has 3145728 bytes, expected at most 2097152");
}
