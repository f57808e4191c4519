#include "Store/Profile.h"

#include "Support/Digest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/YAMLParser.h"

#include <array>
#include <charconv>
#include <tuple>

using namespace carve;

/// This rises when the same setting of the knobs gives other code than before.
static constexpr llvm::StringLiteral KnobSetVersion = "knobs 1";

std::vector<const Decision *> Profile::candidates(llvm::StringRef KernelName,
                                                  llvm::StringRef Mangled,
                                                  llvm::StringRef Arch) const {
  const KernelIdentity Kernel{KernelName.str(), Mangled.str()};
  // Each field puts an entry later: it is pinned by hand, is a pattern, is for any architecture,
  // does not have the mangled name.
  using Rank = std::tuple<bool, bool, bool, bool>;
  std::vector<std::pair<Rank, const Decision *>> Found;
  for (const Decision &D : Kernels) {
    if (!D.Arch.empty() && D.Arch != Arch)
      continue;
    NameMatch Match = matchOf(D, Kernel);
    if (Match != NameMatch::None)
      Found.emplace_back(
          Rank(!D.Digest, Match == NameMatch::Pattern, D.Arch.empty(), Match != NameMatch::Mangled),
          &D);
  }
  llvm::stable_sort(Found, llvm::less_first());
  std::vector<const Decision *> Entries;
  for (const auto &[Order, D] : Found)
    Entries.push_back(D);
  return Entries;
}

NameMatch carve::matchOf(const Decision &D, const KernelIdentity &Kernel) {
  if (!D.Digest)
    return matchPin(D.Kernel, Kernel);
  // A tuning writes the exact name.
  if (D.Kernel == Kernel.Mangled)
    return NameMatch::Mangled;
  return D.Kernel == Kernel.Name ? NameMatch::Name : NameMatch::None;
}

Profile carve::concerning(const Profile &P, llvm::ArrayRef<KernelIdentity> Kernels) {
  Profile Result;
  Result.Name = P.Name;
  Result.FileCap = P.FileCap;
  llvm::copy_if(P.Kernels, std::back_inserter(Result.Kernels), [&](const Decision &D) {
    return llvm::any_of(Kernels,
                        [&](const KernelIdentity &K) { return matchOf(D, K) != NameMatch::None; });
  });
  return Result;
}

static bool sameKey(const Decision &A, const Decision &B) {
  return A.Kernel == B.Kernel && A.Arch == B.Arch && A.Digest == B.Digest;
}

void Profile::put(Decision D) {
  auto Same = llvm::find_if(Kernels, [&](const Decision &Other) { return sameKey(Other, D); });
  if (Same != Kernels.end())
    *Same = std::move(D);
  else
    Kernels.push_back(std::move(D));
}

/// Returns true if \p New need not replace \p Old, which has the same key: both have the same
/// setting and the same code digest.
static bool decidesTheSame(const Decision &Old, const Decision &New) {
  if (Old.Variant != New.Variant || Old.Entries != New.Entries || !Old.Basis || !New.Basis)
    return false;
  return Old.Basis->CodeDigest == New.Basis->CodeDigest;
}

/// Returns true if \p New replaces \p Old: same kernel and architecture, but another digest.
/// Evidence that an entry lacks does not count as a difference.
static bool supersedes(const Decision &New, const Decision &Old) {
  if (!Old.Digest || !New.Digest || Old.Kernel != New.Kernel || Old.Arch != New.Arch ||
      Old.Digest == New.Digest)
    return false;
  if (!Old.Basis || !New.Basis)
    return true;
  auto Differ = [](const auto &A, const auto &B) { return !A.empty() && !B.empty() && A != B; };
  return !Differ(Old.Basis->Toolkit, New.Basis->Toolkit) &&
         !Differ(Old.Basis->Options, New.Basis->Options) &&
         !Differ(Old.Basis->Source, New.Basis->Source);
}

