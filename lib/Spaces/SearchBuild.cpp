// Builds configurations as programs by the command's own options, and the winner by the command as
// the user typed it.
#include "Spaces/SearchBuild.h"

#include "Nvcc/ArgumentList.h"
#include "Nvcc/DeviceWords.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/Parallel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <atomic>
#include <mutex>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Returns nvcc's options that make the program of a configuration at \p Path, without a depfile.
static std::vector<std::string> buildWords(const SearchState &S, const Configuration &Macros,
                                           const std::string &Path) {
  std::vector<Argument> Kept;
  for (Argument &A : splitArguments(S.Line.Expanded))
    if (!A.is(Effect::Output) && !A.is(Effect::Dependency))
      Kept.push_back(std::move(A));
  std::vector<std::string> Words = withoutDefinitions(joinArguments(Kept), S.Request.Space.names());
  llvm::append_range(Words, Macros.defines());
  Words.insert(Words.end(), {"-o", Path});
  return Words;
}

/// Builds the program of \p Place. If it cannot be built, \p Into says why.
static llvm::Error buildProgram(const SearchState &S, size_t Place, SearchedConfiguration &Into,
                                std::string &Path) {
  auto Start = std::chrono::steady_clock::now();
  std::string Folder = S.folderOf(Place);
  if (std::error_code E = fs::create_directories(Folder))
    return llvm::createFileError(Folder, E);
  Path = Folder + "/" + path::filename(S.Line.Output).str();
  Command C;
  C.Argv = {S.T.Nvcc};
  llvm::append_range(C.Argv, buildWords(S, Into.Macros, Path));
  C.Dir = S.Request.Nvcc.WorkDir;
  C.Environment = {"TMPDIR=" + S.Work->path()};
  C.StdinPath = "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  llvm::Expected<CommandResult> Result = S.Runner.run(C);
  if (!Result)
    return Result.takeError();
  if (Result->Interrupted)
    return interrupted(Result->Interrupted);
  if (!Result->succeeded())
    Into.Invalid = "cannot be built: " + llvm::StringRef(Result->Stderr).trim().str();
  Into.BuildS = secondsSince(Start);
  return llvm::Error::success();
}

llvm::Error carve::buildPrograms(SearchState &S, llvm::ArrayRef<size_t> Places) {
  auto Start = std::chrono::steady_clock::now();
  std::vector<size_t> Missing;
  for (size_t P : Places)
    if (!S.Programs.count(P) && S.at(P).valid())
      Missing.push_back(P);
  std::vector<std::string> Paths(Missing.size());
  std::vector<std::optional<llvm::Error>> Failures(Missing.size());
  std::atomic<unsigned> Done = 0;
  std::mutex Telling;
  auto Build = [&](size_t I) {
    Failures[I].emplace(buildProgram(S, Missing[I], S.at(Missing[I]), Paths[I]));
    std::lock_guard Lock(Telling);
    S.Request.Progress->step("building", ++Done, Missing.size());
  };
  runInParallel(Missing.size(), Build, S.Request.Jobs);
  llvm::Error All = llvm::Error::success();
  for (size_t I = 0; I < Missing.size(); ++I) {
    All = llvm::joinErrors(std::move(All), std::move(*Failures[I]));
    if (S.at(Missing[I]).valid())
      S.Programs[Missing[I]] = Paths[I];
  }
  S.Record.BuildS += secondsSince(Start);
  return All;
}

llvm::Expected<std::string> carve::commandCompiler(const SearchState &S) {
  const SearchRequest &Request = S.Request;
  const std::string &Typed = Request.Command.front();
  if (llvm::StringRef(Typed).contains('/')) {
    if (fs::can_execute(absolutePath(Typed, Request.Nvcc.WorkDir)))
      return Typed;
    return usageError("carve search: the command's compiler '" + Typed +
                      "' is not a program, expected one such as carve-nvcc");
  }
  if (llvm::sys::findProgramByName(Typed))
    return Typed;
  if (auto Beside = llvm::sys::findProgramByName(Typed, {Request.ToolsDir, S.T.BinDir}))
    return *Beside;
  return usageError("carve search: the command's compiler '" + Typed +
                    "' is not in PATH, expected a program there such as carve-nvcc");
}

/// Returns the words that the user typed, with the winner's macros.
static llvm::Expected<std::vector<std::string>> winningWords(const SearchState &S) {
  llvm::ArrayRef<std::string> Typed = S.Request.Command;
  std::vector<std::string> Words = withoutDefinitions(Typed.drop_front(), S.Request.Space.names());
  llvm::append_range(Words, S.Record.Configurations[*S.Record.Winner].Macros.defines());
  llvm::Expected<std::string> Compiler = commandCompiler(S);
  if (!Compiler)
    return Compiler.takeError();
  Words.insert(Words.begin(), *Compiler);
  return Words;
}

static std::string digestOfFile(const std::string &Path) {
  llvm::Expected<std::string> Bytes = readFile(Path);
  if (Bytes)
    return digestOf(*Bytes);
  llvm::consumeError(Bytes.takeError());
  return "";
}

llvm::Error carve::emitWinner(SearchState &S) {
  if (!S.Record.Winner)
    return llvm::Error::success();
  std::string Output = absolutePath(S.Record.Output, S.Request.Nvcc.WorkDir);
  std::string There = digestOfFile(Output);
  S.Record.OutputKept =
      !There.empty() && There == S.Record.OutputDigest && S.Record.Winner == S.RecalledWinner;
  if (S.Record.OutputKept)
    return llvm::Error::success();
  auto Words = winningWords(S);
  if (!Words)
    return Words.takeError();
  Command C;
  C.Argv = std::move(*Words);
  C.Dir = S.Request.Nvcc.WorkDir;
  logLine("search: " + llvm::join(C.Argv, " "));
  llvm::Expected<CommandResult> Result = S.Runner.run(C);
  if (!Result)
    return Result.takeError();
  if (Result->Interrupted)
    return interrupted(Result->Interrupted);
  if (!Result->succeeded())
    return llvm::make_error<ToolFailure>(C.Argv.front(), Result->ExitStatus, "");
  S.Record.OutputDigest = digestOfFile(Output);
  return llvm::Error::success();
}
