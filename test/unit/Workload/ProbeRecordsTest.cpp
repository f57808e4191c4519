#include "Workload/ProbeRecords.h"

#include "Protocol/RecordTable.h"
#include "Protocol/RecordWriter.h"
#include "unit/Workload/WorkloadTesting.h"

using namespace carve;

static ProbeRecord parsed(const std::string &Text) {
  ProbeRecord Record;
  EXPECT_EQ(messageOf(readProbeFile(Text, "p", Record)), "");
  return Record;
}

static std::string failure(const std::string &Text) {
  ProbeRecord Record;
  return messageOf(readProbeFile(Text, "p", Record));
}

TEST(ProbeRecords, read_everyRecord_hasItsFields) {
  ProbeRecord R = parsed(ProbeHead +
                         "container\tc1\t100\tcuLibraryLoadData\nswapped\tc1\t/tmp/0.cubin\n"
                         "unswapped\tc2\tno memory\nmodule\tm1\t90\n" +
                         kernelLine("_Z1kv", 1000, 4) +
                         "query\t_Z1kv\tcuFuncGetAttribute\ndropped\t3\naside\tno CUPTI\nend\n");
  EXPECT_EQ(R.Processes, 1u);
  EXPECT_EQ(R.Incomplete, 0u);
  ASSERT_EQ(R.Devices.size(), 1u);
  EXPECT_EQ(R.Devices[0].Name, "NVIDIA H200");
  EXPECT_EQ(R.Devices[0].arch(), "sm_90");
  EXPECT_EQ(R.Devices[0].MemoryBytes, 150000000000u);
  EXPECT_EQ(R.Devices[0].ReservedSmemPerBlockBytes, 1024u);
  EXPECT_EQ(R.Devices[0].driverVersion(), "580.159.03");
  EXPECT_EQ(R.Containers, std::set<std::string>{"c1"});
  EXPECT_EQ(R.Swapped, std::set<std::string>{"c1"});
  EXPECT_EQ(R.Unswapped.at("c2"), "no memory");
  EXPECT_EQ(R.Modules, std::set<std::string>{"m1"});
  EXPECT_EQ(R.Queried, std::set<std::string>{"_Z1kv"});
  EXPECT_EQ(R.Dropped, 3u);
  EXPECT_EQ(R.Aside, std::set<std::string>{"no CUPTI"});
  ASSERT_EQ(R.Kernels.size(), 1u);
  const KernelLaunches &K = R.Kernels[0];
  EXPECT_EQ(K.Kernel, "_Z1kv");
  EXPECT_EQ(K.Shape.Grid[0], 10u);
  EXPECT_EQ(K.Shape.threadsPerBlock(), 256u);
  EXPECT_EQ(K.StaticSmemBytes, 1024u);
  EXPECT_EQ(K.Shape.DynamicSmemBytes, 64u);
  EXPECT_FALSE(K.Cooperative);
  EXPECT_EQ(K.RegsPerThread, 40u);
  EXPECT_EQ(K.LocalBytesPerThread, 8u);
  EXPECT_EQ(K.Launches, 4u);
  EXPECT_EQ(K.TotalNs, 1000u);
  EXPECT_EQ(K.MinNs, 250u);
  EXPECT_EQ(K.LocalBytesTotal, 4096u);
}

TEST(ProbeRecords, everyRecordOfAProcess_isKnown) {
  unsigned Known = 0;
  AllRecords::each([&](const auto &R) {
    if (R.Kind.File.Head != ProbeFile.Head || R.Kind.Word == ProbeFile.Head)
      return;
    ++Known;
    EXPECT_EQ(failure(ProbeHead + recordLine(R)).find("unknown record"), std::string::npos)
        << R.Kind.Word;
  });
  EXPECT_GT(Known, 20u);
}

TEST(ProbeRecords, driverVersion_noKernelDriver_isCudas) {
  std::string Text = ProbeHead;
  Text.replace(Text.find("580.159.03"), 10, "-");
  EXPECT_EQ(parsed(Text).Devices[0].driverVersion(), "CUDA 13000");
}

