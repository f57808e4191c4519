#include "Tune/Variants/SettingSource.h"

#include "Tune/Variants/KnobSpaces.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace carve;

SettingSource::SettingSource(const KnobSpace &Space, const TuningOptions &Options,
                             llvm::ArrayRef<VariantSetting> Earlier) {
  if (Options.Points == PointSet::Critical) {
    Search.emplace(Space, Options.Effort);
    Search->suggest(Earlier);
  } else if (Options.Points == PointSet::Decided)
    llvm::copy_if(Earlier, std::back_inserter(List),
                  [&](const VariantSetting &V) { return Space.allows(V); });
  else if (Options.Points == PointSet::All)
    List = allSettings(Space);
  else
    for (unsigned Cap : Space.Caps)
      List.push_back({.Cap = Cap});
}

std::vector<VariantSetting> SettingSource::propose(size_t Most) {
  return Search ? Search->propose(Most) : std::exchange(List, {});
}

void SettingSource::fill(std::vector<VariantSetting> &Proposed, size_t Most) const {
  if (Search)
    Search->fill(Proposed, Most);
}

std::vector<VariantSetting> SettingSource::admit(llvm::ArrayRef<VariantSetting> Tried,
                                                 std::vector<Candidate> Made, size_t Most) {
  if (Search)
    return Search->admit(Tried, std::move(Made), Most);
  std::vector<VariantSetting> All;
  for (const Candidate &C : Made)
    All.push_back(C.Setting);
  return All;
}

void SettingSource::forbid(llvm::ArrayRef<VariantSetting> Settings) {
  if (Search)
    Search->forbid(Settings);
}

void SettingSource::learn(const std::map<VariantSetting, double> &Ratios) {
  if (Search)
    Search->learn(Ratios);
}

SearchEnd SettingSource::end(llvm::ArrayRef<unsigned> Beyond) const {
  SearchEnd End;
  if (!Search)
    return End;
  KernelSearch::Rest Left = Search->rest();
  End.Untried = Left.Settings;
  End.Promise = Left.Promise;
  for (unsigned Cap : Beyond)
    if (double Gain = Search->promiseOf({.Cap = Cap});
        Gain >= std::max(LeastForbiddenPromise, End.ForbiddenPromise)) {
      End.ForbiddenPromise = Gain;
      End.ForbiddenCap = Cap;
    }
  return End;
}

double SettingSource::promise(llvm::ArrayRef<VariantSetting> Again) const {
  return Search ? Search->rest(Again).Promise : 0;
}

llvm::ArrayRef<CarvedVariant> SettingSource::finish() {
  if (!Search)
    return {};
  Search->finish();
  return Search->carved();
}
