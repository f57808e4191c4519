#include "Store/Blob.h"

#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/RegularFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"

using namespace carve;
namespace zstd = llvm::compression::zstd;

static constexpr llvm::StringLiteral Magic = "carve-blob 1 ";
/// Limit for the length that a blob claims: a damaged or malicious length must not make us allocate
/// all memory. The largest PTX of one unit of a large library is an order of magnitude smaller.
static constexpr uint64_t MaxBytes = FileLimit::Blob;

std::string carve::packBlob(llvm::StringRef Bytes) {
  llvm::SmallVector<uint8_t, 0> Compressed;
  zstd::compress(llvm::arrayRefFromStringRef(Bytes), Compressed, /*Level=*/1);
  std::string Packed = (Magic + llvm::utostr(Bytes.size()) + "\n").str();
  Packed += llvm::toStringRef(Compressed);
  return Packed;
}

llvm::Expected<std::string> carve::unpackBlob(llvm::StringRef Packed, llvm::StringRef Digest) {
  uint64_t Size;
  if (!Packed.consume_front(Magic) || Packed.consumeInteger(10, Size) ||
      !Packed.consume_front("\n") || Size > MaxBytes)
    return malformed("not a blob: expected '" + Magic + "<bytes>' in the first line");
  llvm::SmallVector<uint8_t, 0> Bytes;
  if (llvm::Error Failed = zstd::decompress(llvm::arrayRefFromStringRef(Packed), Bytes, Size))
    return malformed("damaged blob: " + llvm::toString(std::move(Failed)));
  std::string Actual = digestOf(llvm::toStringRef(Bytes));
  if (Bytes.size() != Size || Actual != Digest)
    return malformed("damaged blob: digest " + Actual + ", expected " + Digest);
  return llvm::toStringRef(Bytes).str();
}
