#include "Compile/StoredCompile.h"

#include "Emit/ObjectSplicer.h"
#include "Nvcc/EmbeddedPtx.h"
#include "Nvcc/KnownReads.h"
#include "Nvcc/StepOptions.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace carve;
namespace path = llvm::sys::path;

/// Variables that no compiler reads and that differ between two calls in one build: those of
/// shells, terminals, desktops and build systems, and our own. Every other variable counts.
static constexpr llvm::StringLiteral Unread[] = {"COLORTERM",
                                                 "COLUMNS",
                                                 "DISPLAY",
                                                 "EDITOR",
                                                 "HISTCONTROL",
                                                 "HISTFILE",
                                                 "HISTSIZE",
                                                 "HOSTNAME",
                                                 "INVOCATION_ID",
                                                 "JOURNAL_STREAM",
                                                 "LESS",
                                                 "LESSCLOSE",
                                                 "LESSOPEN",
                                                 "LINES",
                                                 "LOGNAME",
                                                 "LS_COLORS",
                                                 "MAIL",
                                                 "MAKEFLAGS",
                                                 "MAKELEVEL",
                                                 "MAKEOVERRIDES",
                                                 "MAKE_TERMERR",
                                                 "MAKE_TERMOUT",
                                                 "MFLAGS",
                                                 "NINJA_STATUS",
                                                 "OLDPWD",
                                                 "PAGER",
                                                 "PS1",
                                                 "PS2",
                                                 "SHELL",
                                                 "SHLVL",
                                                 "STY",
                                                 "TERM",
                                                 "TMUX",
                                                 "TMUX_PANE",
                                                 "USER",
                                                 "VISUAL",
                                                 "WAYLAND_DISPLAY",
                                                 "WINDOWID",
                                                 "_"};
static constexpr llvm::StringLiteral UnreadPrefixes[] = {"CARVE_", "CCACHE_", "CTEST_", "DBUS_",
                                                         "SSH_",   "VSCODE_", "XDG_"};

static bool isUnread(llvm::StringRef Name) {
  return llvm::is_contained(Unread, Name) ||
         llvm::any_of(UnreadPrefixes,
                      [&](llvm::StringRef Prefix) { return Name.starts_with(Prefix); });
}

std::string carve::commandDigest(const CommandLine &C, llvm::StringRef WorkDir, const Toolchain &T,
                                 llvm::ArrayRef<std::string> Environment) {
  std::vector<std::string> Fields = {WorkDir.str(), T.Nvcc};
  if (auto Stamp = stampOf(T.Nvcc, ""))
    Fields.push_back(printInputFiles(*Stamp));
  Fields.push_back(std::to_string(C.AllWords.size()));
  llvm::append_range(Fields, C.AllWords);
  llvm::append_range(Fields, C.Argv);
  std::vector<std::string> Read;
  llvm::copy_if(Environment, std::back_inserter(Read),
                [](llvm::StringRef Variable) { return !isUnread(Variable.split('=').first); });
  llvm::sort(Read);
  llvm::append_range(Fields, Read);
  return digestOfFields(std::vector<llvm::StringRef>(Fields.begin(), Fields.end()));
}

llvm::Expected<SourceStamp> carve::stampSource(llvm::StringRef Source, llvm::StringRef WorkDir) {
  auto File = stampOf(Source, WorkDir);
  if (!File)
    return notStored(Source + " is not a regular file");
  llvm::Expected<std::string> Text = readFile(absolutePath(Source, WorkDir));
  if (!Text)
    return Text.takeError();
  return SourceStamp{*File, digestOf(*Text)};
}

static llvm::Error recordFiles(const DeviceUnit &Planned, const CommandLine &C,
                               const CompileConditions &Now, UnitStore &Store, ObjectRecord &O) {
  llvm::Expected<std::string> Container = readFile(Planned.FatbinPath);
  if (!Container)
    return Container.takeError();
  llvm::Expected<std::string> Object = readFile(absolutePath(Planned.ObjectPath, Now.WorkDir));
  if (!Object)
    return Object.takeError();
  llvm::Expected<DeviceSection> Section = findDeviceSection(*Object, *Container);
  if (!Section)
    return Section.takeError();
  O.FatbinBytes = Container->size();
  O.ObjectDigest = digestOf(*Object);
  O.ObjectBytes = Section->ObjectBytes;
  O.HeaderOffset = Section->HeaderOffset;
  O.SectionOffset = Section->Offset;
  O.SectionBytes = Section->Bytes;
  if (C.Depfile.empty())
    return llvm::Error::success();
  llvm::Expected<std::string> Depfile = readFile(absolutePath(C.Depfile, Now.WorkDir));
  llvm::Expected<std::string> Digest = Depfile ? Store.putBlob(*Depfile) : Depfile.takeError();
  if (!Digest)
    return Digest.takeError();
  O.Depfile = *Digest;
  return llvm::Error::success();
}

