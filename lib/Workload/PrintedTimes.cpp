#include "Workload/PrintedTimes.h"

#include <re2/re2.h>

using namespace carve;

std::string carve::withoutTimes(llvm::StringRef Line) {
  static constexpr char Number[] = R"((?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf))";
  static constexpr char Unit[] =
      R"((?:(?:milli|micro|nano)?seconds?|[mun]?secs?|[mun]?s|µs|minutes?))";
  static constexpr char Rate[] =
      R"((?:\w+(?: per |/)(?:[mun]?s|sec|second)|[kmgtp]?(?:flops?|hz)))";
  static const RE2 Blanks(R"([ \t]+)");
  static const std::string Any = std::string("(?:") + Unit + "|" + Rate + ")";
  static const RE2 BeforeUnit(std::string("(?i)(^|[^\\w.])") + Number + "( ?" + Any +
                              "\\b| ?[\\[(]" + Any + "[\\])])");
  static const RE2 AfterUnit("(?i)([\\[(]" + Any + "[\\])] ?[:=]? ?)" + Number);
  std::string Text = Line.str();
  RE2::GlobalReplace(&Text, Blanks, " ");
  RE2::GlobalReplace(&Text, BeforeUnit, "\\1#\\2");
  RE2::GlobalReplace(&Text, AfterUnit, "\\1#");
  return Text;
}
