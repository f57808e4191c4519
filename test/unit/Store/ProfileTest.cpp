#include "Store/Profile.h"

#include "Store/NewerFormat.h"
#include "StoreTesting.h"

#include <random>

using namespace carve;

static Decision decision(std::string Kernel, std::string Arch, std::optional<unsigned> Cap) {
  Decision D;
  D.Kernel = std::move(Kernel);
  D.Arch = std::move(Arch);
  D.Variant.Cap = Cap;
  return D;
}

static Profile sampleProfile() {
  Profile P;
  P.FileCap = 48;
  P.put(decision("z(int)", "sm_90", 40));
  P.put(decision("a(double*, double const*)", "sm_90a", std::nullopt));
  P.put(decision("a(double*, double const*)", "", 255));
  Evidence E;
  E.Device = "NVIDIA H200";
  E.Driver = "580.159";
  E.Date = "2026-11-03T12:00:00Z";
  E.Workload = "./app \"a b\" 'c' \\ \t\n# é: - {x}";
  E.Shapes = {"grid 512x204x1 block 32x1x1 dynamic-smem 0", "grid 1x1x1 block 256x1x1"};
  E.Ratio = 0.1 + 0.2;
  E.RatioLow = 1e-9;
  E.RatioHigh = 1;
  E.Pairs = 9;
  E.DefaultRegs = 32;
  E.TunedRegs = 48;
  E.CodeDigest = "0123";
  E.Reason = "no variant was faster";
  P.Kernels[0].Digest = "00000000000000000000000000001e10";
  P.Kernels[0].Basis = E;
  return P;
}

TEST(Profile, ReadsWhatADesignerWrites) {
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

TEST(Profile, KeepsEverythingOnTheWayThereAndBack) {
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

TEST(Profile, PrintsTheSameForAnyOrder) {
  Profile P = sampleProfile(), Reversed = sampleProfile();
  std::reverse(Reversed.Kernels.begin(), Reversed.Kernels.end());
  EXPECT_EQ(printProfile(P), printProfile(Reversed));
}

TEST(Profile, PrintsInTheDocumentedForm) {
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

TEST(Profile, AcceptsNoKernels) {
  EXPECT_TRUE(valueOf(parseProfile("carve-profile: 1\n", "p")).Kernels.empty());
  EXPECT_TRUE(valueOf(parseProfile("carve-profile: 1\nkernels:\n", "p")).Kernels.empty());
  EXPECT_TRUE(valueOf(parseProfile("carve-profile: 1\nkernels: []\n", "p")).Kernels.empty());
}

TEST(Profile, PutReplacesTheSameKernelAndArchitecture) {
  Profile P;
  P.put(decision("k", "sm_90", 40));
  P.put(decision("k", "sm_80", 48));
  P.put(decision("k", "sm_90", 56));
  ASSERT_EQ(P.Kernels.size(), 2u);
  EXPECT_EQ(P.find("k", "", "sm_90")->Variant.Cap, 56u);
  EXPECT_EQ(P.find("k", "", "sm_80")->Variant.Cap, 48u);
}

TEST(Profile, FindsTheMostParticularDecision) {
  Profile P;
  P.put(decision("k()", "", 1));
  P.put(decision("_Z1kv", "", 2));
  EXPECT_EQ(P.find("k()", "_Z1kv", "sm_90")->Variant.Cap, 2u);
  EXPECT_EQ(P.find("k()", "_Z1xv", "sm_90")->Variant.Cap, 1u);
  P.put(decision("k()", "sm_90", 3));
  EXPECT_EQ(P.find("k()", "_Z1kv", "sm_90")->Variant.Cap, 3u);
  EXPECT_EQ(P.find("k()", "_Z1kv", "sm_80")->Variant.Cap, 2u);
  P.put(decision("_Z1kv", "sm_90", 4));
  EXPECT_EQ(P.find("k()", "_Z1kv", "sm_90")->Variant.Cap, 4u);
  EXPECT_EQ(P.find("l()", "_Z1lv", "sm_90"), nullptr);
}

static std::string withKernel(const std::string &Rest) {
  return "carve-profile: 1\nkernels:\n  - kernel: k\n" + Rest;
}

TEST(Profile, SaysWhatIsWrongAndWhere) {
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
       "p.yaml:4: unknown key 'cpa' in variant, expected cap"},
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
      {"carve-profile: 1\n---\ncarve-profile: 1\n", "p.yaml:1: a second document, expected one"},
  };
  for (const auto &Case : Cases)
    EXPECT_EQ(messageOf(parseProfile(Case.Text, "p.yaml")), Case.Message) << Case.Text;
}

TEST(Profile, GivesOneMessageForASyntaxError) {
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

TEST(Profile, SaysThatAProfileIsNewer) {
  llvm::Error Failed = parseProfile("carve-profile: 2\nknobs: {}\n", "p.yaml").takeError();
  EXPECT_TRUE(Failed.isA<NewerFormat>());
  EXPECT_EQ(llvm::toString(std::move(Failed)), "p.yaml:1: carve-profile: 2, expected 1");
}

TEST(Profile, SurvivesDeepNesting) {
  std::string Deep = "carve-profile: 1\nkernels: " + std::string(200000, '[');
  EXPECT_NE(messageOf(parseProfile(Deep, "p.yaml")), "");
}

// Every message is one line that names the file, whatever the damage.
TEST(Profile, SurvivesDamage) {
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

TEST(DecisionDigest, DependsOnEverythingItHoldsFor) {
  std::vector<std::string> Options = {"-O3", "-m64"};
  std::string Base = decisionDigest("d", "sm_90", "13.0.88", Options);
  EXPECT_EQ(decisionDigest("d", "sm_90", "13.0.88", Options), Base);
  EXPECT_NE(decisionDigest("e", "sm_90", "13.0.88", Options), Base);
  EXPECT_NE(decisionDigest("d", "sm_80", "13.0.88", Options), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.1.0", Options), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.0.88", {"-O3"}), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.0.88", {"-O3-m64"}), Base);
  EXPECT_NE(decisionDigest("d", "sm_90", "13.0.88", {"-O3 -m64"}), Base);
}
