#include "Nvcc/DeviceWords.h"

#include "Nvcc/ArgumentList.h"

#include "llvm/ADT/STLExtras.h"

#include <iterator>

using namespace carve;

DeviceWords carve::deviceWords(llvm::ArrayRef<std::string> Given, bool DropArchs) {
  constexpr llvm::StringLiteral Writes[] = {"--keep", "--keep-dir"};
  DeviceWords Result;
  for (const Argument &A : splitArguments(Given)) {
    bool IsTarget = A.is(Effect::Target);
    bool Drop = A.is(Effect::Phase) || A.is(Effect::Output) || A.is(Effect::Dependency) ||
                (A.Option && llvm::is_contained(Writes, A.Option->Long)) || (IsTarget && DropArchs);
    // -dc means -rdc=true -c.
    if (A.Option && A.Option->Long == "--device-c")
      Result.Options.push_back("-rdc=true");
    Result.NamesArchs |= IsTarget;
    if (!Drop)
      llvm::append_range(Result.Options, A.Words);
  }
  return Result;
}

std::vector<std::string> carve::withoutDefinitions(llvm::ArrayRef<std::string> Words,
                                                   llvm::ArrayRef<std::string> Names) {
  std::vector<Argument> Kept;
  for (Argument &A : splitArguments(Words)) {
    if (A.Option && A.Option->Long == "--define-macro") {
      std::vector<std::string> Others;
      for (std::string &Definition : splitList(A.Value))
        if (!llvm::is_contained(Names, llvm::StringRef(Definition).split('=').first))
          Others.push_back(std::move(Definition));
      if (Others.empty())
        continue;
      A.Words.clear();
      for (const std::string &Definition : Others)
        A.Words.push_back("-D" + Definition);
    }
    Kept.push_back(std::move(A));
  }
  return joinArguments(Kept);
}
