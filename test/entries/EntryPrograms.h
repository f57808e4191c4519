/// \file
/// Makes up CUDA programs whose kernels have further entries, from a seed: what parameters the
/// kernels have, which guards their entries, and which launches the program makes, many of them at
/// or just beside a guard. Some launches have an input in the allocation of the output, or in
/// memory of the host. EntryProgramText.h writes the source. As the guards are known here, it
/// is also known which entry each launch must take. A program consists of independent sets of
/// kernels and launches, so that many sets cost little more to compile than one. Two tests compile
/// and run them: one with the real runtime and a GPU, one with RecordingRuntime.cpp and without.
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
  /// Each thread reads the input only where it has written the output, if at all, so that both may
  /// be the same memory.
  bool ReadsOwn = false;
  std::vector<FurtherEntry> Entries;

  /// The shared memory that launches may take without an attribute and that is left, in bytes.
  unsigned freeSmemBytes() const { return (48 << 10) - 4 * StaticWords; }
  /// Where the address of the input is, if it has one. That of the output is the first parameter.
  std::optional<PointerPlace> input() const;
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
  CapturedPerThread,
  Node,
};

struct RandomLaunch {
  Dimensions Grid = {1, 1, 1}, Block = {1, 1, 1};
  unsigned SmemBytes = 0; ///< Dynamic.
  /// Of each parameter the bits of its numbers, zero-extended, in the order of numbersOf().
  std::vector<std::vector<uint64_t>> Values;
  uint8_t Padding = 0; ///< What lies between the fields of structures.
};

/// Something that the program does.
struct ProgramStep {
  enum What { Launch, Attributes, Occupancy, Permit, Salt, Device, Reset } Does = Launch;
  size_t Kernel = 0;
  LaunchWay Way = LaunchWay::Chevrons;
  RandomLaunch Launches[2] = {}; ///< One after the other.
  unsigned Number = 0;           ///< The salt, or the device.
};

struct RandomProgram {
  unsigned Seed = 0, Sets = 1;
  std::vector<RandomKernel> Kernels;
  std::vector<ProgramStep> Steps;
  std::vector<std::string> Options;      ///< Of nvcc.
  std::vector<std::string> CarveOptions; ///< Of carve-nvcc alone.

  bool resetsDevice() const;
  carve::Profile profile() const;
};

/// Returns a program of \p Sets sets. Each setting of the front end that an entry has costs another
/// run of cicc over the whole source, so a program of several sets has few of them.
RandomProgram randomProgram(unsigned Seed, unsigned Sets = 1);

/// Returns programs that have \p Sets sets together: of 20 sets one is a program of its own, and
/// the others are one program.
std::vector<RandomProgram> randomPrograms(unsigned Seed, unsigned Sets);

/// Returns the bytes of each argument of \p Launch.
std::vector<std::vector<uint8_t>> argumentsOf(const RandomKernel &K, const RandomLaunch &Launch);

/// Returns where the input of a launch of \p K leads. The kernel must have one.
PointerTarget inputTarget(const RandomKernel &K, const RandomLaunch &Launch);

/// Whether \p Guard lets \p Launch through.
bool holds(const EntryGuard &Guard, const RandomKernel &K, const RandomLaunch &Launch);

/// Returns the entry that a launch that succeeds takes, by its place in RandomKernel::Entries, or
/// nothing if it takes the kernel itself. The object has the entries for which \p Emitted is true.
/// Up to toolkit 12 (\p ByPointer), objects choose at calls of cudaLaunchKernel, too.
std::optional<size_t> entryOf(const RandomKernel &K, LaunchWay Way, const RandomLaunch &Launch,
                              const std::vector<bool> &Emitted, bool ByPointer);

} // namespace carve::test
