/// \file
/// A command run by nvcc and by carve-nvcc in the same directory: all that is left there, and said,
/// is compared.
#pragma once

#include "BuiltTools.h"

namespace carve {

/// One way to write a command.
struct Style {
  const char *Name;
  std::vector<std::string> Arguments;
  const char *LeftTo = nullptr; ///< The reason counted; none where carve compiles it itself.
  std::vector<std::string> Environment = {};
  const char *Stdin = nullptr; ///< File on standard input.
};

inline void PrintTo(const Style &S, std::ostream *OS) { *OS << S.Name; }

/// What a command leaves behind.
struct Left {
  int Status = 0;
  std::string Stdout, Stderr;
  std::map<std::string, std::string> Files; ///< Content by name, as far as it has to be equal.
};

class ComparedCommandsTest : public BuiltToolsTest {
protected:
  /// Runs \p Program with the arguments of \p S, and removes the files that it made.
  Left leave(const std::string &Program, const Style &S);
  /// carve-nvcc leaves and says what \p Nvcc does; a file that nvcc itself never makes the same
  /// twice may differ. Returns whether nvcc succeeded.
  bool expectSame(const std::string &Nvcc, const Style &S);

private:
  std::string comparable(const std::string &Name);
  std::vector<std::string> files();
};

} // namespace carve
