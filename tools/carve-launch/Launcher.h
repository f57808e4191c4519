/// \file
/// Puts a captured launch into this process and runs it: memory at the addresses that it had, the
/// module, its variables, the kernel's attributes. One capture per process: what the driver has
/// reserved for itself differs with every context.
#pragma once

#include "Captures/File/CaptureFile.h"
#include "DriverLibrary.h"

#include <string>
#include <vector>

namespace carve {

/// An address of the capture is taken in this process. Another one may have it free.
class AddressTaken : public llvm::ErrorInfo<AddressTaken> {
public:
  static char ID;
  explicit AddressTaken(std::string Message) : Message(std::move(Message)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string Message;
};

/// Digests of what one run left, for each range and then each variable, per chunk.
using LeftDigests = std::vector<std::vector<std::string>>;

class Launcher {
public:
  Launcher(const DriverLibrary &Driver, const CaptureReader &Reader)
      : Driver(Driver), Reader(Reader), C(Reader.capture()) {}

  /// Everything that is done once.
  llvm::Error prepare();
  /// Writes memory and variables as they were, launches once and waits.
  llvm::Error run();
  /// What stands there now.
  llvm::Expected<LeftDigests> left() const;

  /// What is warned of: the capture is of another GPU.
  const std::string &warning() const { return Warning; }

private:
  struct Mapping {
    CUdeviceptr Base;
    size_t Bytes;
  };
  llvm::Error makeContext();
  llvm::Expected<std::vector<Mapping>> mappings() const;
  bool reserveExactly(llvm::ArrayRef<Mapping> Group);
  llvm::Error reserve(llvm::ArrayRef<Mapping> Group);
  llvm::Error map(const Mapping &M);
  llvm::Error loadModule();
  llvm::Error findVariables();
  llvm::Error setAttributes();
  llvm::Error upload(CUdeviceptr To, const CapturedBytes &From, const llvm::Twine &What);
  llvm::Error launch();
  llvm::Expected<std::vector<std::string>> digests(CUdeviceptr At, uint64_t Bytes) const;

  const DriverLibrary &Driver;
  const CaptureReader &Reader;
  const Capture &C;
  std::string Warning;
  CUdevice Device = 0;
  CUlibrary Library = nullptr; ///< Or Module, as the program loaded it.
  CUmodule Module = nullptr;
  CUfunction Function = nullptr; ///< A CUkernel where there is a library, as the runtime passes it.
  std::string Container;         ///< The driver may read it at any later time.
  std::vector<CUdeviceptr> Variables;
  /// For the driver's launch parameters.
  std::vector<CUlaunchAttribute> LaunchAttributes;
};

} // namespace carve
