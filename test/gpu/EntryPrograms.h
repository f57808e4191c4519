/// \file
/// Makes up CUDA programs whose kernels have further entries, from a seed: what parameters the
/// kernels have, which guards their entries, and which launches the program makes, many of them at
/// or just beside a guard. EntryProgramText.h writes the source. As the guards are known here, it
/// is also known which entry each launch must take. EntryProgramsTest.cpp compiles and runs them.
#pragma once

#include "EntryParameters.h"

#include "Store/Profile.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace carve::test {

using Dimensions = std::array<unsigned, 3>;

enum class KernelForm { Plain, Static, Anonymous, Extern, Named, Template };

struct RandomKernel {
  std::string Name;
  KernelForm Form = KernelForm::Plain;
  /// The arguments of an instantiation, such as `<int, 4>`, and how they are mangled.
  std::string Arguments, MangledArguments;
  bool SameText = false; ///< Another instantiation of the kernel before.
  std::vector<RandomParameter> Parameters;
  unsigned Bound = 0;       ///< `__launch_bounds__`, if it has any.
  unsigned StaticWords = 0; ///< Static shared memory.
  unsigned Pressure = 0;    ///< It needs about so many registers at once.
  std::vector<FurtherEntry> Entries;

  /// The shared memory that launches may take without an attribute and that is left, in bytes.
  unsigned freeSmemBytes() const { return (48 << 10) - 4 * StaticWords; }
  /// How the mangled name contains it.
  std::string mangledPart() const { return Name + MangledArguments; }
  /// How a profile names it.
  std::string profileName() const;
};

/// The ways of launching of EntryProgram.cuh, in its order.
enum class LaunchWay {
  Chevrons,
  OwnStream,
  PerThread,
  Meanwhile,
  Threads,
  Pointer,
  Extended,
  Cooperative,
  Captured,
  Node,
};

struct RandomLaunch {
  Dimensions Grid = {1, 1, 1}, Block = {1, 1, 1};
  unsigned SmemBytes = 0;       ///< Dynamic.
  std::vector<uint64_t> Values; ///< The bits of each argument, zero-extended.
};

/// Something that the program does.
struct ProgramStep {
  enum What { Launch, Attributes, Occupancy, Permit, Salt, Reset } Does = Launch;
  size_t Kernel = 0;
  LaunchWay Way = LaunchWay::Chevrons;
  RandomLaunch Launches[2] = {}; ///< One after the other.
  unsigned Number = 0;           ///< The salt.
};

struct RandomProgram {
  unsigned Seed = 0;
  std::vector<RandomKernel> Kernels;
  std::vector<ProgramStep> Steps;
  std::vector<std::string> Options; ///< Of nvcc.

  bool resetsDevice() const;
  carve::Profile profile() const;
};

RandomProgram randomProgram(unsigned Seed);

/// Returns one of \p Among.
/// Whether \p Guard lets \p Launch through.
bool holds(const EntryGuard &Guard, const RandomLaunch &Launch);

/// Returns the value \p Guard names for the parameter \p Index, or null.
const ArgumentValue *argumentOf(const EntryGuard &Guard, size_t Index);

/// Returns the entry that a launch that succeeds takes, by its place in RandomKernel::Entries, or
/// nothing if it takes the kernel itself. The object has the entries for which \p Emitted is true.
/// Up to toolkit 12 (\p ByPointer), objects choose at calls of cudaLaunchKernel, too.
std::optional<size_t> entryOf(const RandomKernel &K, LaunchWay Way, const RandomLaunch &Launch,
                              const std::vector<bool> &Emitted, bool ByPointer);

} // namespace carve::test
