#include "Captures/File/RawCapture.h"

#include "Protocol/CaptureProtocol.h"
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
  std::string Text = "carve-capture-plan\t" + std::to_string(probe::CaptureVersion) +
                     "\ndirectory\t" + Directory.str() + "\n";
  for (const CaptureWish &W : Wishes)
    Text += "capture\t" + W.Kernel + "\t" + shapeFields(W.Shape) + "\t" + std::to_string(W.Launch) +
            "\n";
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
    if (Lines.empty() ||
        Lines.front() != "carve-captured\t" + std::to_string(probe::CaptureVersion) ||
        Lines.back() != "end")
      return malformed(Path + ": expected 'carve-captured " + llvm::Twine(probe::CaptureVersion) +
                       "' to 'end'");
    for (llvm::StringRef Line : llvm::ArrayRef(Lines).drop_front().drop_back()) {
      llvm::SmallVector<llvm::StringRef, 0> Words;
      Line.split(Words, '\t');
      if (!readLine(Words))
        return malformed(Path + ": unexpected line '" + Line + "'");
    }
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
  using Words = llvm::ArrayRef<llvm::StringRef>;

  static bool number(llvm::StringRef Word, uint64_t &Out) { return !Word.getAsInteger(10, Out); }
  static bool number(llvm::StringRef Word, unsigned &Out) { return !Word.getAsInteger(10, Out); }
  static bool numbers(llvm::StringRef Word, std::array<unsigned, 3> &Out) {
    auto [X, Rest] = Word.split(',');
    auto [Y, Z] = Rest.split(',');
    return number(X, Out[0]) && number(Y, Out[1]) && number(Z, Out[2]);
  }

  bool readKernel(Words W) {
    C.Kernel = W[1].str();
    C.Shape.Cooperative = W[6] == "1";
    return numbers(W[2], C.Shape.Grid) && numbers(W[3], C.Shape.Block) &&
           number(W[4], C.Shape.DynamicSmemBytes) && numbers(W[5], C.Shape.Cluster) &&
           number(W[7], C.Launch);
  }

  bool readLine(Words W) {
    if (W[0] == "kernel" && W.size() == 8)
      return readKernel(W);
    if (W[0] == "attribute" && W.size() == 3)
      return number(W[2], C.Attributes[W[1].str()]);
    if (W[0] == "parameter" && W.size() == 3) {
      CapturedParameter &P = C.Parameters.emplace_back();
      return number(W[1], P.Offset) && llvm::tryGetFromHex(W[2], P.Bytes);
    }
    if (W[0] == "range" && W.size() == 4) {
      CapturedMemory &M = C.Memory.emplace_back();
      M.Kind = W[3].str();
      return number(W[1], M.Address) && number(W[2], M.Content.Bytes);
    }
    if (W[0] == "variable" && W.size() == 3) {
      CapturedVariable &V = C.Variables.emplace_back();
      V.Name = W[1].str();
      return number(W[2], V.Content.Bytes);
    }
    if (W[0] == "after") {
      After.emplace_back();
      for (llvm::StringRef Digest : W.drop_front())
        After.back().push_back(Digest.str());
      return true;
    }
    if (W[0] != "container" || W.size() != 4)
      return false;
    C.ContainerDigest = W[1].str();
    C.LoadCall = W[3].str();
    return number(W[2], ContainerBytes);
  }

  std::string Path;
  Capture &C;
  std::vector<std::vector<std::string>> After;
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
