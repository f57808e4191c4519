/// \file
/// The one way in which the project starts other processes: argument vector, environment,
/// timeout, streams. No shell is involved.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One process to run.
struct Command {
  std::vector<std::string> Argv;        ///< Argv[0] is a path, or a name looked up in PATH.
  std::string Dir;                      ///< Working directory; empty: the caller's.
  std::vector<std::string> Environment; ///< `NAME=value` set or, without `=`, removed.
  std::optional<std::string> StdinPath; ///< Absent: inherited. `/dev/null` for empty input.
  bool CaptureStdout = false;           ///< Otherwise inherited.
  bool CaptureStderr = false;           ///< Otherwise inherited.
  /// Streams that are not captured are passed on as they come, and remembered: where ours is a
  /// terminal, the child's is one too; where our two are one, the child's are.
  bool Tee = false;
  double TimeoutS = 0; ///< 0: none. Else a process group of its own, killed whole.
};

struct CommandResult {
  int ExitStatus = 0; ///< As a shell would say it: 128 + signal where a signal ended it.
  int Signal = 0;     ///< 0 where it exited.
  bool TimedOut = false;
  int Interrupted = 0; ///< The signal that we were sent meanwhile and passed on; the caller stops.
  double WallS = 0;
  bool Remembered = false; ///< Of Command::Tee: it could be done.
  std::string Stdout,
      Stderr; ///< What was captured, whole; of Command::Tee with StreamShape::Merged all in Stdout.

  bool succeeded() const { return ExitStatus == 0 && !TimedOut; }
};

/// What our own standard output and standard error are to a child that inherits them.
struct StreamShape {
  bool Merged = false; ///< Both are one file, pipe or terminal.
  bool OutTerminal = false, ErrTerminal = false;
  bool operator==(const StreamShape &) const = default;

  static StreamShape ours();
};

/// Starts processes. An interface, so that pipelines can be run against a recorded toolchain.
/// Implementations may be called from several threads at once.
class CommandRunner {
public:
  virtual ~CommandRunner() = default;
  /// Runs \p C to its end. Fails only where the process cannot be started; a non-zero exit status
  /// is a result.
  virtual llvm::Expected<CommandResult> run(const Command &C) = 0;
};

/// Starts real processes. While one runs with inherited streams or with a timeout, SIGINT, SIGTERM
/// and SIGHUP sent to us are passed on to it and reported, so that a caller who ends us ends the
/// child as well, and our own files are removed. A run with a timeout is killed where it has not
/// ended 3 s later. Such runs must not overlap.
class ProcessRunner final : public CommandRunner {
public:
  llvm::Expected<CommandResult> run(const Command &C) override;
};

/// Runs \p C with captured streams; a non-zero exit status becomes a ToolFailure.
llvm::Expected<CommandResult> runChecked(CommandRunner &Runner, Command C);

/// Replaces this process by \p Argv, whose first element is an absolute path. Returns on failure.
llvm::Error replaceProcess(llvm::ArrayRef<std::string> Argv);

} // namespace carve
