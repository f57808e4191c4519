/// \file
/// Compiles a patched project with plain nvcc and compares the code with the code that carve-nvcc
/// makes of the decisions.
#pragma once

#include "Export/ExportJob.h"

#include <set>

namespace carve {

/// What plain nvcc compiles.
struct PatchedProject {
  std::map<std::string, std::string> Files; ///< Text by path relative to the root.
  /// Additional words by absolute path of the source.
  std::map<std::string, std::vector<std::string>> Options;
};

using Comparisons = std::map<size_t, CodeComparison>; ///< By index of the item.

/// Returns the reason why nothing is exported of a kernel for which nvcc refused \p Written.
std::string refusal(llvm::StringRef Written, const CodeComparison &C);

/// Compiles units with plain nvcc and compares the result with the tuned code.
class ExportVerifier {
public:
  ExportVerifier(ExportJob &Job, const Toolchain &T, CommandRunner &Runner)
      : Job(Job), T(T), Runner(Runner) {}

  /// Returns the comparison of each item in \p Items after all of them were compiled in one patched
  /// project.
  Comparisons compare(const PatchedProject &Patched, const std::vector<size_t> &Items);

  /// Returns a cap with which ptxas makes the default's code of an entry. Most caps change the
  /// code, even caps above the registers that it uses, and no value
  /// means the absence of a cap.
  unsigned capLikeDefault(const ExportImage &I, llvm::StringRef Mangled);

  /// Returns a note for each of \p Units in which the last comparison found other code in kernels
  /// that are not exported.
  std::vector<std::string> otherKernels(const std::set<size_t> &Units) const;

private:
  struct Code {
    KernelResources Resources; ///< With spills.
    std::string CodeDigest;
  };
  using ImageCode = std::map<std::string, Code>; ///< By profile name.
  enum class SourceState { AsStored, Changed, NotCompiled };

  llvm::Expected<const std::vector<ImageCode> *> tunedCode(size_t UnitIndex);
  llvm::Expected<ImageCode> tunedImage(const ExportUnit &U, const ExportImage &I);
  llvm::Expected<std::vector<ImageCode>> plainCode(size_t UnitIndex, const PatchedProject &Patched);
  llvm::Error mirror(const PatchedProject &Patched, const std::string &Into) const;
  llvm::Error readsMirror(const ExportUnit &U, const PatchedProject &Patched,
                          const std::string &Mirror, const std::string &Directory) const;
  SourceState sourceState(size_t UnitIndex);
  bool sourceChanged(size_t UnitIndex);
  ImageCode storedCode(const ExportImage &I) const;
  void compareOthers(size_t UnitIndex, const std::vector<ImageCode> &Plain);
  CodeComparison compareKernel(const ExportItem &Item, const Code &Tuned, const Code &Plain);

  ExportJob &Job;
  const Toolchain &T;
  CommandRunner &Runner;
  std::map<size_t, std::vector<ImageCode>> Tuned;
  std::map<size_t, SourceState> States; ///< By index of the unit.
  std::map<std::pair<const ExportImage *, std::string>, unsigned> LikeDefault;
  /// Kernels that get other code, by index of the unit.
  std::map<size_t, std::set<std::string>> Others;
};

} // namespace carve
