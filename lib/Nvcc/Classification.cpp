#include "Nvcc/Classification.h"
#include "Support/Error.h"

using namespace llvm;

namespace carve {

Passthrough passthroughBecause(Error E) {
  Passthrough P;
  handleAllErrors(std::move(E), [&](const Unsupported &U) { P = {U.reason(), U.detail()}; });
  return P;
}

Classification classify(ArrayRef<std::string> Argv, const NvccEnvironment &Env) {
  Expected<CommandLine> Compile = parseCommandLine(Argv, Env);
  if (Compile)
    return std::move(*Compile);
  Error NoCompile = Compile.takeError();
  bool MayLink = NoCompile.isA<NoDeviceSource>();
  Passthrough Why = passthroughBecause(std::move(NoCompile));
  if (!MayLink)
    return Why;
  Expected<LinkLine> Link = parseLinkLine(Argv, Env);
  if (!Link)
    return passthroughBecause(Link.takeError());
  return DeviceCodeLink{std::move(*Link), std::move(Why)};
}

} // namespace carve
