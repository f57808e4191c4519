/// \file
/// A few named options with values, for the tools: `--name=value` or `--name value`. nvcc's own
/// argv is never read by this (see Nvcc/CommandLine.h).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace carve {

class Flags {
public:
  /// \p Context names the command in messages, e.g. `carve tune`.
  explicit Flags(std::string Context) : Context(std::move(Context)) {}

  /// A flag without a value.
  void flag(llvm::StringRef Name, bool &Out);
  void text(llvm::StringRef Name, std::string &Out);
  /// May be repeated.
  void list(llvm::StringRef Name, std::vector<std::string> &Out);
  /// A whole number from \p Least to \p Most.
  void number(llvm::StringRef Name, unsigned &Out, unsigned Least, unsigned Most);
  /// Seconds, above 0.
  void seconds(llvm::StringRef Name, double &Out);
  /// One of \p Words; \p Out gets its index.
  void choice(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Words, unsigned &Out);

  /// Reads \p Args up to `--`, which starts \p Rest; other words go to \p Positional. Fails with a
  /// UsageError naming the option, the actual and the expected.
  llvm::Error parse(llvm::ArrayRef<std::string> Args, std::vector<std::string> &Positional,
                    std::vector<std::string> &Rest) const;

  /// Applies `--name=value` (\p Value absent: `--name`). Returns false where \p Name is none of
  /// ours, so that the caller can decide what an unknown option is.
  llvm::Expected<bool> apply(llvm::StringRef Name, const std::string *Value) const;

private:
  struct Option {
    std::string Name;
    bool TakesValue;
    std::function<llvm::Error(llvm::StringRef)> Set;
  };
  llvm::Error wrong(llvm::StringRef Name, llvm::StringRef Value, const llvm::Twine &Expected) const;
  const Option *find(llvm::StringRef Name) const;

  std::string Context;
  std::vector<Option> Options;
};

} // namespace carve
