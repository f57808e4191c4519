/// \file
/// The ways in which a process ends, each made to finish the record file first: exit, quick_exit,
/// _exit and the fatal signals. The exit status and the signal stay what they were, and a program
/// that asks for the actions of signals is told what they would be without us.
#pragma once

namespace carve::probe {

/// Call once, after startFinisher.
void installExitHooks();

/// Does the same in objects that the program has loaded since. Every now and then, from a thread of
/// ours.
void refreshExitHooks();

} // namespace carve::probe
