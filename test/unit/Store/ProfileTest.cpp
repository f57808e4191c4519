#include "Store/Profile.h"
#include "Store/ProfileReader.h"

#include "StoreTesting.h"
#include "Support/NewerFormat.h"

#include <random>

using namespace carve;

static Decision decision(std::string Kernel, std::string Arch, std::optional<unsigned> Cap) {
  Decision D;
  D.Kernel = std::move(Kernel);
  D.Arch = std::move(Arch);
  D.Variant.Cap = Cap;
  return D;
}

/// Returns an entry as a tuning writes it. If \p Cap is absent, the default stays.
static Decision timed(std::string Kernel, std::string Digest, std::optional<unsigned> Cap) {
  Decision D = decision(std::move(Kernel), "sm_90", Cap);
  D.Digest = std::move(Digest);
  D.Basis.emplace();
  D.Basis->Date = "2026-11-03T12:00:00Z";
  D.Basis->Toolkit = "13.0.88";
  D.Basis->Options = {"-arch=sm_90", "-m64"};
  D.Basis->Source = "src/k.cu";
  D.Basis->CodeDigest = Cap ? "code" + std::to_string(*Cap) : "";
  return D;
}

/// Returns the caps of the candidates, 0 for the default.
static std::vector<unsigned> caps(const std::vector<const Decision *> &Candidates) {
  std::vector<unsigned> Caps;
  for (const Decision *D : Candidates)
    Caps.push_back(D->Variant.Cap.value_or(0));
  return Caps;
}

using Caps = std::vector<unsigned>;

static Profile sampleProfile() {
  Profile P;
  P.FileCap = 48;
  P.put(decision("z(int)", "sm_90", 40));
  P.put(decision("a(double*, double const*)", "sm_90a", std::nullopt));
  P.put(decision("a(double*, double const*)", "", 255));
  Evidence E;
  E.Device = "NVIDIA H200";
  E.Driver = "580.159";
  E.Toolkit = "13.0.88";
  E.Options = {"-arch=sm_90", "-m64", "--odd=\"a, b]\""};
  E.Source = "src/k.cu";
  E.Date = "2026-11-03T12:00:00Z";
  E.Workload = "./app \"a b\" 'c' \\ \t\n# é: - {x}";
  E.Shapes = {"grid 512x204x1 block 32x1x1 dynamic-smem 0", "grid 1x1x1 block 256x1x1"};
  E.Ratio = 0.1 + 0.2;
  E.RatioLow = 1e-9;
  E.RatioHigh = 1;
  E.Pairs = 9;
  E.DefaultRegs = 32;
  E.TunedRegs = 48;
  E.DefaultSpillBytes = 0;
  E.TunedSpillBytes = 16;
  E.CodeDigest = "0123";
  E.Reason = "no variant was faster";
  P.Kernels[0].Digest = "00000000000000000000000000001e10";
  P.Kernels[0].Basis = E;
  return P;
}

TEST(Profile, handWrittenProfile_read_isUnderstood) {
  Profile P = valueOf(parseProfile("# by hand\n"
                                   "carve-profile: 1\n"
                                   "kernels:\n"
                                   "  - kernel: \"bulky(double*, double const*, int)\"\n"
                                   "    arch: sm_90\n"
                                   "    variant: {cap: 40}        # half\n"
                                   "  - {kernel: _Z1kPd, variant: default}\n"
                                   "  - kernel: 'empty'\n"
                                   "    variant: {}\n"
                                   "    digest: 12ab\n",
                                   "p.yaml"));
  ASSERT_EQ(P.Kernels.size(), 3u);
  EXPECT_EQ(P.Kernels[0].Kernel, "bulky(double*, double const*, int)");
  EXPECT_EQ(P.Kernels[0].Arch, "sm_90");
  EXPECT_EQ(P.Kernels[0].Variant.Cap, 40u);
  EXPECT_EQ(P.Kernels[0].Digest, std::nullopt);
  EXPECT_EQ(P.Kernels[1].Kernel, "_Z1kPd");
  EXPECT_EQ(P.Kernels[1].Arch, "");
  EXPECT_TRUE(P.Kernels[1].Variant.isDefault());
  EXPECT_TRUE(P.Kernels[2].Variant.isDefault());
  EXPECT_EQ(P.Kernels[2].Digest, "12ab");
  EXPECT_EQ(P.FileCap, std::nullopt);
}

