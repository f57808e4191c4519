/// \file
/// The file in which a traced process leaves its records for the tuner (Protocol.h).
#pragma once

#include <atomic>
#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace carve::probe {

/// One line of the protocol: the fields separated by tabs. Control characters in a field become
/// spaces, because a path or a device name may hold anything.
std::string recordLine(std::initializer_list<std::string_view> Fields);

/// Append-only and without a lock: every append is one write(2) on an O_APPEND descriptor, which
/// the kernel keeps apart from other threads' writes. So a thread that a signal stopped here can
/// not keep the end of the file from being written. No other call of the system is made after
/// create(): the program may have forbidden itself all that it does not need.
class RecordFile {
public:
  RecordFile() = default;
  RecordFile(const RecordFile &) = delete;
  RecordFile &operator=(const RecordFile &) = delete;
  ~RecordFile();

  /// Creates `<Dir>/<pid>-<nanoseconds>.probe` with its first line. False where that is impossible.
  bool create(const char *Dir);

  /// Appends \p Lines, each ended by a newline. Does nothing in a forked child, after seal(), and
  /// after a failed write, as after the program has closed every descriptor that there is (the
  /// tuner then sees a file without `end`).
  void append(std::string_view Lines);

  /// Appends `end`; what comes later is dropped.
  void seal();

  /// Drops what comes later, `end` included: the tuner sees that the file is not whole.
  void abandon() { Closed = true; }

  /// Whether this process, rather than a parent that forked it, created the file.
  bool owned() const;

private:
  bool writeWhole(std::string_view Lines) const;

  int Fd = -1;
  pid_t Owner = 0;
  std::atomic<bool> Closed{true};
};

} // namespace carve::probe
