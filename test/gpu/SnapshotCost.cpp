// Measures what saving, comparing and restoring device memory costs compared with the device's own
// copy, and checks whether the probe's kernels compute the same on this GPU as on the host.
//
//   SnapshotCost check [SEEDS]     checks the kernels, on random data of odd sizes and addresses
//   SnapshotCost cost [GB...]      prints a table, tab-separated with a heading: milliseconds, the
//                                  median of five; the default sizes are 1, 4 and 16
//
// Exits with 77 if there is no driver or no device, and with 1 if anything is wrong.
#include "Probe/Memory/HelperKernels.h"
#include "Probe/Memory/Snapshot.h"
#include "Probe/Memory/device/HelperTypes.h"
#include "unit/Probe/EmulatedHelper.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace carve::probe;

namespace {

constexpr int NoDevice = 77;

/// The driver's functions that are called in addition to those of a snapshot.
struct Gpu {
  decltype(&cuInit) Init = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) Retain = nullptr;
  decltype(&cuCtxSetCurrent) SetCurrent = nullptr;
  decltype(&cuStreamCreate) StreamCreate = nullptr;
  decltype(&cuStreamSynchronize) Synchronize = nullptr;
  decltype(&cuMemcpyDtoDAsync) CopyAsync = nullptr;
  DriverApi Driver;
  CUstream Stream = nullptr;
};

/// Ends the program if \p Reason is not empty.
void require(const std::string &Reason, const char *What) {
  if (Reason.empty())
    return;
  std::fprintf(stderr, "SnapshotCost: %s: %s\n", What, Reason.c_str());
  std::exit(1);
}

void require(const Failure &Why, const char *What) { require(Why.reason(), What); }

void require(CUresult Result, const char *What) {
  require(Result == CUDA_SUCCESS ? "" : "error " + std::to_string(Result), What);
}

template <class Function> void resolve(void *Library, const char *Name, Function &Into) {
  Into = reinterpret_cast<Function>(dlsym(Library, Name));
  require(Into ? "" : "not in the driver", Name);
}