TEST(Profile, profile_writtenAndRead_isUnchanged) {
  Profile P = sampleProfile();
  std::string Text = printProfile(P);
  Profile Back = valueOf(parseProfile(Text, "p.yaml"));
  EXPECT_EQ(printProfile(Back), Text);
  EXPECT_EQ(Back.FileCap, 48u);
  ASSERT_EQ(Back.Kernels.size(), 3u);
  EXPECT_EQ(Back.Kernels[0].Arch, "");
  EXPECT_EQ(Back.Kernels[1].Arch, "sm_90a");
  const Decision &D = Back.Kernels[2];
  EXPECT_EQ(D.Kernel, "z(int)");
  EXPECT_EQ(D.Digest, P.Kernels[0].Digest);
  ASSERT_TRUE(D.Basis);
  const Evidence &E = *P.Kernels[0].Basis;
  EXPECT_EQ(D.Basis->Device, E.Device);
  EXPECT_EQ(D.Basis->Driver, E.Driver);
  EXPECT_EQ(D.Basis->Toolkit, E.Toolkit);
  EXPECT_EQ(D.Basis->Options, E.Options);
  EXPECT_EQ(D.Basis->Source, E.Source);
  EXPECT_EQ(D.Basis->DefaultSpillBytes, E.DefaultSpillBytes);
  EXPECT_EQ(D.Basis->TunedSpillBytes, E.TunedSpillBytes);
  EXPECT_EQ(D.Basis->Date, E.Date);
  EXPECT_EQ(D.Basis->Workload, E.Workload);
  EXPECT_EQ(D.Basis->Shapes, E.Shapes);
  EXPECT_EQ(D.Basis->Ratio, E.Ratio);
  EXPECT_EQ(D.Basis->RatioLow, E.RatioLow);
  EXPECT_EQ(D.Basis->RatioHigh, E.RatioHigh);
  EXPECT_EQ(D.Basis->Pairs, E.Pairs);
  EXPECT_EQ(D.Basis->DefaultRegs, E.DefaultRegs);
  EXPECT_EQ(D.Basis->TunedRegs, E.TunedRegs);
  EXPECT_EQ(D.Basis->CodeDigest, E.CodeDigest);
  EXPECT_EQ(D.Basis->Reason, E.Reason);
}

TEST(Profile, eachLoadCaching_isReadBackAsWritten) {
  for (auto [Loads, Name] : {std::pair(LoadCaching::L2Only, "cg"),
                             {LoadCaching::EvictFirst, "cs"},
                             {LoadCaching::NoAllocate, "noalloc"}}) {
    Profile P;
    P.Kernels.resize(1);
    P.Kernels[0].Kernel = "k";
    P.Kernels[0].Variant.Loads = Loads;
    std::string Text = printProfile(P);
    EXPECT_NE(Text.find(std::string("variant: {load-cache: ") + Name + "}"), std::string::npos)
        << Text;
    EXPECT_EQ(valueOf(parseProfile(Text, "p.yaml")).Kernels.at(0).Variant, P.Kernels[0].Variant);
  }
}

TEST(Profile, eachFrontEndKnob_isReadBackAsWritten) {
  for (FrontEndKnob Knob : frontEndKnobs()) {
    if (isForKnownLaunches(Knob)) // Only further entries have such code.
      continue;
    Profile P;
    P.Kernels.resize(1);
    P.Kernels[0].Kernel = "k";
    P.Kernels[0].Variant.FrontEnd = Knob;
    std::string Text = printProfile(P);
    EXPECT_NE(Text.find(("variant: {frontend-knob: " + nameOf(Knob) + "}").str()),
              std::string::npos)
        << Text;
    EXPECT_EQ(valueOf(parseProfile(Text, "p.yaml")).Kernels.at(0).Variant, P.Kernels[0].Variant);
  }
}

TEST(Profile, everyKnob_set_isWrittenReadAndNamed) {
  Profile P;
  VariantSetting All;
  All.Cap = 40;
  All.FrontEndCap = 255;
  All.FrontEnd = FrontEndKnob::NoRematerialization;
  All.SmemSpilling = true;
  All.Loads = LoadCaching::L2Only;
  All.RegisterUsageLevel = 0;
  All.OptimizationLevel = 1;
  VariantSetting LevelAlone;
  LevelAlone.RegisterUsageLevel = 10;
  for (auto [Kernel, V] : {std::pair("all", All), std::pair("level", LevelAlone)}) {
    Decision D;
    D.Kernel = Kernel;
    D.Variant = V;
    D.Digest = "1";
    D.Basis.emplace().SmemSpillingThreads = 256;
    P.put(std::move(D));
  }
  std::string Text = printProfile(P);
  EXPECT_NE(Text.find("    variant: {cap: 40, frontend-cap: 255, frontend-knob: noremat, "
                      "smem-spilling: true, load-cache: cg, register-usage-level: 0, "
                      "optimization-level: 1}\n"),
            std::string::npos)
      << Text;
  EXPECT_NE(Text.find("    variant: {register-usage-level: 10}\n"), std::string::npos);
  Profile Back = valueOf(parseProfile(Text, "p.yaml"));
  ASSERT_EQ(Back.Kernels.size(), 2u);
  EXPECT_EQ(Back.Kernels[0].Variant, All);
  EXPECT_EQ(Back.Kernels[1].Variant, LevelAlone);
  EXPECT_EQ(Back.Kernels[0].Basis->SmemSpillingThreads, 256u);
  EXPECT_EQ(printProfile(Back), Text);
  EXPECT_EQ(settingText(All), "cap 40, frontend-cap 255, frontend-knob noremat, smem-spilling "
                              "true, load-cache cg, register-usage-level 0, optimization-level 1");
  EXPECT_EQ(settingText({}), "default");
  // A compile acts on the settings and on the bound.
  std::string Choices = choicesOf(P);
  EXPECT_NE(Choices.find("register-usage-level: 10"), std::string::npos);
  EXPECT_NE(Choices.find("smem-spilling-threads: 256"), std::string::npos);
  Back.Kernels[0].Basis->SmemSpillingThreads = 128;
  EXPECT_NE(choicesOf(Back), Choices);
}

