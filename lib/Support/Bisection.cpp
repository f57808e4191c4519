#include "Support/Bisection.h"
#include "Support/Parallel.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace carve;

std::vector<size_t> carve::findFailing(size_t Count,
                                       llvm::function_ref<bool(llvm::ArrayRef<size_t>)> Fails) {
  std::vector<size_t> All(Count), Found;
  std::iota(All.begin(), All.end(), 0);
  std::vector<llvm::ArrayRef<size_t>> Parts;
  if (Count > 0)
    Parts.push_back(All);
  // The whole is known to fail, unless it is the only part.
  bool Known = Count > 1;
  while (!Parts.empty()) {
    std::vector<char> Failed(Parts.size(), Known ? 1 : 0);
    if (!Known)
      runInParallel(Parts.size(), [&](size_t I) { Failed[I] = Fails(Parts[I]) ? 1 : 0; });
    Known = false;
    std::vector<llvm::ArrayRef<size_t>> Halves;
    for (size_t I = 0; I < Parts.size(); ++I) {
      llvm::ArrayRef<size_t> Part = Parts[I];
      if (!Failed[I])
        continue;
      if (Part.size() == 1) {
        Found.push_back(Part.front());
        continue;
      }
      Halves.push_back(Part.take_front(Part.size() / 2));
      Halves.push_back(Part.drop_front(Part.size() / 2));
    }
    Parts = std::move(Halves);
  }
  llvm::sort(Found);
  return Found;
}
