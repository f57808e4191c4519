#include "Compile/LinkRecorder.h"

#include "Nvcc/RelocatableCode.h"
#include "Support/Digest.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace fs = llvm::sys::fs;

namespace {

/// Separates nvlink's arguments into options and inputs.
class InputFinder {
public:
  InputFinder(llvm::StringRef WorkDir, const Toolchain &T) : WorkDir(WorkDir) {
    // The toolkit's libraries change only with its version.
    Toolkit = normalisedPath(T.BinDir + "/..", WorkDir);
    (void)fs::real_path(Toolkit, RealToolkit);
  }
  llvm::Error read(llvm::ArrayRef<std::string> Arguments);

  std::vector<std::string> Options;
  std::vector<LinkInput> Inputs;

private:
  llvm::Error addFile(const std::string &Path);
  std::string archiveOf(llvm::StringRef Library, llvm::ArrayRef<std::string> Arguments) const;

  llvm::StringRef WorkDir;
  bool isOfToolkit(llvm::StringRef Path) const;

  std::string Toolkit;
  llvm::SmallString<128> RealToolkit;
};

/// Returns true if \p Path belongs to the toolkit: it lies in the toolkit's folder as written or
/// with links resolved. The files of a toolkit that consists of links lie elsewhere.
bool InputFinder::isOfToolkit(llvm::StringRef Path) const {
  llvm::SmallString<128> Real;
  return llvm::StringRef(normalisedPath(Path, WorkDir)).starts_with(Toolkit + "/") ||
         fs::real_path(absolutePath(Path, WorkDir), Real) || Real.starts_with(RealToolkit);
}

/// Returns the archive that `-l<Library>` names if it is the user's; otherwise an empty text.
std::string InputFinder::archiveOf(llvm::StringRef Library,
                                   llvm::ArrayRef<std::string> Arguments) const {
  std::vector<std::string> Dirs;
  for (llvm::StringRef Word : Arguments)
    if (Word.consume_front("-L"))
      Dirs.push_back(Word.str());
  std::string Path = findArchive(Library, Dirs, WorkDir);
  return Path.empty() || isOfToolkit(Path) ? "" : Path;
}

llvm::Error InputFinder::addFile(const std::string &Path) {
  // nvlink takes the content of an archive once, however often it is named.
  if (llvm::any_of(Inputs, [&](const LinkInput &I) { return I.Path == Path; }))
    return llvm::Error::success();
  llvm::Expected<std::vector<RelocatableObject>> Objects =
      findRelocatableCode(absolutePath(Path, WorkDir));
  if (!Objects)
    return Objects.takeError();
  for (size_t I = 0; I < Objects->size(); ++I)
    Inputs.push_back({Path, (*Objects)[I].Member, unsigned(I), (*Objects)[I].Containers});
  return llvm::Error::success();
}

llvm::Error InputFinder::read(llvm::ArrayRef<std::string> Arguments) {
  for (size_t I = 0; I < Arguments.size(); ++I) {
    llvm::StringRef Word = Arguments[I];
    std::string File;
    if (Word.starts_with("-l"))
      File = archiveOf(Word.drop_front(2), Arguments);
    else if (!Word.starts_with("-") && fs::is_regular_file(absolutePath(Word, WorkDir)))
      File = Word.str();
    // The host compiler is only for link-time optimisation, and a record must not name a program.
    if (Word == "--host-ccbin")
      ++I;
    else if (File.empty())
      Options.push_back(Arguments[I]);
    else if (llvm::Error E = addFile(File))
      return E;
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> keep(const std::string &Path, UnitStore &Store) {
  llvm::Expected<std::string> Bytes = readFile(Path);
  return Bytes ? Store.putBlob(*Bytes) : Bytes.takeError();
}

} // namespace

llvm::Error carve::recordLink(const PlannedLink &Planned, const LinkCommand &C, const Toolchain &T,
                              UnitStore &Store) {
  DeviceLink L;
  L.Project = projectRoot(C.WorkDir);
  L.Output = C.Output;
  L.Directory = C.WorkDir;
  L.Key = linkKey(L.Project, C.WorkDir, C.Output);
  L.Command = C.Argv;
  L.Nvcc = T.Nvcc;
  L.NvccVersion = C.NvccVersion;
  // Inputs are the same for every architecture, so they are read once.
  InputFinder Finder(C.WorkDir, T);
  for (const PlannedLinkImage &P : Planned.Images) {
    Finder.Options.clear();
    if (llvm::Error E = Finder.read(P.NvlinkArguments))
      return E;
    if (Finder.Inputs.empty()) // nvcc plans a link even if there is nothing to link.
      return llvm::Error::success();
    L.Images.push_back({P.Arch, "", std::move(Finder.Options)});
  }
  L.Inputs = std::move(Finder.Inputs);
  for (size_t I = 0; I < L.Images.size(); ++I) {
    llvm::Expected<std::string> Digest = keep(Planned.Images[I].CubinPath, Store);
    if (!Digest)
      return Digest.takeError();
    L.Images[I].CubinDigest = *Digest;
  }
  llvm::Expected<std::string> Container = readFile(Planned.FatbinPath);
  if (!Container)
    return Container.takeError();
  L.Containers = {digestOf(*Container)};
  return Store.putLink(L);
}
