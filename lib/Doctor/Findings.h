/// \file
/// What works on a machine, what does not, and how to mend it: judged from a Machine alone.
#pragma once

#include "Doctor/Machine.h"

#include <string>
#include <vector>

namespace carve {

enum class FindingKind {
  Ok,
  Note, ///< Works, but a user may want to know or to change it.
  Fault ///< Something that carve-nvcc needs does not work.
};

struct DoctorFinding {
  FindingKind Kind = FindingKind::Ok;
  std::string Subject; ///< A short stable name, such as `nvcc` or `host compiler`.
  std::string Fact;
  std::string Advice; ///< What to do; empty if there is nothing to do.

  bool operator==(const DoctorFinding &) const = default;
};

/// The findings of \p M in the order in which a user would mend them: toolkit, GPU, our own files,
/// store, compiler caches, variables.
std::vector<DoctorFinding> findingsOf(const Machine &M);

} // namespace carve
