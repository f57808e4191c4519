// The ways in which people and build systems write a command: each is run by nvcc and by carve-nvcc
// in the same directory, and all that is left there, and said, is compared.
#include "BuiltTools.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Regex.h"

using namespace carve;

namespace {

struct Style {
  const char *Name;
  std::vector<std::string> Arguments;
  const char *LeftTo = nullptr; ///< The reason counted; none where carve compiles it itself.
  std::vector<std::string> Environment = {};
  const char *Stdin = nullptr; ///< File on standard input.
};

void PrintTo(const Style &S, std::ostream *OS) { *OS << S.Name; }

/// What a command leaves behind.
struct Left {
  int Status = 0;
  std::string Stdout, Stderr;
  std::map<std::string, std::string> Files; ///< Content by name, as far as it has to be equal.
};

class CallingStyles : public BuiltToolsTest, public testing::WithParamInterface<Style> {
protected:
  void SetUp() override;
  /// Runs \p Program with the arguments of \p S, and removes the files that it made.
  Left leave(const std::string &Program, const Style &S);
  std::string comparable(const std::string &Name);
  std::vector<std::string> files();
};

void CallingStyles::SetUp() {
  BuiltToolsTest::SetUp();
  if (IsSkipped())
    return;
  write("one.cu", "__global__ void k(int *P) { P[threadIdx.x] *= P[0]; }\nint main() {}\n");
  write("with space/k.cu", "__global__ void k(int *P) { P[0] = sizeof(TEXT); }\n");
  write("inner.rsp", "-arch=sm_90\n-DVALUE=3 \"-DTEXT=\"\n");
  write("outer.rsp", "--options-file inner.rsp -lineinfo -o \"of both.o\"");
  write("inputs.rsp", "-c\n\"with space/k.cu\"");
  write("caller.cu", "extern __device__ int f(int);\n"
                     "__global__ void k(int *P) { P[0] = f(P[0]); }\nint main() {}\n");
  write("callee.cu", "__device__ int f(int X) { return X + 1; }\n");
  write("text.cu", "#include <cstdio>\nint main() { std::puts(TEXT); }\n");
  for (const char *Dir : {"made", "kept"})
    ASSERT_FALSE(llvm::sys::fs::create_directory(path(Dir)));
}

std::vector<std::string> CallingStyles::files() {
  std::vector<std::string> Names;
  std::error_code Failed;
  for (llvm::sys::fs::recursive_directory_iterator It(Work.path(), Failed), End;
       It != End && !Failed; It.increment(Failed)) {
    llvm::StringRef Name = llvm::StringRef(It->path()).drop_front(Work.path().size() + 1);
    if (It->type() != llvm::sys::fs::file_type::directory_file && Name != "carve.log" &&
        !Name.starts_with("store/"))
      Names.push_back(Name.str());
  }
  llvm::sort(Names);
  return Names;
}

/// \p Text without times, and without names that nvcc and carve make up for one run.
std::string withoutMadeUpNames(llvm::StringRef Text) {
  std::string Result = Text.str();
  for (const char *Pattern : {"tmpxft_[0-9a-f]+_[0-9a-f]+-[0-9]+_", "carve-nvcc-[0-9]+-[0-9a-f]+/",
                              "tmpxft_[0-9a-f]+_[0-9a-f]+-[0-9]+", "Compile time = [0-9.]+ ms"}) {
    llvm::Regex Names(Pattern);
    while (Names.match(Result))
      Result = Names.sub("", Result);
  }
  return Result;
}

/// A depfile without the rules for our own files, which stand behind nvcc's.
std::string withoutStore(llvm::StringRef Depfile, llvm::StringRef Store) {
  std::string Result;
  llvm::SmallVector<llvm::StringRef> Lines;
  Depfile.split(Lines, '\n');
  for (llvm::StringRef Line : Lines)
    if (!Line.contains(Store))
      Result += Line.str() + "\n";
  return Result;
}

std::string CallingStyles::comparable(const std::string &Name) {
  std::string Bytes = read(Name);
  llvm::StringRef Start = Bytes;
  bool IsDevices = llvm::StringRef(Name).ends_with(".cubin"); // strip does not know those.
  if ((Start.starts_with("\x7f"
                         "ELF") &&
       !IsDevices) ||
      Start.starts_with("!<arch>"))
    return stripped(Name);
  return withoutMadeUpNames(withoutStore(Bytes, path("store")));
}

Left CallingStyles::leave(const std::string &Program, const Style &S) {
  std::vector<std::string> Before = files();
  Command C;
  C.Argv = {Program};
  C.Argv.insert(C.Argv.end(), S.Arguments.begin(), S.Arguments.end());
  C.Dir = Work.path();
  C.Environment = environment(S.Environment);
  C.StdinPath = S.Stdin ? path(S.Stdin) : "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true;
  CommandResult R = llvm::cantFail(Runner.run(C));
  Left L{R.ExitStatus, withoutMadeUpNames(R.Stdout), withoutMadeUpNames(R.Stderr), {}};
  std::vector<std::string> Made;
  for (const std::string &Name : files())
    if (!std::binary_search(Before.begin(), Before.end(), Name))
      Made.push_back(Name);
  for (const std::string &Name : Made)
    L.Files[withoutMadeUpNames(Name)] = comparable(Name);
  for (const std::string &Name : files())
    if (!std::binary_search(Before.begin(), Before.end(), Name))
      llvm::sys::fs::remove(path(Name));
  return L;
}

const std::string Sm90 = "-arch=sm_90", NoId = "-Xlinker=--build-id=none";

const Style Styles[] = {
    // Where the words come from.
    {"nested_options_files", {"--options-file", "outer.rsp", "-c", "one.cu"}},
    {"options_file_with_inputs", {"-optf=inputs.rsp,inner.rsp", "-o", "k.o"}},
    {"options_file_missing", {"-optf", "none.rsp", "-c", "one.cu"}, "options-file"},
    {"prepend_and_append",
     {"-c", "one.cu"},
     nullptr,
     {"NVCC_PREPEND_FLAGS=-arch=sm_90 -lineinfo", "NVCC_APPEND_FLAGS=-DX -Xptxas -O2"}},
    {"append_quoted", {"-c", "one.cu"}, nullptr, {"NVCC_APPEND_FLAGS=-arch=sm_90 -D\"X=1 2\""}},
    {"append_wrong", {"-c", "one.cu"}, "unknown-option", {"NVCC_APPEND_FLAGS=--no-such-option"}},
    {"append_cap", {Sm90, "-c", "one.cu"}, nullptr, {"NVCC_APPEND_FLAGS=-maxrregcount=40"}},
    {"append_keep", {Sm90, "-c", "one.cu"}, "keep", {"NVCC_APPEND_FLAGS=--keep"}},
    {"ccbin_by_environment", {Sm90, "-c", "one.cu"}, nullptr, {"NVCC_CCBIN=g++"}},
    {"ccbin_wrong", {Sm90, "-c", "one.cu"}, nullptr, {"NVCC_CCBIN=no-such-compiler"}},
    {"ccbin_by_option", {Sm90, "-ccbin", "g++", "-c", "one.cu"}},
    {"stdin", {Sm90, "-x", "cu", "-c", "-", "-o", "in.o"}, "stdin", {}, "one.cu"},
    {"at_file", {"-c", "one.cu", "@outer.rsp"}, "unknown-input"},
    // Quotes.
    {"quoted_for_host", {Sm90, "-Xcompiler", "-Wall,-DA=\\\"x\\\"", "-c", "one.cu"}},
    {"words_for_host", {Sm90, "-Xcompiler", "-Wall -Wextra -fPIC", "-c", "one.cu"}},
    {"findcuda_for_host", {Sm90, "-Xcompiler", ",\"-g\",\"-fPIC\"", "-c", "one.cu"}},
    {"quoted_define", {Sm90, NoId, "-DTEXT=\"two words, 'one' $HOME\"", "text.cu", "-o", "text"}},
    {"escaped_comma", {Sm90, "-DF(x\\,y)=x", "-c", "one.cu"}},
    {"space_in_names", {Sm90, "-DTEXT=\"a\"", "-c", "with space/k.cu", "-o", "made/a b.o"}},
    {"empty_argument", {Sm90, "-c", "", "one.cu"}, "unknown-input"},
    {"empty_define", {Sm90, "-D", "", "-c", "one.cu"}},
    {"empty_for_host", {Sm90, "-Xcompiler", "", "-Xcompiler=", "-c", "one.cu"}},
    {"empty_output", {Sm90, "-c", "one.cu", "-o", ""}},
    // Inputs and outputs.
    {"output_omitted", {Sm90, "-c", "sub/other.cu"}},
    {"output_joined", {Sm90, "-c", "one.cu", "-o=made/x.o"}},
    {"output_long", {Sm90, "--compile", "one.cu", "--output-file", "made/x.o"}},
    {"output_twice", {Sm90, "-c", "one.cu", "-o", "one.o", "-o", "two.o"}},
    {"several_objects", {Sm90, "-c", "main.cu", "sub/other.cu", "host.cpp"}},
    {"several_to_one", {Sm90, "-c", "main.cu", "host.cpp", "-o", "x.o"}, "several-inputs"},
    {"several_to_program", {Sm90, NoId, "-DWHOLE", "main.cu", "sub/other.cu", "host.cpp"}},
    {"output_directory", {Sm90, "-c", "-odir", "made", "one.cu"}, "output-directory"},
    {"output_directory_program",
     {Sm90, NoId, "--output-directory=made", "main.cu", "-o", "app"},
     "output-directory"},
    {"language", {Sm90, "-x", "cu", "-c", "host.cpp"}},
    {"input_missing", {Sm90, "-c", "none.cu"}},
    {"no_input", {Sm90, "-c"}, "no-input"},
    // Several at a time.
    {"threads",
     {"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]",
      "-t", "4", "-c", "one.cu"}},
    {"threads_joined", {"-t2", "-arch=sm_90", "-c", "one.cu"}},
    {"threads_all", {"--threads=0", "-gencode", "arch=compute_90,code=sm_90", "-c", "one.cu"}},
    {"split_compile", {Sm90, "-split-compile", "2", "-c", "one.cu"}},
    {"split_compile_all", {Sm90, "--split-compile=0", "-c", "one.cu"}},
    // What is left to nvcc.
    {"device_debug", {Sm90, "-G", "-c", "one.cu"}, "device-debug"},
    {"device_lto", {"-arch=lto_90", "-rdc=true", "-c", "one.cu"}, "device-lto"},
    {"dlto", {Sm90, "-dlto", "-c", "one.cu"}, "device-lto"},
    {"run", {Sm90, NoId, "--run", "main.cu", "-o", "ran"}, "run"},
    {"run_with_arguments",
     {Sm90, NoId, "-DTEXT=\"said\"", "-run", "-run-args", "a,b", "text.cu", "-o", "ran"},
     "run"},
    {"preprocess", {Sm90, "-E", "one.cu"}, "preprocess"},
    {"preprocess_to_file", {Sm90, "--preprocess", "one.cu", "-o", "one.ii"}, "preprocess"},
    {"ptx", {Sm90, "--ptx", "one.cu"}, "device-image-output"},
    {"cubin", {Sm90, "-cubin", "one.cu", "-o", "made/x.cubin"}, "device-image-output"},
    {"fatbin", {Sm90, "-fatbin", "one.cu"}, "device-image-output"},
    {"library", {Sm90, "-lib", "one.cu", "-o", "libx.a"}, "library-output"},
    {"dryrun", {Sm90, "--dryrun", "-c", "one.cu"}, "dryrun"},
    {"keep", {Sm90, "-keep", "-c", "one.cu"}, "keep"},
    {"keep_dir", {Sm90, "--keep", "--keep-dir=kept", "-c", "one.cu"}, "keep"},
    {"save_temps", {Sm90, "-save-temps", "-c", "one.cu"}, "keep"},
    {"object_directory", {Sm90, "-objtemp", "-c", "one.cu", "-o", "made/x.o"}, "objdir"},
    // Depfiles, alone and with a compile, in every spelling.
    {"dependencies", {Sm90, "-M", "main.cu"}, "dependencies-only"},
    {"dependencies_to_file",
     {Sm90, "--generate-dependencies", "-MT", "x.o", "-o", "x.d", "main.cu"},
     "dependencies-only"},
    {"dependencies_of_user", {Sm90, "-MM", "main.cu", "-MF", "x.d"}, "dependencies-only"},
    {"depfile", {Sm90, "-MD", "-c", "main.cu"}},
    {"depfile_of_user", {Sm90, "-MMD", "-MP", "-c", "main.cu", "-o", "made/m.o"}},
    {"depfile_named",
     {Sm90, "-MD", "-MF", "made/x.d", "-MT", "target.o", "-c", "main.cu", "-o", "made/m.o"}},
    {"depfile_long",
     {Sm90, "--generate-dependencies-with-compile", "--dependency-output=made/x.d",
      "--dependency-target-name", "target.o", "--generate-dependency-targets", "-c", "main.cu"}},
    {"depfile_long_of_user",
     {Sm90, "--generate-nonsystem-dependencies-with-compile", "-MF=x.d", "-c", "main.cu"}},
    {"depfile_of_program", {Sm90, NoId, "-MD", "main.cu", "-o", "app"}},
    {"depfile_of_several",
     {Sm90, NoId, "-MD", "-DWHOLE", "main.cu", "sub/other.cu", "host.cpp", "-o", "app"},
     "several-depfiles"},
    // Caps and other words for the tools.
    {"cap_for_ptxas", {Sm90, "-Xptxas", "-maxrregcount=32", "-c", "one.cu"}},
    {"cap_for_ptxas_in_two", {Sm90, "-Xptxas", "-maxrregcount", "-Xptxas=32", "-c", "one.cu"}},
    {"cap_twice", {Sm90, "-maxrregcount=40", "--maxrregcount", "32", "-c", "one.cu"}},
    {"cap_in_both", {Sm90, "-maxrregcount=40", "-Xptxas=-v,-maxrregcount=32", "-c", "one.cu"}},
    {"unknown_forwarded", {"-forward-unknown-to-host-compiler", "-fno-plt", Sm90, "-c", "main.cu"}},
    {"unknown_refused", {"-fno-plt", Sm90, "-c", "main.cu"}, "unknown-option"},
    // Device code in several objects.
    {"relocatable_program", {Sm90, NoId, "-rdc=true", "caller.cu", "callee.cu", "-o", "app"}},
    {"relocatable_short", {Sm90, "-dc", "callee.cu"}},
    {"relocatable_unresolved", {Sm90, "caller.cu", "-o", "app"}},
};

} // namespace

