/// \file
/// Ways in which the choice among the entries of a random program could be wrong, for the tests
/// that show that its launches would reveal it.
#pragma once

#include "EntryPrograms.h"

#include <map>

namespace carve::test {

/// A wrong guard: what is wrong, and the entry with it, by its places in RandomProgram::Kernels and
/// RandomKernel::Entries.
struct WrongGuard {
  std::string What;
  size_t Kernel, Entry;
  EntryGuard When;
};

/// Returns ways in which the guard of an entry could be wrong: each comparison left out, and each
/// with another value.
std::vector<WrongGuard> wrongGuards(const RandomProgram &P, size_t Kernel, size_t Entry);

/// A change of the text that chooses among the entries: what is wrong, and what replaces what.
struct WrongText {
  std::string What;
  std::map<std::string, std::string> Changes;
};

/// Returns wrong texts. The changed one needs `float floatOf(unsigned)`, which returns the number
/// with these bits.
std::vector<WrongText> wrongTexts(const RandomProgram &P);

} // namespace carve::test
