/// \file
/// Says which graphs that stay graphs in a timing run can still rotate variants, by exchanging the
/// kernels of their nodes. The tuner and the probe must agree on it.
#pragma once

#include "Protocol/TraceRecords.h"

namespace carve {

/// Returns whether the kernel nodes of a graph that stays one for the reason \p Why have parameters
/// that are known and that only the program changes, and run once at each launch of the graph.
constexpr bool rotatesAsGraph(GraphStay Why) {
  switch (Why) {
  case GraphStay::BesideConditional:
  case GraphStay::MemoryNode:
  case GraphStay::Semaphore:
  case GraphStay::MemoryOperation:
  case GraphStay::PageableCopy:
    return true;
  default:
    return false;
  }
}

} // namespace carve
