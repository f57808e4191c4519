#include "Cubin/CubinInfo.h"

#include "llvm/Support/Endian.h"

using namespace carve;
using namespace llvm;
using namespace llvm::support;

void carve::forEachInfo(StringRef Section, function_ref<void(const CubinInfo &)> Visit) {
  // Each attribute: format, number, and 16 bits that are the value or, with format 4, the length of
  // a payload.
  constexpr uint8_t WithPayload = 4;
  while (Section.size() >= 4) {
    CubinInfo Info;
    uint8_t Format = Section[0];
    Info.Attribute = Section[1];
    uint16_t Short = endian::read16le(Section.data() + 2);
    Section = Section.drop_front(4);
    if (Format != WithPayload) {
      // A byte value has no meaning in its upper half.
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
