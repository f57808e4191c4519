/// \file
/// Makes up the guards of a random program's entries, and changes launches so that a guard just
/// lets them through, or just does not. EntryPrograms.h makes up everything else.
#pragma once

#include "EntryPrograms.h"

namespace carve::test {

/// What all kernels of a program may have.
struct Habits {
  bool Floats = false;      ///< Guards may name floating-point numbers.
  unsigned FrontEnd = 0;    ///< Percentage of the entries that are compiled for their launches.
  unsigned OtherKnobs = 10; ///< Percentage of those that have another setting of the front end.
  /// Percentage of the entries that have restrict pointers, of those whose guards allow it.
  unsigned Restrict = 60;
  unsigned Resets = 15; ///< Percentage of the sets that reset the device.
};

/// Dimensions that launches and guards have.
const std::vector<Dimensions> &blocks();
const std::vector<Dimensions> &grids();

/// Returns entries for \p K, which may be none.
std::vector<FurtherEntry> randomEntries(const RandomKernel &K, const Habits &H, std::mt19937 &R);

/// Lets the input of \p L, if the kernel has one, lead where no guard that asks for it lets the
/// launch through: into memory of the host, or into the allocation of the output.
void redirectInput(const RandomKernel &K, RandomLaunch &L, std::mt19937 &R);

/// Makes \p Guard let \p L through, unless it asks for the allocation of what is no address.
void satisfy(const EntryGuard &Guard, const RandomKernel &K, RandomLaunch &L, std::mt19937 &R);

/// Changes one of the things that \p Guard names.
void miss(const EntryGuard &Guard, const RandomKernel &K, RandomLaunch &L, std::mt19937 &R);

} // namespace carve::test
