/// \file
/// Sample kernels and a sample job for the tests of a tuning.
#pragma once

#include "Tune/Job/TuningJob.h"
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
  K.Variants = {{{}, Name, K.Region.Default, "code", ""},
                {{}, Name + "__carve_control", K.Region.Default, "code", ""}};
  return K;
}

/// Adds the variant with register cap \p Cap to \p K.
inline void addVariant(JobKernel &K, unsigned Cap, unsigned SpillBytes = 0) {
  JobVariant V;
  V.Setting.Cap = Cap;
  V.CloneName = K.Traced.Kernel + "__carve_r" + std::to_string(Cap);
  V.Resources.RegsPerThread = Cap;
  V.Resources.SpillStoreBytes = SpillBytes;
  V.CodeDigest = "code" + std::to_string(Cap);
  K.Variants.push_back(V);
}

/// A job on an H200: one module with the kernels `_Z2avPf` (r32, r64) and `init` (nothing to try).
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
  addVariant(Job.Kernels[0], 32, 16);
  addVariant(Job.Kernels[0], 64);
  return Job;
}

} // namespace carve