/// Returns true if the store has every file of the container, and if each lies directly in the keep
/// directory.
static bool canBeRestored(const DeviceUnit &Planned, llvm::StringRef KeepDir) {
  std::set<std::string> Stored;
  for (const DeviceImage &I : Planned.Images)
    Stored.insert({I.PtxPath, I.CubinPath});
  for (const PlannedPtx &P : embeddedPtx(Planned))
    Stored.insert(P.Path);
  for (llvm::StringRef Argument : Planned.FatbinaryArguments) {
    size_t At = Argument.find(",file=");
    if (At != llvm::StringRef::npos && !Stored.count(Argument.drop_front(At + 6).str()))
      return false;
  }
  Stored.insert(Planned.FatbinPath);
  return llvm::all_of(Stored,
                      [&](llvm::StringRef Path) { return path::parent_path(Path) == KeepDir; });
}

llvm::Expected<ObjectRecord> carve::recordObject(const DeviceUnit &Planned, const KeptCompile &Kept,
                                                 const CommandLine &C, const CompileConditions &Now,
                                                 const Toolchain &T, const SourceStamp &Source,
                                                 int64_t StartedNs, UnitStore &Store) {
  if (std::string Word = unknownNvccRead(C.AllWords); !Word.empty())
    return notStored("the files that nvcc reads because of " + Word + " are not known");
  if (!Kept.Nvcc.Remembered)
    return notStored("the output of nvcc could not be captured");
  if (!canBeRestored(Planned, Now.KeepDir))
    return notStored("the container holds files that the store does not keep");
  if (auto At = refusedFatbinaryOption(Planned.FatbinaryArguments, Now.KeepDir))
    return notStored("fatbinary has the option '" + Planned.FatbinaryArguments[*At] +
                     "', which a record must not pass on");
  llvm::Expected<std::vector<InputFile>> Inputs =
      inputsOf({Kept, T, Source, Now.WorkDir, Now.KeepDir, StartedNs});
  if (!Inputs)
    return Inputs.takeError();
  ObjectRecord O;
  O.Command = Now.Command;
  O.SourceDigest = Source.Digest;
  O.KeepDir = Now.KeepDir;
  O.FatbinaryArguments = Planned.FatbinaryArguments;
  O.FatbinName = path::filename(Planned.FatbinPath).str();
  O.Streams = StreamShape::ours();
  O.Decisions = Now.Decisions;
  if (llvm::Error E = recordFiles(Planned, C, Now, Store, O))
    return E;
  const std::pair<std::string *, std::string> Blobs[] = {{&O.Inputs, printInputFiles(*Inputs)},
                                                         {&O.Stdout, Kept.Nvcc.Stdout},
                                                         {&O.Stderr, Kept.Nvcc.Stderr}};
  for (const auto &[Digest, Bytes] : Blobs) {
    llvm::Expected<std::string> Put = Store.putBlob(Bytes);
    if (!Put)
      return Put.takeError();
    *Digest = *Put;
  }
  return O;
}

static llvm::Error checkInputs(const Unit &U, const CompileConditions &Now,
                               const UnitStore &Store) {
  llvm::Expected<std::string> Text = Store.blob(U.Object->Inputs);
  llvm::Expected<std::vector<InputFile>> Inputs = Text ? parseInputFiles(*Text) : Text.takeError();
  if (!Inputs)
    return Inputs.takeError();
  for (const InputFile &Old : *Inputs) {
    if (isUnchanged(Old, Now.WorkDir))
      continue;
    // The source may have been touched so that it is compiled again.
    if (Old.Path != U.Source)
      return notStored(Old.Path + " has changed");
    llvm::Expected<SourceStamp> New = stampSource(U.Source, Now.WorkDir);
    if (!New)
      return New.takeError();
    if (New->Digest != U.Object->SourceDigest)
      return notStored(U.Source + " has changed");
  }
  return llvm::Error::success();
}