TEST(Profile, entries_anyOrder_printTheSame) {
  Profile P = sampleProfile(), Reversed = sampleProfile();
  std::reverse(Reversed.Kernels.begin(), Reversed.Kernels.end());
  EXPECT_EQ(printProfile(P), printProfile(Reversed));
}

TEST(Profile, profile_printed_hasTheDocumentedForm) {
  Profile P;
  EXPECT_EQ(printProfile(P), "carve-profile: 1\nkernels: []\n");
  P.put(decision("k(int)", "sm_90", 40));
  P.put(decision("d(int)", "", std::nullopt));
  EXPECT_EQ(printProfile(P), "carve-profile: 1\n"
                             "kernels:\n"
                             "  - kernel: \"d(int)\"\n"
                             "    variant: default\n"
                             "  - kernel: \"k(int)\"\n"
                             "    arch: sm_90\n"
                             "    variant: {cap: 40}\n");
}

TEST(Profile, profile_withoutKernels_isAccepted) {
  EXPECT_TRUE(valueOf(parseProfile("carve-profile: 1\n", "p")).Kernels.empty());
  EXPECT_TRUE(valueOf(parseProfile("carve-profile: 1\nkernels:\n", "p")).Kernels.empty());
  EXPECT_TRUE(valueOf(parseProfile("carve-profile: 1\nkernels: []\n", "p")).Kernels.empty());
}

TEST(Profile, put_sameKey_replacesTheEntry) {
  Profile P;
  P.put(decision("k", "sm_90", 40));
  P.put(decision("k", "sm_80", 48));
  P.put(decision("k", "sm_90", 56));
  ASSERT_EQ(P.Kernels.size(), 2u);
  EXPECT_EQ(caps(P.candidates("k", "", "sm_90")), Caps{56});
  EXPECT_EQ(caps(P.candidates("k", "", "sm_80")), Caps{48});
  P.put(timed("k", "d1", 64));
  P.put(timed("k", "d2", 72));
  P.put(timed("k", "d1", 80));
  EXPECT_EQ(P.Kernels.size(), 4u);
  EXPECT_EQ(caps(P.candidates("k", "", "sm_90")), (Caps{80, 72, 56}));
}

TEST(Profile, candidates_severalMatch_mostSpecificFirst) {
  Profile P;
  P.put(decision("k()", "", 1));
  P.put(decision("_Z1kv", "", 2));
  EXPECT_EQ(caps(P.candidates("k()", "_Z1kv", "sm_90")), (Caps{2, 1}));
  EXPECT_EQ(caps(P.candidates("k()", "_Z1xv", "sm_90")), Caps{1});
  P.put(decision("k()", "sm_90", 3));
  EXPECT_EQ(caps(P.candidates("k()", "_Z1kv", "sm_90")), (Caps{3, 2, 1}));
  EXPECT_EQ(caps(P.candidates("k()", "_Z1kv", "sm_80")), (Caps{2, 1}));
  P.put(decision("_Z1kv", "sm_90", 4));
  P.put(timed("k()", "d", 5));
  EXPECT_EQ(caps(P.candidates("k()", "_Z1kv", "sm_90")), (Caps{5, 4, 3, 2, 1}));
  EXPECT_EQ(caps(P.candidates("l()", "_Z1lv", "sm_90")), Caps{});
}

TEST(Profile, adopt_sameDecisions_textIsUnchanged) {
  Profile P;
  P.put(timed("k", "d1", 64));
  P.put(timed("l", "d2", std::nullopt));
  P.put(decision("k", "sm_90", 40));
  const std::string Before = printProfile(P);
  Profile Again;
  Again.put(timed("k", "d1", 64));
  Again.put(timed("l", "d2", std::nullopt));
  for (Decision &D : Again.Kernels) {
    D.Basis->Date = "2026-12-24T12:00:00Z";
    D.Basis->Ratio = 0.5;
    D.Basis->Reason = "another wording";
  }
  P.adopt(Again);
  EXPECT_EQ(printProfile(P), Before);
  Again.Kernels[0].Variant.Cap = 72;
  P.adopt(Again);
  EXPECT_EQ(caps(P.candidates("k", "", "sm_90")), (Caps{72, 40}));
  EXPECT_EQ(P.candidates("k", "", "sm_90")[0]->Basis->Date, "2026-12-24T12:00:00Z");
  EXPECT_EQ(P.candidates("l", "", "sm_90")[0]->Basis->Date, "2026-11-03T12:00:00Z");
  // The setting is the same, but other code was timed.
  Again.Kernels[0].Basis->CodeDigest = "other";
  P.adopt(Again);
  EXPECT_EQ(P.candidates("k", "", "sm_90")[0]->Basis->CodeDigest, "other");
}

