/// \file
/// The driver calls by which a program does what a replay may not be able to stand: the kinds of
/// the `hazard` records (Protocol.h).
#pragma once

#include <cupti.h>

#include <vector>

namespace carve::probe {

/// The kind that a call of \p Id stands for: managed, host-mapped, ipc, peer, capture or array;
/// null for any other call. An array is a hazard where kernels can write it, that is, by surfaces.
/// Mapped memory that another device may reach is seen by its parameters alone
/// (DeviceMemory::peers).
const char *hazardOf(CUpti_CallbackId Id);

/// All calls that have a kind.
std::vector<CUpti_CallbackId> hazardCalls();

} // namespace carve::probe
