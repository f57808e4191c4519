#include "Nvcc/CommandLine.h"
#include "Nvcc/ConfigureProbe.h"

#include "NvccTesting.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace carve;

namespace {

/// Writes \p Text to \p Name below \p Dir and creates the directories between.
void writeBelow(const TempDir &Dir, const std::string &Name, const std::string &Text) {
  std::string Path = Dir.path() + "/" + Name;
  llvm::sys::fs::create_directories(llvm::StringRef(Path).rsplit('/').first);
  ASSERT_EQ(llvm::toString(writeFileAtomically(Path, Text)), "");
}

TEST(CommandLine, plainCompiles_parsed_areHandled) {
  EXPECT_EQ(verdict({"-c", "k.cu"}), "object");
  EXPECT_EQ(verdict({"-dc", "k.cu", "-o", "k.o"}), "object");
  EXPECT_EQ(verdict({"-dw", "k.cu"}), "object");
  EXPECT_EQ(verdict({"-c", "-rdc", "true", "k.cu"}), "object");
  EXPECT_EQ(verdict({"-x", "cu", "-c", "k.cpp"}), "object");
  EXPECT_EQ(verdict({"-c", "k.c", "-x=cu"}), "object");
  EXPECT_EQ(verdict({"-shared", "-c", "k.cu"}), "object");
  EXPECT_EQ(verdict({"k.cu", "-o", "app"}), "executable");
  EXPECT_EQ(verdict({"a.cu", "b.cu", "host.cpp", "c.o", "-lm", "libd.a"}), "executable");
  EXPECT_EQ(verdict({"-O3", "-g", "-lineinfo", "-std", "c++17", "-t", "4", "-split-compile", "2",
                     "-Xcompiler", "-Wall -fPIC", "-arch", "sm_90", "k.cu"}),
            "executable");
}

TEST(CommandLine, otherCommands_parsed_areLeftToNvcc) {
  const std::pair<Words, const char *> Cases[] = {
      {{}, "no-input"},
      {{""}, "unknown-input"},
      {{"-"}, "stdin"},
      {{"-x", "cu", "-"}, "stdin"},
      {{"--version"}, "information"},
      {{"-h"}, "information"},
      {{"-arch-ls"}, "information"},
      {{"-v", "k.cu"}, "verbose"},
      {{"--dryrun", "k.cu"}, "dryrun"},
      {{"-E", "k.cu"}, "preprocess"},
      {{"-M", "k.cu"}, "dependencies-only"},
      {{"-MM", "k.cu"}, "dependencies-only"},
      {{"-ptx", "k.cu"}, "device-image-output"},
      {{"--cubin", "k.cu"}, "device-image-output"},
      {{"-fatbin", "k.cu"}, "device-image-output"},
      {{"-dlink", "k.o"}, "device-link"},
      {{"-lib", "k.cu"}, "library-output"},
      {{"-run", "k.cu"}, "run"},
      {{"-keep", "-c", "k.cu"}, "keep"},
      {{"--keep-dir=d", "-c", "k.cu"}, "keep"},
      {{"-save-temps", "-c", "k.cu"}, "keep"},
      {{"-objtemp", "-c", "k.cu"}, "objdir"},
      {{"-odir", "d", "-c", "k.cu"}, "output-directory"},
      {{"-time", "t.csv", "-c", "k.cu"}, "time"},
      {{"-G", "-c", "k.cu"}, "device-debug"},
      {{"-Xptxas", "-v,-g", "-c", "k.cu"}, "device-debug"},
      {{"-Xptxas", "-override-directive-values", "-c", "k.cu"}, "override-directive-values"},
      {{"-Xptxas=--entry", "-Xptxas=k", "-c", "k.cu"}, "entries"},
      {{"-dlto", "-c", "k.cu"}, "device-lto"},
      {{"-arch=lto_90", "-c", "k.cu"}, "device-lto"},
      {{"-gencode", "arch=compute_90,code=[sm_90,lto_90]", "-c", "k.cu"}, "device-lto"},
      {{"-r", "k.cu"}, "relocatable-link"},
      {{"-c", "a.cu", "b.cu"}, "object"},
      {{"-c", "a.cu", "b.cpp"}, "object"},
      {{"-c", "a.cu", "d/a.cu"}, "same-stem"},
      {{"-c", "a.cu", "b.cu", "-o", "c.o"}, "several-inputs"},
      {{"-c", "a.cu", "b.cu", "-MD"}, "several-depfiles"},
      {{"-c", "a.cu", "b.o"}, "several-inputs"},
      {{"d1/m.cu", "d2/m.cu"}, "same-stem"},
      {{"m.cu", "m.cpp"}, "same-stem"},
      {{"host.cpp", "k.o"}, "no-device-source"},
      {{"-c", "-x", "c++", "k.cu"}, "no-device-source"},
      {{"k.ptx", "k.cu"}, "device-code-input"},
      {{"k.cu", "libx.so.1"}, "unknown-input"},
      {{"-c", "k.cu", "@file"}, "unknown-input"},
      {{"-c", "k.cu", "-Wall"}, "unknown-option"},
      {{"-c", "k.cu", "-ofoo"}, "unknown-option"},
      {{"-c=true", "k.cu"}, "unknown-option"},
      {{"-c", "k.cu", "-o"}, "unknown-option"},
      {{"-c", "k.cu", "-o", "/dev/null"}, "special-output"},
      {{"-c", "k.cu", "-o", "/"}, "special-output"},
      {{"-c", "k.cu", "-o", ""}, "no-output-name"},
      {{"-rdc=true", "k.cu", "-o", std::string(240, 'n')}, "long-output-name"},
      {{"k.cu", "-o", std::string(240, 'n')}, "long-output-name"},
      {{"-c", "a$b.cu"}, "shell-name"},
      {{"-c", "k.cu", "-o", "a`b.o"}, "shell-name"},
      {{"-MD", "a.cu", "b.cpp"}, "several-depfiles"},
      {{"-c", "k.cu", "-Xcompiler", "-Wall,-MD"}, "host-compiler-output"},
      {{"-c", "k.cu", "-Xcompiler", "--coverage"}, "host-compiler-output"},
      {{"-c", "k.cu", "-maxrregcount=many"}, "register-cap"},
      {{"-c", "k.cu", "-Xptxas", "-maxrregcount=archmax"}, "register-cap"},
  };
  for (const auto &[Arguments, Reason] : Cases)
    EXPECT_EQ(verdict(Arguments), Reason) << testing::PrintToString(Arguments);
}

TEST(CommandLine, sharedObject_parsed_isNotAnExecutable) {
  EXPECT_EQ(verdict({"-shared", "-Xcompiler", "-fPIC", "k.cu", "-o", "libk.so"}), "shared");
  EXPECT_EQ(verdict({"--shared", "k.cu", "host.cpp", "x.o"}), "shared");
  // If only the host compiler is told, it is a shared object all the same, and must not be run.
  EXPECT_EQ(verdict({"-Xcompiler", "-shared,-fPIC", "k.cu", "-o", "libk.so"}), "shared");
  EXPECT_EQ(verdict({"-shared", "-c", "k.cu"}), "object");
  EXPECT_EQ(verdict({"-Xlinker", "-soname,libshared.so", "k.cu"}), "executable");
  EXPECT_EQ(parsed({"-shared", "k.cu"}).Output, "a.out");
  EXPECT_EQ(verdict({"k.cu"}, {"", "-shared", "/none"}), "shared");
}

TEST(CommandLine, unknownOption_forwarded_takesNoValue) {
  Words Forward = {"-forward-unknown-to-host-compiler", "-fPIC", "-Wall", "-c", "k.cu"};
  CommandLine C = parsed(Forward);
  ASSERT_EQ(C.Inputs.size(), 1u);
  EXPECT_EQ(C.Inputs[0].Path, "k.cu");
  EXPECT_EQ(C.Inputs[0].ArgIndex, 4u);
  // The flag may come after the option that it forwards.
  EXPECT_EQ(verdict({"-pthread", "-c", "k.cu", "-forward-unknown-opts"}), "object");
  EXPECT_EQ(verdict({"-forward-unknown-opts", "--param", "foo", "-c", "k.cu"}), "unknown-input");
  EXPECT_EQ(verdict({"-forward-unknown-opts", "--coverage", "-c", "k.cu"}), "host-compiler-output");
  EXPECT_EQ(verdict({"-forward-unknown-opts", "-c=true", "k.cu"}), "unknown-option");
}

TEST(CommandLine, optionValues_parsed_areNotInputs) {
  CommandLine C = parsed({"-Xcudafe", "--diag_suppress=177", "-include", "pre.cu", "-isystem",
                          "inc.cu", "-D", "X", "-Ofc", "-c", "k.cu"});
  ASSERT_EQ(C.Inputs.size(), 1u);
  EXPECT_EQ(C.Inputs[0].Path, "k.cu");
  // As in nvcc, an optional value is taken if no option follows.
  EXPECT_EQ(verdict({"-c", "-Ofc", "k.cu"}), "no-input");
}

TEST(CommandLine, input_suffixOrLanguage_decidesItsKind) {
  CommandLine C = parsed({"a.cu", "b.cc", "c.o", "d.so", "e.ii"});
  std::vector<InputKind> Kinds;
  for (const Input &I : C.Inputs)
    Kinds.push_back(I.Kind);
  EXPECT_EQ(Kinds,
            (std::vector<InputKind>{InputKind::DeviceSource, InputKind::HostSource,
                                    InputKind::Object, InputKind::Library, InputKind::HostSource}));
  // -x applies to all inputs, wherever it is written. If it is repeated, the last one counts.
  C = parsed({"a.cpp", "b.foo", "-x", "c++", "-x", "cu"});
  EXPECT_EQ(C.Inputs[0].Kind, InputKind::DeviceSource);
  EXPECT_EQ(C.Inputs[1].Kind, InputKind::DeviceSource);
}

TEST(CommandLine, output_withoutOption_isWhatNvccWrites) {
  EXPECT_EQ(parsed({"k.cu"}).Output, "a.out");
  EXPECT_EQ(parsed({"-c", "dir/k.x.cu"}).Output, "k.x.o");
  EXPECT_EQ(parsed({"-c", "k.cu", "-o", "a.o", "--output-file=b.o"}).Output, "b.o");
}

TEST(CommandLine, relocatableAndDepfile_parsed_areNoticed) {
  EXPECT_TRUE(parsed({"-dc", "k.cu"}).Relocatable);
  EXPECT_TRUE(parsed({"-rdc=true", "k.cu"}).Relocatable);
  EXPECT_FALSE(parsed({"-rdc=true", "-rdc=false", "k.cu"}).Relocatable);
  EXPECT_TRUE(parsed({"-MMD", "-c", "k.cu"}).WritesDepfile);
  EXPECT_FALSE(parsed({"-c", "k.cu"}).WritesDepfile);
}

TEST(CommandLine, registerCap_everySpelling_isFound) {
  const std::pair<Words, std::optional<unsigned>> Cases[] = {
      {{}, std::nullopt},
      {{"-maxrregcount=32"}, 32},
      {{"--maxrregcount", "0x20"}, 32},
      {{"-maxrregcount", "64", "-maxrregcount=40"}, 40},
      {{"-maxrregcount=64", "-maxrregcount=0"}, std::nullopt},
      {{"-maxrregcount=300"}, std::nullopt},
      {{"-Xptxas", "-v,-maxrregcount=48"}, 48},
      {{"-Xptxas=--maxrregcount,40"}, 40},
      {{"-Xptxas", "--maxrregcount", "-Xptxas", "56"}, 56},
      {{"--ptxas-options", "-O3 -maxrregcount 24"}, 24},
      // nvcc puts its own cap after those of -Xptxas.
      {{"-maxrregcount=64", "-Xptxas", "-maxrregcount=32"}, 64},
      {{"-maxrregcount=0", "-Xptxas", "-maxrregcount=32"}, 32},
  };
  for (const auto &[Options, Cap] : Cases) {
    Words Arguments = Options;
    Arguments.insert(Arguments.end(), {"-c", "k.cu"});
    EXPECT_EQ(parsed(Arguments).RegisterCap, Cap) << testing::PrintToString(Options);
  }
}

TEST(CommandLine, environmentFlags_parsed_count) {
  auto With = [](const char *Prepend, const char *Append) {
    return NvccEnvironment{Prepend, Append, "/none"};
  };
  Words Plain = {"-c", "k.cu", "-maxrregcount=48"};
  EXPECT_EQ(parsed(Plain, With("-maxrregcount=24", "")).RegisterCap, 48u);
  EXPECT_EQ(parsed(Plain, With("", "-maxrregcount=24")).RegisterCap, 24u);
  EXPECT_TRUE(parsed(Plain, With("", "-Xptxas -maxrregcount=24")).CapFromEnvironment);
  EXPECT_FALSE(parsed(Plain, With("-lineinfo", "")).CapFromEnvironment);
  EXPECT_EQ(parsed(Plain, With("-g", "-lineinfo")).Argv, Plain);
  EXPECT_EQ(verdict(Plain, With("--keep", "")), "keep");
  EXPECT_EQ(verdict(Plain, With("", "-G")), "device-debug");
  EXPECT_EQ(verdict(Plain, With("-x cu", "")), "environment-flags");
  EXPECT_EQ(verdict(Plain, With("", "more.cu")), "environment-flags");
  EXPECT_EQ(verdict(Plain, With("", "-o x.o")), "environment-flags");
  EXPECT_EQ(verdict(Plain, With("-D\"A", "")), "option-quoting");
  EXPECT_EQ(verdict(Plain, With("-DA=\\\"x\\\"", "")), "option-quoting");
}

TEST(CommandLine, optionsFiles_parsed_areReadWhereNvccReadsThem) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-test"));
  // A nested file is relative to the working directory.
  writeBelow(Dir, "sub/outer.rsp", "-optf inner.rsp \"-DA=x y\"\n-lineinfo");
  writeBelow(Dir, "inner.rsp", "-maxrregcount\n40");
  NvccEnvironment Env{"", "", Dir.path()};
  CommandLine C = parsed({"-optf", "sub/outer.rsp", "-c", "k.cu"}, Env);
  EXPECT_EQ(C.RegisterCap, 40u);
  EXPECT_EQ(C.Argv, (Words{"-optf", "sub/outer.rsp", "-c", "k.cu"}));
  EXPECT_EQ(C.Expanded, (Words{"-maxrregcount", "40", "-DA=x y", "-lineinfo", "-c", "k.cu"}));
  // The content takes the place of the file's name, so later words win.
  EXPECT_EQ(parsed({"-optf=inner.rsp", "-maxrregcount=64", "-c", "k.cu"}, Env).RegisterCap, 64u);
  EXPECT_EQ(
      parsed({"-maxrregcount=64", "--options-file", "inner.rsp", "-c", "k.cu"}, Env).RegisterCap,
      40u);
}

