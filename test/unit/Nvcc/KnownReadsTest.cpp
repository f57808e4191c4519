#include "Nvcc/KnownReads.h"

#include "NvccTesting.h"

using namespace carve;

namespace {

std::string unknownWord(Words More) {
  Words Command = {"gcc",      "-D__CUDA_ARCH__=900", "-E",       "-x",
                   "c++",      "-I/cuda/include",     "-isystem", "/cuda/cccl",
                   "-include", "cuda_runtime.h"};
  Command.insert(Command.end(), More.begin(), More.end());
  Command.insert(Command.end(), {"-m64", "k.cu", "-o", "/tmp/@k.ii"});
  return unknownHostRead(Command);
}

} // namespace

TEST(KnownReads, hostWords_ordinary_areKnown) {
  EXPECT_EQ(unknownWord({}), "");
  EXPECT_EQ(unknownWord({"-O3",
                         "-g",
                         "-ggdb3",
                         "-gdwarf-4",
                         "-Wall",
                         "-Wno-psabi",
                         "-Werror=return-type",
                         "-w",
                         "-std=c++17",
                         "-fPIC",
                         "-fno-strict-aliasing",
                         "-fvisibility=hidden",
                         "-ffile-prefix-map=/a=/b",
                         "-ffast-math",
                         "-march=x86-64-v3",
                         "-mavx2",
                         "-pthread",
                         "-fopenmp",
                         "-DX=\"@x\"",
                         "-U",
                         "-specs=x",
                         "-I",
                         "@folder",
                         "-idirafter/x"}),
            "");
}

// The names of these files do not appear in the preprocessor's output.
TEST(KnownReads, hostWords_readingFiles_areUnknown) {
  for (const char *Word : {"@words",
                           "-specs=my.specs",
                           "-fprofile-use",
                           "-fprofile-use=x.gcda",
                           "-fauto-profile",
                           "-fbranch-probabilities",
                           "-fplugin=./p.so",
                           "-fplugin-arg-p-x",
                           "-fmodules-ts",
                           "-fsanitize-ignorelist=x",
                           "-B/else",
                           "--sysroot=/else",
                           "-isysroot",
                           "-imacros",
                           "-include-pch",
                           "-Wa,--defsym,x=1",
                           "-Wp,-include,x.h",
                           "-Xassembler",
                           "-Xclang",
                           "-mllvm",
                           "-march=native",
                           "-mcpu=native",
                           "-gsplit-dwarf",
                           "-fpreprocessed",
                           "-wrapper",
                           "-T",
                           "-fnew-in-a-later-release"})
    EXPECT_EQ(unknownWord({Word}), Word);
}

TEST(KnownReads, toolWords_aboutMessagesOrSize_areKnown) {
  EXPECT_EQ(unknownNvccRead({"-O3", "-Xptxas", "-v", "-Xcudafe", "--diag_suppress=177",
                             "-Xcudafe=--display_error_number", "-Xfatbin", "-compress-all",
                             "-arch=sm_90", "-c", "k.cu"}),
            "");
  EXPECT_EQ(unknownNvccRead({"-Xcudafe", "--preinclude,x.h"}), "-Xcudafe --preinclude,x.h");
  EXPECT_EQ(unknownNvccRead({"-Xcicc", "-opt-file"}), "-Xcicc -opt-file");
  EXPECT_EQ(unknownNvccRead({"-ldir=/x"}), "-ldir=/x");
  EXPECT_EQ(unknownNvccRead({"-arch=native"}), "-arch=native");
  EXPECT_EQ(unknownNvccRead({"--qpp-config", "x"}), "--qpp-config x");
}

TEST(KnownReads, assembly_includingFiles_isFoundInEverySpelling) {
  for (const char *Text :
       {"asm(\".include \\\"x\\\"\");", "__asm__ volatile (\"nop\\n\\t.incbin \\\"x\\\"\" : : );",
        "asm ( \".INCLUDE \\\"x\\\"\" );", "asm(\".inc\" \"lude \\\"x\\\"\");",
        "asm(\".inc\"\n# 5 \"k.cu\"\n\"bin 'x'\");", "asm(\".\\x69nclude\");",
        "asm(\".\\151nclude\");", "asm(R\"(.include)\");", "asm(R\"x(\\n)\".INCBIN)x\");",
        "asm(R\"x(.data)\");", "asm(\".macro m x\\n.inc\\\\x\\n.endm\\nm bin\");",
        "asm(\"unterminated"})
    EXPECT_TRUE(mayIncludeInAssembly(std::string(" ") + Text)) << Text;
}

TEST(KnownReads, assembly_other_includesNothing) {
  for (const char *Text :
       {"asm volatile(\"{ .reg .b32 r; atom.inc.u32 %0; }\" : \"=r\"(X) : \"r\"(f(1)));",
        "asm volatile(R\"YYY(\n ld.b128 [%2],_d;\n)YYY\" : \"=l\"(X));",
        "extern int f() __asm__(\"\" \"__isoc99_f\");", "# 1 \"/usr/include/asm/types.h\" 1 3",
        "int plasma(int); const char *S = plasma(\"a.inc\") ? \"\" : \"\";",
        "bool asmIsFine = true; Text.include(\"x\");", "int Masm, Nasm; asm"})
    EXPECT_FALSE(mayIncludeInAssembly(std::string(" ") + Text)) << Text;
}
