/// \file
/// A CUDA program without CUDA. It does what its arguments say, one after the other, through the
/// stand-ins. `init` takes the role of cuInit, in which the driver loads the injected library.

#include "StubControl.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static decltype(&stubActivity) Activity;
static decltype(&stubCallback) Callback;

static void initialize() {
  if (const char *Driver = std::getenv("STUB_CUDA"))
    ::dlopen(Driver, RTLD_NOW | RTLD_GLOBAL);
  void *Probe = ::dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (!Probe) {
    std::puts(::dlerror());
    std::exit(99);
  }
  reinterpret_cast<int (*)()>(::dlsym(Probe, "InitializeInjection"))();
  void *Cupti = ::dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (!Cupti)
    return;
  Activity = reinterpret_cast<decltype(Activity)>(::dlsym(Cupti, "stubActivity"));
  Callback = reinterpret_cast<decltype(Callback)>(::dlsym(Cupti, "stubCallback"));
}

static void runKernel(const char *Name, uint64_t TimeNs, unsigned GraphNode = 0) {
  CUpti_ActivityKernel10 Record{};
  Record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  Record.name = Name;
  Record.gridX = 10;
  Record.gridY = Record.gridZ = Record.blockY = Record.blockZ = 1;
  Record.blockX = 256;
  Record.registersPerThread = 40;
  Record.dynamicSharedMemory = 512;
  Record.localMemoryTotal_v2 = 4096;
  Record.start = TimeNs ? 1000 : 0;
  Record.end = TimeNs ? 1000 + TimeNs : 0;
  Record.graphNodeId = GraphNode;
  if (Activity)
    Activity(&Record);
}

static void enterCall(CUpti_CallbackId Id, const char *Name, const void *Params) {
  CUpti_CallbackData Data{};
  Data.callbackSite = CUPTI_API_ENTER;
  Data.functionName = Name;
  Data.functionParams = Params;
  if (Callback)
    Callback(CUPTI_CB_DOMAIN_DRIVER_API, Id, &Data);
}

struct Wrapper {
  unsigned Magic, Version;
  const void *Data, *Extra;
};

/// Loads the bytes of \p Path and returns what the driver would have read.
static std::string loadLibrary(const char *Path, unsigned WrapperVersion) {
  std::ifstream In(Path, std::ios::binary);
  std::vector<char> Bytes{std::istreambuf_iterator<char>(In), std::istreambuf_iterator<char>()};
  Wrapper W{0x466243b1, WrapperVersion, Bytes.data(), nullptr};
  cuLibraryLoadData_params Params{};
  Params.code = WrapperVersion ? static_cast<const void *>(&W) : Bytes.data();
  const void *Before = Params.code;
  enterCall(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, "cuLibraryLoadData", &Params);
  auto *Read = static_cast<const char *>(Params.code == Before ? Bytes.data() : Params.code);
  // The tests' fatbinaries have a text after their header of 16 bytes.
  return Bytes.size() > 20 ? std::string(Read + 16, 4) : "-";
}

static void loadModule(const char *Path) {
  std::ifstream In(Path, std::ios::binary);
  std::string Bytes{std::istreambuf_iterator<char>(In), std::istreambuf_iterator<char>()};
  CUpti_ModuleResourceData Module{};
  Module.pCubin = Bytes.data();
  Module.cubinSize = Bytes.size();
  CUpti_ResourceData Resource{};
  Resource.resourceDescriptor = &Module;
  if (Callback)
    Callback(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &Resource);
}

static void queryKernel(char *Name) {
  cuFuncGetAttribute_params Attribute{nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS,
                                      reinterpret_cast<CUfunction>(Name)};
  enterCall(CUPTI_DRIVER_TRACE_CBID_cuFuncGetAttribute, "cuFuncGetAttribute", &Attribute);
  cuOccupancyMaxActiveClusters_params Clusters{nullptr, reinterpret_cast<CUfunction>(Name),
                                               nullptr};
  enterCall(CUPTI_DRIVER_TRACE_CBID_cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters",
            &Clusters);
}

/// Launches \p Name by cuLaunchKernelEx, with \p Allowed as its attribute of programmatic launches.
static void launchEx(char *Name, int Allowed) {
  CUlaunchAttribute Attribute{};
  Attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  Attribute.value.programmaticStreamSerializationAllowed = Allowed;
  CUlaunchConfig Config{};
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  cuLaunchKernelEx_params Params{&Config, reinterpret_cast<CUfunction>(Name), nullptr, nullptr};
  enterCall(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "cuLaunchKernelEx", &Params);
}

