#include "ComparedCommands.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Regex.h"

using namespace carve;

std::vector<std::string> ComparedCommandsTest::files() {
  std::vector<std::string> Names;
  std::error_code Failed;
  for (llvm::sys::fs::recursive_directory_iterator It(Work.path(), Failed), End;
       It != End && !Failed; It.increment(Failed)) {
    llvm::StringRef Name = llvm::StringRef(It->path()).drop_front(Work.path().size() + 1);
    if (It->type() != llvm::sys::fs::file_type::directory_file && Name != "carve.log" &&
        !Name.starts_with("store/"))
      Names.push_back(Name.str());
  }
  llvm::sort(Names);
  return Names;
}

/// Returns \p Text without times, and without names that nvcc and carve-nvcc invent for one run.
static std::string withoutMadeUpNames(llvm::StringRef Text) {
  std::string Result = Text.str();
  for (const char *Pattern :
       {"tmpxft_[0-9a-f]+_[0-9a-f]+-[0-9]+_", "carve-nvcc-[0-9]+/[0-9a-f]+(-[0-9])?/",
        "tmpxft_[0-9a-f]+_[0-9a-f]+-[0-9]+", "Compile time = [0-9.]+ ms"}) {
    llvm::Regex Names(Pattern);
    while (Names.match(Result))
      Result = Names.sub("", Result);
  }
  return Result;
}

/// Returns a depfile without the lines that name carve-nvcc's own files.
static std::string withoutStore(llvm::StringRef Depfile, llvm::StringRef Store) {
  std::string Result;
  llvm::SmallVector<llvm::StringRef> Lines;
  Depfile.split(Lines, '\n');
  for (llvm::StringRef Line : Lines)
    if (!Line.contains(Store))
      Result += Line.str() + "\n";
  return Result;
}

std::string ComparedCommandsTest::comparable(const std::string &Name) {
  std::string Bytes = read(Name);
  llvm::StringRef Start = Bytes;
  bool IsDevices = llvm::StringRef(Name).ends_with(".cubin"); // strip does not know cubins.
  if ((Start.starts_with("\x7f"
                         "ELF") &&
       !IsDevices) ||
      Start.starts_with("!<arch>"))
    return stripped(Name);
  return withoutMadeUpNames(withoutStore(Bytes, path("store")));
}

Left ComparedCommandsTest::leave(const std::string &Program, const Style &S) {
  std::vector<std::string> Before = files();
  Command C;
  C.Argv = {Program};
  C.Argv.insert(C.Argv.end(), S.Arguments.begin(), S.Arguments.end());
  C.Dir = Work.path();
  C.Environment = environment(S.Environment);
  C.StdinPath = S.Stdin ? path(S.Stdin) : "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  CommandResult R = llvm::cantFail(Runner.run(C));
  Left L{R.ExitStatus, withoutMadeUpNames(R.Stdout), withoutMadeUpNames(R.Stderr), {}};
  std::vector<std::string> Made;
  for (const std::string &Name : files())
    if (!std::binary_search(Before.begin(), Before.end(), Name))
      Made.push_back(Name);
  for (const std::string &Name : Made)
    L.Files[withoutMadeUpNames(Name)] = comparable(Name);
  for (const std::string &Name : files())
    if (!std::binary_search(Before.begin(), Before.end(), Name))
      llvm::sys::fs::remove(path(Name));
  return L;
}

bool ComparedCommandsTest::expectSame(const std::string &Nvcc, const Style &S) {
  SCOPED_TRACE(S.Name);
  Left Wanted = leave(Nvcc, S);
  Left Got = leave(CARVE_NVCC_PROGRAM, S);
  EXPECT_EQ(Got.Status, Wanted.Status);
  EXPECT_EQ(Got.Stdout, Wanted.Stdout);
  EXPECT_EQ(Got.Stderr, Wanted.Stderr);
  std::optional<Left> Again;
  for (const auto &[Name, Bytes] : Wanted.Files) {
    auto It = Got.Files.find(Name);
    EXPECT_NE(It, Got.Files.end()) << Name << " is missing";
    // Device debug information holds the names of temporary files, so even nvcc's own output
    // differs in each run.
    if (It == Got.Files.end() || It->second == Bytes)
      continue;
    if (!Again)
      Again = leave(Nvcc, S);
    EXPECT_NE(Again->Files[Name], Bytes) << Name << " differs";
  }
  for (const auto &[Name, Bytes] : Got.Files)
    EXPECT_TRUE(Wanted.Files.count(Name)) << Name << " is made by carve-nvcc only";
  return Wanted.Status == 0;
}
