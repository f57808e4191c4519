#include "Search/VariantEdit.h"

#include "Device/Occupancy.h"
#include "Nvcc/EmbeddedPtx.h"
#include "Support/Digest.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace carve;

/// The threads of a warp, on all architectures.
static constexpr unsigned WarpThreads = 32;

/// Returns the suffix for the names of functions that are copied with the kernel. It must be the
/// same in tuning and in emission, and must differ between settings whose copies may differ in
/// text.
static std::string calleeSuffix(const VariantSetting &V, const PtxModule *Flavour) {
  std::string Suffix = "__carve";
  if (V.FrontEndCap)
    Suffix += "_f" + std::to_string(*V.FrontEndCap);
  if (V.FrontEnd != FrontEndKnob::None)
    Suffix += ("_" + nameOf(V.FrontEnd)).str();
  if (V.Restrict)
    Suffix += ("_" + RestrictName).str();
  // Each kernel has PTX of its own then.
  if (V.frontEnd().changesText())
    Suffix += "_" + digestOf(Flavour->text()).substr(0, 8);
  if (V.Loads != LoadCaching::AsCompiled)
    Suffix += ("_" + nameOf(V.Loads)).str();
  return Suffix;
}

/// Returns why ptxas would not spill registers of \p Entry to shared memory, or would do it
/// wrongly, in any compile; nothing if it would do it well.
static std::optional<std::string> reasonInEntry(const PtxEntry &Entry) {
  if (Entry.UsesDynamicSmem)
    return "dynamic-shared-memory";
  // ptxas says "Smem spilling should not be enabled when functions use abi" (C7800), for printf and
  // assert, too.
  if (Entry.CallsBodiless || Entry.UnknownStack)
    return "abi-calls";
  // ptxas 13.0 takes as much shared memory as the block's threads need, but spaces their values as
  // if its last warp were whole. A block of 176 then accesses memory that it does not have.
  const EntryDirectives &D = Entry.Directives;
  if ((D.MaxNTid || D.ReqNTid) && D.maxThreadsPerBlock() % WarpThreads != 0)
    return "bound-within-a-warp";
  return std::nullopt;
}

std::optional<std::string> carve::reasonNotSmemSpilling(const PtxEntry &Entry, bool Relocatable,
                                                        llvm::StringRef NvccVersion) {
  unsigned Major = 0;
  if (NvccVersion.split('.').first.getAsInteger(10, Major) || Major < 13)
    return "toolkit-before-13";
  if (Relocatable)
    return "relocatable";
  return reasonInEntry(Entry);
}

unsigned carve::smemSpillingMaxThreads(const DeviceModel &D, const EntryDirectives &Directives,
                                       unsigned DefaultRegs) {
  return std::min(Directives.maxThreadsPerBlock(), maxThreadsForRegisters(D, DefaultRegs));
}

namespace {

/// An option of ptxas with a value, as it occurs among others.
struct OptionAt {
  size_t Words = 0; ///< How many words it takes; 0 if the word is another option.
  llvm::StringRef Value;
};

} // namespace

/// Reads the word number \p I of \p Options as the option \p Long or \p Short. ptxas takes the
/// value after `=` or as the next word, and the value of `-O` also without either.
static OptionAt optionAt(llvm::ArrayRef<std::string> Options, size_t I, llvm::StringRef Long,
                         llvm::StringRef Short) {
  auto [Name, Value] = llvm::StringRef(Options[I]).split('=');
  if (Name == Long || Name == Short) {
    if (Name.size() != Options[I].size())
      return {1, Value};
    return I + 1 < Options.size() ? OptionAt{2, Options[I + 1]} : OptionAt{1, ""};
  }
  llvm::StringRef Joined = Options[I];
  if (Short.size() == 2 && Joined.consume_front(Short) && !Joined.empty() &&
      llvm::all_of(Joined, llvm::isDigit))
    return {1, Joined};
  return {};
}

static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral>
    LevelOption = {"--register-usage-level", "-regUsageLevel"},
    OptimizationOption = {"--opt-level", "-O"};

/// Returns \p Options with \p Value for \p Option in place of their own. ptxas warns about an
/// option that is given twice.
static std::vector<std::string>
withOption(llvm::ArrayRef<std::string> Options,
           const std::pair<llvm::StringLiteral, llvm::StringLiteral> &Option, unsigned Value) {
  std::vector<std::string> Left;
  for (size_t I = 0; I < Options.size();) {
    size_t Words = optionAt(Options, I, Option.first, Option.second).Words;
    if (!Words)
      Left.push_back(Options[I]);
    I += std::max<size_t>(1, Words);
  }
  Left.push_back((Option.first + "=" + llvm::Twine(Value)).str());
  return Left;
}

