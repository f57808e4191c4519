// carve-launch launches captured kernels without the program from which they were captured. Each
// capture gets a process of its own, and a new process if one of its addresses is already taken.

#include "Launcher.h"

#include "Support/CommandRunner.h"
#include "Support/Error.h"
#include "Version/Version.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <sys/personality.h>

using namespace carve;

namespace {

constexpr char Help[] = R"(usage: carve-launch [--repeat=N] FILE.carvecap...
Launches each captured kernel (carve capture) and compares what it leaves in memory with what it
left in the program. Exit status: 0 where all are equal, else 1.
)";

constexpr char AloneFlag[] = "--alone"; ///< Launches in this process, without a second try.
constexpr int AddressTakenStatus = 75;
/// The system places libraries at random addresses, so that each attempt has other addresses free.
constexpr unsigned Attempts = 8;

struct Options {
  bool Alone = false;
  unsigned Repeat = 1;
  std::vector<std::string> Files;
};

llvm::Expected<Options> readOptions(llvm::ArrayRef<std::string> Args) {
  Options O;
  for (llvm::StringRef Arg : Args) {
    if (Arg == AloneFlag)
      O.Alone = true;
    else if (Arg.consume_front("--repeat=")) {
      if (Arg.getAsInteger(10, O.Repeat) || O.Repeat == 0)
        return usageError("--repeat=" + Arg + ": expected a number from 1");
    } else if (Arg.starts_with("-"))
      return usageError("unknown option '" + Arg + "'");
    else
      O.Files.push_back(Arg.str());
  }
  if (O.Files.empty())
    return usageError("no capture; usage: carve-launch FILE.carvecap...");
  return O;
}

/// Says where two runs left different bytes, as `3 MiB of 2 range(s), the first at 0x...`. Empty if
/// they left the same.
std::string differenceOf(const Capture &C, const LeftDigests &A, const LeftDigests &B) {
  uint64_t Chunks = 0, Ranges = 0;
  std::string First;
  for (size_t R = 0; R < A.size(); ++R) {
    uint64_t Before = Chunks;
    for (size_t I = 0; I < A[R].size(); ++I) {
      if (I < B[R].size() && A[R][I] == B[R][I])
        continue;
      if (Chunks++ == 0)
        First = R < C.Memory.size()
                    ? "0x" + llvm::utohexstr(C.Memory[R].Address + I * CaptureChunkBytes,
                                             /*LowerCase=*/true)
                    : C.Variables[R - C.Memory.size()].Name;
    }
    Ranges += Chunks != Before;
  }
  if (!Chunks)
    return "";
  return llvm::utostr(Chunks) + " MiB of " + llvm::utostr(Ranges) + " range(s), the first at " +
         First;
}

LeftDigests expectedOf(const Capture &C) {
  LeftDigests Result;
  for (const CapturedMemory &M : C.Memory)
    Result.push_back(M.After);
  for (const CapturedVariable &V : C.Variables)
    Result.push_back(V.After);
  return Result;
}

/// Returns what to print about the output, and whether it is as expected. The output of some
/// kernels varies from run to run, for example with floating-point atomics, and cannot be compared
/// by digests. To notice that, a kernel whose output differs runs once more.
llvm::Expected<std::pair<std::string, bool>> judge(Launcher &L, const Capture &C) {
  llvm::Expected<LeftDigests> Left = L.left();
  if (!Left)
    return Left.takeError();
  std::string Difference = differenceOf(C, *Left, expectedOf(C));
  if (Difference.empty())
    return std::make_pair(std::string("output equal"), true);
  if (llvm::Error E = L.run())
    return E;
  llvm::Expected<LeftDigests> Again = L.left();
  if (!Again)
    return Again.takeError();
  if (!differenceOf(C, *Left, *Again).empty())
    return std::make_pair(std::string("output varies from run to run"), true);
  return std::make_pair("output differs: " + Difference, false);
}

