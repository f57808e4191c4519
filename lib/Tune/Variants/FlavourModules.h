/// \file
/// Makes the PTX of a job's modules as cicc makes it with other settings. Clones with a front-end
/// cap or knob take their bodies from it. Each pair of module and setting is made once, and several
/// are made in parallel.
#pragma once

#include "Tune/Job/JobParts.h"

#include <set>

namespace carve {

/// The PTX modules with other front-end settings that are made so far.
class FlavourModules {
public:
  /// The index of a module of the job, and what cicc is told.
  using Key = std::pair<size_t, FrontEndSetting>;

  /// Keeps references to both; they must outlive it.
  FlavourModules(const JobSources &Sources, const JobContext &Context)
      : Sources(Sources), Context(Context) {}

  /// Makes all of \p Wanted that no earlier call has made. A failure is logged and kept for find().
  void prepare(const std::set<Key> &Wanted);
  /// The module that prepare() made. Fails with cicc's message if cicc failed, and also if
  /// prepare() was not asked for it.
  llvm::Expected<const PtxModule *> find(size_t Module, const FrontEndSetting &Setting) const;

private:
  struct Flavour {
    std::optional<PtxModule> Ptx;
    std::string Failure;
  };
  Flavour make(const Key &K) const;

  const JobSources &Sources;
  const JobContext &Context;
  std::map<Key, Flavour> Made;
};

} // namespace carve
