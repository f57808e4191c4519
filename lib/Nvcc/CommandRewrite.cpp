// Makes commands from the user's own: redirected, relinked, capped.
#include "Nvcc/CommandRewrite.h"

#include "Nvcc/ArgumentList.h"
#include "Nvcc/ToolArguments.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace carve {

static void addOption(std::vector<Argument> &Arguments, StringRef Name, StringRef Value) {
  Arguments.push_back(
      {Argument::Kind::Option, findOption(Name), Value.str(), {Name.str(), Value.str()}, {}});
}

static bool spells(const Argument &A, StringRef Short) {
  return A.Option && A.Option->Short == Short;
}

static bool gives(ArrayRef<Argument> Arguments, StringRef Short) {
  return any_of(Arguments, [&](const Argument &A) { return spells(A, Short); });
}

/// Sets the names of the depfile and its target explicitly, as nvcc derives them for the original
/// output.
static void pinDepfile(const CommandLine &C, std::vector<Argument> &Arguments) {
  std::string Target = C.Output;
  if (!gives(Arguments, "-o")) {
    auto Source =
        find_if(C.Inputs, [](const Input &I) { return I.Kind == InputKind::DeviceSource; });
    Target = (sys::path::stem(Source->Path) + ".o").str();
  }
  if (!gives(Arguments, "-MT"))
    addOption(Arguments, "-MT", Target);
  if (!gives(Arguments, "-MF"))
    addOption(Arguments, "-MF", C.Depfile);
}

static void redirect(const CommandLine &C, StringRef Path, std::vector<Argument> &Arguments) {
  if (C.WritesDepfile)
    pinDepfile(C, Arguments);
  // nvcc warns about a second -o and uses the last, so existing ones stay in their places.
  for (Argument &A : reverse(Arguments)) {
    if (!A.is(Effect::Output))
      continue;
    A.Value = Path.str();
    A.Words = {A.Option->Short.str(), A.Value};
    return;
  }
  addOption(Arguments, "-o", Path);
}

std::vector<std::string> withOutput(const CommandLine &C, StringRef Path) {
  std::vector<Argument> Arguments = splitArguments(C.Expanded);
  redirect(C, Path, Arguments);
  return joinArguments(Arguments);
}

std::vector<std::string> withRegisterCap(const CommandLine &C, unsigned Cap, StringRef Path) {
  std::vector<Argument> Arguments = withoutRegisterCaps(splitArguments(C.Expanded));
  redirect(C, Path, Arguments);
  addOption(Arguments, "-maxrregcount", std::to_string(Cap));
  return joinArguments(Arguments);
}

std::vector<std::string> relinkArguments(const CommandLine &C,
                                         const StringMap<std::string> &ObjectOf, StringRef Path) {
  // -x would make nvcc take objects for sources, and -M* would write a second depfile.
  std::vector<Argument> Kept;
  for (Argument &A : splitArguments(C.Expanded)) {
    if (A.is(Effect::Language) || A.is(Effect::Dependency) || A.is(Effect::Output))
      continue;
    auto Object = A.Is == Argument::Kind::Input ? ObjectOf.find(A.Value) : ObjectOf.end();
    if (Object != ObjectOf.end())
      A.Words = {Object->second};
    Kept.push_back(std::move(A));
  }
  addOption(Kept, "-o", Path);
  return joinArguments(Kept);
}

std::vector<std::string> compileOneArguments(const CommandLine &C, StringRef Source,
                                             StringRef Path) {
  std::vector<Argument> Kept;
  bool Compiles = false;
  for (Argument &A : splitArguments(C.Expanded)) {
    if (A.is(Effect::Dependency) || A.is(Effect::Output) || spells(A, "-link") ||
        spells(A, "-shared") || (A.Is == Argument::Kind::Input && A.Value != Source))
      continue;
    Compiles |= spells(A, "-c") || spells(A, "-dc") || spells(A, "-dw");
    Kept.push_back(std::move(A));
  }
  if (!Compiles)
    Kept.push_back({Argument::Kind::Option, findOption("-c"), "", {"-c"}, {}});
  addOption(Kept, "-o", Path);
  return joinArguments(Kept);
}

} // namespace carve