TEST(Profile, adopt_codeReplaced_onlyItsEntryGoes) {
  Profile P;
  P.put(timed("k", "old", 40));
  auto Beside = [&](const char *Digest, auto Change) {
    Decision D = timed("k", Digest, 48);
    Change(D);
    P.put(std::move(D));
  };
  Beside("toolkit", [](Decision &D) { D.Basis->Toolkit = "12.8.93"; });
  Beside("options", [](Decision &D) { D.Basis->Options = {"-arch=sm_90", "-m64", "-g"}; });
  Beside("source", [](Decision &D) { D.Basis->Source = "src/other.cu"; });
  Beside("arch", [](Decision &D) { D.Arch = "sm_80"; });
  Beside("kernel", [](Decision &D) { D.Kernel = "l"; });
  Beside("unknown", [](Decision &D) { D.Basis.reset(); });
  P.put(decision("k", "sm_90", 32));
  ASSERT_EQ(P.Kernels.size(), 8u);
  // Two units hold different kernels of this name, so neither entry removes the other.
  Profile Tuned;
  Tuned.put(timed("k", "new1", 64));
  Tuned.put(timed("k", "new2", 72));
  P.adopt(Tuned);
  std::vector<std::string> Left;
  for (const Decision &D : P.Kernels)
    Left.push_back(D.Digest.value_or("pin"));
  EXPECT_EQ(Left, (std::vector<std::string>{"toolkit", "options", "source", "arch", "kernel", "pin",
                                            "new1", "new2"}));
}

// A reviewer reads the lines that changed, so they must belong to the kernel that changed.
TEST(Profile, adopt_oneKernelChanged_oneHunkChanges) {
  Profile P;
  for (const char *Kernel : {"a", "k", "z"})
    P.put(timed(Kernel, std::string("digest of ") + Kernel, 40));
  Profile Changed = P, Tuned;
  Tuned.put(timed("k", "0", 64));
  Changed.adopt(Tuned);
  std::string Old = printProfile(P), New = printProfile(Changed);
  size_t At = Old.find("  - kernel: \"k\""), End = Old.find("  - kernel: \"z\"");
  EXPECT_EQ(New.substr(0, At), Old.substr(0, At));
  EXPECT_EQ(New.substr(At), printDecision(Tuned.Kernels[0]) + Old.substr(End));
}

static std::string withKernel(const std::string &Rest) {
  return "carve-profile: 1\nkernels:\n  - kernel: k\n" + Rest;
}

/// The same with an entry whose guard has the arguments \p List.
std::string withArgument(const std::string &List) {
  return withKernel("    variant: default\n    entries:\n      - {when: {arguments: [" + List +
                    "]}, variant: default}\n");
}

