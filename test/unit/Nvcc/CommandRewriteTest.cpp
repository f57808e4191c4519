#include "Nvcc/CommandRewrite.h"

#include "NvccTesting.h"

using namespace carve;

namespace {

TEST(CommandRewrite, output_givenOrNot_isReplacedOrAdded) {
  EXPECT_EQ(withOutput(parsed({"-c", "-o", "k.o", "k.cu"}), "t"), (Words{"-c", "-o", "t", "k.cu"}));
  EXPECT_EQ(withOutput(parsed({"-c", "--output-file=k.o", "k.cu"}), "t"),
            (Words{"-c", "-o", "t", "k.cu"}));
  EXPECT_EQ(withOutput(parsed({"k.cu"}), "t"), (Words{"k.cu", "-o", "t"}));
  // The repetition stays, and with it nvcc's warning.
  EXPECT_EQ(withOutput(parsed({"-c", "-o", "a.o", "-o", "b.o", "k.cu"}), "t"),
            (Words{"-c", "-o", "a.o", "-o", "t", "k.cu"}));
}

struct DepfileCase {
  Words Given, Expected;
};

TEST(CommandRewrite, depfile_outputReplaced_keepsNameAndTarget) {
  const DepfileCase Cases[] = {
      {{"-MD", "-c", "k.cu", "-o", "o/k.cu.o"},
       {"-MD", "-c", "k.cu", "-o", "t", "-MT", "o/k.cu.o", "-MF", "o/k.cu.d"}},
      {{"-MD", "-c", "s/k.cu"}, {"-MD", "-c", "s/k.cu", "-MT", "k.o", "-MF", "k.d", "-o", "t"}},
      {{"-MD", "s/k.cu"}, {"-MD", "s/k.cu", "-MT", "k.o", "-MF", "k.d", "-o", "t"}},
      {{"-MMD", "-c", "k.cu", "-o", "o.x/noext"},
       {"-MMD", "-c", "k.cu", "-o", "t", "-MT", "o.x/noext", "-MF", "o.x/noext.d"}},
      {{"-MD", "-c", "k.cu", "-o", "o/.hid"},
       {"-MD", "-c", "k.cu", "-o", "t", "-MT", "o/.hid", "-MF", "o/.d"}},
      {{"-MD", "-MF", "d", "-c", "k.cu", "-o", "k.o"},
       {"-MD", "-MF", "d", "-c", "k.cu", "-o", "t", "-MT", "k.o"}},
      {{"-MD", "-MT=x y", "-MF=d", "-MP", "-c", "k.cu", "-o", "k.o"},
       {"-MD", "-MT=x y", "-MF=d", "-MP", "-c", "k.cu", "-o", "t"}},
  };
  for (const DepfileCase &C : Cases)
    EXPECT_EQ(withOutput(parsed(C.Given), "t"), C.Expected);
}

TEST(CommandRewrite, registerCap_alreadyGiven_isReplaced) {
  EXPECT_EQ(withRegisterCap(parsed({"-c", "k.cu", "-o", "k.o"}), 40, "t"),
            (Words{"-c", "k.cu", "-o", "t", "-maxrregcount", "40"}));
  EXPECT_EQ(withRegisterCap(parsed({"-maxrregcount=64", "-c", "k.cu", "--maxrregcount", "48", "-o",
                                    "k.o", "-Xptxas", "-v,-maxrregcount=32"}),
                            40, "t"),
            (Words{"-c", "k.cu", "-o", "t", "-Xptxas", "-v", "-maxrregcount", "40"}));
  EXPECT_EQ(withRegisterCap(parsed({"-Xptxas", "--maxrregcount", "-Xptxas", "32", "-Xptxas=-O2",
                                    "-c", "k.cu", "-o", "k.o"}),
                            40, "t"),
            (Words{"-Xptxas", "-O2", "-c", "k.cu", "-o", "t", "-maxrregcount", "40"}));
  EXPECT_EQ(withRegisterCap(parsed({"-Xptxas", "-v -maxrregcount 32 -O2", "-c", "k.cu"}), 40, "t"),
            (Words{"-Xptxas", "-v -O2", "-c", "k.cu", "-o", "t", "-maxrregcount", "40"}));
}

TEST(CommandRewrite, relink_sources_areReplacedByObjects) {
  llvm::StringMap<std::string> ObjectOf = {{"a.cu", "tmp/a.o"}, {"s/b.cpp", "tmp/b.o"}};
  EXPECT_EQ(relinkArguments(parsed({"-O3", "x.o", "a.cu", "-lm", "s/b.cpp", "-x", "cu", "-o=app"}),
                            ObjectOf, "t"),
            (Words{"-O3", "x.o", "tmp/a.o", "-lm", "tmp/b.o", "-o", "t"}));
  EXPECT_EQ(relinkArguments(parsed({"-MD", "-MP", "-MF", "d", "-MT", "t", "-arch=sm_90", "a.cu",
                                    "h.o", "-L", "a.cu"}),
                            ObjectOf, "t"),
            (Words{"-arch=sm_90", "tmp/a.o", "h.o", "-L", "a.cu", "-o", "t"}));
  EXPECT_EQ(relinkArguments(parsed({"-shared", "-Xcompiler=-fPIC", "a.cu", "-Xlinker",
                                    "-soname,liba.so.1", "-o", "liba.so"}),
                            ObjectOf, "t"),
            (Words{"-shared", "-Xcompiler=-fPIC", "tmp/a.o", "-Xlinker", "-soname,liba.so.1", "-o",
                   "t"}));
}

} // namespace

TEST(CommandRewrite, compileOne_severalSources_takesOnlyOne) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(compileOneArguments(parsed({"-O3", "a.cu", "x.o", "s/b.cpp", "-lm", "-o", "app"}),
                                "a.cu", "t.o"),
            (Words{"-O3", "a.cu", "-lm", "-c", "-o", "t.o"}));
  EXPECT_EQ(
      compileOneArguments(parsed({"-arch=sm_90", "-c", "a.cu", "b.cu", "-DX=1"}), "b.cu", "t.o"),
      (Words{"-arch=sm_90", "-c", "b.cu", "-DX=1", "-o", "t.o"}));
  EXPECT_EQ(compileOneArguments(parsed({"-shared", "-Xcompiler=-fPIC", "a.cu", "-o", "l.so"}),
                                "a.cu", "t.o"),
            (Words{"-Xcompiler=-fPIC", "a.cu", "-c", "-o", "t.o"}));
  EXPECT_EQ(
      compileOneArguments(parsed({"-MD", "-MF", "d", "-dc", "a.cu", "-o", "a.o"}), "a.cu", "t.o"),
      (Words{"-dc", "a.cu", "-o", "t.o"}));
}