/// Makes calls after which memory is not the program's alone, and one that nearly every program
/// makes.
static void shareMemory() {
  cuMemAllocManaged_params Managed{};
  cuIpcGetMemHandle_params Ipc{};
  cuMemHostAlloc_params Mapped{nullptr, 64, CU_MEMHOSTALLOC_DEVICEMAP}, Plain{};
  for (int I = 0; I < 3; ++I) {
    enterCall(CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, "cuMemAllocManaged", &Managed);
    enterCall(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, "plain", &Plain);
    enterCall(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, "cuMemHostAlloc", &Mapped);
    enterCall(CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle, "cuIpcGetMemHandle", &Ipc);
  }
}

static void runThreads(const char *Path) {
  std::vector<std::thread> Threads;
  for (int T = 0; T < 8; ++T)
    Threads.emplace_back([=] {
      for (int I = 0; I < 2000; ++I) {
        runKernel(I % 2 ? "threadA" : "threadB", 10);
        if (I % 100 == 0)
          loadLibrary(Path, 1);
      }
    });
  for (std::thread &T : Threads)
    T.join();
}

/// Forks a child that does not exec and that ends in the way of \p How, with an inherited record of
/// a kernel.
static void forkChild(const std::string &How) {
  std::fflush(stdout); // Otherwise the child would print it once more.
  pid_t Child = How == "vfork" ? ::vfork() : ::fork();
  if (Child == 0) {
    if (How == "exit")
      std::exit(0);
    if (How == "term")
      std::raise(SIGTERM);
    ::_exit(0);
  }
  int Status = 0;
  ::waitpid(Child, &Status, 0);
  std::printf("child %d\n", Status);
}

/// Forks. Parent and child go on with the next arguments.
static void forkBoth() {
  std::fflush(stdout);
  if (::fork() < 0)
    std::exit(97);
}

/// Makes a child of a child, in a session of its own, that goes on while this process does.
static void forkDaemon() {
  std::fflush(stdout);
  pid_t Child = ::fork();
  if (Child == 0) {
    ::setsid();
    if (::fork() > 0)
      ::_exit(0);
    return;
  }
  ::waitpid(Child, nullptr, 0);
}

/// Forks a child that executes this program again and does what \p Rest says. This process ends
/// with its status.
static void forkAndBecome(char *Program, char **Rest) {
  std::vector<char *> Argv = {Program};
  for (; *Rest; ++Rest)
    Argv.push_back(*Rest);
  Argv.push_back(nullptr);
  pid_t Child = ::fork();
  if (Child == 0) {
    ::execv("/proc/self/exe", Argv.data());
    ::_exit(96);
  }
  int Status = 0;
  ::waitpid(Child, &Status, 0);
  std::exit(WEXITSTATUS(Status));
}

