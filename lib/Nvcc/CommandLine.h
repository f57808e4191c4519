/// \file
/// What the user asked nvcc for. It is the first record of a compile, and is made from argv alone,
/// before any process is run.
#pragma once

#include "Support/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The kind of an input, which decides the steps that nvcc runs for it.
enum class InputKind { DeviceSource, HostSource, Object, Library };

/// One input file of the command.
struct Input {
  std::string Path;
  InputKind Kind;
  /// Position in CommandLine::Expanded, i.e. in Argv with options files spelled out.
  size_t ArgIndex;
};

/// The result that the command makes.
enum class Product {
  Object,
  Executable,
  SharedObject, ///< Linked like an executable, but it cannot be run.
};

/// A plain compile of device code to an object (`-c`), an executable or a shared object.
struct CommandLine {
  std::vector<std::string> Argv; ///< The user's own, without argv[0] and without `--carve-*`.
  /// Argv, in which an options file is spelled out if it holds inputs or options that a rewritten
  /// command changes. The rewriting functions (CommandRewrite.h) start from it.
  std::vector<std::string> Expanded;
  /// Every word that nvcc reads: all options files are spelled out, and NVCC_*_FLAGS are included.
  std::vector<std::string> AllWords;
  Product Makes = Product::Object;
  std::vector<Input> Inputs;
  /// The path that nvcc will write, even if `-o` was left out; the first one if there are several
  /// objects.
  std::string Output;
  bool Relocatable = false;   ///< -rdc=true or -dc.
  bool WritesDepfile = false; ///< -MD, -MMD, --generate-dependencies-with-compile.
  std::string Depfile;        ///< Its path, if one is written.
  /// The -maxrregcount in effect, wherever it was written. It is absent if it is 0 or so large that
  /// ptxas ignores it.
  std::optional<unsigned> RegisterCap;
  /// NVCC_*_FLAGS set one, which withRegisterCap() cannot replace.
  bool CapFromEnvironment = false;

  /// Returns true if the command makes an object for each of several sources, in the working
  /// directory.
  bool makesSeveralObjects() const { return Makes == Product::Object && Inputs.size() > 1; }
  /// Returns the path of the output that is made from \p Source.
  std::string outputOf(llvm::StringRef Source) const;
};

/// The part of the environment that affects nvcc, as the caller found it.
struct NvccEnvironment {
  std::string PrependFlags; ///< NVCC_PREPEND_FLAGS
  std::string AppendFlags;  ///< NVCC_APPEND_FLAGS
  std::string WorkDir;
};

/// The command compiles no device code. It may be a link of device code.
class NoDeviceSource : public llvm::ErrorInfo<NoDeviceSource, Unsupported> {
public:
  static char ID;
  using ErrorInfo::ErrorInfo;
};

/// Reads \p Argv (the user's arguments without argv[0] and `--carve-*`) as a compile. It reads
/// options files from disk. Fails with Unsupported and the reason to count if the command must be
/// handed to nvcc unchanged: it has no device source, selects another phase, has an option that is
/// too hard, or has two inputs with one stem.
llvm::Expected<CommandLine> parseCommandLine(llvm::ArrayRef<std::string> Argv,
                                             const NvccEnvironment &Env);

/// Fails with Unsupported if nvcc may be unable to name the files of a device link, which it names
/// after \p Output. In a keep directory their names are shorter, so nvcc would succeed where it
/// fails without carve.
llvm::Error checkLinkedName(llvm::StringRef Output);

} // namespace carve
