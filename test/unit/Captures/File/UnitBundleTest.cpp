#include "Captures/File/UnitBundle.h"
#include "Store/StoreUpkeep.h"

#include "Store/LinkJson.h"
#include "Store/UnitJson.h"
#include "Support/Files.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

struct UnitBundleTest : testing::Test {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-bundle-test"));
  UnitStore Here{Dir.path() + "/here"}, There{Dir.path() + "/there"};
  std::string Path = Dir.path() + "/k" + CaptureSuffix;

  /// Returns a unit whose blobs are in \p Store.
  Unit unit(const std::string &Key, const std::string &Container, UnitStore &Store) {
    Unit U;
    U.Key = Key;
    U.Source = "k.cu";
    U.Output = "k.o";
    U.NvccVersion = "13.0.88";
    U.Containers = {Container};
    UnitImage I;
    I.Arch = "sm_90";
    I.PtxDigest = llvm::cantFail(Store.putBlob("ptx of " + Key));
    I.CubinDigest = llvm::cantFail(Store.putBlob("cubin of " + Key));
    U.Images = {I};
    UnitFrontEnd F;
    F.PtxDigest = I.PtxDigest;
    F.InputDigest = llvm::cantFail(Store.putBlob("text of " + Key));
    F.ModuleId = "id of " + Key;
    U.FrontEnds = {F};
    ObjectRecord O;
    O.ObjectDigest = llvm::cantFail(Store.putBlob("object"));
    U.Object = O;
    return U;
  }
  Unit unit(const std::string &Key, const std::string &Container) {
    return unit(Key, Container, Here);
  }

  CaptureReader captured(const std::string &Container) {
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
    Capture C;
    C.Kernel = "k";
    C.ContainerDigest = Container;
    bundleUnits(Here, W, C);
    llvm::cantFail(W.finish(C));
    return llvm::cantFail(CaptureReader::open(Path));
  }
};

} // namespace

TEST_F(UnitBundleTest, unit_isBundledWithItsBlobs) {
  llvm::cantFail(Here.putUnit(unit("a", "c1")));
  llvm::cantFail(Here.putUnit(unit("b", "c2")));
  CaptureReader R = captured("c1");
  EXPECT_EQ(R.capture().Units.size(), 1u);
  EXPECT_EQ(R.capture().Blobs.size(), 3u) << "the object's are of use beside the sources only";
  llvm::cantFail(unbundleUnits(R, There));
  std::vector<Unit> Found = There.unitsOfContainer("c1");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Key, "a");
  EXPECT_FALSE(Found[0].Object);
  EXPECT_EQ(llvm::cantFail(There.blob(Found[0].Images[0].PtxDigest)), "ptx of a");
  ASSERT_EQ(Found[0].FrontEnds.size(), 1u);
  EXPECT_EQ(Found[0].FrontEnds[0].ModuleId, "id of a");
  EXPECT_EQ(llvm::cantFail(There.blob(Found[0].FrontEnds[0].InputDigest)), "text of a");
  EXPECT_EQ(verifyStore(There, false).size(), 0u);
}

TEST_F(UnitBundleTest, link_isBundledWithItsUnits) {
  llvm::cantFail(Here.putUnit(unit("a", "part")));
  DeviceLink L;
  L.Key = "link";
  L.Output = "app";
  L.Containers = {"linked"};
  L.Inputs = {{"a.o", "", 0, {"part"}}};
  L.Images = {{"sm_90", llvm::cantFail(Here.putBlob("linked cubin")), {}}};
  llvm::cantFail(Here.putLink(L));
  llvm::cantFail(unbundleUnits(captured("linked"), There));
  EXPECT_EQ(There.linksOfContainer("linked").size(), 1u);
  EXPECT_EQ(There.unitsOfContainer("part").size(), 1u);
}

