#include "Store/UnitJson.h"

#include "StoreTesting.h"
#include "Support/NewerFormat.h"

using namespace carve;

static std::string replaced(std::string Text, const std::string &From, const std::string &To) {
  size_t At = Text.find(From);
  EXPECT_NE(At, std::string::npos) << From;
  return Text.replace(At, From.size(), To);
}

TEST(UnitJson, unit_writtenAndRead_keepsEveryMember) {
  Unit U = sampleUnit();
  U.Images[0].PtxDigest = "p";
  U.Images[0].CubinDigest = "c";
  U.Ptx[0].PtxDigest = "e";
  Unit Back = valueOf(parseUnit(printUnit(U), "u.json"));
  EXPECT_EQ(Back.Key, U.Key);
  EXPECT_EQ(Back.Project, U.Project);
  EXPECT_EQ(Back.Source, U.Source);
  EXPECT_EQ(Back.Output, U.Output);
  EXPECT_EQ(Back.Directory, U.Directory);
  EXPECT_EQ(Back.Command, U.Command);
  EXPECT_EQ(Back.Nvcc, U.Nvcc);
  EXPECT_EQ(Back.NvccVersion, U.NvccVersion);
  EXPECT_EQ(Back.Relocatable, U.Relocatable);
  EXPECT_EQ(Back.RegisterCap, U.RegisterCap);
  EXPECT_EQ(Back.Containers, U.Containers);
  ASSERT_EQ(Back.Images.size(), 1u);
  const UnitImage &Image = Back.Images[0];
  EXPECT_EQ(Image.Arch, "sm_90");
  EXPECT_EQ(Image.PtxDigest, "p");
  EXPECT_EQ(Image.CubinDigest, "c");
  EXPECT_EQ(Image.PtxasOptions, U.Images[0].PtxasOptions);
  EXPECT_EQ(Image.PtxName, "k.ptx");
  ASSERT_EQ(Image.Kernels.size(), 2u);
  EXPECT_EQ(Image.Kernels[0].Name, "_Z1kPd");
  EXPECT_EQ(Image.Kernels[0].RegsPerThread, 255u);
  EXPECT_EQ(Image.Kernels[0].StaticSmemBytes, 4294967295u);
  EXPECT_EQ(Image.Kernels[0].StackBytes, 8u);
  EXPECT_EQ(Image.Kernels[0].SpillStoreBytes, 4u);
  EXPECT_EQ(Image.Kernels[0].SpillLoadBytes, 12u);
  EXPECT_EQ(Image.Kernels[0].Barriers, 1u);
  EXPECT_TRUE(Image.Kernels[0].StackUnknown);
  EXPECT_FALSE(Image.Kernels[1].StackUnknown);
  ASSERT_EQ(Back.Ptx.size(), 1u);
  EXPECT_EQ(Back.Ptx[0].Compute, 90u);
  EXPECT_EQ(Back.Ptx[0].PtxDigest, "e");
  EXPECT_EQ(Back.Ptx[0].PtxName, "k.compute_90.ptx");
  EXPECT_EQ(Back.Ptx[0].PtxasOptions, U.Ptx[0].PtxasOptions);
}

TEST(UnitJson, absentCap_writtenAndRead_staysAbsent) {
  Unit U = sampleUnit();
  U.RegisterCap.reset();
  EXPECT_EQ(valueOf(parseUnit(printUnit(U), "u.json")).RegisterCap, std::nullopt);
}

TEST(UnitJson, unknownMember_read_isIgnored) {
  std::string Json = replaced(printUnit(sampleUnit()), "\"key\"", "\"colour\": \"red\", \"key\"");
  EXPECT_EQ(valueOf(parseUnit(Json, "u.json")).Key, sampleUnit().Key);
}

TEST(UnitJson, wrongMember_read_isNamed) {
  std::string Json = printUnit(sampleUnit());
  EXPECT_EQ(messageOf(parseUnit(replaced(Json, "\"regs\": 255", "\"regs\": -1"), "u.json")),
            "u.json: expected integer in 0..4294967295 at unit.images[0].kernels[0].regs");
  EXPECT_EQ(messageOf(parseUnit(replaced(Json, "\"regs\": 255", "\"regs\": 1e10"), "u.json")),
            "u.json: expected integer in 0..4294967295 at unit.images[0].kernels[0].regs");
  EXPECT_EQ(messageOf(parseUnit(replaced(Json, "\"nvcc-version\"", "\"version\""), "u.json")),
            "u.json: missing value at unit.nvcc-version");
  EXPECT_EQ(messageOf(parseUnit(replaced(Json, "\"hex\"", "\"hax\""), "u.json")),
            "u.json: expected string at unit.directory");
  EXPECT_EQ(
      messageOf(parseUnit(replaced(Json, "\"relocatable\": true", "\"relocatable\": 1"), "u.json")),
      "u.json: expected boolean at unit.relocatable");
}

