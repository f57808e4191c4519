/// \file
/// What an export found and made: the record between the pipeline and its printers.
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
  Refused, ///< nvcc compiles the source as it is, but not so. Nothing of it is exported.
};

struct CodeComparison {
  CodeMatch Match = CodeMatch::NotVerified;
  std::string Detail; ///< Why it is not verified, or what differs.
};

struct ExportedKernel {
  std::string Kernel, Mangled, Arch;
  std::string Source; ///< File of the definition, below the project's root; of the unit else.
  unsigned Line = 0;  ///< Of the definition; 0: not found.
  VariantSetting Decided;
  std::string Written; ///< The attribute as it stands in the patch, or the flags.
  std::vector<std::string> Lost;
  GainEstimate Gain;
  CodeComparison Code;
  std::string Reason; ///< Why nothing is exported of it; empty: something is.
};

/// Options of nvcc for one source.
struct SourceFlags {
  std::string Source; ///< Below the project's root.
  std::vector<std::string> Words;
  std::optional<unsigned> Replaced; ///< The cap of its command, which they take the place of.
};

struct ExportOutcome {
  ExportForm As = ExportForm::Patch;
  std::string Project, NvccVersion;
  std::vector<ExportedKernel> Kernels;
  std::string Patch;                ///< Unified diffs; empty where there are none.
  std::vector<SourceFlags> Flags;   ///< Of ExportForm::Flags.
  std::vector<std::string> Notes;   ///< Decisions that do not hold, and such.
  std::vector<std::string> Sources; ///< Absolute: that were compiled, or have tuned kernels.

  size_t exported() const;
};

} // namespace carve
