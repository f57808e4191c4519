#include "unit/Probe/StandIn/ProgramKernels.h"

#include "unit/Probe/StandIn/StandIn.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using namespace carve::standin;

static std::atomic<CUdeviceptr> StrayTarget{0};

/// No element of the scenarios is infinite.
static std::atomic<float> LongStart{std::numeric_limits<float>::infinity()};

void carve::standin::setLongStart(float First) { LongStart = First; }

void carve::standin::setStrayTarget(CUdeviceptr Target) { StrayTarget = Target; }

template <class T> static T *at(CUdeviceptr Address) {
  return reinterpret_cast<T *>(Address); // NOLINT(performance-no-int-to-ptr)
}

template <class T> static T *pointer(const KernelCall &Call, size_t Index) {
  return at<T>(Call.argument<CUdeviceptr>(Index));
}

/// scale(out, in, count) is deterministic, and gives the same if it runs twice.
static CUresult scale(const KernelCall &Call) {
  auto *Out = pointer<float>(Call, 0);
  const auto *In = pointer<const float>(Call, 1);
  auto Count = Call.argument<unsigned>(2);
  for (unsigned I = 0; I < Count; ++I)
    Out[I] = In[I] * 1.5f + 0.25f;
  return CUDA_SUCCESS;
}

/// step(data, count) works in place, so that a second run gives something else.
static CUresult step(const KernelCall &Call) {
  auto *Data = pointer<float>(Call, 0);
  auto Count = Call.argument<unsigned>(1);
  if (Data[0] == LongStart)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (unsigned I = 0; I < Count; ++I)
    Data[I] = Data[I] * 0.75f + float(I % 7) * 0.125f;
  return CUDA_SUCCESS;
}

/// Starts at another element in every run, because blocks come in any order.
static unsigned anyStart(unsigned Count) {
  static std::atomic<unsigned> Runs{0};
  return Runs++ * 977 % Count;
}

/// sum(out, in, count) adds from the element \p Start on.
static CUresult sumFrom(unsigned Start, const KernelCall &Call) {
  auto *Out = pointer<float>(Call, 0);
  const auto *In = pointer<const float>(Call, 1);
  auto Count = Call.argument<unsigned>(2);
  for (unsigned Sum = 0; Sum < 64; ++Sum) {
    float Total = 0;
    for (unsigned I = 0; I < Count; ++I)
      // This visits all elements if Count is a power of two.
      Total += In[(Start + I * (2 * Sum + 1)) % Count];
    Out[Sum] += Total;
  }
  return CUDA_SUCCESS;
}

/// sum in any order, as atomic additions of floats do.
static CUresult sum(const KernelCall &Call) {
  return sumFrom(anyStart(Call.argument<unsigned>(2)), Call);
}

/// sum in one order in its first runs, by chance.
static CUresult sumSeldomVaries(const KernelCall &Call) {
  static std::atomic<unsigned> Runs{0};
  return Runs++ < 5 ? sumFrom(0, Call) : sum(Call);
}

/// append(list, in, count) writes the same elements in any order.
static CUresult append(const KernelCall &Call) {
  auto *List = pointer<unsigned>(Call, 0);
  const auto *In = pointer<const unsigned>(Call, 1);
  auto Count = Call.argument<unsigned>(2);
  unsigned Start = anyStart(Count);
  for (unsigned I = 0; I < Count; ++I)
    List[I] = In[(Start + I) % Count];
  return CUDA_SUCCESS;
}

/// append in memory that must be cleared.
static CUresult appendToNothing(const KernelCall &Call) {
  const auto *List = pointer<const unsigned>(Call, 0);
  if (std::any_of(List, List + Call.argument<unsigned>(2), [](unsigned Word) { return Word != 0; }))
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  return append(Call);
}

/// append in order, to the first half of the list, or to the second if there is something.
static CUresult appendFurther(const KernelCall &Call) {
  auto *List = pointer<unsigned>(Call, 0);
  const auto *In = pointer<const unsigned>(Call, 1);
  unsigned Half = Call.argument<unsigned>(2) / 2;
  bool IsThere = std::any_of(List, List + Half, [](unsigned Word) { return Word != 0; });
  std::copy(In, In + Half, IsThere ? List + Half : List);
  return CUDA_SUCCESS;
}

/// count(data, count) adds a variable of the module to the data, and changes the variable.
static CUresult count(const KernelCall &Call) {
  auto *Data = pointer<float>(Call, 0);
  auto Count = Call.argument<unsigned>(1);
  auto *Counter = at<unsigned>(Call.Variables->at("Counter").first);
  ++Counter[0];
  Counter[3] = Counter[3] * 5 + Counter[0];
  for (unsigned I = 0; I < Count; ++I)
    Data[I] += float(Counter[3] % 17);
  return CUDA_SUCCESS;
}

