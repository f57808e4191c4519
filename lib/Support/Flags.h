/// \file
/// A parser for the options of the tools, `--name=value` or `--name value`. It never reads nvcc's
/// own argv (see Nvcc/CommandLine.h).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace carve {

/// A set of options; parse() or apply() stores their values in the registered variables.
class Flags {
public:
  /// \p Context names the command in messages, e.g. `carve tune`.
  explicit Flags(std::string Context) : Context(std::move(Context)) {}

  /// Registers an option without a value.
  void flag(llvm::StringRef Name, bool &Out);
  /// Registers an option with any value that is not empty.
  void text(llvm::StringRef Name, std::string &Out);
  /// Registers an option that may be repeated; each value is appended to \p Out.
  void list(llvm::StringRef Name, std::vector<std::string> &Out);
  /// Registers an option whose value is a whole number from \p Least to \p Most.
  void number(llvm::StringRef Name, unsigned &Out, unsigned Least, unsigned Most);
  /// Registers an option whose value is a number of seconds above 0.
  void seconds(llvm::StringRef Name, double &Out);
  /// Registers an option whose value is one of \p Words; \p Out gets its index.
  void choice(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Words, unsigned &Out);

  /// Reads \p Args up to `--`. The words from `--` on go to \p Rest, other words without a dash to
  /// \p Positional. Fails with UsageError that names the option, the actual and the expected value.
  llvm::Error parse(llvm::ArrayRef<std::string> Args, std::vector<std::string> &Positional,
                    std::vector<std::string> &Rest) const;

  /// Applies `--name=value`, or `--name` if \p Value is null. Returns false if \p Name is not
  /// registered, so that the caller can handle an unknown option. Fails as parse() does.
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
