#include "Support/Digest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace carve;

static void appendHex(std::string &Out, uint64_t Value) {
  for (int Shift = 60; Shift >= 0; Shift -= 4)
    Out += llvm::hexdigit((Value >> Shift) & 15, /*LowerCase=*/true);
}

std::string carve::digestOf(llvm::StringRef Bytes) {
  llvm::XXH128_hash_t Hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(Bytes));
  std::string Out;
  Out.reserve(32);
  appendHex(Out, Hash.high64);
  appendHex(Out, Hash.low64);
  return Out;
}

std::string carve::digestOfFields(llvm::ArrayRef<llvm::StringRef> Fields) {
  std::string All;
  for (llvm::StringRef Field : Fields) {
    All += std::to_string(Field.size());
    All += ':';
    All += Field;
  }
  return digestOf(All);
}
