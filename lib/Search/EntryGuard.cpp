#include "Search/EntryGuard.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>

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

/// Returns which bytes of its argument \p V is, and their value.
static std::string valueText(const ArgumentValue &V) {
  const std::string Bytes = std::to_string(V.Bytes), Last = std::to_string(V.Offset + V.Bytes - 1),
                    Of = "parameter " + std::to_string(V.Parameter),
                    Is = " = " + std::to_string(V.Bits);
  if (V.Offset && V.Bytes == 1)
    return "byte " + Last + " of " + Of + Is;
  if (V.Offset)
    return "bytes " + std::to_string(V.Offset) + " to " + Last + " of " + Of + Is;
  if (V.Bytes == 1)
    return "lowest byte of " + Of + Is;
  if (V.Bytes == 2)
    return "lowest 2 bytes of " + Of + Is;
  return Of + Is + (V.Bytes == 4 ? "" : " (" + Bytes + " bytes)");
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
    Add(valueText(V));
  if (!Guard.Apart.empty()) {
    std::string Places = Guard.Apart.size() == 1 ? "parameter" : "parameters";
    for (const PointerPlace &P : Guard.Apart)
      Places +=
          " " + std::to_string(P.Parameter) + (P.Offset ? "+" + std::to_string(P.Offset) : "");
    Add(Places +
        (Guard.Apart.size() == 1 ? " points to an allocation" : " point to separate allocations"));
  }
  return Text.empty() ? "always" : Text;
}

/// Returns \p Share in percent, with one digit after the point where it is not whole, and rounded
/// so that only 1 is 100.
static std::string sharePercent(double Share) {
  int64_t Tenths = std::lround(Share * 1000);
  if (Share < 1)
    Tenths = std::min<int64_t>(Tenths, 999);
  if (Share > 0)
    Tenths = std::max<int64_t>(Tenths, 1);
  std::string Text = std::to_string(Tenths / 10);
  return Text + (Tenths % 10 ? "." + std::to_string(Tenths % 10) : "") + " %";
}

std::string carve::holdText(const GuardHold &Hold) {
  return std::string("held at ") + (Hold.AtMost ? "no more than " : "") +
         std::to_string(Hold.Held) + " of " + std::to_string(Hold.Launches) + " launches, " +
         sharePercent(Hold.Share) + " of its GPU time";
}

bool carve::heldMuchLess(const GuardHold &Tuned, const GuardHold &Now) {
  return Now.Launches > 0 && Now.Share < Tuned.Share / 2;
}

std::string carve::holdWarning(llvm::StringRef When, const std::optional<GuardHold> &Tuned,
                               const GuardHold &Now) {
  if (!Tuned || !heldMuchLess(*Tuned, Now))
    return "";
  return ("the further entry for launches with " + When + " was tuned for " +
          sharePercent(Tuned->Share) + " of the kernel's GPU time and has " +
          (Now.AtMost ? "at most " : "") + sharePercent(Now.Share) +
          " now: the other launches take nvcc's code; tune again")
      .str();
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
