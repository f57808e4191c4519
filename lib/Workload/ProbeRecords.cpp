#include "Workload/ProbeRecords.h"

#include "Protocol/Protocol.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Workload/InRunRecords.h"
#include "Workload/ProbeFields.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <tuple>

using namespace carve;

static constexpr llvm::StringLiteral HazardKinds[] = {"managed", "host-mapped", "ipc", "peer",
                                                      "capture", "array",       "gpus"};

std::optional<std::string> ProbeRecord::whyIncomplete() const {
  if (!Aside.empty())
    return "the probe stood aside: " + *Aside.begin();
  if (Running)
    return std::to_string(Running) + " process(es) still ran when the program had ended";
  if (Incomplete)
    return std::to_string(Incomplete) + " process(es) ended before their record was whole";
  if (Dropped)
    return std::to_string(Dropped) + " activity records were lost";
  return std::nullopt;
}

std::optional<std::string> ProbeRecord::whyMixed() const {
  std::set<std::string> Architectures;
  for (const DeviceInfo &D : Devices)
    Architectures.insert(D.arch());
  if (Architectures.size() <= 1)
    return std::nullopt;
  return "the program uses GPUs of different architectures (" + llvm::join(Architectures, ", ") +
         "): choose those of one with CUDA_VISIBLE_DEVICES";
}

uint64_t ProbeRecord::totalNs() const {
  uint64_t Sum = 0;
  for (const KernelLaunches &K : Kernels)
    Sum += K.TotalNs;
  return Sum;
}

uint64_t ProbeRecord::totalNs(const std::set<std::string> &Names) const {
  uint64_t Sum = 0;
  for (const KernelLaunches &K : Kernels)
    if (Names.count(K.Kernel))
      Sum += K.TotalNs;
  return Sum;
}

