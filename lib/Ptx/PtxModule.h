/// \file
/// Represents a PTX text: its entries and what they call. The text is edited by inserting
/// directives and by cloning entries. Comments, strings and inline assembly are respected, and
/// everything that is not edited stays byte for byte.
#pragma once

#include "Nvcc/Text/KnownLaunch.h"
#include "Ptx/LaunchConstants.h"
#include "Ptx/LoadCaching.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The performance-tuning directives of an entry (PTX ISA, "Performance-Tuning Directives").
struct EntryDirectives {
  std::optional<unsigned> MaxNReg;
  std::optional<std::array<unsigned, 3>> MaxNTid; ///< Dimensions that are absent are 1.
  std::optional<std::array<unsigned, 3>> ReqNTid;
  std::optional<unsigned> MinNCtaPerSm;
  std::optional<std::array<unsigned, 3>> ReqNCtaPerCluster;
  bool ExplicitCluster = false; ///< The entry has .explicitcluster or .maxclusterrank.

  /// Returns the largest number of threads in a block that the directives accept; 1024 if none of
  /// them limits it.
  unsigned maxThreadsPerBlock() const;
};

/// An entry of a module, with what it reaches by calls.
struct PtxEntry {
  std::string Name; ///< The mangled name.
  EntryDirectives Directives;
  /// The size of each parameter in bytes.
  std::vector<unsigned> ParameterBytes;
  bool UsesSetMaxNReg = false; ///< By `setmaxnreg` the kernel moves registers between warps itself.
  bool UnknownStack = false;   ///< It reaches recursion or an indirect call.
  /// It calls a function without a body in this module, other than a system function
  /// (isSystemFunction()).
  bool CallsExternal = false;
  /// It calls a function with a body in this module, which other kernels may call, too.
  bool CallsShared = false;
  /// It calls a function without a body in this module, system functions included.
  bool CallsBodiless = false;
  // The fields below include what the callees do.
  bool UsesDynamicSmem = false; ///< It refers to an `.extern .shared` variable.
  ChangeableLoads Loads;        ///< The loads that load caching would change (GlobalLoads.h).
  /// All functions that it reaches, in order of first call.
  std::vector<std::string> Callees;
};

class PtxModule;

/// What to change in an entry. Nothing changes if nothing is set.
struct EntryEdit {
  std::optional<unsigned> RegisterCap; ///< The value of `.maxnreg`.
  /// Another flavour of the module that the body comes from; null for this module. It must outlive
  /// the request.
  const PtxModule *FrontEnd = nullptr;
  /// The suffix for the names of the functions that are copied with the body. These are all
  /// functions with a body that the entry reaches. They are copied if the body comes from another
  /// flavour, or if Loads changes loads of theirs.
  std::string CalleeSuffix = {};
  /// Asks for `.pragma "enable_smem_spilling"`, which requires `.maxntid`. If the entry does not
  /// limit its block, it gets this limit, in threads.
  std::optional<unsigned> SmemSpillingMaxThreads = {};
  LoadCaching Loads = LoadCaching::AsCompiled; ///< How global loads use the caches.
  /// What the body gets constants for (LaunchConstants.h). The functions that it calls get none.
  KnownLaunch Known = {};
};

/// A request for a copy of an entry under another name.
struct CloneRequest {
  std::string Entry;
  std::string CloneName;
  EntryEdit Edit = {};
};

/// Whether \p Name is a function of the driver or of the device runtime (`vprintf`, `malloc`,
/// `free`, `__assertfail`, `cuda*`). Such functions use registers and a stack of the system's own,
/// which a cap on the caller does not affect.
bool isSystemFunction(llvm::StringRef Name);

struct KernelHazards;
struct PointerSource;

/// A parsed PTX module. It is immutable: edits return new text.
class PtxModule {
public:
  /// Reads \p Text. Fails if it has no `.target`, if braces do not balance, or if a statement does
  /// not end.
  static llvm::Expected<PtxModule> parse(std::string Text);

