#include "Export/ExportVerifier.h"

#include "Emit/ImageEmitter.h"
#include "Export/ExportPlaces.h"
#include "Nvcc/CommandRewrite.h"
#include "Nvcc/KeptCompile.h"
#include "Nvcc/RecordedCommand.h"
#include "Ptx/ProfileName.h"
#include "Store/FlavourPtx.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

/// Reads the kernels of the cubin \p Bytes into \p Out. Spills come from \p Reported, because a
/// cubin does not have them.
template <typename MapType>
llvm::Error readCode(llvm::StringRef Bytes, llvm::ArrayRef<KernelResources> Reported,
                     MapType &Out) {
  llvm::Expected<Cubin> Image = parseCubin(Bytes);
  if (!Image)
    return Image.takeError();
  for (const CubinKernel &K : Image->Kernels) {
    auto &Code = Out[profileName(K.Resources.Name)];
    Code.Resources = K.Resources;
    Code.CodeDigest = K.CodeDigest;
    for (const KernelResources &R : Reported)
      if (R.Name == K.Resources.Name) {
        Code.Resources.SpillStoreBytes = R.SpillStoreBytes;
        Code.Resources.SpillLoadBytes = R.SpillLoadBytes;
      }
  }
  return llvm::Error::success();
}

/// Replaces the project's root by \p Mirror in \p Word wherever the root itself or something below
/// it is named.
std::string mirrored(llvm::StringRef Word, llvm::StringRef Root, llvm::StringRef Mirror) {
  std::string Out;
  while (true) {
    size_t At = Word.find(Root);
    Out += Word.take_front(At);
    if (At == llvm::StringRef::npos)
      return Out;
    Word = Word.drop_front(At + Root.size());
    bool Whole = Word.empty() || Word.front() == '/' || Word.front() == ',';
    Out += Whole ? Mirror : Root;
  }
}

/// Returns the first line of a compiler's output that has an error, or the whole message if there
/// is none.
std::string whatIsWrong(llvm::Error Failed) {
  std::string Message;
  llvm::handleAllErrors(
      std::move(Failed),
      [&](const ToolFailure &F) {
        for (llvm::StringRef Line : llvm::split(F.standardError(), '\n'))
          if (Message.empty() && Line.contains("error"))
            Message = Line.trim().str();
        if (Message.empty())
          Message = F.message();
      },
      [&](const llvm::ErrorInfoBase &E) { Message = E.message(); });
  return Message;
}

std::string textOf(const KernelResources &R) {
  return std::to_string(R.RegsPerThread) + " registers, " + std::to_string(R.spillBytes()) +
         " spill bytes";
}

} // namespace

std::string carve::refusal(llvm::StringRef Written, const CodeComparison &C) {
  return ("nvcc refuses " + Written + ": " + C.Detail).str();
}

/// Makes a directory like the project's, in which everything is a link but the patched files and
/// the directories that lead to them and to the sources.
llvm::Error ExportVerifier::mirror(const PatchedProject &Patched, const std::string &Into) const {
  const std::string &Root = Job.Options.Root;
  std::set<std::string> Real = {""};
  auto AddParents = [&](llvm::StringRef Relative) {
    for (llvm::StringRef Dir = path::parent_path(Relative); !Dir.empty();
         Dir = path::parent_path(Dir))
      Real.insert(Dir.str());
  };
  for (const auto &[Relative, Text] : Patched.Files)
    AddParents(Relative);
  for (const ExportUnit &U : Job.Units) {
    AddParents(Job.relative(U.Source));
    // `..` of a linked directory leads to the parent of the link's target, which is outside of the
    // mirror. So the directory of a compile is a real one.
    if (std::string Below = Job.relative(normalisedPath(U.Record.Directory)); !Below.empty()) {
      AddParents(Below);
      if (fs::is_directory(Root + "/" + Below))
        Real.insert(Below);
    }
    // A file that a source includes may include a patched header by a path of its own.
    for (const ExportImage &I : U.Images)
      for (const KernelPlace &P : I.Preprocessed) {
        AddParents(Job.relative(normalisedPath(P.File, U.Record.Directory)));
      }
  }
  for (const std::string &Dir : Real) {
    std::string To = Into + "/" + Dir;
    if (std::error_code E = fs::create_directories(To))
      return llvm::createFileError(To, E);
    std::error_code E;
    for (fs::directory_iterator At(Root + "/" + Dir, E), End; At != End && !E; At.increment(E)) {
      std::string Name = path::filename(At->path()).str();
      std::string Relative = Dir.empty() ? Name : Dir + "/" + Name;
      if (Real.count(Relative) || Patched.Files.count(Relative))
        continue;
      if (std::error_code Failed = fs::create_link(At->path(), Into + "/" + Relative))
        return llvm::createFileError(Into + "/" + Relative, Failed);
    }
  }
  for (const auto &[Relative, Text] : Patched.Files)
    if (llvm::Error E = writeFileAtomically(Into + "/" + Relative, Text))
      return E;
  return llvm::Error::success();
}

