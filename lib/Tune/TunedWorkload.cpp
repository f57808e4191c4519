#include "Tune/TunedWorkload.h"

#include "Captures/File/CaptureFile.h"
#include "Store/RecordJson.h"
#include "Store/StoreLayout.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace carve;
namespace fs = llvm::sys::fs;
namespace json = llvm::json;

static constexpr RecordKind WorkloadRecord = {"workload", "carve-workload", 1};

static constexpr llvm::StringLiteral Variables[] = {
    "PATH",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "CUDA_CACHE_DISABLE",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
};

/// The place in \p Environment of a variable that is not in Variables.
static std::optional<size_t> refusedVariable(llvm::ArrayRef<std::string> Environment) {
  for (size_t I = 0; I < Environment.size(); ++I)
    if (!llvm::is_contained(Variables, llvm::StringRef(Environment[I]).split('=').first))
      return I;
  return std::nullopt;
}

namespace carve {

static json::Value toValue(LaunchDomain Domain) { return nameOf(Domain).str(); }

static bool readValue(const json::Value &V, LaunchDomain &Out, json::Path P) {
  std::string Name;
  if (!readValue(V, Name, P))
    return false;
  Out = Name == nameOf(LaunchDomain::Traced) ? LaunchDomain::Traced : LaunchDomain::Preserve;
  if (Name == nameOf(Out))
    return true;
  P.report("expected preserve or traced");
  return false;
}

template <class Fields> static void describe(Fields &F, WorkloadFile &W) {
  F("path", PathValue{W.Path});
  F("digest", W.Digest);
}

template <class Fields> static void describe(Fields &F, WorkloadKernel &K) {
  F("unit", FileNameValue{K.Unit});
  F("kernel", K.Kernel);
  F("mangled", K.Mangled);
  F("gpu-ns", K.GpuNs);
}

template <class Fields> static void describe(Fields &F, TunedWorkload &W) {
  F("date", W.Date);
  F("directory", PathValue{W.Directory});
  F("argv", W.Argv);
  F("captures", W.Captures);
  F.require([&] { return W.Argv.empty() != W.Captures.empty(); },
            "expected either argv or captures");
  F("program", W.Program);
  F("stdin", PathValue{W.StdinPath});
  F("outputs", W.OutputFiles);
  F("environment", W.Environment);
  F.refuse(
      "environment", [&] { return refusedVariable(W.Environment); },
      "expected a variable that a tuning keeps");
  F("timeout-s", W.TimeoutS);
  F("launch-domain", W.Domain);
  F("kernels", W.Kernels);
}

} // namespace carve

std::string TunedWorkload::text() const {
  if (!Argv.empty())
    return llvm::join(Argv, " ");
  std::vector<std::string> Names;
  for (const WorkloadFile &C : Captures)
    Names.push_back(llvm::sys::path::filename(C.Path).str());
  return llvm::join(Names, " ");
}

std::vector<std::string> carve::workloadEnvironment(GetEnv Env) {
  std::vector<std::string> Environment;
  for (llvm::StringRef Name : Variables) {
    std::optional<std::string> Value = Env(Name);
    Environment.push_back(Value ? (Name + "=" + *Value).str() : Name.str());
  }
  return Environment;
}

/// The digest of the file \p Path; empty if it cannot be read.
static std::string contentDigest(const std::string &Path) {
  llvm::Expected<std::string> Bytes = readFile(Path);
  if (Bytes)
    return digestOf(*Bytes);
  llvm::consumeError(Bytes.takeError());
  return "";
}

static llvm::Expected<std::string> captureDigest(const std::string &Path) {
  llvm::Expected<CaptureReader> Reader = CaptureReader::open(Path);
  if (!Reader)
    return Reader.takeError();
  return Reader->indexDigest();
}

static std::string workingFolder(llvm::StringRef Dir) {
  return normalisedPath(Dir.empty() ? "." : Dir);
}

TunedWorkload carve::commandWorkload(const WorkloadSpec &Spec) {
  TunedWorkload W;
  W.Directory = workingFolder(Spec.Dir);
  W.Argv = Spec.Argv;
  W.StdinPath = normalisedPath(Spec.StdinPath);
  W.OutputFiles = Spec.OutputFiles;
  W.Environment = Spec.Environment;
  W.TimeoutS = Spec.TimeoutS;
  std::string &Name = W.Argv.front();
  if (!llvm::StringRef(Name).contains('/'))
    if (llvm::ErrorOr<std::string> Found = llvm::sys::findProgramByName(Name))
      Name = normalisedPath(*Found);
  std::string Path = normalisedPath(Name, W.Directory);
  if (std::string Digest = contentDigest(Path); !Digest.empty())
    W.Program = {Path, Digest};
  return W;
}