bool start(Gpu &G) {
  void *Library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!Library) {
    std::fprintf(stderr, "SnapshotCost: %s\n", dlerror());
    return false;
  }
  resolve(Library, "cuInit", G.Init);
  resolve(Library, "cuDevicePrimaryCtxRetain", G.Retain);
  resolve(Library, "cuCtxSetCurrent", G.SetCurrent);
  resolve(Library, "cuStreamCreate", G.StreamCreate);
  resolve(Library, "cuStreamSynchronize", G.Synchronize);
  resolve(Library, "cuMemcpyDtoDAsync_v2", G.CopyAsync);
  G.Driver.load();
  CUcontext Context = nullptr;
  if (G.Init(0) != CUDA_SUCCESS || G.Retain(&Context, 0) != CUDA_SUCCESS) {
    std::fprintf(stderr, "SnapshotCost: no device\n");
    return false;
  }
  require(G.SetCurrent(Context), "cuCtxSetCurrent");
  require(G.StreamCreate(&G.Stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  require(G.Driver.copies() ? "" : "misses functions", "driver");
  return true;
}

// The check: the device and the host run the same table, in which only the upper bits of the
// addresses differ.

constexpr size_t ArenaBytes = size_t(8) << 20;

/// Live memory followed by the shadow, on one side.
struct Side {
  uint64_t Base = 0;
  std::vector<helper::Piece> Table;
};

class KernelCheck {
public:
  KernelCheck(Gpu &G, uint64_t Seed);
  ~KernelCheck();
  /// Returns whether all kernels agree with the emulation.
  bool run();

private:
  void makePieces();
  void fill();
  bool compare();
  bool difference();
  bool scan(bool Plant);
  bool copy(bool ToLive);
  bool agree(bool Equal, const char *Kernel) const;
  void upload();
  template <class T> T fetch(CUdeviceptr At);

  Gpu &G;
  uint64_t Seed;
  std::mt19937_64 Random;
  HelperKernels Kernels;
  std::vector<unsigned char> Memory; ///< The host's side, with room for alignment.
  CUdeviceptr Device = 0, Scratch = 0;
  Side Here, There;
  DeviceTable OnDevice, OnHost;
};

KernelCheck::KernelCheck(Gpu &G, uint64_t Seed)
    : G(G), Seed(Seed), Random(Seed), Kernels(G.Driver), Memory(2 * ArenaBytes + 256) {
  require(Kernels.load(), "kernels");
  require(G.Driver.MemAlloc(&Device, 2 * ArenaBytes), "cuMemAlloc");
  require(G.Driver.MemAlloc(&Scratch, size_t(1) << 20), "cuMemAlloc");
  Here.Base = (reinterpret_cast<uint64_t>(Memory.data()) + 255) / 256 * 256;
  There.Base = Device;
  makePieces();
  fill();
}

KernelCheck::~KernelCheck() {
  G.Driver.MemFree(Device);
  G.Driver.MemFree(Scratch);
}

void KernelCheck::makePieces() {
  static constexpr size_t Sizes[] = {1,     2,     3,     4,     7,     8,      15,    16,
                                     17,    31,    4095,  65535, 65536, 65537,  70000, 131072,
                                     16384, 16383, 16400, 12288, 60000, 196613, 64,    128};
  size_t Offset = 0;
  uint64_t Chunks = 0;
  int Count = 1 + int(Random() % 80);
  for (int I = 0; I < Count; ++I) {
    size_t Bytes = Sizes[Random() % std::size(Sizes)];
    // Most addresses are like those of allocations; some are arbitrary.
    size_t Gap = Random() % 3 ? -Offset % 256 : Random() % 300;
    if (Offset + Gap + Bytes > ArenaBytes)
      break;
    Offset += Gap;
    for (Side *S : {&Here, &There})
      S->Table.push_back({S->Base + Offset, S->Base + ArenaBytes + Offset, Bytes, Chunks});
    Chunks += helper::chunksOf(Bytes);
    Offset += Bytes;
  }
  auto Size = uint32_t(Here.Table.size());
  OnDevice = {Scratch, Size, Chunks};
  OnHost = {reinterpret_cast<CUdeviceptr>(Here.Table.data()), Size, Chunks};
}

/// Small numbers, any bits, and zeros. The shadow differs in few places or in many.
void KernelCheck::fill() {
  auto *Live = reinterpret_cast<unsigned char *>(Here.Base);
  for (size_t I = 0; I < ArenaBytes; I += 4) {
    uint32_t Word = uint32_t(Random());
    float Number = float(Word % 1000) / 8;
    if (Word % 7 == 0)
      Word = 0;
    else if (Word % 7 < 4)
      std::memcpy(&Word, &Number, sizeof Word);
    std::memcpy(Live + I, &Word, sizeof Word);
  }
  std::memcpy(Live + ArenaBytes, Live, ArenaBytes);
  int Changes = Random() % 3 == 0 ? 0 : 1 << Random() % 16;
  for (int I = 0; I < Changes; ++I)
    Live[ArenaBytes + Random() % ArenaBytes] ^= 1 << Random() % 8;
  if (!Here.Table.empty() && Changes) // The last byte of a piece, and the first one, are changed.
    for (size_t At : {size_t(0), size_t(Here.Table.back().Bytes - 1)})
      reinterpret_cast<unsigned char *>(Here.Table.back().Shadow)[At] ^= 0x10;
}

void KernelCheck::upload() {
  const DriverApi &D = G.Driver;
  require(D.MemcpyHtoDAsync(Device, reinterpret_cast<void *>(Here.Base), 2 * ArenaBytes, G.Stream),
          "upload");
  require(D.MemcpyHtoDAsync(Scratch, There.Table.data(), There.Table.size() * sizeof(helper::Piece),
                            G.Stream),
          "upload");
  require(G.Synchronize(G.Stream), "upload");
}

template <class T> T KernelCheck::fetch(CUdeviceptr At) {
  T Value;
  require(G.Driver.MemcpyDtoHAsync(&Value, At, sizeof Value, G.Stream), "fetch");
  require(G.Synchronize(G.Stream), "fetch");
  return Value;
}

bool KernelCheck::agree(bool Equal, const char *Kernel) const {
  if (!Equal)
    std::fprintf(stderr, "SnapshotCost: seed %llu: %s does not agree\n",
                 static_cast<unsigned long long>(Seed), Kernel);
  return Equal;
}

bool KernelCheck::compare() {
  std::vector<uint8_t> Expected(OnHost.Chunks), Got(OnHost.Chunks);
  auto *Flags = Expected.data();
  void *Parameters[] = {&OnHost.Pieces, &OnHost.Count, &OnHost.Chunks, &Flags};
  carve::test::runEmulated("__carve_probe_compare", Parameters);
  CUdeviceptr DeviceFlags = Scratch + 65536;
  require(Kernels.compare(G.Stream, OnDevice, DeviceFlags), "compare");
  require(G.Driver.MemcpyDtoHAsync(Got.data(), DeviceFlags, Got.size(), G.Stream), "flags");
  require(G.Synchronize(G.Stream), "compare");
  return agree(Expected == Got, "compare");
}

bool KernelCheck::difference() {
  helper::Tally Expected, *Total = &Expected;
  void *Parameters[] = {&OnHost.Pieces, &OnHost.Count, &OnHost.Chunks, &Total};
  carve::test::runEmulated("__carve_probe_difference", Parameters);
  CUdeviceptr Sum = Scratch + 65536;
  require(G.Driver.MemsetD8Async(Sum, 0, sizeof Expected, G.Stream), "clear");
  require(Kernels.difference(G.Stream, OnDevice, Sum), "difference");
  auto Got = fetch<helper::Tally>(Sum);
  return agree(std::memcmp(&Got, &Expected, sizeof Got) == 0, "difference");
}

bool KernelCheck::scan(bool Plant) {
  std::vector<helper::Interval> Intervals;
  for (uint64_t I = 0; I < 1 + Random() % 40; ++I)
    Intervals.push_back({0x7f0000000000 + I * 0x10000, 0x7f0000000000 + I * 0x10000 + 0x100});
  if (Plant) {
    const helper::Piece &P = Here.Table[Random() % Here.Table.size()];
    uint64_t Value = Intervals[Random() % Intervals.size()].Begin + Random() % 0x100;
    if (P.Bytes >= sizeof Value)
      std::memcpy(reinterpret_cast<char *>(P.Live) + Random() % (P.Bytes - sizeof Value + 1),
                  &Value, sizeof Value);
    upload();
  }
  uint64_t Expected = 0, *Found = &Expected;
  auto Count = uint32_t(Intervals.size());
  auto *Data = Intervals.data();
  void *Parameters[] = {&OnHost.Pieces, &OnHost.Count, &OnHost.Chunks, &Data, &Count, &Found};
  carve::test::runEmulated("__carve_probe_scan", Parameters);
  CUdeviceptr DeviceFound = Scratch + 65536, DeviceIntervals = Scratch + 131072;
  require(G.Driver.MemcpyHtoDAsync(DeviceIntervals, Data, Count * sizeof *Data, G.Stream),
          "intervals");
  require(G.Driver.MemsetD8Async(DeviceFound, 0, sizeof Expected, G.Stream), "clear");
  require(Kernels.scan(G.Stream, OnDevice, DeviceIntervals, Count, DeviceFound), "scan");
  // If there are several such words, either may be the one that is found.
  auto Place = fetch<uint64_t>(DeviceFound);
  uint64_t Word = 0;
  if (Place && Expected)
    Word = fetch<uint64_t>(Place);
  bool Right = std::any_of(Intervals.begin(), Intervals.end(), [&](const helper::Interval &I) {
    return Word >= I.Begin && Word < I.End;
  });
  return agree(Expected ? Place && Right : !Place, "scan");
}

/// All of the memory is compared, because nothing beside the pieces may be written.
bool KernelCheck::copy(bool ToLive) {
  uint32_t Direction = ToLive;
  void *Parameters[] = {&OnHost.Pieces, &OnHost.Count, &OnHost.Chunks, &Direction};
  carve::test::runEmulated("__carve_probe_copy", Parameters);
  require(Kernels.copy(G.Stream, OnDevice, ToLive), "copy");
  std::vector<unsigned char> Got(2 * ArenaBytes);
  require(G.Driver.MemcpyDtoHAsync(Got.data(), Device, Got.size(), G.Stream), "fetch");
  require(G.Synchronize(G.Stream), "copy");
  return agree(std::memcmp(Got.data(), reinterpret_cast<void *>(Here.Base), Got.size()) == 0,
               ToLive ? "copy to live" : "copy to shadow");
}

bool KernelCheck::run() {
  upload();
  bool Agreed = compare();
  Agreed &= difference();
  Agreed &= scan(false);
  Agreed &= scan(Random() % 2);
  Agreed &= copy(Random() % 2);
  Agreed &= compare();
  for (bool EvictFirst : {false, true})
    require(Kernels.read(G.Stream, Device, 2 * ArenaBytes, Scratch + 65536, EvictFirst), "read");
  require(G.Synchronize(G.Stream), "read");
  return Agreed;
}

int check(Gpu &G, int Seeds) {
  int Bad = 0;
  for (int Seed = 1; Seed <= Seeds; ++Seed)
    Bad += !KernelCheck(G, Seed).run();
  std::printf("kernels\t%d of %d seeds agree\n", Seeds - Bad, Seeds);
  return Bad ? 1 : 0;
}

// The measurement of the cost.

double medianMs(const std::function<void()> &Work) {
  std::vector<double> Times;
  for (int I = 0; I < 5; ++I) {
    auto Start = std::chrono::steady_clock::now();
    Work();
    Times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - Start)
            .count());
  }
  std::sort(Times.begin(), Times.end());
  return Times[2];
}

