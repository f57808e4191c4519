#include "Export/Source/KernelSource.h"
#include "Export/Source/KernelNames.h"
#include "Ptx/ProfileName.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

/// Returns each kernel as `ns::k(int a, float * b) @3`, with `template ` before it, `;` if it is a
/// declaration, and `split`.
std::vector<std::string> texts(llvm::StringRef Source) {
  std::vector<std::string> Texts;
  for (const KernelPlace &P : findKernels(Source))
    Texts.push_back((P.IsTemplate ? "template " : "") + llvm::join(P.Name, "::") +
                    (P.Specialisation.empty() ? "" : "<" + P.Specialisation + ">") + "(" +
                    llvm::join(P.Parameters, ", ") + ")" + (P.IsDefinition ? "" : ";") +
                    (P.Split ? " split" : "") + " @" + std::to_string(P.Line));
  return Texts;
}

using Texts = std::vector<std::string>;

/// Returns the line of the definition from which \p Name was compiled, 0 if there is none, or -1 if
/// several fit.
int lineOf(llvm::StringRef Source, llvm::StringRef Name) {
  std::vector<KernelPlace> Places = findKernels(Source);
  bool Ambiguous = false;
  const KernelPlace *P = findDefinition(parseKernelName(Name), Places, Ambiguous);
  return Ambiguous ? -1 : P ? static_cast<int>(P->Line) : 0;
}

} // namespace

TEST(KernelSource, definitionsAndDeclarations_areFound) {
  EXPECT_EQ(texts("__global__ void k(int a, float *b = nullptr);\n"
                  "__global__ void k(int a, float *b) { if (a) { b[0] = 1; } }\n"
                  "__device__ void d() {}\n"
                  "extern \"C\" __global__ void plain(void) {}\n"
                  "extern \"C\" {\nstatic void __global__ inside() {}\n}\n"
                  "__global__ __launch_bounds__(256, 2) void bounded() {}\n"),
            (Texts{"k(int a, float * b); @1", "k(int a, float * b) @2", "plain() @4", "inside() @6",
                   "bounded() @8"}));
}

TEST(KernelSource, scopes_areFollowed) {
  EXPECT_EQ(texts("namespace a::b { inline namespace v1 {\n"
                  "struct __align__(16) S : Base<int> { int f() { return 1; }\n"
                  "  friend __global__ void friendly(S s);\n};\n"
                  "struct S make() { return {}; }\n"
                  "enum class E : int { A, B };\n"
                  "int Table[] = { 1, 2 };\n"
                  "__global__ void k(S s) {}\n} }\n"
                  "namespace { __global__ void hidden() {} }\n"
                  "__global__ void a::b::out(int x) {}\n"),
            (Texts{"a::b::v1::S::friendly(S s); @3", "a::b::v1::k(S s) @8",
                   "(anonymous namespace)::hidden() @10", "a::b::out(int x) @11"}));
}

TEST(KernelSource, commentsStringsAndMacros_areNoKernels) {
  EXPECT_EQ(texts("// __global__ void c1() {}\n/* __global__ void c2() {\n} */\n"
                  "const char *S = \"__global__ void s() {\";\n"
                  "const char *R = R\"x(__global__ void r() { )\" )x\";\n"
                  "#define KERNEL(N) __global__ void N(int a) \\\n  { a; }\n"
                  "KERNEL(made)\n"
                  "int sep = 1'000'000; char q = '\"';\n"
                  "// continued \\\n__global__ void c3() {}\n"
                  "MACRO_OF_ITS_OWN(x)\n"
                  "__global__ void real() {}\n"),
            Texts{"real() @13"});
}

TEST(KernelSource, templates_areFoundWithParameters) {
  EXPECT_EQ(
      texts("template <int N, typename T = float, bool B = (N > 4)>\n"
            "__global__ void k(T *p, S<T, N> s) {}\n"
            "template <> __global__ void k<4, float>(float *p, S<float, 4> s) {}\n"
            "template __global__ void k<8, float>(float *p, S<float, 8> s);\n"
            "extern template __global__ void k<9, float>(float *p, S<float, 9> s);\n"
            "template <typename T>\n__global__ typename std::enable_if<(sizeof(T) > 4), "
            "void>::type big(T t) {}\n"),
      (Texts{"template k(T * p, S < T , N > s) @2",
             "template k<4 , float>(float * p, S < float , 4 > s) @3", "template big(T t) @7"}));
  KernelPlace P = findKernels("template <int N, class T = float, typename... Ts, bool>\n"
                              "__global__ void k() {}")[0];
  ASSERT_EQ(P.Template.size(), 4u);
  EXPECT_EQ(P.Template[0].Name, "N");
  EXPECT_FALSE(P.Template[0].IsType);
  EXPECT_EQ(P.Template[1].Name, "T");
  EXPECT_TRUE(P.Template[1].IsType);
  EXPECT_TRUE(P.Template[2].IsPack);
}

TEST(KernelSource, preprocessorBranches_areAllRead) {
  EXPECT_EQ(texts("#ifdef A\n__global__ void k(int a) {\n#else\n__global__ void k(float a) {\n"
                  "#endif\n}\n__global__ void after() {}\n"),
            (Texts{"k(int a) @2", "k(float a) @4", "after() @7"}));
  EXPECT_EQ(texts("#if X\n__global__ void one() {}\n#elif Y\nnamespace n {\n#endif\n"
                  "__global__ void two() {}\n"),
            (Texts{"one() @2", "n::two() @6"}));
  std::vector<KernelPlace> Split =
      findKernels("__global__ void\n#ifdef A\nk(int a)\n#else\nk(float a)\n#endif\n{}\n");
  ASSERT_EQ(Split.size(), 1u);
  EXPECT_TRUE(Split[0].Split);
}

