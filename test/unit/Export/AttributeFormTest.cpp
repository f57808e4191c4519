#include "Export/AttributeForm.h"
#include "Export/FileFlags.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

DeviceModel h200() {
  return llvm::cantFail(loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_90"));
}

VariantSetting setting(llvm::StringRef Name) { return llvm::cantFail(parseVariantName(Name)); }

KernelReport timed(std::initializer_list<std::pair<const char *, double>> Variants) {
  KernelReport R;
  for (const auto &[Name, Ratio] : Variants) {
    VariantReport V;
    V.Name = Name;
    V.Ratio = Ratio;
    R.Variants.push_back(V);
  }
  return R;
}

using Texts = std::vector<std::string>;

} // namespace

TEST(AttributeForm, capOfLaunchBounds_equalsWhatPtxasGave) {
  // These are the registers that ptxas 13.0.88 gave, on sm_90, to a kernel that wants more than
  // 255.
  const unsigned Measured[][3] = {
      {64, 3, 255},  {96, 3, 168},  {96, 5, 128}, {160, 2, 168}, {160, 3, 128}, {192, 2, 168},
      {224, 2, 128}, {224, 3, 80},  {256, 5, 48}, {288, 1, 168}, {288, 2, 96},  {352, 1, 168},
      {384, 1, 168}, {416, 1, 128}, {640, 1, 96}, {32, 10, 168}, {32, 15, 128}, {32, 20, 96}};
  DeviceModel D = h200();
  for (const auto &[Threads, Blocks, Regs] : Measured)
    EXPECT_EQ(capOfLaunchBounds(D, Threads, Blocks), Regs) << Threads << ", " << Blocks;
}

TEST(AttributeForm, capAlone_isMaxNReg) {
  DeviceModel D = h200();
  FormRequest R{setting("r40"), {}, 256, "13.0.88", D};
  std::string Reason;
  std::vector<AttributeForm> Forms = formsOf(R, ExportForm::Patch, Reason);
  ASSERT_EQ(Forms.size(), 2u);
  EXPECT_FALSE(Forms[0].IsLaunchBounds);
  EXPECT_EQ(Forms[0].Cap, 40u);
  EXPECT_EQ(Forms[0].Setting, setting("r40"));
  EXPECT_EQ(Forms[0].Lost, Texts{});
  EXPECT_TRUE(Forms[1].IsLaunchBounds);
  EXPECT_EQ(Forms[1].MaxThreads, 256u);
  EXPECT_EQ(Forms[1].MinBlocks, 6u);
  EXPECT_EQ(Forms[1].Lost, Texts{"launches of more than 256 threads in a block fail"});
}

TEST(AttributeForm, launchBounds_roundUpOrAreRefused) {
  DeviceModel D = h200();
  FormRequest R{setting("r120"), {}, 512, "13.0.88", D};
  std::string Reason;
  std::vector<AttributeForm> Forms = formsOf(R, ExportForm::LaunchBounds, Reason);
  ASSERT_EQ(Forms.size(), 1u);
  EXPECT_EQ(Forms[0].Cap, 128u);
  EXPECT_EQ(Forms[0].Lost.front(), "cap 120: minBlocks rounds it to 128");
  R.Decided = setting("r168");
  R.LargestBlock = 256; // 288 threads are the smallest block for which bounds give 168.
  EXPECT_EQ(formsOf(R, ExportForm::LaunchBounds, Reason).at(0).MaxThreads, 288u);
  R.LargestBlock = 1024;
  EXPECT_TRUE(formsOf(R, ExportForm::LaunchBounds, Reason).empty());
  EXPECT_EQ(Reason, "launch bounds of 1024 threads allow at most 64 registers, not 168");
  R.LargestBlock = 0;
  EXPECT_TRUE(formsOf(R, ExportForm::LaunchBounds, Reason).empty());
  EXPECT_EQ(Reason, "no launch is known; give the largest block with "
                    "--max-threads=N");
}

TEST(AttributeForm, existingBounds_areKept) {
  DeviceModel D = h200();
  FormRequest R{setting("r40"), {}, 0, "13.0.88", D};
  R.Directives.MaxNTid = {{256, 1, 1}};
  std::string Reason;
  std::vector<AttributeForm> Forms = formsOf(R, ExportForm::Patch, Reason);
  ASSERT_EQ(Forms.size(), 2u);
  EXPECT_TRUE(Forms[0].IsLaunchBounds);
  EXPECT_EQ(Forms[0].MaxThreads, 256u);
  EXPECT_EQ(Forms[0].Lost, Texts{});
  EXPECT_FALSE(Forms[1].Setting) << "without its bounds it is other code";
}

TEST(AttributeForm, maxNReg_needsCuda124) {
  DeviceModel D = h200();
  FormRequest R{setting("r40"), {}, 0, "12.3.107", D};
  std::string Reason;
  EXPECT_TRUE(formsOf(R, ExportForm::MaxNReg, Reason).empty());
  EXPECT_EQ(Reason, "__maxnreg__ needs CUDA 12.4, the toolkit is 12.3.107");
  R.NvccVersion = "12.4.99";
  EXPECT_EQ(formsOf(R, ExportForm::MaxNReg, Reason).size(), 1u);
}