/// count that builds something in its first launch, and then goes by what it has built.
static CUresult buildOnce(const KernelCall &Call) {
  auto *Data = pointer<unsigned>(Call, 0);
  auto *IsBuilt = at<unsigned>(Call.Variables->at("Counter").first);
  constexpr unsigned Built = 0xb0b0b0b0;
  if (*IsBuilt)
    return Data[0] == Built ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
  *IsBuilt = 1;
  std::fill_n(Data, Call.argument<unsigned>(1), Built);
  return CUDA_SUCCESS;
}

/// masked(data, inverted, count) does the same as step, and changes the memory at the inverted
/// address.
static CUresult masked(const KernelCall &Call) {
  auto *Data = pointer<float>(Call, 0);
  auto *Hidden = at<float>(~Call.argument<CUdeviceptr>(1));
  auto Count = Call.argument<unsigned>(2);
  for (unsigned I = 0; I < Count; ++I) {
    Data[I] = Data[I] * 0.75f + float(I % 7) * 0.125f;
    Hidden[I] += 1; // The value shows how many times it ran.
  }
  return CUDA_SUCCESS;
}

/// tell(where) writes the inverted address of the module's variable Table.
static CUresult tell(const KernelCall &Call) {
  *pointer<CUdeviceptr>(Call, 0) = ~Call.Variables->at("Table").first;
  return CUDA_SUCCESS;
}

/// lower(word, condition) subtracts 1 from the word, and makes the condition what is left.
static CUresult lower(const KernelCall &Call) {
  unsigned Left = --*pointer<unsigned>(Call, 0);
  setCondition(Call.argument<CUgraphConditionalHandle>(1), Left);
  return CUDA_SUCCESS;
}