TEST(ProbeRecords, device_rates_areRead) {
  std::string Text = ProbeHead;
  const std::string Unknown = "580.159.03\t0\t0\t0\t0";
  Text.replace(Text.find(Unknown), Unknown.size(), "580.159.03\t1980000\t3201000\t6144\t62914560");
  ProbeRecord R = parsed(Text + "end\n");
  EXPECT_EQ(R.Devices[0].ClockKHz, 1980000u);
  EXPECT_EQ(R.Devices[0].MemoryClockKHz, 3201000u);
  EXPECT_EQ(R.Devices[0].BusBits, 6144u);
  EXPECT_EQ(R.Devices[0].L2Bytes, 62914560u);
  EXPECT_EQ(parsed(printProbeRecord(R)).Devices[0].L2Bytes, 62914560u);
}

TEST(ProbeRecords, spans_severalProcesses_addUp) {
  ProbeRecord R;
  std::string Lines = "span\t100\t400\t250\nspan\t90\t700\t50\nend\n";
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + Lines, "1", R)), "");
  EXPECT_EQ(R.SpanNs, 610u);
  EXPECT_EQ(R.BusyNs, 300u);
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + "span\t0\t90\t50\nend\n", "2", R)), "");
  EXPECT_EQ(R.SpanNs, 700u);
  EXPECT_EQ(R.BusyNs, 350u);
  ProbeRecord Again = parsed(printProbeRecord(R));
  EXPECT_EQ(Again.SpanNs, 700u);
  EXPECT_EQ(Again.BusyNs, 350u);
  EXPECT_EQ(failure(ProbeHead + "span\t1\t2\n"),
            "p:3: 'span' record: field 3 is absent, expected a number");
}

TEST(ProbeRecords, launches_severalFlushesAndProcesses_addUp) {
  ProbeRecord R;
  std::string First = ProbeHead + kernelLine("a", 1000, 2) + kernelLine("b", 50) +
                      kernelLine("a", 300, 1) + "end\n";
  ASSERT_EQ(messageOf(readProbeFile(First, "1", R)), "");
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + kernelLine("a", 700, 7) + "end\n", "2", R)), "");
  EXPECT_EQ(R.Processes, 2u);
  EXPECT_EQ(R.Devices.size(), 1u);
  ASSERT_EQ(R.Kernels.size(), 2u);
  EXPECT_EQ(R.Kernels[0].Launches, 10u);
  EXPECT_EQ(R.Kernels[0].TotalNs, 2000u);
  EXPECT_EQ(R.Kernels[0].MinNs, 100u);
  EXPECT_EQ(R.Kernels[0].Processes, 2u);
  EXPECT_EQ(R.Kernels[1].Processes, 1u);
  EXPECT_EQ(R.totalNs(), 2050u);
  EXPECT_EQ(R.totalNs({"b", "c"}), 50u);
}

TEST(ProbeRecords, classes_severalProcesses_addUp) {
  ProbeRecord R;
  auto Class = [](unsigned Key, unsigned Ns) {
    return "class\ta\t1,1,1\t256,1,1\t0\t1,1,1\t" + std::to_string(Key) + "\t10\t" +
           std::to_string(Ns) + "\n";
  };
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + Class(7, 500) + Class(8, 90) + "end\n", "1", R)),
            "");
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + Class(7, 600) + "end\n", "2", R)), "");
  R = parsed(printProbeRecord(R));
  ASSERT_EQ(R.Classes.size(), 2u);
  EXPECT_EQ(R.Classes[0].Key, 7u);
  EXPECT_EQ(R.Classes[0].Launches, 20u);
  EXPECT_EQ(R.Classes[0].TotalNs, 1100u);
  EXPECT_EQ(R.Classes[1].TotalNs, 90u);
}

TEST(ProbeRecords, typicalLaunches_severalProcesses_areThoseOfTheFirst) {
  ProbeRecord R;
  auto Typical = [](const char *Launches) {
    return std::string("typical\ta\t1,1,1\t256,1,1\t0\t1,1,1\t") + Launches + "\n";
  };
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + Typical("3\t9\t5000") + "end\n", "1", R)), "");
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + Typical("4\t4\t7000") + "end\n", "2", R)), "");
  R = parsed(printProbeRecord(R));
  ASSERT_EQ(R.Typical.size(), 1u);
  EXPECT_EQ(R.Typical[0].First, 3u);
  EXPECT_EQ(R.Typical[0].Second, 9u);
  EXPECT_EQ(R.Typical[0].MeanNs, 5000u);
}

