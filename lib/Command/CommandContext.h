/// \file
/// Declares what the commands of `carve` share. tools/carve picks the command. The command's body
/// lives in its feature's folder, for example `TuneCommand` in Tune, and receives the words after
/// the command's name. Only these bodies and tools/ print results.
#pragma once

#include "Command/Installation.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// What every command may need to know of the process in which it runs.
struct CommandContext {
  std::string OwnPath;
  InstallTree Install;
  GetEnv Env;
  std::string Version; ///< The version of carve.
};

/// The message of a command that needs a GPU, if none is present.
constexpr char NoGpu[] = "no GPU is present (no /dev/nvidia*, or CUDA_VISIBLE_DEVICES hides it)";

/// Fails with UsageError if no GPU is present. \p What ends the message and says why one is needed,
/// for example `carve tune runs the program on one`.
llvm::Error needGpu(GetEnv Env, llvm::StringRef What);
/// Returns nvcc and its tools as findToolchain() and locateTools() find them. Fails if there is no
/// nvcc.
llvm::Expected<Toolchain> toolchainOf(const CommandContext &Context);
/// Makes the words of \p Command in \p Folders absolute paths. Fails with UsageError if one of them
/// is not a directory, or if \p Rest, which came after `--`, is not empty.
llvm::Error takeFolders(llvm::StringRef Command, std::vector<std::string> &Folders,
                        llvm::ArrayRef<std::string> Rest);

/// Ends the command with exit status 1 and without a message, because what the user asked to
/// compare differs.
class Differs : public llvm::ErrorInfo<Differs> {
public:
  static char ID;
  void log(llvm::raw_ostream &OS) const override { OS << "the profiles differ"; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// Ends the command with exit status 2, because nothing could be compared.
class CannotCompare : public llvm::ErrorInfo<CannotCompare> {
public:
  static char ID;
  explicit CannotCompare(std::string Message) : Message(std::move(Message)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string Message;
};

} // namespace carve
