#include "Emit/CodePromises.h"

#include "Search/VariantEdit.h"

#include <algorithm>

using namespace carve;

/// The bound must hold on a device that is not known at compile time, so this is more than any
/// device has.
static constexpr uint64_t MostSms = 256;
/// The most by which the local memory of the whole device may grow.
static constexpr uint64_t LocalMemoryGrowthBytes = 64u << 20;

/// Returns the complaint if the largest block gets smaller because of registers or of a bound in
/// the entry.
static std::optional<std::string> shrunkBlock(const DeviceModel &D, const CodeChange &C) {
  unsigned Needed =
      std::min(C.DefaultMaxThreads, maxThreadsForRegisters(D, C.Default.RegsPerThread));
  unsigned Left = std::min(C.NewMaxThreads, maxThreadsForRegisters(D, C.New.RegsPerThread));
  if (Left >= Needed)
    return std::nullopt;
  std::string Cause = C.NewMaxThreads < Needed
                          ? "its bound"
                          : "its " + std::to_string(C.New.RegsPerThread) + " registers";
  return Cause + " would shrink the largest block from " + std::to_string(Needed) + " to " +
         std::to_string(Left) + " threads";
}

/// Returns the complaint if static shared memory grows by other means than spilling to it, or
/// beyond its limit.
static std::optional<std::string> grownSmem(const CodeChange &C) {
  unsigned Before = C.Default.StaticSmemBytes, After = C.New.StaticSmemBytes;
  if (After <= Before || (C.SpillsToSmem && After <= SmemSpillingLimitBytes))
    return std::nullopt;
  return "its static shared memory would grow from " + std::to_string(Before) + " to " +
         std::to_string(After) + " bytes" +
         (C.SpillsToSmem ? ", beyond " + std::to_string(SmemSpillingLimitBytes) : std::string());
}

std::optional<std::string> carve::brokenPromise(const DeviceModel &D, const CodeChange &Change,
                                                LaunchDomain Domain) {
  if (auto Grown = grownSmem(Change))
    return Grown;
  if (Change.New.StackUnknown && !Change.Default.StackUnknown)
    return "the size of its stack would be unknown";
  if (Domain == LaunchDomain::Preserve)
    return shrunkBlock(D, Change);
  return std::nullopt;
}

/// Returns the complaint for the first block size of which fewer blocks would be resident on an SM.
/// Dynamic shared memory takes the same amount from both, so it is not varied.
static std::optional<std::string> fewerBlocks(const DeviceModel &D, const CodeChange &C) {
  for (unsigned Threads = D.WarpSize; Threads <= D.MaxThreadsPerBlock; Threads += D.WarpSize) {
    auto Blocks = [&](const KernelResources &R) {
      return blocksPerSm(D, {R.RegsPerThread, Threads, R.StaticSmemBytes, 0, R.Barriers});
    };
    unsigned Before = Blocks(C.Default), After = Blocks(C.New);
    if (After < Before)
      return std::to_string(After) + " instead of " + std::to_string(Before) +
             " blocks per SM would be resident with " + std::to_string(Threads) + " threads";
  }
  return std::nullopt;
}

std::optional<std::string> carve::brokenPromiseUntimed(const DeviceModel &D,
                                                       const CodeChange &Change, bool BlocksMeet) {
  // Nobody has seen the launches of this code, so even with `traced` all launches are protected.
  if (auto Broken = brokenPromise(D, Change, LaunchDomain::Preserve))
    return Broken;
  uint64_t Before = Change.Default.StackBytes, After = Change.New.StackBytes;
  if (After > Before && (After - Before) * D.MaxThreadsPerSm * MostSms > LocalMemoryGrowthBytes)
    return "its local memory would grow from " + std::to_string(Before) + " to " +
           std::to_string(After) + " bytes per thread";
  return BlocksMeet ? fewerBlocks(D, Change) : std::nullopt;
}
