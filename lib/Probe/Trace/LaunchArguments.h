/// \file
/// Compares the arguments of all launches of a kernel, between the launch callbacks and the record
/// file: which parameters have one value in the whole process, and which do not. It is pure: it
/// knows neither the driver nor files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace carve::probe {

/// The arguments of a process's launches. Values belong to a kernel's name, because a kernel may be
/// loaded in several modules and contexts. Thread-safe.
class LaunchArguments {
public:
  /// Compares the arguments of a launch with those of the kernel's first one. \p Arguments is what
  /// the launch has as kernelParams; null if that cannot be read. Appends the `argument` lines that
  /// follow to \p Lines: usually none, and then nothing is allocated. Returns false if \p Handle is
  /// not known. The caller then asks the driver for the kernel, and calls add().
  bool compare(const void *Handle, const void *const *Arguments, std::string &Lines);

  /// Does the same for a launch of an unknown handle, and knows the handle from then on. It is one
  /// of the kernel \p Name, whose parameters have the sizes \p Bytes; nothing if the driver cannot
  /// tell them.
  void add(const void *Handle, std::string_view Name, std::optional<std::vector<size_t>> Bytes,
           const void *const *Arguments, std::string &Lines);

  /// Forgets all handles, but no value. Called when modules are loaded or unloaded, because a new
  /// kernel may get the handle of an unloaded one.
  void forgetHandles();

private:
  /// A parameter, a word of a structure, or the lowest byte of a parameter of 8 bytes, that had one
  /// value at all launches so far.
  struct Parameter {
    unsigned Number = 0, Bytes = 0;
    uint64_t First = 0;
    unsigned Offset = 0; ///< Of the word, in bytes.

    const void *in(const void *const *Arguments) const {
      return static_cast<const char *>(Arguments[Number]) + Offset;
    }
  };
  struct Kernel {
    std::vector<size_t> Bytes; ///< The sizes of all parameters.
    std::vector<Parameter> Same;
    bool Unknown = false; ///< Set if a launch's arguments could not be read.
  };
  using Kernels = std::unordered_map<std::string, Kernel>;

  static void giveUp(Kernels::value_type &Known, std::string &Lines);
  static void takeFirst(Kernels::value_type &Known, const void *const *Arguments,
                        std::string &Lines);
  static void takeNext(Kernels::value_type &Known, const void *const *Arguments,
                       std::string &Lines);

  std::mutex Lock; ///< Protects the members below.
  Kernels Known;
  /// Nodes of an unordered_map do not move.
  std::unordered_map<const void *, Kernels::value_type *> Handles;
};

} // namespace carve::probe
