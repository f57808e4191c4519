/// \file
/// What the user asked nvcc for: the first record of a compile. Made from argv alone, before
/// anything is run.
#pragma once

#include "Support/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

enum class InputKind { DeviceSource, HostSource, Object, Library };

struct Input {
  std::string Path;
  InputKind Kind;
  size_t ArgIndex; ///< Position in CommandLine::Expanded, which is Argv without options files.
};

enum class Product {
  Object,
  Executable,
  SharedObject, ///< Linked as an executable is, but nothing that can be run.
};

/// A plain compile of device code to an object (`-c`), an executable or a shared object.
struct CommandLine {
  std::vector<std::string> Argv; ///< The user's own, without argv[0] and without `--carve-*`.
  /// Argv, with those options files spelled out that hold inputs or options which a rewritten
  /// command changes. The rewriting functions below start from it.
  std::vector<std::string> Expanded;
  /// Every word that nvcc reads: options files spelled out, NVCC_*_FLAGS included.
  std::vector<std::string> AllWords;
  Product Makes = Product::Object;
  std::vector<Input> Inputs;
  /// As nvcc will write it, also where `-o` was left out; of several objects the first.
  std::string Output;
  bool Relocatable = false;   ///< -rdc=true or -dc.
  bool WritesDepfile = false; ///< -MD, -MMD, --generate-dependencies-with-compile.
  std::string Depfile;        ///< Its path, where one is written.
  /// -maxrregcount in force, wherever it was written; absent where it is 0 or so large that ptxas
  /// ignores it.
  std::optional<unsigned> RegisterCap;
  bool CapFromEnvironment = false; ///< NVCC_*_FLAGS give one: withRegisterCap cannot replace it.

  /// Whether the command makes an object of each of several sources, beside the working directory.
  bool makesSeveralObjects() const { return Makes == Product::Object && Inputs.size() > 1; }
  /// The output that holds what \p Source becomes.
  std::string outputOf(llvm::StringRef Source) const;
};

/// The environment that bears on nvcc, as the caller found it.
struct NvccEnvironment {
  std::string PrependFlags; ///< NVCC_PREPEND_FLAGS
  std::string AppendFlags;  ///< NVCC_APPEND_FLAGS
  std::string WorkDir;
};

/// The command compiles no device code. It may be a link of some.
class NoDeviceSource : public llvm::ErrorInfo<NoDeviceSource, Unsupported> {
public:
  static char ID;
  using ErrorInfo::ErrorInfo;
};

/// Reads \p Argv (the user's arguments, argv[0] and `--carve-*` removed) as a compile. Fails with
/// Unsupported and the reason to be counted if the command is to be handed to nvcc as it is: no
/// device source, another phase, an option too hard, two inputs of one stem.
/// Options files are read from disk.
llvm::Expected<CommandLine> parseCommandLine(llvm::ArrayRef<std::string> Argv,
                                             const NvccEnvironment &Env);

/// Fails with Unsupported if nvcc may not be able to name the files of a device link, which it
/// names after \p Output: kept in a directory they have shorter names, and nvcc would succeed where
/// it fails by itself.
llvm::Error checkLinkedName(llvm::StringRef Output);

} // namespace carve
