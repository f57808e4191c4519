/// \file
/// The options of one command: a single table from which parsing, `--help` and completion follow
/// (OptionHelp.h). A value is given as `--name=value` or `--name value`. It never reads nvcc's own
/// argv (see Nvcc/CommandLine.h).
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

/// A table of options; parse() or apply() stores their values in the registered variables.
///
/// A registration names the option, its value as the help shows it, the variable that receives the
/// value, and a line that says what the option does. The variable's value at that time is the
/// default in the help. The result can be completed until the next registration:
/// `F.seconds(...).Default = "none"`.
class Flags {
public:
  /// \p Context names the command in messages and in its help, e.g. `carve tune`.
  explicit Flags(std::string Context) { Text.Command = std::move(Context); }

  /// Registers a form of the command: the words after its name, and what it does then. The help of
  /// the first form is also the command's line in the list of commands.
  void form(llvm::StringRef Words, llvm::StringRef Help);

  /// Registers an option without a value.
  OptionText &flag(llvm::StringRef Name, bool &Out, llvm::StringRef Help);
  /// Registers an option with any value that is not empty.
  OptionText &text(llvm::StringRef Name, llvm::StringRef Value, std::string &Out,
                   llvm::StringRef Help);
  /// Registers an option that may be repeated; each value is appended to \p Out.
  OptionText &list(llvm::StringRef Name, llvm::StringRef Value, std::vector<std::string> &Out,
                   llvm::StringRef Help);
  /// Registers an option whose value is a whole number from \p Least to \p Most. If \p Out is not
  /// one of these, the help shows no default.
  OptionText &number(llvm::StringRef Name, llvm::StringRef Value, unsigned &Out, unsigned Least,
                     unsigned Most, llvm::StringRef Help);
  /// Registers an option whose value is a number of seconds above 0. If \p Out is 0, the help shows
  /// no default.
  OptionText &seconds(llvm::StringRef Name, llvm::StringRef Value, double &Out,
                      llvm::StringRef Help);
  /// Registers an option whose value is one of \p Words; \p Out gets its index, which may be an
  /// enumerator or a bool. If \p Out is not the index of a word, the help shows no default.
  template <typename Index>
  OptionText &choice(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Words, Index &Out,
                     llvm::StringRef Help) {
    return choice(
        Name, Words, static_cast<size_t>(Out),
        [&Out](size_t Chosen) { Out = static_cast<Index>(Chosen); }, Help);
  }
  /// Stores a value. Returns a description of the values that it expects if this is none of them,
  /// otherwise an empty text.
  using Setter = std::function<std::string(llvm::StringRef)>;
  /// Registers an option whose value is stored by \p Set.
  OptionText &value(llvm::StringRef Name, llvm::StringRef Value, Setter Set, llvm::StringRef Help);

  /// Registers the arguments, which are appended to \p Out. Without this call an argument is an
  /// error. If \p Value is empty, the help does not show them: such a command refuses them with a
  /// message of its own.
  void arguments(llvm::StringRef Value, std::vector<std::string> &Out, llvm::StringRef Help = "");
  /// Registers the words after `--`. Without this call they are arguments, too.
  void behind(llvm::StringRef Value, std::vector<std::string> &Out, llvm::StringRef Help = "");

  using Variables = llvm::function_ref<std::optional<std::string>(llvm::StringRef)>;

  /// Reads the registered variables of \p Env, then \p Args. Fails with HelpAsked if `--help` or
  /// `-h` is given before `--`, and with UsageError that names the option, the actual and the
  /// expected value.
  llvm::Error parse(llvm::ArrayRef<std::string> Args, Variables Env = nullptr) const;

  /// Applies `--name=value`, or `--name` if \p Value is null. Returns false if \p Name is not
  /// registered, so that the caller can handle an unknown option. Fails as parse() does.
  llvm::Expected<bool> apply(llvm::StringRef Name, const std::string *Value) const;

  /// Applies the registered variables of the environment that are set and not empty.
  llvm::Error applyVariables(Variables Env) const;

  /// Returns what parse() would apply of \p Env and \p Args to this table, each as `--name=value`,
  /// and leaves out the words of other options. Parsing the result gives the same values again, in
  /// another process and with another environment.
  std::vector<std::string> given(llvm::ArrayRef<std::string> Args, Variables Env) const;

  /// Returns the texts of everything that is registered.
  const CommandText &help() const { return Text; }

private:
  OptionText &choice(llvm::StringRef Name, llvm::ArrayRef<llvm::StringRef> Words, size_t Default,
                     std::function<void(size_t)> Choose, llvm::StringRef Help);
  OptionText &add(OptionText Option, Setter Set);
  llvm::Error set(size_t Option, llvm::StringRef From, llvm::StringRef Value) const;
  /// Returns the index of the option, or nothing if it is not registered.
  std::optional<size_t> find(llvm::StringRef Name) const;
  llvm::Error asksForHelp(llvm::ArrayRef<std::string> Args) const;

  CommandText Text;
  std::vector<Setter> Setters; ///< One for each element of Text.Options.
  std::vector<std::string> *Arguments = nullptr, *Behind = nullptr;
};

} // namespace carve