TEST(ProbeRecords, segments_severalProcesses_areThoseOfTheFirst) {
  ProbeRecord R;
  auto Segment = [](const char *Launches) {
    return std::string("segment\ta\t1,1,1\t256,1,1\t0\t1,1,1\t") + Launches + "\n";
  };
  const std::string First = Segment("0\t9\t5000\t4\t600") + Segment("9\t20\t5100\t15\t250");
  const std::string Second = Segment("0\t12\t6000\t3\t800") + Segment("12\t22\t6100\t20\t300");
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + First + "end\n", "1", R)), "");
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + Second + "end\n", "2", R)), "");
  R = parsed(printProbeRecord(R));
  ASSERT_EQ(R.Segments.size(), 2u);
  EXPECT_EQ(R.Segments[0].First, 0u);
  EXPECT_EQ(R.Segments[0].Launches, 9u);
  EXPECT_EQ(R.Segments[0].TotalNs, 5000u);
  EXPECT_EQ(R.Segments[1].First, 9u);
  EXPECT_EQ(R.Segments[1].Replayed, 15u);
  EXPECT_EQ(R.Segments[1].ReplayedNs, 250u);
}

TEST(ProbeRecords, launches_otherShapes_areSeparate) {
  std::string Line = kernelLine("a", 1000), Cooperative = Line, Larger = Line;
  Cooperative.replace(Cooperative.find("1,1,1\t0\t"), 8, "1,1,1\t1\t");
  Larger.replace(Larger.find("256,1,1"), 7, "512,1,1");
  EXPECT_EQ(parsed(ProbeHead + Line + Cooperative + Larger + Line + "end\n").Kernels.size(), 3u);
}

TEST(ProbeRecords, process_killed_keepsWhatItWrote) {
  std::string Whole = ProbeHead + kernelLine("a", 1000);
  ProbeRecord R = parsed(Whole + "kernel\tb\t10,1");
  EXPECT_EQ(R.Incomplete, 1u);
  ASSERT_EQ(R.Kernels.size(), 1u);
  EXPECT_EQ(R.Unfinished, std::set<unsigned>{4711});
  EXPECT_EQ(parsed("").Processes, 0u);
  EXPECT_EQ(parsed(Whole).Incomplete, 1u);
}

TEST(ProbeRecords, process_noDeviceCodeLoaded_isNotIncomplete) {
  EXPECT_EQ(parsed("carve-pro").Incomplete, 0u);
  EXPECT_EQ(parsed(ProbeHead).Incomplete, 0u);
  EXPECT_EQ(parsed(ProbeHead).Processes, 1u);
  EXPECT_EQ(parsed(ProbeHead + "container\tc\t1\tcall\n").Incomplete, 1u);
  EXPECT_EQ(parsed(ProbeHead + "aside\tprofiler-present\n").Incomplete, 1u);
}

TEST(ProbeRecords, whyMixed_twoArchitectures_namesThem) {
  std::string Second = ProbeHead, Third = ProbeHead;
  Second.replace(Second.find("GPU-1"), 5, "GPU-2");
  Third.replace(Third.find("GPU-1\t9"), 7, "GPU-3\t8");
  ProbeRecord R = parsed(ProbeHead + "end\n");
  ASSERT_EQ(messageOf(readProbeFile(Second + "end\n", "2", R)), "");
  EXPECT_EQ(R.Devices.size(), 2u);
  EXPECT_EQ(R.whyMixed(), std::nullopt);
  ASSERT_EQ(messageOf(readProbeFile(Third + "end\n", "3", R)), "");
  EXPECT_EQ(R.whyMixed(), "the program uses GPUs of different architectures (sm_80, sm_90): "
                          "choose GPUs of one architecture with CUDA_VISIBLE_DEVICES");
}

TEST(ProbeRecords, error_namesFileLineAndField) {
  EXPECT_EQ(failure("carve-probe\t2\t1\tx\n"),
            "p:1: not a record of protocol 1: 'carve-probe\t2\t1\tx'");
  EXPECT_EQ(failure("hello\n"), "p:1: not a record of protocol 1: 'hello'");
  EXPECT_EQ(failure(ProbeHead + "launch\tk\n"), "p:3: unknown record 'launch'");
  EXPECT_EQ(failure(ProbeHead + "\nend\n"), "p:3: unknown record ''");
  EXPECT_EQ(failure(ProbeHead + "dropped\tmany\n"),
            "p:3: 'dropped' record: field 1 is 'many', expected a number");
  EXPECT_EQ(failure(ProbeHead + "dropped\t-1\n"),
            "p:3: 'dropped' record: field 1 is '-1', expected a number");
  EXPECT_EQ(failure(ProbeHead + "module\n"),
            "p:3: 'module' record: field 1 is absent, expected text");
  std::string Kernel = kernelLine("k", 7);
  Kernel.replace(Kernel.find("256,1,1"), 7, "256,1");
  EXPECT_EQ(failure(ProbeHead + Kernel),
            "p:3: 'kernel' record: field 3 is '256,1', expected three numbers");
  EXPECT_EQ(failure(ProbeHead + "kernel\tk\t1,1,4294967296\n"),
            "p:3: 'kernel' record: field 2 is '1,1,4294967296', expected three numbers");
}

