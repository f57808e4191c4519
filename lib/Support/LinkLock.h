/// \file
/// A lock that needs nothing of a file system but link(2), which network file systems carry out on
/// the server. StoreLock uses it where flock(2) is missing or holds on one machine only, and
/// `carve store publish` so that a store has one publisher.
///
/// The lock is a file that names its holder: host, boot, process and time. A holder that was killed
/// leaves it. A process of the same boot and process namespace sees whether the holder has gone,
/// and then takes the lock over. Any other process takes it over if nobody has renewed it for
/// StaleAfter by its own clock; clocks of different machines are never compared.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <string>

namespace carve {

/// Holds the lock as long as the object lives.
class LinkLock {
public:
  static constexpr std::chrono::seconds StaleAfter{15}, RenewEvery{3};

  /// Waits up to \p Patience for the lock whose file is \p Path. Fails if another process still
  /// holds it, with a message that names the process, or if the file cannot be made. A holder on
  /// another machine is watched until it renews the lock or StaleAfter is over, even without
  /// patience: nothing else tells whether it lives.
  static llvm::Expected<LinkLock> take(llvm::StringRef Path, std::chrono::milliseconds Patience);
  LinkLock(LinkLock &&Other) noexcept;
  LinkLock &operator=(LinkLock &&) = delete;
  ~LinkLock();

  /// Shows others that the holder lives. Call it in work that may take longer than RenewEvery. It
  /// does something only after that time.
  void renew();
  /// Returns false if another process has taken the lock over, e.g. while this one was suspended.
  bool isHeld() const;

private:
  LinkLock(std::string Path, std::string Holder)
      : Path(std::move(Path)), Holder(std::move(Holder)),
        Renewed(std::chrono::steady_clock::now()) {}
  std::string Path, Holder;
  std::chrono::steady_clock::time_point Renewed;
};

} // namespace carve
