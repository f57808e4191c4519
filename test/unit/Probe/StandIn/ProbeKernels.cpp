/// \file
/// The probe's device kernels (Probe/Memory/device/Helper.cu) in C++. They work through the same
/// tables.

#include "unit/Probe/StandIn/Model.h"
#include "unit/Probe/StandIn/StandIn.h"

#include "Probe/Memory/device/HelperTypes.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace carve::standin;
using namespace carve::probe::helper;

// Device addresses are the host's own.
template <class T> static T *at(uint64_t Address) {
  return reinterpret_cast<T *>(Address); // NOLINT(performance-no-int-to-ptr)
}

template <class T> static T *pointer(const KernelCall &Call, size_t Index) {
  return at<T>(Call.argument<CUdeviceptr>(Index));
}

template <class F> static void forEachPiece(const KernelCall &Call, F Visit) {
  const auto *Pieces = pointer<const Piece>(Call, 0);
  for (uint32_t P = 0, Count = Call.argument<uint32_t>(1); P < Count; ++P)
    Visit(Pieces[P]);
}

static CUdeviceptr SlowBegin = 0, SlowEnd = 0;
static double SlowNsPerByte = 0;

void carve::standin::slowBus(CUdeviceptr Begin, size_t Bytes, double NsPerByte) {
  SlowBegin = Begin;
  SlowEnd = Begin + Bytes;
  SlowNsPerByte = NsPerByte;
}

/// Waits for as long as the bus takes for the pieces of slowBus().
static void passBus(const KernelCall &Call) {
  double Ns = 0;
  forEachPiece(Call, [&](const Piece &P) {
    if (P.Live >= SlowBegin && P.Live < SlowEnd)
      Ns += SlowNsPerByte * double(P.Bytes);
  });
  if (Ns > 0)
    std::this_thread::sleep_for(std::chrono::nanoseconds(uint64_t(Ns)));
}

static std::atomic<ProbeWork> LastWork{ProbeWork::None};

ProbeWork carve::standin::takeLastProbeWork() { return LastWork.exchange(ProbeWork::None); }
void carve::standin::noteProbeWork(ProbeWork Work) { LastWork = Work; }

static std::atomic<CUdeviceptr> LastCopyBegin{0}, LastCopyEnd{0};
static std::atomic<size_t> LastCopyBytes{0};

bool carve::standin::lastCopyWas(CUdeviceptr Begin, size_t Bytes) {
  return LastCopyBegin == Begin && LastCopyEnd == Begin + Bytes && LastCopyBytes == Bytes;
}

static void noteCopy(const KernelCall &Call) {
  CUdeviceptr Begin = UINT64_MAX, End = 0;
  size_t Bytes = 0;
  forEachPiece(Call, [&](const Piece &P) {
    Begin = std::min<CUdeviceptr>(Begin, P.Live);
    End = std::max<CUdeviceptr>(End, P.Live + P.Bytes);
    Bytes += P.Bytes;
  });
  LastCopyBegin = Begin;
  LastCopyEnd = End;
  LastCopyBytes = Bytes;
  LastWork = LastWork == ProbeWork::Read ? ProbeWork::CopyBehindRead : ProbeWork::Copy;
}

static CUresult copy(const KernelCall &Call) {
  passBus(Call);
  bool ToLive = Call.argument<uint32_t>(3) != 0;
  if (ToLive)
    noteCopy(Call);
  forEachPiece(Call, [&](const Piece &P) {
    std::memcpy(at<char>(ToLive ? P.Live : P.Shadow), at<char>(ToLive ? P.Shadow : P.Live),
                P.Bytes);
  });
  return CUDA_SUCCESS;
}

