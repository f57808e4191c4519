/// \file
/// The file in which a traced process leaves its records for the tools (Protocol/TraceRecords.h).
#pragma once

#include "Protocol/RecordWriter.h"
#include "Protocol/TraceRecords.h"

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_set>

namespace carve::probe {

/// Lets each line through once, so that a program which loads one module a million times leaves
/// one record. Past MaxLines it forgets nothing new: the file may then repeat itself.
class OnceFilter {
public:
  static constexpr size_t MaxLines = 65536;
  bool first(const std::string &Line) {
    std::lock_guard<std::mutex> Guard(Lock);
    return Seen.size() >= MaxLines ? !Seen.count(Line) : Seen.insert(Line).second;
  }

private:
  std::mutex Lock;
  std::unordered_set<std::string> Seen;
};

/// Append-only and, but for addOnce(), without a lock: every append is one write(2) on an
/// O_APPEND descriptor, which the kernel keeps apart from other threads' writes. So a thread that a
/// signal stopped here can not keep the end of the file from being written. No other call of the
/// system is made after create(): the program may have forbidden itself all that it does not need.
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
  /// Appends \p Record.
  template <class T> void add(const T &Record) { append(recordLine(Record)); }
  /// Appends \p Record, unless it has been appended so before.
  template <class T> void addOnce(const T &Record) {
    if (std::string Line = recordLine(Record); Once.first(Line))
      append(Line);
  }

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
  const std::string End = recordLine(EndRecord()); ///< Made before a signal handler needs it.
  OnceFilter Once;
};

} // namespace carve::probe
