/// \file
/// Compares the arguments of all launches of a kernel, between the launch callbacks and the record
/// file: which parameters have one value in the whole process or at all launches with one grid and
/// block, and which do not; and which addresses among them lead into different allocations. It is
/// pure: it knows neither files nor the driver, which is asked by a function.
#pragma once

#include "Probe/Driver/Allocation.h"
#include "Protocol/LaunchShape.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace carve::probe {

/// What the scalar arguments of a launch are.
struct LaunchScalars {
  std::string_view Kernel; ///< The kernel's name.
  /// Their key (ScalarKey.h); nothing if the arguments of some launch of the kernel could not be
  /// read.
  std::optional<uint64_t> Key;
};

/// The arguments of a process's launches. Values belong to a kernel's name, because a kernel may be
/// loaded in several modules and contexts. Thread-safe.
class LaunchArguments {
public:
  /// The arguments are compared for at most so many grids and blocks of a kernel, those that come
  /// first.
  static constexpr size_t MostShapes = 32;
  /// After so many values in shapes of a kernel no further shape is compared: large structures have
  /// many words, and each is a line in the probe's file.
  static constexpr size_t MostValuesInShapes = 1024;
  /// The driver is asked where the addresses of a kernel lead at so many launches with other
  /// arguments than the one before, and then at fewer and fewer: after each doubling.
  static constexpr uint64_t MostLooks = 64;
  /// It is asked about so many words of 8 bytes of a kernel, those that come first.
  static constexpr size_t MostPointers = 64;

  /// Returns the allocation of plain device memory into which an address leads, if there is one.
  using AllocationAt = std::function<Allocation(uint64_t Address)>;
  /// Without \p AskDriver, nothing is recorded of addresses.
  explicit LaunchArguments(AllocationAt AskDriver = {}) : AskDriver(std::move(AskDriver)) {}

  /// Compares the arguments of a launch of \p Shape with those of the kernel's first one, and of
  /// its first one with that grid and block. \p Arguments is what the launch has as kernelParams;
  /// null if that cannot be read. Appends the `argument` and `shape-argument` lines that follow to
  /// \p Lines: usually none, and then nothing is allocated. Returns nothing if \p Handle is not
  /// known. The caller then asks the driver for the kernel, and calls add().
  std::optional<LaunchScalars> compare(const void *Handle, const LaunchShape &Shape,
                                       const void *const *Arguments, std::string &Lines);

  /// Does the same for a launch of an unknown handle, and knows the handle from then on. It is one
  /// of the kernel \p Name, whose parameters have the sizes \p Bytes; nothing if the driver cannot
  /// tell them.
  LaunchScalars add(const void *Handle, std::string_view Name,
                    std::optional<std::vector<size_t>> Bytes, const LaunchShape &Shape,
                    const void *const *Arguments, std::string &Lines);

  /// Forgets all handles, but no value. Called when modules are loaded or unloaded, because a new
  /// kernel may get the handle of an unloaded one.
  void forgetHandles();

private:
  /// A parameter, a word of a structure, or the lowest byte of a parameter of 8 bytes, that had one
  /// value at all launches so far, or at all of one grid and block.
  struct Parameter {
    unsigned Number = 0, Bytes = 0;
    uint64_t First = 0;
    unsigned Offset = 0; ///< Of the word, in bytes.

    const void *in(const void *const *Arguments) const {
      return static_cast<const char *>(Arguments[Number]) + Offset;
    }
  };
  /// An address that led into plain device memory at all launches so far at which was looked.
  struct Pointer {
    unsigned Number = 0, Offset = 0; ///< As in Parameter.

    auto place() const { return std::pair(Number, Offset); }
  };
  using Place = std::pair<unsigned, unsigned>;
  /// A grid and a block.
  using Dimensions = std::pair<std::array<uint32_t, 3>, std::array<uint32_t, 3>>;
  struct Kernel {
    std::vector<size_t> Bytes;   ///< The sizes of all parameters.
    std::vector<Parameter> Same; ///< At all launches.
    std::map<Dimensions, std::vector<Parameter>> SameInShape;
    size_t ValuesInShapes = 0; ///< How many the first launches of these shapes had.
    /// The last launch: its grid and block, and the bytes of all parameters that are compared. A
    /// launch that is like it changes nothing.
    Dimensions LastShape{};
    std::vector<char> LastBytes;
    uint64_t LastKey = 0;
    bool Unknown = false; ///< Set if a launch's arguments could not be read.
    std::vector<Pointer> Pointers;
    std::set<std::pair<Place, Place>> Aliases; ///< What was recorded of them.
    uint64_t Changes = 0;                      ///< Launches that were not like the one before.
  };
  using Kernels = std::unordered_map<std::string, Kernel>;

  static bool isLikeLast(const Kernel &Its, const Dimensions &Shape, const void *const *Arguments);
  static void keepAsLast(Kernel &Its, const Dimensions &Shape, const void *const *Arguments);
  static void giveUp(Kernels::value_type &Known, std::string &Lines);
  static LaunchScalars scalarsOf(const Kernels::value_type &Known);
  template <class Write>
  static std::vector<Parameter> firstValues(const Kernel &Its, const void *const *Arguments,
                                            Write Line);
  template <class Write>
  static void dropOtherValues(std::vector<Parameter> &Same, const void *const *Arguments,
                              Write Line);
  void take(Kernels::value_type &Known, bool First, const LaunchShape &Shape,
            const void *const *Arguments, std::string &Lines) const;
  void lookAtPointers(Kernels::value_type &Known, const void *const *Arguments,
                      std::string &Lines) const;
  static std::vector<Pointer> wordsOf(const Kernel &Its);

  const AllocationAt AskDriver;
  std::mutex Lock; ///< Protects the members below.
  Kernels Known;
  /// Nodes of an unordered_map do not move.
  std::unordered_map<const void *, Kernels::value_type *> Handles;
};

} // namespace carve::probe