TEST_F(UnitBundleTest, severalContainers_areBundledWithoutALaunchAndOnce) {
  llvm::cantFail(Here.putUnit(unit("a", "part")));
  llvm::cantFail(Here.putUnit(unit("b", "other")));
  DeviceLink L;
  L.Key = "link";
  L.Output = "app";
  L.Containers = {"linked", "linked again"};
  L.Inputs = {{"a.o", "", 0, {"part"}}};
  llvm::cantFail(Here.putLink(L));
  CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
  Capture C;
  bundleUnits(Here, {"linked", "other", "part", "linked again"}, W, C);
  llvm::cantFail(W.finish(C));
  CaptureReader R = llvm::cantFail(CaptureReader::open(Path));
  EXPECT_EQ(R.capture().Units.size(), 2u);
  EXPECT_EQ(R.capture().Links.size(), 1u);
  llvm::cantFail(unbundleUnits(R, There));
  EXPECT_EQ(There.unitsOfContainer("part").size(), 1u);
  EXPECT_EQ(There.unitsOfContainer("other").size(), 1u);
  EXPECT_EQ(There.linksOfContainer("linked again").size(), 1u);
}

TEST_F(UnitBundleTest, existingUnit_stays) {
  llvm::cantFail(Here.putUnit(unit("a", "c1")));
  CaptureReader R = captured("c1");
  Unit Newer = unit("a", "c1", There);
  Newer.NvccVersion = "14.0.1";
  Newer.Containers.push_back("c3");
  llvm::cantFail(There.putUnit(Newer));
  llvm::cantFail(unbundleUnits(R, There));
  EXPECT_EQ(llvm::cantFail(There.unit("a"))->NvccVersion, "14.0.1");
}

TEST_F(UnitBundleTest, unitRebuiltAfterCapture_isNamed) {
  llvm::cantFail(Here.putUnit(unit("a", "c1")));
  CaptureReader R = captured("c1");
  llvm::cantFail(There.putUnit(unit("a", "c2", There)));
  EXPECT_EQ(llvm::toString(unbundleUnits(R, There)),
            "k.o was rebuilt after k was captured: capture it again, or tune with another "
            "CARVE_STORE");
  EXPECT_EQ(There.unitsOfContainer("c1").size(), 0u);
}

TEST_F(UnitBundleTest, captureWithoutUnits_isNoFailure) {
  CaptureReader R = captured("of a library");
  EXPECT_EQ(R.capture().Units.size(), 0u);
  llvm::cantFail(unbundleUnits(R, There));
}

/// Programs that run come from the toolkit and from what the user types, never from a capture.
TEST_F(UnitBundleTest, commandAndObject_ofACapture_areNotTaken) {
  Unit U = unit("a", "c1", There);
  U.Command = {"-ccbin=/tmp/evil/g++", "k.cu"};
  CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
  Capture C;
  C.Kernel = "k";
  C.ContainerDigest = "c1";
  C.Units = {{"a", W.put(printUnit(U))}};
  DeviceLink L;
  L.Key = "link";
  L.Containers = {"linked"};
  L.Command = U.Command;
  C.Links = {{"link", W.put(printLink(L))}};
  llvm::cantFail(W.finish(C));
  llvm::cantFail(unbundleUnits(llvm::cantFail(CaptureReader::open(Path)), There));
  std::optional<Unit> Imported = llvm::cantFail(There.unit("a"));
  ASSERT_TRUE(Imported);
  EXPECT_TRUE(Imported->Command.empty());
  EXPECT_FALSE(Imported->Object);
  EXPECT_TRUE(llvm::cantFail(There.link("link"))->Command.empty());
}

TEST_F(UnitBundleTest, frontEndOfACapture_withOtherArgumentsThanNvccs_isRefused) {
  Unit U = unit("a", "c1");
  U.FrontEnds[0].Step.Arguments = {"-c", "id"};
  CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
  Capture C;
  C.Units = {{"a", W.put(printUnit(U))}};
  llvm::cantFail(W.finish(C));
  EXPECT_EQ(llvm::toString(unbundleUnits(llvm::cantFail(CaptureReader::open(Path)), There)),
            "unit a: expected an argument that nvcc gives cicc at unit.front-ends[0].arguments[0]");
  EXPECT_TRUE(There.units().empty());
}