std::vector<std::string> carve::ptxasOptionsFor(const AssemblerSetting &Setting,
                                                llvm::ArrayRef<std::string> Options) {
  std::vector<std::string> All = Options;
  if (Setting.OptimizationLevel)
    All = withOption(All, OptimizationOption, *Setting.OptimizationLevel);
  if (Setting.RegisterUsageLevel)
    All = withOption(All, LevelOption, *Setting.RegisterUsageLevel);
  return All;
}

std::optional<std::string> carve::reasonNotReassembled(llvm::StringRef Arch,
                                                       llvm::ArrayRef<std::string> Options,
                                                       bool Relocatable) {
  if (Relocatable)
    return "relocatable";
  for (llvm::StringRef Word : Options)
    if (Word == "--generate-line-info" || Word == "-lineinfo" || Word == "--device-debug" ||
        Word == "-g")
      return "line-information";
  constexpr unsigned FirstWithMercury = 100;
  if (architectureNumber(Arch) >= FirstWithMercury)
    return "mercury-code";
  return std::nullopt;
}

std::vector<unsigned> carve::registerUsageLevelsToTry(llvm::ArrayRef<std::string> Options) {
  // A study of 24 programs with ptxas 13.0 found three kinds of code: 0 to 3, 4 and 5, 6 to 10.
  auto Kind = [](unsigned Level) { return Level <= 3 ? 0 : Level <= 5 ? 1 : 2; };
  unsigned Own = 5; // What ptxas takes if nothing is said.
  for (size_t I = 0; I < Options.size(); ++I)
    if (OptionAt Given = optionAt(Options, I, LevelOption.first, LevelOption.second); Given.Words)
      Given.Value.getAsInteger(10, Own);
  std::vector<unsigned> Levels;
  for (unsigned Level : {0u, 5u, 10u})
    if (Kind(Level) != Kind(Own))
      Levels.push_back(Level);
  return Levels;
}

bool carve::mayBeLessOptimized(llvm::ArrayRef<std::string> Options) {
  unsigned Own = 3; // What ptxas takes if nothing is said.
  for (size_t I = 0; I < Options.size(); ++I)
    if (OptionAt Given = optionAt(Options, I, OptimizationOption.first, OptimizationOption.second);
        Given.Words)
      Given.Value.getAsInteger(10, Own);
  return Own > 1;
}

std::vector<ReassembledKernels>
carve::reassembledKernels(const std::map<std::string, AssemblerSetting> &Settings,
                          llvm::ArrayRef<std::string> Options) {
  std::map<AssemblerSetting, std::vector<std::string>> Groups;
  for (const auto &[Kernel, Setting] : Settings)
    if (!Setting.isDefault())
      Groups[Setting].push_back(Kernel);
  std::vector<ReassembledKernels> All;
  for (auto &[Setting, Kernels] : Groups)
    All.push_back({ptxasOptionsFor(Setting, Options), std::move(Kernels)});
  return All;
}

llvm::Expected<EntryEdit> carve::entryEdit(const VariantSetting &V, const PtxEntry &Entry,
                                           unsigned SmemSpillingMaxThreads, FlavourSource Flavours,
                                           std::optional<unsigned> Ceiling,
                                           const KnownLaunch &Known) {
  EntryEdit Edit;
  Edit.RegisterCap = V.Cap;
  const PtxEntry *Body = &Entry;
  if (!V.frontEnd().isDefault()) {
    llvm::Expected<const PtxModule *> Flavour = Flavours(V.frontEnd());
    if (!Flavour)
      return Flavour.takeError();
    Edit.FrontEnd = *Flavour;
    Body = (*Flavour)->find(Entry.Name);
    if (!Body)
      return unsupported("front-end-declarations", "the flavour has no entry " + Entry.Name);
  }
  if (V.SmemSpilling) {
    if (auto Reason = reasonInEntry(*Body))
      return unsupported(*Reason,
                         "registers of " + Entry.Name + " are not spilled to shared memory");
    Edit.SmemSpillingMaxThreads = unsigned(llvm::alignTo(SmemSpillingMaxThreads, WarpThreads));
    // ptxas ignores --maxrregcount for an entry with `.maxntid`, and this entry is given one.
    const EntryDirectives &D = Entry.Directives;
    if (!V.Cap && !D.MaxNReg && !D.MaxNTid && !D.ReqNTid)
      Edit.RegisterCap = Ceiling;
  }
  if (V.Loads != LoadCaching::AsCompiled && !Body->Loads.by(V.Loads))
    return unsupported("no-plain-global-loads", Entry.Name + " has no load to change");
  Edit.Loads = V.Loads;
  if (V.KnownPtx)
    Edit.Known = Known;
  if (Edit.FrontEnd || Edit.Loads != LoadCaching::AsCompiled)
    Edit.CalleeSuffix = calleeSuffix(V, Edit.FrontEnd);
  return Edit;
}
