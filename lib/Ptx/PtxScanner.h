/// \file
/// Finds the module-level items of a PTX text, entries, functions, variables and aliases, with
/// what each body calls. What PtxModule answers and edits rests on these spans.
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
  size_t HeaderEnd = 0; ///< Behind the last token before the body: where a directive is inserted.
  bool HasBody = false;
  EntryDirectives Directives;
  /// The numbers behind `.maxnreg`, as offsets in the text.
  std::vector<std::pair<size_t, size_t>> MaxNRegValues;

  // Of a body.
  std::vector<std::string> Calls; ///< Direct calls in order of first call.
  bool CallsIndirectly = false;
  bool SetsMaxNReg = false;
  bool HasPlainGlobalLoads = false; ///< GlobalLoads.h.
  bool MentionsDynamicSmem = false;

  bool DynamicSmem = false; ///< Of a variable: `.extern .shared`.
};

struct ScannedPtx {
  std::vector<PtxItem> Items;
  llvm::StringMap<unsigned> Symbols;    ///< The item of a name; its definition before declarations.
  llvm::StringMap<std::string> Aliases; ///< From `.alias`.
  /// What `.loc` refers to: the `.file` lines, and the debug sections with the names of inlined
  /// functions. As spans of the text.
  std::vector<std::pair<size_t, size_t>> LineTables;

  /// The item that \p Name stands for, an alias followed; null where the module has none.
  const PtxItem *find(llvm::StringRef Name) const;
};

/// Fails where \p Text has no `.target`, braces do not balance, or a statement does not end.
llvm::Expected<ScannedPtx> scanPtx(llvm::StringRef Text);

/// What lies behind PtxModule: the spans of its text.
struct PtxModule::Impl : ScannedPtx {};

} // namespace carve
