#include "Captures/File/RawCapture.h"

#include "Protocol/CaptureRecords.h"
#include "Protocol/RecordReader.h"
#include "Protocol/RecordWriter.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string carve::printCaptureWishes(llvm::ArrayRef<CaptureWish> Wishes,
                                      llvm::StringRef Directory) {
  std::string Text = headOf(CapturePlanFile) + "\n" + recordLine(DirectoryRecord{Directory.str()});
  for (const CaptureWish &W : Wishes)
    Text += recordLine(W);
  return Text;
}

RawCaptures carve::findRawCaptures(llvm::StringRef Directory, size_t Wish) {
  RawCaptures Result;
  std::error_code E;
  std::string Suffix = "-" + std::to_string(Wish);
  for (fs::directory_iterator I(Directory, E), End; !E && I != End; I.increment(E)) {
    llvm::StringRef Name = path::filename(I->path());
    if (Name.ends_with(Suffix) && fs::exists(I->path() + "/launch"))
      Result.Folders.push_back(I->path());
    else if (Name.ends_with(Suffix + ".refused")) {
      if (llvm::Expected<std::string> Reason = readFile(I->path()))
        Result.Refused = llvm::StringRef(*Reason).trim().str();
      else
        llvm::consumeError(Reason.takeError());
    }
  }
  llvm::sort(Result.Folders);
  return Result;
}

namespace {

/// Reads the bytes of ranges and variables one after the other, a chunk at a time.
class RawMemory {
public:
  static llvm::Expected<RawMemory> open(std::string Path) {
    llvm::Expected<RegularFile> File = RegularFile::open(Path, FileLimit::None);
    if (!File)
      return File.takeError();
    return RawMemory(std::move(Path), std::move(*File));
  }

  llvm::Expected<CapturedBytes> pack(CaptureWriter &W, uint64_t Bytes, GoOnFunction GoOn) {
    std::vector<char> Chunk(std::min(Bytes, CaptureChunkBytes));
    auto B = W.put(Bytes, [&](uint64_t Offset, uint64_t N) -> llvm::Expected<llvm::StringRef> {
      if (llvm::Error Stopped = GoOn())
        return Stopped;
      uint64_t Done = 0;
      while (Done < N) {
        auto Got = fs::readNativeFileSlice(
            File.descriptor(), llvm::MutableArrayRef<char>(Chunk.data() + Done, N - Done),
            At + Offset + Done);
        if (!Got)
          return llvm::createFileError(Path, Got.takeError());
        if (*Got == 0)
          return malformed(Path + ": ends at " + llvm::Twine(At + Offset + Done) +
                           " bytes, expected more");
        Done += *Got;
      }
      return llvm::StringRef(Chunk.data(), N);
    });
    At += Bytes;
    return B;
  }

private:
  RawMemory(std::string Path, RegularFile File) : Path(std::move(Path)), File(std::move(File)) {}
  std::string Path;
  RegularFile File;
  uint64_t At = 0;
};

/// Reads the lines of the file `launch`.
class LaunchText {
public:
  LaunchText(std::string Path, Capture &C) : Path(std::move(Path)), C(C) {}

  llvm::Error read(llvm::StringRef Text) {
    llvm::SmallVector<llvm::StringRef, 0> Lines;
    Text.split(Lines, '\n', -1, /*KeepEmpty=*/false);
    if (Lines.empty() || Lines.front() != headOf(CapturedFile) ||
        Lines.back() != llvm::StringRef(RawEnd::Kind.Word))
      return malformed(llvm::Twine(Path) + ": expected '" + CapturedFile.Head + " " +
                       llvm::Twine(CapturedFile.Version) + "' to '" + RawEnd::Kind.Word + "'");
    for (size_t I = 1; I + 1 < Lines.size(); ++I)
      if (llvm::Error E = readLine(Lines[I]))
        return E;
    if (After.size() != C.Memory.size() + C.Variables.size())
      return malformed(Path + ": " + llvm::Twine(After.size()) + " 'after' lines, expected " +
                       llvm::Twine(C.Memory.size() + C.Variables.size()));
    for (size_t I = 0; I < After.size(); ++I)
      (I < C.Memory.size() ? C.Memory[I].After : C.Variables[I - C.Memory.size()].After) =
          std::move(After[I]);
    return llvm::Error::success();
  }