void Profile::adopt(const Profile &Tuned) {
  auto IsTuned = [&](const Decision &Old) {
    return llvm::any_of(Tuned.Kernels, [&](const Decision &New) { return sameKey(Old, New); });
  };
  llvm::erase_if(Kernels, [&](const Decision &Old) {
    return !IsTuned(Old) &&
           llvm::any_of(Tuned.Kernels, [&](const Decision &New) { return supersedes(New, Old); });
  });
  for (const Decision &New : Tuned.Kernels) {
    auto Old = llvm::find_if(Kernels, [&](const Decision &D) { return sameKey(D, New); });
    if (Old == Kernels.end())
      Kernels.push_back(New);
    else if (!decidesTheSame(*Old, New))
      *Old = New;
  }
}

static std::string quoted(llvm::StringRef Text) {
  return "\"" + llvm::yaml::escape(Text, /*EscapePrintable=*/false) + "\"";
}

/// Returns the shortest text that reads back as the same number.
static std::string decimal(double Number) {
  std::array<char, 32> Buffer;
  auto [End, Failed] = std::to_chars(Buffer.data(), Buffer.data() + Buffer.size(), Number);
  return std::string(Buffer.data(), End);
}

static void printEvidence(const Evidence &E, llvm::raw_ostream &OS) {
  OS << "    evidence:\n";
  auto Text = [&](llvm::StringRef Key, llvm::StringRef Value) {
    if (!Value.empty())
      OS << "      " << Key << ": " << quoted(Value) << "\n";
  };
  Text("device", E.Device);
  Text("driver", E.Driver);
  Text("toolkit", E.Toolkit);
  if (!E.Options.empty())
    OS << "      options: [" << llvm::join(llvm::map_range(E.Options, quoted), ", ") << "]\n";
  Text("source", E.Source);
  Text("date", E.Date);
  Text("workload", E.Workload);
  if (!E.Shapes.empty())
    OS << "      shapes:\n";
  for (const std::string &Shape : E.Shapes)
    OS << "        - " << quoted(Shape) << "\n";
  OS << "      ratio: " << decimal(E.Ratio) << "\n"
     << "      ratio-low: " << decimal(E.RatioLow) << "\n"
     << "      ratio-high: " << decimal(E.RatioHigh) << "\n"
     << "      pairs: " << E.Pairs << "\n"
     << "      default-regs: " << E.DefaultRegs << "\n"
     << "      tuned-regs: " << E.TunedRegs << "\n";
  if (E.DefaultSpillBytes)
    OS << "      default-spill-bytes: " << *E.DefaultSpillBytes << "\n";
  if (E.TunedSpillBytes)
    OS << "      tuned-spill-bytes: " << *E.TunedSpillBytes << "\n";
  if (E.DefaultOccupancy)
    OS << "      default-occupancy: " << decimal(*E.DefaultOccupancy) << "\n";
  if (E.TunedOccupancy)
    OS << "      tuned-occupancy: " << decimal(*E.TunedOccupancy) << "\n";
  if (E.LaunchNs)
    OS << "      launch-ns: " << decimal(*E.LaunchNs) << "\n";
  if (E.SmemSpillingThreads)
    OS << "      smem-spilling-threads: " << E.SmemSpillingThreads << "\n";
  Text("mode", E.Mode);
  Text("mode-reason", E.ModeReason);
  Text("verified", E.Verified);
  if (E.Rounds)
    OS << "      rounds: " << E.Rounds << "\n"
       << "      in-run-ratio: " << decimal(E.InRunRatio) << "\n"
       << "      in-run-ratio-low: " << decimal(E.InRunRatioLow) << "\n"
       << "      in-run-ratio-high: " << decimal(E.InRunRatioHigh) << "\n";
  Text("code-digest", E.CodeDigest);
  Text("reason", E.Reason);
}

