/// \file
/// The project's kinds of errors and the answer to each. Library code returns them; the tools turn
/// them into messages, fallbacks and exit codes.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// A mistake in an option of our own. The tool prints the message and exits with status 1.
class UsageError : public llvm::ErrorInfo<UsageError> {
public:
  static char ID;
  explicit UsageError(std::string Message) : Message(std::move(Message)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string Message;
};

/// Something that carve does not handle. The driver counts the reason and leaves the work to nvcc.
class Unsupported : public llvm::ErrorInfo<Unsupported> {
public:
  static char ID;
  /// \p Reason is a short stable identifier such as `device-lto`. \p Detail is text for a person.
  Unsupported(std::string Reason, std::string Detail)
      : Reason(std::move(Reason)), Detail(std::move(Detail)) {}
  const std::string &reason() const { return Reason; }
  const std::string &detail() const { return Detail; }
  void log(llvm::raw_ostream &OS) const override {
    OS << Reason;
    if (!Detail.empty())
      OS << ": " << Detail;
  }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string Reason, Detail;
};

/// The program cannot be traced, so nothing is known about its launches. The reason is
/// `untraceable`.
class Untraceable : public llvm::ErrorInfo<Untraceable, Unsupported> {
public:
  static char ID;
  explicit Untraceable(std::string Why) : ErrorInfo("untraceable", std::move(Why)) {}
};

/// A signal asked us to stop. The tool removes what it has begun and ends as the signal would have
/// ended it.
class Interrupted : public llvm::ErrorInfo<Interrupted> {
public:
  static char ID;
  explicit Interrupted(int Signal) : Signal(Signal) {}
  int signal() const { return Signal; }
  void log(llvm::raw_ostream &OS) const override { OS << "interrupted: " << Signal; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  int Signal;
};

/// A tool of the CUDA toolkit, or another child process, failed.
class ToolFailure : public llvm::ErrorInfo<ToolFailure> {
public:
  static char ID;
  ToolFailure(std::string Tool, int ExitStatus, std::string Stderr)
      : Tool(std::move(Tool)), Status(ExitStatus), Stderr(std::move(Stderr)) {}
  int exitStatus() const { return Status; }
  const std::string &standardError() const { return Stderr; }
  void log(llvm::raw_ostream &OS) const override {
    OS << Tool << ": exit status " << Status;
    if (!Stderr.empty())
      OS << ": " << llvm::StringRef(Stderr).trim();
  }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string Tool;
  int Status;
  std::string Stderr;
};

[[nodiscard]] inline llvm::Error usageError(const llvm::Twine &Message) {
  return llvm::make_error<UsageError>(Message.str());
}
[[nodiscard]] inline llvm::Error unsupported(const llvm::Twine &Reason,
                                             const llvm::Twine &Detail = "") {
  return llvm::make_error<Unsupported>(Reason.str(), Detail.str());
}
[[nodiscard]] inline llvm::Error untraceable(const llvm::Twine &Why) {
  return llvm::make_error<Untraceable>(Why.str());
}
[[nodiscard]] inline llvm::Error interrupted(int Signal) {
  return llvm::make_error<Interrupted>(Signal);
}
/// Bad content of a file or a stream. The message names the thing, the actual and the expected.
[[nodiscard]] inline llvm::Error malformed(const llvm::Twine &Message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Message);
}

/// Returns the system's error \p Errno for a failure at \p Path.
[[nodiscard]] inline llvm::Error fileError(llvm::StringRef Path, int Errno) {
  return llvm::createFileError(Path, std::error_code(Errno, std::generic_category()));
}

} // namespace carve
