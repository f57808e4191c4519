#include "DriverTier.h"

#include "llvm/Support/JSON.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
namespace fs = std::filesystem;

DriverTierTest::DriverTierTest() : Dir(llvm::cantFail(TempDir::create("carve-driver"))) {
  for (const char *Name : {"cuda/bin/log", "home", "tmp", "work/obj", "out"})
    fs::create_directories(path(Name));
  fs::copy_file(CARVE_FAKE_NVCC, path("cuda/bin/nvcc"));
  for (auto [From, To] : {std::pair("kernels.cuda-13.0.88.ptx", "kernels.ptx"),
                          std::pair("kernels.sm_90.cuda-13.0.88.cubin", "kernels.cubin")})
    fs::copy_file(std::string(CARVE_TEST_INPUTS "/ptx/") + From, path("cuda/bin/") + To);
  for (const char *Name : {"stdout", "stderr", "log/calls"})
    write(std::string("cuda/bin/") + Name, "");
  write("cuda/bin/status", "0");
  plan("dryrun-single-13.0.88.txt");
  Env = {{"PATH", "/usr/bin:/bin"},      {"CARVE_NVCC", path("cuda/bin/nvcc")},
         {"HOME", path("home")},         {"TMPDIR", path("tmp")},
         {"CARVE_STORE", path("store")}, {"CUDA_VISIBLE_DEVICES", ""}};
}

void DriverTierTest::write(const std::string &Name, const std::string &Text) const {
  EXPECT_EQ(llvm::toString(writeFileAtomically(path(Name), Text)), "");
}

std::string DriverTierTest::read(const std::string &Name) const {
  llvm::Expected<std::string> Text = readFile(path(Name));
  if (Text)
    return *Text;
  ADD_FAILURE() << llvm::toString(Text.takeError());
  return "";
}

DriverTierTest::Words DriverTierTest::names(const std::string &Name) const {
  Words Found;
  for (const fs::directory_entry &Entry : fs::directory_iterator(path(Name)))
    Found.push_back(Entry.path().filename());
  std::sort(Found.begin(), Found.end());
  return Found;
}

void DriverTierTest::await(const std::string &Name) const {
  for (int I = 0; I < 5000 && !exists(Name); ++I)
    ::usleep(2000);
  EXPECT_TRUE(exists(Name)) << Name;
}

void DriverTierTest::plan(const std::string &Name) const {
  fs::copy_file(CARVE_TEST_INPUTS "/nvcc/" + Name, path("cuda/bin/plan"),
                fs::copy_options::overwrite_existing);
}

DriverTierTest::Words DriverTierTest::argumentsOf(const std::string &Kind) const {
  Words Arguments;
  std::string Text = read("cuda/bin/log/" + Kind + ".argv");
  for (size_t At = 0; At < Text.size(); At = Text.find('\0', At) + 1)
    Arguments.push_back(Text.c_str() + At);
  return Arguments;
}

size_t DriverTierTest::calls(const std::string &Kind) const {
  std::string Text = read("cuda/bin/log/calls");
  size_t Count = 0;
  for (size_t At = 0; (At = Text.find(Kind + "\n", At)) != std::string::npos; ++At)
    ++Count;
  return Count;
}

pid_t DriverTierTest::start(const Words &Argv) {
  std::vector<char *> Arguments, Variables;
  Words Lines;
  for (const auto &[Name, Value] : Env)
    Lines.push_back(Name + "=" + Value);
  for (const std::string &Word : Argv)
    Arguments.push_back(const_cast<char *>(Word.c_str()));
  for (std::string &Line : Lines)
    Variables.push_back(Line.data());
  Arguments.push_back(nullptr);
  Variables.push_back(nullptr);
  std::string Work = path("work");
  pid_t Pid = ::fork();
  if (Pid != 0)
    return Pid;
  std::string Prefix = path("out/") + std::to_string(::getpid());
  ::dup2(::open((Prefix + ".out").c_str(), O_WRONLY | O_CREAT, 0600), 1);
  ::dup2(::open((Prefix + ".err").c_str(), O_WRONLY | O_CREAT, 0600), 2);
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  if (!Before())
    ::_exit(126);
  if (::chdir(Work.c_str()) == 0)
    ::execve(Arguments[0], Arguments.data(), Variables.data());
  ::_exit(127);
}

Ended DriverTierTest::wait(pid_t Pid) {
  int Status = 0;
  pid_t Done = 0;
  for (int I = 0; I < 10000 && Done == 0; ++I) {
    Done = ::waitpid(Pid, &Status, WNOHANG);
    if (Done == 0)
      ::usleep(1000);
  }
  if (Done == 0) {
    ADD_FAILURE() << "process " << Pid << " does not end";
    ::kill(Pid, SIGKILL);
    ::waitpid(Pid, &Status, 0);
  }
  std::string Prefix = "out/" + std::to_string(Pid);
  Ended E{WIFEXITED(Status) ? WEXITSTATUS(Status) : -1, WIFSIGNALED(Status) ? WTERMSIG(Status) : 0,
          read(Prefix + ".out"), read(Prefix + ".err")};
  fs::remove(path(Prefix + ".out"));
  fs::remove(path(Prefix + ".err"));
  return E;
}

Ended DriverTierTest::run(const Words &Argv) { return wait(start(Argv)); }

Ended DriverTierTest::carveNvcc(Words Arguments) {
  Arguments.insert(Arguments.begin(), CARVE_NVCC_TOOL);
  return run(Arguments);
}

Ended DriverTierTest::carve(Words Arguments) {
  Arguments.insert(Arguments.begin(), CARVE_TOOL);
  return run(Arguments);
}

void DriverTierTest::expectError(const Words &Arguments, const std::string &Message) {
  Ended E = carve(Arguments);
  EXPECT_EQ(E.Status, 1);
  EXPECT_EQ(E.Stdout, "");
  EXPECT_EQ(E.Stderr, "carve: error: " + Message + "\n");
}

static llvm::json::Object statsOf(const Ended &E) {
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  llvm::Expected<llvm::json::Value> Value = llvm::json::parse(E.Stdout);
  if (Value && Value->getAsObject())
    return *Value->getAsObject();
  llvm::consumeError(Value.takeError());
  ADD_FAILURE() << E.Stdout;
  return {};
}

std::string DriverTierTest::passthroughs() {
  llvm::json::Object Stats = statsOf(carve({"store", "stats", "--format=json"}));
  const llvm::json::Value *Reasons = Stats.get("passthroughs");
  return Reasons ? llvm::formatv("{0}", *Reasons).str() : "none";
}

int DriverTierTest::stored(const std::string &Name) {
  return statsOf(carve({"store", "stats", "--format=json"})).getInteger(Name).value_or(-1);
}