/// Fails if the compile in \p Directory would read a patched file from elsewhere than \p Mirror, as
/// can happen with links and with paths that leave the project.
llvm::Error ExportVerifier::readsMirror(const ExportUnit &U, const PatchedProject &Patched,
                                        const std::string &Mirror,
                                        const std::string &Directory) const {
  const std::string &Root = Job.Options.Root;
  std::set<std::string> Names = {U.Record.Source};
  for (const ExportImage &I : U.Images)
    for (const KernelPlace &P : I.Preprocessed)
      Names.insert(P.File);
  for (const std::string &Name : Names) {
    std::string Below = Job.relative(normalisedPath(Name, U.Record.Directory));
    if (!Patched.Files.count(Below))
      continue;
    llvm::SmallString<256> Read, Expected;
    std::error_code E = fs::real_path(absolutePath(mirrored(Name, Root, Mirror), Directory), Read);
    if (!E)
      E = fs::real_path(Mirror + "/" + Below, Expected);
    if (E || Read != Expected)
      return malformed("a compile in " + U.Record.Directory + " does not read " + Name +
                       " from the patched copy of the project");
  }
  return llvm::Error::success();
}

/// Returns the code that plain nvcc makes of a unit, with one element for each image of the unit.
llvm::Expected<std::vector<ExportVerifier::ImageCode>>
ExportVerifier::plainCode(size_t UnitIndex, const PatchedProject &Patched) {
  const ExportUnit &U = Job.Units[UnitIndex];
  const std::string &Root = Job.Options.Root;
  llvm::Expected<TempDir> Dir = TempDir::create("carve-export");
  if (!Dir)
    return Dir.takeError();
  std::string Mirror = Dir->path() + "/project", Keep = Dir->path() + "/keep";
  if (llvm::Error E = mirror(Patched, Mirror))
    return E;
  if (std::error_code E = fs::create_directory(Keep))
    return llvm::createFileError(Keep, E);
  llvm::Expected<CommandLine> Line = parseRecordedCommand(U.Record.Command, U.Record.Directory);
  if (!Line)
    return Line.takeError();
  std::vector<std::string> Words =
      compileOneArguments(*Line, U.Record.Source, Dir->path() + "/plain.o");
  for (std::string &Word : Words)
    Word = mirrored(Word, Root, Mirror);
  if (auto More = Patched.Options.find(U.Source); More != Patched.Options.end())
    llvm::append_range(Words, More->second);
  std::string Directory = mirrored(U.Record.Directory, Root, Mirror);
  if (!fs::is_directory(Directory)) // The directory is gone from the project and not among the real
                                    // directories of the mirror.
    Directory = U.Record.Directory;
  if (llvm::Error E = readsMirror(U, Patched, Mirror, Directory))
    return E;
  llvm::Expected<KeptCompile> Kept =
      compileKeeping(T, Runner, Words, Directory, Keep, /*Quiet=*/true);
  if (!Kept)
    return Kept.takeError();
  if (!Kept->Nvcc.succeeded())
    return llvm::make_error<ToolFailure>(T.Nvcc, Kept->Nvcc.ExitStatus,
                                         mirrored(Kept->Nvcc.Stderr, Mirror, Root));
  if (Kept->NoPlan || Kept->Plan.Units.size() != 1)
    return malformed("what nvcc did is not known: " + Kept->NoPlan.value_or("no unit"));
  std::vector<ImageCode> Images;
  for (const ExportImage &I : U.Images) {
    auto Made = llvm::find_if(Kept->Plan.Units.front().Images,
                              [&](const DeviceImage &D) { return D.Arch == I.Record.Arch; });
    if (Made == Kept->Plan.Units.front().Images.end())
      return malformed("nvcc made no image for " + I.Record.Arch);
    llvm::Expected<std::string> Bytes = readFile(Made->CubinPath);
    llvm::Expected<std::string> Ptx = Bytes ? readFile(Made->PtxPath) : Bytes.takeError();
    if (!Ptx)
      return Ptx.takeError();
    // ptxas runs again because it is what reports spills.
    llvm::Expected<Assembled> A = assemble(T, Runner, *Ptx, Made->PtxasOptions);
    if (!A)
      return A.takeError();
    Images.emplace_back();
    if (llvm::Error E = readCode(*Bytes, A->Kernels, Images.back()))
      return E;
  }
  return Images;
}

