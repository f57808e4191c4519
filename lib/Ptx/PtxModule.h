/// \file
/// A PTX text: its entries and what they call, edited by inserting directives and cloning entries.
/// Comments, strings and inline assembly are respected; everything not edited stays byte for byte.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Performance-tuning directives of an entry (PTX ISA, "Performance-Tuning Directives").
struct EntryDirectives {
  std::optional<unsigned> MaxNReg;
  std::optional<std::array<unsigned, 3>> MaxNTid; ///< Absent dimensions are 1.
  std::optional<std::array<unsigned, 3>> ReqNTid;
  std::optional<unsigned> MinNCtaPerSm;
  std::optional<std::array<unsigned, 3>> ReqNCtaPerCluster;
  bool ExplicitCluster = false; ///< .explicitcluster or .maxclusterrank stands there.

  /// The largest block of a launch that the directives accept, in threads; 1024 where none says.
  unsigned maxThreadsPerBlock() const;
};

struct PtxEntry {
  std::string Name; ///< Mangled.
  EntryDirectives Directives;
  bool UsesSetMaxNReg = false; ///< `setmaxnreg`: the kernel moves registers between warps itself.
  bool UnknownStack = false;   ///< Reaches recursion or an indirect call.
  bool CallsExternal = false;  ///< Calls a function without a body here, other than the system's
                               ///< (isSystemFunction()).
  bool CallsShared = false;    ///< Calls a function with a body here, which other kernels may call.
  bool CallsBodiless = false;  ///< Calls a function without a body here, the system's included.
  // Callees included:
  bool UsesDynamicSmem = false;     ///< Refers to an `.extern .shared` variable.
  bool HasPlainGlobalLoads = false; ///< Has loads that LoadsFromL2 changes (GlobalLoads.h).
  std::vector<std::string> Callees; ///< Functions reached, transitively, in order of first call.
};

class PtxModule;

/// What is changed in an entry. Nothing set: it stays as it is.
struct EntryEdit {
  std::optional<unsigned> RegisterCap; ///< `.maxnreg`.
  /// Another flavour of the module, from which the body comes; null: this one. It has to live as
  /// long as the request.
  const PtxModule *FrontEnd = nullptr;
  /// Behind the names of the functions that come along: all with a body that the entry reaches,
  /// where its own body is another flavour's, or where LoadsFromL2 changes loads of theirs.
  std::string CalleeSuffix = {};
  /// `.pragma "enable_smem_spilling"`, which needs `.maxntid`: where the entry has no bound of its
  /// block, this is the one it gets.
  std::optional<unsigned> SmemSpillingMaxThreads = {};
  bool LoadsFromL2 = false; ///< `ld.global` becomes `ld.global.cg` where no cache operator stands.
};

/// A copy of an entry under another name.
struct CloneRequest {
  std::string Entry;
  std::string CloneName;
  EntryEdit Edit = {};
};

/// Functions of the driver and of the device runtime (`vprintf`, `malloc`, `free`, `__assertfail`,
/// `cuda*`): they live in the system's own registers and stack, which a cap on the caller does not
/// touch.
bool isSystemFunction(llvm::StringRef Name);

struct KernelHazards;

class PtxModule {
public:
  /// Fails where the text has no `.target`, or braces do not balance.
  static llvm::Expected<PtxModule> parse(std::string Text);

  const std::string &text() const { return Text; }
  llvm::ArrayRef<PtxEntry> entries() const { return Entries; }
  const PtxEntry *find(llvm::StringRef Name) const;
  /// The text of the entry or function \p Name, an alias followed, from its linkage to its closing
  /// brace. Empty where the module has no body of it.
  llvm::StringRef definitionOf(llvm::StringRef Name) const;

  /// The text with `.maxnreg` of each named entry set to its cap; one already there is replaced.
  /// Fails where an entry is not in the module.
  llvm::Expected<std::string> withRegisterCaps(const llvm::StringMap<unsigned> &Caps) const;

  /// The text with each named entry edited in place. Fails as withClones() does.
  llvm::Expected<std::string> withEdits(const llvm::StringMap<EntryEdit> &Edits) const;

  /// The text with the clones added, each right behind its original. A clone keeps its original's
  /// performance directives. Copies of functions that come along with a body (EntryEdit) stand
  /// before the first original, and clones with the same flavour and suffix share them; otherwise
  /// clones call the same functions as their originals. `ptxas -c` compiles such a function once,
  /// for the tightest cap among its callers, so there a capped clone with callees changes its
  /// original too. Fails where an entry is not in the module or a name is already taken, and with
  /// Unsupported `front-end-declarations` where a body of another flavour refers to what this
  /// module lacks or declares otherwise.
  llvm::Expected<std::string> withClones(llvm::ArrayRef<CloneRequest> Clones) const;

  /// The digest of an entry and all that it calls or refers to (functions, constant initialisers),
  /// normalised so that edits elsewhere in the file do not change it: no comments, `.loc`, `.file`
  /// or debug sections; labels, depots, `callseq`, `$str`, `__unnamed` and prototypes renamed in
  /// order of first use; module tags in names constant; message, file and line of `__assertfail`
  /// ignored. Fails where the entry is not in the module.
  llvm::Expected<std::string> kernelDigest(llvm::StringRef Entry) const;

  /// What the entry and all that it calls do that a replay cannot undo (KernelHazards.h). Fails
  /// where the entry is not in the module.
  llvm::Expected<KernelHazards> kernelHazards(llvm::StringRef Entry) const;

  /// Whether any kernel of the module may allocate on the device (`malloc`, `new`).
  bool usesDeviceHeap() const;

private:
  struct Impl; // Spans of the text; defined beside the scanner.
  std::shared_ptr<const Impl> Scan;
  std::string Text;
  std::vector<PtxEntry> Entries;
};

} // namespace carve
