// The ways in which people and build systems write a command. nvcc and carve-nvcc run each one in
// the same directory, and all files and messages that they leave are compared. Ways that do not
// affect each other are in one command; EveryOption has every spelling of every option.
#include "ComparedCommands.h"
#include "Store/StoreUpkeep.h"

using namespace carve;

namespace {

class CallingStyles : public ComparedCommandsTest, public testing::WithParamInterface<Style> {
protected:
  void SetUp() override;
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
  write("sub/one.cu", "__global__ void second(int *P) { P[threadIdx.x] += P[0]; }\n");
  write("one.cpp", "int one() { return 1; }\n");
  // The two compilers see different contents of it.
  write("guarded.cu", "#ifndef __CUDA_ARCH__\n#include <vector>\n"
                      "static std::vector<int> Host{1, 2, 3};\n#endif\n"
                      "template <typename T> __global__ void add(T *P) {\n"
                      "#ifdef __CUDA_ARCH__\n  P[threadIdx.x] += __CUDA_ARCH__;\n#endif\n}\n"
                      "int main() {\n#ifndef __CUDA_ARCH__\n"
                      "  add<<<1, 1>>>((int *)nullptr);\n  return Host.size();\n#endif\n}\n");
  write("text.cu", "#include <cstdio>\nint main() { std::puts(TEXT); }\n");
  for (const char *Dir : {"made", "kept"})
    ASSERT_FALSE(llvm::sys::fs::create_directory(path(Dir)));
}

const std::string Sm90 = "-arch=sm_90", NoId = "-Xlinker=--build-id=none";

const Style Styles[] = {
    // The sources of the words.
    {"nested_options_files", {"--options-file", "outer.rsp", "-c", "one.cu"}},
    {"options_file_with_inputs", {"-optf=inputs.rsp,inner.rsp", "-o", "k.o"}},
    {"options_file_missing", {"-optf", "none.rsp", "-c", "one.cu"}, "options-file"},
    {"prepend_and_append",
     {"-c", "one.cu"},
     nullptr,
     {"NVCC_PREPEND_FLAGS=-arch=sm_90 -lineinfo",
      "NVCC_APPEND_FLAGS=-DX -Xptxas -O2 -maxrregcount=40"}},
    {"append_quoted", {"-c", "one.cu"}, nullptr, {"NVCC_APPEND_FLAGS=-arch=sm_90 -D\"X=1 2\""}},
    {"append_wrong", {"-c", "one.cu"}, "unknown-option", {"NVCC_APPEND_FLAGS=--no-such-option"}},
    {"append_keep", {Sm90, "-c", "one.cu"}, "keep", {"NVCC_APPEND_FLAGS=-keep"}},
    {"ccbin_by_environment", {Sm90, "-c", "one.cu"}, nullptr, {"NVCC_CCBIN=g++"}},
    {"ccbin_wrong", {Sm90, "-c", "one.cu"}, nullptr, {"NVCC_CCBIN=no-such-compiler"}},
    {"ccbin_with_arguments", {Sm90, "-ccbin", "g++ -O1", "-c", "one.cu"}},
    {"ccbin_with_arguments_by_environment",
     {Sm90, "-c", "one.cu"},
     nullptr,
     {"NVCC_CCBIN=g++ -O1"}},
    {"ccbin_folder", {Sm90, "-ccbin=/usr/bin", "-c", "one.cu"}},
    {"stdin", {Sm90, "-x", "cu", "-c", "-", "-o", "in.o"}, "stdin", {}, "one.cu"},
    {"at_file", {"-c", "one.cu", "@outer.rsp"}, "unknown-input"},
    // Quoted words.
    {"words_for_host",
     {Sm90, "-Xcompiler", "-Wall,-DA=\\\"x\\\"", "-Xcompiler", "-Wextra -fno-plt", "-Xcompiler",
      ",\"-g\",\"-fPIC\"", "-Xcompiler", "-DB=1\\,2,-DC=3", "-c", "one.cu"}},
    {"space_for_host", {Sm90, NoId, "-Xcompiler", "-DTEXT=\\\"a\\ b\\\"", "text.cu"}},
    {"quotes_for_host", {Sm90, NoId, "-Xcompiler", "'-DTEXT=\"a b\"'", "text.cu"}},
    {"quotes_and_commas_for_host", {Sm90, NoId, "-Xcompiler", "\"-DTEXT=\\\"a,b\\\"\"", "text.cu"}},
    {"brackets_for_host", {Sm90, NoId, "-Xcompiler", "\"-DA=(1 2)\",-DTEXT=\\\"x\\\"", "text.cu"}},
    {"variable_for_host", {Sm90, NoId, "-Xcompiler", "-DTEXT=\\\"$HOME\\\"", "text.cu"}},
    {"open_quote_for_host", {Sm90, "-Xcompiler", "\"-DA", "-c", "one.cu"}},
    {"semicolon_for_host", {Sm90, "-Xcompiler", "-DA;echo", "-c", "one.cu"}},
    {"output_for_host", {Sm90, "-Xcompiler", "-o,out.o", "-c", "one.cu"}, "host-compiler-output"},
    {"output_for_host_in_two",
     {Sm90, "-Xcompiler", "-o", "-Xcompiler", "out.o", "-c", "one.cu"},
     "host-compiler-output"},
    {"output_of_program_for_host",
     {Sm90, NoId, "-Xcompiler", "-o out", "one.cu"},
     "host-compiler-output"},
    {"quoted_define",
     {Sm90, NoId, "-DTEXT=\"two words, 'one' $HOME\"", "-Xcompiler", "-Wl\\,-rpath\\,/x", "text.cu",
      "-o", "text"}},
    {"escaped_comma",
     {Sm90, "-DF(x\\,y)=x", "-Xptxas", "-maxrregcount", "-Xptxas=32", "-c", "one.cu",
      "-o=made/x.o"}},
    {"space_in_names", {Sm90, "-DTEXT=\"a\"", "-c", "with space/k.cu", "-o", "made/a b.o"}},
    {"empty_argument", {Sm90, "-c", "", "one.cu"}, "unknown-input"},
    {"empty_words",
     {Sm90, "-D", "", "-Xcompiler", "", "-Xcompiler=", "-x", "cu", "-c", "host.cpp"}},
    {"empty_output", {Sm90, "-c", "one.cu", "-o", ""}, "no-output-name"},
    // Inputs and outputs.
    {"options_twice",
     {Sm90, "-ccbin", "gcc", "-ccbin", "g++", "-maxrregcount=40", "--maxrregcount", "32", "-c",
      "one.cu", "-o", "one.o", "-o", "two.o"}},
    {"several_objects", {Sm90, "-c", "main.cu", "sub/other.cu", "host.cpp"}},
    {"several_to_one", {Sm90, "-c", "main.cu", "host.cpp", "-o", "x.o"}, "several-inputs"},
    {"several_to_program", {Sm90, NoId, "-DWHOLE", "main.cu", "sub/other.cu", "host.cpp"}},
    {"output_directory_program",
     {Sm90, NoId, "-odir", "made", "main.cu", "-o", "app"},
     "output-directory"},
    {"sources_of_one_stem", {Sm90, "-c", "one.cu", "sub/one.cu"}, "same-stem"},
    {"program_of_one_stem_and_host", {Sm90, NoId, "one.cu", "one.cpp", "-o", "app"}, "same-stem"},
    {"host_only_code_for_two",
     {"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "-c",
      "guarded.cu"}},
    {"host_only_code_of_program", {Sm90, NoId, "-rdc=true", "guarded.cu", "-o", "app"}},
    {"input_missing", {Sm90, "-c", "none.cu"}},
    {"no_input", {Sm90, "-c"}, "no-input"},
    // Several at once.
    {"threads",
     {"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]",
      "-t", "4", "-c", "one.cu"}},
    {"threads_and_split_compile", {"-t2", "-arch=sm_90", "-split-compile", "2", "-c", "one.cu"}},
    {"threads_and_split_compile_all",
     {"--threads=0", "--split-compile=0", "--generate-code",
      "arch=compute_90,code=[sm_90,compute_90]", "--compile", "one.cu"}},
    // Commands that are left to nvcc.
    {"device_debug_beside_host",
     {Sm90, "-G", "-g", "-O0", "-Xcompiler", "-O2,-fno-inline", "-c", "one.cu"},
     "device-debug"},
    {"device_debug_program",
     {Sm90, NoId, "--device-debug", "-Xcompiler=-Wall", "one.cu"},
     "device-debug"},
    {"device_lto", {"-arch=lto_90", "-rdc=true", "-c", "one.cu"}, "device-lto"},
    {"dlto", {Sm90, "-dlto", "-c", "one.cu"}, "device-lto"},
    {"run_with_arguments",
     {Sm90, NoId, "-DTEXT=\"said\"", "--run", "-run-args", "a,b", "text.cu", "-o", "ran"},
     "run"},
    {"preprocess", {Sm90, "-E", "one.cu"}, "preprocess"},
    {"preprocess_to_file", {Sm90, "--preprocess", "one.cu", "-o", "one.ii"}, "preprocess"},
    {"ptx", {Sm90, "--ptx", "one.cu"}, "device-image-output"},
    {"cubin", {Sm90, "-cubin", "one.cu", "-o", "made/x.cubin"}, "device-image-output"},
    {"fatbin", {Sm90, "-fatbin", "one.cu"}, "device-image-output"},
    {"library", {Sm90, "-lib", "one.cu", "-o", "libx.a"}, "library-output"},
    {"dryrun", {Sm90, "--dryrun", "-c", "one.cu"}, "dryrun"},
    {"save_temps", {Sm90, "-save-temps", "--keep-dir=kept", "-c", "one.cu"}, "keep"},
    {"object_directory", {Sm90, "-objtemp", "-c", "one.cu", "-o", "made/x.o"}, "objdir"},
    // Depfiles, alone and with a compile, in every spelling.
    {"dependencies", {Sm90, "-M", "main.cu"}, "dependencies-only"},
    {"dependencies_to_file",
     {Sm90, "--generate-dependencies", "-MT", "x.o", "-o", "x.d", "main.cu"},
     "dependencies-only"},
    {"dependencies_of_user", {Sm90, "-MM", "main.cu", "-MF", "x.d"}, "dependencies-only"},
    {"depfile_of_user", {Sm90, "-MMD", "-MP", "-c", "main.cu", "-o", "made/m.o"}},
    {"depfile_long",
     {"--gpu-architecture=sm_90", "--generate-dependencies-with-compile",
      "--dependency-output=made/x.d", "--dependency-target-name", "target.o",
      "--generate-dependency-targets", "--compile", "main.cu", "--output-file=made/m.o"}},
    {"depfile_long_of_user",
     {Sm90, "--generate-nonsystem-dependencies-with-compile", "-MF=x.d", "-MT", "target.o", "-c",
      "main.cu"}},
    {"depfile_of_program", {Sm90, NoId, "-MD", "main.cu", "-o", "app"}},
    {"depfile_of_several",
     {Sm90, NoId, "-MD", "main.cu", "sub/other.cu", "-o", "app"},
     "several-depfiles"},
    // Other options by their long names, and an architecture that has only PTX.
    {"long_names",
     {"--gpu-architecture", "sm_90", "--optimize", "3", "--define-macro", "A=1",
      "--undefine-macro=B", "--include-path", "sub", "--system-include=sub", "--compiler-options",
      "-Wall", "--relocatable-device-code", "true", "--std=c++17", "--generate-line-info",
      "--compile", "one.cu"}},
    {"long_caps",
     {"--gpu-architecture=sm_90", "--ptxas-options", "-v", "--maxrregcount", "32",
      "--compiler-bindir", "/usr/bin/g++", "--compile", "one.cu", "--output-file", "made/x.o"}},
    {"virtual_alone_generated", {"-gencode", "arch=compute_90,code=compute_90", "-c", "one.cu"}},
    {"virtual_alone_verbose", {"-arch=compute_90", "-Xptxas=-v", "-c", "one.cu"}},
    {"virtual_alone_relocatable", {"-arch=compute_90", "-dc", "callee.cu"}},
    {"virtual_program", {"-arch=compute_90", NoId, "one.cu"}},
    {"virtual_beside_real",
     {"-gencode", "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=sm_90", "-c",
      "one.cu"}},
    // Caps and other words for the tools.
    {"cap_in_both", {Sm90, "-maxrregcount=40", "-Xptxas=-v,-maxrregcount=32", "-c", "one.cu"}},
    {"unknown_forwarded",
     {"-forward-unknown-to-host-compiler", "-fno-plt", Sm90, "-MD", "-c", "main.cu"}},
    {"unknown_refused", {"-fno-plt", Sm90, "-c", "main.cu"}, "unknown-option"},
    // Device code in several objects.
    {"relocatable_program", {Sm90, NoId, "-rdc=true", "caller.cu", "callee.cu", "-o", "app"}},
    {"relocatable_unresolved", {Sm90, "caller.cu", "-o", "app"}},
};

} // namespace

TEST_P(CallingStyles, command_leavesWhatNvccLeaves) {
  const Style &S = GetParam();
  bool Succeeded = expectSame(Tools.Nvcc, S);
  StoreStats Stats = storeStats(store());
  if (S.LeftTo) {
    EXPECT_EQ(Stats.Passthroughs[S.LeftTo], 1u) << log();
    return;
  }
  EXPECT_TRUE(Stats.Passthroughs.empty()) << log();
  EXPECT_EQ(Stats.Units != 0, Succeeded) << log();
}

INSTANTIATE_TEST_SUITE_P(, CallingStyles, testing::ValuesIn(Styles),
                         [](const auto &Info) { return std::string(Info.param.Name); });
