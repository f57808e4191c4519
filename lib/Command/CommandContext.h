/// \file
/// What the commands of `carve` share. The body of each is in its feature's folder, `TuneCommand`
/// in Tune, and is given the words after its name. Only these bodies and tools/ print.
#pragma once

#include "Command/Installation.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// What every command may need of the process it runs in.
struct CommandContext {
  std::string OwnPath;
  InstallTree Install;
  GetEnv Env;
  std::string Version; ///< Of carve.
};

/// Said where a command needs a GPU and there is none.
constexpr char NoGpu[] = "no GPU is present (no /dev/nvidia*, or CUDA_VISIBLE_DEVICES hides it)";

/// Fails with UsageError where there is no GPU; \p What says what one is needed for.
llvm::Error needGpu(GetEnv Env, llvm::StringRef What);
/// nvcc and its tools, as findToolchain() and locateTools() find them.
llvm::Expected<Toolchain> toolchainOf(const CommandContext &Context);
/// Makes the words of \p Command in \p Folders absolute. Fails with UsageError where one is no
/// folder, and where \p Rest, what came after `--`, is not empty.
llvm::Error takeFolders(llvm::StringRef Command, std::vector<std::string> &Folders,
                        llvm::ArrayRef<std::string> Rest);

/// Exit status 1 without a message: what was asked for differs.
class Differs : public llvm::ErrorInfo<Differs> {
public:
  static char ID;
  void log(llvm::raw_ostream &OS) const override { OS << "the profiles differ"; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// Exit status 2: nothing could be compared.
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
