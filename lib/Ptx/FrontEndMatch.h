/// \file
/// Finds what each name at module level of one PTX of a unit is called in another. Both PTX are of
/// the same source, made by cicc at different register caps (front-end flavours). cicc numbers
/// strings over the whole file, and it may drop or change a declaration. ModuleEditor can therefore
/// move a body to another module only if everything that the body refers to exists there and is the
/// same.
#pragma once

#include "Ptx/PtxScanner.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <utility>

namespace carve {

/// A module's text together with its scan.
struct PtxSource {
  llvm::StringRef Text;
  const ScannedPtx &Scan;

  llvm::StringRef textOf(const PtxItem &Item) const { return Text.slice(Item.Begin, Item.End); }
};

/// Translates names of \p Flavour into names of \p Base. Both sources must outlive the object.
class FrontEndMatch {
public:
  FrontEndMatch(PtxSource Base, PtxSource Flavour) : Base(Base), Flavour(Flavour) {}

  /// Returns the `.loc` line \p Loc of the flavour with the base's numbers of files and the base's
  /// labels of inlined functions' names, because both are numbered by first use. Returns an empty
  /// text if the base has no such file or name; leaving out the line changes no code.
  std::string locInBase(llvm::StringRef Loc);

  /// Fails with Unsupported `front-end-declarations` if the two modules differ in debug information
  /// other than line numbers, because that is not carried over.
  llvm::Error checkDebugSections();

  /// Fails with the same reason if \p Entry of the flavour takes other parameters than
  /// \p BaseEntry. What a parameter points to (`.ptr`) may be said in one of them alone.
  llvm::Error checkParameters(const PtxItem &BaseEntry, const PtxItem &Entry) const;

  /// Returns the base's name for \p Item of the flavour: a variable, an entry, or a function
  /// without a body. Fails with the same reason if the base has no such thing.
  llvm::Expected<std::string> nameInBase(const PtxItem &Item);

private:
  /// Returns the statement that declares \p Item without comments. If its own name
  /// is numbered, a constant replaces it, and other numbered names are replaced by their content.
  /// \p Depth is the length of the chain of strings that led here.
  static llvm::Expected<std::string> contentOf(PtxSource Module, const PtxItem &Item,
                                               unsigned Depth = 0);
  llvm::Error indexNumbered();

  /// What `.loc` lines refer to: the text of each number or label, and the number or label of each
  /// text.
  struct LineTable {
    llvm::StringMap<std::string> TextOf; ///< By the number of a file, or by a label.
    llvm::StringMap<std::string> Named;  ///< The first number or label of each text.
    std::string Other; ///< Debug sections other than the names of inlined functions.
  };
  static LineTable readLineTable(PtxSource Module);
  const std::pair<LineTable, LineTable> &lineTables();

  PtxSource Base, Flavour;
  /// The tables of the base and of the flavour.
  std::optional<std::pair<LineTable, LineTable>> Lines;
  bool Indexed = false;
  llvm::StringMap<std::string> NumberedByContent; ///< Numbered names of the base.
  llvm::StringMap<std::string> Known; ///< Names of the flavour that were asked for before.
};

} // namespace carve
