/// \file
/// The environment that CommandRunner passes to execve() for a child process.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace carve {

/// The environment of a child: our own, with the changes of the command applied
/// (Command::Environment).
class ChildEnvironment {
public:
  explicit ChildEnvironment(llvm::ArrayRef<std::string> Changes) {
    std::map<std::string, std::string> Variables;
    for (char **E = environ; *E; ++E) {
      auto [Name, Value] = llvm::StringRef(*E).split('=');
      Variables[Name.str()] = Value.str();
    }
    for (llvm::StringRef Change : Changes) {
      auto [Name, Value] = Change.split('=');
      if (Change.contains('='))
        Variables[Name.str()] = Value.str();
      else
        Variables.erase(Name.str());
    }
    for (const auto &[Name, Value] : Variables)
      Lines.push_back(Name + "=" + Value);
    for (std::string &Line : Lines)
      Pointers.push_back(Line.data());
    Pointers.push_back(nullptr);
  }
  char **data() { return Pointers.data(); }

private:
  std::vector<std::string> Lines;
  std::vector<char *> Pointers;
};

} // namespace carve
