#include "unit/Probe/ProbeRecords.h"

#include "Protocol/Protocol.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

std::vector<Fields> Records::of(const std::string &Kind) const {
  std::vector<Fields> Found;
  for (const Fields &Line : Lines)
    if (Line.front() == Kind)
      Found.emplace_back(Line.begin() + 1, Line.end());
  return Found;
}

uint64_t Records::launches(const std::string &Name) const {
  uint64_t Sum = 0;
  for (const Fields &Kernel : of("kernel"))
    if (Kernel.front() == Name)
      Sum += std::stoull(Kernel.at(9));
  return Sum;
}

ProbeRun::ProbeRun() : Dir(llvm::cantFail(TempDir::create("carve-probe-test"))) {
  Environment = {std::string(InjectionVariable) + "=" + CARVE_TEST_PROBE,
                 std::string(CuptiVariable) + "=" + CARVE_TEST_STUB_CUPTI,
                 std::string("STUB_CUDA=") + CARVE_TEST_STUB_CUDA,
                 std::string(DirVariable) + "=" + Dir.path()};
}

std::string ProbeRun::writeFile(const std::string &Name, const std::string &Bytes) const {
  llvm::cantFail(writeFileAtomically(path(Name), Bytes));
  return path(Name);
}

CommandResult ProbeRun::run(const std::string &Program, const std::vector<std::string> &Args) {
  Command C;
  C.Argv = {Program};
  C.Argv.insert(C.Argv.end(), Args.begin(), Args.end());
  C.Environment = Environment;
  C.StdinPath = "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  C.TimeoutS = 60;
  ProcessRunner Runner;
  return llvm::cantFail(Runner.run(C));
}

static Records parse(llvm::StringRef Text) {
  Records Result;
  llvm::SmallVector<llvm::StringRef> Lines, Parts;
  EXPECT_TRUE(Text.consume_back("\n")) << "the last line is not whole";
  Text.split(Lines, '\n');
  for (llvm::StringRef Whole : Lines) {
    Parts.clear();
    Whole.split(Parts, '\t');
    Fields &Line = Result.Lines.emplace_back();
    for (llvm::StringRef Part : Parts)
      Line.push_back(Part.str());
  }
  return Result;
}

std::vector<std::string> ProbeRun::paths() const {
  std::vector<std::string> Paths;
  std::error_code Failed;
  for (llvm::sys::fs::directory_iterator I(Dir.path(), Failed), E; I != E && !Failed;
       I.increment(Failed))
    if (llvm::StringRef(I->path()).ends_with(FileSuffix))
      Paths.push_back(I->path());
  std::sort(Paths.begin(), Paths.end());
  return Paths;
}

size_t ProbeRun::wholeFiles() const {
  std::vector<std::string> All = paths();
  return size_t(std::count_if(All.begin(), All.end(), [](const std::string &Path) {
    return llvm::StringRef(llvm::cantFail(readFile(Path))).ends_with("\nend\n");
  }));
}

std::vector<Records> ProbeRun::files() const {
  std::vector<Records> Files;
  for (const std::string &Path : paths())
    Files.push_back(parse(llvm::cantFail(readFile(Path))));
  return Files;
}

Records ProbeRun::onlyFile() const {
  std::vector<Records> Files = files();
  EXPECT_EQ(Files.size(), 1u);
  return Files.empty() ? Records() : Files.front();
}
