/// \file
/// Whether plain nvcc makes of a patched project what carve-nvcc makes of the decisions.
#pragma once

#include "Export/ExportJob.h"

#include <set>

namespace carve {

/// What plain nvcc is to compile.
struct PatchedProject {
  std::map<std::string, std::string> Files;                ///< Text by path below the root.
  std::map<std::string, std::vector<std::string>> Options; ///< More words, by absolute source.
};

using Comparisons = std::map<size_t, CodeComparison>; ///< By item.

/// Why nothing is exported of a kernel whose \p Written nvcc refused.
std::string refusal(llvm::StringRef Written, const CodeComparison &C);

/// Compiles units plainly and compares with the tuned code.
class ExportVerifier {
public:
  ExportVerifier(ExportJob &Job, const Toolchain &T, CommandRunner &Runner)
      : Job(Job), T(T), Runner(Runner) {}

  /// The comparison of each item that is in \p Items, all of one patched project.
  Comparisons compare(const PatchedProject &Patched, const std::vector<size_t> &Items);

  /// A cap with which ptxas makes the default's code of an entry: ptxas makes other code of most
  /// caps, even above the registers that it takes, and there is none that means no cap.
  unsigned capLikeDefault(const ExportImage &I, llvm::StringRef Mangled);

  /// Of the last comparison: what became of kernels of \p Units that nothing is exported of, for a
  /// person.
  std::vector<std::string> otherKernels(const std::set<size_t> &Units) const;

private:
  struct Code {
    KernelResources Resources; ///< Spills included.
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
  std::map<size_t, SourceState> States; ///< By unit.
  std::map<std::pair<const ExportImage *, std::string>, unsigned> LikeDefault;
  std::map<size_t, std::set<std::string>> Others; ///< That get other code, by unit.
};

} // namespace carve
