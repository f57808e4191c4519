/// \file
/// Sample kernels and a sample job for the tests of a tuning.
#pragma once

#include "Tune/Job/JobBuild.h"
#include "unit/Workload/WorkloadTesting.h"

namespace carve {

/// A kernel that uses 40 registers and can be compiled with 24 to 72.
inline JobKernel sampleKernel(const std::string &Name, double Share) {
  JobKernel K;
  K.Traced.Kernel = Name;
  K.Traced.Share = Share;
  K.Traced.Launches = 10;
  K.Traced.Shapes = {launches(Name, 256, uint64_t(Share * 1e9))};
  K.Region.Kernel = Name;
  K.Region.Default.RegsPerThread = 40;
  K.Region.AtMin.RegsPerThread = 24;
  K.Region.AtMax.RegsPerThread = 72;
  K.KernelDigest = "digest-of-" + Name;
  return K;
}

/// What is built from \p K first: its default and its control copy.
inline KernelBuild sampleBuild(const JobKernel &K) {
  const std::string &Name = K.Traced.Kernel;
  KernelBuild Built;
  Built.Default = K.Region.Default;
  Built.Variants = {{{}, Name, Built.Default, "code", ""},
                    {{}, Name + "__carve_control", Built.Default, "code", ""}};
  return Built;
}

/// The same for all kernels of \p Job.
inline JobBuild defaultsOf(const TuningJob &Job) {
  JobBuild Built(Job);
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    Built.Kernels[K] = sampleBuild(Job.Kernels[K]);
  return Built;
}

/// Adds the variant with register cap \p Cap to \p K.
inline void addVariant(KernelBuild &K, unsigned Cap, unsigned SpillBytes = 0) {
  JobVariant V;
  V.Setting.Cap = Cap;
  V.CloneName = K.Variants[DefaultPlace].CloneName + "__carve_r" + std::to_string(Cap);
  V.Resources.RegsPerThread = Cap;
  V.Resources.SpillStoreBytes = SpillBytes;
  V.CodeDigest = "code" + std::to_string(Cap);
  K.Variants.push_back(V);
}

/// The records of a replay of \p Kernel, with the launch of WorkloadTesting.h, in which r32 takes
/// two thirds of the default's time, and r64 more.
inline std::string replayed(const std::string &Kernel) {
  std::string Text;
  const std::string Place = Kernel + "\t1000,1,1\t256,1,1\t0\t1,1,1\t0\t";
  const std::pair<std::string, double> Times[] = {
      {"default", 60000}, {"control", 60000}, {"r32", 40000}, {"r64", 70000}};
  for (const auto &[Variant, Ns] : Times) {
    Text += "verified\t" + Place + Variant + "\tequal\t-\n";
    for (int Round = 0; Round < 12; ++Round)
      Text += "timed\t" + Place + (Round < 5 ? "screen\t" : "confirm\t") + std::to_string(Round) +
              "\t" + Variant + "\t" + std::to_string(Ns + Round) + "\t0\n";
  }
  return Text;
}

/// A job on an H200: one module with the kernels `_Z2avPf` and `init`.
inline TuningJob sampleJob() {
  TuningJob Job;
  Job.Device.Name = "NVIDIA H200";
  Job.Device.KernelDriver = "580.159.03";
  Job.Device.Major = 9;
  Job.Device.Sms = 132;
  Job.Device.MemoryBytes = 150000000000;
  Job.Model = valueOf(loadDeviceModel(DevicesDir, "sm_90"));
  JobModule M;
  M.Source.Key = "key";
  M.Source.Source = "k.cu";
  M.Source.Output = "k.o";
  M.Source.NvccVersion = "13.0.88";
  M.Source.Containers = {"c1", "c2"};
  M.Image.Arch = "sm_90";
  M.Image.CubinDigest = "cubin";
  M.Image.PtxasOptions = {"-arch=sm_90", "-m64"};
  M.Kernels = {0, 1};
  Job.Modules = {M};
  Job.Kernels = {sampleKernel("_Z2avPf", 0.7), sampleKernel("init", 0.2)};
  for (JobKernel &K : Job.Kernels)
    K.Modules = {0};
  return Job;
}

/// What is built from sampleJob(): `_Z2avPf` has r32 and r64, and `init` has nothing to try.
inline JobBuild sampleBuild(const TuningJob &Job) {
  JobBuild Built = defaultsOf(Job);
  addVariant(Built.Kernels[0], 32, 16);
  addVariant(Built.Kernels[0], 64);
  return Built;
}

} // namespace carve