/// Returns the code of the image as carve-nvcc emits it.
llvm::Expected<ExportVerifier::ImageCode> ExportVerifier::tunedImage(const ExportUnit &U,
                                                                     const ExportImage &I) {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-export");
  if (!Dir)
    return Dir.takeError();
  llvm::Expected<std::string> Original = Job.Store.blob(I.Record.CubinDigest);
  if (!Original)
    return Original.takeError();
  DeviceImage Image{I.Record.Arch, Dir->path() + "/" + I.Record.PtxName,
                    Dir->path() + "/" + I.Record.CubinName, I.Record.PtxasOptions};
  if (llvm::Error E = writeFileAtomically(Image.PtxPath, I.Ptx.text()))
    return E;
  if (llvm::Error E = writeFileAtomically(Image.CubinPath, *Original))
    return E;
  EmitContext Context{T, Runner, U.Record.NvccVersion, Job.DevicesDir};
  Context.Relocatable = U.Record.Relocatable;
  Context.Ceiling = U.Record.RegisterCap;
  Context.FlavourPtx = [&](const DeviceImage &, const FrontEndSetting &Setting) {
    return flavourPtx(U.Record, I.Record.PtxDigest, Setting, Job.Store, T, Runner);
  };
  // A cap for the file is an option of nvcc, which the emitter does not know. Here it becomes a
  // decision for each kernel.
  Profile Decisions = U.Decisions;
  if (Decisions.FileCap)
    for (const ExportItem &Item : Job.Items)
      if (&Job.Units[Item.Unit] == &U && !Item.Chosen.Digest)
        Decisions.put(Item.Chosen);
  ImageEmitter Emitter(Image, ImageOrigin::Compiled, I.Ptx, Context);
  llvm::Expected<std::string> Bytes = Emitter.emit({&Decisions}, {});
  if (!Bytes)
    return Bytes.takeError();
  ImageCode Code;
  if (llvm::Error E = readCode(Bytes->empty() ? *Original : *Bytes, Emitter.takeResources(), Code))
    return E;
  for (const EmittedKernel &K : Emitter.takeKernels())
    if (!K.Reason.empty())
      Job.Notes.push_back("carve-nvcc itself keeps the default of " + profileName(K.Kernel) + ": " +
                          K.Reason);
  return Code;
}

/// Returns the code of a unit as carve-nvcc emits it. It is made once for each unit.
llvm::Expected<const std::vector<ExportVerifier::ImageCode> *>
ExportVerifier::tunedCode(size_t UnitIndex) {
  if (auto Known = Tuned.find(UnitIndex); Known != Tuned.end())
    return &Known->second;
  std::vector<ImageCode> Images;
  for (const ExportImage &I : Job.Units[UnitIndex].Images) {
    llvm::Expected<ImageCode> Code = tunedImage(Job.Units[UnitIndex], I);
    if (!Code)
      return Code.takeError();
    Images.push_back(std::move(*Code));
  }
  return &Tuned.emplace(UnitIndex, std::move(Images)).first->second;
}

/// Returns the code of the image as nvcc made it when it was compiled for tuning; empty if it
/// cannot be read.
ExportVerifier::ImageCode ExportVerifier::storedCode(const ExportImage &I) const {
  ImageCode Code;
  llvm::Expected<std::string> Bytes = Job.Store.blob(I.Record.CubinDigest);
  if (llvm::Error E = Bytes ? readCode(*Bytes, {}, Code) : Bytes.takeError())
    logLine(llvm::toString(std::move(E)));
  return Code;
}

/// Compiles the source without a patch and compares it with what the store has of it.
ExportVerifier::SourceState ExportVerifier::sourceState(size_t UnitIndex) {
  if (auto Known = States.find(UnitIndex); Known != States.end())
    return Known->second;
  SourceState &State = States[UnitIndex];
  llvm::Expected<std::vector<ImageCode>> Plain = plainCode(UnitIndex, {});
  if (!Plain) {
    logLine(llvm::toString(Plain.takeError()));
    return State = SourceState::NotCompiled;
  }
  for (auto [I, Code] : llvm::zip_equal(Job.Units[UnitIndex].Images, *Plain))
    for (const auto &[Name, K] : storedCode(I)) {
      auto Now = Code.find(Name);
      if (Now == Code.end() || Now->second.CodeDigest != K.CodeDigest)
        State = SourceState::Changed;
    }
  return State;
}

bool ExportVerifier::sourceChanged(size_t UnitIndex) {
  return sourceState(UnitIndex) == SourceState::Changed;
}

/// Compares one kernel's tuned code with the code of plain nvcc.
CodeComparison ExportVerifier::compareKernel(const ExportItem &Item, const Code &Wanted,
                                             const Code &Plain) {
  if (Wanted.CodeDigest == Plain.CodeDigest)
    return {CodeMatch::SameCode, ""};
  std::string Changed =
      sourceChanged(Item.Unit) ? "; the source has changed since it was compiled for tuning" : "";
  if (Wanted.Resources.RegsPerThread == Plain.Resources.RegsPerThread &&
      Wanted.Resources.spillBytes() == Plain.Resources.spillBytes())
    return {CodeMatch::SameRegisters, textOf(Plain.Resources) + Changed};
  return {CodeMatch::Differs,
          textOf(Plain.Resources) + ", tuned " + textOf(Wanted.Resources) + Changed};
}

