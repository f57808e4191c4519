/// \file
/// What `carve doctor` has seen of a machine. MachineLook fills it, Findings judges it. It holds
/// values alone, so that a test can describe a machine that does not exist. Where something was not
/// found, the reason is a text for a person.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One program called nvcc in a folder of PATH.
struct NvccInPath {
  std::string Path;
  std::string Target; ///< With all links resolved.
  bool IsUs = false;  ///< A link to carve-nvcc.
  bool IsUsed = false;
};

struct SeenNvcc {
  std::string Path;    ///< Empty: none was found.
  std::string Failure; ///< Why none was found, or why it tells no version.
  std::string Version; ///< `13.0.88`; empty: it tells none.
  std::string Behind;  ///< The nvcc that Path, a script, runs; empty: Path is no script.
  std::vector<NvccInPath> InPath;
};

struct SeenHostCompiler {
  std::string Path;    ///< Or the bare name if it is not in PATH; empty: nvcc does not say.
  std::string Version; ///< The first line that it prints for `--version`.
  std::string Failure; ///< What nvcc prints when it compiles an empty file; empty: it can.
};

struct SeenGpu {
  std::string Name;
  std::string Arch;  ///< `sm_90`
  bool Known = true; ///< share/carve-nvcc/devices has its limits.
};

struct SeenDriver {
  bool HasDevices = false;           ///< /dev/nvidia0 to 31, or /dev/dxg.
  std::optional<std::string> Hidden; ///< The CUDA_VISIBLE_DEVICES that hides all GPUs.
  std::string Failure;               ///< Why libcuda cannot be loaded or started; empty: it can.
  std::string Version;               ///< Of the kernel's module; empty: not known.
  int CudaMajor = 0, CudaMinor = 0;  ///< The newest CUDA that libcuda supports; 0: not known.
  std::vector<SeenGpu> Gpus;
  /// Whether hardware counters are for administrators alone; absent: the driver does not say.
  std::optional<bool> CountersRestricted;
  bool IsAdministrator = false; ///< CAP_SYS_ADMIN, as root has it.
};

struct SeenCupti {
  std::string Path;    ///< Empty: not found.
  std::string Failure; ///< Why it cannot be loaded; empty: it can.
};

struct SeenInstallation {
  std::string Probe, DevicesDir, Launch; ///< Where they are expected.
  std::string ProbeFailure;              ///< With its path; empty: it is there and is a library.
  unsigned Architectures = 0;            ///< Described in DevicesDir.
  bool HasLaunch = false;
  std::string OwnNvcc;    ///< The carve-nvcc beside the program; empty: there is none.
  std::string NvccInPath; ///< The carve-nvcc that PATH leads to, links resolved; empty: none.
};

struct SeenStore {
  std::string Root;    ///< Empty: there can be none.
  std::string Refusal; ///< Why it is not used although it is there, and how to trust it.
  bool Exists = false;
  bool Writable = false; ///< It, or if it does not exist the folder in which it would be made.
  std::string Owner;     ///< A user's name or number; empty if it does not exist.
  uint64_t Bytes = 0, FreeBytes = 0, LimitBytes = 0;
  std::string Digest; ///< Of all decisions; empty: there are none.
};

/// The store of the site, which CARVE_STORE_SITE names.
struct SeenSite {
  std::string Root;    ///< Empty: none is named.
  std::string Failure; ///< Why it is not used; empty: it is.
  std::string Owner;   ///< A user's name or number.
  uint64_t Decisions = 0;
};

struct SeenCache {
  std::string Path;
  bool DependMode = false; ///< ccache's.
  bool AsksForKey = false; ///< ccache's compiler_check asks carve-nvcc for its key.
};

struct SeenVariable {
  std::string Name, Value;
};

struct Machine {
  SeenNvcc Nvcc;
  SeenHostCompiler HostCompiler;
  SeenDriver Driver;
  SeenCupti Cupti;
  SeenInstallation Installation;
  SeenStore Store;
  SeenSite Site;
  std::optional<SeenCache> Ccache, Sccache;
  std::vector<SeenVariable> Variables; ///< All `CARVE_*`, `NVCC_*_FLAGS` and launchers, sorted.
  std::string VariablesFailure;        ///< Why carve-nvcc refuses their values; empty: it does not.
  std::string ProfileFailure;          ///< Why the profile that CARVE_PROFILE names is not used.
};

} // namespace carve
