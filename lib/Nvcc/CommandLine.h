/// \file
/// What the user asked nvcc for: the first record of a compile. Made from argv alone, before
/// anything is run.
#pragma once

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

/// Classifies \p Argv (the user's arguments, argv[0] and `--carve-*` removed).
/// Fails with Unsupported and the reason to be counted where the command is to be handed to nvcc
/// as it is: no device source, another phase, an option too hard, two inputs of one stem.
/// Options files are read from disk.
llvm::Expected<CommandLine> parseCommandLine(llvm::ArrayRef<std::string> Argv,
                                             const NvccEnvironment &Env);

/// Fails with Unsupported if nvcc may not be able to name the files of a device link, which it
/// names after \p Output: kept in a directory they have shorter names, and nvcc would succeed where
/// it fails by itself.
llvm::Error checkLinkedName(llvm::StringRef Output);

/// \p C's arguments with the output at \p Path. The depfile keeps the name and the target that
/// nvcc would give it for the original output.
std::vector<std::string> withOutput(const CommandLine &C, llvm::StringRef Path);

/// Arguments that link what \p C makes (executable or shared object) from objects: every device
/// source is replaced by its object in \p ObjectOf, `-x`, `-M*`, and options of the compile phase
/// that nvcc refuses without a source are dropped; the output is \p Path. The program is the one
/// that nvcc makes in one step, but for a label: with -lineinfo the container of the device link
/// names the inputs of the command.
std::vector<std::string> relinkArguments(const CommandLine &C,
                                         const llvm::StringMap<std::string> &ObjectOf,
                                         llvm::StringRef Path);

/// Arguments that compile \p Source, an input of \p C, alone and to the object \p Path; no depfile
/// is written.
std::vector<std::string> compileOneArguments(const CommandLine &C, llvm::StringRef Source,
                                             llvm::StringRef Path);

/// \p C's arguments with `-maxrregcount=\p Cap` in force and the output at \p Path; a cap already
/// given is replaced, never repeated.
std::vector<std::string> withRegisterCap(const CommandLine &C, unsigned Cap, llvm::StringRef Path);

/// Whether a configure step of CMake, autoconf or Meson runs this command to learn about the
/// compiler; such a program is never run.
bool isConfigureProbe(const CommandLine &C, llvm::StringRef WorkDir);

} // namespace carve
