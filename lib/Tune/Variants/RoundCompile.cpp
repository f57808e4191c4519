#include "Tune/Variants/RoundCompile.h"

#include "Support/Clock.h"

#include "llvm/Support/Threading.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

using namespace carve;

/// The settings that are compiled before the clock is looked at again: one for each core at first,
/// and then as many as \p LeftS has time for if \p Done have taken \p Seconds.
static size_t settingsAtATime(size_t Done, double Seconds, double LeftS) {
  size_t Cores = std::max<size_t>(4, llvm::hardware_concurrency().compute_thread_count());
  if (Done == 0 || Seconds <= 0)
    return Cores;
  return std::max(Cores, size_t(std::min(1e6, double(Done) / Seconds * LeftS)));
}

/// The seconds that one setting for each core takes, if \p Done have taken \p Seconds.
static double leastSlice(size_t Done, double Seconds) {
  double Cores = llvm::hardware_concurrency().compute_thread_count();
  return Seconds / std::ceil(double(Done) / std::max(1.0, Cores));
}

std::vector<std::pair<SettingRequest, CompiledSetting>>
carve::compileInTime(VariantCompiler &Compiler, llvm::ArrayRef<SettingRequest> Wanted,
                     std::optional<double> LimitS, double PatienceS) {
  auto Begin = std::chrono::steady_clock::now();
  std::vector<std::pair<SettingRequest, CompiledSetting>> Made;
  std::vector<SettingRequest> Pending;
  auto Compile = [&](llvm::ArrayRef<SettingRequest> Slice, FlavourModules::Until End) {
    std::vector<CompiledSetting> Compiled = Compiler.compile(Slice, End, LimitS);
    for (size_t I = 0; I < Slice.size(); ++I)
      if (Compiled[I].Pending)
        Pending.push_back(Slice[I]);
      else
        Made.push_back({Slice[I], std::move(Compiled[I])});
  };
  if (!LimitS) {
    Compile(Wanted, std::nullopt);
    return Made;
  }
  for (size_t First = 0; First < Wanted.size();) {
    double Seconds = secondsSince(Begin), Left = *LimitS - Seconds;
    if (First > 0 && Left <= leastSlice(First, Seconds) / 2)
      break;
    size_t Count = std::min(settingsAtATime(First, Seconds, Left), Wanted.size() - First);
    Compile(Wanted.slice(First, Count), Begin);
    First += Count;
  }
  std::vector<SettingRequest> Awaited = std::exchange(Pending, {});
  if (!Awaited.empty())
    Compile(Awaited, Begin + std::chrono::microseconds(int64_t((*LimitS + PatienceS) * 1e6)));
  return Made;
}

std::map<size_t, size_t> carve::roomInModule(const VariantCompiler &Compiler,
                                             const JoinedModules &Joined,
                                             llvm::ArrayRef<SettingRequest> Compiled,
                                             std::optional<double> LimitS) {
  // On the hosts of H200s with 16 and 21 cores, 15 to 31 kernels of 1.9 s each took a seventh.
  const double AtOnce = std::max(1.0, llvm::hardware_concurrency().compute_thread_count() / 2.0);
  constexpr size_t Least = 4;
  const std::set<size_t> Joining = LimitS ? Joined.joining(Compiled) : std::set<size_t>();
  std::map<size_t, size_t> Room;
  double Seconds = 0;
  size_t Count = 0;
  for (const SettingRequest &R : Compiled) {
    const double Needed =
        Joining.count(R.Kernel) ? 0 : Compiler.secondsOfDefault(R.Kernel) / AtOnce;
    if (LimitS && Seconds + Needed > *LimitS && Count >= Least)
      continue;
    Seconds += Needed;
    ++Room[R.Kernel];
    ++Count;
  }
  return Room;
}
