/// \file
/// Defines the result of an export: the record between ExportPipeline and the printers in
/// ExportReport.
#pragma once

#include "Export/AttributeForm.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// How the code of plain nvcc compares with the tuned code.
enum class CodeMatch {
  NotVerified,
  SameCode,
  SameRegisters,
  Differs,
  Refused, ///< nvcc compiles the source without the export, but not with it. Nothing of it is
           ///< exported.
};

/// The result of one comparison.
struct CodeComparison {
  CodeMatch Match = CodeMatch::NotVerified;
  std::string Detail; ///< Why the code is not verified, or what differs.
};

/// One tuned kernel on one architecture.
struct ExportedKernel {
  std::string Kernel, Mangled, Arch;
  std::string Source; ///< File of the definition, relative to the project's root. If it was not
                      ///< found, the file of the unit.
  unsigned Line = 0;  ///< Line of the definition; 0 if not found.
  VariantSetting Decided;
  std::string Written; ///< The attribute as written in the patch, or the flags.
  std::vector<std::string> Lost;
  GainEstimate Gain;
  CodeComparison Code;
  std::string Reason; ///< Why nothing is exported of the kernel; empty if it is exported.
};

/// Compiler options for one source.
struct SourceFlags {
  std::string Source; ///< Relative to the project's root.
  std::vector<std::string> Words;
  /// The -maxrregcount of the source's command, which these options must replace.
  std::optional<unsigned> Replaced;
};

/// The result of one export.
struct ExportOutcome {
  ExportForm As = ExportForm::Patch;
  std::string Project, NvccVersion;
  std::vector<ExportedKernel> Kernels;
  std::string Patch;              ///< Unified diffs; empty if there are none.
  std::vector<SourceFlags> Flags; ///< For ExportForm::Flags only.
  std::vector<std::string> Notes; ///< Decisions that do not apply, and other remarks.
  /// Absolute paths of sources that were compiled or have tuned kernels.
  std::vector<std::string> Sources;

  /// Returns how many kernels are exported.
  size_t exported() const;
};

} // namespace carve
