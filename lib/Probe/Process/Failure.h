/// \file
/// The result type of a step that can fail. The probe may neither throw into the program nor change
/// what the program does. A step that fails therefore says why, and its caller gives up its own
/// work and writes the reason into a record.
#pragma once

#include <string>
#include <utility>

namespace carve::probe {

/// The result of a step: none() if it succeeded, otherwise the reason why it failed. True if it
/// failed.
class [[nodiscard]] Failure {
public:
  static Failure none() { return {}; }
  /// \p Reason is a word or a sentence for a record. It is not empty.
  explicit Failure(std::string Reason) : Why(std::move(Reason)) {}
  /// Makes a failure after which a later attempt may succeed.
  static Failure forNow(std::string Reason) {
    Failure F(std::move(Reason));
    F.Passing = true;
    return F;
  }

  explicit operator bool() const { return !Why.empty(); }
  /// Returns the reason; empty if nothing failed.
  const std::string &reason() const { return Why; }
  /// Returns whether a later attempt may succeed.
  bool isForNow() const { return Passing; }

private:
  Failure() = default;

  std::string Why;
  bool Passing = false;
};

} // namespace carve::probe
