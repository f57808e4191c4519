#include "Report/HtmlVariant.h"

#include "Report/HtmlText.h"
#include "Search/Variant.h"
#include "Store/Profile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace carve;

static ShownVariant shownDefault(const KernelReport &K) {
  ShownVariant D;
  D.Name = "default";
  D.Fate = VariantFate::Default;
  D.Ratio = {1, 1, 1};
  D.Regs = K.RegsBefore;
  D.SpillBytes = K.SpillBefore;
  D.Occupancy = K.OccupancyBefore;
  D.LocalBytes = K.LocalBytesBefore;
  D.Efficiency = K.EfficiencyBefore;
  D.Utilization = K.UtilizationBefore;
  return D;
}

static ShownVariant shown(const VariantReport &V) {
  ShownVariant S;
  S.Name = V.Name;
  S.Ratio = {V.Ratio, V.RatioLow, V.RatioHigh};
  S.Regs = V.Regs;
  S.SpillBytes = V.SpillBytes;
  S.Occupancy = V.Occupancy;
  S.LocalBytes = V.LocalBytes;
  S.Efficiency = V.Efficiency;
  S.Utilization = V.Utilization;
  S.Why = V.Carved.empty() ? V.Fault : V.Carved;
  S.Fate = !V.Carved.empty()  ? VariantFate::Carved
           : !V.Fault.empty() ? VariantFate::Rejected
           : V.Ratio > 0      ? VariantFate::Timed
                              : VariantFate::NotTimed;
  if (llvm::Expected<VariantSetting> Setting = parseVariantName(V.Name)) {
    S.FrontEnd = !Setting->frontEnd().isDefault();
    S.SmemSpilling = Setting->SmemSpilling;
    S.OtherCaching = Setting->Loads != LoadCaching::AsCompiled;
    S.Assembler = !Setting->assembler().isDefault();
  } else {
    // A newer carve may know other knobs. The mark then shows none.
    llvm::consumeError(Setting.takeError());
  }
  return S;
}

std::vector<ShownVariant> carve::shownVariants(const KernelReport &K) {
  std::vector<ShownVariant> All{shownDefault(K)};
  for (const VariantReport &V : K.Variants)
    All.push_back(shown(V));
  for (const VariantReport &V : K.Carved)
    All.push_back(shown(V));
  std::string Chosen = K.Tuned ? K.Variant : "default";
  for (ShownVariant &V : All)
    V.Chosen = V.Name == Chosen && V.Fate != VariantFate::Carved;
  auto Key = [](const ShownVariant &V) {
    bool Cut = V.Fate == VariantFate::Carved;
    return std::make_tuple(V.Fate != VariantFate::Default, Cut, !V.hasTime(),
                           V.hasTime() ? V.Ratio.Median : V.Regs);
  };
  llvm::stable_sort(All, [&](const auto &A, const auto &B) { return Key(A) < Key(B); });
  return All;
}

SpillMeasure carve::spillMeasure(llvm::ArrayRef<ShownVariant> Variants, llvm::StringRef Scope) {
  if (Scope == "file")
    return SpillMeasure::Unknown;
  // If some variant spills in its code but has no traffic, the traffic is not known for all
  // variants.
  bool Known = llvm::any_of(Variants, [](const auto &V) { return V.LocalBytes > 0; }) &&
               llvm::none_of(Variants, [](const auto &V) {
                 return V.SpillBytes > 0 && V.LocalBytes == 0 && V.Fate != VariantFate::Default;
               });
  return Known ? SpillMeasure::LocalBytes : SpillMeasure::SpillBytes;
}

double carve::spillOf(const ShownVariant &V, SpillMeasure Measure) {
  return Measure == SpillMeasure::LocalBytes ? V.LocalBytes : V.SpillBytes;
}

std::string carve::ratioText(const RatioInterval &R) {
  std::string Text = fixedText(R.Median, 3);
  if (R.High > 0)
    Text += " [" + fixedText(R.Low, 3) + ", " + fixedText(R.High, 3) + "]";
  return Text;
}

std::string carve::fateText(const ShownVariant &V) {
  switch (V.Fate) {
  case VariantFate::Rejected:
    return "rejected: " + V.Why;
  case VariantFate::Carved:
    return "carved away: " + V.Why;
  case VariantFate::NotTimed:
    return "not timed";
  case VariantFate::Default:
    return V.Chosen ? "chosen: stays" : "";
  case VariantFate::Timed:
    return V.Chosen ? "chosen" : "";
  }
  return "";
}

std::string carve::describeVariant(const ShownVariant &V, SpillMeasure Measure) {
  std::string Text = V.Name + ": ";
  if (V.Fate == VariantFate::Default)
    Text += "nvcc's own code; ";
  else if (V.hasTime())
    Text += ratioText(V.Ratio) + " of the default's time; ";
  Text += std::to_string(V.Regs) + " registers";
  if (V.Occupancy > 0)
    Text += "; occupancy " + occupancyText(V.Occupancy);
  if (Measure == SpillMeasure::LocalBytes)
    Text += "; local traffic " + shortNumber(V.LocalBytes) + " bytes a thread";
  else if (Measure == SpillMeasure::SpillBytes)
    Text += "; spills " + std::to_string(V.SpillBytes) + " bytes";
  if (std::string Fate = fateText(V); !Fate.empty())
    Text += "; " + Fate;
  return Text;
}

