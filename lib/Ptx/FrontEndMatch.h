/// \file
/// What the module-level names of one front-end flavour are called in another one of the same
/// source. cicc numbers strings over the file, and it may leave out or change a declaration; a body
/// can move to another module only where everything that it refers to is there, and is the same.
#pragma once

#include "Ptx/PtxScanner.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

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

  /// Fails with Unsupported `front-end-declarations` where `.loc` lines of the flavour would mean
  /// something else in the base.
  llvm::Error checkLineTables() const;

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

  PtxSource Base, Flavour;
  bool Indexed = false;
  llvm::StringMap<std::string> NumberedByContent; ///< Of the base.
  llvm::StringMap<std::string> Known;             ///< Names of the flavour already answered.
};

} // namespace carve