unsigned ExportVerifier::capLikeDefault(const ExportImage &I, llvm::StringRef Mangled) {
  unsigned &Cap = LikeDefault[{&I, Mangled.str()}];
  if (Cap)
    return Cap;
  Cap = defaultRegs(I, Mangled);
  std::string Name = profileName(Mangled);
  auto CodeOf = [&](const llvm::StringMap<unsigned> &Caps) -> std::string {
    llvm::Expected<std::string> Text = I.Ptx.withRegisterCaps(Caps);
    llvm::Expected<Assembled> A =
        Text ? assemble(T, Runner, *Text, I.Record.PtxasOptions) : Text.takeError();
    ImageCode Code;
    llvm::Error E = A ? readCode(A->CubinBytes, A->Kernels, Code) : A.takeError();
    if (E)
      logLine(llvm::toString(std::move(E)));
    return Code[Name].CodeDigest;
  };
  const std::string Default = CodeOf({});
  // ptxas most likely leaves the code unchanged for multiples of 8, since registers are allocated
  // in units of 8.
  for (unsigned Tried : {Cap, (Cap / 8 + 1) * 8, 255u}) {
    llvm::StringMap<unsigned> Caps;
    Caps[Mangled] = Tried;
    if (!Default.empty() && CodeOf(Caps) == Default)
      return Cap = Tried;
  }
  return Cap;
}

/// Notes which kernels that are not exported get other code. Options for a file, and attributes of
/// templates, affect those, too.
void ExportVerifier::compareOthers(size_t UnitIndex, const std::vector<ImageCode> &Plain) {
  std::set<std::string> &Names = Others[UnitIndex];
  Names.clear();
  std::set<std::string> Exported;
  for (const ExportItem &Item : Job.Items)
    if (Item.Unit == UnitIndex && Item.Out.Reason.empty())
      Exported.insert(Item.Out.Kernel);
  for (auto [I, B] : llvm::zip_equal(Job.Units[UnitIndex].Images, Plain))
    for (const auto &[Name, K] : storedCode(I))
      if (auto New = B.find(Name);
          !Exported.count(Name) && New != B.end() && New->second.CodeDigest != K.CodeDigest)
        Names.insert(Name);
  if (!Names.empty() && sourceChanged(UnitIndex))
    Names.clear();
}

std::vector<std::string> ExportVerifier::otherKernels(const std::set<size_t> &Units) const {
  std::vector<std::string> Notes;
  for (const auto &[UnitIndex, Names] : Others)
    if (!Names.empty() && Units.count(UnitIndex))
      Notes.push_back(
          Job.Units[UnitIndex].Record.Source +
          ": kernels that are not exported get other code too: " + llvm::join(Names, "; "));
  return Notes;
}

Comparisons ExportVerifier::compare(const PatchedProject &Patched,
                                    const std::vector<size_t> &Items) {
  Comparisons Out;
  std::map<size_t, std::vector<size_t>> ByUnit;
  for (size_t Index : Items)
    ByUnit[Job.Items[Index].Unit].push_back(Index);
  for (const auto &[UnitIndex, Own] : ByUnit) {
    auto Wanted = tunedCode(UnitIndex);
    llvm::Expected<std::vector<ImageCode>> Plain =
        Wanted ? plainCode(UnitIndex, Patched) : Wanted.takeError();
    if (!Plain) {
      // If nvcc does not compile the source without the patch either, its failure says nothing
      // about the patch.
      bool Refused = Wanted && Plain.errorIsA<ToolFailure>() &&
                     sourceState(UnitIndex) != SourceState::NotCompiled;
      CodeComparison C{Refused ? CodeMatch::Refused : CodeMatch::NotVerified,
                       whatIsWrong(Plain.takeError())};
      for (size_t Index : Own)
        Out[Index] = C;
      continue;
    }
    compareOthers(UnitIndex, *Plain);
    for (size_t Index : Own) {
      const ExportItem &Item = Job.Items[Index];
      const ImageCode &A = (**Wanted)[Item.Image], &B = (*Plain)[Item.Image];
      auto Old = A.find(Item.Out.Kernel), New = B.find(Item.Out.Kernel);
      if (Old == A.end() || New == B.end())
        Out[Index] = {CodeMatch::Differs, "nvcc makes no kernel of that name"};
      else
        Out[Index] = compareKernel(Item, Old->second, New->second);
    }
  }
  return Out;
}