/// The program's memory: \p Count ranges of \p Bytes in total.
class Ranges {
public:
  Ranges(Gpu &G, size_t Bytes, size_t Count) : G(G) {
    for (size_t I = 0; I < Count; ++I) {
      MemoryRange Range{0, Bytes / Count / 16 * 16, MemoryKind::Device, nullptr};
      require(G.Driver.MemAlloc(&Range.Base, Range.Bytes), "cuMemAlloc");
      All.push_back(Range);
    }
    set(0);
  }
  ~Ranges() {
    for (const MemoryRange &Range : All)
      G.Driver.MemFree(Range.Base);
  }
  Ranges(const Ranges &) = delete;
  Ranges &operator=(const Ranges &) = delete;

  void set(unsigned char Value, size_t Only = ~size_t(0)) {
    for (const MemoryRange &Range : All)
      require(G.Driver.MemsetD8Async(Range.Base, Value, std::min(Range.Bytes, Only), G.Stream),
              "cuMemsetD8Async");
    require(G.Synchronize(G.Stream), "cuMemsetD8Async");
  }

  std::vector<MemoryRange> All;

private:
  Gpu &G;
};

double copyMs(Gpu &G, const Ranges &From) {
  Ranges To(G, From.All.size() * From.All[0].Bytes, From.All.size());
  auto Copy = [&] {
    for (size_t I = 0; I < From.All.size(); ++I)
      require(G.CopyAsync(To.All[I].Base, From.All[I].Base, From.All[I].Bytes, G.Stream),
              "cuMemcpyDtoDAsync");
    require(G.Synchronize(G.Stream), "cuMemcpyDtoDAsync");
  };
  Copy();
  return medianMs(Copy);
}

