#include "Captures/File/CaptureFile.h"

#include "Captures/File/CaptureJson.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/NewerFormat.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace zstd = llvm::compression::zstd;

static constexpr llvm::StringLiteral Magic = "carve-capture ", IndexMagic = "carve-index ";
/// A damaged or malicious number must not make us allocate all memory. The index of a capture of
/// 288 GB, all memory of the largest GPU, takes 60 MB.
static constexpr uint64_t MaxIndexBytes = uint64_t(256) << 20, MaxLastLineBytes = 160;

uint64_t Capture::memoryBytes() const {
  uint64_t Sum = 0;
  for (const CapturedMemory &M : Memory)
    Sum += M.Content.Bytes;
  return Sum;
}

std::string carve::describeShape(const LaunchShape &Shape) {
  std::string Text = extentsText(Shape.Grid, ",") + " " + extentsText(Shape.Block, ",");
  if (Shape.DynamicSmemBytes)
    Text += " smem " + std::to_string(Shape.DynamicSmemBytes);
  if (Shape.hasCluster())
    Text += " cluster " + extentsText(Shape.Cluster, ",");
  return Text;
}

uint64_t carve::chunkBytes(const CapturedBytes &B, size_t Index) {
  return std::min(CaptureChunkBytes, B.Bytes - Index * CaptureChunkBytes);
}

CaptureWriter::CaptureWriter(std::string Path, BesideFile Temporary)
    : Path(std::move(Path)), Temporary(std::make_unique<BesideFile>(std::move(Temporary))),
      Out(std::make_unique<llvm::raw_fd_ostream>(this->Temporary->fd(), /*shouldClose=*/false)) {}
CaptureWriter::CaptureWriter(CaptureWriter &&) noexcept = default;

CaptureWriter::~CaptureWriter() {
  if (!Out)
    return;
  Out->flush();
  Out->clear_error(); // The caller that gave up has already reported why.
}

llvm::Expected<CaptureWriter> CaptureWriter::create(llvm::StringRef Path) {
  llvm::Expected<BesideFile> Temporary = BesideFile::create(resolveTarget(Path));
  if (!Temporary)
    return Temporary.takeError();
  CaptureWriter W(Path.str(), std::move(*Temporary));
  *W.Out << Magic << CaptureFormat << "\n";
  return W;
}

uint64_t CaptureWriter::putChunk(llvm::StringRef Bytes) {
  if (llvm::all_of(Bytes, [](char C) { return C == 0; }))
    return 0;
  std::string Digest = digestOf(Bytes);
  auto [Place, New] = Known.try_emplace(Digest, Sections.size() + 1);
  if (!New)
    return Place->second;
  llvm::SmallVector<uint8_t, 0> Stored;
  zstd::compress(llvm::arrayRefFromStringRef(Bytes), Stored, /*Level=*/1);
  Sections.push_back({Out->tell(), Stored.size(), Bytes.size(), std::move(Digest)});
  *Out << llvm::toStringRef(Stored);
  return Place->second;
}

CapturedBytes CaptureWriter::put(llvm::StringRef Bytes) {
  return llvm::cantFail(
      put(Bytes.size(), [&](uint64_t Offset, uint64_t N) -> llvm::Expected<llvm::StringRef> {
        return Bytes.substr(Offset, N);
      }));
}

llvm::Expected<CapturedBytes>
CaptureWriter::put(uint64_t Bytes,
                   llvm::function_ref<llvm::Expected<llvm::StringRef>(uint64_t, uint64_t)> Read) {
  CapturedBytes B;
  B.Bytes = Bytes;
  for (uint64_t Offset = 0; Offset < Bytes; Offset += CaptureChunkBytes) {
    auto Chunk = Read(Offset, std::min(CaptureChunkBytes, Bytes - Offset));
    if (!Chunk)
      return Chunk.takeError();
    B.Chunks.push_back(putChunk(*Chunk));
  }
  return B;
}

llvm::Error CaptureWriter::finish(const Capture &C) {
  std::string Index = printCaptureIndex(C, Sections);
  llvm::SmallVector<uint8_t, 0> Stored;
  zstd::compress(llvm::arrayRefFromStringRef(Index), Stored, /*Level=*/3);
  uint64_t Offset = Out->tell();
  *Out << llvm::toStringRef(Stored) << IndexMagic << Offset << " " << Stored.size() << " "
       << Index.size() << " " << digestOf(Index) << "\n";
  Out->flush();
  std::error_code Failed = Out->error();
  Out->clear_error();
  Out.reset();
  if (Failed)
    return llvm::createFileError(Path, Failed);
  return Temporary->place();
}

