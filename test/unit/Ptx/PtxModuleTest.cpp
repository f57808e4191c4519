#include "PtxTesting.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>

using namespace carve;
using namespace llvm;
using std::vector;

static PtxEntry onlyEntry(StringRef Statements) {
  PtxModule Module = parsed(ptx(Statements));
  EXPECT_EQ(Module.entries().size(), 1u);
  return Module.entries().empty() ? PtxEntry() : Module.entries().front();
}

TEST(PtxModule, recordedModule_listsItsEntries) {
  PtxModule Module = parsed(recorded("kernels.cuda-13.0.88.ptx"));
  vector<std::string> Names;
  for (const PtxEntry &E : Module.entries())
    Names.push_back(E.Name);
  EXPECT_EQ(Names,
            (vector<std::string>{"init", "_Z2avPf", "x_Z2avPf", "_Z5bulkyPdi", "_Z9recursivePi"}));
  EXPECT_EQ(Module.find("x_Z2avPf")->Callees, vector<std::string>{"_Z6scaledfi"});
  EXPECT_FALSE(Module.find("x_Z2avPf")->UnknownStack);
  EXPECT_TRUE(Module.find("_Z9recursivePi")->UnknownStack);
  EXPECT_EQ(Module.find("_Z5bulkyPdi")->Directives.maxThreadsPerBlock(), 256u);
  EXPECT_EQ(Module.find("init")->Directives.maxThreadsPerBlock(), 1024u);
  EXPECT_EQ(Module.find("nosuch"), nullptr);
}

TEST(PtxModule, performanceDirectives_areRead) {
  PtxEntry E = onlyEntry(".visible .entry k(.param .u64 k_param_0)\n.maxntid 32, 8\n"
                         ".minnctapersm 3\n.maxnreg 40\n.reqnctapercluster 2, 1, 1\n"
                         ".explicitcluster\n{ ret; }");
  EXPECT_EQ(E.Directives.maxThreadsPerBlock(), 256u);
  EXPECT_EQ(E.Directives.MinNCtaPerSm, 3u);
  EXPECT_EQ(E.Directives.MaxNReg, 40u);
  EXPECT_EQ((*E.Directives.ReqNCtaPerCluster)[0], 2u);
  EXPECT_TRUE(E.Directives.ExplicitCluster);
  EntryDirectives Required = onlyEntry(".entry k() .reqntid 7, 3, 2 { ret; }").Directives;
  EXPECT_EQ(Required.maxThreadsPerBlock(), 42u);
}

TEST(PtxModule, bracesAndNames_inCommentsAndStrings_areIgnored) {
  PtxEntry E = onlyEntry(".file 1 \"a{b.cu\"\n"
                         ".entry k() { // } .entry no() {\n"
                         "  /* call { out */ .pragma \"nounroll } \";\n"
                         "  .loc 1 3 0\n  ld.global.v2.f32 {%f1, %f2}, [%rd1]; ret; }\n");
  EXPECT_EQ(E.Name, "k");
  EXPECT_TRUE(E.Callees.empty());
}

TEST(PtxModule, brokenText_fails) {
  for (StringRef Bad :
       {".entry k() { ret;", ".entry k() { ret; } }", ".entry k( { ret; }", ".global .u32 a",
        "/* no end", ".pragma \"x", "stray words;", ".alias a;", ".entry { ret; }"})
    EXPECT_NE(messageOf(PtxModule::parse(ptx(Bad))), "") << Bad.str();
  EXPECT_EQ(messageOf(PtxModule::parse(".version 9.0\n.entry k() { ret; }")), "PTX: no .target");
  EXPECT_NE(messageOf(PtxModule::parse("")), "");
}

TEST(PtxModule, truncatedModule_isReadOrFails) {
  std::string Text = recorded("kernels.cuda-13.0.88.ptx");
  for (size_t Size = 0; Size < Text.size(); Size += 64)
    if (auto Module = PtxModule::parse(Text.substr(0, Size)))
      EXPECT_LT(Module->entries().size(), 6u);
    else
      consumeError(Module.takeError());
}