TEST(UnitJson, truncatedRecord_read_isRefused) {
  std::string Json = printUnit(sampleUnit());
  for (size_t Length = 0; Length + 2 < Json.size(); ++Length)
    ASSERT_NE(messageOf(parseUnit(llvm::StringRef(Json).take_front(Length), "u.json")), "")
        << Length;
}

TEST(UnitJson, otherContent_read_isRefused) {
  for (const char *Text : {"", "[]", "null", "{}", "{\"carve-unit\": \"1\"}", "\xff\xfe"})
    EXPECT_EQ(messageOf(parseUnit(Text, "u.json")).rfind("u.json: ", 0), 0u) << Text;
}

TEST(UnitJson, newerRecord_read_failsAsNewer) {
  std::string Json = replaced(printUnit(sampleUnit()), "\"carve-unit\": 1", "\"carve-unit\": 2");
  llvm::Error Failed = parseUnit(Json, "u.json").takeError();
  EXPECT_TRUE(Failed.isA<NewerFormat>());
  EXPECT_EQ(llvm::toString(std::move(Failed)), "u.json: unit record of format 2, expected 1");
}

TEST(UnitJson, objectRecord_writtenAndRead_isUnchanged) {
  Unit U = sampleUnit();
  EXPECT_FALSE(valueOf(parseUnit(printUnit(U), "u.json")).Object);
  U.Choices = "choices";
  U.Cue = RebuildCue::Cache;
  U.ProfilePath = "/project/tuned.yaml";
  U.ProfileChoices = "0123";
  U.ProfileByOption = true;
  U.Images[0].CubinName = "k.sm_90.cubin";
  ObjectRecord O;
  O.Command = "command";
  O.Inputs = "inputs";
  O.SourceDigest = "source";
  O.KeepDir = "/tmp/k\xc3\xa9";
  O.FatbinaryArguments = {"-64", "--image3=kind=elf,sm=90,file=/tmp/k\xc3\xa9/k.cubin"};
  O.FatbinName = "k.fatbin";
  O.FatbinBytes = uint64_t(1) << 40;
  O.ObjectDigest = "object";
  O.ObjectBytes = 1;
  O.HeaderOffset = 2;
  O.SectionOffset = 3;
  O.SectionBytes = 4;
  O.Depfile = "d";
  O.Stdout = "out";
  O.Stderr = "err";
  O.Streams = {true, false, true};
  O.Decisions = "decisions";
  U.Object = O;
  Unit Back = valueOf(parseUnit(printUnit(U), "u.json"));
  EXPECT_EQ(Back.Choices, U.Choices);
  EXPECT_EQ(Back.Cue, U.Cue);
  EXPECT_EQ(Back.ProfilePath, U.ProfilePath);
  EXPECT_EQ(Back.ProfileChoices, U.ProfileChoices);
  EXPECT_TRUE(Back.ProfileByOption);
  EXPECT_EQ(Back.Images[0].CubinName, "k.sm_90.cubin");
  EXPECT_EQ(printUnit(Back), printUnit(U));
  EXPECT_EQ(Back.Object->FatbinBytes, O.FatbinBytes);
  EXPECT_EQ(Back.Object->Streams, O.Streams);
  EXPECT_EQ(messageOf(parseUnit(replaced(printUnit(U), "\"cache\"", "\"guess\""), "u.json")),
            "u.json: expected none, depfile or cache at unit.rebuild-cue");
}

TEST(UnitJson, frontEnds_writtenAndRead_areUnchanged) {
  Unit U = sampleUnit();
  UnitFrontEnd F;
  F.PtxDigest = "p";
  F.Step = {"/tmp/k\xe9",
            "k.cpp1.ii",
            "k.module_id",
            "k.ptx",
            {"-g", "/tmp/k\xe9/k.cpp1.ii", "-o", "/tmp/k\xe9/k.ptx"},
            40};
  F.InputDigest = "i";
  F.ModuleId = "_1234_4_k_cu\n";
  U.FrontEnds = {F, F};
  U.FrontEnds[1].Step.Cap.reset();
  std::string Json = printUnit(U);
  Unit Back = valueOf(parseUnit(Json, "u.json"));
  ASSERT_EQ(Back.FrontEnds.size(), 2u);
  EXPECT_EQ(Back.FrontEnds[0].PtxDigest, "p");
  EXPECT_EQ(Back.FrontEnds[0].InputDigest, "i");
  EXPECT_EQ(Back.FrontEnds[0].ModuleId, F.ModuleId);
  EXPECT_EQ(Back.FrontEnds[0].Step, F.Step);
  EXPECT_EQ(Back.FrontEnds[1].Step, U.FrontEnds[1].Step);
  EXPECT_EQ(messageOf(parseUnit(replaced(Json, "\"cap\": 40", "\"cap\": -40"), "u.json")),
            "u.json: expected integer in 0..4294967295 at unit.front-ends[0].cap");
  EXPECT_EQ(messageOf(parseUnit(replaced(Json, "\"module-id\"", "\"module\""), "u.json")),
            "u.json: missing value at unit.front-ends[0].module-id");
  EXPECT_EQ(
      messageOf(parseUnit(replaced(Json, "\"front-ends\": [", "\"front-ends\": [1,"), "u.json")),
      "u.json: expected object at unit.front-ends[0]");
}

