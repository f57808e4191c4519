/// \file
/// Writes entries of a module anew, under their own name or under a clone's: with a cap, with loads
/// from L2, with the body that another front-end flavour has. What withEdits() and withClones() of
/// PtxModule do.
#pragma once

#include "Ptx/FrontEndMatch.h"
#include "Ptx/PtxModule.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace carve {

class ModuleEditor {
public:
  explicit ModuleEditor(PtxSource Base) : Base(Base) {}

  /// The text of \p Entry (of the base) as \p Edit has it and named \p NewName, behind the copies
  /// of functions that it needs and that no entry before it did. \p Source is where the body comes
  /// from. Fails as PtxModule::withClones() does.
  llvm::Expected<std::string> write(const PtxItem &Entry, llvm::StringRef NewName,
                                    const EntryEdit &Edit, PtxSource Source);

private:
  /// One entry with the functions that it brings along.
  struct Job {
    PtxSource Source;
    const EntryEdit &Edit;
    bool CopiesFunctions;
    std::vector<const PtxItem *> Pending; ///< To be copied.
  };
  struct Copy {
    const PtxItem *Original;
    bool LoadsFromL2;
    bool operator==(const Copy &) const = default;
  };

  llvm::Expected<std::string> writeHeader(const PtxItem &Entry, llvm::StringRef NewName,
                                          const EntryEdit &Edit) const;
  llvm::Expected<std::string> writeBody(const PtxItem &Item, llvm::StringRef NewName, Job &J);
  llvm::Error renameMentioned(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body,
                              const PtxItem &Item, Job &J, class TextEdits &E);
  llvm::Expected<std::string> nameOf(const PtxItem &Mentioned, Job &J);
  llvm::Expected<std::string> copyFunctions(Job &J);
  FrontEndMatch &matchWith(PtxSource Flavour);

  PtxSource Base;
  std::map<const ScannedPtx *, FrontEndMatch> Flavours;
  llvm::StringMap<Copy> Copies; ///< By the copy's name.
};

} // namespace carve
