/// \file
/// Finds the items of module scope in a PTX text (entries, functions, variables and aliases), and
/// what each body calls. PtxModule answers and edits by these spans.
#pragma once

#include "Ptx/PtxLexer.h"
#include "Ptx/PtxModule.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <utility>
#include <vector>

namespace carve {

/// One statement of module scope, from its linkage directive to its `;` or closing brace.
struct PtxItem {
  enum KindTy { Entry, Function, Variable };

  KindTy Kind = Variable;
  std::string Name;
  size_t Begin = 0, End = 0;
  /// The end of the last token before the body. New directives are inserted here.
  size_t HeaderEnd = 0;
  bool HasBody = false;
  EntryDirectives Directives;
  /// The numbers after `.maxnreg`, as offsets in the text.
  std::vector<std::pair<size_t, size_t>> MaxNRegValues;

  // The fields below describe the body, if there is one.
  std::vector<std::string> Calls; ///< Functions that are called directly, in order of first call.
  bool CallsIndirectly = false;
  bool SetsMaxNReg = false;
  ChangeableLoads Loads; ///< See GlobalLoads.h.
  bool MentionsDynamicSmem = false;

  bool DynamicSmem = false; ///< For a variable: it is `.extern .shared`.
};

/// The items of a module, with their names.
struct ScannedPtx {
  std::vector<PtxItem> Items;
  /// The index of the item that has each name. A definition is preferred to declarations.
  llvm::StringMap<unsigned> Symbols;
  llvm::StringMap<std::string> Aliases; ///< The target of each `.alias`.
  /// What `.loc` refers to, as spans of the text: the `.file` lines, and the debug sections with
  /// the names of inlined functions.
  std::vector<std::pair<size_t, size_t>> LineTables;

  /// Returns the item named \p Name, after following an alias; null if the module has none.
  const PtxItem *find(llvm::StringRef Name) const;
};

/// Scans \p Text. Fails if it has no `.target`, if braces do not balance, or if a statement does
/// not end.
llvm::Expected<ScannedPtx> scanPtx(llvm::StringRef Text);

/// The private part of PtxModule: the spans of its text.
struct PtxModule::Impl : ScannedPtx {};

} // namespace carve
