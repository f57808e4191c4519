/// \file
/// Writes entries of a module anew, under their own name or under a clone's: with a cap, with loads
/// from L2, with the body that another front-end flavour has. What withEdits() and withClones() of
/// PtxModule do.
#pragma once

#include "Ptx/FrontEndMatch.h"
#include "Ptx/PtxModule.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

class ModuleEditor {
public:
  explicit ModuleEditor(PtxSource Base) : Base(Base) {}

  /// The text of \p Entry (of the base) as \p Edit has it and named \p NewName. \p Source is where
  /// the body comes from. Fails as PtxModule::withClones() does.
  llvm::Expected<std::string> write(const PtxItem &Entry, llvm::StringRef NewName,
                                    const EntryEdit &Edit, PtxSource Source);

  /// The copies of functions that the entries written so far need, to stand before the first of
  /// them. They have the order of the source: ptxas lays out the code of a kernel's callees in it.
  std::string functions() const;

private:
  /// One entry with the functions that it brings along.
  struct Job {
    PtxSource Source;
    const EntryEdit &Edit;
    bool CopiesFunctions;
    std::vector<const PtxItem *> Pending; ///< To be copied.
  };
  struct Copy {
    PtxSource Source;
    const PtxItem *Original;
    bool LoadsFromL2;
    std::string Header, Body;
  };

  llvm::Expected<std::string> writeHeader(const PtxItem &Entry, llvm::StringRef NewName,
                                          const EntryEdit &Edit) const;
  llvm::Expected<std::string> writeBody(const PtxItem &Item, llvm::StringRef NewName, Job &J);
  llvm::Error renameMentioned(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body,
                              const PtxItem &Item, Job &J, class TextEdits &E);
  llvm::Expected<std::string> nameOf(const PtxItem &Mentioned, Job &J);
  llvm::Error copyFunctions(Job &J);
  FrontEndMatch &matchWith(PtxSource Flavour);

  PtxSource Base;
  std::map<const ScannedPtx *, FrontEndMatch> Flavours;
  std::map<std::string, Copy> Copies; ///< By the copy's name.
};

/// The text of an entry or function, from its linkage to its closing brace, with the name \p
/// NewName in the place of \p Name, in the names of its parameters, too. Fails where it cannot be
/// read.
llvm::Expected<std::string> renamedFunction(llvm::StringRef Definition, llvm::StringRef Name,
                                            llvm::StringRef NewName);

} // namespace carve
