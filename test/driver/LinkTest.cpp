// Which links are recorded, and that the results of all links are nvcc's.
#include "DeviceObject.h"
#include "DriverTier.h"

using namespace carve;
using Words = std::vector<std::string>;

namespace {

class LinkTest : public DriverTierTest {
protected:
  LinkTest() {
    write("work/saxpy.o", deviceObject("__nv_relfatbin", deviceContainer("relocatable")));
    write("work/scale.o", deviceObject(".nv_fatbin", deviceContainer("whole")));
    plan("dryrun-dlink-13.0.88.txt");
  }
  const Words Link = {"-arch=sm_90", "-dlink", "saxpy.o", "scale.o", "-o", "obj/saxpy.o"};
};

} // namespace

TEST_F(LinkTest, link_ofRelocatableCode_isRecorded) {
  Ended E = carveNvcc(Link);
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  Words Seen = argumentsOf("compile");
  ASSERT_EQ(Seen.size(), Link.size() + 3);
  EXPECT_TRUE(std::equal(Link.begin(), Link.end(), Seen.begin()));
  EXPECT_EQ(Seen[Link.size()], "--keep");
  EXPECT_EQ(calls("compile"), 1u);
  EXPECT_EQ(names("tmp"), Words{});
  EXPECT_EQ(stored("links"), 1);
  EXPECT_EQ(stored("units"), 0);
  EXPECT_EQ(passthroughs(), "{}");
}

TEST_F(LinkTest, messagesAndStatus_areNvccs) {
  write("cuda/bin/stdout", "to stdout\n");
  write("cuda/bin/stderr", "nvlink error   : Undefined reference\n");
  write("cuda/bin/status", "255");
  Ended E = carveNvcc(Link);
  EXPECT_EQ(E.Status, 255);
  EXPECT_EQ(E.Stdout, "to stdout\n");
  EXPECT_EQ(E.Stderr, "nvlink error   : Undefined reference\n");
  EXPECT_EQ(stored("links"), 0);
  EXPECT_EQ(passthroughs(), "{}");
}

TEST_F(LinkTest, link_withoutRelocatableCode_isHandedToNvcc) {
  Words Host = {"-arch=sm_90", "scale.o", "absent.o", "-o", "app"};
  EXPECT_EQ(carveNvcc(Host).Status, 0);
  EXPECT_EQ(argumentsOf("compile"), Host);
  EXPECT_EQ(calls("dryrun") + calls("version"), 0u);
  EXPECT_EQ(passthroughs(), "{\"no-device-source\":1}");
}

TEST_F(LinkTest, link_withDeviceLto_isHandedToNvcc) {
  Words Arguments = Link;
  Arguments.insert(Arguments.begin(), "-dlto");
  EXPECT_EQ(carveNvcc(Arguments).Status, 0);
  EXPECT_EQ(argumentsOf("compile"), Arguments);
  EXPECT_EQ(passthroughs(), "{\"device-lto\":1}");
}

TEST_F(LinkTest, unknownPlan_isCounted_resultIsNvccs) {
  write("cuda/bin/plan", "#$ nvlink --other\n");
  Ended E = carveNvcc(Link);
  EXPECT_EQ(E.Status, 0);
  EXPECT_EQ(E.Stdout + E.Stderr, "");
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  EXPECT_EQ(stored("links"), 0);
  EXPECT_EQ(passthroughs(), "{\"unknown-plan\":1}");
}

TEST_F(LinkTest, link_withoutAStore_isNvccs) {
  Env["CARVE_STORE"] = "/proc/carve-store";
  EXPECT_EQ(carveNvcc(Link).Status, 0);
  EXPECT_EQ(argumentsOf("compile"), Link);
}