TEST(Profile, badProfile_read_errorNamesLineAndValue) {
  struct {
    std::string Text, Message;
  } Cases[] = {
      {"", "p.yaml:1: nothing, expected 'carve-profile: 1'"},
      {"# only this\n", "p.yaml:1: nothing, expected 'carve-profile: 1'"},
      {"hello\n", "p.yaml:1: profile: 'hello', expected a mapping"},
      {"[1]\n", "p.yaml:1: profile: a list, expected a mapping"},
      {"kernels: []\n", "p.yaml:1: no 'carve-profile' in profile"},
      {"carve-profile: one\n",
       "p.yaml:1: carve-profile: 'one', expected a number in 1..1073741824"},
      {"carve-profile: 1\nfile-cap: 256\n",
       "p.yaml:2: file-cap: '256', expected a number in 1..255"},
      {"carve-profile: 1\nkernel: []\n",
       "p.yaml:2: unknown key 'kernel' in profile, expected carve-profile, file-cap, kernels"},
      {"carve-profile: 1\nkernels: k\n", "p.yaml:2: kernels: 'k', expected a list"},
      {"carve-profile: 1\nkernels:\n  - k\n", "p.yaml:3: kernel entry: 'k', expected a mapping"},
      {"carve-profile: 1\n\nkernels:\n  - arch: sm_90\n    variant: {}\n",
       "p.yaml:4: no 'kernel' in kernel entry"},
      {"carve-profile: 1\nkernels:\n  - kernel: [k]\n    variant: {}\n",
       "p.yaml:3: kernel: a list, expected a text"},
      {"carve-profile: 1\nkernels:\n  - kernel: \n    variant: {}\n",
       "p.yaml:3: kernel: nothing, expected a text"},
      {"carve-profile: 1\nkernels:\n  - kernel: *k\n    variant: {}\n",
       "p.yaml:3: kernel: an alias, expected a text"},
      {withKernel("    arch: sm_90\n"), "p.yaml:3: no 'variant' in kernel entry"},
      {withKernel("    variant: {cpa: 40}\n"),
       "p.yaml:4: unknown key 'cpa' in variant, expected cap, frontend-cap, "
       "frontend-knob, restrict, known-ptx, smem-spilling, load-cache, register-usage-level, "
       "optimization-level"},
      {withKernel("    variant: {frontend-cap: 256}\n"),
       "p.yaml:4: frontend-cap: '256', expected a number in 1..255"},
      {withKernel("    variant: {frontend-cap: 0}\n"),
       "p.yaml:4: frontend-cap: '0', expected a number in 1..255"},
      {withKernel("    variant: {register-usage-level: 11}\n"),
       "p.yaml:4: register-usage-level: '11', expected a number in 0..10"},
      {withKernel("    variant: {optimization-level: 2}\n"),
       "p.yaml:4: optimization-level: '2', expected a number in 1..1"},
      {withKernel("    variant: {frontend-knob: unroll4}\n"),
       "p.yaml:4: frontend-knob: 'unroll4', expected newllvm, "
       "newrolled, unroll, unroll2, noremat or known"},
      {withKernel("    variant: {frontend-knob: shapes}\n"),
       "p.yaml:4: frontend-knob: 'shapes', expected newllvm, "
       "newrolled, unroll, unroll2, noremat or known"},
      {withKernel("    variant: {load-cache: ca}\n"),
       "p.yaml:4: load-cache: 'ca', expected cg, cs or noalloc"},
      {withKernel("    variant: {load-cache: [cg]}\n"),
       "p.yaml:4: load-cache: a list, expected cg, cs or noalloc"},
      {withKernel("    variant: default\n    entries: 3\n"),
       "p.yaml:5: entries: '3', expected a list"},
      {withKernel("    variant: default\n    entries:\n      - variant: default\n"),
       "p.yaml:6: no 'when' in further entry"},
      {withKernel("    variant: default\n    entries:\n      - when: {threads: 64}\n"),
       "p.yaml:6: no 'variant' in further entry"},
      {withKernel(
           "    variant: default\n    entries:\n      - when: {}\n        variant: default\n"),
       "p.yaml:6: when: nothing, expected threads, block, grid, arguments or pointers-apart"},
      {withKernel("    variant: default\n    entries:\n      - when: {threads: 1025}\n"),
       "p.yaml:6: threads: '1025', expected a number in 1..1024"},
      {withKernel("    variant: default\n    entries:\n      - when: {block: 16}\n"),
       "p.yaml:6: block: '16', expected dimensions such as 16x16x1"},
      {withKernel("    variant: default\n    entries:\n      - when: {smem: 0}\n"),
       "p.yaml:6: unknown key 'smem' in when, expected threads, block, grid, arguments, "
       "pointers-apart"},
      {withKernel("    variant: default\n    entries:\n"
                  "      - {when: {grid: 1x1x1}, variant: {cap: 40}}\n"
                  "      - {when: {grid: 1x1x1}, variant: {cap: 48}}\n"),
       "p.yaml:7: two further entries when grid 1x1x1, expected one"},
      {withKernel("    variant: default\n    entries:\n"
                  "      - {when: {grid: 1x1x1}, variant: default}\n"
                  "      - {when: {grid: 2x1x1}, variant: default}\n"
                  "      - {when: {grid: 3x1x1}, variant: default}\n"
                  "      - {when: {grid: 4x1x1}, variant: default}\n"),
       "p.yaml:9: more than 3 further entries of a kernel"},
      {withKernel("    variant: {frontend-knob: known}\n"),
       "p.yaml:3: frontend-knob known in the variant of a kernel, expected it only in entries"},
      {withKernel("    variant: default\n    entries:\n"
                  "      - {when: {threads: 64}, variant: {frontend-knob: known}}\n"),
       "p.yaml:6: frontend-knob known when threads <= 64, expected a guard with block, grid or "
       "arguments"},
      {withArgument("{parameter: 1, bytes: 4}"), "p.yaml:6: no 'value' in argument"},
      {withArgument("{parameter: 1, bytes: 3, value: 0}"),
       "p.yaml:6: bytes: 3, expected 1, 2, 4 or 8"},
      {withArgument("{parameter: 1, bytes: 2, value: 65536}"),
       "p.yaml:6: value: 65536, expected one that 2 bytes hold"},
      {withArgument("{parameter: 1, bytes: 4, value: -1}"),
       "p.yaml:6: value: '-1', expected a whole number from 0 on"},
      {withArgument("{parameter: 1, bytes: 1, value: 0}, {parameter: 1, bytes: 1, value: 1}"),
       "p.yaml:6: parameter: 1, offset 0, expected a place after parameter 1, offset 0"},
      {withKernel("    variant: {smem-spilling: false}\n"),
       "p.yaml:4: smem-spilling: 'false', expected true"},
      {withKernel("    variant: {smem-spilling: }\n"),
       "p.yaml:4: smem-spilling: nothing, expected true"},
      {withKernel("    variant: {cap: 0}\n"), "p.yaml:4: cap: '0', expected a number in 1..255"},
      {withKernel("    variant: {cap: -1}\n"), "p.yaml:4: cap: '-1', expected a number in 1..255"},
      {withKernel("    variant:\n      cap: 256\n"),
       "p.yaml:5: cap: '256', expected a number in 1..255"},
      {withKernel("    variant: {cap: 99999999999999}\n"),
       "p.yaml:4: cap: '99999999999999', expected a number in 1..255"},
      {withKernel("    variant: {cap: \"40\"}\n"),
       "p.yaml:4: cap: '40', expected a number in 1..255"},
      {withKernel("    variant: {cap: 40.5}\n"),
       "p.yaml:4: cap: '40.5', expected a number in 1..255"},
      {withKernel("    variant: {cap: 40, cap: 48}\n"),
       "p.yaml:4: key 'cap' given twice in variant, expected once"},
      {withKernel("    variant: 40\n"),
       "p.yaml:4: variant: '40', expected 'default' or a mapping such as {cap: 40}"},
      {withKernel("    variant:\n"),
       "p.yaml:4: variant: nothing, expected 'default' or a mapping such as {cap: 40}"},
      {withKernel("    arch: 90\n    variant: {}\n"),
       "p.yaml:4: arch: '90', expected an architecture such as sm_90"},
      {withKernel("    arch: compute_90\n    variant: {}\n"),
       "p.yaml:4: arch: 'compute_90', expected an architecture such as sm_90"},
      {withKernel("    variant: {}\n    digest: \"\"\n"), "p.yaml:5: digest: '', expected a text"},
      {withKernel("    variant: {}\n    evidence: {ratio: fast}\n"),
       "p.yaml:5: ratio: 'fast', expected a ratio such as 0.95"},
      {withKernel("    variant: {}\n    evidence: {ratio: nan}\n"),
       "p.yaml:5: ratio: 'nan', expected a ratio such as 0.95"},
      {withKernel("    variant: {}\n    evidence:\n      shapes: 3\n"),
       "p.yaml:6: shapes: '3', expected a list"},
      {withKernel("    variant: {}\n  - kernel: k\n    variant: {cap: 40}\n"),
       "p.yaml:5: kernel 'k' for any architecture given twice, expected once: first in line 3"},
      {withKernel("    arch: sm_90\n    variant: {}\n  - {kernel: k, arch: sm_90, variant: {}}\n"),
       "p.yaml:6: kernel 'k' for sm_90 given twice, expected once: first in line 3"},
      {withKernel("    variant: {}\n    digest: d\n"
                  "  - {kernel: k, digest: e, variant: {}}\n  - {kernel: k, variant: {}}\n"
                  "  - {kernel: k, digest: d, variant: {}}\n"),
       "p.yaml:8: kernel 'k' for any architecture with digest 'd' given twice, expected once: "
       "first "
       "in line 3"},
      {"carve-profile: 1\n---\ncarve-profile: 1\n", "p.yaml:1: a second document, expected one"},
  };
  for (const auto &Case : Cases)
    EXPECT_EQ(messageOf(parseProfile(Case.Text, "p.yaml")), Case.Message) << Case.Text;
}

