#include "Store/StoreFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <map>

using namespace carve;
using Variables = std::map<std::string, std::string>;

/// Returns an environment that holds only \p Values.
static auto environmentOf(const Variables &Values) {
  return [Values](llvm::StringRef Name) -> std::optional<std::string> {
    auto Found = Values.find(Name.str());
    return Found == Values.end() ? std::nullopt : std::optional(Found->second);
  };
}

TEST(StoreFolder, storeRoot_environmentSet_isFound) {
  auto Root = [](const Variables &Env) { return storeRoot(environmentOf(Env)).value_or("-"); };
  EXPECT_EQ(Root({{"CARVE_STORE", "/s"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}), "/s");
  EXPECT_EQ(Root({{"CARVE_STORE", ""}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}), "/x/carve-nvcc");
  EXPECT_EQ(Root({{"XDG_CACHE_HOME", "x"}, {"HOME", "/h"}}), "/h/.cache/carve-nvcc");
  EXPECT_EQ(Root({{"HOME", "h"}}), "-");
  EXPECT_EQ(Root({}), "-");
  llvm::SmallString<128> Here;
  ASSERT_FALSE(llvm::sys::fs::current_path(Here));
  EXPECT_EQ(Root({{"CARVE_STORE", "rel"}}), (Here + "/rel").str());
}

TEST(StoreFolder, storeLimit_environmentSet_isInMegabytes) {
  EXPECT_EQ(storeLimit(environmentOf({{"CARVE_STORE_SIZE", "3"}})), uint64_t(3) << 20);
  EXPECT_EQ(storeLimit(environmentOf({{"CARVE_STORE_SIZE", "much"}})), uint64_t(5) << 30);
  EXPECT_EQ(storeLimit(environmentOf({})), uint64_t(5) << 30);
}
