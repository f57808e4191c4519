#include "Workload/ProbeRecords.h"

#include "Protocol/GraphRotation.h"
#include "Protocol/Protocol.h"
#include "Protocol/RecordReader.h"
#include "Protocol/RecordWriter.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Workload/InRunRecords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <tuple>

using namespace carve;

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
         "): choose GPUs of one architecture with CUDA_VISIBLE_DEVICES";
}

/// What graphs have that are not launched node by node for the reason \p Why.
static std::string phraseOf(GraphStay Why) {
  switch (Why) {
  case GraphStay::Conditional:
  case GraphStay::BesideConditional:
    return "conditional nodes";
  case GraphStay::DeviceLaunch:
    return "launches from the device";
  case GraphStay::DeviceUpdate:
    return "nodes that the device changes";
  case GraphStay::MemoryNode:
    return "nodes that allocate or free memory";
  case GraphStay::Semaphore:
    return "external semaphores";
  case GraphStay::MemoryOperation:
    return "nodes that wait for values in memory or write them";
  case GraphStay::Programmatic:
    return "nodes that overlap by programmatic launches";
  case GraphStay::PageableCopy:
    return "copies of pageable memory";
  case GraphStay::OtherContext:
    return "kernels of several contexts";
  case GraphStay::UnknownNode:
    return "nodes of an unknown kind";
  case GraphStay::UnknownUpdate:
    return "changes that cannot be followed";
  case GraphStay::Unread:
    break;
  }
  return "nodes that the driver does not tell";
}

std::optional<std::string> ProbeRecord::whyInGraphs(const std::string &Kernel) const {
  for (const char *Name : {Kernel.c_str(), "-"})
    if (auto It = StayingGraphs.find(Name); It != StayingGraphs.end())
      return "launched from graphs with " + phraseOf(It->second);
  return std::nullopt;
}

