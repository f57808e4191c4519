#include "Doctor/Findings.h"

#include "Version/Version.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <utility>

using namespace carve;

namespace {

/// `13` and `0` of `13.0.88`; zeros where there is no number.
std::pair<unsigned, unsigned> releaseOf(llvm::StringRef Version) {
  auto [Major, Rest] = Version.split('.');
  std::pair<unsigned, unsigned> Release{0, 0};
  if (Major.getAsInteger(10, Release.first) ||
      Rest.split('.').first.getAsInteger(10, Release.second))
    return {0, 0};
  return Release;
}

std::string gigabytes(uint64_t Bytes) {
  return llvm::formatv("{0:f1} GB", double(Bytes) / 1e9).str();
}

std::string toolkits() { return std::string("CUDA ") + OldestToolkit + " to " + NewestToolkit; }

/// Makes the findings of one machine.
class Doctor {
public:
  explicit Doctor(const Machine &M) : M(M) {}

  std::vector<DoctorFinding> look() {
    nvcc();
    nvccsInPath();
    hostCompiler();
    driver();
    cupti();
    counters();
    installation();
    store();
    site();
    caches();
    variables();
    return std::move(Findings);
  }

private:
  void ok(llvm::StringRef Subject, const llvm::Twine &Fact, const llvm::Twine &Advice = "") {
    Findings.push_back({FindingKind::Ok, Subject.str(), Fact.str(), Advice.str()});
  }
  void note(llvm::StringRef Subject, const llvm::Twine &Fact, const llvm::Twine &Advice = "") {
    Findings.push_back({FindingKind::Note, Subject.str(), Fact.str(), Advice.str()});
  }
  void fault(llvm::StringRef Subject, const llvm::Twine &Fact, const llvm::Twine &Advice) {
    Findings.push_back({FindingKind::Fault, Subject.str(), Fact.str(), Advice.str()});
  }

  void nvcc();
  void nvccsInPath();
  void hostCompiler();
  void driver();
  void driversCuda();
  void gpus();
  void cupti();
  void counters();
  void installation();
  void ownPrograms();
  void store();
  void storeFolder();
  void site();
  void caches();
  void variables();
  void variable(const SeenVariable &V);

  bool hasGpu() const { return M.Driver.HasDevices && !M.Driver.Hidden; }

