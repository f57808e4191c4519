/// \file
/// Writes entries of a module with changes, under their own name or under a clone's: with a
/// register cap, with other caching of loads, or with the body from another front-end flavour. It
/// implements withEdits() and withClones() of PtxModule.
#pragma once

#include "Ptx/FrontEndMatch.h"
#include "Ptx/PtxModule.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// Writes changed entries of one module, and collects the functions that have to be copied with
/// them.
class ModuleEditor {
public:
  /// \p Base is the module whose entries are written; it must outlive the editor.
  explicit ModuleEditor(PtxSource Base) : Base(Base) {}

  /// Returns the text of \p Entry, an entry of the base, changed by \p Edit and named \p NewName.
  /// \p Source is the module that the body comes from. Fails as PtxModule::withClones() does.
  llvm::Expected<std::string> write(const PtxItem &Entry, llvm::StringRef NewName,
                                    const EntryEdit &Edit, PtxSource Source);

  /// Returns the copies of functions that the entries written so far need. They belong before the
  /// first of these entries. They keep the order of the source, because ptxas lays out the code of
  /// a kernel's callees in that order.
  std::string functions() const;

private:
  /// One entry and the functions that have to be copied with it.
  struct Job {
    PtxSource Source;
    const EntryEdit &Edit;
    bool CopiesFunctions;
    std::vector<const PtxItem *> Pending; ///< Functions that are still to be copied.
  };
  /// A copied function.
  struct Copy {
    PtxSource Source;
    const PtxItem *Original;
    LoadCaching Loads;
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
  std::map<std::string, Copy> Copies; ///< By the name of the copy.
};

/// Returns \p Definition, the text of an entry or function from its linkage to its closing brace,
/// with \p NewName in place of \p Name. The names of its parameters change with it. Fails if the
/// text cannot be read or has no body.
llvm::Expected<std::string> renamedFunction(llvm::StringRef Definition, llvm::StringRef Name,
                                            llvm::StringRef NewName);

} // namespace carve
