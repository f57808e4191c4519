#include "Cubin/KernelResources.h"

#include "llvm/ADT/StringExtras.h"

#include <re2/re2.h>

using namespace carve;
using namespace llvm;

namespace {

/// What ptxas prints after `Function properties for`.
struct FunctionProperties {
  unsigned StackBytes = 0, SpillStoreBytes = 0, SpillLoadBytes = 0;
};

/// Reads a report line by line. The last element of Kernels is the one that the last line with
/// `Compiling entry function` named.
class ReportReader {
public:
  void readLine(StringRef Line);
  std::vector<KernelResources> finish();

private:
  void readUsed(StringRef Line);
  KernelResources *kernelNamed(StringRef Name);

  std::vector<KernelResources> Kernels;
  std::string PropertiesOf;
  std::vector<std::string> UnknownStacks; // The warning may come before the kernel's block.
  // The index of the first kernel of the current architecture.
  size_t BlockStart = 0;
  bool InEntry = false;
  std::string Arch;
};

/// Whether \p Line contains \p Pattern. Its groups are stored in \p Groups.
template <typename... T> bool match(StringRef Line, const RE2 &Pattern, T *...Groups) {
  return RE2::PartialMatch(re2::StringPiece(Line.data(), Line.size()), Pattern, Groups...);
}

/// Returns the number that \p Pattern captures in \p Line; 0 if it does not match.
unsigned number(StringRef Line, const RE2 &Pattern) {
  unsigned Value = 0;
  match(Line, Pattern, &Value);
  return Value;
}

KernelResources *ReportReader::kernelNamed(StringRef Name) {
  // The last kernel of the name is meant, because each architecture has a block of its own.
  for (size_t I = Kernels.size(); I > BlockStart; --I)
    if (Kernels[I - 1].Name == Name)
      return &Kernels[I - 1];
  return nullptr;
}

void ReportReader::readUsed(StringRef Line) {
  static const RE2 Regs(R"(Used (\d+) registers)"), Barriers(R"(used (\d+) barriers)"),
      Smem(R"((\d+) bytes smem)"), Cumulative(R"((\d+) bytes cumulative stack size)");
  KernelResources &K = Kernels.back();
  K.RegsPerThread = number(Line, Regs);
  K.Barriers = number(Line, Barriers);
  K.StaticSmemBytes = number(Line, Smem);
  K.StackBytes = std::max(K.StackBytes, number(Line, Cumulative));
  InEntry = false; // Everything up to the next entry belongs to its callees.
}

void ReportReader::readLine(StringRef Line) {
  static const RE2 Compiling(R"(Compiling entry function '([^']+)' for '([^']+)')"),
      Properties(R"(Function properties for '?([^\s':]+))"),
      Spills(R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)"),
      UnknownStack(R"(Stack size for entry function '([^']+)' cannot be statically determined)"),
      Used(R"(Used \d+ registers)");
  std::string Name, For;
  if (match(Line, Compiling, &Name, &For)) {
    if (For != Arch)
      BlockStart = Kernels.size();
    Arch = For;
    KernelResources K;
    K.Name = Name;
    Kernels.push_back(std::move(K));
    InEntry = true;
    PropertiesOf.clear();
  } else if (match(Line, Properties, &Name)) {
    PropertiesOf = Name;
  } else if (match(Line, UnknownStack, &Name)) {
    UnknownStacks.push_back(Name);
  } else if (InEntry && match(Line, Used)) {
    readUsed(Line);
  } else if (FunctionProperties P;
             match(Line, Spills, &P.StackBytes, &P.SpillStoreBytes, &P.SpillLoadBytes)) {
    if (KernelResources *K = kernelNamed(PropertiesOf)) {
      K->StackBytes = std::max(K->StackBytes, P.StackBytes);
      K->SpillStoreBytes = P.SpillStoreBytes;
      K->SpillLoadBytes = P.SpillLoadBytes;
    }
  }
}

std::vector<KernelResources> ReportReader::finish() {
  for (KernelResources &K : Kernels)
    K.StackUnknown = is_contained(UnknownStacks, K.Name);
  return std::move(Kernels);
}

} // namespace

std::vector<KernelResources> carve::parsePtxasReport(StringRef Text) {
  ReportReader Reader;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Reader.readLine(Line);
    Text = Rest;
  }
  return Reader.finish();
}
