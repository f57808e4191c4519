/// \file
/// Restores a captured launch in this process and runs it: memory at its old addresses, the module,
/// its variables, and the kernel's attributes. carve-launch makes one process per capture, because
/// the addresses that the driver reserves for itself differ with every context.
#pragma once

#include "Captures/File/CaptureFile.h"
#include "DriverLibrary.h"

#include <string>
#include <vector>

namespace carve {

/// An address of the capture is already taken in this process. It may be free in another process.
class AddressTaken : public llvm::ErrorInfo<AddressTaken> {
public:
  static char ID;
  explicit AddressTaken(std::string Message) : Message(std::move(Message)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string Message;
};

/// The digests of what one run left in memory. The outer index is the range, or after the ranges
/// the variable; the inner index is the chunk of CaptureChunkBytes.
using LeftDigests = std::vector<std::vector<std::string>>;

/// Launches one capture, as often as is wanted.
class Launcher {
public:
  /// Both arguments must outlive the launcher.
  Launcher(const DriverLibrary &Driver, const CaptureReader &Reader)
      : Driver(Driver), Reader(Reader), C(Reader.capture()) {}

  /// Makes the context, maps the captured addresses, loads the module and sets the attributes. Call
  /// it once, before run(). Fails with AddressTaken if the driver does not give an address, and
  /// with the driver's error otherwise.
  llvm::Error prepare();
  /// Writes memory and variables as they were before the launch, launches once and waits. Fails if
  /// the capture is damaged or a call of the driver fails.
  llvm::Error run();
  /// Returns the digests of what memory and variables contain now. Fails if they cannot be read.
  llvm::Expected<LeftDigests> left() const;

  /// Says that the capture is from another GPU. Empty if it is not.
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
  CUlibrary Library = nullptr; ///< Either this or Module is set, as the program loaded it.
  CUmodule Module = nullptr;
  /// A CUkernel if there is a Library, as the CUDA runtime passes it.
  CUfunction Function = nullptr;
  std::string Container; ///< Stays in memory, because the driver may read it at any later time.
  std::vector<CUdeviceptr> Variables;
  /// The attributes for the driver's launch parameters.
  std::vector<CUlaunchAttribute> LaunchAttributes;
};

} // namespace carve
