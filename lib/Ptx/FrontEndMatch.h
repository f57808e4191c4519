/// \file
/// What the module-level names of one front-end flavour are called in another one of the same
/// source. cicc numbers strings over the file, and it may leave out or change a declaration; a body
/// can move to another module only where everything that it refers to is there, and is the same.
#pragma once

#include "Ptx/PtxScanner.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <utility>

namespace carve {

/// A module's text with its scan.
struct PtxSource {
  llvm::StringRef Text;
  const ScannedPtx &Scan;

  llvm::StringRef textOf(const PtxItem &Item) const { return Text.slice(Item.Begin, Item.End); }
};

class FrontEndMatch {
public:
  FrontEndMatch(PtxSource Base, PtxSource Flavour) : Base(Base), Flavour(Flavour) {}

  /// The `.loc` line \p Loc of the flavour with the numbers that the base gives to files, and its
  /// labels of inlined functions' names: both are numbered by first use. Empty, which changes no
  /// code, where the base knows no such file or name.
  std::string locInBase(llvm::StringRef Loc);

  /// Fails with Unsupported `front-end-declarations` where the two hold other debug information
  /// than line numbers, which is not carried over.
  llvm::Error checkDebugSections();

  /// Fails likewise where \p Entry of the flavour takes other parameters than the base's.
  llvm::Error checkParameters(const PtxItem &BaseEntry, const PtxItem &Entry) const;

  /// The base's name for what \p Item of the flavour is there: a variable, an entry, or a function
  /// of which only the name is known. Fails likewise where the base has no such thing.
  llvm::Expected<std::string> nameInBase(const PtxItem &Item);

private:
  /// The statement that declares \p Item, without comments, its own name and numbered ones replaced
  /// by what they stand for.
  static llvm::Expected<std::string> contentOf(PtxSource Module, const PtxItem &Item,
                                               unsigned Depth = 0);
  llvm::Error indexNumbered();

  /// What `.loc` lines refer to, by its text, and the other way round.
  struct LineTable {
    llvm::StringMap<std::string> TextOf; ///< Of a file's number or of a label.
    llvm::StringMap<std::string> Named;  ///< The first number or label of a text.
    std::string Other;                   ///< Debug sections beside the names.
  };
  static LineTable readLineTable(PtxSource Module);
  const std::pair<LineTable, LineTable> &lineTables();

  PtxSource Base, Flavour;
  std::optional<std::pair<LineTable, LineTable>> Lines; ///< Of the base and of the flavour.
  bool Indexed = false;
  llvm::StringMap<std::string> NumberedByContent; ///< Of the base.
  llvm::StringMap<std::string> Known;             ///< Names of the flavour already answered.
};

} // namespace carve
