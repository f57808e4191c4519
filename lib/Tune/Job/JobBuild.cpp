#include "Tune/Job/JobBuild.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

JobBuild::JobBuild(const TuningJob &Job)
    : Kernels(Job.Kernels.size()), Modules(Job.Modules.size()) {
  for (size_t K = 0; K < Kernels.size(); ++K)
    Kernels[K].Default = Job.Kernels[K].Region.Default;
}

std::vector<std::string> carve::namesOf(llvm::ArrayRef<JobVariant> Variants) {
  std::vector<std::string> Names;
  for (const JobVariant &V : Variants)
    Names.push_back(Names.empty()       ? DefaultVariant
                    : Names.size() == 1 ? ControlVariant
                                        : nameOf(V));
  return Names;
}

std::string carve::nameOf(const JobVariant &Variant) {
  if (!Variant.Purpose.empty())
    return Variant.Purpose;
  return isComposed(Variant) ? Variant.Composed : variantName(Variant.Setting);
}

/// Whether \p Holds is true of the setting of \p Variant or of one of its codes.
static bool anySetting(const JobVariant &Variant,
                       llvm::function_ref<bool(const VariantSetting &)> Holds) {
  return Holds(Variant.Setting) ||
         llvm::any_of(Variant.Codes, [&](const GuardedCode &C) { return Holds(C.Setting); });
}

bool carve::evictsFirst(const JobVariant &Variant) {
  return anySetting(Variant,
                    [](const VariantSetting &S) { return S.Loads == LoadCaching::EvictFirst; });
}

bool carve::needsComparedOutput(const JobVariant &Variant) {
  return anySetting(Variant, [](const VariantSetting &S) { return S.needsComparedOutput(); });
}

std::string carve::compositionName(llvm::ArrayRef<Composition::Code> Codes, bool WithDefault) {
  std::vector<std::string> Names;
  for (const Composition::Code &C : Codes)
    Names.push_back(variantName(C.Setting));
  if (WithDefault)
    Names.push_back(variantName({}));
  return llvm::join(Names, "+");
}

void carve::summarizeCodes(JobVariant &Variant) {
  const GuardedCode &First = Variant.Codes.front();
  Variant.CloneName = First.CloneName;
  Variant.Resources = First.Resources;
  std::vector<llvm::StringRef> Digests;
  for (const GuardedCode &C : Variant.Codes)
    Digests.push_back(C.CodeDigest);
  // Codes that are all the same, such as the default's, are one code.
  Variant.CodeDigest = llvm::all_equal(Digests) ? First.CodeDigest : llvm::join(Digests, " ");
}

bool JobBuild::times(const JobModule &Module) const {
  return llvm::any_of(Module.Kernels, [&](size_t K) { return Kernels[K].timedTogether() > 0; });
}

size_t KernelBuild::timedTogether() const {
  return llvm::count_if(Variants, [](const JobVariant &V) { return V.InModule; });
}