void printRow(Gpu &G, size_t Bytes, size_t Count, const char *Name) {
  Ranges Live(G, Bytes, Count);
  double Copy = copyMs(G, Live);
  Snapshot Shot(G.Driver);
  std::vector<Span> All, Spans;
  for (size_t I = 0; I < Count; ++I)
    All.push_back({I, 0, Live.All[I].Bytes});
  OutputDifference Difference;
  std::optional<AddressInMemory> Found;
  std::vector<MemoryRange> Pointed(100, MemoryRange{0x1000, 0x1000, MemoryKind::Host, nullptr});

  auto Start = std::chrono::steady_clock::now();
  require(Shot.save(Live.All, G.Stream), "save");
  double First =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - Start).count();
  auto Save = [&] { Shot.done(), require(Shot.save(Live.All, G.Stream), "save"); };
  auto Changed = [&] { require(Shot.changed(Spans), "changed"); };
  auto Differ = [&] { require(Shot.differenceFromReference(Difference), "difference"); };
  double Saved = medianMs(Save), Equal = medianMs(Changed);
  require(Spans.empty() ? "" : "equal memory differs", "changed");
  Live.set(1);
  double Dirty = medianMs(Changed);
  require(Spans == All ? "" : "not all differs", "changed");
  require(Shot.keepReference(All), "reference");
  double Same = medianMs(Differ);
  require(Difference.equal() ? "" : "equal output differs", "difference");
  Live.set(2);
  double Other = medianMs(Differ);
  require(Difference.Words == All.size() * All[0].Bytes / 4 ? "" : "wrong number of words",
          "difference");
  double Restored = medianMs([&] { require(Shot.restore(All), "restore"); });
  Changed();
  require(Spans.empty() ? "" : "not all is restored", "restore");
  Live.set(3, 16);
  Changed();
  double Few = medianMs([&] { require(Shot.restore(Spans), "restore"); });
  Changed();
  require(Spans.empty() ? "" : "not all is restored", "restore");
  double Scan = medianMs([&] { require(Shot.pointsInto(Pointed, Found), "pointsInto"); });
  require(Found ? "nothing was there" : "", "pointsInto");
  double Flush = medianMs([&] {
    require(Shot.flushL2(), "flush");
    require(G.Synchronize(G.Stream), "flush");
  });
  size_t Spilled = Shot.spilledBytes();
  double Release = medianMs([&] { Shot.release(); });
  std::printf(
      "%s\t%.2f\t%zu\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f"
      "\t%.3f\n",
      Name, double(Bytes) / double(1 << 30), Count, double(Spilled) / double(1 << 30), Copy, First,
      Saved, Equal, Dirty, Restored, Few, Same, Other, Scan, Flush, Release);
  std::fflush(stdout);
}

