/// \file
/// Makes the PTX of a job's modules as cicc makes it with other settings. Clones with a front-end
/// cap or knob take their bodies from it. Each pair of module and setting is made once. They are
/// made in threads of their own, so that a tuning can go on with what is ready: a cicc may take
/// longer than the program.
#pragma once

#include "Support/Clock.h"
#include "Tune/Job/JobParts.h"

#include "llvm/Support/ThreadPool.h"

#include <condition_variable>
#include <mutex>
#include <set>

namespace carve {

/// The PTX modules with other front-end settings.
class FlavourModules {
public:
  /// The index of a module of the job, and what cicc is told.
  using Key = std::pair<size_t, FrontEndSetting>;
  /// When to stop waiting; never if it is absent.
  using Until = std::optional<std::chrono::steady_clock::time_point>;

  /// Keeps references to both; they must outlive it.
  FlavourModules(const JobSources &Sources, const JobContext &Context)
      : Sources(Sources), Context(Context) {}
  ~FlavourModules() { abandon(); }

  /// Begins to make all of \p Wanted that no earlier call has begun, and waits until all of \p
  /// Wanted are made or \p End has come. A failure is logged and kept for find().
  void prepare(const std::set<Key> &Wanted, Until End = std::nullopt);
  /// Whether prepare() has made it, or has failed to.
  bool isReady(const Key &K) const;
  /// The module that prepare() made. Fails with cicc's message if cicc failed, and also if it is
  /// not made yet.
  llvm::Expected<const PtxModule *> find(size_t Module, const FrontEndSetting &Setting) const;
  /// Gives up what is not ready. A later prepare() makes it again.
  void abandon();

private:
  struct Flavour {
    bool Ready = false;
    std::optional<PtxModule> Ptx;
    std::string Failure;
  };
  Flavour make(const Key &K) const;
  void makeOne(const Key &K);

  const JobSources &Sources;
  const JobContext &Context;
  std::atomic<bool> Abandoned = false;
  mutable std::mutex Guard; ///< Of Made.
  std::condition_variable Changed;
  std::map<Key, Flavour> Made;
  std::unique_ptr<llvm::DefaultThreadPool> Threads; ///< Made when it is first needed.
};

} // namespace carve
