#include "Spaces/TripExpression.h"

#include "Support/Error.h"

using namespace carve;

llvm::Expected<TripExpression> carve::parseTripExpression(llvm::StringRef Text,
                                                          llvm::ArrayRef<std::string> Macros) {
  TripExpression T;
  T.Text = Text.str();
  // An expression may contain `==` itself, so the part before the first `=` counts as a loop only
  // if it is a number.
  auto [Where, Count] = Text.split('=');
  llvm::StringRef Number = Where.trim();
  T.IsLine = Number.consume_front("L");
  bool Numbered = Where.size() < Text.size() && !Number.getAsInteger(10, T.Loop);
  if (!Numbered) {
    T.IsLine = false;
    T.Loop = 0;
    Count = Text;
  } else if (T.Loop == 0) {
    return usageError("--trips '" + Text + "', expected loops and lines to be numbered from 1");
  }
  llvm::Expected<MacroExpression> E = MacroExpression::parse(Count, "--trips", Macros);
  if (!E)
    return E.takeError();
  T.Count = std::move(*E);
  return T;
}

llvm::Expected<TripCounts> carve::tripCountsOf(llvm::ArrayRef<TripExpression> Said,
                                               llvm::ArrayRef<MacroValue> Values) {
  TripCounts Trips;
  for (const TripExpression &T : Said) {
    llvm::Expected<int64_t> Count = T.Count.evaluate(Values);
    if (!Count)
      return Count.takeError();
    if (*Count <= 0)
      return usageError("--trips '" + T.Text + "' is " + llvm::Twine(*Count) +
                        ", expected a number above 0");
    if (T.Loop == 0)
      Trips.Assumed = double(*Count);
    else
      (T.IsLine ? Trips.ByLine : Trips.ByNumber)[T.Loop] = double(*Count);
  }
  return Trips;
}
