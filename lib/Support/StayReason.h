/// \file
/// Why a kernel, or another subject of a tuning, stays as nvcc made it. Records hold the reason as
/// one text: an identifier from the list of known reasons, or a sentence.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace carve {

/// The reasons that have an identifier. They are in the order of the table in StayReason.cpp.
enum class KnownReason {
  Budget,
  BelowShare,
  OtherShard,
  InNoUnit,
  RelocatableDeviceCode,
  NoDeviceLink,
  ChangedInputs,
  DeviceLinkFailed,
  AmbiguousName,
  SetMaxNReg,
  UnknownStack,
  ExternalCall,
  SharedCallee,
};

/// The identifier of \p Reason in records, such as `below-share`.
llvm::StringRef identifierOf(KnownReason Reason);

/// A known reason, a sentence, or no reason.
struct StayReason {
  StayReason() = default;
  StayReason(KnownReason Known) : Known(Known) {}
  explicit StayReason(std::string Detail) : Detail(std::move(Detail)) {}

  bool empty() const { return !Known && Detail.empty(); }
  /// The identifier or the sentence, as records hold it; empty without a reason.
  std::string text() const;
  /// What a person reads.
  std::string words() const;
  bool operator==(const StayReason &) const = default;

  std::optional<KnownReason> Known;
  std::string Detail; ///< The sentence; empty if the reason is known.
};

/// Reads what StayReason::text() returns. A text that is no identifier is a sentence.
StayReason parseStayReason(llvm::StringRef Text);

} // namespace carve
