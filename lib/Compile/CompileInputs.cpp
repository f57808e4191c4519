#include "Compile/CompileInputs.h"

#include "Nvcc/HeaderSearch.h"
#include "Nvcc/IncludedFiles.h"
#include "Nvcc/KnownReads.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The system stamps files by a clock with ticks of up to 10 ms, so this allows two ticks.
static constexpr int64_t ClockTickNs = 20'000'000;

llvm::Error carve::notStored(const llvm::Twine &Why) { return unsupported("not-stored", Why); }

namespace {

class InputCollector {
public:
  explicit InputCollector(const FinishedCompile &Compile) : Compile(Compile) {}
  llvm::Expected<std::vector<InputFile>> collect();

private:
  llvm::Error readPreprocessed();
  llvm::Error stamp(const std::string &Name);
  llvm::Error stampHeaders();
  llvm::Error stampTools();
  llvm::Error stampHostCompilers();
  std::string variable(llvm::StringRef Name) const;
  void addMissing(std::string Path);

  const FinishedCompile &Compile;
  std::set<std::string> Headers;
  std::vector<InputFile> Files;
};

} // namespace

/// Returns the value of \p Name that nvcc has set for its tools.
std::string InputCollector::variable(llvm::StringRef Name) const {
  for (llvm::StringRef Variable : llvm::reverse(Compile.Kept.Plan.Environment))
    if (Variable.consume_front(Name) && Variable.consume_front("="))
      return Variable.str();
  return "";
}

void InputCollector::addMissing(std::string Path) {
  Files.push_back(stampOfMissing(std::move(Path), Compile.WorkDir));
}

llvm::Error InputCollector::stamp(const std::string &Name) {
  auto File = stampOf(Name, Compile.WorkDir);
  if (!File)
    return notStored(Name + " is not a regular file");
  const SourceStamp &Source = Compile.Source;
  bool IsSource = Name == Source.File.Path;
  if (IsSource ? *File != Source.File
               : std::max(File->ModifiedNs, File->ChangedNs) > Compile.StartedNs - ClockTickNs)
    return notStored(Name + " changed while it was compiled");
  Files.push_back(std::move(*File));
  return llvm::Error::success();
}

llvm::Error InputCollector::readPreprocessed() {
  std::error_code Failed;
  for (fs::directory_iterator It(Compile.KeepDir, Failed), End; !Failed && It != End;
       It.increment(Failed)) {
    if (path::extension(It->path()) != ".ii")
      continue;
    llvm::Expected<std::string> Text = readFile(It->path());
    if (!Text)
      return Text.takeError();
    llvm::StringRef Name = path::filename(It->path());
    if (mayIncludeInAssembly(*Text))
      return notStored("the files that the assembler includes because of " + Name +
                       " are not known");
    auto Found = includedFiles(*Text);
    if (!Found)
      return notStored("the files that " + Name + " includes are not known");
    Headers.insert(Found->begin(), Found->end());
  }
  return Headers.empty() ? notStored("no preprocessed source was kept") : llvm::Error::success();
}

llvm::Error InputCollector::stampHeaders() {
  HeaderQueries Queries;
  for (const std::string &Name : Headers) {
    if (llvm::Error E = stamp(Name))
      return E;
    llvm::Expected<std::string> Text = readFile(absolutePath(Name, Compile.WorkDir));
    if (!Text)
      return Text.takeError();
    readQueries(*Text, Queries);
    if (Queries.Embeds)
      return notStored(Name + " may embed files");
  }
  auto IsOfSystem = [&](llvm::StringRef File) {
    return File.starts_with("/usr/") || File.starts_with(Compile.T.BinDir + "/../");
  };
  HeaderNames Names{Headers, Queries.Names, IsOfSystem};
  for (const std::string &Path :
       missingHeaders(Names, headerFolders(Compile.Kept.Plan.HostCommands), Compile.WorkDir))
    addMissing(Path);
  return llvm::Error::success();
}

/// Stamps nvcc's own tools, and the files that it and they read.
llvm::Error InputCollector::stampTools() {
  const Toolchain &T = Compile.T;
  std::string Cicc = variable("CICC_PATH");
  for (const std::string &Tool :
       {T.tool("cudafe++"), Cicc.empty() ? T.tool("cicc") : Cicc + "/cicc", T.tool("ptxas"),
        T.tool("fatbinary"), T.BinDir + "/nvcc.profile",
        variable("NVVMIR_LIBRARY_DIR") + "/libdevice.10.bc"})
    if (llvm::Error E = stamp(Tool))
      return E;
  return llvm::Error::success();
}

/// Returns true if \p Program, with links resolved, is gcc or clang by its name. A script or a
/// compiler cache, which starts another program, is not.
static bool isHostCompiler(llvm::StringRef Program) {
  llvm::SmallString<256> Real;
  if (fs::real_path(Program, Real))
    return false;
  llvm::StringRef Name = path::filename(Real);
  bool Named = llvm::any_of(std::initializer_list<llvm::StringRef>{"gcc", "g++", "c++", "clang"},
                            [&](llvm::StringRef N) { return Name.contains(N); });
  return Named && !isScript(Real);
}

llvm::Error InputCollector::stampHostCompilers() {
  std::set<std::string> Programs;
  for (const std::vector<std::string> &Words : Compile.Kept.Plan.HostCommands) {
    if (std::string Word = unknownHostRead(Words); !Word.empty())
      return notStored("the files that the host compiler reads because of " + Word +
                       " are not known");
    Programs.insert(Words.front());
  }
  std::string Path = variable("PATH");
  llvm::SmallVector<llvm::StringRef> Dirs;
  llvm::StringRef(Path).split(Dirs, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (const std::string &Program : Programs) {
    std::string Found = Program;
    if (!llvm::StringRef(Program).contains('/')) {
      // A program of that name in an earlier folder would be used instead.
      auto Dir = llvm::find_if(Dirs, [&](llvm::StringRef D) {
        return fs::can_execute(absolutePath((D + "/" + Program).str(), Compile.WorkDir));
      });
      if (Dir == Dirs.end())
        return notStored("the host compiler " + Program + " is not found");
      for (llvm::StringRef Before : llvm::make_range(Dirs.begin(), Dir))
        addMissing((Before + "/" + Program).str());
      Found = (*Dir + "/" + Program).str();
    }
    if (!isHostCompiler(absolutePath(Found, Compile.WorkDir)))
      return notStored("the host compiler is " + Found + ", expected gcc or clang itself");
    if (llvm::Error E = stamp(Found))
      return E;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<InputFile>> InputCollector::collect() {
  if (llvm::Error E = stampHostCompilers())
    return E;
  if (llvm::Error E = stampTools())
    return E;
  if (llvm::Error E = readPreprocessed())
    return E;
  if (llvm::Error E = stampHeaders())
    return E;
  return std::move(Files);
}

llvm::Expected<std::vector<InputFile>> carve::inputsOf(const FinishedCompile &Compile) {
  return InputCollector(Compile).collect();
}