TEST(CommandLine, optionsFiles_nothingToRewrite_stay) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-test"));
  writeBelow(Dir, "inc.rsp", "-I/a -isystem=/b");
  writeBelow(Dir, "in.rsp", "k.cu");
  NvccEnvironment Env{"", "", Dir.path()};
  CommandLine C = parsed({"-optf", "inc.rsp,inc.rsp", "-c", "-optf=in.rsp"}, Env);
  EXPECT_EQ(C.Expanded, (Words{"-optf", "inc.rsp,inc.rsp", "-c", "k.cu"}));
  EXPECT_EQ(C.Inputs[0].ArgIndex, 3u);
}

TEST(CommandLine, optionsFiles_unreadable_areLeftToNvcc) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-test"));
  writeBelow(Dir, "open.rsp", "-DA=\"x");
  writeBelow(Dir, "loop.rsp", "-optf loop.rsp");
  writeBelow(Dir, "hard.rsp", "-O3 -G");
  NvccEnvironment Env{"", "", Dir.path()};
  EXPECT_EQ(verdict({"-optf", "missing.rsp", "-c", "k.cu"}, Env), "options-file");
  EXPECT_EQ(verdict({"-optf", "open.rsp", "-c", "k.cu"}, Env), "option-quoting");
  EXPECT_EQ(verdict({"-optf", "loop.rsp", "-c", "k.cu"}, Env), "options-file");
  EXPECT_EQ(verdict({"-optf", "hard.rsp", "-c", "k.cu"}, Env), "device-debug");
}