TEST(PtxModule, calls_ofFunctionsDefinedLater_areFollowed) {
  PtxEntry E = onlyEntry(".extern .func (.param .b32 r) vprintf(.param .b64 a);\n"
                         ".func f();\n.func g();\n"
                         ".entry k() { call.uni f, (); call.uni (retval0), vprintf, (p); ret; }\n"
                         ".func f() { call g; setmaxnreg.inc.sync.aligned.u32 240; }\n"
                         ".func g() { ret; }");
  EXPECT_EQ(E.Callees, (vector<std::string>{"f", "g", "vprintf"}));
  EXPECT_TRUE(E.UsesSetMaxNReg);
  EXPECT_FALSE(E.CallsExternal) << "vprintf is the system's";
  EXPECT_FALSE(E.UnknownStack);
}

TEST(PtxModule, callsInADiamond_areNotRecursion) {
  EXPECT_FALSE(onlyEntry(".func f() { ret; } .func g() { call f; } .func h() { call f; }\n"
                         ".entry k() { call g; call h; call g; }")
                   .UnknownStack);
  EXPECT_TRUE(onlyEntry(".func h(); .func g() { call h; } .func h() { call g; }\n"
                        ".entry k() { call g; }")
                  .UnknownStack);
}

TEST(PtxModule, indirectCall_stackIsUnknown) {
  EXPECT_TRUE(onlyEntry(".entry k() { { p_1 : .callprototype ()_ (.param .b64 _);\n"
                        "call %rd2, (param0), p_1; } }")
                  .UnknownStack);
  EXPECT_TRUE(onlyEntry(".entry k() { call (r), target, (), table; }").UnknownStack);
}

TEST(PtxModule, externalFunction_reachedThroughACall_isSeen) {
  EXPECT_TRUE(onlyEntry(".extern .func outside(); .func f() { call outside; }\n"
                        ".entry k() { call f; }")
                  .CallsExternal);
  EXPECT_FALSE(onlyEntry(".visible .func a(); .func b() { ret; } .alias a, b;\n"
                         ".entry k() { call a; }")
                   .CallsExternal)
      << "an alias has its target's body";
}

TEST(PtxModule, functionNamedLikeAnInstruction_instructionIsNotACall) {
  PtxEntry E = onlyEntry(".func add() { ret; }\n.entry k() { add.s32 %r1, %r2, 3; ret; }");
  EXPECT_TRUE(E.Callees.empty());
}

TEST(PtxModule, registerCap_isInsertedOrReplaced) {
  PtxModule Module = parsed(ptx(".entry a(.param .u32 a_param_0)\n.maxntid 64, 1, 1\n{ ret; }\n"
                                ".entry b() .maxnreg 80 .maxnreg 90 { ret; }\n"
                                ".entry c() { ret; }\n"));
  StringMap<unsigned> Caps;
  Caps["a"] = 32;
  Caps["b"] = 40;
  std::string Text = cantFail(Module.withRegisterCaps(Caps));
  EXPECT_EQ(Text, ptx(".entry a(.param .u32 a_param_0)\n.maxntid 64, 1, 1\n.maxnreg 32\n{ ret; }\n"
                      ".entry b() .maxnreg 40 .maxnreg 40 { ret; }\n"
                      ".entry c() { ret; }\n"));
  EXPECT_EQ(parsed(Text).find("a")->Directives.MaxNReg, 32u);
  Caps["d"] = 1;
  EXPECT_EQ(messageOf(Module.withRegisterCaps(Caps)), "PTX: no entry named d");
}

TEST(PtxModule, clone_ownNames_areRenamedAndNoOthers) {
  StringRef Original = ".visible .entry add(\n\t.param .u64 add_param_0\n)\n.maxntid 64, 1, 1\n"
                       "{ // add, add_param_0\n"
                       "$L__BB0_1:\n\tld.param.u64 %rd1, [add_param_0];\n\tadd.s64 %rd1, %rd1, 1;\n"
                       "\tmov.u64 %rd2, add;\n\tmov.u64 %rd3, add_parameter;\n\tret;\n}";
  PtxModule Module =
      parsed(ptx(".global .u32 add_parameter;\n" + Original.str() + "\n.entry z() { ret; }\n"));
  std::string Text = cantFail(Module.withClones({{"add", "add__r40", {40}}, {"add", "add__0"}}));
  std::string Clone40 =
      ".visible .entry add__r40(\n\t.param .u64 add__r40_param_0\n)\n.maxntid 64, 1, 1\n"
      ".maxnreg 40\n{ // add, add_param_0\n"
      "$L__BB0_1:\n\tld.param.u64 %rd1, [add__r40_param_0];\n\tadd.s64 %rd1, %rd1, 1;\n"
      "\tmov.u64 %rd2, add__r40;\n\tmov.u64 %rd3, add_parameter;\n\tret;\n}";
  EXPECT_EQ(StringRef(Text).count(Original), 1u);
  EXPECT_NE(Text.find(Original.str() + "\n" + Clone40 + "\n.visible .entry add__0("),
            std::string::npos)
      << Text;
  PtxModule Cloned = parsed(Text);
  ASSERT_EQ(Cloned.entries().size(), 4u);
  EXPECT_EQ(Cloned.find("add__r40")->Directives.MaxNReg, 40u);
  EXPECT_EQ(Cloned.find("add__0")->Directives.MaxNReg, std::nullopt);
}