/// Names are joined to directories and options are passed to programs, so a record must not hold
/// one that leads outside.
TEST(UnitJson, nameOrOption_reachesOutside_isRefused) {
  Unit U = sampleUnit();
  U.Images[0].CubinName = "k.sm_90.cubin";
  U.Images[0].PtxDigest = "ptxdigest";
  UnitFrontEnd F;
  F.PtxDigest = "p";
  F.InputDigest = "inputdigest";
  F.Step = {"/keep", "k.ii", "k.id", "k3.ptx", {"-g", "/keep/k.ii", "-o", "/keep/k3.ptx"}, {}};
  U.FrontEnds = {F};
  ObjectRecord O;
  O.KeepDir = "/keep";
  O.FatbinName = "k.fatbin";
  O.FatbinaryArguments = {"--create=/keep/k.fatbin"};
  U.Object = O;
  const std::string Json = printUnit(U);
  ASSERT_EQ(messageOf(parseUnit(Json, "u")), "");
  const struct {
    const char *From, *To, *Place;
  } Cases[] = {
      {"\"k.ptx\"", "\"../k.ptx\"", "unit.images[0].ptx-name"},
      {"\"k.ptx\"", "\"/etc/passwd\"", "unit.images[0].ptx-name"},
      {"\"k.ptx\"", "\"-optf=x\"", "unit.images[0].ptx-name"},
      {"\"k.ptx\"", "\"..\"", "unit.images[0].ptx-name"},
      {"\"k.ptx\"", "\"a\\u0000b\"", "unit.images[0].ptx-name"},
      {"\"k.ptx\"", "{\"hex\": \"2e2e2f61\"}", "unit.images[0].ptx-name"},
      {"\"k.sm_90.cubin\"", "\"../../x\"", "unit.images[0].cubin-name"},
      {"\"ptxdigest\"", "\"../../x\"", "unit.images[0].ptx"},
      {"\"sm_90\"", "\"sm_90,file=x\"", "unit.images[0].arch"},
      {"\"k.compute_90.ptx\"", "\"a/b\"", "unit.embedded-ptx[0].ptx-name"},
      {"\"k.ii\"", "\"../k.ii\"", "unit.front-ends[0].input-name"},
      {"\"k.id\"", "\"../k.id\"", "unit.front-ends[0].module-id-name"},
      {"\"k3.ptx\"", "\"../k.ptx\"", "unit.front-ends[0].ptx-name"},
      {"\"inputdigest\"", "\"..\"", "unit.front-ends[0].input"},
      {"\"-g\"", "\"-c\"", "unit.front-ends[0].arguments[0]"},
      {"\"/keep/k3.ptx\"", "\"/keep/../k3.ptx\"", "unit.front-ends[0].arguments[2]"},
      {"\"k.fatbin\"", "\"../x\"", "unit.object.fatbin-name"},
      {"--create=/keep/k.fatbin", "--create=/etc/x", "unit.object.fatbinary-arguments[0]"},
      {"\"-arch=sm_90\"", "\"--options-file=x\"", "unit.images[0].ptxas-options[0]"},
      {"\"-m64\"\n      ]\n    }", "\"-o\"\n      ]\n    }",
       "unit.embedded-ptx[0].ptxas-options[0]"},
      {"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", "\"../x\"", "unit.containers[0]"},
      {"\"source\": \"src/k.cu\"", "\"source\": \"-x\"", "unit.source"},
  };
  for (const auto &C : Cases) {
    std::string Message = messageOf(parseUnit(replaced(Json, C.From, C.To), "u"));
    EXPECT_NE(Message.find("expected "), std::string::npos) << C.To << " of " << C.Place;
    EXPECT_NE((Message + "$").find(std::string(" at ") + C.Place + "$"), std::string::npos)
        << C.To << ": " << Message;
  }
}

/// The program always belongs to the toolkit, whatever a record says.
TEST(UnitJson, frontEndProgram_inARecord_isIgnored) {
  Unit U = sampleUnit();
  UnitFrontEnd F;
  F.Step = {"/keep", "k.ii", "", "k.ptx", {}, {}};
  U.FrontEnds = {F};
  std::string Json = printUnit(U);
  EXPECT_EQ(Json.find("\"cicc\""), std::string::npos);
  Json = replaced(Json, "\"input-name\"", "\"cicc\": \"/bin/sh\", \"input-name\"");
  EXPECT_EQ(printUnit(valueOf(parseUnit(Json, "u"))), printUnit(U));
}
