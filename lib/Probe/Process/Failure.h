/// \file
/// Why the probe could not do something. It may neither throw into the program nor change what that
/// does: a step that fails says why, and whoever asked for it stands aside with the reason in a
/// record.
#pragma once

#include <string>
#include <utility>

namespace carve::probe {

/// What became of a step: none(), or the reason for which it failed. True if it failed.
class [[nodiscard]] Failure {
public:
  static Failure none() { return {}; }
  /// \p Reason: a word or a sentence for a record; not empty.
  explicit Failure(std::string Reason) : Why(std::move(Reason)) {}
  /// It failed for now: a later attempt may succeed.
  static Failure forNow(std::string Reason) {
    Failure F(std::move(Reason));
    F.Passing = true;
    return F;
  }

  explicit operator bool() const { return !Why.empty(); }
  /// Empty if nothing failed.
  const std::string &reason() const { return Why; }
  /// Whether a later attempt may succeed.
  bool isForNow() const { return Passing; }

private:
  Failure() = default;

  std::string Why;
  bool Passing = false;
};

} // namespace carve::probe
