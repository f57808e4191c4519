/// \file
/// Reads and evaluates the expressions in which a program space is written: whole numbers and
/// macros with C's operators. They say which configurations exist (`--where`) and how their kernels
/// are launched.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace carve {

/// A macro with its value in one configuration.
struct MacroValue {
  std::string Name, Value;
  bool operator==(const MacroValue &) const = default;
};

/// One expression, read once and evaluated for each configuration.
class MacroExpression {
public:
  /// Reads \p Text: decimal numbers, names of \p Macros, `+ - * / %`, `== != < <= > >=`, `&& || !`
  /// and parentheses, with C's precedence. Fails with a UsageError that starts with \p Option and
  /// names the column, what was found there, and what was expected.
  static llvm::Expected<MacroExpression> parse(llvm::StringRef Text, llvm::StringRef Option,
                                               llvm::ArrayRef<std::string> Macros);

  /// Returns the value for \p Values; comparisons give 0 or 1. `&&` and `||` do not evaluate the
  /// right side if the left side decides. Fails with a UsageError if a macro's value is not a whole
  /// number, if there is a division by 0, or if a result does not fit into 64 bits.
  llvm::Expected<int64_t> evaluate(llvm::ArrayRef<MacroValue> Values) const;

  const std::string &text() const { return Text; }

private:
  friend class ExpressionParser;
  enum class Operator {
    Number,
    Macro,
    Negate,
    Not,
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    Unequal,
    And,
    Or
  };
  struct Node {
    Operator Op = Operator::Number;
    int64_t Value = 0;         ///< Value of a number.
    std::string Name;          ///< Name of a macro.
    int Left = -1, Right = -1; ///< Indices in Nodes; -1 if absent.
    size_t Column = 1;
  };
  llvm::Expected<int64_t> valueOf(int Place, llvm::ArrayRef<MacroValue> Values) const;
  llvm::Expected<int64_t> macroValue(const Node &N, llvm::ArrayRef<MacroValue> Values) const;
  llvm::Expected<int64_t> combine(const Node &N, int64_t Left, int64_t Right) const;
  llvm::Error wrong(size_t Column, const llvm::Twine &What) const;

  std::string Text, Option;
  std::vector<Node> Nodes;
  int Root = -1;
};

/// Reads a comma-separated list of one to \p Most expressions, such as the extents of a launch.
/// Fails as MacroExpression::parse() does, or if the list is longer.
llvm::Expected<std::vector<MacroExpression>> parseExpressionList(llvm::StringRef Text,
                                                                 llvm::StringRef Option,
                                                                 llvm::ArrayRef<std::string> Macros,
                                                                 size_t Most);

} // namespace carve
