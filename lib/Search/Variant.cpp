#include "Search/Variant.h"

#include "Support/Error.h"

#include "llvm/ADT/SmallVector.h"

using namespace carve;

/// The values of LoadCaching that change loads, with their names.
static constexpr std::pair<LoadCaching, llvm::StringLiteral> LoadCachings[] = {
    {LoadCaching::L2Only, "cg"},
    {LoadCaching::EvictFirst, "cs"},
    {LoadCaching::NoAllocate, "noalloc"}};

llvm::StringRef carve::nameOf(LoadCaching Caching) {
  for (const auto &[Value, Name] : LoadCachings)
    if (Value == Caching)
      return Name;
  return "";
}

std::optional<LoadCaching> carve::loadCachingNamed(llvm::StringRef Name) {
  for (const auto &[Value, Known] : LoadCachings)
    if (Known == Name)
      return Value;
  return std::nullopt;
}

std::string carve::variantName(const VariantSetting &V) {
  std::string Name;
  auto Add = [&](const std::string &Part) { Name += (Name.empty() ? "" : "-") + Part; };
  if (V.Cap)
    Add("r" + std::to_string(*V.Cap));
  if (!V.frontEnd().isDefault())
    Add(nameOf(V.frontEnd()));
  if (V.KnownPtx)
    Add("knownptx");
  if (V.SmemSpilling)
    Add("smem");
  if (V.Loads != LoadCaching::AsCompiled)
    Add(nameOf(V.Loads).str());
  if (V.RegisterUsageLevel)
    Add("l" + std::to_string(*V.RegisterUsageLevel));
  if (V.OptimizationLevel)
    Add("o" + std::to_string(*V.OptimizationLevel));
  return Name.empty() ? "default" : Name;
}

/// Sets the knob that \p Part names in \p V. Returns false if \p Part names no knob.
static bool setPart(llvm::StringRef Part, VariantSetting &V) {
  unsigned Number = 0;
  bool Numbered = !Part.drop_front().getAsInteger(10, Number);
  if (Part == "smem")
    V.SmemSpilling = true;
  else if (Part == "knownptx")
    V.KnownPtx = true;
  else if (Part == RestrictName)
    V.Restrict = true;
  else if (std::optional<FrontEndKnob> Knob = frontEndKnobNamed(Part))
    V.FrontEnd = *Knob;
  else if (std::optional<LoadCaching> Loads = loadCachingNamed(Part))
    V.Loads = *Loads;
  else if (Numbered && Part.front() == 'r')
    V.Cap = Number;
  else if (Numbered && Part.front() == 'f')
    V.FrontEndCap = Number;
  else if (Numbered && Part.front() == 'l')
    V.RegisterUsageLevel = Number;
  else if (Numbered && Part.front() == 'o')
    V.OptimizationLevel = Number;
  else
    return false;
  return true;
}

llvm::Expected<VariantSetting> carve::parseVariantName(llvm::StringRef Name) {
  VariantSetting V;
  llvm::SmallVector<llvm::StringRef, 8> Parts;
  Name.split(Parts, '-');
  bool Sound = Name == "default" ||
               llvm::all_of(Parts, [&](llvm::StringRef P) { return !P.empty() && setPart(P, V); });
  if (!Sound || variantName(V) != Name)
    return malformed("variant '" + Name + "', expected default or r<cap>-f<front-end cap>-<" +
                     FrontEndKnobNames +
                     ">-restrict-knownptx-smem-<cg, cs or noalloc>-l<level>-o<level>, with only "
                     "the parts that are set");
  return V;
}