namespace {

DeviceInfo readDevice(ProbeFields &F) {
  DeviceInfo D;
  F.number(D.Ordinal);
  D.Name = F.text();
  D.Uuid = F.text();
  F.number(D.Major);
  F.number(D.Minor);
  F.number(D.Sms);
  F.number(D.MemoryBytes);
  F.number(D.RegsPerSm);
  F.number(D.RegsPerBlock);
  F.number(D.ThreadsPerSm);
  F.number(D.BlocksPerSm);
  F.number(D.SmemPerSmBytes);
  F.number(D.SmemPerBlockOptinBytes);
  F.number(D.SmemPerBlockBytes);
  F.number(D.ReservedSmemPerBlockBytes);
  std::string Cuda = F.text(), Kernel = F.text();
  D.DriverVersion = Kernel == "-" ? "CUDA " + Cuda : Kernel;
  if (F.done()) // A record of before.
    return D;
  F.number(D.ClockKHz);
  F.number(D.MemoryClockKHz);
  F.number(D.BusBits);
  F.number(D.L2Bytes);
  return D;
}

KernelLaunches readKernel(ProbeFields &F) {
  KernelLaunches K;
  K.Kernel = F.name();
  F.triple(K.Shape.Grid);
  F.triple(K.Shape.Block);
  F.number(K.StaticSmemBytes);
  F.number(K.Shape.DynamicSmemBytes);
  F.triple(K.Shape.Cluster);
  F.flag(K.Shape.Cooperative);
  F.number(K.RegsPerThread);
  F.number(K.LocalBytesPerThread);
  F.number(K.Launches);
  F.number(K.TotalNs);
  F.number(K.MinNs);
  F.number(K.LocalBytesTotal);
  return K;
}

/// Adds \p K to the launches of the same kernel, shape and code. \p OtherProcess: of one that All
/// does not have yet.
void addLaunches(std::vector<KernelLaunches> &All, KernelLaunches K, bool OtherProcess) {
  for (KernelLaunches &Old : All)
    if (Old.Kernel == K.Kernel && Old.Shape == K.Shape && Old.RegsPerThread == K.RegsPerThread &&
        Old.StaticSmemBytes == K.StaticSmemBytes) {
      Old.Launches += K.Launches;
      Old.TotalNs += K.TotalNs;
      Old.MinNs = std::min(Old.MinNs, K.MinNs);
      Old.LocalBytesTotal = std::max(Old.LocalBytesTotal, K.LocalBytesTotal);
      Old.Processes += OtherProcess;
      return;
    }
  All.push_back(std::move(K));
}

void addDevice(std::vector<DeviceInfo> &All, DeviceInfo D) {
  if (llvm::none_of(All, [&](const DeviceInfo &Old) { return Old.Uuid == D.Uuid; }))
    All.push_back(std::move(D));
}

/// How far one process has come.
struct ProcessState {
  unsigned Pid = 0;
  bool Loaded = false; ///< Device code, without which there are no kernels.
  bool Ended = false;
  std::vector<KernelLaunches> Kernels;
  uint64_t FirstNs = UINT64_MAX, LastNs = 0; ///< Of its kernels.
  InRunRecord InRun;
};

/// What launched a kernel, and what the program does, as a trace tells it. False where \p F is
/// another record.
bool takeTraceFact(ProbeFields &F, ProbeRecord &Record) {
  llvm::StringRef Tag = F.tag();
  if (Tag == "query") {
    std::string Kernel = F.name();
    std::string Call = F.text();
    if (!F.bad())
      Record.Queried.insert(Kernel);
    if (!F.bad() && !llvm::StringRef(Call).contains("GetAttribute"))
      Record.SizedByOccupancy.insert(Kernel);
  } else if (Tag == "graph") {
    std::string Kernel = F.name();
    uint64_t Launches = 0;
    F.number(Launches);
    if (!F.bad())
      Record.GraphLaunches[Kernel] += Launches;
  } else if (Tag == "attribute") {
    std::string Kernel = F.name();
    F.oneOf({"programmatic"});
    if (!F.bad())
      Record.Programmatic.insert(Kernel);
  } else if (Tag == "hazard") {
    size_t Kind = F.oneOf(HazardKinds);
    std::string Call = F.name();
    if (!F.bad())
      Record.Hazards[HazardKinds[Kind].str()].insert(Call);
  } else {
    return false;
  }
  F.end();
  return true;
}

/// What kernels have counted. False where \p F is another record.
bool takeCount(ProbeFields &F, ProbeRecord &Record) {
  if (F.tag() == "uncounted") {
    Record.Uncounted.insert(F.text());
  } else if (F.tag() == "counted") {
    std::string Variable = F.name();
    size_t Counter = 0;
    uint64_t Count = 0;
    F.number(Counter);
    F.number(Count);
    if (!F.bad())
      Record.Counted[Variable][Counter] += Count;
  } else {
    return false;
  }
  F.end();
  return true;
}

/// When kernels ran. False where \p F is another record.
bool takeSpan(ProbeFields &F, ProbeRecord &Record, ProcessState &State) {
  if (F.tag() != "span")
    return false;
  uint64_t FirstNs = 0, LastNs = 0, BusyNs = 0;
  F.number(FirstNs);
  F.number(LastNs);
  F.number(BusyNs);
  F.end();
  if (F.bad())
    return true;
  State.FirstNs = std::min(State.FirstNs, FirstNs);
  State.LastNs = std::max(State.LastNs, LastNs);
  Record.BusyNs += BusyNs;
  return true;
}

/// Takes one line after the first. Unknown tags are a newer probe's and are an error.
bool takeLine(ProbeFields &F, ProbeRecord &Record, ProcessState &State) {
  llvm::StringRef Tag = F.tag();
  State.Loaded |= Tag == "container" || Tag == "module" || Tag == "kernel" || Tag == "aside";
  if (Tag == "device") {
    DeviceInfo D = readDevice(F);
    if (!F.bad())
      addDevice(Record.Devices, std::move(D));
  } else if (Tag == "kernel") {
    KernelLaunches K = readKernel(F);
    if (!F.bad())
      addLaunches(State.Kernels, std::move(K), /*OtherProcess=*/false);
  } else if (Tag == "container") {
    Record.Containers.insert(F.text());
  } else if (Tag == "swapped") {
    Record.Swapped.insert(F.text());
  } else if (Tag == "unswapped") {
    std::string Digest = F.text();
    Record.Unswapped[Digest] = F.text();
  } else if (Tag == "module") {
    Record.Modules.insert(F.text());
  } else if (Tag == "dropped") {
    uint64_t Lost = 0;
    F.number(Lost);
    Record.Dropped += Lost;
  } else if (Tag == "aside") {
    Record.Aside.insert(F.text());
  } else if (Tag == "end") {
    State.Ended = true;
  } else {
    return takeTraceFact(F, Record) || takeCount(F, Record) || takeSpan(F, Record, State) ||
           takeHardwareLine(F, Record.Hardware) || takeInRunLine(F, State.InRun);
  }
  return true;
}

/// Adds what one process timed. Its rounds and cycles are numbered behind those of the processes
/// before it, so that a round never pairs the times of two processes.
void addInRun(InRunRecord &All, InRunRecord New) {
  unsigned Rounds = 0, Cycles = 0;
  for (const TimedSample &T : All.Timed)
    Rounds = std::max(Rounds, T.Round + 1);
  for (const RotatedSample &R : All.Rotated)
    Cycles = std::max(Cycles, R.Cycle + 1);
  for (TimedSample &T : New.Timed)
    T.Round += Rounds;
  for (RotatedSample &R : New.Rotated)
    R.Cycle += Cycles;
  llvm::append_range(All.Replays, New.Replays);
  llvm::append_range(All.Verified, New.Verified);
  llvm::append_range(All.Timed, New.Timed);
  llvm::append_range(All.Rotated, New.Rotated);
  llvm::append_range(All.StoodBack, New.StoodBack);
  llvm::append_range(All.Faults, New.Faults);
}

} // namespace

