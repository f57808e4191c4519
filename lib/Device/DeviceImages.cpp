#include "Device/DeviceImages.h"

#include "Nvcc/DeviceWords.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <re2/re2.h>

#include <cstring>

using namespace carve;
namespace path = llvm::sys::path;

bool carve::isPtxFile(llvm::StringRef File) { return File.ends_with(".ptx"); }

llvm::Expected<std::array<unsigned, 3>> carve::parseBlock(llvm::StringRef Option,
                                                          llvm::StringRef Text) {
  constexpr unsigned Largest[] = {1024, 1024, 64};
  constexpr unsigned LargestThreads = 1024;
  auto Wrong = [&](const llvm::Twine &Why) {
    return usageError(Option + ": `" + Text + "` " + Why + ", expected X, XxY or XxYxZ");
  };
  llvm::SmallVector<llvm::StringRef, 3> Parts;
  Text.split(Parts, 'x');
  if (Parts.size() > 3)
    return Wrong("has more than three extents");
  std::array<unsigned, 3> Block{1, 1, 1};
  uint64_t Threads = 1;
  for (auto [I, Part] : llvm::enumerate(Parts)) {
    if (Part.getAsInteger(10, Block[I]) || Block[I] == 0)
      return Wrong("is not a block of threads");
    if (Block[I] > Largest[I])
      return Wrong("exceeds " + llvm::Twine(Largest[I]) + " in dimension " + llvm::Twine(I + 1));
    Threads *= Block[I];
  }
  if (Threads > LargestThreads)
    return Wrong("has " + llvm::Twine(Threads) + " threads of at most 1024");
  return Block;
}

namespace {

using Words = std::vector<std::string>;

void addArchitectures(Words &Options, llvm::ArrayRef<std::string> Archs) {
  for (llvm::StringRef Arch : Archs) {
    std::string Number = Arch.drop_front(strlen("sm_")).str();
    Options.push_back("-gencode=arch=compute_" + Number + ",code=sm_" + Number);
  }
}

/// Runs nvcc with \p Front, \p Options and \p Back. Its temporary files are in \p KeepDir, even if
/// the run is interrupted.
llvm::Expected<CommandResult> runNvcc(const Toolchain &T, CommandRunner &Runner,
                                      llvm::StringRef KeepDir, Words Front, const Words &Options,
                                      const Words &Back) {
  Command C;
  C.Environment = {"TMPDIR=" + KeepDir.str()};
  C.Argv = {T.Nvcc};
  llvm::append_range(C.Argv, Front);
  llvm::append_range(C.Argv, Options);
  llvm::append_range(C.Argv, Back);
  return runChecked(Runner, std::move(C));
}

/// Reads the ptxas calls of a command whose source is PTX. Such a command has no host object, so
/// parseDryrun() does not apply.
llvm::Expected<std::vector<DeviceImage>> parsePtxDryrun(llvm::StringRef Text,
                                                        llvm::StringRef File) {
  std::vector<DeviceImage> Images;
  for (llvm::StringRef Line : llvm::split(Text, '\n')) {
    llvm::StringRef Tool = Line.ltrim("#$ ").split(' ').first.trim('"');
    if (!Line.starts_with("#$ ") || path::filename(Tool) != "ptxas")
      continue;
    llvm::Expected<Words> Call = splitCommand(Line.drop_front(strlen("#$ ")), {});
    if (!Call)
      return Call.takeError();
    DeviceImage Image;
    Image.PtxPath = File.str();
    for (size_t I = 1; I < Call->size(); ++I) {
      llvm::StringRef Word = (*Call)[I];
      if (Word == "-o") {
        ++I;
        continue;
      }
      if (Word == File)
        continue;
      Image.PtxasOptions.push_back(Word.str());
      if (Word.consume_front("-arch="))
        Image.Arch = Word.str();
    }
    Images.push_back(std::move(Image));
  }
  return Images;
}

/// Makes the PTX of a CUDA source in \p KeepDir as the command does, but without the host compiler.
llvm::Expected<std::vector<DeviceImage>> imagesOfSource(const ImagesRequest &O, const Toolchain &T,
                                                        CommandRunner &Runner,
                                                        llvm::StringRef KeepDir) {
  Words Options = deviceWords(O.NvccOptions, !O.Archs.empty()).Options;
  addArchitectures(Options, O.Archs);
  Words Keep = {"--keep", "--keep-dir", KeepDir.str()};
  Words Plan = Keep;
  Plan.push_back("--dryrun");
  auto Dryrun = runNvcc(T, Runner, KeepDir, std::move(Plan), Options, {"-c", O.File});
  if (!Dryrun)
    return Dryrun.takeError();
  llvm::Expected<BuildPlan> Planned = parseDryrun(Dryrun->Stderr);
  if (!Planned)
    return Planned.takeError();
  std::vector<DeviceImage> Images;
  for (DeviceUnit &Unit : Planned->Units)
    llvm::append_range(Images, Unit.Images);
  if (Images.empty())
    return usageError(O.Command +
                      ": the command names no real architecture, expected --arch=sm_XX");

  Words Back = {"-fatbin", "-o", KeepDir.str() + "/made.fatbin", O.File};
  auto Compile = runNvcc(T, Runner, KeepDir, std::move(Keep), Options, Back);
  if (!Compile)
    return Compile.takeError();
  return Images;
}

/// Returns the images of a PTX file for the requested architectures, or else for its own `.target`.
llvm::Expected<std::vector<DeviceImage>>
imagesOfPtx(const ImagesRequest &O, const Toolchain &T, CommandRunner &Runner,
            llvm::StringRef DevicesDir, llvm::StringRef KeepDir, llvm::StringRef Text) {
  DeviceWords Given = deviceWords(O.NvccOptions, !O.Archs.empty());
  Words Archs = O.Archs;
  if (Archs.empty() && !Given.NamesArchs) {
    static const re2::RE2 Target(R"((?m)^\s*\.target\s+(\w+))");
    std::string Arch;
    if (!re2::RE2::PartialMatch(re2::StringPiece(Text.data(), Text.size()), Target, &Arch))
      return usageError(O.Command + ": `" + O.File + "` has no .target, expected PTX");
    if (auto Model = loadDeviceModel(DevicesDir, Arch); !Model)
      return usageError(O.Command + ": `" + O.File + "`: .target: " + toString(Model.takeError()));
    Archs.push_back(Arch);
  }
  addArchitectures(Given.Options, Archs);
  auto Dryrun = runNvcc(T, Runner, KeepDir, {"--dryrun", "--keep", "--keep-dir", KeepDir.str()},
                        Given.Options, {"-fatbin", "-o", KeepDir.str() + "/made.fatbin", O.File});
  if (!Dryrun)
    return Dryrun.takeError();
  return parsePtxDryrun(Dryrun->Stderr, O.File);
}

} // namespace

llvm::Expected<std::vector<DeviceImage>>
carve::makeDeviceImages(const ImagesRequest &O, const Toolchain &T, CommandRunner &Runner,
                        llvm::StringRef DevicesDir, llvm::StringRef KeepDir) {
  llvm::Expected<std::string> Text = readFile(O.File);
  if (!Text)
    return usageError(O.Command + ": " + toString(Text.takeError()));
  for (llvm::StringRef Arch : O.Archs)
    if (auto Model = loadDeviceModel(DevicesDir, Arch); !Model)
      return usageError("--arch: " + toString(Model.takeError()));
  return isPtxFile(O.File) ? imagesOfPtx(O, T, Runner, DevicesDir, KeepDir, *Text)
                           : imagesOfSource(O, T, Runner, KeepDir);
}
