/// \file
/// Writes decisions as attributes in sources, each in the form that loses least. It follows the
/// stage that finds the definitions (ExportPlaces.h).
#pragma once

#include "Export/ExportJob.h"
#include "Export/ExportVerifier.h"

namespace carve {

/// Fills in the forms of each item whose definition was found. If an item has no form, its
/// Out.Reason says why.
llvm::Error findForms(ExportJob &Job);

/// The attributes in a project's sources, one for each group. Each has the form whose code is
/// nearest to the tuned code.
class ExportPatch {
public:
  /// Groups the items that have a form. Items whose decision no attribute can express are left out,
  /// with the reason.
  explicit ExportPatch(ExportJob &Job);

  /// Compiles the project with the forms and keeps the best form of each group. A group that nvcc
  /// refuses in every form is left out.
  void chooseForms(ExportVerifier &Verifier);

  /// Returns the groups that are exported.
  const std::vector<ExportGroup> &groups() const { return Groups; }
  /// Returns the patch in the format of `git apply`.
  std::string diff() const;

private:
  using Edits = std::map<SourceFile *, std::vector<SourceEdit>>;

  bool write(ExportGroup &G);
  void leave(ExportGroup &G, const std::string &Reason);
  Edits edits(llvm::ArrayRef<ExportGroup> Of) const;
  Comparisons compile(ExportVerifier &Verifier, llvm::ArrayRef<ExportGroup> Of) const;
  bool leaveRefused();

  ExportJob &Job;
  std::vector<ExportGroup> Groups;
};

} // namespace carve
