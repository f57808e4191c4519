#include "Store/Profile.h"

#include "Support/Digest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/YAMLParser.h"

#include <array>
#include <charconv>

using namespace carve;

/// Raised when the same setting of the knobs gives other code than before.
static constexpr llvm::StringLiteral KnobSetVersion = "knobs 1";

const Decision *Profile::find(llvm::StringRef KernelName, llvm::StringRef Mangled,
                              llvm::StringRef Arch) const {
  const Decision *Best = nullptr;
  int BestRank = -1;
  for (const Decision &D : Kernels) {
    bool ByMangled = D.Kernel == Mangled;
    if ((!ByMangled && D.Kernel != KernelName) || (!D.Arch.empty() && D.Arch != Arch))
      continue;
    int Rank = (D.Arch.empty() ? 0 : 2) + (ByMangled ? 1 : 0);
    if (Rank > BestRank) {
      Best = &D;
      BestRank = Rank;
    }
  }
  return Best;
}

void Profile::put(Decision D) {
  auto Same = llvm::find_if(Kernels, [&](const Decision &Other) {
    return Other.Kernel == D.Kernel && Other.Arch == D.Arch;
  });
  if (Same != Kernels.end())
    *Same = std::move(D);
  else
    Kernels.push_back(std::move(D));
}

static std::string quoted(llvm::StringRef Text) {
  return "\"" + llvm::yaml::escape(Text, /*EscapePrintable=*/false) + "\"";
}

/// The shortest text that reads back as the same number.
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
  Text("code-digest", E.CodeDigest);
  Text("reason", E.Reason);
}

std::string carve::printProfile(const Profile &P) {
  std::vector<const Decision *> Sorted;
  Sorted.reserve(P.Kernels.size());
  for (const Decision &D : P.Kernels)
    Sorted.push_back(&D);
  llvm::stable_sort(Sorted, [](const Decision *A, const Decision *B) {
    return std::tie(A->Kernel, A->Arch) < std::tie(B->Kernel, B->Arch);
  });
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "carve-profile: 1\n";
  if (P.FileCap)
    OS << "file-cap: " << *P.FileCap << "\n";
  OS << (Sorted.empty() ? "kernels: []\n" : "kernels:\n");
  for (const Decision *D : Sorted) {
    OS << "  - kernel: " << quoted(D->Kernel) << "\n";
    if (!D->Arch.empty())
      OS << "    arch: " << D->Arch << "\n";
    if (D->Variant.isDefault())
      OS << "    variant: default\n";
    else
      OS << "    variant: {cap: " << *D->Variant.Cap << "}\n";
    if (D->Digest)
      OS << "    digest: " << quoted(*D->Digest) << "\n";
    if (D->Basis)
      printEvidence(*D->Basis, OS);
  }
  return Text;
}

std::string carve::choicesOf(const Profile &P) {
  Profile Acted;
  Acted.FileCap = P.FileCap;
  for (const Decision &D : P.Kernels) {
    if (D.Variant.isDefault())
      continue;
    Decision Choice{D.Kernel, D.Arch, D.Variant, D.Digest, std::nullopt};
    // The only evidence that the emission looks at.
    if (D.Basis && !D.Basis->CodeDigest.empty())
      (Choice.Basis = Evidence())->CodeDigest = D.Basis->CodeDigest;
    Acted.Kernels.push_back(std::move(Choice));
  }
  bool Nothing = !Acted.FileCap && Acted.Kernels.empty();
  return Nothing ? std::string() : printProfile(Acted);
}

std::string carve::decisionDigest(llvm::StringRef KernelDigest, llvm::StringRef Arch,
                                  llvm::StringRef NvccVersion,
                                  llvm::ArrayRef<std::string> PtxasOptions) {
  std::vector<llvm::StringRef> Fields = {KernelDigest, Arch, NvccVersion, KnobSetVersion};
  Fields.insert(Fields.end(), PtxasOptions.begin(), PtxasOptions.end());
  return digestOfFields(Fields);
}