llvm::Expected<TunedWorkload> carve::capturesWorkload(llvm::ArrayRef<std::string> Files,
                                                      llvm::StringRef Dir) {
  TunedWorkload W;
  W.Directory = workingFolder(Dir);
  for (const std::string &File : Files) {
    std::string Path = normalisedPath(File, W.Directory);
    llvm::Expected<std::string> Digest = captureDigest(Path);
    if (!Digest)
      return Digest.takeError();
    W.Captures.push_back({std::move(Path), std::move(*Digest)});
  }
  return W;
}

/// The name of the record: tunings of the same command, or of the same captures, have the same.
static std::string keyOf(const TunedWorkload &W) {
  std::vector<llvm::StringRef> Fields = {W.Directory, W.StdinPath};
  Fields.insert(Fields.end(), W.Argv.begin(), W.Argv.end());
  Fields.push_back("");
  for (const WorkloadFile &C : W.Captures)
    Fields.push_back(C.Path);
  return digestOfFields(Fields);
}

static llvm::Expected<std::optional<TunedWorkload>> recordedWorkload(llvm::StringRef Key,
                                                                     const UnitStore &Store) {
  llvm::Expected<std::optional<std::string>> Text = Store.workload(Key);
  if (!Text)
    return Text.takeError();
  if (!*Text)
    return std::nullopt;
  return parseRecord<TunedWorkload>(**Text, "workload " + Key.str(), WorkloadRecord);
}

void carve::rememberWorkload(TunedWorkload New, UnitStore &Store) {
  if (New.Kernels.empty())
    return;
  const std::string Key = keyOf(New);
  llvm::Expected<std::optional<TunedWorkload>> Old = recordedWorkload(Key, Store);
  if (!Old)
    logLine("replaced: " + llvm::toString(Old.takeError()));
  else if (*Old)
    for (WorkloadKernel &K : (*Old)->Kernels)
      if (llvm::none_of(New.Kernels, [&](const WorkloadKernel &N) {
            return N.Unit == K.Unit && N.Mangled == K.Mangled;
          }))
        New.Kernels.push_back(std::move(K));
  if (llvm::Error Failed = Store.putWorkload(Key, printRecord(New, WorkloadRecord)))
    logLine("the workload was not stored: " + llvm::toString(std::move(Failed)));
}

std::vector<TunedWorkload> carve::tunedWorkloads(const UnitStore &Store) {
  std::vector<TunedWorkload> Workloads;
  for (const std::string &Key : entryNames(Store.root(), EntryKind::Workload)) {
    llvm::Expected<std::optional<TunedWorkload>> W = recordedWorkload(Key, Store);
    if (!W)
      logLine(llvm::toString(W.takeError()));
    else if (*W)
      Workloads.push_back(std::move(**W));
  }
  llvm::stable_sort(Workloads,
                    [](const TunedWorkload &A, const TunedWorkload &B) { return A.Date > B.Date; });
  return Workloads;
}

std::string carve::whyGone(const TunedWorkload &W) {
  if (!fs::is_directory(W.Directory))
    return "the folder " + W.Directory + " does not exist any more";
  if (W.Program && !fs::can_execute(W.Program->Path))
    return "the program " + W.Program->Path + " does not exist any more";
  for (const WorkloadFile &C : W.Captures) {
    if (!fs::exists(C.Path))
      return "the capture " + C.Path + " does not exist any more";
    llvm::Expected<std::string> Digest = captureDigest(C.Path);
    if (!Digest)
      return llvm::toString(Digest.takeError());
    if (*Digest != C.Digest)
      return "the capture " + C.Path + " is another one than was tuned: digest " + *Digest +
             ", expected " + C.Digest;
  }
  return "";
}

std::string carve::programChange(const TunedWorkload &W) {
  if (!W.Program)
    return "";
  std::string Now = contentDigest(W.Program->Path);
  if (Now == W.Program->Digest)
    return "";
  return W.Program->Path + " is another file than was tuned: digest " + Now + ", expected " +
         W.Program->Digest;
}
