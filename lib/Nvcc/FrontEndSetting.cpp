#include "Nvcc/FrontEndSetting.h"

using namespace carve;
using llvm::StringLiteral;

namespace {

/// A knob with its name.
struct NamedKnob {
  FrontEndKnob Knob;
  StringLiteral Name;
};

constexpr NamedKnob Names[] = {{FrontEndKnob::UnrollMore, "unroll"},
                               {FrontEndKnob::UnrollByTwo, "unroll2"},
                               {FrontEndKnob::NoRematerialization, "noremat"}};

// cicc hands what follows `--Xopt` to its LLVM. The thresholds are several times LLVM's own.
constexpr StringLiteral UnrollMore[] = {"--Xopt", "-unroll-partial-threshold=1000", "--Xopt",
                                        "-unroll-threshold=2000"};
constexpr StringLiteral UnrollByTwo[] = {"--Xopt", "-unroll-count=2"};
constexpr StringLiteral NoRematerialization[] = {"--Xopt", "-nv-disable-remat"};

} // namespace

llvm::ArrayRef<FrontEndKnob> carve::frontEndKnobs() {
  static constexpr FrontEndKnob All[] = {
      FrontEndKnob::UnrollMore, FrontEndKnob::NoRematerialization, FrontEndKnob::UnrollByTwo};
  static_assert(std::size(All) == std::size(Names));
  return All;
}

llvm::StringRef carve::nameOf(FrontEndKnob Knob) {
  for (const NamedKnob &Known : Names)
    if (Known.Knob == Knob)
      return Known.Name;
  return "";
}

std::optional<FrontEndKnob> carve::frontEndKnobNamed(llvm::StringRef Name) {
  for (const NamedKnob &Known : Names)
    if (Known.Name == Name)
      return Known.Knob;
  return std::nullopt;
}

llvm::ArrayRef<StringLiteral> carve::ciccArguments(FrontEndKnob Knob) {
  switch (Knob) {
  case FrontEndKnob::None:
    return {};
  case FrontEndKnob::UnrollMore:
    return UnrollMore;
  case FrontEndKnob::UnrollByTwo:
    return UnrollByTwo;
  case FrontEndKnob::NoRematerialization:
    return NoRematerialization;
  }
  return {};
}

std::string carve::nameOf(const FrontEndSetting &Setting) {
  std::string Name = Setting.Cap ? "f" + std::to_string(*Setting.Cap) : std::string();
  llvm::StringRef Knob = nameOf(Setting.Knob);
  return Name + (Name.empty() || Knob.empty() ? "" : "-") + Knob.str();
}
