/// \file
/// Runs a command by nvcc and by carve-nvcc in the same directory, and compares all files and
/// messages that they leave.
#pragma once

#include "BuiltTools.h"

namespace carve {

/// One way to write a command.
struct Style {
  const char *Name;
  std::vector<std::string> Arguments;
  /// The reason that is counted if the command is left to nvcc; null if carve-nvcc compiles it
  /// itself.
  const char *LeftTo = nullptr;
  std::vector<std::string> Environment = {};
  const char *Stdin = nullptr; ///< The file on standard input.
};

inline void PrintTo(const Style &S, std::ostream *OS) { *OS << S.Name; }

/// What a command leaves.
struct Left {
  int Status = 0;
  std::string Stdout, Stderr;
  /// The content of each file by its name, reduced to what must be equal.
  std::map<std::string, std::string> Files;
};

class ComparedCommandsTest : public BuiltToolsTest {
protected:
  /// Runs \p Program with the arguments of \p S, and removes the files that it made.
  Left leave(const std::string &Program, const Style &S);
  /// Checks that carve-nvcc leaves and prints what \p Nvcc does. A file that differs between two
  /// runs of nvcc itself may differ. Returns whether nvcc succeeded.
  bool expectSame(const std::string &Nvcc, const Style &S);

private:
  std::string comparable(const std::string &Name);
  std::vector<std::string> files();
};

} // namespace carve
