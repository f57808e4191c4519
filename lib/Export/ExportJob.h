/// \file
/// Defines the data that the stages of exportDecisions() (ExportPipeline.h) pass on.
#pragma once

#include "Export/ExportPipeline.h"
#include "Export/Source/KernelNames.h"
#include "Export/UnifiedDiff.h"
#include "Ptx/PtxModule.h"

#include <functional>
#include <map>
#include <memory>

namespace carve {

/// One image of a unit.
struct ExportImage {
  UnitImage Record;
  PtxModule Ptx;
  std::vector<KernelPlace> Preprocessed; ///< Kernels of the text that cicc read; empty if the store
                                         ///< did not keep that text.
};

/// One unit of the project.
struct ExportUnit {
  Unit Record;
  Profile Decisions;  ///< The decisions that apply to it.
  std::string Source; ///< Absolute path.
  std::vector<ExportImage> Images;
};

/// A source file that is edited or may be edited.
struct SourceFile {
  std::string Path, Relative; ///< Absolute path, and path relative to the project's root.
  std::string Text;
  std::vector<KernelPlace> Kernels;
};

/// One tuned kernel in one image.
struct ExportItem {
  size_t Unit = 0, Image = 0;
  std::string Mangled;
  Decision Chosen;
  ExportedKernel Out;
  SourceFile *File = nullptr; ///< Null if the definition was not found; Out.Reason then says why.
  size_t Place = 0;           ///< Index of the definition in File->Kernels.
  std::vector<AttributeForm> Forms;

  /// Exports nothing of the item, for \p Reason.
  void leave(std::string Reason);
};

/// The tuned kernels of one definition, which share one attribute: on several architectures, in
/// several units, or as instantiations of one template.
struct ExportGroup {
  std::vector<size_t> Items; ///< Indices of ExportJob::Items.
  SourceFile *File = nullptr;
  size_t Place = 0;
  size_t Forms = 0; ///< How many forms every item of the group has.
  size_t Form = 0;  ///< Index of the form that is written.
};

/// Everything that the stages share.
struct ExportJob {
  const ExportOptions &Options;
  UnitStore &Store;
  std::string DevicesDir;
  std::vector<ExportUnit> Units;
  std::map<std::string, std::unique_ptr<SourceFile>> Files; ///< By path.
  std::vector<ExportItem> Items;
  std::vector<std::string> Notes; ///< Printed after the kernels.
  /// Returns the cap with which an entry without a decision keeps its code. Empty if no compiler is
  /// available to try caps.
  std::function<unsigned(const ExportImage &, llvm::StringRef)> CapLikeDefault;

  /// Returns \p Path relative to the project's root, or an empty string if it is not below the
  /// root.
  std::string relative(llvm::StringRef Path) const;
};

/// Returns the file at \p Path, which is read on the first call. Fails if it is not below the root
/// or cannot be read.
llvm::Expected<SourceFile *> sourceFile(ExportJob &Job, llvm::StringRef Path);

} // namespace carve