/// Returns the knobs that \p V sets, with their keys, in the order in which they are written.
static std::vector<std::pair<llvm::StringRef, std::string>> knobsOf(const VariantSetting &V) {
  std::vector<std::pair<llvm::StringRef, std::string>> Knobs;
  if (V.Cap)
    Knobs.emplace_back("cap", std::to_string(*V.Cap));
  if (V.FrontEndCap)
    Knobs.emplace_back("frontend-cap", std::to_string(*V.FrontEndCap));
  if (V.FrontEnd != FrontEndKnob::None)
    Knobs.emplace_back("frontend-knob", nameOf(V.FrontEnd).str());
  if (V.Restrict)
    Knobs.emplace_back(RestrictName, "true");
  if (V.KnownPtx)
    Knobs.emplace_back("known-ptx", "true");
  if (V.SmemSpilling)
    Knobs.emplace_back("smem-spilling", "true");
  if (V.Loads != LoadCaching::AsCompiled)
    Knobs.emplace_back("load-cache", nameOf(V.Loads).str());
  if (V.RegisterUsageLevel)
    Knobs.emplace_back("register-usage-level", std::to_string(*V.RegisterUsageLevel));
  if (V.OptimizationLevel)
    Knobs.emplace_back("optimization-level", std::to_string(*V.OptimizationLevel));
  return Knobs;
}

static std::string joinedKnobs(const VariantSetting &V, llvm::StringRef Between) {
  return llvm::join(
      llvm::map_range(knobsOf(V),
                      [&](const auto &Knob) { return (Knob.first + Between + Knob.second).str(); }),
      ", ");
}

std::string carve::settingText(const VariantSetting &V) {
  return V.isDefault() ? "default" : joinedKnobs(V, " ");
}

std::string carve::decisionText(const Decision &D) {
  std::string Text = settingText(D.Variant);
  for (const FurtherEntry &E : D.Entries)
    Text += "; " + settingText(E.Variant) + " when " + guardText(E.When);
  return Text;
}

/// Returns a place in the arguments as the keys of a profile.
static std::string placeKeys(unsigned Parameter, unsigned Offset) {
  return "parameter: " + std::to_string(Parameter) +
         (Offset ? ", offset: " + std::to_string(Offset) : "");
}

/// Returns the guard as the keys of a profile.
static std::string printGuard(const EntryGuard &Guard) {
  std::vector<std::string> Keys;
  if (Guard.MaxThreads)
    Keys.push_back("threads: " + std::to_string(*Guard.MaxThreads));
  if (Guard.Block)
    Keys.push_back("block: " + dimensionsText(*Guard.Block));
  if (Guard.Grid)
    Keys.push_back("grid: " + dimensionsText(*Guard.Grid));
  std::vector<std::string> Values;
  for (const ArgumentValue &V : Guard.Arguments)
    Values.push_back("{" + placeKeys(V.Parameter, V.Offset) + ", bytes: " +
                     std::to_string(V.Bytes) + ", value: " + std::to_string(V.Bits) + "}");
  if (!Values.empty())
    Keys.push_back("arguments: [" + llvm::join(Values, ", ") + "]");
  std::vector<std::string> Places;
  for (const PointerPlace &P : Guard.Apart)
    Places.push_back("{" + placeKeys(P.Parameter, P.Offset) + "}");
  if (!Places.empty())
    Keys.push_back("pointers-apart: [" + llvm::join(Places, ", ") + "]");
  return llvm::join(Keys, ", ");
}

/// Returns in how much of a run a guard held, as the keys of a profile.
static std::string printHold(const GuardHold &Hold) {
  return "launches: " + std::to_string(Hold.Held) + ", of: " + std::to_string(Hold.Launches) +
         ", share: " + decimal(Hold.Share) + (Hold.AtMost ? ", at-most: true" : "");
}

