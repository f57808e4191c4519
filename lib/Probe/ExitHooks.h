/// \file
/// The ways in which a process ends, each made to finish the record file first: exit, quick_exit,
/// _exit and the fatal signals. The exit status and the signal stay what they were.
#pragma once

namespace carve::probe {

/// Call once, after startFinisher.
void installExitHooks();

} // namespace carve::probe