TEST(Profile, syntaxError_read_givesOneMessage) {
  for (const char *Text :
       {"carve-profile: 1\nkernels: [\n", "carve-profile: 1\nkernels:\n  - kernel: \"k\n",
        "carve-profile: 1\n\tkernels: []\n", "carve-profile: 1\nkernels: }\n",
        "carve-profile: 1\nkernels:\n - kernel: a\n   variant: {cap: 40\n", "a: b: c\n", "{", "\"",
        "%YAML 9", "carve-profile: 1\n  kernels: []\n"}) {
    std::string Message = messageOf(parseProfile(Text, "p.yaml"));
    EXPECT_EQ(Message.rfind("p.yaml:", 0), 0u) << Text << " -> " << Message;
    EXPECT_EQ(Message.find('\n'), std::string::npos) << Message;
    EXPECT_GT(Message.size(), std::string("p.yaml:1: ").size()) << Text;
  }
}

TEST(Profile, newerProfile_read_failsAsNewer) {
  llvm::Error Failed = parseProfile("carve-profile: 2\nknobs: {}\n", "p.yaml").takeError();
  EXPECT_TRUE(Failed.isA<NewerFormat>());
  EXPECT_EQ(llvm::toString(std::move(Failed)), "p.yaml:1: carve-profile: 2, expected 1");
}

