/// \file
/// Keeps the probe's work on a thread from changing how the program ends or is interrupted. Every
/// entry from the program, the driver or CUPTI takes a CancellationOff, and threads that are made
/// for the probe are made under SignalsBlocked.
#pragma once

#include <csignal>
#include <pthread.h>

namespace carve::probe {

/// While it lives, a request to cancel this thread waits. Otherwise the next write or sleep of the
/// probe would unwind the thread through the probe's catch-all handlers, and the C library would
/// abort the process. It belongs outside of these handlers, because a thread that may be cancelled
/// at any instruction is unwound from the destructor.
class CancellationOff {
public:
  CancellationOff() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &Before); }
  ~CancellationOff() noexcept(false) { ::pthread_setcancelstate(Before, nullptr); }
  CancellationOff(const CancellationOff &) = delete;
  CancellationOff &operator=(const CancellationOff &) = delete;

private:
  int Before = PTHREAD_CANCEL_ENABLE;
};

/// While it lives, this thread takes no signal, and the threads that it makes never take one. A
/// signal handler of the program must not run on a thread that the program does not know.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t All;
    ::sigfillset(&All);
    ::pthread_sigmask(SIG_SETMASK, &All, &Before);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &Before, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;

private:
  sigset_t Before{};
};

} // namespace carve::probe
