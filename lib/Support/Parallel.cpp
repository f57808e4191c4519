#include "Support/Parallel.h"

#include "llvm/Support/ThreadPool.h"

using namespace carve;

void carve::runInParallel(size_t Count, llvm::function_ref<void(size_t)> Task, unsigned Most) {
  if (Count == 1)
    return Task(0);
  llvm::DefaultThreadPool Pool(llvm::hardware_concurrency(Most));
  for (size_t I = 0; I < Count; ++I)
    Pool.async([&Task, I] { Task(I); });
  Pool.wait();
}
