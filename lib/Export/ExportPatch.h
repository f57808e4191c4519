/// \file
/// The decisions as attributes in sources, each in the form that loses least.
#pragma once

#include "Export/ExportJob.h"
#include "Export/ExportVerifier.h"

namespace carve {

/// Fills in the forms of each item that was located; says in Out.Reason why where there is none.
llvm::Error findForms(ExportJob &Job);

/// The attributes of a project's sources: one for each group, in the form whose code is nearest to
/// the tuned code.
class ExportPatch {
public:
  /// Groups the items that have a form. Those that no attribute can say are left, with the reason.
  explicit ExportPatch(ExportJob &Job);

  /// Compiles with the forms and keeps the best of each group. What nvcc refuses is left.
  void chooseForms(ExportVerifier &Verifier);

  const std::vector<ExportGroup> &groups() const { return Groups; }
  /// The patch, as `git apply` reads it.
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
