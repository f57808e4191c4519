/// \file
/// How long work tells what it has done so far. The pipelines report to a ProgressDisplay, which
/// the tools implement on the terminal (Report/Terminal.h).
#pragma once

#include "llvm/ADT/StringRef.h"

#include <mutex>

namespace carve {

/// Is told about progress. This class shows nothing; a display overrides what it shows.
class ProgressDisplay {
public:
  virtual ~ProgressDisplay();
  /// \p Done runs of the program are made. \p Expected is how many there will be, or 0 if that is
  /// not known yet. \p Seconds is the time since the work began.
  virtual void runs(unsigned Done, unsigned Expected, double Seconds);
  /// \p Done of \p Of equal pieces of the work \p What are done. It is called by one thread at a
  /// time, but not always by the same one.
  virtual void step(llvm::StringRef What, size_t Done, size_t Of);
  /// The work waits, and \p Text says for whom. An empty \p Text says that the wait is over.
  virtual void waiting(llvm::StringRef Text);
  /// Something unusual happened that the user should know, such as a run that is made again.
  virtual void note(llvm::StringRef Text);
};

/// Passes on what several threads report, so that the display hears of one thing at a time.
class SharedProgress final : public ProgressDisplay {
public:
  /// Keeps a reference to \p Shown; it must outlive this.
  explicit SharedProgress(ProgressDisplay &Shown) : Shown(Shown) {}
  void runs(unsigned Done, unsigned Expected, double Seconds) override;
  void step(llvm::StringRef What, size_t Done, size_t Of) override;
  void waiting(llvm::StringRef Text) override;
  void note(llvm::StringRef Text) override;

private:
  ProgressDisplay &Shown;
  std::mutex Mutex;
};

/// A display that shows nothing, for work without a terminal.
ProgressDisplay &silentProgress();

} // namespace carve