std::string carve::printDecision(const Decision &D) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "  - kernel: " << quoted(D.Kernel) << "\n";
  if (!D.Arch.empty())
    OS << "    arch: " << D.Arch << "\n";
  auto Print = [](const VariantSetting &V) {
    return V.isDefault() ? "default" : "{" + joinedKnobs(V, ": ") + "}";
  };
  OS << "    variant: " << Print(D.Variant) << "\n";
  if (!D.Entries.empty())
    OS << "    entries:\n";
  for (const FurtherEntry &E : D.Entries)
    OS << "      - when: {" << printGuard(E.When) << "}\n"
       << "        variant: " << Print(E.Variant) << "\n"
       << (E.CodeDigest.empty() ? "" : "        code-digest: " + quoted(E.CodeDigest) + "\n")
       << (E.Held ? "        held: {" + printHold(*E.Held) + "}\n" : "");
  if (D.Digest)
    OS << "    digest: " << quoted(*D.Digest) << "\n";
  if (D.Basis)
    printEvidence(*D.Basis, OS);
  return Text;
}

std::string carve::printProfile(const Profile &P) {
  std::vector<const Decision *> Sorted;
  Sorted.reserve(P.Kernels.size());
  for (const Decision &D : P.Kernels)
    Sorted.push_back(&D);
  auto Place = [](const Decision *D) {
    llvm::StringRef Toolkit = D->Basis ? llvm::StringRef(D->Basis->Toolkit) : "";
    return std::tuple<llvm::StringRef, llvm::StringRef, bool, llvm::StringRef, llvm::StringRef>(
        D->Kernel, D->Arch, D->Digest.has_value(), Toolkit,
        D->Digest ? llvm::StringRef(*D->Digest) : "");
  };
  llvm::stable_sort(Sorted,
                    [&](const Decision *A, const Decision *B) { return Place(A) < Place(B); });
  std::string Text = "carve-profile: 1\n";
  if (P.FileCap)
    Text += "file-cap: " + std::to_string(*P.FileCap) + "\n";
  Text += Sorted.empty() ? "kernels: []\n" : "kernels:\n";
  for (const Decision *D : Sorted)
    Text += printDecision(*D);
  return Text;
}

std::string carve::choicesOf(const Profile &P) {
  Profile Acted;
  Acted.FileCap = P.FileCap;
  for (const Decision &D : P.Kernels) {
    // A default counts if it is tried before an entry that is not the default. A pin may be such an
    // entry under another name.
    if (llvm::none_of(P.Kernels, [&](const Decision &Other) {
          return (Other.Kernel == D.Kernel || !Other.Digest) && !Other.isDefault();
        }))
      continue;
    Decision Choice{D.Kernel, D.Arch, D.Variant, D.Digest, std::nullopt, D.Entries};
    for (FurtherEntry &E : Choice.Entries)
      E.Held.reset();
    // Emission uses no other evidence.
    if (D.Basis && (!D.Basis->CodeDigest.empty() || D.Basis->SmemSpillingThreads)) {
      Choice.Basis.emplace().CodeDigest = D.Basis->CodeDigest;
      Choice.Basis->SmemSpillingThreads = D.Basis->SmemSpillingThreads;
    }
    Acted.Kernels.push_back(std::move(Choice));
  }
  bool Nothing = !Acted.FileCap && Acted.Kernels.empty();
  return Nothing ? std::string() : printProfile(Acted);
}

std::string carve::decisionDigest(llvm::StringRef KernelDigest, llvm::StringRef Arch,
                                  llvm::StringRef NvccVersion,
                                  llvm::ArrayRef<std::string> PtxasOptions, ImageOrigin Origin) {
  std::vector<llvm::StringRef> Fields = {KernelDigest, Arch, NvccVersion, KnobSetVersion};
  Fields.insert(Fields.end(), PtxasOptions.begin(), PtxasOptions.end());
  if (Origin == ImageOrigin::FromPtx)
    Fields.push_back("image from PTX");
  return digestOfFields(Fields);
}