TEST_P(CallingStyles, LeaveWhatNvccLeaves) {
  const Style &S = GetParam();
  Left Wanted = leave(Tools.Nvcc, S);
  Left Got = leave(CARVE_NVCC_PROGRAM, S);
  EXPECT_EQ(Got.Status, Wanted.Status);
  EXPECT_EQ(Got.Stdout, Wanted.Stdout);
  EXPECT_EQ(Got.Stderr, Wanted.Stderr);
  for (const auto &[Name, Bytes] : Wanted.Files) {
    auto It = Got.Files.find(Name);
    ASSERT_NE(It, Got.Files.end()) << Name << " is missing";
    // Device debug information holds names of temporaries: nvcc's own output is never the same.
    EXPECT_TRUE(It->second == Bytes || leave(Tools.Nvcc, S).Files[Name] != Bytes)
        << Name << " differs";
  }
  for (const auto &[Name, Bytes] : Got.Files)
    EXPECT_TRUE(Wanted.Files.count(Name)) << Name << " is ours alone";
  StoreStats Stats = store().stats();
  if (S.LeftTo) {
    EXPECT_EQ(Stats.Passthroughs[S.LeftTo], 1u) << log();
    return;
  }
  EXPECT_TRUE(Stats.Passthroughs.empty()) << log();
  EXPECT_EQ(Stats.Units != 0, Wanted.Status == 0) << log();
}

INSTANTIATE_TEST_SUITE_P(, CallingStyles, testing::ValuesIn(Styles),
                         [](const auto &Info) { return std::string(Info.param.Name); });