TEST(KernelSource, attributes_areFoundWithTheirPlaces) {
  llvm::StringRef Source =
      "__global__ void __launch_bounds__( T * 2 , f(1, 2) ) // why\n  k(int a) {}";
  KernelPlace P = findKernels(Source)[0];
  ASSERT_EQ(P.Attributes.size(), 1u);
  const KernelAttribute &A = P.Attributes[0];
  EXPECT_TRUE(A.IsLaunchBounds);
  EXPECT_EQ(Source.slice(A.Begin, A.End), "__launch_bounds__( T * 2 , f(1, 2) )");
  EXPECT_EQ(A.Arguments, (Texts{"T * 2", "f(1, 2)"}));
  EXPECT_EQ(Source.substr(P.InsertAt, 2), "k(");
  Source = "void __global__ __maxnreg__(40) ::n::k() {}";
  P = findKernels(Source)[0];
  EXPECT_EQ(Source.substr(P.InsertAt), "::n::k() {}");
  EXPECT_FALSE(P.Attributes[0].IsLaunchBounds);
}

TEST(KernelSource, preprocessedText_hasLinesOfItsMarkers) {
  std::vector<KernelPlace> Found = findKernels(
      "# 1 \"/p/a.cu\"\n# 1 \"/p/k.cuh\" 1\n\n__attribute__((global)) void k(int a) {}\n"
      "# 7 \"/p/a.cu\" 2\n__attribute__((global)) void __attribute__((launch_bounds"
      "(256))) m() {}\n__attribute__((device)) void global() {}\n");
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0].File, "/p/k.cuh");
  EXPECT_EQ(Found[0].Line, 2u);
  EXPECT_EQ(Found[1].File, "/p/a.cu");
  EXPECT_EQ(Found[1].Line, 7u);
}

TEST(KernelSource, damagedText_isReadToItsEnd) {
  for (llvm::StringRef Text : {"__global__ void k(", "__global__ void k(int a) {", "template <",
                               "}}}__global__ void k() {}", "R\"(", "\"", "#if", "/*", "__global__",
                               "__launch_bounds__(", "__global__ k<(", "\\", "__attribute__(("})
    findKernels(Text);
  EXPECT_EQ(texts("}}}__global__ void k() {}"), Texts{"k() @1"});
}

TEST(KernelNames, demangledName_isParsed) {
  KernelName N = parseKernelName("void a::(anonymous namespace)::S<int, 2>::k<4, std::pair<int, "
                                 "float>>(float const*, void (*)(int, int))");
  EXPECT_EQ(N.Scope, (Texts{"a", "(anonymous namespace)", "S"}));
  EXPECT_EQ(N.Base, "k");
  EXPECT_EQ(N.Arguments, (Texts{"4", "std::pair<int, float>"}));
  EXPECT_EQ(*N.Parameters, (Texts{"float const*", "void (*)(int, int)"}));
  EXPECT_FALSE(parseKernelName("plain").Parameters);
  EXPECT_TRUE(parseKernelName("k()").Parameters->empty());
  EXPECT_EQ(parseKernelName(profileName("_Z1kILi8EfEvPT0_")).Arguments, (Texts{"8", "float"}));
}

TEST(KernelNames, overloads_areToldApart) {
  llvm::StringRef Source = "typedef double Real;\n"
                           "__global__ void k(int a) {}\n"
                           "__global__ void k(float a) {}\n"
                           "__global__ void k(const Real *__restrict__ a) {}\n"
                           "__global__ void k(int a, int) {}\n"
                           "__global__ void k(long unsigned a) {}\n"
                           "namespace n { __global__ void k(int a) {} }\n";
  EXPECT_EQ(lineOf(Source, "k(int)"), 2);
  EXPECT_EQ(lineOf(Source, "k(float)"), 3);
  EXPECT_EQ(lineOf(Source, "k(double const*)"), 4);
  EXPECT_EQ(lineOf(Source, "k(int, int)"), 5);
  EXPECT_EQ(lineOf(Source, "k(unsigned long)"), 6);
  EXPECT_EQ(lineOf(Source, "n::k(int)"), 7);
  EXPECT_EQ(lineOf(Source, "k(char)"), 0);
  EXPECT_EQ(lineOf(Source, "m::k(int)"), 2) << "a macro may have opened m";
  EXPECT_EQ(lineOf("__global__ void k(A a) {}\n__global__ void k(B a) {}", "k(int)"), -1);
}

TEST(KernelNames, specialisation_isPreferredToItsTemplate) {
  llvm::StringRef Source = "template <int N, typename T>\n__global__ void k(T *p) {}\n"
                           "template <>\n__global__ void k<4, float>(float *p) {}\n"
                           "__global__ void k(float *p) {}\n";
  EXPECT_EQ(lineOf(Source, "void k<8, float>(float*)"), 2);
  EXPECT_EQ(lineOf(Source, "void k<4, float>(float*)"), 4);
  EXPECT_EQ(lineOf(Source, "k(float*)"), 5);
}

TEST(KernelNames, definitionLine_isThatOfTheName) {
  EXPECT_EQ(definitionLine("\n__global__ void\nk(int a) {}", "k(int)"), 3u);
  EXPECT_EQ(definitionLine("__global__ void k(int a);", "k(int)"), 0u);
}

TEST(KernelSource, headsThatEndInABracket_areRead) {
  for (const char *Source : {"__global__ void\n#ifdef X\nf(\n#else\n;\n#endif\n",
                             "__global__ void __launch_bounds__(\n#ifdef X\n#endif\n",
                             "template <\n__global__", "> (__global__", "__global__ void f("})
    EXPECT_LE(findKernels(Source).size(), 1u) << Source;
}