int cost(Gpu &G, const std::vector<double> &Sizes) {
  std::printf("case\tGB\tranges\tspilled_GB\tcopy\tsave_first\tsave\tcompare_equal\tcompare_dirty"
              "\trestore_all\trestore_few\treference_equal\treference_differs\tscan\tflush"
              "\trelease\n");
  for (double Size : Sizes)
    for (size_t Count : {1, 1000})
      printRow(G, size_t(Size * double(1 << 30)), Count, "device");
  // Nearly all memory is taken, so that most of what is saved goes to the host.
  size_t Free = 0, Total = 0;
  require(G.Driver.MemGetInfo(&Free, &Total), "cuMemGetInfo");
  size_t Wanted = size_t(2560) << 20;
  if (Free < Wanted)
    return 0;
  CUdeviceptr Ballast = 0;
  require(G.Driver.MemAlloc(&Ballast, Free - Wanted), "cuMemAlloc");
  printRow(G, size_t(1) << 30, 1, "spilled");
  G.Driver.MemFree(Ballast);
  return 0;
}

} // namespace

int main(int Count, char **Arguments) {
  std::vector<std::string> Words(Arguments + 1, Arguments + Count);
  if (Words.empty() || (Words[0] != "check" && Words[0] != "cost")) {
    std::fprintf(stderr, "usage: SnapshotCost check [SEEDS] | cost [GB...]\n");
    return 1;
  }
  Gpu G;
  if (!start(G))
    return std::getenv("CARVE_REQUIRE_GPU") ? 1 : NoDevice;
  std::vector<double> Numbers;
  for (size_t I = 1; I < Words.size(); ++I)
    Numbers.push_back(std::strtod(Words[I].c_str(), nullptr));
  if (Words[0] == "check")
    return check(G, Numbers.empty() ? 200 : int(Numbers[0]));
  return cost(G, Numbers.empty() ? std::vector<double>{1, 4, 16} : Numbers);
}
