// With -rdc=true, nvlink makes the image that a program loads. A tuning makes this image again.
// Units with kernels to tune become multi-version modules. All other inputs are read from where
// they were, if they are still the same. nvlink accepts a bare cubin as an object and makes the
// same image of it.
//
// An archive is passed as its members, because one of them may be replaced; nvlink links them all.
// nvlink drops kernels that no host code refers to, and no host code refers to a clone by name. So
// nvlink is told to ignore such references.

#include "Tune/Job/DeviceLinks.h"

#include "Cubin/Cubin.h"
#include "Nvcc/RelocatableCode.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

#include <set>

using namespace carve;

namespace {

/// Finds the inputs of links again. Reads every file once.
class InputFinder {
public:
  explicit InputFinder(const std::vector<ParsedModule> &Parsed) : Parsed(Parsed) {}
  /// Finds \p Input of \p Link for \p Arch. Returns nothing if its file is gone or changed and no
  /// unit has its code.
  std::optional<FoundInput> find(const LinkInput &Input, const DeviceLink &Link,
                                 llvm::StringRef Arch);

private:
  const std::vector<RelocatableObject> &objectsIn(llvm::StringRef Path);
  std::optional<size_t> moduleOf(const LinkInput &Input, llvm::StringRef Arch) const;

  const std::vector<ParsedModule> &Parsed;
  llvm::StringMap<std::vector<RelocatableObject>> Known;
};

const std::vector<RelocatableObject> &InputFinder::objectsIn(llvm::StringRef Path) {
  auto [It, New] = Known.try_emplace(Path);
  if (New) {
    if (auto Objects = findRelocatableCode(Path))
      It->second = std::move(*Objects);
    else
      llvm::consumeError(Objects.takeError()); // A file that cannot be read counts as gone.
  }
  return It->second;
}

bool loads(const Unit &U, const LinkInput &Input) {
  return llvm::is_contained(U.Containers, Input.Containers.front());
}

std::optional<size_t> InputFinder::moduleOf(const LinkInput &Input, llvm::StringRef Arch) const {
  if (Input.Containers.size() != 1) // `ld -r` has joined several objects.
    return std::nullopt;
  for (size_t M = 0; M < Parsed.size(); ++M)
    if (Parsed[M].Source.Relocatable && Parsed[M].Image.Arch == Arch &&
        (loads(Parsed[M].Source, Input) ||
         llvm::any_of(Parsed[M].Twins, [&](const Unit &U) { return loads(U, Input); })))
      return M;
  return std::nullopt;
}

std::optional<FoundInput> InputFinder::find(const LinkInput &Input, const DeviceLink &Link,
                                            llvm::StringRef Arch) {
  FoundInput Found;
  Found.Module = moduleOf(Input, Arch);
  std::string Path = absolutePath(Input.Path, Link.Directory);
  const std::vector<RelocatableObject> &Objects = objectsIn(Path);
  if (Input.Index < Objects.size() && Objects[Input.Index].Containers == Input.Containers)
    Found.Path = Path;
  else if (!Found.Module || Parsed[*Found.Module].Image.CubinDigest.empty())
    return std::nullopt;
  return Found;
}

/// The image of \p L that \p Device runs, chosen as by imageForDevice(); null if there is none.
const LinkedImage *linkedImageFor(const DeviceLink &L, const DeviceInfo &Device) {
  Unit U;
  for (const LinkedImage &I : L.Images) {
    U.Images.emplace_back();
    U.Images.back().Arch = I.Arch;
  }
  std::optional<UnitImage> Best = imageForDevice(U, Device);
  if (!Best)
    return nullptr;
  return &*llvm::find_if(L.Images, [&](const LinkedImage &I) { return I.Arch == Best->Arch; });
}

/// Finds the inputs of \p L and adds them to \p Found, and the modules they come from to \p
/// Modules. Returns false if an input is missing.
bool findInputs(const DeviceLink &L, InputFinder &Finder, ParsedLink &Found,
                std::set<size_t> &Modules) {
  for (const LinkInput &I : L.Inputs) {
    std::optional<FoundInput> Input = Finder.find(I, L, Found.Image.Arch);
    if (!Input) {
      logLine(L.Output + ": " + I.Path + " is no longer what was linked");
      continue;
    }
    if (Input->Module)
      Modules.insert(*Input->Module);
    Found.Inputs.push_back(std::move(*Input));
  }
  return Found.Inputs.size() == L.Inputs.size();
}

/// Links one image, with or without the variants of its modules.
class ImageLinker {
public:
  ImageLinker(const ParsedLink &Link, const std::vector<ParsedModule> &Parsed,
              const JobBuild &Built, const JobContext &Context, std::string Dir)
      : Link(Link), Parsed(Parsed), Built(Built), Context(Context), Dir(std::move(Dir)) {}
  /// Makes the cubin with the variants of the job's \p Modules. Fails if an input cannot be read or
  /// nvlink fails.
  llvm::Expected<std::string> link(const std::set<size_t> &Modules) const;

private:
  llvm::Expected<std::string> fileOf(size_t Input, const std::set<size_t> &Modules) const;
  std::vector<std::string> options() const;