llvm::Error launchAlone(const Options &O) {
  llvm::Expected<CaptureReader> Reader = CaptureReader::open(O.Files.front());
  if (!Reader)
    return Reader.takeError();
  llvm::Expected<DriverLibrary> Driver = DriverLibrary::load();
  if (!Driver)
    return Driver.takeError();
  const Capture &C = Reader->capture();
  std::string Name = llvm::demangle(C.Kernel) + " " + describeShape(C.Shape);
  Launcher L(*Driver, *Reader);
  if (llvm::Error E = L.prepare())
    return E;
  if (!L.warning().empty())
    llvm::errs() << "carve-launch: warning: " << O.Files.front() << ": " << L.warning() << "\n";
  for (unsigned I = 0; I < O.Repeat; ++I)
    if (llvm::Error E = L.run())
      return E;
  auto Judged = judge(L, C);
  if (!Judged)
    return Judged.takeError();
  llvm::outs() << Name << ": " << Judged->first << "\n";
  return Judged->second ? llvm::Error::success() : malformed("the output differs");
}

/// Starts one process per capture, which prints its own errors. Returns the exit status for all of
/// them. Fails if a process cannot be started, or if a signal interrupts it.
llvm::Expected<int> launchAll(const Options &O, const std::string &OwnPath) {
  const int Persona = ::personality(0xffffffff);
  ProcessRunner Runner;
  unsigned Failed = 0;
  for (const std::string &File : O.Files) {
    int Status = AddressTakenStatus;
    for (unsigned I = 0; I < Attempts && Status == AddressTakenStatus; ++I) {
      // The first attempt places libraries without randomness, which is far from the addresses of
      // most programs. If the system refuses that, this is one more random attempt.
      (void)::personality(I == 0 ? unsigned(Persona) | ADDR_NO_RANDOMIZE : unsigned(Persona));
      Command Child;
      Child.Argv = {OwnPath, AloneFlag, "--repeat=" + std::to_string(O.Repeat), File};
      Child.CaptureStderr = true;
      llvm::Expected<CommandResult> Result = Runner.run(Child);
      if (!Result)
        return Result.takeError();
      Status = Result->ExitStatus;
      if (Result->Interrupted)
        return interrupted(Result->Interrupted);
      if (Status != AddressTakenStatus || I + 1 == Attempts)
        llvm::errs() << Result->Stderr;
    }
    Failed += Status != 0;
  }
  if (Failed > 0 && O.Files.size() > 1)
    llvm::errs() << "carve-launch: error: " << Failed << " of " << O.Files.size()
                 << " captures failed\n";
  return Failed > 0 ? 1 : 0;
}

int report(llvm::Error E, llvm::StringRef Of) {
  int Status = 1;
  std::string Prefix = Of.empty() ? "" : (Of + ": ").str();
  // Messages of the reader already name the file.
  auto Named = [&](llvm::StringRef Message) {
    Message.consume_front("'");
    return Message.starts_with(Of);
  };
  llvm::handleAllErrors(
      std::move(E),
      [&](const AddressTaken &A) {
        Status = AddressTakenStatus;
        llvm::errs() << "carve-launch: error: " << Prefix << A.message() << "\n";
      },
      [&](const Interrupted &I) {
        llvm::errs() << "carve-launch: error: interrupted\n";
        ::signal(I.signal(), SIG_DFL);
        ::raise(I.signal());
      },
      [&](const llvm::ErrorInfoBase &Info) {
        std::string Message = Info.message();
        llvm::errs() << "carve-launch: error: " << (Named(Message) ? "" : Prefix) << Message
                     << "\n";
      });
  return Status;
}

} // namespace

int main(int Argc, char **Argv) {
  std::vector<std::string> Args(Argv + 1, Argv + Argc);
  if (Args == std::vector<std::string>{"--help"} || Args == std::vector<std::string>{"--version"}) {
    llvm::outs() << (Args.front() == "--help" ? std::string(Help) : versionText("carve-launch"));
    return 0;
  }
  llvm::Expected<Options> O = readOptions(Args);
  if (!O)
    return report(O.takeError(), "");
  if (O->Alone) {
    llvm::Error E = launchAlone(*O);
    return E ? report(std::move(E), O->Files.front()) : 0;
  }
  llvm::Expected<int> Status = launchAll(*O, llvm::sys::fs::getMainExecutable(Argv[0], nullptr));
  return Status ? *Status : report(Status.takeError(), "");
}
