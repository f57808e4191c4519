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

/// A block of `.debug_frame`. It describes a function and has the place of a block that several
/// functions may share, or is such a block itself.
struct FrameBlock {
  size_t Begin = 0, End = 0;
  std::vector<CubinRelocation> Relocations; ///< By rising place.
  bool Own = false; ///< Whether a relocation is to the kernel or to one of its local functions.
};

/// Where a block has the place of the block that it refers to, or SharedMark, and where that ends.
/// In the form for 64 bits, the length is before it.
constexpr size_t PlaceAt = 12, HeadBytes = PlaceAt + 8;
constexpr uint64_t SharedMark = UINT64_MAX;

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

/// Returns the blocks of \p Bytes, a section of frame information, in their order. Fails if it does
/// not have the form in which ptxas writes it.
static Expected<std::vector<FrameBlock>> blocksOf(StringRef Bytes) {
  std::vector<FrameBlock> Blocks;
  for (size_t Begin = 0; Begin < Bytes.size(); Begin = Blocks.back().End) {
    const size_t Left = Bytes.size() - Begin;
    if (Left < HeadBytes || read32le(Bytes.data() + Begin) != UINT32_MAX ||
        read64le(Bytes.data() + Begin + 4) > Left - PlaceAt ||
        read64le(Bytes.data() + Begin + 4) < HeadBytes - PlaceAt)
      return malformed("cubin: .debug_frame has no block at " + Twine(Begin));
    Blocks.push_back({Begin, Begin + PlaceAt + size_t(read64le(Bytes.data() + Begin + 4)), {}});
  }
  return Blocks;
}

/// Returns the blocks of \p Sections with their relocations, and marks those of \p Kernel.
static Expected<std::vector<FrameBlock>> framesOf(const CubinElf &Elf,
                                                  const FrameSections &Sections, StringRef Kernel) {
  Expected<std::vector<FrameBlock>> Blocks = blocksOf(Sections.Frames->Bytes);
  if (!Blocks)
    return Blocks;
  std::vector<CubinRelocation> All = Sections.Relocations->relocations();
  sort(All, [](const CubinRelocation &A, const CubinRelocation &B) { return A.Offset < B.Offset; });
  for (FrameBlock &Block : *Blocks)
    for (const CubinRelocation &R : All)
      if (R.Offset >= Block.Begin && R.Offset < Block.End) {
        Block.Own |= R.Symbol < Elf.Symbols.size() && Elf.ownerOf(Elf.Symbols[R.Symbol]) == Kernel;
        Block.Relocations.push_back(R);
      }
  return Blocks;
}

namespace {

/// Writes the frame information of an image anew.
class FrameWriter {
public:
  /// \p Old has the blocks of the image as it was read, and \p Now those of \p Frames, in which
  /// kernels may have been replaced. \p Relocations has the relocations, with the addends if \p
  /// HasAddends is set.
  FrameWriter(ArrayRef<FrameBlock> Old, ArrayRef<FrameBlock> Now, std::string &Frames,
              std::string &Relocations, bool HasAddends)
      : Old(Old), Now(Now), Frames(Frames), Relocations(Relocations), HasAddends(HasAddends) {}

  /// Appends block number \p I as it is.
  void keep(size_t I);
  /// Appends block number \p I with \p Bytes, the content of \p From.
  void take(size_t I, const FrameBlock &From, StringRef Bytes);
  /// Gives the blocks the new places of those that they refer to. Fails if there is no such block.
  Error finish();

private:
  size_t place(size_t I, const CubinRelocation &R) const {
    return size_t(read64le(Relocations.data() + R.At)) - Now[I].Begin;
  }

  ArrayRef<FrameBlock> Old, Now;
  std::string &Frames, &Relocations;
  bool HasAddends;
  std::string Made;
  std::vector<size_t> Begins;
};

} // namespace

void FrameWriter::keep(size_t I) {
  for (const CubinRelocation &R : Old[I].Relocations)
    write64le(Relocations.data() + R.At, Made.size() + place(I, R));
  Begins.push_back(Made.size());
  Made.append(Frames, Now[I].Begin, Now[I].End - Now[I].Begin);
}