TEST(Profile, deepNesting_read_fails) {
  std::string Deep = "carve-profile: 1\nkernels: " + std::string(200000, '[');
  EXPECT_NE(messageOf(parseProfile(Deep, "p.yaml")), "");
}

// Whatever the damage, the message is one line that names the file.
TEST(Profile, damagedProfile_read_givesOneMessage) {
  std::mt19937 Random(1);
  const std::string Whole = printProfile(sampleProfile());
  for (int Round = 0; Round < 3000; ++Round) {
    std::string Text = Whole.substr(0, Random() % (Whole.size() + 1));
    for (unsigned Flips = Random() % 4; Flips > 0 && !Text.empty(); --Flips)
      Text[Random() % Text.size()] = "\n\t:{}[]\"'-#&*!|>%@ ,?\xff\0a1"[Random() % 26];
    std::string Message = messageOf(parseProfile(Text, "p"));
    ASSERT_TRUE(Message.empty() || Message.rfind("p:", 0) == 0) << Message << "\n" << Text;
  }
}

TEST(DecisionDigest, digest_anyInputChanged_differs) {
  std::vector<std::string> Options = {"-O3", "-m64"};
  std::string Base = decisionDigest("d", "sm_90", "13.0.88", Options);
  EXPECT_EQ(decisionDigest("d", "sm_90", "13.0.88", Options), Base);
  EXPECT_NE(decisionDigest("e", "sm_90", "13.0.88", Options), Base);
  EXPECT_NE(decisionDigest("d", "sm_80", "13.0.88", Options), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.1.0", Options), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.0.88", {"-O3"}), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.0.88", {"-O3-m64"}), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.0.88", {"-O3 -m64"}), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.0.88", Options, ImageOrigin::FromPtx), Base);
}

TEST(Profile, partsOfArguments_areReadBackAndMustRise) {
  Profile P;
  Decision D;
  D.Kernel = "k";
  D.Entries = {{{.Arguments = {{1, 4, 7}, {1, 2, 8, 6}, {2, 1, 9, 3}}}, {.Cap = 40}}};
  D.Entries[0].Variant.KnownPtx = true;
  P.put(D);
  std::string Text = printProfile(P);
  EXPECT_NE(Text.find("arguments: [{parameter: 1, bytes: 4, value: 7}, {parameter: 1, offset: 6, "
                      "bytes: 2, value: 8}, {parameter: 2, offset: 3, bytes: 1, value: 9}]}\n"
                      "        variant: {cap: 40, known-ptx: true}\n"),
            std::string::npos)
      << Text;
  EXPECT_EQ(valueOf(parseProfile(Text, "p.yaml")).Kernels.at(0).Entries, D.Entries);
  auto Refused = [&](std::string From, const std::string &To) {
    std::string Bad = Text;
    Bad.replace(Bad.find(From), From.size(), To);
    return messageOf(parseProfile(Bad, "p.yaml"));
  };
  EXPECT_NE(Refused("parameter: 1, offset: 6", "parameter: 1, offset: 0")
                .find("parameter: 1, offset 0, expected a place after parameter 1, offset 0"),
            std::string::npos);
  EXPECT_NE(Refused("offset: 6", "offset: 32769").find("32768"), std::string::npos);
  EXPECT_NE(Refused("known-ptx: true", "known-ptx: false").find("true"), std::string::npos);
  EXPECT_NE(Refused("variant: default", "variant: {known-ptx: true}")
                .find("known-ptx in the variant of a kernel, expected it only in entries"),
            std::string::npos);
  D.Entries[0].When = {.MaxThreads = 64};
  P.put(D);
  EXPECT_NE(messageOf(parseProfile(printProfile(P), "p"))
                .find("known-ptx when threads <= 64, expected a guard with"),
            std::string::npos);
}

TEST(Profile, pointersApart_areReadBackAndMustRise) {
  Profile P;
  Decision D;
  D.Kernel = "k";
  D.Entries = {{{.Apart = {{0, 0}, {2, 0}, {2, 8}}}, {.Cap = 40}}};
  D.Entries[0].Variant.Restrict = true;
  P.put(D);
  std::string Text = printProfile(P);
  EXPECT_NE(Text.find("when: {pointers-apart: [{parameter: 0}, {parameter: 2}, {parameter: 2, "
                      "offset: 8}]}\n        variant: {cap: 40, restrict: true}\n"),
            std::string::npos)
      << Text;
  EXPECT_EQ(valueOf(parseProfile(Text, "p.yaml")).Kernels.at(0).Entries, D.Entries);
  auto Refused = [&](std::string From, const std::string &To, const std::string &Message) {
    std::string Bad = Text;
    Bad.replace(Bad.find(From), From.size(), To);
    std::string Found = messageOf(parseProfile(Bad, "p.yaml"));
    EXPECT_NE(Found.find(Message), std::string::npos) << Found;
  };
  Refused("{parameter: 2}, ", "{parameter: 0}, ", "expected a place after parameter 0, offset 0");
  Refused("{parameter: 2}, ", "{offset: 8}, ", "no 'parameter' in pointer");
  Refused("restrict: true", "restrict: 1", "true");
  Refused("variant: default", "variant: {restrict: true}",
          "restrict in the variant of a kernel, expected it only in entries");
  Refused("{pointers-apart: [{parameter: 0}, {parameter: 2}, {parameter: 2, offset: 8}]}",
          "{threads: 64}", "restrict when threads <= 64, expected a guard with pointers-apart");
  Refused("restrict: true", "known-ptx: true", "expected a guard with block, grid or arguments");
}

