#include "Support/StayReason.h"

#include <algorithm>
#include <iterator>

using namespace carve;

namespace {

struct Row {
  KnownReason Reason;
  llvm::StringLiteral Identifier, Words;
};

} // namespace

static constexpr Row Reasons[] = {
    {KnownReason::Budget, "budget", "the time budget (--budget) ended before it was decided"},
    {KnownReason::BelowShare, "below-share", "less than 0.1 % of GPU time"},
    {KnownReason::OtherShard, "other-shard", "tuned by another shard of the fleet's plan"},
    {KnownReason::InNoUnit, "in-no-unit",
     "not compiled by carve-nvcc, or its unit is no longer in the store"},
    {KnownReason::RelocatableDeviceCode, "relocatable-device-code",
     "-rdc=true: cannot be tuned with scope 'file'"},
    {KnownReason::NoDeviceLink, "no-device-link",
     "-rdc=true: the device link was not made by carve-nvcc"},
    {KnownReason::ChangedInputs, "changed-inputs",
     "-rdc=true: an object or archive has changed since the device link"},
    {KnownReason::DeviceLinkFailed, "device-link-failed",
     "-rdc=true: nvlink refuses the variants, or drops them"},
    {KnownReason::AmbiguousName, "ambiguous-name",
     "several different kernels of this name are loaded"},
    {KnownReason::SetMaxNReg, "setmaxnreg",
     "moves registers between its warps itself (setmaxnreg)"},
    {KnownReason::UnknownStack, "unknown-stack",
     "recursion or indirect calls: stack of unknown size"},
    {KnownReason::ExternalCall, "external-call", "calls a function of another file"},
    {KnownReason::SharedCallee, "shared-callee", "-rdc=true: shares a function with other kernels"},
};

/// Whether the table can be indexed by the reason.
static constexpr bool isInOrder() {
  for (size_t I = 0; I < std::size(Reasons); ++I)
    if (Reasons[I].Reason != KnownReason(I))
      return false;
  return std::size(Reasons) == size_t(KnownReason::SharedCallee) + 1;
}
static_assert(isInOrder());

llvm::StringRef carve::identifierOf(KnownReason Reason) {
  return Reasons[size_t(Reason)].Identifier;
}

std::string StayReason::text() const { return Known ? identifierOf(*Known).str() : Detail; }

std::string StayReason::words() const {
  return Known ? Reasons[size_t(*Known)].Words.str() : Detail;
}

StayReason carve::parseStayReason(llvm::StringRef Text) {
  const Row *Found = std::find_if(std::begin(Reasons), std::end(Reasons),
                                  [&](const Row &R) { return R.Identifier == Text; });
  return Found == std::end(Reasons) ? StayReason(Text.str()) : StayReason(Found->Reason);
}
