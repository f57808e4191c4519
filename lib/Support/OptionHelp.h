/// \file
/// What a person, and a shell that completes words, is told of a command's options. Flags makes it
/// of the same table that it parses with.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// One option, or one argument that is no option.
struct OptionText {
  std::string Name;  ///< `--timeout`; empty for an argument.
  std::string Value; ///< `SECONDS`, or `text|json` for a choice; empty for an option without one.
  std::string Help;  ///< What it does, in one line.
  std::string Default = {};  ///< Empty: there is none, or Help says it.
  std::string Variable = {}; ///< Of the environment, which gives the value too.
  std::string IfAbsent = {}; ///< The value of the option alone; empty: it needs one.
  bool Repeatable = false;

  /// As a user writes it: `--timeout=SECONDS`, `-o FILE`.
  std::string spelling() const;
  /// The words that the value can be, where it can be nothing else. Only what is written in small
  /// letters is a word: `FILE|latest` has a file's name, too.
  std::vector<llvm::StringRef> choices() const;
};

/// One form of a command.
struct UsageForm {
  std::string Words; ///< After the command's name: `[options] -- COMMAND...`
  std::string Help;  ///< What the command does in this form, in one line.
};

struct CommandText {
  std::string Command; ///< `carve tune`
  std::vector<UsageForm> Forms;
  std::vector<OptionText> Arguments, Options;

  /// What the first form does: the command's line in a list of commands.
  llvm::StringRef summary() const { return Forms.empty() ? "" : llvm::StringRef(Forms[0].Help); }
};

/// The options as a list, no line of which is longer than 100 columns.
std::string printOptions(llvm::ArrayRef<OptionText> Options);
/// What `--help` prints: the forms, the arguments and the options.
std::string printHelp(const CommandText &Text);
/// What `--help=words` prints for the scripts in share/completion: a line for each option,
/// `--mode= auto fixed`, with `=` if it takes a value, and the words that the value can be. The
/// words of the first argument follow after `=` alone.
std::string printCompletion(const CommandText &Text);

/// The user asked for help, so nothing was done. The tool prints the text and exits with status 0.
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
