#include "Compile/Emission.h"
#include "Compile/LinkRecorder.h"
#include "Emit/ObjectSplicer.h"
#include "Nvcc/CommandRewrite.h"
#include "Nvcc/KeptCompile.h"
#include "Store/UserProfile.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace path = llvm::sys::path;

namespace {

class Emission {
public:
  Emission(const EmissionRequest &Request, std::vector<CompiledUnit> &Units, OutputPlace &Output,
           UnitStore &Store)
      : Request(Request), Context(Request.Context), Units(Units), Output(Output), Store(Store) {}

  llvm::Error emit();

private:
  llvm::Error emitFileCap(unsigned Cap);
  bool fileCapHolds(const CompiledUnit &U) const;
  std::optional<unsigned> commonFileCap() const;
  llvm::Expected<EmittedUnit> emitted(CompiledUnit &U, FurtherEntries Entries) const;
  llvm::Expected<std::string> objectWith(const CompiledUnit &U, const EmittedUnit &Emitted) const;
  llvm::Expected<std::optional<std::string>> spliced(CompiledUnit &U);
  llvm::Expected<std::string> newOutput(llvm::StringRef Folder, llvm::StringRef Output) const;
  llvm::Error emitObjects();
  llvm::Error emitExecutable();
  llvm::Error link(const llvm::StringMap<std::string> &Objects, llvm::StringRef Linked);
  llvm::Expected<KeptCompile> runNvccAgain(const std::vector<std::string> &Arguments,
                                           llvm::StringRef Folder);
  void rememberLink(const BuildPlan &Plan);
  void rememberContainer(CompiledUnit &U, llvm::StringRef Container);

  std::string folderOf(const CompiledUnit &U) const {
    return Request.KeepDir + "/carve-" + std::to_string(&U - Units.data());
  }
  std::string objectOf(const CompiledUnit &U) const {
    return absolutePath(U.Planned.ObjectPath, Request.WorkDir);
  }