static llvm::Error checkConditions(const Unit &U, const CompileConditions &Now,
                                   const UnitStore &Store) {
  if (!U.Object)
    return notStored("nothing was kept of the last compile");
  const ObjectRecord &O = *U.Object;
  if (O.Decisions == Now.Decisions)
    return notStored("the decisions are those of the last compile");
  if (O.Command != Now.Command || O.KeepDir != Now.KeepDir)
    return notStored("the command, the environment or the toolkit has changed");
  bool Silent = O.Stdout == digestOf("") && O.Stderr == digestOf("");
  if (!Silent && !(O.Streams == StreamShape::ours()))
    return notStored("the last compile printed its messages to other streams");
  return checkInputs(U, Now, Store);
}

/// Returns nvcc's object, made from the one at \p Output.
static llvm::Expected<std::string> originalObject(const ObjectRecord &O, llvm::StringRef Output) {
  llvm::Expected<std::string> There = readFile(Output);
  if (!There)
    return There.takeError();
  llvm::Expected<std::string> Object =
      unsplicedObject(*There, {O.ObjectBytes, O.HeaderOffset, O.SectionOffset, O.SectionBytes});
  if (Object && digestOf(*Object) != O.ObjectDigest)
    return notStored(Output + " is not the object of the last compile");
  return Object;
}

/// Writes PTX, cubins and container into the keep directory again.
static llvm::Expected<DeviceUnit> restoreFiles(const Unit &U, llvm::StringRef Object,
                                               const UnitStore &Store) {
  const ObjectRecord &O = *U.Object;
  auto Restore = [&](llvm::StringRef Name, llvm::StringRef Digest) -> llvm::Expected<std::string> {
    std::string Path = O.KeepDir + "/" + Name.str();
    llvm::Expected<std::string> Bytes = Store.blob(Digest);
    if (!Bytes)
      return Bytes.takeError();
    if (llvm::Error E = writeFileAtomically(Path, *Bytes))
      return E;
    return Path;
  };
  DeviceUnit Planned;
  Planned.Source = U.Source;
  Planned.FatbinPath = O.KeepDir + "/" + O.FatbinName;
  Planned.FatbinaryArguments = O.FatbinaryArguments;
  Planned.ObjectPath = O.KeepDir + "/carve-restored.o";
  for (const UnitImage &I : U.Images) {
    llvm::Expected<std::string> Ptx = Restore(I.PtxName, I.PtxDigest);
    if (!Ptx)
      return Ptx.takeError();
    llvm::Expected<std::string> Cubin = Restore(I.CubinName, I.CubinDigest);
    if (!Cubin)
      return Cubin.takeError();
    Planned.Images.push_back({I.Arch, *Ptx, *Cubin, I.PtxasOptions});
  }
  for (const EmbeddedPtx &P : U.Ptx)
    if (llvm::Expected<std::string> Ptx = Restore(P.PtxName, P.PtxDigest); !Ptx)
      return Ptx.takeError();
  if (O.SectionOffset > Object.size() || O.FatbinBytes > Object.size() - O.SectionOffset)
    return notStored("the container does not lie in the object");
  llvm::Error Failed =
      writeFileAtomically(Planned.FatbinPath, Object.substr(O.SectionOffset, O.FatbinBytes));
  if (!Failed)
    Failed = writeFileAtomically(Planned.ObjectPath, Object);
  if (Failed)
    return Failed;
  return Planned;
}

llvm::Expected<RestoredCompile> carve::restoreCompile(const Unit &U, llvm::StringRef Output,
                                                      const CompileConditions &Now,
                                                      const UnitStore &Store) {
  if (llvm::Error E = checkConditions(U, Now, Store))
    return E;
  llvm::Expected<std::string> Object = originalObject(*U.Object, Output);
  if (!Object)
    return Object.takeError();
  llvm::Expected<DeviceUnit> Planned = restoreFiles(U, *Object, Store);
  if (!Planned)
    return Planned.takeError();
  RestoredCompile Restored{std::move(*Planned), std::move(*Object), "", "", ""};
  const std::pair<std::string *, std::string> Blobs[] = {{&Restored.Depfile, U.Object->Depfile},
                                                         {&Restored.Stdout, U.Object->Stdout},
                                                         {&Restored.Stderr, U.Object->Stderr}};
  for (const auto &[Text, Digest] : Blobs) {
    if (Digest.empty())
      continue;
    llvm::Expected<std::string> Bytes = Store.blob(Digest);
    if (!Bytes)
      return Bytes.takeError();
    *Text = std::move(*Bytes);
  }
  return Restored;
}
