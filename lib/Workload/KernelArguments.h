/// \file
/// Collects what the processes of a traced run say of a kernel's arguments (ArgumentRecord,
/// ShapeArgumentRecord), and tells which of them had the same value at every launch, or at every
/// launch with one grid and block. ProbeRecords reads the records.
#pragma once

#include "Nvcc/Text/KnownLaunch.h"
#include "Protocol/TraceRecords.h"

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace carve {

/// The arguments of one kernel.
class KernelArguments {
public:
  /// Adds a record of the process that the earlier records come from.
  void add(const ArgumentRecord &Record);
  void add(const ShapeArgumentRecord &Record);
  void add(const PointerRecord &Record);
  void add(const AliasRecord &Record);
  /// Adds what another process that launched the kernel has recorded.
  void merge(const KernelArguments &Process);

  /// Returns the arguments, and the words of structures, that had the same value at every launch,
  /// by rising parameter and offset. Of a parameter of 8 bytes that varies, the lowest byte is
  /// returned if it was the same. Returns none if the arguments of some launch are not known, or if
  /// two kernels of this name have different parameters.
  std::vector<ArgumentValue> same() const;
  /// Returns the arguments that had the same value at every launch with the grid and block of \p
  /// Shape, by rising parameter: at least those of same(), and no others if nothing is recorded of
  /// these launches.
  std::vector<ArgumentValue> sameIn(const LaunchShape &Shape) const;

  /// At which launches an argument had a value.
  enum class Match { Never, Sometimes, Always };
  /// Returns at which launches of \p Shape the argument had \p Value; if nothing is recorded of
  /// these, at which of all. Sometimes also means that it is not known, because only two different
  /// values of an argument are recorded.
  Match match(const ArgumentValue &Value, const LaunchShape &Shape) const;

  /// Returns at which launches the addresses at \p Places led into different allocations of plain
  /// device memory. Sometimes also means that it is not known.
  Match apart(llvm::ArrayRef<PointerPlace> Places) const;

  /// Prints records of the kernel \p Kernel that say the same.
  std::string print(const std::string &Kernel) const;

private:
  struct Parameter {
    unsigned Bytes = 0;
    uint64_t First = 0;
    std::optional<uint64_t> Other = std::nullopt; ///< A value that was not the first one.
    /// Of a parameter of 8 bytes, a lowest byte that was not the first one.
    std::optional<uint8_t> OtherByte = std::nullopt;

    void addOther(uint64_t Bits);
    void addByte(uint8_t Byte);
  };
  using ByPlace = std::map<std::pair<unsigned, unsigned>, Parameter>;
  static bool add(const KernelArgument &Record, ByPlace &To);
  static bool haveSameBytes(const ByPlace &A, const ByPlace &B);
  static void merge(ByPlace &To, const ByPlace &New);
  static std::vector<ArgumentValue> sameOf(const ByPlace &Parameters);
  static Match matchOf(const ArgumentValue &Value, const ByPlace &Parameters);

  /// By number, and the offset of a word.
  ByPlace Parameters;
  /// By grid and block.
  std::map<std::pair<std::array<uint32_t, 3>, std::array<uint32_t, 3>>, ByPlace> InShapes;
  bool Unknown = false;
  /// Addresses of plain device memory, and those of them that are not always apart. An address that
  /// is not always of plain device memory is beside itself.
  std::set<PointerPlace> Pointers;
  std::set<std::pair<PointerPlace, PointerPlace>> Aliases;
};

} // namespace carve
