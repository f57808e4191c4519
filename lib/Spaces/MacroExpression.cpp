#include "Spaces/MacroExpression.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace carve {

/// A recursive-descent parser for one text, with one token of lookahead.
class ExpressionParser {
public:
  ExpressionParser(MacroExpression &Into, llvm::ArrayRef<std::string> Macros)
      : E(Into), Macros(Macros) {
    advance();
  }

  llvm::Error parse() {
    llvm::Expected<int> Root = binary(0);
    if (!Root)
      return Root.takeError();
    E.Root = *Root;
    if (!Token.empty())
      return unexpected("an operator or the end");
    return llvm::Error::success();
  }

private:
  using Operator = MacroExpression::Operator;

  struct BinaryOperator {
    llvm::StringLiteral Text;
    Operator Op;
    unsigned Level; ///< Higher binds tighter.
  };
  static constexpr BinaryOperator BinaryOperators[] = {
      {"||", Operator::Or, 0},        {"&&", Operator::And, 1},
      {"==", Operator::Equal, 2},     {"!=", Operator::Unequal, 2},
      {"<=", Operator::LessEqual, 3}, {">=", Operator::GreaterEqual, 3},
      {"<", Operator::Less, 3},       {">", Operator::Greater, 3},
      {"+", Operator::Add, 4},        {"-", Operator::Subtract, 4},
      {"*", Operator::Multiply, 5},   {"/", Operator::Divide, 5},
      {"%", Operator::Remainder, 5},
  };
  static constexpr unsigned DeepestNesting = 200;

  /// Reads the next token.
  void advance() {
    llvm::StringRef Text = E.Text;
    At += Token.size();
    while (At < Text.size() && llvm::isSpace(Text[At]))
      ++At;
    llvm::StringRef Rest = Text.substr(At);
    auto InWord = [](char C) { return llvm::isAlnum(C) || C == '_'; };
    Token = Rest.take_while(InWord);
    if (!Token.empty() || Rest.empty())
      return;
    for (llvm::StringRef Two : {"||", "&&", "==", "!=", "<=", ">="})
      if (Rest.starts_with(Two)) {
        Token = Rest.take_front(2);
        return;
      }
    Token = Rest.take_front(1);
  }

  llvm::Error unexpected(const llvm::Twine &Expected) const {
    return E.wrong(At + 1, "found " + (Token.empty() ? "the end" : "'" + Token.str() + "'") +
                               ", expected " + Expected);
  }

  /// Adds a node and returns its index.
  int add(MacroExpression::Node N) {
    E.Nodes.push_back(std::move(N));
    return int(E.Nodes.size()) - 1;
  }

  const BinaryOperator *binaryOperator() const {
    const auto *Found =
        llvm::find_if(BinaryOperators, [&](const auto &B) { return B.Text == Token; });
    return Found == std::end(BinaryOperators) ? nullptr : Found;
  }

  /// Reads operators of \p Level and of higher levels. Returns the index of the node.
  llvm::Expected<int> binary(unsigned Level) {
    llvm::Expected<int> Left = unary();
    while (Left) {
      const BinaryOperator *B = binaryOperator();
      if (!B || B->Level < Level)
        return Left;
      size_t Column = At + 1;
      advance();
      llvm::Expected<int> Right = binary(B->Level + 1);
      if (!Right)
        return Right;
      Left = add({B->Op, 0, "", *Left, *Right, Column});
    }
    return Left;
  }

  llvm::Expected<int> unary() {
    if (++Depth > DeepestNesting)
      return E.wrong(At + 1, "nested deeper than " + llvm::Twine(DeepestNesting));
    llvm::Expected<int> Place = operand();
    --Depth;
    return Place;
  }

  llvm::Expected<int> operand() {
    const size_t Column = At + 1;
    if (Token == "-" || Token == "!") {
      Operator Op = Token == "-" ? Operator::Negate : Operator::Not;
      advance();
      llvm::Expected<int> Inner = unary();
      if (!Inner)
        return Inner;
      return add({Op, 0, "", *Inner, -1, Column});
    }
    if (Token == "(") {
      advance();
      llvm::Expected<int> Inner = binary(0);
      if (!Inner)
        return Inner;
      if (Token != ")")
        return unexpected("an operator or ')'");
      advance();
      return Inner;
    }
    return atom(Column);
  }

  llvm::Expected<int> atom(size_t Column) {
    if (Token.empty() || (!llvm::isAlnum(Token[0]) && Token[0] != '_'))
      return unexpected("a number, a macro, '-', '!' or '('");
    if (llvm::isDigit(Token[0])) {
      int64_t Value = 0;
      if (Token.getAsInteger(10, Value))
        return unexpected("a decimal number of at most 63 bits");
      advance();
      return add({Operator::Number, Value, "", -1, -1, Column});
    }
    if (!llvm::is_contained(Macros, Token))
      return unexpected("one of the space's macros, " + llvm::join(Macros, ", "));
    std::string Name = Token.str();
    advance();
    return add({Operator::Macro, 0, std::move(Name), -1, -1, Column});
  }