TEST(ProbeRecords, records_printedAndRead_areTheSame) {
  ProbeRecord R = parsed(ProbeHead + kernelLine("a", 1000, 2) + kernelLine("_Z1bPf", 50) + "end\n");
  R.Kernels[0].Cooperative = true;
  R.Kernels[1].Shape.Cluster = {2, 1, 1};
  std::string Text = printProbeRecord(R);
  ProbeRecord Again = parsed(Text);
  EXPECT_EQ(printProbeRecord(Again), Text);
  EXPECT_EQ(Again.Devices[0].driverVersion(), "580.159.03");
  EXPECT_EQ(Again.Devices[0].SmemPerBlockOptinBytes, 232448u);
  EXPECT_TRUE(Again.Kernels[0].Cooperative);
  EXPECT_EQ(Again.Kernels[1].Shape.Cluster[0], 2u);
  EXPECT_EQ(Again.Kernels[1].LocalBytesTotal, 4096u);
  EXPECT_EQ(Again.Incomplete, 0u);
}

static const char TraceFacts[] = "query\t_Z1kv\t-\ngraph\t_Z1gv\t7\t700\n"
                                 "graph-stays\t-\tconditional\ngraph-stays\t_Z1gv\tmemory-node\n"
                                 "attribute\t_Z1pv\tprogrammatic\n"
                                 "hazard\tmanaged\tcuMemAllocManaged\n"
                                 "hazard\tipc\tcuIpcGetMemHandle\nhazard\tipc\t"
                                 "cuIpcOpenMemHandle_v2\n";

TEST(ProbeRecords, traceFacts_areReadAndPrinted) {
  ProbeRecord R;
  std::string Text = ProbeHead + TraceFacts + "graph\t_Z1gv\t3\t200\nend\n";
  ASSERT_EQ(messageOf(readProbeFile(Text, "1", R)), "");
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + "graph\t_Z1gv\t5\t100\nend\n", "2", R)), "");
  EXPECT_EQ(R.GraphLaunches, (std::map<std::string, uint64_t>{{"_Z1gv", 15}}));
  EXPECT_EQ(R.GraphNs, (std::map<std::string, uint64_t>{{"_Z1gv", 1000}}));
  EXPECT_EQ(R.StayingGraphs, (std::map<std::string, GraphStay>{{"-", GraphStay::Conditional},
                                                               {"_Z1gv", GraphStay::MemoryNode}}));
  EXPECT_EQ(R.Programmatic, std::set<std::string>{"_Z1pv"});
  EXPECT_EQ(R.Hazards, (std::map<HazardKind, std::set<std::string>>{
                           {HazardKind::Ipc, {"cuIpcGetMemHandle", "cuIpcOpenMemHandle_v2"}},
                           {HazardKind::Managed, {"cuMemAllocManaged"}}}));
  ProbeRecord Again = parsed(printProbeRecord(parsed(ProbeHead + TraceFacts + "end\n")));
  EXPECT_NE(printProbeRecord(Again).find(TraceFacts), std::string::npos);
}

TEST(ProbeRecords, whyInGraphs_isTheReasonOfTheKernelOrOfGraphsWithUnknownKernels) {
  ProbeRecord R;
  EXPECT_EQ(R.whyInGraphs("k"), std::nullopt);
  R.StayingGraphs["k"] = GraphStay::OtherContext;
  EXPECT_EQ(R.whyInGraphs("k"), "launched from graphs with kernels of several contexts");
  EXPECT_EQ(R.whyInGraphs("other"), std::nullopt);
  R.StayingGraphs["-"] = GraphStay::Conditional;
  EXPECT_EQ(R.whyInGraphs("k"), "launched from graphs with kernels of several contexts");
  EXPECT_EQ(R.whyInGraphs("other"), "launched from graphs with conditional nodes");
}

