/// \file
/// Runs the built carve-nvcc and carve as a user does, next to plain nvcc, and reads the device
/// code in what they make.
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

/// The kernels of one image by mangled name.
using ImageKernels = std::map<std::string, CubinKernel>;

/// Returns the content of section \p Name of an object or executable; nothing if it has none.
std::optional<std::string> sectionOf(llvm::StringRef Elf, llvm::StringRef Name);

/// Returns the device images of an object or executable (compiled with --no-compress) by
/// architecture number. If there are several for one architecture, because objects were linked
/// together, their kernels are merged. For -rdc objects these are the images before the device
/// link, and for -rdc executables those after it.
std::map<unsigned, ImageKernels> deviceImages(llvm::StringRef Elf);

/// Every command has the same directory, store and TMPDIR. No GPU is used for tuning.
class BuiltToolsTest : public RealNvccTest {
protected:
  static constexpr char Bulky[] = "_Z5bulkyPdPKdi", Steady[] = "_Z6steadyPdPKdi",
                        Noisy[] = "_Z5noisyPdPKdi", Bounded[] = "_Z7boundedPdPKdi";
  static constexpr unsigned BulkyCap = 64; ///< Less than bulky takes by default.

  /// Also writes three.cu, which has four named kernels, into the directory.
  void SetUp() override;

  CommandResult plain(Words Arguments, Words Environment = {});
  CommandResult carveNvcc(Words Arguments, Words Environment = {});
  CommandResult carve(Words Arguments, Words Environment = {});
  /// Runs carveNvcc(), which must succeed without output and leave no temporary files.
  void build(const Words &Arguments, const Words &Environment = {});
  /// Runs plain(), which must succeed without output.
  void buildPlain(const Words &Arguments);

  /// Removes all kernels but \p Names from three.cu. A compile of one kernel takes much less time
  /// than one of all five.
  void keepKernels(const std::vector<std::string> &Names);

  /// Returns what the last carve command logged.
  std::string log();
  bool logSays(llvm::StringRef Text);
  UnitStore store() const { return UnitStore(path("store")); }
  /// Checks that nothing is left in TMPDIR and next to the outputs.
  void expectNoTemporaries();

  /// Returns the only image of \p Name.
  ImageKernels kernelsOf(const std::string &Name);
  /// Checks that all kernels but \p Except have the same code and registers in both.
  void expectSameCode(const ImageKernels &A, const ImageKernels &B,
                      const std::vector<std::string> &Except);
  /// Writes a profile that caps \p Kernel (its name in profiles). \p More has further lines of the
  /// entry.
  void writeProfile(const std::string &Kernel, unsigned Cap, const std::string &More = "");

  static constexpr char BulkyName[] = "bulky(double*, double const*, int)";
  static constexpr char BoundedName[] = "bounded(double*, double const*, int)";

  /// Returns the environment of every command here, followed by carve's own settings.
  Words environment(const Words &More) const;
};

} // namespace carve