  const ParsedLink &Link;
  const std::vector<ParsedModule> &Parsed;
  const JobBuild &Built;
  const JobContext &Context;
  std::string Dir;
};

/// The path of the file that nvlink gets for input number \p Input.
llvm::Expected<std::string> ImageLinker::fileOf(size_t Input,
                                                const std::set<size_t> &Modules) const {
  const FoundInput &Found = Link.Inputs[Input];
  const LinkInput &Recorded = Link.Source.Inputs[Input];
  const ParsedModule *M = Found.Module ? &Parsed[*Found.Module] : nullptr;
  bool Replaced = M && M->InJob && Modules.count(*M->InJob);
  if (!Replaced && !Found.Path.empty() && Recorded.Member.empty())
    return Found.Path;
  bool IsCubin = Replaced || Found.Path.empty();
  llvm::Expected<std::string> Bytes =
      Replaced       ? llvm::Expected<std::string>(Built.Modules[*M->InJob].Cubin)
      : IsCubin && M ? Context.Store.blob(M->Image.CubinDigest)
                     : readRelocatableObject(Found.Path, Recorded.Index);
  if (!Bytes)
    return Bytes.takeError();
  std::string Path = Dir + "/" + std::to_string(Input) + (IsCubin ? ".cubin" : ".o");
  if (llvm::Error E = writeFileAtomically(Path, *Bytes))
    return E;
  return Path;
}

std::vector<std::string> ImageLinker::options() const {
  std::vector<std::string> Options;
  for (llvm::StringRef Option : Link.Image.NvlinkOptions)
    if (!llvm::is_contained({"use-host-info", "ignore-host-info"}, Option.ltrim('-')))
      Options.push_back(Option.str());
  Options.push_back("-ignore-host-info");
  return Options;
}

llvm::Expected<std::string> ImageLinker::link(const std::set<size_t> &Modules) const {
  Command C;
  C.Argv = {Context.T.tool("nvlink")};
  llvm::append_range(C.Argv, options());
  for (size_t I = 0; I < Link.Inputs.size(); ++I) {
    llvm::Expected<std::string> File = fileOf(I, Modules);
    if (!File)
      return File.takeError();
    C.Argv.push_back(std::move(*File));
  }
  std::string Output = Dir + "/linked.cubin";
  C.Argv.insert(C.Argv.end(), {"-o", Output});
  C.Dir = Link.Source.Directory;
  if (auto Done = runChecked(Context.Runner, std::move(C)); !Done)
    return Done.takeError();
  return readFile(Output);
}

/// Sets the registers of the kernels of \p Modules as in the linked image \p Bytes. Only there do
/// they include the system functions that a kernel calls. Fails if a clone is missing.
llvm::Error takeLinkedRegisters(llvm::StringRef Bytes, const std::set<size_t> &Modules,
                                const TuningJob &Job, JobBuild &Built) {
  llvm::Expected<Cubin> Image = parseCubin(Bytes);
  if (!Image)
    return Image.takeError();
  llvm::StringMap<unsigned> Regs;
  for (const CubinKernel &K : Image->Kernels)
    Regs[K.Resources.Name] = K.Resources.RegsPerThread;
  for (size_t M : Modules)
    for (size_t K : Job.Modules[M].Kernels) {
      KernelBuild &Kernel = Built.Kernels[K];
      for (JobVariant &V : Kernel.Variants) {
        if (!V.InModule)
          continue;
        auto Linked = Regs.find(V.CloneName);
        if (Linked == Regs.end())
          return malformed("the linked image lacks " + V.CloneName);
        V.Resources.RegsPerThread = Linked->second;
      }
      if (Kernel.timedTogether())
        Kernel.Default.RegsPerThread = Kernel.Variants.front().Resources.RegsPerThread;
    }
  return llvm::Error::success();
}

/// Links with all of \p Modules that nvlink accepts, and adds the others to \p Refused. Returns the
/// image, or nothing if there is none.
std::optional<std::string> linkAccepted(const ImageLinker &Linker, const std::set<size_t> &Modules,
                                        const TuningJob &Job, JobBuild &Built, llvm::StringRef Name,
                                        std::set<size_t> &Refused) {
  auto Try = [&](const std::set<size_t> &Some) -> std::optional<std::string> {
    llvm::Expected<std::string> Bytes = Linker.link(Some);
    llvm::Error Failed = Bytes ? takeLinkedRegisters(*Bytes, Some, Job, Built) : Bytes.takeError();
    if (!Failed)
      return std::move(*Bytes);
    logLine(Name + ": " + llvm::toString(std::move(Failed)));
    return std::nullopt;
  };
  if (auto Whole = Try(Modules))
    return Whole;
  std::set<size_t> Accepted;
  for (size_t M : Modules)
    if (Modules.size() > 1 && Try({M}))
      Accepted.insert(M);
    else
      Refused.insert(M);
  if (Accepted.empty())
    return std::nullopt;
  auto Rest = Try(Accepted);
  if (!Rest)
    Refused.insert(Accepted.begin(), Accepted.end());
  return Rest;
}

} // namespace

