/// \file
/// The only way in which the project starts other processes. A command has an argument vector, an
/// environment, a timeout and streams; no shell is involved.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace carve {

/// One process to run.
struct Command {
  std::vector<std::string> Argv; ///< Argv[0] is a path, or a name that is looked up in PATH.
  std::string Dir;               ///< Working directory; empty means the caller's.
  /// `NAME=value` sets a variable; `NAME` without `=` removes it.
  std::vector<std::string> Environment;
  std::optional<std::string> StdinPath; ///< Absent means inherited; `/dev/null` gives empty input.
  bool CaptureStdout = false;           ///< Otherwise the child inherits ours.
  bool CaptureStderr = false;           ///< Otherwise the child inherits ours.
  /// Streams that are not captured are passed on as they arrive, and also kept. If our stream is a
  /// terminal, the child's stream is a terminal, too; if our two streams are one, the child's are
  /// one.
  bool Tee = false;
  double TimeoutS = 0; ///< 0 means none. Otherwise the child gets its own process group, which is
                       ///< killed as a whole.
  /// Once it is true, the process is killed, and the result says TimedOut. Only for runs without a
  /// timeout whose output is captured.
  const std::atomic<bool> *Abandoned = nullptr;
  /// The same once as many seconds have passed as it returns, which may change while the process
  /// runs; 0 means never. It may be empty.
  std::function<double()> AbandonS = {};
};

/// The result of one process.
struct CommandResult {
  int ExitStatus = 0; ///< As a shell reports it: 128 + signal if a signal ended the process.
  int Signal = 0;     ///< 0 if the process exited.
  bool TimedOut = false;
  int Interrupted = 0; ///< The signal that we got meanwhile and passed on; the caller should stop.
  double WallS = 0;
  bool Remembered = false; ///< True if Command::Tee was set and the output could be kept.
  /// The captured output, complete. With Command::Tee and StreamShape::Merged, all of it is in
  /// Stdout.
  std::string Stdout, Stderr;

  bool succeeded() const { return ExitStatus == 0 && !TimedOut; }
};

/// Describes our own standard output and standard error, as a child that inherits them sees them.
struct StreamShape {
  bool Merged = false; ///< Both are one file, pipe or terminal.
  bool OutTerminal = false, ErrTerminal = false;
  bool operator==(const StreamShape &) const = default;

  static StreamShape ours();
};

/// Starts processes. It is an interface so that pipelines can run against a recorded toolchain.
/// Implementations must allow calls from several threads at once.
class CommandRunner {
public:
  virtual ~CommandRunner() = default;
  /// Runs \p C until it ends. Fails only if the process cannot be started; a non-zero exit status
  /// is a result.
  virtual llvm::Expected<CommandResult> run(const Command &C) = 0;
};

/// Starts real processes. While a run has inherited streams or a timeout, SIGINT, SIGTERM and
/// SIGHUP that are sent to us are passed on to the child and reported. So whoever ends us also ends
/// the child, and our own files are removed. If a run with a timeout has not ended 3 s after such a
/// signal, it is killed. Such runs may be under way in several threads at once; a signal then goes
/// to the children of all.
class ProcessRunner final : public CommandRunner {
public:
  llvm::Expected<CommandResult> run(const Command &C) override;
};

/// Runs processes that can be abandoned while they run, from another thread.
class AbandonableRunner final : public CommandRunner {
public:
  /// Keeps a reference to \p Inner; it must outlive this.
  explicit AbandonableRunner(CommandRunner &Inner) : Inner(Inner) {}

  llvm::Expected<CommandResult> run(const Command &C) override {
    Command Watched = C;
    Watched.Abandoned = &Abandoned;
    return Inner.run(Watched);
  }
  /// Kills the processes that run, and, while it is \p On, those that are started.
  void abandon(bool On) { Abandoned = On; }

private:
  CommandRunner &Inner;
  std::atomic<bool> Abandoned = false;
};

/// Runs processes and abandons each that takes longer than some seconds.
class TimeLimitedRunner final : public CommandRunner {
public:
  /// Keeps a reference to \p Inner; it must outlive this. \p LimitS returns 0 for no limit, and may
  /// return something else while a process runs.
  TimeLimitedRunner(CommandRunner &Inner, std::function<double()> LimitS)
      : Inner(Inner), LimitS(std::move(LimitS)) {}

  llvm::Expected<CommandResult> run(const Command &C) override {
    Command Watched = C;
    Watched.AbandonS = LimitS;
    return Inner.run(Watched);
  }

private:
  CommandRunner &Inner;
  std::function<double()> LimitS;
};

/// Runs processes until a deadline, and kills those that have not ended by then.
class DeadlineRunner final : public CommandRunner {
public:
  /// Keeps a reference to \p Inner; it must outlive this. \p LeftS returns the seconds that are
  /// left, at least 0, or nothing if there is no deadline. It is called while processes run.
  DeadlineRunner(CommandRunner &Inner, std::function<std::optional<double>()> LeftS)
      : Inner(Inner), LeftS(std::move(LeftS)) {}

  llvm::Expected<CommandResult> run(const Command &C) override;

private:
  CommandRunner &Inner;
  std::function<std::optional<double>()> LeftS;
};

/// Runs \p C with captured streams. A non-zero exit status or a timeout becomes a ToolFailure.
llvm::Expected<CommandResult> runChecked(CommandRunner &Runner, Command C);

/// Replaces this process by \p Argv, whose first element is an absolute path. Returns only on
/// failure.
llvm::Error replaceProcess(llvm::ArrayRef<std::string> Argv);

} // namespace carve
