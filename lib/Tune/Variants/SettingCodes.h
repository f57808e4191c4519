/// \file
/// The codes that a setting of a kernel asks for: one, or one for each of the launches that it is
/// compiled for.
#pragma once

#include "Tune/Job/JobBuild.h"

#include <string>
#include <vector>

namespace carve {

/// A setting to compile.
struct SettingRequest {
  size_t Kernel = 0;      ///< The index of the job's kernel.
  VariantSetting Setting; ///< The default setting means the kernel as it is.
  /// If it has codes, the variant is composed of these, and Setting is the first's.
  Composition Composed = {};
};

/// One code of a kernel of the job.
struct SettingCode {
  size_t Kernel = 0; ///< The index of the job's kernel.
  VariantSetting Setting;
  KnownLaunch Known; ///< What the code relies on; empty if it is for all launches.

  auto operator<=>(const SettingCode &) const = default;
};

/// The name of the clone of \p Kernel with \p Setting, such as `_Z1kPf__carve_r40_f255`. With the
/// default setting, it is the name of the control copy.
std::string cloneName(llvm::StringRef Kernel, const VariantSetting &Setting);

/// The codes of \p R if it depends on the launch, in the order in which launches are compared with
/// them. With FrontEndKnob::KnownShapes there are several, and in a composition. They have no
/// resources and no digest yet.
std::vector<GuardedCode> guardedCodesOf(const TuningJob &Job, const SettingRequest &R);

/// The code of kernel number \p Kernel with \p Setting for launches of which \p Launch is true,
/// without what does not change it.
SettingCode codeFor(size_t Kernel, const VariantSetting &Setting, KnownLaunch Launch);

/// The codes that \p R asks for, in that order.
std::vector<SettingCode> codesOf(const TuningJob &Job, const SettingRequest &R);
/// The codes that \p Variant of kernel number \p Kernel has, in the same order.
std::vector<SettingCode> codesOf(size_t Kernel, const JobVariant &Variant);

/// What cicc is told for \p C.
FrontEndSetting flavourOf(const TuningJob &Job, const SettingCode &C);

} // namespace carve
