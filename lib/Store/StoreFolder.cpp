#include "Store/StoreFolder.h"

#include "Support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace path = llvm::sys::path;

static std::optional<std::string> absoluteVariable(GetEnv Env, llvm::StringRef Name) {
  std::optional<std::string> Value = Env(Name);
  if (!Value || Value->empty())
    return std::nullopt;
  llvm::SmallString<256> Absolute(*Value);
  path::native(Absolute);
  if (llvm::sys::fs::make_absolute(Absolute))
    return std::nullopt;
  return Absolute.str().str();
}

std::optional<std::string> carve::siteRoot(GetEnv Env) {
  return absoluteVariable(Env, "CARVE_STORE_SITE");
}

UnitStore carve::storeAt(std::string Root, GetEnv Env) {
  return UnitStore(std::move(Root), siteRoot(Env).value_or(""));
}

std::optional<std::string> carve::storeRoot(GetEnv Env) {
  if (auto Root = Env("CARVE_STORE"); Root && !Root->empty())
    return absoluteVariable(Env, "CARVE_STORE");
  if (auto Cache = Env("XDG_CACHE_HOME"); Cache && path::is_absolute(*Cache))
    return *Cache + "/carve-nvcc";
  if (auto Home = Env("HOME"); Home && path::is_absolute(*Home))
    return *Home + "/.cache/carve-nvcc";
  return std::nullopt;
}

uint64_t carve::storeLimit(GetEnv Env) {
  uint64_t Megabytes = 0;
  if (auto Text = Env("CARVE_STORE_SIZE");
      Text && !llvm::StringRef(*Text).getAsInteger(10, Megabytes))
    return Megabytes << 20;
  return uint64_t(5) << 30;
}

llvm::Expected<std::string> carve::storeFolder(GetEnv Env) {
  if (std::optional<std::string> Root = storeRoot(Env)) {
    if (const std::string Why = UnitStore(*Root).refusal(); !Why.empty())
      return usageError("the store is not used: " + Why);
    return *Root;
  }
  return usageError("no store: CARVE_STORE, XDG_CACHE_HOME and HOME are all unset");
}
