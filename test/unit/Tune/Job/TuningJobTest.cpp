#include "Tune/Job/TuningJob.h"

#include "Tune/Job/JobParts.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// A unit with images for \p Archs and PTX for \p Computes. Its digests name the architecture.
Unit unitWith(const std::vector<std::string> &Archs, const std::vector<unsigned> &Computes = {}) {
  Unit U;
  for (const std::string &Arch : Archs) {
    UnitImage I;
    I.Arch = Arch;
    I.CubinDigest = Arch;
    U.Images.push_back(I);
  }
  for (unsigned Compute : Computes) {
    EmbeddedPtx P;
    P.Compute = Compute;
    P.PtxDigest = "compute_" + std::to_string(Compute);
    P.PtxasOptions = {"-arch=sm_75", "-m64", "-O2"};
    U.Ptx.push_back(P);
  }
  return U;
}

/// The digest of the image that a device of compute capability \p Sm runs; `-` if there is none.
std::string imageOn(unsigned Sm, const Unit &U) {
  DeviceInfo D;
  D.Major = Sm / 10;
  D.Minor = Sm % 10;
  std::optional<UnitImage> Image = imageForDevice(U, D);
  return !Image ? "-" : Image->CubinDigest.empty() ? Image->PtxDigest : Image->CubinDigest;
}

} // namespace

TEST(TuningJob, imageForDevice_sameArchitecture_isTaken) {
  EXPECT_EQ(imageOn(90, unitWith({"sm_80", "sm_90", "sm_100"})), "sm_90");
  EXPECT_EQ(imageOn(90, unitWith({"sm_90", "sm_90a"})), "sm_90a");
  EXPECT_EQ(imageOn(90, unitWith({"sm_90a", "sm_90"})), "sm_90a");
  EXPECT_EQ(imageOn(100, unitWith({"sm_100", "sm_100f"})), "sm_100f");
}

TEST(TuningJob, imageForDevice_olderMinorOfSameGeneration_isTaken) {
  EXPECT_EQ(imageOn(89, unitWith({"sm_80", "sm_86", "sm_90"})), "sm_86");
  EXPECT_EQ(imageOn(86, unitWith({"sm_80", "sm_89"})), "sm_80");
  EXPECT_EQ(imageOn(103, unitWith({"sm_100f"})), "sm_100f");
  EXPECT_EQ(imageOn(121, unitWith({"sm_110", "sm_120"})), "sm_120");
  EXPECT_EQ(imageOn(80, unitWith({"sm_86"})), "-");
  // These images run on one architecture only.
  EXPECT_EQ(imageOn(103, unitWith({"sm_100a"}, {90})), "compute_90");
  EXPECT_EQ(imageOn(121, unitWith({"sm_120a"})), "-");
  EXPECT_EQ(imageOn(90, unitWith({"sm_80", "sm_100"})), "-");
  EXPECT_EQ(imageOn(90, unitWith({})), "-");
}

TEST(TuningJob, imageForDevice_noImage_isDerivedFromTheNewestPtx) {
  Unit U = unitWith({"sm_75"}, {75, 80, 100});
  EXPECT_EQ(imageOn(75, U), "sm_75");
  EXPECT_EQ(imageOn(90, U), "compute_80");
  EXPECT_EQ(imageOn(70, U), "-");
  DeviceInfo D;
  D.Major = 9;
  UnitImage Derived = *imageForDevice(U, D);
  EXPECT_EQ(Derived.Arch, "sm_90");
  EXPECT_TRUE(Derived.CubinDigest.empty());
  EXPECT_EQ(Derived.PtxasOptions, (std::vector<std::string>{"-arch=sm_90", "-m64", "-O2"}));
}

TEST(TuningJob, tracedKernels_areSortedByFallingShare) {
  ProbeRecord R;
  R.Kernels = {launches("small", 32, 100), launches("large", 32, 500), launches("large", 64, 250),
               launches("middle", 32, 150)};
  std::vector<TracedKernel> All = tracedKernels(R);
  ASSERT_EQ(All.size(), 3u);
  EXPECT_EQ(All[0].Kernel, "large");
  EXPECT_EQ(All[0].Share, 0.75);
  EXPECT_EQ(All[0].Launches, 20u);
  EXPECT_EQ(All[0].Shapes.size(), 2u);
  EXPECT_EQ(All[1].Kernel, "middle");
  EXPECT_EQ(All[2].Share, 0.1);
  EXPECT_TRUE(tracedKernels({}).empty());
}

TEST(TuningJob, modelOf_driverReportsOtherLimits_takesTheDrivers) {
  DeviceInfo D;
  D.Major = 9;
  D.BlocksPerSm = 24;
  DeviceModel M = valueOf(modelOf(D, DevicesDir));
  EXPECT_EQ(M.MaxBlocksPerSm, 24u);
  EXPECT_EQ(M.MaxThreadsPerSm, 2048u); // The driver does not report it.
  D.Major = 3;
  EXPECT_NE(messageOf(modelOf(D, DevicesDir)).find("sm_30"), std::string::npos);
}

TEST(TuningJob, prepareJob_traceWithoutDevice_fails) {
  UnitStore Store("/dev/null/nonexistent");
  ProbedProgram Runner;
  TuningOptions Options;
  JobSources Sources;
  EXPECT_EQ(messageOf(prepareJob({}, {Store, {}, Runner, Options}, false, Sources)),
            "the trace names no GPU");
}

TEST(TuningJob, prepareJob_noUnits_leavesEveryKernel) {
  UnitStore Store("/dev/null/nonexistent");
  ProbedProgram Runner;
  TuningOptions Options;
  Options.DevicesDir = DevicesDir;
  ProbeRecord R;
  ASSERT_EQ(messageOf(readProbeFile(
                ProbeHead + kernelLine("hot", 990) + kernelLine("cold", 5) + "end\n", "p", R)),
            "");
  JobSources Sources;
  TuningJob Job = valueOf(prepareJob(R, {Store, {}, Runner, Options}, false, Sources));
  EXPECT_TRUE(Job.Kernels.empty());
  ASSERT_EQ(Job.Left.size(), 2u);
  EXPECT_EQ(Job.Left[0].Traced.Kernel, "hot");
  EXPECT_EQ(Job.Left[0].Reason.text(), "in-no-unit");
  EXPECT_EQ(Job.Left[0].DefaultRegs, 40u);
  EXPECT_EQ(Job.Left[1].Reason.text(), "below-share");
}
