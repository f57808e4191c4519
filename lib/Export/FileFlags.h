/// \file
/// Chooses the options of nvcc that express as much of a file's decisions as options for a whole
/// file can.
#pragma once

#include "Export/AttributeForm.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A kernel of the file, with or without a decision.
struct FileKernel {
  VariantSetting Decided;
  std::optional<double> DecidedRatio;
  bool Bounded = false; ///< The kernel has launch bounds, so ptxas ignores -maxrregcount for it.
  unsigned DefaultRegs = 0; ///< 0 if not known.
  double Share = 0;         ///< Share of GPU time; 0 if not known.
  const KernelReport *Report = nullptr;
};

/// Options for one file.
struct FileOptions {
  std::optional<unsigned> Cap;
  bool FrontEnd = true; ///< If true, the cap also applies to the front end (-maxrregcount), else
                        ///< only to ptxas (-Xptxas).
  bool LoadsFromL2 = false;
  std::optional<unsigned> RegisterUsageLevel;

  bool empty() const { return !Cap && !LoadsFromL2 && !RegisterUsageLevel; }
  /// Returns the words for nvcc's command line.
  std::vector<std::string> words() const;
  /// Returns the setting that \p K gets by these options.
  VariantSetting settingOf(const FileKernel &K) const;
};

/// Returns the options with the least expected time, or empty options if none are expected to be
/// faster than no options. A variant that was not timed counts like the default, or as slower if it
/// has fewer registers than the default.
FileOptions chooseFileOptions(const std::vector<FileKernel> &Kernels);

} // namespace carve
