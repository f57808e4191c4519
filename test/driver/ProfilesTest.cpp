// carve merge and carve diff as a person calls them. They need no nvcc and no store.
#include "DriverTier.h"

using namespace carve;

namespace {

class ProfilesTest : public DriverTierTest {
protected:
  ProfilesTest() { Env["CARVE_NVCC"] = path("none"); }

  void writeProfile(const std::string &Name, const std::string &Rest) {
    write("work/" + Name, "carve-profile: 1\n" + Rest);
  }
  static std::string entry(const std::string &Kernel, int Cap) {
    return "  - kernel: \"" + Kernel + "\"\n    variant: {cap: " + std::to_string(Cap) + "}\n";
  }
};

} // namespace

TEST_F(ProfilesTest, merge_printsOrWrites) {
  writeProfile("a.yaml", "kernels:\n" + entry("z", 40));
  writeProfile("b.yaml", "kernels:\n" + entry("a", 48));
  const std::string Merged = "carve-profile: 1\nkernels:\n" + entry("a", 48) + entry("z", 40);
  Ended E = carve({"merge", "a.yaml", "b.yaml"});
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_EQ(E.Stdout, Merged);
  // The output is one of the inputs, which is a common use.
  E = carve({"merge", "a.yaml", "-o", "a.yaml", "b.yaml"});
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_EQ(E.Stdout + E.Stderr, "");
  EXPECT_EQ(read("work/a.yaml"), Merged);
}

TEST_F(ProfilesTest, merge_thatFails_leavesTheOutput) {
  writeProfile("a.yaml", "kernels:\n" + entry("k", 40));
  writeProfile("b.yaml", "kernels:\n" + entry("k", 48));
  write("work/out.yaml", "as it was");
  expectError({"merge", "a.yaml", "b.yaml", "-o", "out.yaml"},
              "kernel 'k' for any architecture is pinned by hand: cap 40 in a.yaml, cap 48 in "
              "b.yaml");
  writeProfile("a.yaml", "file-cap: 32\n");
  expectError({"merge", "a.yaml", "b.yaml", "-o", "out.yaml"},
              "file-cap: 32 in a.yaml, decisions for kernels in b.yaml");
  writeProfile("b.yaml", "kernels: k\n");
  expectError({"merge", "a.yaml", "b.yaml", "-o", "out.yaml"},
              "b.yaml:2: kernels: 'k', expected a list");
  expectError({"merge"}, "carve merge: no profile, expected: carve merge FILE... [-o FILE]");
  EXPECT_EQ(carve({"merge", "none.yaml"}).Status, 1);
  EXPECT_EQ(read("work/out.yaml"), "as it was");
}

TEST_F(ProfilesTest, diff_endsWithStatusOneOnlyIfAsked) {
  writeProfile("a.yaml", "kernels:\n" + entry("k", 40));
  writeProfile("b.yaml", "kernels:\n" + entry("k", 48));
  const std::string Text = "changed    k on any architecture\n"
                           "    setting      cap 40, pinned by hand -> cap 48, pinned by hand\n"
                           "0 added, 0 removed, 1 changed, 0 remeasured, 0 equal\n";
  for (int Asked : {0, 1}) {
    Ended E = carve(Asked ? Words{"diff", "--exit-code", "a.yaml", "b.yaml"}
                          : Words{"diff", "a.yaml", "b.yaml"});
    EXPECT_EQ(E.Status, Asked);
    EXPECT_EQ(E.Stdout, Text);
    EXPECT_EQ(E.Stderr, "");
  }
  Ended E = carve({"diff", "--exit-code", "a.yaml", "a.yaml"});
  EXPECT_EQ(E.Status, 0);
  EXPECT_EQ(E.Stdout, "0 added, 0 removed, 0 changed, 0 remeasured, 1 equal\n");
  E = carve({"diff", "--format=json", "a.yaml", "b.yaml"});
  EXPECT_EQ(E.Status, 0);
  EXPECT_NE(E.Stdout.find("\"carve-diff\": 1"), std::string::npos) << E.Stdout;
}

TEST_F(ProfilesTest, diff_withoutTwoProfiles_fails) {
  writeProfile("a.yaml", "kernels: []\n");
  expectError({"diff", "a.yaml"}, "carve diff: 1 profile(s), expected: carve diff BEFORE AFTER");
  Ended E = carve({"diff", "a.yaml", "none.yaml"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_NE(E.Stderr.find("none.yaml"), std::string::npos) << E.Stderr;
}

TEST_F(ProfilesTest, check_statusIsThatOfTheComparison) {
  auto Entry = [](const std::string &Kernel, int Spill) {
    return "  - kernel: \"" + Kernel +
           "\"\n    variant: {cap: 40}\n    evidence: {ratio: 0.8, ratio-low: 0.8, ratio-high: "
           "0.8, "
           "pairs: 9, default-regs: 88, tuned-regs: 40, tuned-spill-bytes: " +
           std::to_string(Spill) + "}\n";
  };
  writeProfile("a.yaml", "kernels:\n" + Entry("k", 0));
  writeProfile("b.yaml", "kernels:\n" + Entry("k", 64));
  Ended E = carve({"check", "a.yaml", "b.yaml"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_NE(E.Stdout.find("spill-increase: 64 bytes more"), std::string::npos) << E.Stdout;
  EXPECT_EQ(E.Stderr, "");
  EXPECT_EQ(carve({"check", "a.yaml", "a.yaml"}).Status, 0);
  EXPECT_EQ(carve({"check", "--max-spill-increase=64", "a.yaml", "b.yaml"}).Status, 0);
  EXPECT_EQ(carve({"check", "--max-spill-increase=off", "a.yaml", "b.yaml"}).Status, 0);
  E = carve({"check", "--quiet", "a.yaml", "b.yaml"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_EQ(E.Stdout + E.Stderr, "");
  // The file is for a server, and the text is for a person.
  E = carve({"check", "--format=sarif", "-o", "out.sarif", "a.yaml", "b.yaml"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_NE(E.Stdout.find("1 regression(s)"), std::string::npos) << E.Stdout;
  EXPECT_NE(read("work/out.sarif").find("\"version\": \"2.1.0\""), std::string::npos);
}

TEST_F(ProfilesTest, check_thatCannotCompare_fails) {
  writeProfile("a.yaml", "kernels:\n" + entry("k", 40));
  writeProfile("other.yaml", "kernels:\n" + entry("m", 40));
  writeProfile("empty.yaml", "kernels: []\n");
  write("work/bad.json", "{\"carve-report\": 99}");
  write("work/deep.json", "{\"a\": " + std::string(300000, '['));
  for (const Words &Arguments :
       {Words{"a.yaml"}, Words{"a.yaml", "none.yaml"}, Words{"a.yaml", "bad.json"},
        Words{"a.yaml", "other.yaml"}, Words{"--max-time-increase=much", "a.yaml", "a.yaml"},
        Words{"--max-spill-increase=0.5", "a.yaml", "a.yaml"}, Words{"empty.yaml", "a.yaml"},
        Words{"empty.yaml", "empty.yaml"}, Words{"a.yaml", "deep.json"}}) {
    Words All = {"check"};
    All.insert(All.end(), Arguments.begin(), Arguments.end());
    Ended E = carve(All);
    EXPECT_EQ(E.Status, 2) << E.Stdout;
    EXPECT_EQ(E.Stdout, "");
    EXPECT_EQ(E.Stderr.find("carve: error: "), 0u) << E.Stderr;
  }
}