  uint64_t ContainerBytes = 0;

private:
  llvm::Error readLine(llvm::StringRef Line) {
    RecordReader In(Line);
    bool Known = takeLaunch(In) || takeMemory(In);
    if (!Known || In.bad() || NotHex)
      return malformed(Path + ": not expected: '" + Line + "'");
    return llvm::Error::success();
  }

  /// The kernel, and how it was launched.
  bool takeLaunch(RecordReader &In) {
    return takeRecord<RawKernel>(In,
                                 [&](const RawKernel &R) {
                                   C.Kernel = R.Kernel;
                                   C.Shape = R.Shape;
                                   C.Cooperative = R.Cooperative;
                                   C.Launch = R.Launch;
                                 }) ||
           takeRecord<RawAttribute>(
               In, [&](const RawAttribute &R) { C.Attributes[R.Name] = R.Value; }) ||
           takeRecord<RawParameter>(In,
                                    [&](const RawParameter &R) {
                                      CapturedParameter &P = C.Parameters.emplace_back();
                                      P.Offset = R.Offset;
                                      NotHex = !llvm::tryGetFromHex(R.Hex, P.Bytes);
                                    }) ||
           takeRecord<RawContainer>(In, [&](const RawContainer &R) {
             C.ContainerDigest = R.Digest;
             C.LoadCall = R.Call;
             ContainerBytes = R.Bytes;
           });
  }

  /// What is in the file `memory`, and what it was after the launch.
  bool takeMemory(RecordReader &In) {
    return takeRecord<RawRange>(In,
                                [&](const RawRange &R) {
                                  CapturedMemory &M = C.Memory.emplace_back();
                                  M.Kind = R.Memory;
                                  M.Address = R.Address;
                                  M.Content.Bytes = R.Bytes;
                                }) ||
           takeRecord<RawVariable>(In,
                                   [&](const RawVariable &R) {
                                     CapturedVariable &V = C.Variables.emplace_back();
                                     V.Name = R.Name;
                                     V.Content.Bytes = R.Bytes;
                                   }) ||
           takeRecord<RawAfter>(In, [&](RawAfter R) { After.push_back(std::move(R.Digests)); });
  }

  std::string Path;
  Capture &C;
  std::vector<std::vector<std::string>> After;
  bool NotHex = false; ///< The bytes of a parameter.
};

} // namespace

llvm::Error carve::packRawCapture(llvm::StringRef Folder, CaptureWriter &W, Capture &C,
                                  GoOnFunction GoOn) {
  std::string Launch = (Folder + "/launch").str(), Container = (Folder + "/container").str();
  llvm::Expected<std::string> Text = readFile(Launch);
  if (!Text)
    return Text.takeError();
  LaunchText Said(Launch, C);
  if (llvm::Error E = Said.read(*Text))
    return E;
  llvm::Expected<RawMemory> Memory = RawMemory::open((Folder + "/memory").str());
  if (!Memory)
    return Memory.takeError();
  auto Pack = [&](CapturedBytes &B) {
    llvm::Expected<CapturedBytes> Packed = Memory->pack(W, B.Bytes, GoOn);
    if (Packed)
      B = std::move(*Packed);
    return Packed.takeError();
  };
  for (CapturedMemory &M : C.Memory)
    if (llvm::Error E = Pack(M.Content))
      return E;
  for (CapturedVariable &V : C.Variables)
    if (llvm::Error E = Pack(V.Content))
      return E;
  llvm::Expected<std::string> Image = readFile(Container);
  if (!Image)
    return Image.takeError();
  if (Image->size() != Said.ContainerBytes || digestOf(*Image) != C.ContainerDigest)
    return malformed(Container + ": digest " + digestOf(*Image) + ", expected " +
                     C.ContainerDigest);
  C.Container = W.put(*Image);
  return llvm::Error::success();
}