void FrameWriter::take(size_t I, const FrameBlock &From, StringRef Bytes) {
  for (auto [To, R] : zip_equal(Old[I].Relocations, From.Relocations)) {
    write64le(Relocations.data() + To.At, Made.size() + (R.Offset - From.Begin));
    if (HasAddends)
      write64le(Relocations.data() + To.At + 16, R.Addend);
  }
  Begins.push_back(Made.size());
  Made += Bytes;
  // What it refers to is found by the place that it had.
  Made.replace(Begins.back() + PlaceAt, HeadBytes - PlaceAt, Frames, Now[I].Begin + PlaceAt,
               HeadBytes - PlaceAt);
}

Error FrameWriter::finish() {
  for (size_t Begin : Begins) {
    const uint64_t Place = read64le(Made.data() + Begin + PlaceAt);
    if (Place == SharedMark)
      continue;
    auto Shared = find_if(Now, [&](const FrameBlock &B) { return B.Begin == Place; });
    if (Shared == Now.end())
      return malformed("cubin: .debug_frame refers to " + Twine(Place) + ", which is no block");
    write64le(Made.data() + Begin + PlaceAt, Begins[Shared - Now.begin()]);
  }
  Frames = std::move(Made);
  return Error::success();
}

/// Whether block \p B of \p Bytes is one that others refer to.
static bool isShared(StringRef Bytes, const FrameBlock &B) {
  return read64le(Bytes.data() + B.Begin + PlaceAt) == SharedMark;
}

/// Whether the relocations of \p A and \p B are of the same types.
static bool sameRelocations(const FrameBlock &A, const FrameBlock &B) {
  return A.Relocations.size() == B.Relocations.size() &&
         all_of(zip(A.Relocations, B.Relocations),
                [](const auto &Pair) { return std::get<0>(Pair).Type == std::get<1>(Pair).Type; });
}

Error carve::replaceFrames(const CubinElf &Base, const CubinElf &Donor, StringRef Kernel,
                           ElfLayout &Made) {
  FrameSections Mine(Base), Others(Donor);
  if (!Mine.Frames || !Mine.Relocations || !Others.Frames || !Others.Relocations)
    return Error::success();
  const size_t Section = Mine.Frames - Base.Sections.data();
  std::string &Frames = Made.Contents[Section];
  Expected<std::vector<FrameBlock>> Old = framesOf(Base, Mine, Kernel);
  Expected<std::vector<FrameBlock>> New = framesOf(Donor, Others, Kernel);
  Expected<std::vector<FrameBlock>> Now = blocksOf(Frames);
  if (!Old || !New || !Now)
    return joinErrors(joinErrors(Old.takeError(), New.takeError()), Now.takeError());
  erase_if(*New, [](const FrameBlock &B) { return !B.Own; });
  FrameWriter Writer(*Old, *Now, Frames, Made.Contents[Mine.Relocations - Base.Sections.data()],
                     Mine.Relocations->Header->sh_type == ELF::SHT_RELA);
  size_t Taken = 0;
  for (size_t I = 0; I < Old->size(); ++I) {
    if (!(*Old)[I].Own) {
      Writer.keep(I);
      continue;
    }
    if (Taken == New->size() || !sameRelocations((*Old)[I], (*New)[Taken]) ||
        isShared(Mine.Frames->Bytes, (*Old)[I]) != isShared(Others.Frames->Bytes, (*New)[Taken]))
      break;
    const FrameBlock &From = (*New)[Taken++];
    Writer.take(I, From, Others.Frames->Bytes.slice(From.Begin, From.End));
  }
  if (Taken != New->size() ||
      Taken != size_t(count_if(*Old, [](const FrameBlock &B) { return B.Own; })))
    return unsupported("other-attributes", "the frames of " + Kernel.str() + " differ");
  if (Error E = Writer.finish())
    return E;
  Made.Headers[Section].sh_size = Frames.size();
  return Error::success();
}
