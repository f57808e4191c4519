#include "Cubin/CubinInfo.h"

#include "llvm/Support/Endian.h"

using namespace carve;
using namespace llvm;
using namespace llvm::support;

void carve::forEachInfo(StringRef Section, function_ref<void(const CubinInfo &)> Visit) {
  // Each attribute has a byte for its format, a byte for its number, and 16 bits. These are the
  // value or, with format 4, the length of the payload that follows.
  constexpr uint8_t WithPayload = 4;
  while (Section.size() >= 4) {
    CubinInfo Info;
    uint8_t Format = Section[0];
    Info.Attribute = Section[1];
    uint16_t Short = endian::read16le(Section.data() + 2);
    Section = Section.drop_front(4);
    if (Format != WithPayload) {
      // Format 2 is a byte, and the upper half of the 16 bits has no meaning.
      Info.Value = Format == 2 ? Short & 0xff : Short;
      Visit(Info);
      continue;
    }
    if (Section.size() < Short)
      return;
    Info.Payload = Section.take_front(Short);
    if (Short >= 8) {
      Info.Symbol = endian::read32le(Section.data());
      Info.Value = endian::read32le(Section.data() + 4);
    }
    Visit(Info);
    Section = Section.drop_front(Short);
  }
}