std::vector<ParsedLink> carve::parseLinks(std::vector<DeviceLink> Links,
                                          std::vector<ParsedModule> &Parsed, const TuningJob &Job,
                                          bool AnyLink) {
  for (ParsedModule &M : Parsed)
    if (M.Source.Relocatable)
      M.NotLinked = KnownReason::NoDeviceLink;
  InputFinder Finder(Parsed);
  std::vector<ParsedLink> Sound;
  std::set<size_t> InSound, InChanged;
  for (DeviceLink &L : Links) {
    const LinkedImage *Image = linkedImageFor(L, Job.Device);
    if (!Image) {
      logLine(L.Output + ": no linked image for " + Job.Device.arch());
      continue;
    }
    ParsedLink Found{{}, *Image, {}};
    std::set<size_t> Modules;
    bool IsSound = findInputs(L, Finder, Found, Modules);
    (IsSound ? InSound : InChanged).insert(Modules.begin(), Modules.end());
    if (!IsSound)
      continue;
    Found.Source = std::move(L);
    Sound.push_back(std::move(Found));
  }
  for (size_t M : InSound)
    Parsed[M].NotLinked.reset();
  for (size_t M : InChanged)
    if (!AnyLink || !InSound.count(M))
      Parsed[M].NotLinked = KnownReason::ChangedInputs;
  return Sound;
}

std::set<size_t> carve::linkKernelVariants(const TuningJob &Job, const JobSources &Sources,
                                           const JobContext &Context, JobBuild &Built) {
  const std::vector<ParsedModule> &Parsed = Sources.Modules;
  std::set<size_t> Refused;
  Built.Links.clear();
  for (const ParsedLink &Link : Sources.Links) {
    std::set<size_t> Modules;
    for (const FoundInput &Input : Link.Inputs)
      if (Input.Module && Parsed[*Input.Module].InJob &&
          !Built.Modules[*Parsed[*Input.Module].InJob].Cubin.empty())
        Modules.insert(*Parsed[*Input.Module].InJob);
    if (Modules.empty())
      continue;
    llvm::Expected<TempDir> Dir = TempDir::create("carve-link");
    if (!Dir) {
      logLine(llvm::toString(Dir.takeError()));
      Refused.insert(Modules.begin(), Modules.end());
      continue;
    }
    ImageLinker Linker(Link, Parsed, Built, Context, Dir->path());
    if (auto Cubin = linkAccepted(Linker, Modules, Job, Built, Link.Source.Output, Refused))
      Built.Links.push_back({Link.Source, Link.Image,
                             std::vector<size_t>(Modules.begin(), Modules.end()),
                             std::move(*Cubin)});
  }
  return Refused;
}

void carve::leaveKernels(const std::set<size_t> &Modules, const TuningJob &Job, JobBuild &Built) {
  for (auto [K, Kernel] : llvm::zip_equal(Job.Kernels, Built.Kernels)) {
    if (llvm::none_of(K.Modules, [&](size_t M) { return Modules.count(M) != 0; }))
      continue;
    Kernel.LeftReason = KnownReason::DeviceLinkFailed;
    for (JobVariant &V : Kernel.Variants)
      V.InModule = false;
  }
}
