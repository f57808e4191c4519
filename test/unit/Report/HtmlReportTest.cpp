#include "Report/HtmlReport.h"

#include "MarkupTesting.h"
#include "Report/HtmlPage.h"
#include "ReportTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

struct Page {
  explicit Page(const TuningReport &R) : Text(printHtmlReport(R)) {
    Elements = parseMarkup(Text, Fault);
  }
  bool says(llvm::StringRef Part) const { return llvm::StringRef(Text).contains(Part); }
  size_t count(llvm::StringRef Name, llvm::StringRef Class) const {
    return llvm::count_if(
        Elements, [&](const MarkupElement &E) { return E.Name == Name && E.hasClass(Class); });
  }

  std::string Text, Fault;
  std::vector<MarkupElement> Elements;
};

} // namespace

TEST(HtmlReport, page_hasWhatTheTextReportHas) {
  TuningReport R = sampleReport();
  R.UnstableLines = 3;
  R.GraphShare = 0.625;
  R.OtherUsers = {{123, "python", 38}};
  Page P(R);
  EXPECT_EQ(P.Fault, "");
  for (const char *Part :
       {"<h1>./lulesh -s 90</h1>",
        "1.111\u00D7</strong> as fast on the GPU",
        "0.900 [0.890, 0.905] of the default",
        "0.970 [0.950, 1.010]",
        "9 pairs of runs",
        "13 pairs of runs, the times of each candidate decided",
        "1 of 5",
        "42 runs, 2 before the confirmation",
        "63.2\u00A0s",
        "NVIDIA H200",
        "580.159.03",
        "13.0.88",
        "2026-11-20 12:00:00 UTC",
        "3 line(s) of the output differ",
        "python",
        "62.5 % of the GPU time",
        "From its first kernel to the end of the last",
        "<strong>1.333</strong>",
        "[1.316, 1.351]",
        "<span class=\"was\">40</span> \u2192 168",
        "not compiled by carve-nvcc",
        "needed below 0.990",
        "replayed (932 launches of 410 us)",
        "rejected: exit status 139",
        "r255: largest block would shrink",
        "2 more kernels, each less than 0.1&#160;% of GPU time, together 1.2\u00A0%"})
    EXPECT_TRUE(P.says(Part)) << Part;
  EXPECT_EQ(P.count("section", "kernel"), 1u) << "the others had nothing to try";
  EXPECT_TRUE(P.says("<a href=\"#k0\">CalcFBHourglassForce</a>"));
}

/// The page loads nothing, and its policy forbids it. The policy's hashes must be those of the
/// style and the script.
TEST(HtmlReport, page_makesNoRequest) {
  Page P(sampleReport());
  for (const char *Reference : {"http:", "https:", "//www", "url(", "@import", "src="})
    EXPECT_FALSE(P.says(Reference)) << Reference;
  auto Policy = llvm::find_if(
      P.Elements, [](auto &E) { return E.at("http-equiv") == "Content-Security-Policy"; });
  ASSERT_NE(Policy, P.Elements.end());
  EXPECT_TRUE(llvm::StringRef(Policy->at("content")).starts_with("default-src 'none'; "));
  EXPECT_FALSE(P.says("unsafe-inline"));
  for (llvm::StringRef Name : {"style", "script"}) {
    llvm::StringRef Content = llvm::StringRef(P.Text)
                                  .split(("<" + Name + ">").str())
                                  .second.split(("</" + Name + ">").str())
                                  .first;
    EXPECT_GT(Content.size(), 1000u) << Name.str();
    std::string Hash =
        llvm::encodeBase64(llvm::SHA256::hash(llvm::arrayRefFromStringRef<uint8_t>(Content)));
    EXPECT_NE(Policy->at("content").find((Name + "-src 'sha256-" + Hash + "'").str()),
              std::string::npos)
        << Name.str();
  }
  for (const MarkupElement &E : P.Elements) {
    EXPECT_FALSE(E.Attributes.count("style")) << E.Name;
    for (const auto &[Name, Value] : E.Attributes)
      EXPECT_FALSE(llvm::StringRef(Name).starts_with("on")) << E.Name << " " << Name;
    if (E.Name == "a" || E.Name == "use") {
      EXPECT_EQ(E.at("href").front(), '#') << E.at("href");
    }
  }
}