  /// Returns the text as it was parsed.
  const std::string &text() const { return Text; }
  /// Returns the entries that have a body, in the order of the text.
  llvm::ArrayRef<PtxEntry> entries() const { return Entries; }
  /// Returns the entry named \p Name (mangled); null if the module has none.
  const PtxEntry *find(llvm::StringRef Name) const;
  /// Returns the text of the entry or function \p Name from its linkage to its closing brace. An
  /// alias is followed. Returns an empty text if the module has no body for it.
  llvm::StringRef definitionOf(llvm::StringRef Name) const;

  /// Returns the text with `.maxnreg` of each named entry set to its cap; a value that is already
  /// there is replaced. Fails if an entry is not in the module.
  llvm::Expected<std::string> withRegisterCaps(const llvm::StringMap<unsigned> &Caps) const;

  /// Returns the text with each named entry edited in place. Fails as withClones() does.
  llvm::Expected<std::string> withEdits(const llvm::StringMap<EntryEdit> &Edits) const;

  /// Returns the text with the clones added, each directly after its original. A clone keeps the
  /// performance directives of its original. Copies of functions that come with a body (EntryEdit)
  /// are placed before the first original, and clones with the same flavour and suffix share them.
  /// Otherwise clones call the same functions as their originals. `ptxas -c` compiles such a
  /// function once, for the tightest cap among its callers, so there a capped clone with callees
  /// changes its original, too. Fails if an entry is not in the module or if a name is already
  /// taken. Fails with Unsupported `front-end-declarations` if a body of another flavour refers to
  /// something that this module lacks or declares differently.
  llvm::Expected<std::string> withClones(llvm::ArrayRef<CloneRequest> Clones) const;

  /// Returns the text of withClones() without the entries that have no clone and are not among \p
  /// Names. It is for `ptxas --entry`, which gives the same code, but reads all of its text first:
  /// a second or more for each 10 MB.
  llvm::Expected<std::string> clonesAlone(llvm::ArrayRef<CloneRequest> Clones,
                                          llvm::ArrayRef<std::string> Names) const;

  /// Returns the text with \p Edits and \p Clones, as the functions above. A clone comes from
  /// the entry before its edit. Edited entries and clones share the functions that are copied.
  llvm::Expected<std::string> changed(const llvm::StringMap<EntryEdit> &Edits,
                                      llvm::ArrayRef<CloneRequest> Clones) const;

  /// Returns the digest of an entry and of everything that it calls or refers to (functions,
  /// constant initialisers). The text is normalised first, so that edits elsewhere in the file do
  /// not change the digest: comments, `.loc`, `.file` and debug sections are left out; labels,
  /// depots, `callseq`, `$str`, `__unnamed` and prototypes are renamed in order of first use;
  /// module tags in names are made constant; message, file and line of `__assertfail` are ignored.
  /// Fails if the entry is not in the module.
  llvm::Expected<std::string> kernelDigest(llvm::StringRef Entry) const;

  /// Returns what the body of the entry reads of its launch. Fails if the entry is not in the
  /// module.
  llvm::Expected<LaunchReads> launchReads(llvm::StringRef Entry) const;

  /// Returns the places of the addresses by which the entry accesses global memory
  /// (PointerSources.h). Fails if the entry is not in the module, and with Unsupported if that is
  /// not known of all accesses, or if the entry calls a function.
  llvm::Expected<std::vector<PointerSource>> pointerSources(llvm::StringRef Entry) const;

  /// Returns the effects of the entry and of all that it calls that a replay cannot undo
  /// (KernelHazards.h). Fails if the entry is not in the module.
  llvm::Expected<KernelHazards> kernelHazards(llvm::StringRef Entry) const;

  /// Whether a kernel of the module may allocate memory on the device (`malloc`, `new`).
  bool usesDeviceHeap() const;

private:
  /// \p Alone are the entries that stay without a change; null if all stay.
  llvm::Expected<std::string> changed(const llvm::StringMap<EntryEdit> &Edits,
                                      llvm::ArrayRef<CloneRequest> Clones,
                                      const llvm::StringSet<> *Alone) const;

  struct Impl; // Spans of the text; PtxScanner.h defines it.
  std::shared_ptr<const Impl> Scan;
  std::string Text;
  std::vector<PtxEntry> Entries;
};

} // namespace carve
