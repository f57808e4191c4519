#include "Workload/PrintedTimes.h"

#include <re2/re2.h>

using namespace carve;

/// A pattern of units of time and of rates.
static std::string unitPattern() {
  static constexpr char Unit[] =
      R"((?:(?:milli|micro|nano)?seconds?|[mun]?secs?|[mun]?s|µs|minutes?))";
  static constexpr char Rate[] =
      R"((?:\w+(?: per |/)(?:[mun]?s|sec|second)|[kmgtp]?(?:flops?|hz)))";
  return std::string("(?:") + Unit + "|" + Rate + ")";
}

/// A pattern of a unit in brackets. A unit of time may be for one of something: `[us/zone/cycle]`.
/// `(S/m)` and `(m/s/s)` are no times, so the unit is written in small letters and is not `s`
/// alone.
static std::string unitInBrackets() {
  return "[\\[(](?:" + unitPattern() +
         R"(|(?-i:(?:[mun]s|µs|[mun]?secs?|(?:milli|micro|nano)?seconds?)(?:/[a-z]\w*)+))[\])])";
}

std::string carve::withoutTimes(llvm::StringRef Line) {
  static constexpr char Number[] = R"((?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf))";
  static const RE2 Blanks(R"([ \t]+)");
  static const std::string Any = unitPattern();
  static const RE2 BeforeUnit(std::string("(?i)(^|[^\\w.])") + Number + "( ?" + Any + "\\b| ?" +
                              unitInBrackets() + ")");
  static const RE2 AfterUnit("(?i)(" + unitInBrackets() + " ?[:=]? ?)" + Number);
  // The same time of another part, as LULESH prints it: `(us/z/c) = 0.12 (per dom) (0.12 overall)`.
  static const RE2 OfAnotherPart("(?i)(" + unitInBrackets() +
                                 " ?[:=]? ?# ?[\\[(]per \\w+[\\])] ?[\\[(] ?)" + Number +
                                 R"re(( overall[\])]))re");
  // A share of the time ends its part of the line: what follows a word, as in `91 % correct`, is
  // not.
  static const RE2 Share("(?i)(# ?[\\[(]?" + Any + "[\\])]?[,;:]? ?[\\[(]? ?)" + Number +
                         R"re(( ?%(?:[\])]| ?[^\w ]|$)))re");
  std::string Text = Line.str();
  RE2::GlobalReplace(&Text, Blanks, " ");
  RE2::GlobalReplace(&Text, BeforeUnit, "\\1#\\2");
  RE2::GlobalReplace(&Text, AfterUnit, "\\1#");
  RE2::GlobalReplace(&Text, OfAnotherPart, "\\1#\\2");
  RE2::GlobalReplace(&Text, Share, "\\1#\\2");
  return Text;
}

std::string carve::formOfTimes(llvm::StringRef Line) {
  // The unit of a number stays, with the mark after it.
  static const std::string Any = unitPattern();
  static const RE2 Words("(?i)((?:# ?)?" + unitInBrackets() + "|# ?[\\[(]?" + Any + "\\b" +
                         R"re()|\pL[\pL\d_]*(?: \pL[\pL\d_]*)*)re");
  std::string Text = withoutTimes(Line);
  RE2::GlobalReplace(&Text, Words, "\\1w");
  return Text;
}