TEST(CommandLine, buildSystemCommands_parsed_areClassified) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-test"));
  std::string Text = recorded("caller-commands.json");
  llvm::json::Value Root = llvm::cantFail(llvm::json::parse(Text));
  for (const llvm::json::Value &V : *Root.getAsArray()) {
    const llvm::json::Object &Call = *V.getAsObject();
    Words Arguments;
    for (const llvm::json::Value &A : *Call.getArray("arguments"))
      Arguments.push_back(A.getAsString()->str());
    for (size_t I = 1; I < Arguments.size(); ++I)
      if (Arguments[I - 1] == "--options-file")
        writeBelow(Dir, Arguments[I], "-isystem=/cuda/include");
    SCOPED_TRACE(testing::PrintToString(Arguments));
    std::string WorkDir = Call.getString("dir")->str();
    NvccEnvironment Env{"", "", Dir.path()};
    EXPECT_EQ(verdict(Arguments, Env), Call.getString("expect")->str());
    if (verdict(Arguments, Env) == "object") {
      EXPECT_EQ(isConfigureProbe(parsed(Arguments, Env), WorkDir), *Call.getBoolean("probe"));
    }
  }
}

TEST(CommandLine, configureProbe_directoryOrName_isRecognised) {
  auto Probe = [](const Words &Arguments, const char *WorkDir) {
    return isConfigureProbe(parsed(Arguments), WorkDir);
  };
  EXPECT_TRUE(Probe({"conftest.cu", "-o", "conftest"}, "/src"));
  EXPECT_TRUE(Probe({"src.cu", "-o", "cmTC_1a2b3"}, "/src"));
  EXPECT_TRUE(Probe({"k.cu"}, "/b/CMakeFiles/CMakeTmp"));
  EXPECT_TRUE(Probe({"k.cu"}, "/b/CMakeFiles/CMakeScratch/TryCompile-x1/sub"));
  EXPECT_TRUE(Probe({"k.cu"}, "/b/CMakeFiles/3.25.1/CompilerIdCUDA"));
  EXPECT_TRUE(Probe({"/b/meson-private/sanitycheckcuda.cu", "-o", "x"}, "/b"));
  EXPECT_TRUE(Probe({"k.cu", "-o", "/b/meson-private/k.exe"}, "/b"));
  EXPECT_FALSE(Probe({"k.cu", "-o", "app"}, "/home/me/CMakeFiles/app.dir"));
  EXPECT_FALSE(Probe({"conftester.cu"}, "/src"));
}

} // namespace