static KernelBody badly(const std::string &Bad, KernelBody Body) {
  if (Bad == "wrong" || Bad == "seldom-wrong")
    return [Body](const KernelCall &Call) {
      CUresult Result = Body(Call);
      auto *First = pointer<float>(Call, 0);
      for (unsigned I = 0; I < 32; ++I)
        First[I] = First[I] * 1.5f + 3;
      return Result;
    };
  if (Bad == "stray")
    return [Body](const KernelCall &Call) {
      CUresult Result = Body(Call);
      if (StrayTarget)
        *at<unsigned>(StrayTarget) ^= 0x5a5a5a5a;
      return Result;
    };
  if (Bad == "hang")
    return [](const KernelCall &) -> CUresult {
      while (true)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
  if (Bad == "break")
    return [](const KernelCall &) { return CUDA_ERROR_ILLEGAL_ADDRESS; };
  if (Bad == "known")
    return [Body](const KernelCall &Call) {
      KernelCall Known = Call;
      std::memcpy(Known.Arguments.back().data(), &KnownCount, sizeof KnownCount);
      return Body(Known);
    };
  return Body;
}

/// The count of a launch, its last argument.
static unsigned countOf(const KernelCall &Call) {
  return Call.argument<unsigned>(Call.Arguments.size() - 1);
}

/// Whether the launch before with this count had the code \p Name, too. The first launch had.
static bool follows(const std::string &Name, unsigned Count) {
  static std::mutex Lock;
  static std::map<unsigned, std::string> Last;
  std::lock_guard<std::mutex> Guard(Lock);
  std::string Before = std::exchange(Last[Count], Name);
  return Before.empty() || Before == Name;
}

/// Whether the last launch of each kernel other than \p Kernel was its default's. \p IsDefault says
/// it of this launch.
static bool isBesideDefaults(const std::string &Kernel, bool IsDefault) {
  static std::mutex Lock;
  static std::map<std::string, bool> Last;
  std::lock_guard<std::mutex> Guard(Lock);
  Last[Kernel] = IsDefault;
  return std::all_of(Last.begin(), Last.end(),
                     [&](const auto &Each) { return Each.second || Each.first == Kernel; });
}

/// Whether the last launch has left its output as it was. Launches that are compared with it come
/// one by one.
static std::atomic<bool> LeftAll{false};

static KernelBody noteWhatItLeft(const KernelBody &Does) {
  return [Does](const KernelCall &Call) {
    const auto *Out = pointer<const float>(Call, 0);
    const std::vector<float> Before(Out, Out + countOf(Call));
    CUresult Result = Does(Call);
    LeftAll = std::equal(Before.begin(), Before.end(), Out);
    return Result;
  };
}

/// The time of a launch in percent of its time in the program, by what the probe has done before.
static uint64_t percentByInputs(const std::string &Bad, const KernelCall &Call) {
  static std::atomic<bool> IsBehindProbes{false};
  const uint64_t BehindRead = Bad == "even-inputs" ? 103 : 150;
  const ProbeWork Before = takeLastProbeWork();
  const bool WasBehindProbes = IsBehindProbes.exchange(Before != ProbeWork::None);
  switch (Before) {
  case ProbeWork::None:
    return Bad == "builds-once" && WasBehindProbes ? 90 : 100;
  case ProbeWork::Copy:
    return 90;
  case ProbeWork::CopyBehindRead:
    if (Bad == "near-inputs")
      return 90;
    if (Bad == "even-inputs")
      return 96;
    if (Bad != "read-inputs" &&
        (Bad != "whole-inputs" || lastCopyWas(Call.argument<CUdeviceptr>(0), 32 * countOf(Call))))
      return 100;
    return BehindRead;
  case ProbeWork::Read:
  case ProbeWork::Fill:
    return BehindRead;
  }
  return 100;
}

void carve::standin::registerProgramKernels(const std::string &Bad) {
  if (Bad == "other-ids")
    giveRecordsOtherIds();
  if (Bad == "refused")
    refuseInGraphs("__odd");
  if (Bad == "kept")
    refuseInGraphs("step");
  auto Register = [&](const std::string &Name, std::vector<size_t> Bytes, const KernelBody &Body) {
    auto One = [&](const char *Ending, const KernelBody &Does, uint64_t TimeNs, int Registers) {
      KernelCode Code{Name + Ending, Bytes, Does, TimeNs, Registers};
      if (Bad == "by-count" || Bad == "other-ids" || Bad == "after-other")
        Code.TimeOf = [TimeNs, Name = Code.Name, Bad](const KernelCall &Call) {
          uint64_t Ns = TimeNs * countOf(Call) / KnownCount;
          return Bad != "after-other" || follows(Name, countOf(Call)) ? Ns : Ns + Ns / 2;
        };
      if (Bad == "long" || Bad == "after-flush" || Bad == "after-others")
        Code.TimeOf = [Ns = 8 * TimeNs, Bad](const KernelCall &) {
          ProbeWork Before = takeLastProbeWork();
          bool Slow = Bad == "after-flush"    ? Before == ProbeWork::Read
                      : Bad == "after-others" ? Before != ProbeWork::Copy
                                              : false;
          return Slow ? Ns + Ns / 2 : Ns;
        };
      if (Bad.starts_with("behind-") || Bad == "far-from-program")
        Code.TimeOf = [TimeNs, Bad](const KernelCall &) {
          static std::atomic<unsigned> ProgramLaunches = 0;
          ProbeWork Before = takeLastProbeWork();
          if (Before == ProbeWork::None)
            ++ProgramLaunches;
          // The first replay has no more than five such launches.
          if (Bad == "behind-writes-once" && ProgramLaunches > 5)
            return Before == ProbeWork::Fill ? TimeNs + TimeNs / 10 : TimeNs;
          if (Before == ProbeWork::None || (Before == ProbeWork::Fill && Bad != "behind-program"))
            return TimeNs;
          return TimeNs - TimeNs / (Bad == "far-from-program" ? 2 : 10);
        };
      if (Bad.ends_with("-inputs") || Bad == "builds-once")
        Code.TimeOf = [TimeNs, Bad](const KernelCall &Call) {
          return TimeNs * percentByInputs(Bad, Call) / 100;
        };
      if (Bad == "beside-clones")
        Code.TimeOf = [TimeNs, Name, IsDefault = !*Ending](const KernelCall &) {
          return isBesideDefaults(Name, IsDefault) ? TimeNs : TimeNs + TimeNs / 2;
        };
      if (Bad == "settles") {
        Code.Body = noteWhatItLeft(Does);
        Code.TimeOf = [TimeNs](const KernelCall &) { return LeftAll ? TimeNs / 10 : TimeNs; };
      }
      registerKernel(std::move(Code));
    };
    One("", Body, 400'000, 64);
    One("__carve_control", Body, 400'000, 64);
    One("__fast", Body, 300'000, 80);
    One("__odd", badly(Bad, Body), 350'000, 48);
  };
  Register("scale", {8, 8, 4}, scale);
  Register("step", {8, 4}, step);
  Register("sum", {8, 8, 4}, Bad.starts_with("seldom") ? sumSeldomVaries : sum);
  Register("append", {8, 8, 4},
           Bad == "builds"    ? appendToNothing
           : Bad == "goes-on" ? appendFurther
                              : append);
  Register("count", {8, 4}, Bad == "builds-once" ? buildOnce : count);
  Register("masked", {8, 8, 4}, masked);
  registerKernel({"tell", {8}, tell, 1000, 16});
  registerKernel({"lower", {8, 8}, lower, 1000, 16});
}
