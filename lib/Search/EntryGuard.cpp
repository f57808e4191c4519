#include "Search/EntryGuard.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace carve;

unsigned EntryGuard::mostThreads() const {
  uint64_t Most = MaxThreads.value_or(MaxLaunchThreads);
  if (Block)
    Most = std::min<uint64_t>(Most, uint64_t((*Block)[0]) * (*Block)[1] * (*Block)[2]);
  return unsigned(std::min<uint64_t>(Most, MaxLaunchThreads));
}

std::string carve::furtherEntryName(llvm::StringRef Kernel, size_t Index) {
  return (Kernel + "__carve_e" + llvm::Twine(Index + 1)).str();
}

std::string carve::dimensionsText(const std::array<unsigned, 3> &Dimensions) {
  return std::to_string(Dimensions[0]) + "x" + std::to_string(Dimensions[1]) + "x" +
         std::to_string(Dimensions[2]);
}

std::string carve::guardText(const EntryGuard &Guard) {
  std::string Text;
  auto Add = [&](const std::string &Part) { Text += (Text.empty() ? "" : ", ") + Part; };
  if (Guard.MaxThreads)
    Add("threads <= " + std::to_string(*Guard.MaxThreads));
  if (Guard.Block)
    Add("block " + dimensionsText(*Guard.Block));
  if (Guard.Grid)
    Add("grid " + dimensionsText(*Guard.Grid));
  for (const ArgumentValue &V : Guard.Arguments)
    Add("parameter " + std::to_string(V.Parameter) +
        (V.Offset ? " + " + std::to_string(V.Offset) : "") + " = " + std::to_string(V.Bits));
  return Text.empty() ? "always" : Text;
}

std::optional<std::array<unsigned, 3>> carve::parseDimensions(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef, 3> Parts;
  Text.split(Parts, 'x');
  std::array<unsigned, 3> Dimensions;
  if (Parts.size() != Dimensions.size())
    return std::nullopt;
  for (size_t I = 0; I < Parts.size(); ++I)
    if (Parts[I].getAsInteger(10, Dimensions[I]) || Dimensions[I] == 0 ||
        std::to_string(Dimensions[I]) != Parts[I])
      return std::nullopt;
  return Dimensions;
}
