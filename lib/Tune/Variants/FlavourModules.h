/// \file
/// The PTX of a job's modules as cicc makes it with other register caps: made once for each cap and
/// module, side by side. What clones of a front-end cap take their body from.
#pragma once

#include "Tune/Job/JobParts.h"

#include <set>

namespace carve {

class FlavourModules {
public:
  /// A module of the job and the cap that cicc is given.
  using Key = std::pair<size_t, unsigned>;

  FlavourModules(const JobSources &Sources, const JobContext &Context)
      : Sources(Sources), Context(Context) {}

  /// Makes those of \p Wanted that have not been asked for before.
  void prepare(const std::set<Key> &Wanted);
  /// The module that prepare() made. Fails with what cicc said where it could not, or was not
  /// asked to.
  llvm::Expected<const PtxModule *> find(size_t Module, unsigned Cap) const;

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
