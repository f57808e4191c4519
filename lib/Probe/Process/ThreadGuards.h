/// \file
/// What keeps the probe's work on a thread from changing how the program ends or is interrupted:
/// every entry from the program, the driver or CUPTI takes a CancellationOff, and threads that are
/// made on our behalf are made under SignalsBlocked.
#pragma once

#include <csignal>
#include <pthread.h>

namespace carve::probe {

/// While it lives, a request to cancel this thread waits. Otherwise the next write or sleep of ours
/// would unwind the thread through our catch-all handlers, which the C library answers with abort.
/// It belongs outside of them: a thread that may be cancelled at any instruction is unwound from
/// the destructor.
class CancellationOff {
public:
  CancellationOff() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &Before); }
  ~CancellationOff() noexcept(false) { ::pthread_setcancelstate(Before, nullptr); }
  CancellationOff(const CancellationOff &) = delete;
  CancellationOff &operator=(const CancellationOff &) = delete;

private:
  int Before = PTHREAD_CANCEL_ENABLE;
};

/// While it lives, this thread takes no signal, and the threads that it makes never do: a handler
/// of the program's must not run on a thread that the program does not know.
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
