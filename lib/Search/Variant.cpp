#include "Search/Variant.h"

#include "Support/Error.h"

#include "llvm/ADT/SmallVector.h"

using namespace carve;

std::string carve::variantName(const VariantSetting &V) {
  std::string Name;
  auto Add = [&](const std::string &Part) { Name += (Name.empty() ? "" : "-") + Part; };
  if (V.Cap)
    Add("r" + std::to_string(*V.Cap));
  if (V.FrontEndCap)
    Add("f" + std::to_string(*V.FrontEndCap));
  if (V.SmemSpilling)
    Add("smem");
  if (V.Loads == LoadCaching::L2Only)
    Add("cg");
  if (V.RegisterUsageLevel)
    Add("l" + std::to_string(*V.RegisterUsageLevel));
  return Name.empty() ? "default" : Name;
}

/// Sets the knob that \p Part names in \p V. Returns false if \p Part names no knob.
static bool setPart(llvm::StringRef Part, VariantSetting &V) {
  unsigned Number = 0;
  bool Numbered = !Part.drop_front().getAsInteger(10, Number);
  if (Part == "smem")
    V.SmemSpilling = true;
  else if (Part == "cg")
    V.Loads = LoadCaching::L2Only;
  else if (Numbered && Part.front() == 'r')
    V.Cap = Number;
  else if (Numbered && Part.front() == 'f')
    V.FrontEndCap = Number;
  else if (Numbered && Part.front() == 'l')
    V.RegisterUsageLevel = Number;
  else
    return false;
  return true;
}

llvm::Expected<VariantSetting> carve::parseVariantName(llvm::StringRef Name) {
  VariantSetting V;
  llvm::SmallVector<llvm::StringRef, 5> Parts;
  Name.split(Parts, '-');
  bool Sound = Name == "default" ||
               llvm::all_of(Parts, [&](llvm::StringRef P) { return !P.empty() && setPart(P, V); });
  if (!Sound || variantName(V) != Name)
    return malformed("variant '" + Name +
                     "', expected default or r<cap>-f<front-end cap>-smem-cg-l<level>, with only "
                     "the parts that are set");
  return V;
}
