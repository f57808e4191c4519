/// \file
/// The options of a command of ours: one table from which parsing, `--help` and completion follow
/// (OptionHelp.h). A value is `--name=value` or `--name value`. nvcc's own argv is never read by
/// this (see Nvcc/CommandLine.h).
#pragma once

#include "Support/OptionHelp.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Every registration says where the value goes, by what word the help calls it, and what the
/// option does. What \p Out holds then is the default in the help. The result can be completed
/// until the next registration: `F.seconds(...).Default = "none"`.
class Flags {
public:
  /// \p Context names the command in messages and in its help, e.g. `carve tune`.
  explicit Flags(std::string Context) { Text.Command = std::move(Context); }

  /// A form of the command: what follows its name, and what it then does. The first form's help is
  /// the command's line in the list of commands.
  void form(llvm::StringRef Words, llvm::StringRef Help);

  /// A flag without a value.
  OptionText &flag(llvm::StringRef Name, bool &Out, llvm::StringRef Help);
  OptionText &text(llvm::StringRef Name, llvm::StringRef Value, std::string &Out,
                   llvm::StringRef Help);
  /// May be repeated.
  OptionText &list(llvm::StringRef Name, llvm::StringRef Value, std::vector<std::string> &Out,
                   llvm::StringRef Help);
  /// A whole number from \p Least to \p Most. Where it starts outside of these, there is no
  /// default.
  OptionText &number(llvm::StringRef Name, llvm::StringRef Value, unsigned &Out, unsigned Least,
                     unsigned Most, llvm::StringRef Help);
  /// Seconds, above 0. Where they start at 0, there is no default.
  OptionText &seconds(llvm::StringRef Name, llvm::StringRef Value, double &Out,
                      llvm::StringRef Help);
  /// One of \p Words; \p Out gets its index, as an enumerator or as a truth where that is its type.
  /// Where it starts behind them, there is no default.
  template <typename Index>
  OptionText &choice(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Words, Index &Out,
                     llvm::StringRef Help) {
    return choice(
        Name, Words, static_cast<size_t>(Out),
        [&Out](size_t Chosen) { Out = static_cast<Index>(Chosen); }, Help);
  }
  /// Anything that \p Set takes; it returns what it expected, or nothing.
  using Setter = std::function<std::string(llvm::StringRef)>;
  OptionText &value(llvm::StringRef Name, llvm::StringRef Value, Setter Set, llvm::StringRef Help);

  /// The words that are no options. Without this any is a mistake. With an empty \p Value they are
  /// not in the help: the command has a message of its own for them.
  void arguments(llvm::StringRef Value, std::vector<std::string> &Out, llvm::StringRef Help = "");
  /// The words after `--`. Without this they are arguments as those before it.
  void behind(llvm::StringRef Value, std::vector<std::string> &Out, llvm::StringRef Help = "");

  using Variables = llvm::function_ref<std::optional<std::string>(llvm::StringRef)>;

  /// Reads \p Args, after the variables of \p Env. Fails with HelpAsked where `--help` or `-h` is
  /// one of them before `--`, and with a UsageError naming the option, the actual and the expected.
  llvm::Error parse(llvm::ArrayRef<std::string> Args, Variables Env = nullptr) const;

  /// Applies `--name=value` (\p Value absent: `--name`). Returns false where \p Name is none of
  /// ours, so that the caller can decide what an unknown option is.
  llvm::Expected<bool> apply(llvm::StringRef Name, const std::string *Value) const;

  /// Takes values from the variables of the environment that are registered and not empty.
  llvm::Error applyVariables(Variables Env) const;

  /// What there is to tell of everything that is registered.
  const CommandText &help() const { return Text; }

private:
  OptionText &choice(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Words, size_t Default,
                     std::function<void(size_t)> Choose, llvm::StringRef Help);
  OptionText &add(OptionText Option, Setter Set);
  llvm::Error set(size_t Option, llvm::StringRef From, llvm::StringRef Value) const;
  /// The index of the option; none where there is no such.
  std::optional<size_t> find(llvm::StringRef Name) const;
  llvm::Error asksForHelp(llvm::ArrayRef<std::string> Args) const;

  CommandText Text;
  std::vector<Setter> Setters; ///< One for each of Text.Options.
  std::vector<std::string> *Arguments = nullptr, *Behind = nullptr;
};

} // namespace carve
