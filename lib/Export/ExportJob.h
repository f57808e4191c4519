/// \file
/// What the stages of exportDecisions() (ExportPipeline.h) pass on.
#pragma once

#include "Export/ExportPipeline.h"
#include "Export/Source/KernelNames.h"
#include "Export/UnifiedDiff.h"
#include "Ptx/PtxModule.h"

#include <functional>
#include <map>
#include <memory>

namespace carve {

/// An image of a unit, with what was decided for its kernels.
struct ExportImage {
  UnitImage Record;
  PtxModule Ptx;
  std::vector<KernelPlace> Preprocessed; ///< Kernels of the text that cicc read; empty: not kept.
};

struct ExportUnit {
  Unit Record;
  Profile Decisions;  ///< That count for it.
  std::string Source; ///< Absolute.
  std::vector<ExportImage> Images;
};

/// A source that is or may be edited.
struct SourceFile {
  std::string Path, Relative; ///< Absolute, and below the project's root.
  std::string Text;
  std::vector<KernelPlace> Kernels;
};

/// One tuned kernel in one image.
struct ExportItem {
  size_t Unit = 0, Image = 0;
  std::string Mangled;
  Decision Chosen;
  ExportedKernel Out;
  SourceFile *File = nullptr; ///< Null: not found, Out.Reason says why.
  size_t Place = 0;           ///< Index of the definition among its kernels.
  std::vector<AttributeForm> Forms;

  /// Nothing is exported of it, for \p Reason.
  void leave(std::string Reason);
};

/// The tuned kernels of one definition, which get one attribute: of several architectures, of
/// several units, instantiations of one template.
struct ExportGroup {
  std::vector<size_t> Items;
  SourceFile *File = nullptr;
  size_t Place = 0;
  size_t Forms = 0; ///< How many of the items' forms all of them have.
  size_t Form = 0;  ///< The one that is written.
};

/// Everything that the stages pass on.
struct ExportJob {
  const ExportOptions &Options;
  UnitStore &Store;
  std::string DevicesDir;
  std::vector<ExportUnit> Units;
  std::map<std::string, std::unique_ptr<SourceFile>> Files; ///< By path.
  std::vector<ExportItem> Items;
  std::vector<std::string> Notes;
  /// The cap with which an entry without a decision keeps its code; empty: nothing can be tried.
  std::function<unsigned(const ExportImage &, llvm::StringRef)> CapLikeDefault;

  /// \p Path below the project's root; empty where it is not below it.
  std::string relative(llvm::StringRef Path) const;
};

/// The file at \p Path, read at first; fails where it is not below the root or cannot be read.
llvm::Expected<SourceFile *> sourceFile(ExportJob &Job, llvm::StringRef Path);

} // namespace carve
