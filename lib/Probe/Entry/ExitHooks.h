/// \file
/// Makes every way in which a process ends finish the record file first: exit, quick_exit, _exit
/// and the fatal signals. The exit status and the signal stay the same, and a program that asks for
/// the actions of signals is told what they would be without the probe.
#pragma once

namespace carve::probe {

/// Installs the hooks. Must be called once, after startFinisher.
void installExitHooks();

/// Installs the hooks in objects that the program has loaded since the last call. Called at
/// intervals from the probe's own thread.
void refreshExitHooks();

} // namespace carve::probe