llvm::Expected<CaptureReader> CaptureReader::open(llvm::StringRef Path) {
  // The file can be as large as a GPU's memory, so it is mapped.
  llvm::Expected<RegularFile> File = RegularFile::open(Path, FileLimit::None);
  auto Mapped = File ? File->map() : File.takeError();
  if (!Mapped)
    return Mapped.takeError();
  CaptureReader R;
  R.Path = Path.str();
  R.File = std::move(*Mapped);
  if (llvm::Error E = R.readIndex())
    return E;
  return R;
}

llvm::Error CaptureReader::readIndex() {
  llvm::StringRef Bytes = File->getBuffer(), Head = Bytes;
  int64_t Format = 0;
  if (!Head.consume_front(Magic) || Head.consumeInteger(10, Format) || !Head.starts_with("\n"))
    return malformed(Path + ": not a capture: expected '" + Magic + "<format>' in the first line");
  if (Format != CaptureFormat)
    return llvm::make_error<NewerFormat>(Path + ": capture of format " + llvm::Twine(Format) +
                                         ", expected " + llvm::Twine(CaptureFormat));
  // If the file was cut off, it does not end with this line.
  size_t At = Bytes.substr(Bytes.size() - std::min<uint64_t>(Bytes.size(), MaxLastLineBytes))
                  .rfind(IndexMagic);
  if (!Bytes.ends_with("\n") || At == llvm::StringRef::npos)
    return malformed(Path + ": damaged: expected '" + IndexMagic +
                     "...' in the last line; the "
                     "file may have been cut off");
  llvm::StringRef Last = Bytes.take_back(MaxLastLineBytes).substr(At).drop_back();
  Last.consume_front(IndexMagic);
  uint64_t Offset = 0, Stored = 0, Size = 0;
  if (Last.consumeInteger(10, Offset) || !Last.consume_front(" ") ||
      Last.consumeInteger(10, Stored) || !Last.consume_front(" ") ||
      Last.consumeInteger(10, Size) || !Last.consume_front(" ") || Size > MaxIndexBytes ||
      Offset > Bytes.size() || Stored > Bytes.size() - Offset)
    return malformed(Path + ": damaged: the index that the last line names is not within the file");
  llvm::SmallVector<uint8_t, 0> Index;
  if (llvm::Error E =
          zstd::decompress(llvm::arrayRefFromStringRef(Bytes.substr(Offset, Stored)), Index, Size))
    return malformed(Path + ": damaged: the index: " + llvm::toString(std::move(E)));
  if (std::string Actual = digestOf(llvm::toStringRef(Index)); Actual != Last)
    return malformed(Path + ": damaged: the index: digest " + Actual + ", expected " + Last);
  IndexDigest = Last.str();
  return parseCaptureIndex(llvm::toStringRef(Index), Path, Content, Sections);
}

llvm::Expected<std::string> CaptureReader::chunk(const CapturedBytes &B, size_t Index,
                                                 const llvm::Twine &What) const {
  uint64_t Expected = chunkBytes(B, Index), Number = B.Chunks[Index];
  if (Number == 0)
    return std::string(Expected, '\0');
  auto Damaged = [&](const llvm::Twine &How) {
    return malformed(Path + ": damaged: " + What + ", bytes from " +
                     llvm::Twine(Index * CaptureChunkBytes) + ": " + How);
  };
  if (Number > Sections.size())
    return Damaged("no section " + llvm::Twine(Number));
  const CaptureSection &S = Sections[Number - 1];
  llvm::StringRef All = File->getBuffer();
  if (S.Offset > All.size() || S.StoredBytes > All.size() - S.Offset || S.Bytes != Expected)
    return Damaged("section " + llvm::Twine(Number) + " lies outside of the file");
  llvm::SmallVector<uint8_t, 0> Bytes;
  if (llvm::Error E = zstd::decompress(
          llvm::arrayRefFromStringRef(All.substr(S.Offset, S.StoredBytes)), Bytes, S.Bytes))
    return Damaged(llvm::toString(std::move(E)));
  if (std::string Actual = digestOf(llvm::toStringRef(Bytes)); Actual != S.Digest)
    return Damaged("digest " + Actual + ", expected " + S.Digest);
  return llvm::toStringRef(Bytes).str();
}

llvm::Expected<std::string> CaptureReader::all(const CapturedBytes &B, const llvm::Twine &What,
                                               uint64_t MostBytes) const {
  std::string Result, Name = What.str();
  if (B.Bytes > MostBytes)
    return malformed(Path + ": damaged: " + Name + " has " + llvm::Twine(B.Bytes) +
                     " bytes, expected at most " + llvm::Twine(MostBytes));
  for (size_t I = 0; I < B.Chunks.size(); ++I) {
    llvm::Expected<std::string> Chunk = chunk(B, I, Name);
    if (!Chunk)
      return Chunk;
    Result += *Chunk;
  }
  return Result;
}