TEST(CommandLine, objects_ofSeveralSources_areNamedAfterThem) {
  CommandLine C = parsed({"-c", "d/a.cu", "b.cu"});
  EXPECT_TRUE(C.makesSeveralObjects());
  EXPECT_EQ(C.outputOf("d/a.cu"), "a.o");
  EXPECT_EQ(C.outputOf("b.cu"), "b.o");
  EXPECT_EQ(C.Output, "a.o");
  C = parsed({"-c", "d/a.cu", "-o", "e/x.obj"});
  EXPECT_FALSE(C.makesSeveralObjects());
  EXPECT_EQ(C.outputOf("d/a.cu"), "e/x.obj");
}

TEST(CommandLine, depfile_withoutOption_isWhatNvccWrites) {
  EXPECT_EQ(parsed({"-c", "d/a.cu"}).Depfile, "");
  EXPECT_EQ(parsed({"-c", "d/a.cu", "-MF", "x.d"}).Depfile, "");
  EXPECT_EQ(parsed({"-c", "d/a.cu", "-MD"}).Depfile, "a.d");
  EXPECT_EQ(parsed({"-c", "d/a.cu", "-MMD", "-o", "e/b.c.o"}).Depfile, "e/b.c.d");
  EXPECT_EQ(parsed({"-c", "a.cu", "-MD", "-MF", "y.dep", "-o", "b.o"}).Depfile, "y.dep");
  EXPECT_EQ(parsed({"a.cu", "--generate-dependencies-with-compile", "-o", "dir/exe"}).Depfile,
            "dir/exe.d");
  EXPECT_EQ(parsed({"-c", "a.cu", "--generate-nonsystem-dependencies-with-compile",
                    "--dependency-output=z.d"})
                .Depfile,
            "z.d");
}

TEST(CommandLine, allWords_optionsFilesAndEnvironment_areIncluded) {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-words");
  ASSERT_TRUE(bool(Dir));
  llvm::cantFail(writeFileAtomically(Dir->path() + "/outer", "-DOUTER --options-file inner"));
  llvm::cantFail(writeFileAtomically(Dir->path() + "/inner", "-DINNER"));
  CommandLine C = parsed({"-c", "a.cu", "-optf", "outer"}, {"-DBEFORE", "-DAFTER", Dir->path()});
  for (const char *Word : {"-DOUTER", "-DINNER", "-DBEFORE", "-DAFTER", "outer"})
    EXPECT_EQ(std::count(C.AllWords.begin(), C.AllWords.end(), Word), 1) << Word;
}
