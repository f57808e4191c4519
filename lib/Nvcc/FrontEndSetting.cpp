#include "Nvcc/FrontEndSetting.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;
using llvm::StringLiteral;

namespace {

/// A knob with its name.
struct NamedKnob {
  FrontEndKnob Knob;
  StringLiteral Name;
};

constexpr NamedKnob Names[] = {
    {FrontEndKnob::NewerLlvm, "newllvm"},           {FrontEndKnob::NewerLlvmRolled, "newrolled"},
    {FrontEndKnob::UnrollMore, "unroll"},           {FrontEndKnob::UnrollByTwo, "unroll2"},
    {FrontEndKnob::NoRematerialization, "noremat"}, {FrontEndKnob::KnownLaunch, "known"},
    {FrontEndKnob::KnownShapes, "shapes"}};

// cicc hands what follows `--Xopt` to its LLVM. The thresholds are several times LLVM's own.
constexpr StringLiteral UnrollMore[] = {"--Xopt", "-unroll-partial-threshold=1000", "--Xopt",
                                        "-unroll-threshold=2000"};
constexpr StringLiteral UnrollByTwo[] = {"--Xopt", "-unroll-count=2"};
constexpr StringLiteral NoRematerialization[] = {"--Xopt", "-nv-disable-remat"};
// cicc chooses its LLVM by the architecture.
constexpr unsigned NewerFrom = 100;
constexpr StringLiteral NewerLlvm[] = {"-arch", "compute_100"};
constexpr StringLiteral NewerLlvmRolled[] = {"-arch", "compute_100", "--Xopt",
                                             "-unroll-max-count=1"};
// What `nvcc -restrict` tells cicc.
constexpr StringLiteral AllRestrict = "-kernel-params-are-restrict";

} // namespace

llvm::ArrayRef<FrontEndKnob> carve::frontEndKnobs() {
  static constexpr FrontEndKnob All[] = {
      FrontEndKnob::KnownLaunch, FrontEndKnob::KnownShapes, FrontEndKnob::NewerLlvmRolled,
      FrontEndKnob::NewerLlvm,   FrontEndKnob::UnrollMore,  FrontEndKnob::NoRematerialization,
      FrontEndKnob::UnrollByTwo};
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
  case FrontEndKnob::KnownLaunch:
  case FrontEndKnob::KnownShapes:
    return {};
  case FrontEndKnob::NewerLlvm:
    return NewerLlvm;
  case FrontEndKnob::NewerLlvmRolled:
    return NewerLlvmRolled;
  case FrontEndKnob::UnrollMore:
    return UnrollMore;
  case FrontEndKnob::UnrollByTwo:
    return UnrollByTwo;
  case FrontEndKnob::NoRematerialization:
    return NoRematerialization;
  }
  return {};
}

const StringLiteral carve::FrontEndKnobNames =
    "newllvm, newrolled, unroll, unroll2, noremat, known or shapes";

bool carve::usesNewerLlvm(FrontEndKnob Knob) {
  return Knob == FrontEndKnob::NewerLlvm || Knob == FrontEndKnob::NewerLlvmRolled;
}

bool carve::appliesTo(FrontEndKnob Knob, llvm::ArrayRef<std::string> Arguments) {
  if (!usesNewerLlvm(Knob))
    return true;
  auto Option = llvm::find(Arguments, "-arch");
  if (Option == Arguments.end() || std::next(Option) == Arguments.end())
    return false;
  llvm::StringRef Name = *std::next(Option);
  unsigned Number = 0;
  return Name.consume_front("compute_") && !Name.consumeInteger(10, Number) && Number < NewerFrom;
}

bool carve::mayBeRestrict(llvm::ArrayRef<std::string> Arguments) {
  return !llvm::is_contained(Arguments, AllRestrict);
}

std::vector<std::string> carve::argumentsWith(FrontEndKnob Knob,
                                              llvm::ArrayRef<std::string> Arguments) {
  std::vector<std::string> All;
  for (size_t I = 0; I < Arguments.size(); ++I)
    if (usesNewerLlvm(Knob) && Arguments[I] == "-arch")
      ++I; // The architecture follows, and the knob has another.
    else
      All.push_back(Arguments[I]);
  for (llvm::StringRef Argument : ciccArguments(Knob))
    All.push_back(Argument.str());
  return All;
}

FrontEndSetting FrontEndSetting::forKernel(KnownKernel Kernel) const {
  FrontEndSetting Setting = *this;
  if (Knob != FrontEndKnob::KnownLaunch)
    Kernel.Launch = {};
  if (!Restrict)
    Kernel.Restrict.clear();
  Kernel.Launch.Apart.clear();
  if (changesText())
    Setting.Known = std::move(Kernel);
  return Setting;
}

std::string carve::nameOf(const FrontEndSetting &Setting) {
  std::string Name = Setting.Cap ? "f" + std::to_string(*Setting.Cap) : std::string();
  for (llvm::StringRef Part :
       {nameOf(Setting.Knob), llvm::StringRef(Setting.Restrict ? RestrictName : "")})
    Name += (Name.empty() || Part.empty() ? "" : "-") + Part.str();
  return Name;
}
