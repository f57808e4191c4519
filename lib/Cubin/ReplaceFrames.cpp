#include "Cubin/ReplaceFrames.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace carve;
using namespace llvm;
using support::endian::read32le;
using support::endian::read64le;
using support::endian::write64le;

namespace {

/// A block of `.debug_frame` that describes a kernel or one of its local functions.
struct FrameBlock {
  size_t Begin = 0, End = 0;
  std::vector<CubinRelocation> Relocations;
};

/// The bytes of a block before what is said of the function: in the form for 64 bits, the length
/// and the place of the block that it refers to.
constexpr size_t FrameHeadBytes = 12 + 8;

/// The frame information of an image, and its relocations; null if it has none.
struct FrameSections {
  explicit FrameSections(const CubinElf &Elf) : Frames(Elf.section(".debug_frame")) {
    Relocations = Elf.section(".rela.debug_frame");
    if (!Relocations)
      Relocations = Elf.section(".rel.debug_frame");
  }
  const CubinSection *Frames, *Relocations = nullptr;
};

} // namespace

/// Returns the blocks of \p Sections that describe \p Kernel, in their order. Fails if the section
/// does not have the form in which ptxas writes it.
static Expected<std::vector<FrameBlock>> framesOf(const CubinElf &Elf,
                                                  const FrameSections &Sections, StringRef Kernel) {
  std::vector<FrameBlock> Own;
  StringRef Bytes = Sections.Frames->Bytes;
  std::vector<CubinRelocation> All = Sections.Relocations->relocations();
  for (size_t Begin = 0; Begin < Bytes.size();) {
    if (Bytes.size() - Begin < FrameHeadBytes || read32le(Bytes.data() + Begin) != UINT32_MAX ||
        read64le(Bytes.data() + Begin + 4) > Bytes.size() - Begin - 12 ||
        read64le(Bytes.data() + Begin + 4) < 8)
      return malformed("cubin: .debug_frame has no block at " + Twine(Begin));
    FrameBlock Block{Begin, Begin + 12 + size_t(read64le(Bytes.data() + Begin + 4)), {}};
    bool Mine = false;
    for (const CubinRelocation &R : All)
      if (R.Offset >= Block.Begin && R.Offset < Block.End) {
        Mine |= R.Symbol < Elf.Symbols.size() && Elf.ownerOf(Elf.Symbols[R.Symbol]) == Kernel;
        Block.Relocations.push_back(R);
      }
    Begin = Block.End;
    if (Mine)
      Own.push_back(std::move(Block));
  }
  return Own;
}

Error carve::replaceFrames(const CubinElf &Base, const CubinElf &Donor, StringRef Kernel,
                           ElfLayout &Made) {
  FrameSections Mine(Base), Others(Donor);
  if (!Mine.Frames || !Mine.Relocations || !Others.Frames || !Others.Relocations)
    return Error::success();
  Expected<std::vector<FrameBlock>> Old = framesOf(Base, Mine, Kernel);
  Expected<std::vector<FrameBlock>> New = framesOf(Donor, Others, Kernel);
  if (!Old || !New)
    return joinErrors(Old.takeError(), New.takeError());
  auto Other = [&] {
    return unsupported("other-attributes", "the frames of " + Kernel.str() + " differ");
  };
  if (Old->size() != New->size())
    return Other();
  std::string &Frames = Made.Contents[Mine.Frames - Base.Sections.data()];
  std::string &Relocations = Made.Contents[Mine.Relocations - Base.Sections.data()];
  for (auto [To, From] : zip_equal(*Old, *New)) {
    size_t Room = To.End - To.Begin, Size = From.End - From.Begin;
    if (Size > Room || To.Relocations.size() != From.Relocations.size())
      return Other();
    std::string Block =
        Others.Frames->Bytes.substr(From.Begin, Size).drop_front(FrameHeadBytes).str();
    Block.resize(Room - FrameHeadBytes, '\0'); // DW_CFA_nop is 0.
    Frames.replace(To.Begin + FrameHeadBytes, Block.size(), Block);
    for (auto [A, B] : zip_equal(To.Relocations, From.Relocations)) {
      if (A.Offset - To.Begin != B.Offset - From.Begin || A.Type != B.Type)
        return Other();
      if (Mine.Relocations->Header->sh_type == ELF::SHT_RELA)
        write64le(Relocations.data() + A.At + 16, B.Addend);
    }
  }
  return Error::success();
}
