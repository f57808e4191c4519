// Device links in the store: their record, and the way from a container to a link.
#include "Store/LinkJson.h"
#include "Store/StoreLayout.h"
#include "Store/StoreUpkeep.h"
#include "Store/UnitStore.h"

#include "StoreTesting.h"
#include "Support/NewerFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;

namespace {

class DeviceLinkStore : public StoreTest {
protected:
  UnitStore store() const { return UnitStore(Root); }
  std::vector<std::string> keysOf(const std::string &Container) const {
    std::vector<std::string> Keys;
    for (const DeviceLink &L : store().linksOfContainer(Container))
      Keys.push_back(L.Key);
    return Keys;
  }
};

using Keys = std::vector<std::string>;

} // namespace

TEST(LinkJson, link_writtenAndRead_keepsEveryMember) {
  DeviceLink L = sampleLink();
  L.Images[0].CubinDigest = "c";
  DeviceLink Back = valueOf(parseLink(printLink(L), "l.json"));
  EXPECT_EQ(Back.Key, L.Key);
  EXPECT_EQ(Back.Project, L.Project);
  EXPECT_EQ(Back.Output, L.Output);
  EXPECT_EQ(Back.Directory, L.Directory);
  EXPECT_EQ(Back.Command, L.Command);
  EXPECT_EQ(Back.Nvcc, L.Nvcc);
  EXPECT_EQ(Back.NvccVersion, L.NvccVersion);
  EXPECT_EQ(Back.Containers, L.Containers);
  ASSERT_EQ(Back.Inputs.size(), 2u);
  EXPECT_EQ(Back.Inputs[0].Containers, L.Inputs[0].Containers);
  EXPECT_EQ(Back.Inputs[1].Path, "liba.a");
  EXPECT_EQ(Back.Inputs[1].Member, "b.o");
  EXPECT_EQ(Back.Inputs[1].Index, 1u);
  ASSERT_EQ(Back.Images.size(), 1u);
  EXPECT_EQ(Back.Images[0].Arch, "sm_90");
  EXPECT_EQ(Back.Images[0].CubinDigest, "c");
  EXPECT_EQ(Back.Images[0].NvlinkOptions, L.Images[0].NvlinkOptions);
}

TEST(LinkJson, otherContent_read_isRefused) {
  EXPECT_EQ(messageOf(parseLink("{}", "l.json")),
            "l.json: not a link record: expected an object with 'carve-link': 1");
  EXPECT_TRUE(parseLink("{\"carve-link\": 2}", "l.json").takeError().isA<NewerFormat>());
  EXPECT_EQ(messageOf(parseLink("{\"carve-link\": 1}", "l.json")),
            "l.json: missing value at link.key");
}

TEST_F(DeviceLinkStore, container_ofLinkOrUnit_leadsToItsOwnKind) {
  DeviceLink L = sampleLink();
  Unit U = sampleUnit();
  ASSERT_EQ(messageOf(store().putLink(L)), "");
  ASSERT_EQ(messageOf(store().putUnit(U)), "");
  EXPECT_EQ(keysOf(L.Containers[0]), Keys{L.Key});
  EXPECT_TRUE(store().unitsOfContainer(L.Containers[0]).empty());
  EXPECT_TRUE(keysOf(U.Containers[0]).empty());
  EXPECT_EQ(store().links().size(), 1u);
  EXPECT_EQ(storeStats(store()).Links, 1u);
  EXPECT_EQ(storeStats(store()).Units, 1u);
  EXPECT_TRUE(verifyStore(store(), /*Repair=*/false).empty());
  // After the second link, the old container no longer leads here.
  std::string Old = std::exchange(L.Containers[0], "dddddddddddddddddddddddddddddddd");
  ASSERT_EQ(messageOf(store().putLink(L)), "");
  EXPECT_TRUE(keysOf(Old).empty());
  EXPECT_EQ(keysOf(L.Containers[0]), Keys{L.Key});
}

TEST_F(DeviceLinkStore, key_sameOutput_isEqual) {
  EXPECT_EQ(linkKey("/p", "/p/b", "app"), linkKey("/p", "/p", "b/../b/app"));
  EXPECT_NE(linkKey("/p", "/p/b", "app"), linkKey("/p", "/p", "app"));
  EXPECT_NE(linkKey("/p", "/p", "app"), unitKey("/p", "/p", "", "app"));
}

TEST_F(DeviceLinkStore, link_blobMissing_isFoundAndPruned) {
  DeviceLink L = sampleLink();
  L.Images[0].CubinDigest = valueOf(store().putBlob("linked"));
  ASSERT_EQ(messageOf(store().putLink(L)), "");
  EXPECT_TRUE(verifyStore(store(), /*Repair=*/false).empty());
  llvm::sys::fs::remove(blobPath(Root, L.Images[0].CubinDigest));
  std::vector<StoreFault> Faults = verifyStore(store(), /*Repair=*/false);
  ASSERT_EQ(Faults.size(), 1u);
  EXPECT_NE(Faults[0].What.find("refers to blob"), std::string::npos) << Faults[0].What;
  EXPECT_EQ(messageOf(pruneStore(store(), 1)), "");
  EXPECT_TRUE(store().links().empty());
  EXPECT_TRUE(keysOf(L.Containers[0]).empty());
  for (const std::string &File : files())
    EXPECT_TRUE(File == Root + "/lock" || File == Root + "/pruned") << File;
}

TEST_F(DeviceLinkStore, link_storeCleared_isRemoved) {
  ASSERT_EQ(messageOf(store().putLink(sampleLink())), "");
  ASSERT_EQ(messageOf(clearStore(store())), "");
  EXPECT_TRUE(files().empty());
}