TEST(AttributeForm, settingBeyondACap_isListedAsLost) {
  DeviceModel D = h200();
  KernelReport Report = timed({{"r40", 0.95}, {"r48", 0.85}, {"r40-f255-cg", 0.8}});
  FormRequest R{setting("r40-f255-cg"), {}, 0, "13.0.88", D};
  std::string Reason;
  EXPECT_EQ(formsOf(R, ExportForm::MaxNReg, Reason).at(0).Cap, 40u);
  EXPECT_EQ(formsOf(R, ExportForm::MaxNReg, Reason).at(0).Lost.size(), 2u);
  R.Report = &Report; // Another cap is now the fastest variant that sets only a cap.
  AttributeForm Form = formsOf(R, ExportForm::MaxNReg, Reason).at(0);
  EXPECT_EQ(Form.Cap, 48u);
  EXPECT_EQ(Form.Lost.front(), "cap 40: alone it is slower than 48");
  EXPECT_EQ(estimateGain(R.Decided, Form.Setting, 0.8, &Report).text(),
            "6.2 % of the time, by variants timed: 1.176 instead of 1.250 times as fast");
  // The confirmation measured 0.9 and the screening 0.8, so both ratios are scaled by the same
  // factor.
  EXPECT_NEAR(*estimateGain(R.Decided, Form.Setting, 0.9, &Report).Exported, 0.85 / 0.8 * 0.9,
              1e-9);
  EXPECT_EQ(estimateGain(R.Decided, setting("r56"), 0.8, &Report).text(),
            "not measured; the decision is 1.250 times as fast as the default");
  EXPECT_EQ(estimateGain(setting("r40"), setting("r40"), 0.8, nullptr).text(),
            "nothing: 1.250 times as fast as the default");
  R.Report = nullptr;
  R.Decided = setting("f255");
  EXPECT_TRUE(formsOf(R, ExportForm::MaxNReg, Reason).empty());
  EXPECT_EQ(Reason, "no attribute can express frontend-cap 255");
}

TEST(AttributeForm, largestBlock_isReadFromShapes) {
  EXPECT_EQ(largestBlock({"grid 512x204x1 block 32x4x1 dynamic-smem 0",
                          "grid 1x1x1 block 96x1x1 dynamic-smem 16"}),
            128u);
  EXPECT_EQ(largestBlock({"other"}), 0u);
}

TEST(FileFlags, capWithLeastTotalTime_isChosen) {
  KernelReport A = timed({{"r40", 0.7}, {"r40-f40", 0.75}, {"r64", 0.9}, {"r64-f64", 0.95}});
  KernelReport B = timed({{"r40", 1.4}, {"r40-f40", 1.5}, {"r64", 0.8}, {"r64-f64", 0.8}});
  FileKernel First{setting("r40"), 0.7, false, 80, 0.5, &A};
  FileKernel Second{setting("r64"), 0.8, false, 80, 0.5, &B};
  FileOptions O = chooseFileOptions({First, Second});
  EXPECT_EQ(O.words(), Texts{"-Xptxas=-maxrregcount=64"});
  Second.Share = 0.05; // The second kernel hardly matters now.
  EXPECT_EQ(chooseFileOptions({First, Second}).words(), Texts{"-Xptxas=-maxrregcount=40"});
  First.Decided = setting("r40-f40");
  First.DecidedRatio = 0.6;
  EXPECT_EQ(chooseFileOptions({First, Second}).words(), Texts{"-maxrregcount=40"});
  First.Bounded = true; // The option does not affect this kernel.
  Second.DecidedRatio = 0.99;
  EXPECT_EQ(chooseFileOptions({First, Second}).words(), Texts{"-maxrregcount=64"})
      << "0.8 was timed of r64-f64";
}

TEST(FileFlags, noFasterOptions_giveNone) {
  KernelReport A = timed({{"r40", 0.9}}), B = timed({{"r40", 1.5}, {"r40-f40", 1.5}});
  FileKernel First{setting("r40"), 0.9, false, 80, 0.5, &A};
  FileKernel Second{{}, std::nullopt, false, 80, 0.5, &B};
  EXPECT_TRUE(chooseFileOptions({First, Second}).empty());
  FileOptions All{40, true, true, 8};
  EXPECT_EQ(All.words(), (Texts{"-maxrregcount=40", "-Xptxas=-dlcm=cg,--register-usage-level=8"}));
}

TEST(AttributeForm, capThatReplacesBounds_mustFitTheBlock) {
  DeviceModel D = h200();
  FormRequest R{setting("r72"), {}, 0, "13.0.88", D};
  R.Directives.MaxNTid = {1024, 1, 1};
  std::string Reason;
  EXPECT_TRUE(formsOf(R, ExportForm::MaxNReg, Reason).empty());
  EXPECT_EQ(Reason,
            "__maxnreg__(72) would replace bounds of 1024 threads, and a block of that size "
            "can have at most 64 registers per thread");
  R.Decided = setting("r64");
  EXPECT_EQ(formsOf(R, ExportForm::MaxNReg, Reason).size(), 1u);
}
