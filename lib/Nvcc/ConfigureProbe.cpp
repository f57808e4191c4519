#include "Nvcc/ConfigureProbe.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace carve {

/// Returns true for directories in which CMake and Meson compile files to examine a compiler.
static bool isProbeDirectory(StringRef Name) {
  static constexpr StringLiteral Prefixes[] = {"CMakeScratch", "CMakeTmp", "TryCompile-",
                                               "CompilerId", "meson-private"};
  return any_of(Prefixes, [&](StringRef Prefix) { return Name.starts_with(Prefix); });
}

/// Returns true for sources and programs of a configure step of CMake, autoconf or Meson.
static bool isProbeFile(StringRef Name) {
  static constexpr StringLiteral Prefixes[] = {"CMakeCUDACompiler", "cmTC_", "conftest.",
                                               "sanitycheck"};
  return Name == "conftest" ||
         any_of(Prefixes, [&](StringRef Prefix) { return Name.starts_with(Prefix); });
}

static bool liesInProbeDirectory(StringRef Path) {
  return any_of(make_range(sys::path::begin(Path), sys::path::end(Path)), isProbeDirectory);
}

bool isConfigureProbe(const CommandLine &C, StringRef WorkDir) {
  auto IsProbe = [](StringRef Path) {
    return liesInProbeDirectory(Path) || isProbeFile(sys::path::filename(Path));
  };
  return liesInProbeDirectory(WorkDir) || IsProbe(C.Output) ||
         any_of(C.Inputs, [&](const Input &I) { return IsProbe(I.Path); });
}

} // namespace carve
