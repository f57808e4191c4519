#include "Support/OptionHelp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace carve;

char HelpAsked::ID = 0;

std::string OptionText::spelling() const {
  if (Name.empty() || Value.empty())
    return Name + Value;
  if (!IfAbsent.empty())
    return Name + "[=" + Value + "]";
  return Name + (llvm::StringRef(Name).starts_with("--") ? "=" : " ") + Value;
}

std::vector<llvm::StringRef> OptionText::choices() const {
  std::vector<llvm::StringRef> Words;
  if (Value.find('|') == std::string::npos)
    return Words;
  for (llvm::StringRef Word : llvm::split(Value, '|')) {
    if (llvm::any_of(Word,
                     [](char C) { return !llvm::isDigit(C) && C != '-' && !llvm::isLower(C); }))
      return {};
    Words.push_back(Word);
  }
  return Words;
}

/// Returns the default of \p O, its variable and whether it may be repeated, in parentheses.
static std::string notes(const OptionText &O) {
  std::vector<std::string> Notes;
  if (!O.Default.empty())
    Notes.push_back("default: " + O.Default);
  if (!O.Variable.empty())
    Notes.push_back("also: " + O.Variable);
  if (O.Repeatable && !O.Name.empty())
    Notes.push_back("repeatable");
  return Notes.empty() ? "" : "(" + llvm::join(Notes, "; ") + ")";
}

static constexpr size_t LineColumns = 100, TextColumn = 30;

std::string carve::printOptions(llvm::ArrayRef<OptionText> Options) {
  // The texts start after the longest spelling. A spelling that would leave too little room for the
  // text gets a line of its own.
  size_t Column = 0;
  for (const OptionText &O : Options)
    if (size_t Size = O.spelling().size() + 4; Size <= TextColumn)
      Column = std::max(Column, Size);
  if (Column == 0)
    Column = TextColumn;
  std::string Text;
  for (const OptionText &O : Options) {
    std::string Line = "  " + O.spelling();
    if (Line.size() + 2 > Column) {
      Text += Line + "\n";
      Line.clear();
    }
    Line.resize(Column, ' ');
    // The notes stay together on one line.
    const std::string Notes = notes(O);
    llvm::SmallVector<llvm::StringRef> Words;
    llvm::StringRef(O.Help).split(Words, ' ');
    if (!Notes.empty())
      Words.push_back(Notes);
    bool Fresh = true;
    for (llvm::StringRef Word : Words) {
      if (!Fresh && Line.size() + 1 + Word.size() > LineColumns) {
        Text += Line + "\n";
        Line.assign(Column, ' ');
        Fresh = true;
      }
      Line += (Fresh ? "" : " ") + Word.str();
      Fresh = false;
    }
    Text += Line + "\n";
  }
  return Text;
}

std::string carve::printHelp(const CommandText &Text) {
  std::string Help = "usage:\n";
  for (const UsageForm &Form : Text.Forms)
    Help += "  " + Text.Command + " " + Form.Words + "\n      " + Form.Help + "\n";
  if (!Text.Arguments.empty())
    Help += "arguments:\n" + printOptions(Text.Arguments);
  if (!Text.Options.empty())
    Help += "options:\n" + printOptions(Text.Options);
  return Help;
}

std::string carve::printCompletion(const CommandText &Text) {
  std::string Lines;
  auto Add = [&](llvm::StringRef Word, const OptionText &Of) {
    Lines += Word;
    for (llvm::StringRef Choice : Of.choices())
      Lines += " " + Choice.str();
    Lines += "\n";
  };
  for (const OptionText &O : Text.Options)
    Add(O.Value.empty() || !llvm::StringRef(O.Name).starts_with("--") ? O.Name : O.Name + "=", O);
  if (!Text.Arguments.empty() && !Text.Arguments.front().choices().empty())
    Add("=", Text.Arguments.front());
  return Lines;
}
