#include "Store/RecordBlobs.h"

#include "Store/StoreLayout.h"
#include "Support/Error.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace carve;

std::vector<std::string> carve::blobsOf(const Unit &U) {
  std::vector<std::string> Digests;
  for (const UnitImage &Image : U.Images)
    Digests.insert(Digests.end(), {Image.PtxDigest, Image.CubinDigest});
  for (const EmbeddedPtx &Ptx : U.Ptx)
    Digests.push_back(Ptx.PtxDigest);
  for (const UnitFrontEnd &F : U.FrontEnds)
    Digests.push_back(F.InputDigest);
  return Digests;
}

std::vector<std::string> carve::blobsOf(const DeviceLink &L) {
  std::vector<std::string> Digests;
  for (const LinkedImage &Image : L.Images)
    Digests.push_back(Image.CubinDigest);
  return Digests;
}

// A network file system may remember for a while that a file exists, but not when it is opened. A
// stale handle says that another machine has replaced or removed it, so it is asked again.
static bool canBeOpened(const std::string &Path) {
  constexpr int Attempts = 10;
  for (int Attempt = 0; Attempt < Attempts; ++Attempt) {
    int Fd = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (Fd >= 0) {
      ::close(Fd);
      return true;
    }
    if (errno != ESTALE)
      return errno != ENOENT && errno != ENOTDIR;
  }
  return false;
}

llvm::Error carve::checkBlobs(llvm::StringRef Root, llvm::ArrayRef<std::string> Digests) {
  for (llvm::StringRef Digest : Digests)
    if (!Digest.empty() && (!isEntryName(Digest) || !canBeOpened(blobPath(Root, Digest))))
      return malformed("refers to blob " + Digest + ", which is not there");
  return llvm::Error::success();
}
