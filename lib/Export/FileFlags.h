/// \file
/// Options of nvcc that say as much of a file's decisions as options for a file can.
#pragma once

#include "Export/AttributeForm.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A kernel of a file, decided or not.
struct FileKernel {
  VariantSetting Decided;
  std::optional<double> DecidedRatio;
  bool Bounded = false;     ///< Has launch bounds, so that ptxas heeds no -maxrregcount.
  unsigned DefaultRegs = 0; ///< 0: not known.
  double Share = 0;         ///< Of GPU time; 0: not known.
  const KernelReport *Report = nullptr;
};

struct FileOptions {
  std::optional<unsigned> Cap;
  bool FrontEnd = true; ///< The cap is the front end's too: -maxrregcount, else -Xptxas.
  bool LoadsFromL2 = false;
  std::optional<unsigned> RegisterUsageLevel;

  bool empty() const { return !Cap && !LoadsFromL2 && !RegisterUsageLevel; }
  std::vector<std::string> words() const;
  /// The setting that \p K gets by them.
  VariantSetting settingOf(const FileKernel &K) const;
};

/// The options whose time is expected to be the least, none where none is expected to be faster.
/// What was not timed counts as the default, and where it has fewer registers than that as slower.
FileOptions chooseFileOptions(const std::vector<FileKernel> &Kernels);

} // namespace carve
