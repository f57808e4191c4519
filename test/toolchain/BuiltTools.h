/// \file
/// The built carve-nvcc and carve, run as a user runs them beside plain nvcc, and the device code
/// that is found in what they make.
#pragma once

#include "RealNvcc.h"

#include "Cubin/Cubin.h"
#include "Report/JsonReport.h"
#include "Store/UnitStore.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Kernels of one image by mangled name.
using ImageKernels = std::map<std::string, CubinKernel>;

/// The content of section \p Name of an object or executable; nothing where it has none.
std::optional<std::string> sectionOf(llvm::StringRef Elf, llvm::StringRef Name);

/// The device images of an object or executable (compiled with --no-compress) by architecture
/// number. Of several for one architecture (objects linked together) the kernels are put together.
/// Of -rdc objects those before the device link, of -rdc executables those after it.
std::map<unsigned, ImageKernels> deviceImages(llvm::StringRef Elf);

/// Every command has the same directory, store and TMPDIR. Nothing is tuned by a GPU.
class BuiltToolsTest : public RealNvccTest {
protected:
  static constexpr char Bulky[] = "_Z5bulkyPdPKdi", Steady[] = "_Z6steadyPdPKdi",
                        Noisy[] = "_Z5noisyPdPKdi", Bounded[] = "_Z7boundedPdPKdi";
  static constexpr unsigned BulkyCap = 64; ///< Below what bulky takes by default.

  /// Also puts three.cu there, of four named kernels.
  void SetUp() override;

  CommandResult plain(Words Arguments, Words Environment = {});
  CommandResult carveNvcc(Words Arguments, Words Environment = {});
  CommandResult carve(Words Arguments, Words Environment = {});
  /// carveNvcc(), which must succeed without a word and leave no temporaries.
  void build(const Words &Arguments, const Words &Environment = {});
  /// plain(), which must succeed without a word.
  void buildPlain(const Words &Arguments);

  /// What the last carve command logged.
  std::string log();
  bool logSays(llvm::StringRef Text);
  UnitStore store() const { return UnitStore(path("store")); }
  /// Whether nothing is left in TMPDIR and beside the outputs.
  void expectNoTemporaries();

  /// The only image of \p Name.
  ImageKernels kernelsOf(const std::string &Name);
  /// All kernels but \p Except have the same code and registers in both.
  void expectSameCode(const ImageKernels &A, const ImageKernels &B,
                      const std::vector<std::string> &Except);
  /// A profile that caps \p Kernel (its profile name); \p More are further lines of the entry.
  void writeProfile(const std::string &Kernel, unsigned Cap, const std::string &More = "");

  static constexpr char BulkyName[] = "bulky(double*, double const*, int)";
  static constexpr char BoundedName[] = "bounded(double*, double const*, int)";

  /// The environment of every command here; carve's own settings after it.
  Words environment(const Words &More) const;
};

} // namespace carve
