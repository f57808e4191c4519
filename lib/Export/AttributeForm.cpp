#include "Export/AttributeForm.h"

#include "Store/Profile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <array>

using namespace carve;

namespace {

constexpr unsigned MostRegs = 255, WarpThreads = 32, SmParts = 4, RegsUnit = 8;

/// Returns what \p V sets beyond a cap, which attributes cannot express, with a hint for each part.
std::vector<std::string> beyondAttributes(const VariantSetting &V) {
  std::vector<std::string> Lost;
  if (V.FrontEndCap)
    Lost.push_back("frontend-cap " + std::to_string(*V.FrontEndCap) +
                   ": no attribute gives the front end a cap");
  if (V.FrontEnd == FrontEndKnob::KnownLaunch)
    Lost.push_back("frontend-knob known: only a template or a copy of the kernel knows the values");
  else if (usesNewerLlvm(V.FrontEnd))
    Lost.push_back("frontend-knob " + nameOf(V.FrontEnd).str() + ": no option of nvcc sets it");
  else if (V.FrontEnd != FrontEndKnob::None)
    Lost.push_back("frontend-knob " + nameOf(V.FrontEnd).str() + ": only -Xcicc=" +
                   llvm::join(ciccArguments(V.FrontEnd), ",") + " sets it, for a whole file");
  if (V.Restrict)
    Lost.push_back(
        "restrict: only __restrict__ at the kernel's pointers sets it, for all launches");
  if (V.KnownPtx)
    Lost.push_back("known-ptx: only a template or a copy of the kernel knows the values");
  if (V.SmemSpilling)
    Lost.push_back("smem-spilling: only asm volatile(\".pragma \\\"enable_smem_spilling\\\";\") in "
                   "the kernel sets it");
  if (V.Loads == LoadCaching::L2Only)
    Lost.push_back(
        "load-cache cg: -Xptxas -dlcm=cg sets it for a whole file, __ldcg() for one load");
  if (V.Loads == LoadCaching::EvictFirst)
    Lost.push_back(
        "load-cache cs: -Xptxas -dlcm=cs sets it for a whole file, __ldcs() for one load");
  if (V.Loads == LoadCaching::NoAllocate)
    Lost.push_back(
        "load-cache noalloc: only asm(\"ld.global.L1::no_allocate...\") sets it, for one "
        "load");
  if (V.RegisterUsageLevel)
    Lost.push_back("register-usage-level " + std::to_string(*V.RegisterUsageLevel) +
                   ": only -Xptxas --register-usage-level sets it, for a whole file");
  if (V.OptimizationLevel)
    Lost.push_back("optimization-level " + std::to_string(*V.OptimizationLevel) +
                   ": only -Xptxas -O" + std::to_string(*V.OptimizationLevel) +
                   " sets it, for a whole file");
  return Lost;
}

/// Returns true if \p V sets a register cap and nothing else.
bool isCapAlone(const VariantSetting &V) {
  VariantSetting Alone;
  Alone.Cap = V.Cap;
  return V.Cap && V == Alone;
}

/// Returns the cap to write: the decision's, or, if the decision is more than a cap, the fastest
/// cap that was timed.
std::optional<unsigned> capToSay(const FormRequest &R) {
  std::optional<unsigned> Best = R.Decided.Cap;
  if (!R.Report || isCapAlone(R.Decided))
    return Best;
  std::optional<double> BestRatio =
      Best ? timedRatio(R.Report, "r" + std::to_string(*Best)) : std::optional<double>(1);
  if (Best && !BestRatio)
    return Best;
  for (const VariantReport &V : R.Report->Variants) {
    llvm::Expected<VariantSetting> S = parseVariantName(V.Name);
    if (!S) {
      llvm::consumeError(S.takeError());
      continue;
    }
    if (!isCapAlone(*S) || V.Ratio <= 0 || !V.Fault.empty() || V.Ratio >= *BestRatio)
      continue;
    Best = S->Cap;
    BestRatio = V.Ratio;
  }
  return Best;
}

/// Returns true if the toolkit knows `__maxnreg__`, which came with CUDA 12.4.
bool hasMaxNReg(llvm::StringRef NvccVersion) {
  unsigned Major = 0, Minor = 0;
  auto [First, Rest] = NvccVersion.split('.');
  if (First.getAsInteger(10, Major) || Rest.split('.').first.getAsInteger(10, Minor))
    return false;
  return std::pair(Major, Minor) >= std::pair(12u, 4u);
}

unsigned warpsOf(unsigned Threads) { return (Threads + WarpThreads - 1) / WarpThreads; }

/// Returns launch bounds for \p Cap registers. If some bounds give exactly that count, they are
/// those with the smallest block of at least \p Threads. Otherwise they are bounds for \p Threads
/// with the next larger count. Returns nothing if even one block of \p Threads allows fewer
/// registers. If \p Fixed, the block size must stay \p Threads.
std::optional<AttributeForm> boundsFor(const DeviceModel &D, unsigned Cap, unsigned Threads,
                                       bool Fixed) {
  AttributeForm Above;
  unsigned Most = Fixed ? Threads : D.MaxThreadsPerBlock;
  for (unsigned T = Threads; T <= Most; T = (T / WarpThreads + 1) * WarpThreads)
    for (unsigned B = 1; B <= D.MaxBlocksPerSm && B * T <= D.MaxThreadsPerSm; ++B) {
      unsigned Given = capOfLaunchBounds(D, T, B);
      AttributeForm Form{true, Given, T, B, std::nullopt, {}};
      if (Given == Cap)
        return Form;
      if (Given > Cap && T == Threads && (!Above.Cap || Given < Above.Cap))
        Above = Form;
    }
  return Above.Cap ? std::optional(Above) : std::nullopt;
}

/// Returns the launch bounds for \p Cap, or nothing with \p Reason.
std::optional<AttributeForm> launchBounds(const FormRequest &R, unsigned Cap, std::string &Reason) {
  const EntryDirectives &D = R.Directives;
  bool Fixed = D.MaxNTid.has_value() || D.ReqNTid.has_value();
  unsigned Threads = Fixed ? D.maxThreadsPerBlock() : R.LargestBlock;
  if (!Threads) {
    Reason = "no launch is known; give the largest block with --max-threads=N";
    return std::nullopt;
  }
  // For bounds, ptxas rounds the count to units of 8; it takes a cap as it is.
  unsigned Wanted = std::min(Cap, MostRegs);
  std::optional<AttributeForm> Form = boundsFor(R.Model, Wanted, Threads, Fixed);
  if (!Form) {
    Reason = "launch bounds of " + std::to_string(Threads) + " threads allow at most " +
             std::to_string(capOfLaunchBounds(R.Model, Threads, 1)) + " registers, not " +
             std::to_string(Cap);
    return std::nullopt;
  }
  if (Form->Cap != Wanted)
    Form->Lost.push_back("cap " + std::to_string(Cap) + ": minBlocks rounds it to " +
                         std::to_string(Form->Cap));
  if (!Fixed)
    Form->Lost.push_back("launches of more than " + std::to_string(Form->MaxThreads) +
                         " threads in a block fail");
  llvm::append_range(Form->Lost, beyondAttributes(R.Decided));
  return Form;
}

/// Returns `__maxnreg__` with \p Cap, and what it loses.
AttributeForm maxNReg(const FormRequest &R, unsigned Cap) {
  AttributeForm Form;
  Form.Cap = Cap;
  const EntryDirectives &D = R.Directives;
  bool Bounded = D.MaxNTid || D.ReqNTid || D.MinNCtaPerSm;
  if (Bounded) {
    Form.Lost.push_back(
        "__launch_bounds__ is removed: nvcc does not accept it together with __maxnreg__");
  } else {
    Form.Setting.emplace();
    Form.Setting->Cap = Cap;
  }
  if (R.Decided.Cap && *R.Decided.Cap != Cap)
    Form.Lost.push_back("cap " + std::to_string(*R.Decided.Cap) + ": alone it is slower than " +
                        std::to_string(Cap));
  llvm::append_range(Form.Lost, beyondAttributes(R.Decided));
  return Form;
}

/// Returns how many times as fast as the default a kernel with \p Ratio is.
std::string speedup(double Ratio) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%.3f", 1 / Ratio);
  return Text;
}

} // namespace