TEST(HtmlReport, links_haveTargets) {
  TuningReport R = sampleReport();
  R.Kernels.insert(R.Kernels.begin() + 1, tunedKernel());
  Page P(R);
  EXPECT_EQ(P.Fault, "");
  std::set<std::string> Ids;
  for (const MarkupElement &E : P.Elements)
    Ids.insert(E.at("id"));
  unsigned Links = 0;
  for (const MarkupElement &E : P.Elements) {
    if (E.Name == "a" || E.Name == "use") {
      ++Links;
      EXPECT_TRUE(Ids.count(E.at("href").substr(1))) << E.at("href");
    }
    for (const char *Reference : {"aria-labelledby", "aria-describedby"})
      if (E.Attributes.count(Reference)) {
        EXPECT_TRUE(Ids.count(E.at(Reference))) << E.at(Reference);
      }
  }
  EXPECT_GT(Links, 10u);
}

/// Names must stay text, whatever they contain.
TEST(HtmlReport, names_withMarkup_stayText) {
  TuningReport R = sampleReport();
  const std::string Evil = "</title><script>alert(1)</script>&\"'\x01\xff größe \xF0\x9F\x9A\x80";
  R.Workload = R.Device = R.Driver = R.NvccVersion = R.Date = Evil;
  R.Reruns = {Evil};
  R.OtherUsers = {{1, Evil, std::nullopt}};
  for (KernelReport &K : R.Kernels) {
    K.Kernel = "void ns::k<Op<int>, '\"'>(" + Evil + ")";
    K.Mangled = K.Output = K.Source = K.InRun.Reason = Evil;
    K.Reason = StayReason(Evil);
    K.Shapes = {Evil, Evil};
    K.Dropped = {Evil};
    for (VariantReport &V : K.Variants)
      V.Name = V.Fault = Evil;
    K.Carved.resize(1);
    K.Carved[0].Name = K.Carved[0].Carved = Evil;
  }
  Page P(R);
  EXPECT_EQ(P.Fault, "");
  EXPECT_FALSE(P.says("<script>alert"));
  EXPECT_TRUE(P.says("größe \xF0\x9F\x9A\x80"));
  EXPECT_FALSE(P.says("\x01"));
  EXPECT_EQ(llvm::count_if(P.Elements, [](auto &E) { return E.Name == "script"; }), 1);
}

TEST(HtmlReport, tuningThatDidNotHappen_saysWhy) {
  TuningReport R;
  R.Workload = "./app";
  R.Note = "the program ended with exit status 4";
  R.Runs = 1;
  Page P(R);
  EXPECT_EQ(P.Fault, "");
  EXPECT_TRUE(P.says("Not tuned: the program ended with exit status 4"));
  EXPECT_FALSE(P.says("<table"));
  EXPECT_FALSE(P.says("as fast"));
  EXPECT_EQ(Page(TuningReport()).Fault, "");
}

TEST(HtmlReport, noGain_isSaid) {
  TuningReport R = sampleReport();
  R.Kernels.erase(R.Kernels.begin());
  R.Pairs = 0;
  Page P(R);
  EXPECT_EQ(P.Fault, "");
  EXPECT_TRUE(P.says("No kernel gains from another variant"));
  EXPECT_FALSE(P.says("class=\"bars\""));
}

/// The times are those of the traced run, if the report has times of launches.
TEST(HtmlReport, timesBeforeAndAfter_areOfTheWholeProgram) {
  TuningReport R = sampleReport();
  for (KernelReport &K : R.Kernels)
    K.MeanNs = 1e6 * K.Share; // Each has 1000 launches.
  Page P(R);
  EXPECT_TRUE(P.says("<span class=\"bar-value\">1.00\u00A0s</span>"))
      << P.Text.substr(P.Text.find("bars"), 900);
  EXPECT_TRUE(P.says("900\u00A0ms <span class=\"interval\">[890\u00A0ms, 905\u00A0ms]"));
  EXPECT_TRUE(P.says("<span class=\"was\">620\u00A0\u00B5s</span> \u2192 465\u00A0\u00B5s"));
}

TEST(HtmlReport, scopeFile_hasNoSpills) {
  TuningReport R = sampleReport();
  R.Scope = "file";
  Page P(R);
  EXPECT_EQ(P.Fault, "");
  EXPECT_TRUE(P.says("not known with --carve-scope=file"));
  EXPECT_TRUE(P.says("one cap per file"));
}

TEST(HtmlReport, hundredsOfKernels_withLongNames_areWellFormed) {
  TuningReport R = sampleReport();
  for (unsigned I = 0; I < 300; ++I) {
    KernelReport K = tunedKernel();
    K.Kernel = "void ns::kernel" + std::to_string(I) + "<" + std::string(2000, 'T') + ">(int)";
    R.Kernels.push_back(K);
  }
  Page P(R);
  EXPECT_EQ(P.Fault, "");
  EXPECT_EQ(P.count("section", "kernel"), 301u);
  EXPECT_TRUE(P.says("TTT\u2026</span>")) << "cut where it is a heading";
  EXPECT_TRUE(P.says("<code>" + R.Kernels.back().Kernel.substr(0, 10)));
}