namespace {

/// Returns the name of a shape. The outline tells the front end or the level, the inside tells
/// the other knobs.
std::string shapeOf(const ShownVariant &V) {
  if (V.Fate == VariantFate::Default)
    return "default";
  std::string Inside = V.SmemSpilling   ? V.OtherCaching ? "-both" : "-smem"
                       : V.OtherCaching ? "-cg"
                                        : "";
  return (V.Assembler ? "level" : V.FrontEnd ? "front" : "cap") + Inside;
}

std::string hueOf(const ShownVariant &V) {
  if (V.SmemSpilling)
    return V.OtherCaching ? "both" : "smem";
  return V.OtherCaching ? "cg" : "cap";
}

constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Outlines[] = {
    {"cap", "<circle r=\"5\"/>"},
    {"front", "<path d=\"M0-6.6L6.6 0L0 6.6L-6.6 0Z\"/>"},
    {"level", "<path d=\"M-5-5H5V5H-5Z\"/>"}};
constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Insides[] = {
    {"", ""},
    {"-smem", "<circle class=\"in\" r=\"2\"/>"},
    {"-cg", "<path class=\"in\" d=\"M-3.2-1H3.2V1H-3.2Z\"/>"},
    {"-both", "<path class=\"in\" d=\"M-3.2-1H-1V-3.2H1V-1H3.2V1H1V3.2H-1V1H-3.2Z\"/>"}};

} // namespace

std::string carve::markClasses(const ShownVariant &V) {
  static constexpr llvm::StringLiteral Fates[] = {"default", "timed", "rejected", "untimed",
                                                  "carved"};
  std::string Classes = Fates[size_t(V.Fate)].str();
  if (V.Fate != VariantFate::Default)
    Classes += " hue-" + hueOf(V);
  if (V.Chosen)
    Classes += " chosen";
  return Classes;
}

std::string carve::glyphDefinitions() {
  std::string Text = "<svg class=\"definitions\" width=\"0\" height=\"0\" aria-hidden=\"true\" "
                     "focusable=\"false\"><defs>\n";
  for (const auto &[Outline, Path] : Outlines)
    for (const auto &[Inside, Mark] : Insides)
      Text += llvm::formatv("<g id=\"m-{0}{1}\">{2}{3}</g>\n", Outline, Inside, Path, Mark).str();
  Text += "<g id=\"m-default\"><circle class=\"ring\" r=\"5\"/></g>\n"
          "<g id=\"m-out\"><path class=\"cross\" d=\"M-4-4L4 4M-4 4L4-4\"/></g>\n"
          "<g id=\"m-point\"><path d=\"M-4.5 0L4.5 0L0-7Z\"/></g>\n"
          "</defs></svg>\n";
  return Text;
}

std::string carve::glyph(const ShownVariant &V, double X, double Y) {
  std::string At = llvm::formatv("x=\"{0:F2}%\" y=\"{1:F1}\"", X, Y).str();
  std::string Text;
  if (V.Chosen)
    Text += llvm::formatv("<circle class=\"winner\" cx=\"{0:F2}%\" cy=\"{1:F1}\" r=\"9.5\"/>", X, Y)
                .str();
  std::string Shape = V.Fate == VariantFate::Rejected ? "out" : shapeOf(V);
  return Text + "<use href=\"#m-" + Shape + "\" " + At + "/>";
}

static std::string legendEntry(const ShownVariant &V, llvm::StringRef Words) {
  return "<li><svg width=\"22\" height=\"22\" aria-hidden=\"true\" focusable=\"false\"><g "
         "class=\"" +
         markClasses(V) + "\">" + glyph(V, 50, 11) + "</g></svg>" + Words.str() + "</li>";
}

std::string carve::printLegend(llvm::ArrayRef<ShownVariant> Variants) {
  std::string Text = "<ul class=\"legend\">";
  ShownVariant Sample = Variants.front();
  Sample.Chosen = false;
  Text += legendEntry(Sample, "default");
  // The properties of marks, in the order of the outlines.
  auto Entry = [&](llvm::StringRef Words, auto Set, auto Occurs) {
    if (llvm::none_of(Variants, Occurs))
      return;
    ShownVariant V;
    Set(V);
    Text += legendEntry(V, Words);
  };
  auto Told = [](const ShownVariant &V) {
    return V.Fate != VariantFate::Default && V.Fate != VariantFate::Rejected;
  };
  Entry(
      "register cap alone", [](auto &) {},
      [&](const auto &V) {
        return Told(V) && !V.FrontEnd && !V.Assembler && !V.SmemSpilling && !V.OtherCaching;
      });
  Entry(
      "front end set, too", [](auto &V) { V.FrontEnd = true; },
      [&](const auto &V) { return Told(V) && V.FrontEnd; });
  Entry(
      "spills to shared memory", [](auto &V) { V.SmemSpilling = true; },
      [&](const auto &V) { return Told(V) && V.SmemSpilling && !V.OtherCaching; });
  Entry(
      "other load caching", [](auto &V) { V.OtherCaching = true; },
      [&](const auto &V) { return Told(V) && V.OtherCaching && !V.SmemSpilling; });
  Entry(
      "both of these", [](auto &V) { V.OtherCaching = V.SmemSpilling = true; },
      [&](const auto &V) { return Told(V) && V.OtherCaching && V.SmemSpilling; });
  Entry(
      "settings of ptxas", [](auto &V) { V.Assembler = true; },
      [&](const auto &V) { return Told(V) && V.Assembler; });
  Entry(
      "carved away, not timed", [](auto &V) { V.Fate = VariantFate::Carved; },
      [](const auto &V) { return V.Fate == VariantFate::Carved; });
  Entry(
      "rejected", [](auto &V) { V.Fate = VariantFate::Rejected; },
      [](const auto &V) { return V.Fate == VariantFate::Rejected; });
  Sample = ShownVariant();
  Sample.Chosen = true;
  Text += legendEntry(Sample, "ring: what the kernel runs with");
  return Text + "</ul>\n";
}