  MacroExpression &E;
  llvm::ArrayRef<std::string> Macros;
  llvm::StringRef Token;
  size_t At = 0;
  unsigned Depth = 0;
};

} // namespace carve

llvm::Error MacroExpression::wrong(size_t Column, const llvm::Twine &What) const {
  return usageError(Option + " '" + Text + "', column " + llvm::Twine(Column) + ": " + What);
}

llvm::Expected<MacroExpression> MacroExpression::parse(llvm::StringRef Text, llvm::StringRef Option,
                                                       llvm::ArrayRef<std::string> Macros) {
  MacroExpression E;
  E.Text = Text.str();
  E.Option = Option.str();
  if (llvm::Error Wrong = ExpressionParser(E, Macros).parse())
    return Wrong;
  return E;
}

llvm::Expected<int64_t> MacroExpression::evaluate(llvm::ArrayRef<MacroValue> Values) const {
  return valueOf(Root, Values);
}

llvm::Expected<int64_t> MacroExpression::macroValue(const Node &N,
                                                    llvm::ArrayRef<MacroValue> Values) const {
  const auto *Found = llvm::find_if(Values, [&](const MacroValue &V) { return V.Name == N.Name; });
  if (Found == Values.end())
    return wrong(N.Column, N.Name + " has no value");
  int64_t Value = 0;
  if (llvm::StringRef(Found->Value).getAsInteger(10, Value))
    return wrong(N.Column, N.Name + " is '" + Found->Value + "', expected a whole number");
  return Value;
}

llvm::Expected<int64_t> MacroExpression::valueOf(int Place,
                                                 llvm::ArrayRef<MacroValue> Values) const {
  const Node &N = Nodes[Place];
  if (N.Op == Operator::Number)
    return N.Value;
  if (N.Op == Operator::Macro)
    return macroValue(N, Values);
  llvm::Expected<int64_t> Left = valueOf(N.Left, Values);
  if (!Left)
    return Left;
  if (N.Op == Operator::Not)
    return *Left == 0;
  if (N.Op == Operator::Negate)
    return combine(N, 0, *Left);
  if ((N.Op == Operator::And && *Left == 0) || (N.Op == Operator::Or && *Left != 0))
    return *Left != 0;
  llvm::Expected<int64_t> Right = valueOf(N.Right, Values);
  if (!Right)
    return Right;
  return combine(N, *Left, *Right);
}

llvm::Expected<int64_t> MacroExpression::combine(const Node &N, int64_t Left, int64_t Right) const {
  int64_t Result = 0;
  bool Overflow = false;
  switch (N.Op) {
  case Operator::Multiply:
    Overflow = __builtin_mul_overflow(Left, Right, &Result);
    break;
  case Operator::Add:
    Overflow = __builtin_add_overflow(Left, Right, &Result);
    break;
  case Operator::Negate:
  case Operator::Subtract:
    Overflow = __builtin_sub_overflow(Left, Right, &Result);
    break;
  case Operator::Divide:
  case Operator::Remainder:
    if (Right == 0)
      return wrong(N.Column, "division by 0");
    // This is the only quotient that does not fit.
    Overflow = Left == INT64_MIN && Right == -1;
    if (!Overflow)
      Result = N.Op == Operator::Divide ? Left / Right : Left % Right;
    break;
  case Operator::Less:
    return Left < Right;
  case Operator::LessEqual:
    return Left <= Right;
  case Operator::Greater:
    return Left > Right;
  case Operator::GreaterEqual:
    return Left >= Right;
  case Operator::Equal:
    return Left == Right;
  case Operator::Unequal:
    return Left != Right;
  case Operator::And:
  case Operator::Or:
    return Right != 0;
  case Operator::Number:
  case Operator::Macro:
  case Operator::Not:
    llvm_unreachable("has no two sides");
  }
  if (Overflow)
    return wrong(N.Column, "the result does not fit into 64 bits");
  return Result;
}

llvm::Expected<std::vector<MacroExpression>>
carve::parseExpressionList(llvm::StringRef Text, llvm::StringRef Option,
                           llvm::ArrayRef<std::string> Macros, size_t Most) {
  std::vector<MacroExpression> List;
  for (llvm::StringRef Part : llvm::split(Text, ',')) {
    llvm::Expected<MacroExpression> E = MacroExpression::parse(Part, Option, Macros);
    if (!E)
      return E.takeError();
    List.push_back(std::move(*E));
  }
  if (List.size() > Most)
    return usageError(Option + " '" + Text + "' has " + llvm::Twine(List.size()) +
                      " values, expected at most " + llvm::Twine(Most));
  return List;
}