TEST(PtxModule, clonesAlone_leaveOutOtherEntriesAndNothingElse) {
  PtxModule Module = parsed(ptx(".global .u32 g;\n.visible .entry b();\n"
                                ".func f() { ret; }\n.visible .entry a() { call f; ret; }\n"
                                ".visible .entry b() { ret; }\n.entry c() { ret; }\n"));
  EXPECT_EQ(cantFail(Module.clonesAlone({{"a", "a__1"}}, {"a__1", "c"})),
            ptx(".global .u32 g;\n\n.func f() { ret; }\n.visible .entry a() { call f; ret; }\n"
                ".visible .entry a__1() { call f; ret; }\n\n.entry c() { ret; }\n"));
  EXPECT_EQ(cantFail(Module.clonesAlone({}, {"b"})),
            ptx(".global .u32 g;\n.visible .entry b();\n.func f() { ret; }\n\n"
                ".visible .entry b() { ret; }\n\n"));
  EXPECT_EQ(messageOf(Module.clonesAlone({{"d", "d__1"}}, {})), "PTX: no entry named d");
}

TEST(PtxModule, clone_ofACappedEntry_hasItsOwnCap) {
  PtxModule Module = parsed(ptx(".entry k() .maxnreg 128 { ret; }"));
  PtxModule Cloned = parsed(cantFail(Module.withClones({{"k", "c", {40}}})));
  EXPECT_EQ(Cloned.find("k")->Directives.MaxNReg, 128u);
  EXPECT_EQ(Cloned.find("c")->Directives.MaxNReg, 40u);
}

TEST(PtxModule, clone_takenNameOrUnknownEntry_fails) {
  PtxModule Module = parsed(ptx(".global .u32 g; .entry k() { ret; }"));
  EXPECT_EQ(messageOf(Module.withClones({{"k", "g"}})), "PTX: the name g is taken");
  EXPECT_EQ(messageOf(Module.withClones({{"k", "c", {32}}, {"k", "c", {40}}})),
            "PTX: the name c is taken");
  EXPECT_EQ(messageOf(Module.withClones({{"g", "c"}})), "PTX: no entry named g");
}

TEST(PtxModule, module_withoutEdits_staysByteForByte) {
  std::string Text = recorded("kernels.cuda-13.0.88.ptx");
  PtxModule Module = parsed(Text);
  EXPECT_EQ(Module.text(), Text);
  EXPECT_EQ(cantFail(Module.withRegisterCaps({})), Text);
  EXPECT_EQ(cantFail(Module.withClones({})), Text);
}

TEST(PtxModule, parse_largeModule_takesLinearTime) {
  // The text has 3 MB and 600 entries. Quadratic scanning takes minutes, and the bound leaves room
  // for sanitizers.
  std::string Body(5000, ' ');
  for (size_t I = 0; I + 25 < Body.size(); I += 25)
    Body.replace(I, 25, "add.s32 %r1, %r2, %r345;\n");
  std::string Text = ptx(".func f() { ret; }\n");
  for (unsigned I = 0; I < 600; ++I)
    Text += ".entry k" + std::to_string(I) + "() { call f; " + Body + "ret; }\n";
  auto Start = std::chrono::steady_clock::now();
  EXPECT_EQ(parsed(std::move(Text)).entries().size(), 600u);
  EXPECT_LT(std::chrono::steady_clock::now() - Start, std::chrono::seconds(5));
}