TEST(ProbeRecords, severalReasonsOfAKernel_theOneThatAllowsLeastIsKept) {
  std::string Rotates = "graph-stays\tk\tmemory-node\n", Not = "graph-stays\tk\tprogrammatic\n";
  for (const std::string &Both : {Rotates + Not, Not + Rotates})
    EXPECT_EQ(parsed(ProbeHead + Both + "end\n").StayingGraphs.at("k"), GraphStay::Programmatic);
}

TEST(ProbeRecords, graphShare_isThatOfTheirKernelsTime) {
  ProbeRecord R;
  EXPECT_EQ(R.graphShare(), 0);
  std::string Text = ProbeHead + kernelLine("a", 600, 6) + kernelLine("b", 400, 4) +
                     "graph\ta\t2\t150\ngraph\tb\t1\t100\nend\n";
  ASSERT_EQ(messageOf(readProbeFile(Text, "1", R)), "");
  EXPECT_EQ(R.graphShare(), 0.25);
}

TEST(ProbeRecords, arguments_severalProcesses_areComparedByKernel) {
  ProbeRecord R;
  const std::string Both = "argument\ta\t0\t8\t4096\t0\nargument\ta\t2\t4\t7\t0\n";
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + Both + "end\n", "1", R)), "");
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + "argument\tb\t0\t0\t0\t0\nend\n", "2", R)), "");
  using Values = std::vector<ArgumentValue>;
  EXPECT_EQ(R.sameArguments("a"), (Values{{0, 8, 4096}, {2, 4, 7}}))
      << "the second process never launched it";
  EXPECT_EQ(R.sameArguments("b"), Values());
  EXPECT_EQ(R.sameArguments("c"), Values());
  std::string Other = Both;
  Other.replace(Other.find("4096"), 4, "8193");
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + Other + "end\n", "3", R)), "");
  EXPECT_EQ(R.sameArguments("a"), (Values{{2, 4, 7}}));
  ProbeRecord Again = parsed(printProbeRecord(R));
  EXPECT_EQ(Again.sameArguments("a"), (Values{{2, 4, 7}}));
  EXPECT_EQ(printProbeRecord(Again), printProbeRecord(R));
  EXPECT_EQ(failure(ProbeHead + "argument\ta\t0\t8\t-1\t0\n"),
            "p:3: 'argument' record: field 4 is '-1', expected a number");
}

TEST(ProbeRecords, counts_severalProcesses_addUp) {
  ProbeRecord R;
  ASSERT_EQ(messageOf(readProbeFile(
                ProbeHead + "counted\ta\t0\t5\ncounted\ta\t7\t4294967296\nend\n", "1", R)),
            "");
  ASSERT_EQ(messageOf(readProbeFile(
                ProbeHead + "counted\ta\t0\t6\ncounted\tb\t1\t1\nuncounted\twhy\nend\n", "2", R)),
            "");
  using Counts = std::map<size_t, uint64_t>;
  EXPECT_EQ(R.Counted, (std::map<std::string, Counts>{{"a", {{0, 11}, {7, uint64_t(1) << 32}}},
                                                      {"b", {{1, 1}}}}));
  EXPECT_EQ(R.Uncounted, std::set<std::string>{"why"});
  EXPECT_EQ(failure(ProbeHead + "counted\ta\t0\n"),
            "p:3: 'counted' record: field 3 is absent, expected a number");
}

TEST(ProbeRecords, traceFacts_damaged_areErrors) {
  EXPECT_EQ(failure(ProbeHead + "graph\t_Z1gv\tmany\n"),
            "p:3: 'graph' record: field 2 is 'many', expected a number");
  EXPECT_EQ(failure(ProbeHead + "graph-stays\t_Z1gv\tsomehow\n"),
            "p:3: 'graph-stays' record: field 2 is 'somehow', expected "
            "conditional|beside-conditional|device-launch|device-update|memory-node|semaphore|"
            "memory-operation|"
            "programmatic|pageable-copy|other-context|unknown-node|unknown-update|unread");
  EXPECT_EQ(failure(ProbeHead + "attribute\tk\tpriority\n"),
            "p:3: 'attribute' record: field 2 is 'priority', expected programmatic");
  EXPECT_EQ(failure(ProbeHead + "hazard\tmagic\tcuMagic\n"),
            "p:3: 'hazard' record: field 1 is 'magic', expected "
            "managed|host-mapped|ipc|peer|capture|array|gpus");
  EXPECT_EQ(failure(ProbeHead + "hazard\tipc\n"),
            "p:3: 'hazard' record: field 2 is absent, expected a name");
  EXPECT_EQ(failure(ProbeHead + "query\tk\tcall\tmore\n"),
            "p:3: 'query' record: field 3 is 'more', expected none");
  EXPECT_EQ(failure(ProbeHead + "timed\tk\n"),
            "p:3: 'timed' record: field 2 is absent, expected three numbers");
}