llvm::Error carve::readProbeFile(llvm::StringRef Text, llvm::StringRef Name, ProbeRecord &Record) {
  unsigned Line = 0;
  ProcessState State;
  while (!Text.empty()) {
    auto [Current, Rest] = Text.split('\n');
    if (Rest.empty() && !Text.ends_with("\n"))
      break; // Cut short by a kill.
    Text = Rest;
    ProbeFields F(Current);
    if (++Line == 1) {
      std::string Version = F.tag() == "carve-probe" ? F.text() : "";
      if (Version != std::to_string(probe::ProtocolVersion))
        return malformed(Name + ":1: not a record of protocol " +
                         llvm::Twine(probe::ProtocolVersion) + ": '" + Current + "'");
      F.number(State.Pid);
      continue;
    }
    bool Known = takeLine(F, Record, State);
    if (!Known || F.bad())
      return malformed(
          Name + ":" + llvm::Twine(Line) + ": " +
          (Known ? "'" + F.tag() + "' record: " + *F.bad() : "unknown record '" + F.tag() + "'"));
  }
  if (Line > 0)
    ++Record.Processes;
  if (State.LastNs > State.FirstNs)
    Record.SpanNs += State.LastNs - State.FirstNs;
  for (KernelLaunches &K : State.Kernels)
    addLaunches(Record.Kernels, std::move(K), /*OtherProcess=*/true);
  // The probe itself ends a process at fault, without the record's end.
  bool Faulted = !State.InRun.Faults.empty();
  Record.Faulted += Faulted;
  addInRun(Record.InRun, std::move(State.InRun));
  if (State.Loaded && !State.Ended && !Faulted) {
    ++Record.Incomplete;
    Record.Unfinished.insert(State.Pid);
  }
  return llvm::Error::success();
}

std::string carve::printProbeRecord(const ProbeRecord &Record) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "carve-probe\t" << probe::ProtocolVersion << "\t0\t-\n";
  for (const DeviceInfo &D : Record.Devices) {
    OS << "device\t" << D.Ordinal << '\t' << D.Name << '\t' << D.Uuid << '\t' << D.Major << '\t'
       << D.Minor << '\t' << D.Sms << '\t' << D.MemoryBytes << '\t' << D.RegsPerSm << '\t'
       << D.RegsPerBlock << '\t' << D.ThreadsPerSm << '\t' << D.BlocksPerSm << '\t'
       << D.SmemPerSmBytes << '\t' << D.SmemPerBlockOptinBytes << '\t' << D.SmemPerBlockBytes
       << '\t' << D.ReservedSmemPerBlockBytes << "\t0\t" << D.DriverVersion;
    if (D.ClockKHz || D.MemoryClockKHz || D.BusBits || D.L2Bytes)
      OS << '\t' << D.ClockKHz << '\t' << D.MemoryClockKHz << '\t' << D.BusBits << '\t'
         << D.L2Bytes;
    OS << '\n';
  }
  for (const KernelLaunches &K : Record.Kernels)
    OS << "kernel\t" << K.Kernel << '\t' << extentsText(K.Shape.Grid, ",") << '\t'
       << extentsText(K.Shape.Block, ",") << '\t' << K.StaticSmemBytes << '\t'
       << K.Shape.DynamicSmemBytes << '\t' << extentsText(K.Shape.Cluster, ",") << '\t'
       << K.Shape.Cooperative << '\t' << K.RegsPerThread << '\t' << K.LocalBytesPerThread << '\t'
       << K.Launches << '\t' << K.TotalNs << '\t' << K.MinNs << '\t' << K.LocalBytesTotal << '\n';
  if (Record.SpanNs)
    OS << "span\t0\t" << Record.SpanNs << '\t' << Record.BusyNs << '\n';
  for (const std::string &Kernel : Record.Queried)
    OS << "query\t" << Kernel << '\t'
       << (Record.SizedByOccupancy.count(Kernel) ? "-" : "cuFuncGetAttribute") << '\n';
  for (const auto &[Kernel, Launches] : Record.GraphLaunches)
    OS << "graph\t" << Kernel << '\t' << Launches << '\n';
  for (const std::string &Kernel : Record.Programmatic)
    OS << "attribute\t" << Kernel << "\tprogrammatic\n";
  for (const auto &[Kind, Calls] : Record.Hazards)
    for (const std::string &Call : Calls)
      OS << "hazard\t" << Kind << '\t' << Call << '\n';
  OS << printInRun(Record.InRun);
  if (!Record.Faulted)
    OS << "end\n";
  return Text;
}

llvm::Expected<ProbeRecord> carve::readProbeDirectory(llvm::StringRef Dir) {
  std::vector<std::string> Paths;
  std::error_code E;
  for (llvm::sys::fs::directory_iterator I(Dir, E), End; I != End && !E; I.increment(E))
    if (llvm::StringRef(I->path()).ends_with(probe::FileSuffix))
      Paths.push_back(I->path());
  if (E)
    return llvm::createFileError(Dir, E);
  llvm::sort(Paths);
  ProbeRecord Record;
  for (const std::string &Path : Paths) {
    llvm::Expected<std::string> Text = readFile(Path);
    if (!Text)
      return Text.takeError();
    if (llvm::Error Bad = readProbeFile(*Text, Path, Record))
      return Bad;
  }
  return Record;
}
