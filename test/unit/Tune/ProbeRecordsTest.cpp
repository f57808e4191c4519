#include "Tune/ProbeRecords.h"

#include "TuneTesting.h"

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

TEST(ProbeRecords, ReadsEveryRecord) {
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
  EXPECT_EQ(R.Devices[0].DriverVersion, "580.159.03");
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
  EXPECT_FALSE(K.Shape.Cooperative);
  EXPECT_EQ(K.RegsPerThread, 40u);
  EXPECT_EQ(K.LocalBytesPerThread, 8u);
  EXPECT_EQ(K.Launches, 4u);
  EXPECT_EQ(K.TotalNs, 1000u);
  EXPECT_EQ(K.MinNs, 250u);
  EXPECT_EQ(K.LocalBytesTotal, 4096u);
}

TEST(ProbeRecords, DriverWithoutAKernelVersionGivesCudas) {
  std::string Text = ProbeHead;
  Text.replace(Text.find("580.159.03"), 10, "-");
  EXPECT_EQ(parsed(Text).Devices[0].DriverVersion, "CUDA 13000");
}

TEST(ProbeRecords, FlushesAndProcessesAddUp) {
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
  EXPECT_EQ(R.totalNs(), 2050u);
  EXPECT_EQ(R.totalNs({"b", "c"}), 50u);
}

TEST(ProbeRecords, OtherShapesStandApart) {
  std::string Line = kernelLine("a", 1000), Cooperative = Line, Larger = Line;
  Cooperative.replace(Cooperative.find("1,1,1\t0\t"), 8, "1,1,1\t1\t");
  Larger.replace(Larger.find("256,1,1"), 7, "512,1,1");
  EXPECT_EQ(parsed(ProbeHead + Line + Cooperative + Larger + Line + "end\n").Kernels.size(), 3u);
}

TEST(ProbeRecords, AKilledProcessLeavesWhatItWrote) {
  std::string Whole = ProbeHead + kernelLine("a", 1000);
  ProbeRecord R = parsed(Whole + "kernel\tb\t10,1");
  EXPECT_EQ(R.Incomplete, 1u);
  ASSERT_EQ(R.Kernels.size(), 1u);
  EXPECT_EQ(R.Unfinished, std::set<unsigned>{4711});
  EXPECT_EQ(parsed("").Processes, 0u);
  EXPECT_EQ(parsed(Whole).Incomplete, 1u);
}

TEST(ProbeRecords, WhoLoadedNoDeviceCodeMayEndAsItLikes) {
  EXPECT_EQ(parsed("carve-pro").Incomplete, 0u);
  EXPECT_EQ(parsed(ProbeHead).Incomplete, 0u);
  EXPECT_EQ(parsed(ProbeHead).Processes, 1u);
  EXPECT_EQ(parsed(ProbeHead + "container\tc\t1\tcall\n").Incomplete, 1u);
  EXPECT_EQ(parsed(ProbeHead + "aside\tprofiler-present\n").Incomplete, 1u);
}

TEST(ProbeRecords, GpusOfTwoArchitecturesAreToldApart) {
  std::string Second = ProbeHead, Third = ProbeHead;
  Second.replace(Second.find("GPU-1"), 5, "GPU-2");
  Third.replace(Third.find("GPU-1\t9"), 7, "GPU-3\t8");
  ProbeRecord R = parsed(ProbeHead + "end\n");
  ASSERT_EQ(messageOf(readProbeFile(Second + "end\n", "2", R)), "");
  EXPECT_EQ(R.Devices.size(), 2u);
  EXPECT_EQ(R.whyMixed(), std::nullopt);
  ASSERT_EQ(messageOf(readProbeFile(Third + "end\n", "3", R)), "");
  EXPECT_EQ(R.whyMixed(), "the program uses GPUs of different architectures (sm_80, sm_90): "
                          "choose those of one with CUDA_VISIBLE_DEVICES");
}

TEST(ProbeRecords, ErrorsNameFileLineAndField) {
  EXPECT_EQ(failure("carve-probe\t2\t1\tx\n"),
            "p:1: not a record of protocol 1: 'carve-probe\t2\t1\tx'");
  EXPECT_EQ(failure("hello\n"), "p:1: not a record of protocol 1: 'hello'");
  EXPECT_EQ(failure(ProbeHead + "launch\tk\n"), "p:3: unknown record 'launch'");
  EXPECT_EQ(failure(ProbeHead + "\nend\n"), "p:3: unknown record ''");
  EXPECT_EQ(failure(ProbeHead + "dropped\tmany\n"), "p:3: 'dropped' record: field 1 is 'many'");
  EXPECT_EQ(failure(ProbeHead + "dropped\t-1\n"), "p:3: 'dropped' record: field 1 is '-1'");
  EXPECT_EQ(failure(ProbeHead + "module\n"), "p:3: 'module' record: field 1 is 'nothing'");
  std::string Kernel = kernelLine("k", 7);
  Kernel.replace(Kernel.find("256,1,1"), 7, "256,1");
  EXPECT_EQ(failure(ProbeHead + Kernel), "p:3: 'kernel' record: field 3 is '256,1'");
  EXPECT_EQ(failure(ProbeHead + "kernel\tk\t1,1,4294967296\n"),
            "p:3: 'kernel' record: field 2 is '1,1,4294967296'");
}

TEST(ProbeRecords, PrintedRecordsReadBackTheSame) {
  ProbeRecord R = parsed(ProbeHead + kernelLine("a", 1000, 2) + kernelLine("_Z1bPf", 50) + "end\n");
  R.Kernels[0].Shape.Cooperative = true;
  R.Kernels[1].Shape.Cluster = {2, 1, 1};
  std::string Text = printProbeRecord(R);
  ProbeRecord Again = parsed(Text);
  EXPECT_EQ(printProbeRecord(Again), Text);
  EXPECT_EQ(Again.Devices[0].DriverVersion, "580.159.03");
  EXPECT_EQ(Again.Devices[0].SmemPerBlockOptinBytes, 232448u);
  EXPECT_TRUE(Again.Kernels[0].Shape.Cooperative);
  EXPECT_EQ(Again.Kernels[1].Shape.Cluster[0], 2u);
  EXPECT_EQ(Again.Kernels[1].LocalBytesTotal, 4096u);
  EXPECT_EQ(Again.Incomplete, 0u);
}

TEST(ProbeRecords, ADirectoryHoldsOneFilePerProcess) {
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