  const Machine &M;
  std::vector<DoctorFinding> Findings;
};

void Doctor::nvcc() {
  const SeenNvcc &N = M.Nvcc;
  if (N.Path.empty())
    return fault("nvcc", N.Failure,
                 "install " + toolkits() + ", or set CARVE_NVCC to the path of its nvcc");
  if (N.Version.empty())
    return fault("nvcc", N.Path + " does not tell its version: " + N.Failure,
                 "set CARVE_NVCC to the path of an nvcc that works");
  std::string What = N.Path + ", " + N.Version;
  if (!N.Behind.empty())
    What += N.Behind == N.Path ? ", a script" : ", a script that runs " + N.Behind;
  auto Release = releaseOf(N.Version);
  if (Release < releaseOf(OldestToolkit))
    return fault("nvcc", What + ": older than " + OldestToolkit + ", which is not supported",
                 "install " + toolkits() + ", or set CARVE_NVCC to its nvcc");
  if (Release > releaseOf(NewestToolkit))
    return note("nvcc", What + ": newer than " + NewestToolkit + ", and not tested",
                "test/toolkits/run of the sources tests it");
  ok("nvcc", What);
}

void Doctor::nvccsInPath() {
  bool Behind = false;
  for (const NvccInPath &N : M.Nvcc.InPath) {
    const std::string Link = N.Target == N.Path ? "" : ", a link to " + N.Target;
    if (N.IsUsed) {
      Behind = true;
      continue;
    }
    if (N.IsUs)
      note("nvcc in PATH", N.Path + " is carve-nvcc: builds that call nvcc by its name are tuned");
    else if (Behind)
      note("nvcc in PATH", N.Path + Link + ", comes later and is not used");
    else
      note("nvcc in PATH", N.Path + Link + ", comes first and is not used by carve-nvcc",
           "builds that call nvcc by its name run this one; set CARVE_NVCC if carve-nvcc should "
           "too");
  }
}

void Doctor::hostCompiler() {
  if (M.Nvcc.Version.empty())
    return;
  const SeenHostCompiler &H = M.HostCompiler;
  std::string What = H.Path.empty() ? "that of nvcc" : H.Path;
  if (!H.Version.empty())
    What += ", " + H.Version;
  if (!H.Failure.empty())
    return fault(
        "host compiler", "nvcc cannot compile an empty file with " + What + ": " + H.Failure,
        "install a g++ that this nvcc supports, or name one in NVCC_PREPEND_FLAGS=-ccbin=PATH");
  ok("host compiler", What);
}

void Doctor::driver() {
  const SeenDriver &D = M.Driver;
  if (!D.HasDevices)
    return note("GPU",
                "there is none (no /dev/nvidia*): programs are compiled, and settings that the "
                "store or a profile has are used",
                "with a GPU, carve-nvcc and carve tune time the kernels and find better settings");
  if (D.Hidden)
    return note("GPU",
                "CUDA_VISIBLE_DEVICES='" + *D.Hidden + "' hides all of them: nothing is tuned",
                "unset it to tune here");
  if (!D.Failure.empty())
    return fault(
        "GPU", "there is one, but its driver does not work: " + D.Failure,
        "install the driver that NVIDIA has for it; in a container, start it with --gpus=all "
        "and the driver's libraries");
  driversCuda();
  gpus();
}

void Doctor::driversCuda() {
  const SeenDriver &D = M.Driver;
  if (D.CudaMajor == 0)
    return;
  std::string What = llvm::formatv("for CUDA {0}.{1}", D.CudaMajor, D.CudaMinor).str();
  if (!D.Version.empty())
    What = D.Version + ", " + What;
  unsigned Toolkit = releaseOf(M.Nvcc.Version).first;
  if (Toolkit > unsigned(D.CudaMajor))
    return fault("driver", What + ": programs of nvcc " + M.Nvcc.Version + " cannot run with it",
                 llvm::formatv("install a driver for CUDA {0} or newer", Toolkit).str());
  ok("driver", What);
}

void Doctor::gpus() {
  const std::vector<SeenGpu> &Gpus = M.Driver.Gpus;
  if (Gpus.empty())
    return fault("GPU", "the driver lists none, although there are device files",
                 "check that you may open /dev/nvidia*, and run nvidia-smi");
  std::string First = Gpus.front().Arch;
  bool Mixed = false;
  for (const SeenGpu &G : Gpus) {
    Mixed = Mixed || G.Arch != First;
    if (G.Known)
      ok("GPU", G.Name + ", " + G.Arch);
    else
      note("GPU",
           G.Name + ", " + G.Arch + ": its architecture is not known, nothing is tuned for it");
  }
  if (Mixed)
    note("GPU",
         "the GPUs are of several architectures: a program that uses more than one is not tuned",
         "let it see those of one architecture only, by CUDA_VISIBLE_DEVICES");
}

void Doctor::cupti() {
  if (M.Nvcc.Path.empty())
    return;
  const SeenCupti &C = M.Cupti;
  if (!C.Path.empty() && C.Failure.empty())
    return ok("CUPTI", C.Path);
  const std::string What =
      C.Path.empty() ? "libcupti is not beside nvcc" : C.Path + " cannot be loaded: " + C.Failure;
  const std::string Advice =
      "install the toolkit's part cuda-cupti: without it no kernel can be timed";
  if (hasGpu())
    return fault("CUPTI", What, Advice);
  note("CUPTI", What, Advice);
}

void Doctor::counters() {
  const SeenDriver &D = M.Driver;
  if (!hasGpu() || !D.Failure.empty())
    return;
  if (!D.CountersRestricted)
    return note("counters", "the driver does not say who may read hardware counters",
                "carve explain says what it could read");
  if (!*D.CountersRestricted)
    return ok("counters", "every user may read hardware counters");
  if (D.IsAdministrator)
    return ok("counters", "hardware counters are for administrators, and you are one");
  note("counters",
       "hardware counters are for administrators alone: carve explain works without them",
       "run carve explain as root, or write 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' "
       "into a "
       "file of /etc/modprobe.d and start the machine again");
}

void Doctor::installation() {
  const SeenInstallation &I = M.Installation;
  const std::string Again = "install carve-nvcc again, and keep its folders together";
  if (I.ProbeFailure.empty())
    ok("probe", I.Probe);
  else
    fault("probe", I.ProbeFailure, Again);
  if (I.Architectures == 0)
    fault("devices", I.DevicesDir + " describes no architecture", Again);
  if (!I.HasLaunch)
    fault("carve-launch", I.Launch + " is missing: captures cannot be tuned", Again);
  ownPrograms();
}

void Doctor::ownPrograms() {
  const SeenInstallation &I = M.Installation;
  if (I.OwnNvcc.empty())
    return fault("carve-nvcc", "it is not in the folder of carve",
                 "install carve-nvcc again, and keep its folders together");
  if (I.NvccInPath.empty())
    return note("carve-nvcc", I.OwnNvcc + " is not in PATH", "add its folder to PATH");
  if (I.NvccInPath != I.OwnNvcc)
    return note("carve-nvcc",
                "PATH leads to another one: " + I.NvccInPath + ", and this is " + I.OwnNvcc,
                "keep one of them in PATH");
  ok("carve-nvcc", I.OwnNvcc);
}

void Doctor::store() {
  const SeenStore &S = M.Store;
  if (S.Root.empty())
    return fault("store", "there can be none: CARVE_STORE, XDG_CACHE_HOME and HOME are all unset",
                 "set CARVE_STORE to a folder of your own; without it nothing is remembered");
  if (!S.Refusal.empty())
    return fault("store", S.Root + " is not used: " + S.Refusal,
                 "do that, or set CARVE_STORE to a folder of your own");
  if (!S.Writable)
    return fault("store", S.Root + " cannot be written: nothing is remembered",
                 "set CARVE_STORE to a folder of your own");
  storeFolder();
}

void Doctor::storeFolder() {
  const SeenStore &S = M.Store;
  // A unit takes about a megabyte; with less than this a build fills the disk.
  constexpr uint64_t LeastFreeBytes = 100'000'000;
  if (S.FreeBytes < LeastFreeBytes)
    return fault(
        "store", S.Root + ": " + gigabytes(S.FreeBytes) + " are free on its disk",
        "make room ('carve store prune --max-size=MB'), or set CARVE_STORE to another disk");
  if (!S.Exists)
    return ok("store", S.Root + ", made by the first compile; " + gigabytes(S.FreeBytes) + " free");
  const std::string What = S.Root + ", of " + S.Owner + ", " + gigabytes(S.Bytes) + " used, " +
                           gigabytes(S.FreeBytes) + " free, " +
                           (S.Digest.empty() ? "no decisions" : "decisions " + S.Digest);
  if (S.LimitBytes > S.Bytes && S.FreeBytes < S.LimitBytes - S.Bytes)
    return note("store",
                What + ": it may grow to " + gigabytes(S.LimitBytes) +
                    ", for which the disk "
                    "has no room",
                "set CARVE_STORE_SIZE to fewer megabytes");
  ok("store", What);
}

void Doctor::site() {
  const SeenSite &S = M.Site;
  if (S.Root.empty())
    return;
  if (!S.Failure.empty())
    return fault("site", S.Root + " is not used: " + S.Failure,
                 "ask whoever looks after it, or unset CARVE_STORE_SITE");
  const std::string What = S.Root + ", of " + S.Owner + ", ";
  if (S.Decisions == 0)
    return note("site", What + "no decisions", "'carve store publish' puts decisions there");
  ok("site", What + std::to_string(S.Decisions) + " decision(s)");
}

void Doctor::caches() {
  if (M.Ccache && M.Ccache->DependMode && !M.Ccache->AsksForKey)
    fault("ccache", M.Ccache->Path + ": its depend mode notices neither profiles nor decisions",
          "set CCACHE_COMPILERCHECK='%compiler% --carve-cache-key'");
  else if (M.Ccache && !M.Ccache->AsksForKey)
    ok("ccache", M.Ccache->Path + ", needs no setting",
       "CCACHE_COMPILERCHECK='%compiler% --carve-cache-key' makes it faster");
  else if (M.Ccache)
    ok("ccache", M.Ccache->Path + ", asks carve-nvcc what objects depend on");
  if (M.Sccache)
    note("sccache",
         M.Sccache->Path + ": it runs nvcc's steps by itself, so what it compiles is not tuned",
         "use ccache for CUDA sources");
}

void Doctor::variables() {
  if (!M.VariablesFailure.empty())
    fault("variables", M.VariablesFailure, "correct or unset the variable: every compile fails");
  if (!M.ProfileFailure.empty())
    fault("CARVE_PROFILE", M.ProfileFailure, "correct the file, or unset CARVE_PROFILE");
  for (const SeenVariable &V : M.Variables)
    variable(V);
}

void Doctor::variable(const SeenVariable &V) {
  const std::string What = "is '" + V.Value + "'";
  llvm::StringRef Name = V.Name;
  if (Name == "CARVE_RUN" && V.Value == "none")
    return note(Name, What + ": no program is run, so nothing is tuned by a compile",
                "unset it to tune by compiling; carve tune does so in any case");
  if (Name.starts_with("NVCC_"))
    return note(Name, What + ": every compile gets these options");
  if (!Name.starts_with("CARVE_")) {
    if (llvm::StringRef(V.Value).contains("sccache"))
      note(Name, What + ": what sccache compiles is not tuned", "use ccache for CUDA sources");
    return;
  }
  bool Known =
      llvm::StringSwitch<bool>(Name)
          .Cases("CARVE_NVCC", "CARVE_RUN", "CARVE_EFFORT", "CARVE_PROFILE", "CARVE_LOG", true)
          .Cases("CARVE_STORE", "CARVE_STORE_SIZE", "CARVE_STORE_SITE", "CARVE_CALLERS", true)
          .Default(Name.starts_with("CARVE_PROBE_"));
  if (Known)
    return ok(Name, What);
  note(Name, What + ": carve-nvcc has no such variable",
       "check its spelling; carve-nvcc(1) lists them");
}

} // namespace

std::vector<DoctorFinding> carve::findingsOf(const Machine &M) { return Doctor(M).look(); }