unsigned carve::capOfLaunchBounds(const DeviceModel &D, unsigned MaxThreads, unsigned MinBlocks) {
  unsigned Warps = warpsOf(MaxThreads) * std::max(MinBlocks, 1u);
  unsigned PerPart = (Warps + SmParts - 1) / SmParts;
  if (!PerPart)
    return MostRegs;
  unsigned Regs = D.RegsPerSm / SmParts / WarpThreads / PerPart;
  return std::min(Regs / RegsUnit * RegsUnit, MostRegs);
}

std::vector<AttributeForm> carve::formsOf(const FormRequest &R, ExportForm As,
                                          std::string &Reason) {
  std::optional<unsigned> Cap = capToSay(R);
  if (!Cap) {
    Reason = "no attribute can express " + settingText(R.Decided);
    return {};
  }
  std::vector<AttributeForm> Forms;
  bool Bounded = R.Directives.MaxNTid || R.Directives.ReqNTid;
  if (As != ExportForm::LaunchBounds) {
    // __maxnreg__ replaces the bounds. Then nothing keeps ptxas from using more registers than a
    // block of that size can have.
    unsigned Threads = Bounded ? R.Directives.maxThreadsPerBlock() : 0;
    unsigned Most = capOfLaunchBounds(R.Model, Threads, 1);
    if (*Cap > Most)
      Reason = "__maxnreg__(" + std::to_string(*Cap) + ") would replace bounds of " +
               std::to_string(Threads) + " threads, and a block of that size can have at most " +
               std::to_string(Most) + " registers per thread";
    else if (hasMaxNReg(R.NvccVersion))
      Forms.push_back(maxNReg(R, *Cap));
    else
      Reason = "__maxnreg__ needs CUDA 12.4, the toolkit is " + R.NvccVersion;
  }
  if (As != ExportForm::MaxNReg)
    if (std::optional<AttributeForm> Form = launchBounds(R, *Cap, Reason))
      // A kernel keeps its launch bounds if they can express the decision, too.
      Forms.insert(Bounded ? Forms.begin() : Forms.end(), std::move(*Form));
  return Forms;
}