double ProbeRecord::graphShare() const {
  uint64_t Ns = 0;
  for (const auto &[Kernel, Own] : GraphNs)
    Ns += Own;
  return Ns ? double(Ns) / double(std::max(Ns, totalNs())) : 0;
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

std::vector<ArgumentValue> ProbeRecord::sameArguments(const std::string &Kernel) const {
  auto Found = Arguments.find(Kernel);
  return Found == Arguments.end() ? std::vector<ArgumentValue>() : Found->second.same();
}

std::vector<ArgumentValue> ProbeRecord::sameArguments(const std::string &Kernel,
                                                      const LaunchShape &Shape) const {
  auto Found = Arguments.find(Kernel);
  return Found == Arguments.end() ? std::vector<ArgumentValue>() : Found->second.sameIn(Shape);
}

namespace {

/// Adds \p K to the launches of the same kernel, shape and code in \p All. With \p OtherProcess, \p
/// K comes from a process that \p All does not have yet.
void addLaunches(std::vector<KernelLaunches> &All, KernelLaunches K, bool OtherProcess) {
  for (KernelLaunches &Old : All)
    if (Old.Kernel == K.Kernel && Old.Shape == K.Shape && Old.Cooperative == K.Cooperative &&
        Old.RegsPerThread == K.RegsPerThread && Old.StaticSmemBytes == K.StaticSmemBytes) {
      Old.Launches += K.Launches;
      Old.TotalNs += K.TotalNs;
      Old.MinNs = std::min(Old.MinNs, K.MinNs);
      Old.LocalBytesTotal = std::max(Old.LocalBytesTotal, K.LocalBytesTotal);
      Old.Processes += OtherProcess;
      return;
    }
  All.push_back(std::move(K));
}

/// Adds \p C to the launches of the same kernel, shape and arguments in \p All.
void addClass(std::vector<TracedClass> &All, TracedClass C) {
  auto Old = llvm::find_if(All, [&](const TracedClass &Old) {
    return Old.Kernel == C.Kernel && Old.Shape == C.Shape && Old.Key == C.Key;
  });
  if (Old == All.end()) {
    All.push_back(std::move(C));
    return;
  }
  Old->Launches += C.Launches;
  Old->TotalNs += C.TotalNs;
}

void addDevice(std::vector<DeviceInfo> &All, DeviceInfo D) {
  if (llvm::none_of(All, [&](const DeviceInfo &Old) { return Old.Uuid == D.Uuid; }))
    All.push_back(std::move(D));
}

/// What was read of one process so far.
struct ProcessState {
  unsigned Pid = 0;
  bool Loaded = false; ///< Whether it loaded device code, without which there are no kernels.
  bool Ended = false;  ///< Whether the end of its record was read.
  std::vector<KernelLaunches> Kernels;
  std::map<std::string, KernelArguments> Arguments;
  std::vector<TypicalLaunches> Typical;
  std::vector<TracedSegment> Segments;
  uint64_t FirstNs = UINT64_MAX, LastNs = 0; ///< First start and last end of its kernels.
  InRunRecord InRun;
};

/// Adds \p New to \p All. Of several reasons of a kernel, one with which its graph cannot even
/// rotate variants is kept.
void addStaying(std::map<std::string, GraphStay> &All, const StayingGraph &New) {
  auto [It, First] = All.emplace(New.Kernel, New.Why);
  if (!First && rotatesAsGraph(It->second))
    It->second = New.Why;
}

/// Takes a record of how kernels are launched and what the program does. Returns false if \p In is
/// another record.
bool takeTraceFact(RecordReader &In, ProbeRecord &Record) {
  return takeRecord<QueryRecord>(In,
                                 [&](const QueryRecord &R) {
                                   Record.Queried.insert(R.Kernel);
                                   if (!llvm::StringRef(R.Call).contains("GetAttribute"))
                                     Record.SizedByOccupancy.insert(R.Kernel);
                                 }) ||
         takeRecord<GraphRecord>(In,
                                 [&](const GraphRecord &R) {
                                   Record.GraphLaunches[R.Kernel] += R.Launches;
                                   Record.GraphNs[R.Kernel] += R.TotalNs;
                                 }) ||
         takeRecord<StayingGraph>(
             In, [&](const StayingGraph &R) { addStaying(Record.StayingGraphs, R); }) ||
         takeRecord<AttributeRecord>(
             In, [&](const AttributeRecord &R) { Record.Programmatic.insert(R.Kernel); }) ||
         takeRecord<HazardRecord>(
             In, [&](const HazardRecord &R) { Record.Hazards[R.Hazard].insert(R.Call); });
}

/// Takes a record of what kernels have counted. Returns false if \p In is another record.
bool takeCount(RecordReader &In, ProbeRecord &Record) {
  return takeRecord<UncountedRecord>(
             In, [&](const UncountedRecord &R) { Record.Uncounted.insert(R.Why); }) ||
         takeRecord<CountedVariable>(In, [&](const CountedVariable &R) {
           Record.Counted[R.Variable][R.Counter] += R.Count;
         });
}

/// Takes a record of an image that the program loads. Returns false if \p In is another record.
bool takeImage(RecordReader &In, ProbeRecord &Record) {
  return takeRecord<ContainerRecord>(
             In, [&](const ContainerRecord &R) { Record.Containers.insert(R.Digest); }) ||
         takeRecord<SwappedRecord>(
             In, [&](const SwappedRecord &R) { Record.Swapped.insert(R.Digest); }) ||
         takeRecord<UnswappedRecord>(
             In, [&](const UnswappedRecord &R) { Record.Unswapped[R.Digest] = R.Why; }) ||
         takeRecord<ModuleRecord>(In,
                                  [&](const ModuleRecord &R) { Record.Modules.insert(R.Digest); });
}

/// Takes a record of devices, kernels and their arguments, or the end of the process. Returns false
/// if \p In is another record.
bool takeProcessFact(RecordReader &In, ProbeRecord &Record, ProcessState &State) {
  return takeRecord<DeviceInfo>(In,
                                [&](DeviceInfo D) { addDevice(Record.Devices, std::move(D)); }) ||
         takeRecord<KernelLaunches>(In,
                                    [&](KernelLaunches K) {
                                      addLaunches(State.Kernels, std::move(K),
                                                  /*OtherProcess=*/false);
                                    }) ||
         takeRecord<ArgumentRecord>(
             In, [&](const ArgumentRecord &R) { State.Arguments[R.Kernel].add(R); }) ||
         takeRecord<ShapeArgumentRecord>(
             In, [&](const ShapeArgumentRecord &R) { State.Arguments[R.Kernel].add(R); }) ||
         takeRecord<PointerRecord>(
             In, [&](const PointerRecord &R) { State.Arguments[R.Kernel].add(R); }) ||
         takeRecord<AliasRecord>(In,
                                 [&](const AliasRecord &R) { State.Arguments[R.Kernel].add(R); }) ||
         takeRecord<TracedClass>(In,
                                 [&](TracedClass C) { addClass(Record.Classes, std::move(C)); }) ||
         takeRecord<TypicalLaunches>(
             In, [&](TypicalLaunches T) { State.Typical.push_back(std::move(T)); }) ||
         takeRecord<TracedSegment>(
             In, [&](TracedSegment S) { State.Segments.push_back(std::move(S)); }) ||
         takeRecord<SpanRecord>(In,
                                [&](const SpanRecord &R) {
                                  State.FirstNs = std::min(State.FirstNs, R.FirstNs);
                                  State.LastNs = std::max(State.LastNs, R.LastNs);
                                  Record.BusyNs += R.BusyNs;
                                }) ||
         takeRecord<DroppedRecord>(In,
                                   [&](const DroppedRecord &R) { Record.Dropped += R.Records; }) ||
         takeRecord<AsideRecord>(In, [&](const AsideRecord &R) { Record.Aside.insert(R.Why); }) ||
         takeRecord<EndRecord>(In, [&](const EndRecord &) { State.Ended = true; });
}

/// Whether a process with a record of \p Kind has loaded device code.
bool showsDeviceCode(std::string_view Kind) {
  return Kind == ContainerRecord::Kind.Word || Kind == ModuleRecord::Kind.Word ||
         Kind == KernelLaunches::Kind.Word || Kind == AsideRecord::Kind.Word;
}

/// Takes one line after the first. Returns false if the record is not known, because a newer probe
/// wrote it.
bool takeLine(RecordReader &In, ProbeRecord &Record, ProcessState &State) {
  State.Loaded |= showsDeviceCode(In.kind());
  return takeProcessFact(In, Record, State) || takeImage(In, Record) || takeTraceFact(In, Record) ||
         takeCount(In, Record) || takeHardwareLine(In, Record.Hardware) ||
         takeInRunLine(In, State.InRun);
}

/// Adds the records \p New of a process to \p All, those of earlier ones. Of a shape, those of the
/// first process count.
template <class Record>
void addOfNewShapes(std::vector<Record> &All, const std::vector<Record> &New) {
  const size_t Before = All.size();
  for (const Record &R : New)
    if (llvm::none_of(llvm::ArrayRef(All).take_front(Before), [&](const Record &Old) {
          return Old.Kernel == R.Kernel && Old.Shape == R.Shape;
        }))
      All.push_back(R);
}

/// Reads the first line. Fails if the file has another version or is not a probe's record.
llvm::Error takeHead(llvm::StringRef Line, llvm::StringRef Name, ProcessState &State) {
  RecordReader In(Line);
  bool Known = takeRecord<ProcessRecord>(In, [&](const ProcessRecord &R) { State.Pid = R.Pid; });
  if (!Known || !Line.starts_with(headOf(ProbeFile) + "\t"))
    return malformed(Name + ":1: not a record of protocol " + llvm::Twine(ProbeFile.Version) +
                     ": '" + Line + "'");
  return checkLine(In, Known, Name, 1);
}

} // namespace

void carve::addInRun(InRunRecord &All, InRunRecord New) {
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

llvm::Error carve::readProbeFile(llvm::StringRef Text, llvm::StringRef Name, ProbeRecord &Record) {
  unsigned Line = 0;
  ProcessState State;
  while (!Text.empty()) {
    auto [Current, Rest] = Text.split('\n');
    if (Rest.empty() && !Text.ends_with("\n"))
      break; // The process was killed while it wrote this line.
    Text = Rest;
    if (++Line == 1) {
      if (llvm::Error E = takeHead(Current, Name, State))
        return E;
      continue;
    }
    RecordReader In(Current);
    bool Known = takeLine(In, Record, State);
    if (llvm::Error E = checkLine(In, Known, Name, Line))
      return E;
  }
  if (Line > 0)
    ++Record.Processes;
  if (State.LastNs > State.FirstNs)
    Record.SpanNs += State.LastNs - State.FirstNs;
  for (KernelLaunches &K : State.Kernels)
    addLaunches(Record.Kernels, std::move(K), /*OtherProcess=*/true);
  addOfNewShapes(Record.Typical, State.Typical);
  addOfNewShapes(Record.Segments, State.Segments);
  for (const auto &[Kernel, Its] : State.Arguments)
    if (auto [Known, New] = Record.Arguments.try_emplace(Kernel, Its); !New)
      Known->second.merge(Its);
  // The probe itself ends a process with a fault, and then writes no end record.
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
  std::string Text = recordLine(ProcessRecord{ProbeFile.Version, 0, "-"});
  for (const DeviceInfo &D : Record.Devices)
    Text += recordLine(D);
  for (const KernelLaunches &K : Record.Kernels)
    Text += recordLine(K);
  if (Record.SpanNs)
    Text += recordLine(SpanRecord{0, Record.SpanNs, Record.BusyNs});
  for (const std::string &Kernel : Record.Queried)
    Text += recordLine(
        QueryRecord{Kernel, Record.SizedByOccupancy.count(Kernel) ? "-" : "cuFuncGetAttribute"});
  for (const auto &[Kernel, Launches] : Record.GraphLaunches)
    Text += recordLine(GraphRecord{Kernel, Launches, Record.GraphNs.at(Kernel)});
  for (const auto &[Kernel, Why] : Record.StayingGraphs)
    Text += recordLine(StayingGraph{Kernel, Why});
  for (const std::string &Kernel : Record.Programmatic)
    Text += recordLine(AttributeRecord{Kernel, LaunchAttribute::Programmatic});
  for (const auto &[Kind, Calls] : Record.Hazards)
    for (const std::string &Call : Calls)
      Text += recordLine(HazardRecord{Kind, Call});
  for (const auto &[Kernel, Its] : Record.Arguments)
    Text += Its.print(Kernel);
  for (const TracedClass &C : Record.Classes)
    Text += recordLine(C);
  for (const TypicalLaunches &T : Record.Typical)
    Text += recordLine(T);
  for (const TracedSegment &S : Record.Segments)
    Text += recordLine(S);
  Text += printInRun(Record.InRun);
  if (!Record.Faulted)
    Text += recordLine(EndRecord());
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
