#include "Workload/WorkloadProcesses.h"

#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <csignal>
#include <string>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;

bool carve::hasEnvironment(pid_t Pid, llvm::StringRef Entry) {
  std::optional<std::string> Text = readProcFile("/proc/" + std::to_string(Pid) + "/environ");
  if (!Text)
    return false;
  // Each entry ends with a zero byte. A zombie has no entries.
  std::string Whole = '\0' + Entry.str();
  if (!Entry.ends_with("="))
    Whole += '\0';
  return llvm::StringRef('\0' + *Text).contains(Whole);
}

std::vector<pid_t> carve::processesWith(llvm::StringRef Entry) {
  std::vector<pid_t> Found;
  std::error_code Failed;
  for (fs::directory_iterator I("/proc", Failed), End; I != End && !Failed; I.increment(Failed)) {
    pid_t Pid = 0;
    if (!llvm::sys::path::filename(I->path()).getAsInteger(10, Pid) && hasEnvironment(Pid, Entry))
      Found.push_back(Pid);
  }
  return Found;
}

void carve::endProcessesWith(llvm::StringRef Entry, double GraceS) {
  using Clock = std::chrono::steady_clock;
  std::vector<pid_t> Left = processesWith(Entry);
  for (pid_t Pid : Left)
    ::kill(Pid, SIGTERM);
  Clock::time_point Begin = Clock::now();
  while (!Left.empty() && std::chrono::duration<double>(Clock::now() - Begin).count() < GraceS) {
    ::usleep(10000);
    Left = processesWith(Entry);
  }
  for (pid_t Pid : Left)
    ::kill(Pid, SIGKILL);
}