std::optional<double> carve::timedRatio(const KernelReport *Report, llvm::StringRef Name) {
  if (!Report)
    return std::nullopt;
  if (Name == "default")
    return 1;
  for (const VariantReport &V : Report->Variants)
    if (V.Name == Name && V.Ratio > 0 && V.Fault.empty())
      return V.Ratio;
  return std::nullopt;
}

GainEstimate carve::estimateGain(const VariantSetting &Decided,
                                 const std::optional<VariantSetting> &Exported,
                                 std::optional<double> DecidedRatio, const KernelReport *Report) {
  GainEstimate G;
  G.Decided = DecidedRatio;
  if (!Exported)
    return G;
  if (*Exported == Decided) {
    G.Same = true;
    G.Exported = G.Decided;
    return G;
  }
  G.Exported = timedRatio(Report, variantName(*Exported));
  // The confirmation timed only the decision. If one measurement has both variants, their ratio is
  // taken from it.
  std::optional<double> Beside = timedRatio(Report, variantName(Decided));
  if (G.Exported && Beside && G.Decided)
    G.Exported = *G.Exported / *Beside * *G.Decided;
  return G;
}

std::string GainEstimate::text() const {
  if (Same)
    return Decided ? "nothing: " + speedup(*Decided) + " times as fast as the default" : "nothing";
  if (!Decided || !Exported)
    return Decided ? "not measured; the decision is " + speedup(*Decided) +
                         " times as fast as the default"
                   : "not measured, and neither was the gain";
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(
      "%.1f %% of the time, by variants timed: %s instead of %s times as fast",
      (*Exported / *Decided - 1) * 100, speedup(*Exported).c_str(), speedup(*Decided).c_str());
  return Text;
}

unsigned carve::largestBlock(llvm::ArrayRef<std::string> Shapes) {
  unsigned Largest = 0;
  for (llvm::StringRef Shape : Shapes) {
    llvm::StringRef Block = Shape.split("block ").second.split(' ').first;
    unsigned Threads = 1;
    bool Whole = !Block.empty();
    for (llvm::StringRef Dimension : llvm::split(Block, 'x')) {
      unsigned N = 0;
      Whole &= !Dimension.getAsInteger(10, N);
      Threads *= N;
    }
    if (Whole)
      Largest = std::max(Largest, Threads);
  }
  return Largest;
}