static std::string timedLines(unsigned Round) {
  std::string R = std::to_string(Round);
  return "timed\tk\t1,1,1\t32,1,1\t0\t1,1,1\t0\tscreen\t" + R + "\tdefault\t100\t90\n" +
         "rotated\tk\t1,1,1\t32,1,1\t0\t1,1,1\t" + R + "\tdefault\t80\n";
}

TEST(ProbeRecords, timingRun_printedAndRead_isTheSame) {
  std::string Text = ProbeHead + kernelLine("k", 1000) + timedLines(0) + timedLines(1) + "end\n";
  ProbeRecord R = parsed(Text);
  EXPECT_EQ(R.InRun.Timed.size(), 2u);
  EXPECT_EQ(R.InRun.Rotated.size(), 2u);
  EXPECT_EQ(printInRun(parsed(printProbeRecord(R)).InRun), printInRun(R.InRun));
}

TEST(ProbeRecords, rounds_severalProcesses_areRenumbered) {
  ProbeRecord R;
  std::string Text = ProbeHead + timedLines(0) + timedLines(4) + "end\n";
  for (const char *Name : {"1", "2"})
    ASSERT_EQ(messageOf(readProbeFile(Text, Name, R)), "");
  std::vector<unsigned> Rounds, Cycles;
  for (const TimedSample &T : R.InRun.Timed)
    Rounds.push_back(T.Round);
  for (const RotatedSample &S : R.InRun.Rotated)
    Cycles.push_back(S.Cycle);
  EXPECT_EQ(Rounds, (std::vector<unsigned>{0, 4, 5, 9}));
  EXPECT_EQ(Cycles, Rounds);
}

TEST(ProbeRecords, process_endedForAFault_isNotIncomplete) {
  std::string Text = ProbeHead + kernelLine("k", 1000) + timedLines(0);
  ProbeRecord R = parsed(Text + "fault\tk\tr40\thung\n");
  EXPECT_EQ(R.Faulted, 1u);
  EXPECT_EQ(R.Incomplete, 0u);
  EXPECT_TRUE(R.Unfinished.empty());
  ASSERT_EQ(R.InRun.Faults.size(), 1u);
  EXPECT_EQ(R.InRun.Faults[0].Variant, "r40");
  EXPECT_EQ(R.whyIncomplete(), std::nullopt);
  EXPECT_EQ(parsed(printProbeRecord(R)).Faulted, 1u);
  // The process ended in the same way, but before its record was complete.
  ProbeRecord Cut = parsed(Text + "fault\tk\tr40\thu");
  EXPECT_EQ(Cut.Faulted, 0u);
  EXPECT_EQ(Cut.Incomplete, 1u);
}

TEST(ProbeRecords, directory_oneFilePerProcess_isRead) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-records"));
  auto Write = [&](const char *Name, const std::string &Text) {
    EXPECT_EQ(messageOf(writeFileAtomically(Dir.path() + "/" + Name, Text)), "");
  };
  EXPECT_EQ(valueOf(readProbeDirectory(Dir.path())).Processes, 0u);
  Write("1-1.probe", ProbeHead + kernelLine("a", 10) + "end\n");
  Write("2-1.probe", ProbeHead + kernelLine("a", 20));
  Write("notes.txt", "not ours");
  ProbeRecord R = valueOf(readProbeDirectory(Dir.path()));
  EXPECT_EQ(R.Processes, 2u);
  EXPECT_EQ(R.Incomplete, 1u);
  EXPECT_EQ(R.totalNs(), 30u);
  Write("3-1.probe", "x\n");
  EXPECT_NE(messageOf(readProbeDirectory(Dir.path())).find("3-1.probe:1:"), std::string::npos);
  EXPECT_NE(messageOf(readProbeDirectory(Dir.path() + "/none")), "");
}