  const EmissionRequest &Request;
  const EmitContext &Context;
  std::vector<CompiledUnit> &Units;
  OutputPlace &Output;
  UnitStore &Store;
};

/// Adds the container to the record, so that the probe recognises a program of this build.
void Emission::rememberContainer(CompiledUnit &U, llvm::StringRef Container) {
  std::string Digest = digestOf(Container);
  if (!llvm::is_contained(U.Record.Containers, Digest))
    U.Record.Containers.push_back(Digest);
}

/// Applies the decisions to the unit's images.
llvm::Expected<EmittedUnit> Emission::emitted(CompiledUnit &U, FurtherEntries Entries) const {
  std::vector<const Profile *> Profiles;
  if (Request.UserProfile)
    Profiles.push_back(Request.UserProfile);
  Profiles.push_back(&U.Decisions);
  if (std::error_code E = llvm::sys::fs::create_directory(folderOf(U)))
    return llvm::createFileError(folderOf(U), E);
  EmitContext Own = Context;
  Own.Entries = Entries;
  return emitUnit(U.Planned, Profiles, Own, folderOf(U));
}

/// Returns the unit's object with the new container, made to choose among the further entries.
llvm::Expected<std::string> Emission::objectWith(const CompiledUnit &U,
                                                 const EmittedUnit &Emitted) const {
  llvm::Expected<std::string> Object = readFile(objectOf(U));
  if (!Object)
    return Object.takeError();
  llvm::Expected<std::string> Old = readFile(U.Planned.FatbinPath);
  if (!Old)
    return Old.takeError();
  llvm::Expected<std::string> New = spliceContainer(*Object, *Old, Emitted.Container);
  if (!New || Emitted.Entries.empty())
    return New;
  return withDispatch(*New, Emitted.Entries, U.Planned.HostCommand, Context.Runner, folderOf(U));
}

/// Returns the unit's object with its decisions, or nothing if they change nothing.
llvm::Expected<std::optional<std::string>> Emission::spliced(CompiledUnit &U) {
  llvm::Expected<EmittedUnit> Emitted = emitted(U, Context.Entries);
  if (!Emitted)
    return Emitted.takeError();
  if (Emitted->Container.empty())
    return std::nullopt;
  llvm::Expected<std::string> New = objectWith(U, *Emitted);
  if (!New && !Emitted->Entries.empty()) {
    U.NeedsHostCommand = U.Planned.HostCommand.empty();
    logLine("no further entries in " + U.Planned.ObjectPath + ": " +
            llvm::toString(New.takeError()));
    Emitted = emitted(U, FurtherEntries::Off);
    if (!Emitted)
      return Emitted.takeError();
    if (Emitted->Container.empty())
      return std::nullopt;
    New = objectWith(U, *Emitted);
  }
  if (!New)
    return New.takeError();
  rememberContainer(U, Emitted->Container);
  return std::optional<std::string>(std::move(*New));
}

/// Returns a path in the keep directory for a file that will replace \p Output. It has the same
/// name, because nvcc names other files after it.
llvm::Expected<std::string> Emission::newOutput(llvm::StringRef Folder,
                                                llvm::StringRef Output) const {
  std::string Path = (Request.KeepDir + "/" + Folder).str();
  if (std::error_code E = llvm::sys::fs::create_directory(Path))
    return llvm::createFileError(Path, E);
  return Path + "/" + path::filename(Output).str();
}

llvm::Error Emission::emitObjects() {
  for (CompiledUnit &U : Units) {
    llvm::Expected<std::optional<std::string>> New = spliced(U);
    if (!New)
      return New.takeError();
    if (!*New)
      continue;
    llvm::Expected<std::string> Tuned = newOutput("carve-tuned", objectOf(U));
    if (!Tuned)
      return Tuned.takeError();
    if (llvm::Error E = writeFileAtomically(*Tuned, **New))
      return E;
    OutputPlace Own(objectOf(U));
    if (llvm::Error E = (Request.Line.makesSeveralObjects() ? Own : Output).replaceBy(*Tuned))
      return E;
  }
  return llvm::Error::success();
}

llvm::Error Emission::emitExecutable() {
  llvm::StringMap<std::string> Objects;
  bool Changed = false;
  for (CompiledUnit &U : Units) {
    std::string Object = objectOf(U);
    llvm::Expected<std::optional<std::string>> New = spliced(U);
    if (!New)
      return New.takeError();
    if (*New) {
      Changed = true;
      Object = folderOf(U) + "/" + path::filename(Object).str();
      if (llvm::Error E = writeFileAtomically(Object, **New))
        return E;
    }
    Objects[U.Planned.Source] = Object;
  }
  if (!Changed)
    return llvm::Error::success();
  llvm::Expected<std::string> Linked = newOutput("carve-linked", Output.path());
  if (!Linked)
    return Linked.takeError();
  if (llvm::Error E = link(Objects, *Linked))
    return E;
  return Output.replaceBy(*Linked);
}

/// Runs nvcc with \p Arguments, keeps its files below \p Folder of the keep directory, and prints
/// nothing. Fails if nvcc fails.
llvm::Expected<KeptCompile> Emission::runNvccAgain(const std::vector<std::string> &Arguments,
                                                   llvm::StringRef Folder) {
  std::string Keep = (Request.KeepDir + "/" + Folder).str();
  if (std::error_code E = llvm::sys::fs::create_directory(Keep))
    return llvm::createFileError(Keep, E);
  llvm::Expected<KeptCompile> Kept =
      compileKeeping(Context.T, Context.Runner, Arguments, "", Keep, /*Quiet=*/true);
  if (Kept && !Kept->Nvcc.succeeded())
    return llvm::make_error<ToolFailure>(Context.T.Nvcc, Kept->Nvcc.ExitStatus, Kept->Nvcc.Stderr);
  return Kept;
}

/// Links the executable again from \p Objects. With -rdc=true nvcc keeps its files, so that the new
/// device link can be recorded, too.
llvm::Error Emission::link(const llvm::StringMap<std::string> &Objects, llvm::StringRef Linked) {
  std::vector<std::string> Arguments = relinkArguments(Request.Line, Objects, Linked);
  if (!Request.Line.Relocatable) {
    Command Link;
    Link.Argv = {Context.T.Nvcc};
    llvm::append_range(Link.Argv, Arguments);
    return runChecked(Context.Runner, Link).takeError();
  }
  llvm::Expected<KeptCompile> Kept = runNvccAgain(Arguments, "carve-link");
  if (!Kept)
    return Kept.takeError();
  rememberLink(Kept->Plan);
  return llvm::Error::success();
}

/// Records the device link of a command that was run again.
void Emission::rememberLink(const BuildPlan &Plan) {
  LinkCommand C{Request.Line.Argv, Request.Line.Output, Request.WorkDir, Context.NvccVersion};
  if (!Plan.Link)
    return;
  if (llvm::Error E = recordLink(*Plan.Link, C, Context.T, Store))
    logLine("device link not recorded: " + llvm::toString(std::move(E)));
}

/// Returns true if the kernels for which a unit's file cap was chosen still exist.
bool Emission::fileCapHolds(const CompiledUnit &U) const {
  std::vector<std::string> Archs;
  for (const Decision &D : U.Decisions.Kernels)
    if (!D.Arch.empty() && !llvm::is_contained(Archs, D.Arch))
      Archs.push_back(D.Arch);
  llvm::Expected<std::vector<std::string>> Now = kernelDigests(U.Record, Store, Archs);
  if (!Now) {
    logLine(llvm::toString(Now.takeError()));
    return false;
  }
  return llvm::all_of(U.Decisions.Kernels, [&](const Decision &D) {
    return !D.Digest || llvm::is_contained(*Now, *D.Digest);
  });
}

/// Returns the cap that the user's profile gives, otherwise the one on which all units' file
/// decisions agree.
std::optional<unsigned> Emission::commonFileCap() const {
  if (Request.UserProfile && Request.UserProfile->FileCap)
    return Request.UserProfile->FileCap;
  std::optional<unsigned> Cap;
  for (const CompiledUnit &U : Units) {
    const std::optional<unsigned> &Own = U.Decisions.FileCap;
    if (!Own || (Cap && *Cap != *Own) || !fileCapHolds(U))
      return std::nullopt;
    Cap = Own;
  }
  return Cap;
}

/// Emits a cap as the paper does: it runs nvcc again with the cap.
llvm::Error Emission::emitFileCap(unsigned Cap) {
  const CommandLine &Line = Request.Line;
  if (Line.makesSeveralObjects())
    return unsupported("several-inputs", "one register cap for several objects");
  if (Line.RegisterCap && *Line.RegisterCap < Cap)
    return unsupported("above-register-cap", llvm::Twine(Cap));
  if (Line.CapFromEnvironment)
    return unsupported("environment-register-cap",
                       "NVCC_*_FLAGS give a cap that cannot be replaced");
  llvm::Expected<std::string> Capped = newOutput("carve-capped", Output.path());
  if (!Capped)
    return Capped.takeError();
  llvm::Expected<KeptCompile> Kept =
      runNvccAgain(withRegisterCap(Line, Cap, *Capped), "carve-file");
  if (!Kept)
    return Kept.takeError();
  for (CompiledUnit &U : Units)
    for (const DeviceUnit &New : Kept->Plan.Units)
      if (New.Source == U.Planned.Source) {
        llvm::Expected<std::string> Container = readFile(New.FatbinPath);
        if (Container)
          rememberContainer(U, *Container);
        else
          logLine(llvm::toString(Container.takeError()));
      }
  rememberLink(Kept->Plan);
  return Output.replaceBy(*Capped);
}

llvm::Error Emission::emit() {
  if (Units.empty())
    return llvm::Error::success();
  if (auto Cap = commonFileCap())
    return emitFileCap(*Cap);
  return Request.Line.Makes == Product::Object ? emitObjects() : emitExecutable();
}

} // namespace

llvm::Error carve::emitDecisions(const EmissionRequest &Request, std::vector<CompiledUnit> &Units,
                                 OutputPlace &Output, UnitStore &Store) {
  return Emission(Request, Units, Output, Store).emit();
}
