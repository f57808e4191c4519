/// \file
/// The texts about a command's options, for a person and for a shell that completes words. Flags
/// makes them from the table that it parses with.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// The texts about one option or argument.
struct OptionText {
  std::string Name;  ///< `--timeout`; empty for an argument.
  std::string Value; ///< `SECONDS`, or `text|json` for a choice; empty for an option without one.
  std::string Help;  ///< What it does, in one line.
  std::string Default = {};  ///< Empty if there is none, or if Help names it.
  std::string Variable = {}; ///< The variable of the environment that also gives the value.
  std::string IfAbsent = {}; ///< The value of the option alone. Empty if the option needs one.
  bool Repeatable = false;

  /// Returns the option as a user writes it: `--timeout=SECONDS`, `-o FILE`.
  std::string spelling() const;
  /// Returns the words that the value can be, or nothing if it can also be something else: in
  /// `FILE|latest`, capital letters stand for the name of a file.
  std::vector<llvm::StringRef> choices() const;
};

/// The texts about one form of a command.
struct UsageForm {
  std::string Words; ///< The words after the command's name: `[options] -- COMMAND...`
  std::string Help;  ///< What the command does in this form, in one line.
};

/// The texts about a command.
struct CommandText {
  std::string Command; ///< `carve tune`
  std::vector<UsageForm> Forms;
  std::vector<OptionText> Arguments, Options;

  /// Returns the help of the first form, which is the command's line in a list of commands.
  llvm::StringRef summary() const { return Forms.empty() ? "" : llvm::StringRef(Forms[0].Help); }
};

/// Returns the options as a list with lines of at most 100 columns.
std::string printOptions(llvm::ArrayRef<OptionText> Options);
/// Returns what `--help` prints: the forms, the arguments and the options.
std::string printHelp(const CommandText &Text);
/// Returns what `--help=words` prints for the scripts in share/completion: a line for each option,
/// as in `--mode= auto fixed`. A `=` shows that the option takes a value; the words that the value
/// can be follow. A line that starts with `=` alone has the words that the first argument can be.
std::string printCompletion(const CommandText &Text);

/// The user asked for help, so nothing is done. The tool prints the text and exits with status 0.
class HelpAsked : public llvm::ErrorInfo<HelpAsked> {
public:
  static char ID;
  HelpAsked(CommandText Text, bool ForCompletion)
      : Text(std::move(Text)), ForCompletion(ForCompletion) {}
  const CommandText &text() const { return Text; }
  void log(llvm::raw_ostream &OS) const override {
    OS << (ForCompletion ? printCompletion(Text) : printHelp(Text));
  }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  CommandText Text;
  bool ForCompletion;
};

} // namespace carve
