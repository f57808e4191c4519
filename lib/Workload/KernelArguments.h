/// \file
/// Collects what the processes of a traced run say of a kernel's arguments (ArgumentRecord), and
/// tells which of them had the same value at every launch. ProbeRecords reads the records.
#pragma once

#include "Nvcc/KnownLaunch.h"
#include "Protocol/TraceRecords.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The arguments of one kernel.
class KernelArguments {
public:
  /// Adds a record of the process that the earlier records come from.
  void add(const ArgumentRecord &Record);
  /// Adds what another process that launched the kernel has recorded.
  void merge(const KernelArguments &Process);

  /// Returns the arguments that had the same value at every launch, by rising parameter. Returns
  /// none if the arguments of some launch are not known, or if two kernels of this name have
  /// different parameters.
  std::vector<ArgumentValue> same() const;

  /// At which launches an argument had a value.
  enum class Match { Never, Sometimes, Always };
  /// Returns at which launches the argument had \p Value. Sometimes also means that it is not
  /// known, because only two different values of an argument are recorded.
  Match match(const ArgumentValue &Value) const;

  /// Prints records of the kernel \p Kernel that say the same.
  std::string print(const std::string &Kernel) const;

private:
  struct Parameter {
    unsigned Bytes = 0;
    uint64_t First = 0;
    std::optional<uint64_t> Other = std::nullopt; ///< A value that was not the first one.
  };
  bool hasParametersOf(const KernelArguments &Other) const;

  std::map<unsigned, Parameter> Parameters; ///< By number.
  bool Unknown = false;
};

} // namespace carve