static CUresult compare(const KernelCall &Call) {
  passBus(Call);
  auto *Flags = pointer<uint8_t>(Call, 3);
  forEachPiece(Call, [&](const Piece &P) {
    for (uint64_t C = 0; C < chunksOf(P.Bytes); ++C) {
      uint64_t Offset = C * ChunkBytes, Bytes = std::min(ChunkBytes, P.Bytes - Offset);
      Flags[P.FirstChunk + C] =
          std::memcmp(at<char>(P.Live + Offset), at<char>(P.Shadow + Offset), Bytes) != 0;
    }
  });
  return CUDA_SUCCESS;
}

/// Returns a word at any address. Bytes after the end of its chunk count as zero.
static uint32_t wordAt(uint64_t Address, uint64_t Left) {
  uint32_t Word = 0;
  std::memcpy(&Word, at<char>(Address), std::min<uint64_t>(Left, 4));
  return Word;
}

static void tally(Tally &Sum, uint64_t Live, uint64_t Shadow, uint64_t Bytes) {
  for (uint64_t I = 0; I < Bytes; I += 8) {
    uint64_t Left = Bytes - I;
    uint32_t LowOutput = wordAt(Live + I, Left), LowReference = wordAt(Shadow + I, Left);
    if (Left >= 8)
      Sum.pair(LowOutput, wordAt(Live + I + 4, 4), LowReference, wordAt(Shadow + I + 4, 4));
    else
      Sum.word(LowOutput, LowReference);
    if (Left > 4 && Left < 8)
      Sum.word(wordAt(Live + I + 4, Left - 4), wordAt(Shadow + I + 4, Left - 4));
  }
}

static CUresult difference(const KernelCall &Call) {
  Tally &Total = *pointer<Tally>(Call, 3);
  forEachPiece(Call, [&](const Piece &P) {
    for (uint64_t Offset = 0; Offset < P.Bytes; Offset += ChunkBytes)
      tally(Total, P.Live + Offset, P.Shadow + Offset, std::min(ChunkBytes, P.Bytes - Offset));
  });
  return CUDA_SUCCESS;
}

static CUresult scan(const KernelCall &Call) {
  const auto *Intervals = pointer<const Interval>(Call, 3);
  auto Count = Call.argument<uint32_t>(4);
  forEachPiece(Call, [&](const Piece &P) {
    for (uint64_t I = (P.Live + 7) / 8 * 8; I + 8 <= P.Live + P.Bytes; I += 8)
      if (std::any_of(Intervals, Intervals + Count, [&](const Interval &In) {
            return *at<uint64_t>(I) >= In.Begin && *at<uint64_t>(I) < In.End;
          }))
        *pointer<uint64_t>(Call, 5) = I;
  });
  return CUDA_SUCCESS;
}

static CUresult readAll(const KernelCall &) {
  LastWork = ProbeWork::Read;
  return CUDA_SUCCESS;
}

#ifdef __SANITIZE_THREAD__
extern "C" void AnnotateIgnoreReadsBegin(const char *File, int Line);
extern "C" void AnnotateIgnoreReadsEnd(const char *File, int Line);
#endif

/// Runs a kernel. A GPU may read the host's memory while the program writes it: that is what some
/// of the scenarios are about, and no race between threads.
static CUresult runAsGpu(CUresult (*Body)(const KernelCall &), const KernelCall &Call) {
#ifdef __SANITIZE_THREAD__
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  CUresult Result = Body(Call);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  return Result;
#else
  return Body(Call);
#endif
}

void carve::standin::registerProbeKernels() {
  auto Register = [](const char *Name, std::vector<size_t> Bytes,
                     CUresult (*Body)(const KernelCall &)) {
    registerKernel({Name, std::move(Bytes),
                    [Body](const KernelCall &Call) { return runAsGpu(Body, Call); }, 2'000, 32,
                    256});
  };
  Register("__carve_probe_copy", {8, 4, 8, 4}, copy);
  Register("__carve_probe_compare", {8, 4, 8, 8}, compare);
  Register("__carve_probe_difference", {8, 4, 8, 8}, difference);
  Register("__carve_probe_scan", {8, 4, 8, 8, 4, 8}, scan);
  Register("__carve_probe_read", {8, 8, 8}, readAll);
}