TEST(Profile, furtherEntries_areReadBackAndCompiledAgain) {
  Profile P;
  Decision D;
  D.Kernel = "k(int)";
  P.put(D);
  EXPECT_EQ(choicesOf(P), "") << "a default alone changes nothing";
  D.Entries = {
      {{.MaxThreads = 256}, {.Cap = 96}},
      {{.Block = {{16, 16, 1}}, .Grid = {{7, 1, 1}}}, {}},
      {{.Arguments = {{1, 4, 4096}, {3, 8, UINT64_MAX}}}, {.FrontEnd = FrontEndKnob::KnownLaunch}}};
  P.put(D);
  std::string Text = printProfile(P);
  EXPECT_NE(Text.find("    variant: default\n    entries:\n      - when: {threads: 256}\n"
                      "        variant: {cap: 96}\n      - when: {block: 16x16x1, grid: 7x1x1}\n"
                      "        variant: default\n"
                      "      - when: {arguments: [{parameter: 1, bytes: 4, value: 4096}, "
                      "{parameter: 3, bytes: 8, value: 18446744073709551615}]}\n"
                      "        variant: {frontend-knob: known}\n"),
            std::string::npos)
      << Text;
  llvm::Expected<Profile> Back = parseProfile(Text, "p.yaml");
  ASSERT_TRUE(bool(Back)) << llvm::toString(Back.takeError());
  EXPECT_EQ(Back->Kernels[0].Entries, D.Entries);
  EXPECT_EQ(printProfile(*Back), Text);
  EXPECT_NE(choicesOf(P), "");
  EXPECT_EQ(decisionText(D),
            "default; cap 96 when threads <= 256; default when block 16x16x1, grid 7x1x1; "
            "frontend-knob known when parameter 1 = 4096, parameter 3 = 18446744073709551615 "
            "(8 bytes)");
}

TEST(Profile, heldShareOfAnEntry_isEvidence) {
  Profile P;
  Decision D;
  D.Kernel = "k(int)";
  D.Digest = "digest";
  D.Basis.emplace();
  D.Entries = {{{.MaxThreads = 256}, {.Cap = 96}, "code", GuardHold{50, 40, 0.75, true}}};
  P.put(D);
  std::string Text = printProfile(P);
  EXPECT_NE(Text.find("        code-digest: \"code\"\n"
                      "        held: {launches: 40, of: 50, share: 0.75, at-most: true}\n"),
            std::string::npos)
      << Text;
  llvm::Expected<Profile> Back = parseProfile(Text, "p.yaml");
  ASSERT_TRUE(bool(Back)) << llvm::toString(Back.takeError());
  EXPECT_EQ(Back->Kernels[0].Entries[0].Held, D.Entries[0].Held);
  EXPECT_EQ(printProfile(*Back), Text);
  EXPECT_EQ(choicesOf(P).find("held"), std::string::npos) << "a compile does not act on it";
  D.Entries[0].Held = GuardHold{50, 50, 1};
  Profile Again;
  Again.put(D);
  P.adopt(Again);
  EXPECT_EQ(printProfile(P), Text) << "a tuning that decides the same changes nothing";
}

TEST(Profile, heldShareThatCannotBe_isNamed) {
  auto Failure = [](const std::string &Held) {
    llvm::Expected<Profile> P = parseProfile(
        "carve-profile: 1\nkernels:\n  - kernel: k\n    variant: default\n    entries:\n"
        "      - when: {threads: 256}\n        variant: {cap: 96}\n        held: {" +
            Held + "}\n",
        "p");
    return P ? std::string() : llvm::toString(P.takeError());
  };
  EXPECT_EQ(Failure("launches: 1, of: 2, share: 0.5"), "");
  EXPECT_EQ(Failure("launches: 3, of: 2, share: 0.5"), "p:8: launches: 3, expected at most 2");
  EXPECT_NE(Failure("launches: 1, of: 2, share: 1.5").find("expected at most 1"),
            std::string::npos);
  EXPECT_NE(Failure("launches: -1, of: 2, share: 1").find("a whole number from 0 on"),
            std::string::npos);
  EXPECT_NE(Failure("launches: 1, of: 2").find("no 'share' in held"), std::string::npos);
}
