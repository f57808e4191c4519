/// \file
/// The file into which a traced process writes its records for the tools (Protocol/TraceRecords.h).
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

/// Lets each line through once, so that a program that loads one module a million times leaves one
/// record. After MaxLines distinct lines it remembers no further ones, so that its memory stays
/// bounded; the file may then contain repeated lines.
class OnceFilter {
public:
  /// The number of distinct lines that are remembered.
  static constexpr size_t MaxLines = 65536;
  bool first(const std::string &Line) {
    std::lock_guard<std::mutex> Guard(Lock);
    return Seen.size() >= MaxLines ? !Seen.count(Line) : Seen.insert(Line).second;
  }

private:
  std::mutex Lock;
  std::unordered_set<std::string> Seen;
};

/// An append-only file. Except for addOnce(), it takes no lock: every append is one write(2) on an
/// O_APPEND descriptor, and the kernel keeps such writes of several threads apart. A thread that
/// was stopped inside an append by a signal therefore cannot prevent the end of the file from being
/// written. After create() no other system call is made, because the program may have forbidden
/// itself every call that it does not need.
class RecordFile {
public:
  RecordFile() = default;
  RecordFile(const RecordFile &) = delete;
  RecordFile &operator=(const RecordFile &) = delete;
  ~RecordFile();

  /// Creates `<Dir>/<pid>-<nanoseconds>.probe` and writes its first line. Returns false if either
  /// fails.
  bool create(const char *Dir);

  /// Appends \p Lines, each of which ends with a newline. Does nothing in a forked child, after
  /// seal(), and after a write that failed, for example because the program has closed all
  /// descriptors. After a failed write the file has no `end`, and the tuner sees that it is
  /// incomplete.
  void append(std::string_view Lines);
  /// Appends \p Record as one line.
  template <class T> void add(const T &Record) { append(recordLine(Record)); }
  /// Appends \p Record unless the same line was appended by this function before.
  template <class T> void addOnce(const T &Record) {
    if (std::string Line = recordLine(Record); Once.first(Line))
      append(Line);
  }

  /// Appends `end`. Everything that is appended later is dropped.
  void seal();

  /// Drops everything that is appended later, including `end`, so that the tuner sees that the file
  /// is incomplete.
  void abandon() { Closed = true; }

  /// Returns whether this process created the file. It is false in a forked child.
  bool owned() const;

private:
  bool writeWhole(std::string_view Lines) const;

  int Fd = -1;
  pid_t Owner = 0;
  std::atomic<bool> Closed{true};
  /// Made early, because a signal handler that writes it must not allocate.
  const std::string End = recordLine(EndRecord());
  OnceFilter Once;
};

} // namespace carve::probe