/// Closes all descriptors, as a daemon does; the next file that is opened gets a number that was
/// another's. A system may allow a thousand million files, but none here has a number above the
/// first hundred thousand.
static void closeDescriptors(const char *Victim) {
  long End = std::min(::sysconf(_SC_OPEN_MAX), 100'000L);
  for (long Fd = 3; Fd < End; ++Fd)
    ::close(static_cast<int>(Fd));
  for (int I = 0; I < 16; ++I)
    if (::open(Victim, O_WRONLY | O_CREAT | O_APPEND, 0666) < 0)
      std::exit(98);
}

/// Makes a recorded call on a thread with a pending request to be cancelled. The thread ends at its
/// own next cancellation point.
static void cancelDuringCall(char *Kernel) {
  auto Run = [](void *Name) -> void * {
    ::pthread_cancel(::pthread_self());
    queryKernel(static_cast<char *>(Name));
    runKernel("a", 100);
    ::pthread_testcancel();
    return nullptr;
  };
  pthread_t Thread;
  void *Result = nullptr;
  ::pthread_create(&Thread, nullptr, Run, Kernel);
  ::pthread_join(Thread, &Result);
  std::printf("cancelled %d\n", Result == PTHREAD_CANCELED);
}

static const char *describe(void (*Handler)(int)) {
  return Handler == SIG_DFL ? "default" : Handler == SIG_IGN ? "ignored" : "handled";
}

/// Prints what the program finds for the signals that would end it, before and after it has set one
/// of them.
static void printSignals() {
  for (int Signal : {SIGTERM, SIGINT, SIGHUP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction Found{};
    ::sigaction(Signal, nullptr, &Found);
    std::printf("%s %d, ", describe(Found.sa_handler), Found.sa_flags);
  }
  struct sigaction Ignore{}, Found{};
  Ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGTERM, &Ignore, &Found);
  std::printf("before: %s, ", describe(Found.sa_handler));
  ::sigaction(SIGTERM, &Found, &Ignore);
  std::printf("then: %s, ", describe(Ignore.sa_handler));
  std::printf("signal: %s, ", describe(std::signal(SIGHUP, SIG_IGN)));
  std::printf("%s, ", describe(std::signal(SIGHUP, SIG_DFL)));
  std::printf("%s\n", describe(std::signal(SIGHUP, SIG_DFL)));
}

/// Prints how many threads besides this one may handle a signal of the process.
static void printOpenThreads() {
  unsigned Open = 0;
  for (const auto &Task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (Task.path().filename() == std::to_string(::getpid()))
      continue;
    std::ifstream In(Task.path() / "status");
    unsigned long long Blocked = 0;
    for (std::string Line; std::getline(In, Line);)
      if (std::sscanf(Line.c_str(), "SigBlk: %llx", &Blocked) == 1)
        Open += !(Blocked >> (SIGTERM - 1) & 1);
  }
  std::printf("open threads: %u\n", Open);
}

static void onTerm(int) { ::_exit(7); }

static void endProcess(const std::string &How) {
  std::fflush(stdout);
  if (How == "exit")
    std::exit(3);
  if (How == "_exit")
    ::_exit(3);
  if (How == "_Exit")
    std::_Exit(3);
  if (How == "quick_exit")
    std::quick_exit(3);
  if (How == "abort")
    std::abort();
  for (auto [Name, Signal] : {std::pair{"term", SIGTERM},
                              {"int", SIGINT},
                              {"hup", SIGHUP},
                              {"fpe", SIGFPE},
                              {"kill", SIGKILL}})
    if (How == Name)
      ::kill(::getpid(), Signal);
  if (How == "segv")
    *static_cast<volatile int *>(nullptr) = 1;
}

int main(int Argc, char **Argv) {
  for (int I = 1; I < Argc; ++I) {
    std::string Action = Argv[I];
    auto Next = [&] { return I + 1 < Argc ? Argv[++I] : nullptr; };
    if (Action == "init")
      initialize();
    else if (Action == "kernel")
      runKernel(Next(), 100);
    else if (Action == "lost-kernel")
      runKernel("lost", 0);
    else if (Action == "load")
      std::puts(loadLibrary(Next(), 1).c_str());
    else if (Action == "load-bare")
      std::puts(loadLibrary(Next(), 0).c_str());
    else if (Action == "load-linked")
      std::puts(loadLibrary(Next(), 2).c_str());
    else if (Action == "module")
      loadModule(Next());
    else if (Action == "query")
      queryKernel(Next());
    else if (Action == "graph-kernel")
      runKernel(Next(), 100, 7);
    else if (Action == "launch-ex")
      launchEx(Next(), 0);
    else if (Action == "programmatic")
      launchEx(Next(), 1);
    else if (Action == "share-memory")
      shareMemory();
    else if (Action == "threads")
      runThreads(Next());
    else if (Action == "fork")
      forkChild(Next());
    else if (Action == "fork-both")
      forkBoth();
    else if (Action == "daemon")
      forkDaemon();
    else if (Action == "fork-and-become")
      forkAndBecome(Argv[0], Argv + I + 1);
    else if (Action == "chdir") {
      if (::chdir(Next()) != 0)
        return 95;
    } else if (Action == "sleep-ms")
      std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(Next())));
    else if (Action == "close")
      closeDescriptors(Next());
    else if (Action == "handle-term")
      std::signal(SIGTERM, onTerm);
    else if (Action == "cancelled-call")
      cancelDuringCall(Next());
    else if (Action == "limit-files") {
      rlimit Limit{};
      ::getrlimit(RLIMIT_NOFILE, &Limit);
      Limit.rlim_cur = rlim_t(std::atoi(Next()));
      ::setrlimit(RLIMIT_NOFILE, &Limit);
    } else if (Action == "print-signals")
      printSignals();
    else if (Action == "print-open-threads")
      printOpenThreads();
    else if (Action == "ignore-hup")
      std::signal(SIGHUP, SIG_IGN);
    else
      endProcess(Action);
  }
  std::fflush(stdout);
  while (::wait(nullptr) > 0) { // These are the children of fork-both.
  }
  return 0;
}
