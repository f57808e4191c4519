#include "Nvcc/Text/KernelAssumptions.h"

#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

#define GLOBAL "__attribute__((global))"

/// Returns the kernels of \p Text, each as `scope::name(type name, ...)`.
std::vector<std::string> kernels(llvm::StringRef Text) {
  std::vector<std::string> List;
  for (const KernelDefinition &K : llvm::cantFail(kernelDefinitions(Text))) {
    std::string Line;
    for (const std::string &Scope : K.Scopes)
      Line += (Scope.empty() ? "(anonymous)" : Scope) + "::";
    Line += K.Name + (K.TemplateParameters ? "<>" : "") + "(";
    for (size_t I = 0; I < K.Parameters.size(); ++I)
      Line += (I ? ", " : "") + K.Parameters[I].Type + " " + K.Parameters[I].Name;
    List.push_back(Line + ")");
    EXPECT_EQ(Text[K.Body - 1], '{') << Line;
  }
  return List;
}

using Lines = std::vector<std::string>;

std::string assumed(llvm::StringRef Text, llvm::StringRef Mangled, const KnownLaunch &Known) {
  llvm::Expected<std::string> New = withAssumptions(Text, Mangled, Known);
  return New ? *New : llvm::toString(New.takeError());
}

KnownLaunch writtenOf(llvm::StringRef Text, llvm::StringRef Mangled, const KnownLaunch &Known) {
  std::vector<KernelDefinition> Kernels = llvm::cantFail(kernelDefinitions(Text));
  return llvm::cantFail(assumable(Kernels, Mangled, Known)).Launch;
}

} // namespace

TEST(KernelText, kernels_inScopes_areFound) {
  EXPECT_EQ(kernels(GLOBAL " void k(float *p, const int n) { }"),
            Lines{"k(float * p, const int n)"});
  EXPECT_EQ(kernels("namespace a { namespace { struct S { int f() { return 1; } }; static " GLOBAL
                    " void k(int n) {} } namespace b::c { " GLOBAL " void l() {} } }\n"
                    "extern \"C\" { " GLOBAL " void m(void) { if (1) { } } }\n"
                    "inline namespace v __attribute__((abi_tag(\"x\"))) { " GLOBAL
                    " void o(unsigned long x, ns::T<int, 3> t) {} }"),
            (Lines{"a::(anonymous)::k(int n)", "a::b::c::l()", "m()",
                   "v::o(unsigned long x, ns : : T < int , 3 > t)"}));
  EXPECT_EQ(kernels("template <class T, int N = (1 > 0)> " GLOBAL
                    " void __attribute__((launch_bounds(128))) k(T *p, T x) noexcept {}"),
            Lines{"k<>(T * p, T x)"});
  EXPECT_EQ(kernels("__attribute__((global, launch_bounds(64))) void k(int a, int b) {}"),
            Lines{"k(int a, int b)"});
}

TEST(KernelText, whatIsNoDefinition_isLeftOut) {
  for (const char *Text :
       {GLOBAL " void k(int n);",
        "void f() { const char *s = \""
        "{\"; char c = '}'; }",
        "/* " GLOBAL " void k() { */ // {\n", "const char *s = R\"x(" GLOBAL " void k() {})x\";",
        "# 1 \"" GLOBAL " {\"\n#pragma unroll {\n", "int x = 1'000'000; enum E { A = '{' };",
        "template <> " GLOBAL " void k<int>(int n) {}", "int a[] = {1, 2}; struct S s = {3};",
        "__attribute__((device)) void f(int n) {}", "auto l = [](int i) { return i; };"})
    EXPECT_EQ(kernels(Text), Lines()) << Text;
}

TEST(KernelText, parameters_withoutAPlainName_haveNone) {
  EXPECT_EQ(kernels(GLOBAL " void k(int, const int, T, ns::T, int (*f)(int), int a[4], int n = 3, "
                           "const T x = T{1, 2}, __attribute__((grid_constant)) const S s, Ts... "
                           "all) {}"),
            Lines{"k( ,  ,  ,  ,  ,  , int n, const T x, const S s,  )"});
}

TEST(KernelText, brokenText_isRefused) {
  for (const char *Text : {"void f() {", "}", "char c = 'x", "/* ", "R\"a(b", "f(", "\"a\nb\""}) {
    llvm::Expected<std::vector<KernelDefinition>> All = kernelDefinitions(Text);
    EXPECT_FALSE(bool(All)) << Text;
    EXPECT_TRUE(llvm::StringRef(llvm::toString(All.takeError())).starts_with("unknown-text"));
  }
}

TEST(KernelText, integerTypes_areNoPointersAndNoFloats) {
  for (const char *Type : {"int", "const int", "unsigned long", "long long unsigned int", "bool",
                           "signed char", "short"})
    EXPECT_TRUE(isIntegerType(Type)) << Type;
  for (const char *Type : {"float", "double", "int*", "int *", "T", "size_t", "const", "", "int&"})
    EXPECT_FALSE(isIntegerType(Type)) << Type;
}

TEST(KernelText, assumptions_standAtTheHeadOfTheBody) {
  const std::string Text =
      "namespace {\n" GLOBAL " void k(float *p, float f, int n, bool b)\n{ p[n] "
      "= f; }\n}\n" GLOBAL " void other() {}\n";
  KnownLaunch Known;
  Known.Values = {{0, 8, 4097}, {1, 8, 7}, {2, 4, 0xffffffff}, {3, 1, 1}, {9, 4, 1}};
  Known.Block = {{256, 1, 1}};
  std::string Wanted = Text;
  Wanted.insert(Wanted.find(" p[n]"),
                " __builtin_assume(n == (decltype(n))4294967295ull);"
                " __builtin_assume(b == (decltype(b))1ull); __builtin_assume(blockDim.x == 256u);"
                " __builtin_assume(blockDim.y == 1u); __builtin_assume(blockDim.z == 1u);");
  const char *Name = "_ZN36_GLOBAL__N__ac9cb946_4_k_cu_20d782b51kEPffib";
  EXPECT_EQ(assumed(Text, Name, Known), Wanted);
  EXPECT_EQ(llvm::StringRef(Wanted).count('\n'), llvm::StringRef(Text).count('\n'));
  KnownLaunch Written = writtenOf(Text, Name, Known);
  EXPECT_EQ(Written.Values, (std::vector<ArgumentValue>{{2, 4, 0xffffffff}, {3, 1, 1}}));
  EXPECT_EQ(Written.Block, Known.Block);
  EXPECT_EQ(assumed(Text, Name, Written), Wanted);
}

TEST(KernelText, values_ofOtherSizesOrOfParts_areLeftOut) {
  KnownLaunch Known;
  Known.Values = {{0, 2, 7}, {1, 8, 7}, {2, 2, 7, 2}, {3, 1, 7}, {4, 4, 7}};
  EXPECT_EQ(
      writtenOf(GLOBAL " void k(int a, long b, int c, short d, unsigned e) {}", "_Z1kilisj", Known)
          .Values,
      (std::vector<ArgumentValue>{{1, 8, 7}, {4, 4, 7}}));
}

namespace {
/// The assumption that \p Parameter has the number \p Bits of type \p Type at \p Offset.
std::string part(const std::string &Parameter, unsigned Offset, const std::string &Type,
                 unsigned Bytes, uint64_t Bits) {
  return " { " + Type +
         " __carve_part; __builtin_memcpy(&__carve_part, (char *)&reinterpret_cast<const volatile "
         "char &>(" +
         Parameter + ") + " + std::to_string(Offset) + ", " + std::to_string(Bytes) +
         "); __builtin_assume(__carve_part == " + std::to_string(Bits) + "ull); }";
}
} // namespace

TEST(KernelText, structures_areKnownByTheirBytes) {
  KnownLaunch Known;
  Known.Values = {{0, 4, 8, 24},
                  {0, 2, 7, 28},
                  {0, 1, 1, 30},
                  {0, 8, UINT32_MAX, 32},
                  {0, 8, 0x7f0000001000, 40},
                  {1, 4, 5},
                  {2, 4, 0, 4}};
  const std::string Text =
      "template <class D> " GLOBAL " static void k(const D d, Mode m, float *p) { d(); }";
  const char *Name = "_Z1kI1FEvT_4ModePf";
  std::string Wanted = Text;
  Wanted.insert(Wanted.find(" d();"), part("d", 24, "unsigned", 4, 8) +
                                          part("d", 28, "unsigned short", 2, 7) +
                                          part("d", 30, "unsigned char", 1, 1) +
                                          part("d", 32, "unsigned long long", 8, UINT32_MAX) +
                                          part("m", 0, "unsigned", 4, 5));
  EXPECT_EQ(assumed(Text, Name, Known), Wanted);
  KnownLaunch Written = writtenOf(Text, Name, Known);
  Known.Values.erase(Known.Values.begin() + 4); // It may be an address.
  Known.Values.pop_back();
  EXPECT_EQ(Written.Values, Known.Values);
  EXPECT_EQ(assumed(Text, Name, Written), Wanted);
}

TEST(KernelText, structureOfAFunctionOfC_isKnown) {
  KnownLaunch Known;
  Known.Values = {{0, 4, 8, 24}};
  EXPECT_NE(assumed("extern \"C\" " GLOBAL " void k(S s) {}", "k", Known)
                .find("{" + part("s", 24, "unsigned", 4, 8) + "}"),
            std::string::npos);
}

TEST(KernelText, parametersOfAnyType_areKnownByTheirBytes) {
  // Another instantiation may have classes for them, in the same body.
  const std::string Text = "template <class P, class N, class F> " GLOBAL
                           " void k(P a, N n, F f, const F c, P *p, int i, float x) { a(); }";
  const char *Name = "_Z1kIPfifEvT_T0_T1_S3_PS1_if";
  KnownLaunch Known{{{0, 8, 0x7f0000001000},
                     {1, 4, 7},
                     {2, 4, 0x40400000},
                     {3, 4, 0x40400000},
                     {4, 8, 4096},
                     {5, 4, 1},
                     {6, 4, 0x40400000}},
                    {},
                    {}};
  std::string Wanted = Text;
  const std::string Bytes = "(char *)&reinterpret_cast<const volatile char &>(";
  Wanted.insert(
      Wanted.find(" a();"),
      " { unsigned long long __carve_part; __builtin_memcpy(&__carve_part, " + Bytes +
          "a) + 0, 8); __builtin_assume((__carve_part & 255) == 0); }" +
          part("n", 0, "unsigned", 4, 7) +
          " { unsigned __carve_part = 1077936128ull; __builtin_memcpy(" + Bytes +
          "f) + 0, &__carve_part, 4); } { float __carve_part; __builtin_memcpy(&__carve_part, " +
          Bytes +
          "c) + 0, 4); __builtin_assume(__carve_part == __builtin_bit_cast(float, "
          "1077936128u)); }"
          " __builtin_assume(((unsigned long long)p & 255) == 0);"
          " __builtin_assume(i == (decltype(i))1ull);"
          " x = __builtin_bit_cast(float, 1077936128u);");
  EXPECT_EQ(assumed(Text, Name, Known), Wanted);
  EXPECT_EQ(assumed(Text, Name, writtenOf(Text, Name, Known)), Wanted);
}

TEST(KernelText, references_areLeftOut) {
  // What is known is the address, and the name is what is there.
  KnownLaunch Known{{{0, 8, 0x7f0000001000}, {1, 4, 5}}, {}, {}};
  EXPECT_EQ(writtenOf(GLOBAL " void k(unsigned &n, int m) {}", "_Z1kRji", Known).Values,
            (std::vector<ArgumentValue>{{1, 4, 5}}));
  EXPECT_EQ(writtenOf("template <class T> " GLOBAL " void k(T n, int m) {}", "_Z1kIRjEvT_i", Known)
                .Values,
            (std::vector<ArgumentValue>{{1, 4, 5}}));
}

TEST(KernelText, floats_areSetToTheirBits) {
  const std::string Text = GLOBAL " void k(float a, double b, const float c, const double d) {}";
  auto Written = [&](uint64_t A, uint64_t B, uint64_t C, uint64_t D) {
    KnownLaunch Known{{{0, 4, A}, {1, 8, B}, {2, 4, C}, {3, 8, D}}, {}, {}};
    return llvm::StringRef(assumed(Text, "_Z1kfdfd", Known)).split('{').second.str();
  };
  EXPECT_EQ(Written(0x80000000, 0x7ff8000000000001, 0x3fc00000, 0xbff0000000000000),
            " a = __builtin_bit_cast(float, 2147483648u); b = __builtin_bit_cast(double, "
            "9221120237041090561ull); __builtin_assume(c == __builtin_bit_cast(float, "
            "1069547520u)); __builtin_assume(d == __builtin_bit_cast(double, "
            "13830554455654793216ull));}");
  // Nothing equals a NaN, and 0 equals -0.
  EXPECT_EQ(Written(0, 0, 0x7fc00000, 0),
            " a = __builtin_bit_cast(float, 0u); b = __builtin_bit_cast(double, 0ull);}");
  EXPECT_EQ(Written(0, 0, 0x80000000, 0xfff0000000000000), Written(0, 0, 0x7f800000, 0));
}

TEST(KernelText, alignedAddresses_areAssumedUnlessTheyAreRestricted) {
  const std::string Text = GLOBAL " void k(float *a, const S *const b, int *__restrict__ c, void "
                                  "(*d)(int), float *e, float *f) {}";
  KnownLaunch Known{
      {{0, 8, 0x7f0000001000}, {1, 1, 0}, {2, 8, 4096}, {3, 8, 4096}, {4, 8, 4112}, {5, 1, 16}},
      {},
      {}};
  const char *Name = "_Z1kPfPK1SPiPFviES_S_";
  EXPECT_NE(assumed(Text, Name, Known)
                .find("{ __builtin_assume(((unsigned long long)a & 255) == 0); "
                      "__builtin_assume(((unsigned long long)b & 255) == 0);}"),
            std::string::npos)
      << assumed(Text, Name, Known);
  std::vector<KernelDefinition> Kernels = llvm::cantFail(kernelDefinitions(Text));
  AssumedLaunch Written = llvm::cantFail(assumable(Kernels, Name, Known));
  EXPECT_EQ(Written.Launch.Values, (std::vector<ArgumentValue>{{0, 1, 0}, {1, 1, 0}}));
  EXPECT_TRUE(Written.onlyAligned());
  EXPECT_EQ(assumed(Text, Name, Written.Launch), assumed(Text, Name, Known));
  Known.Grid = {{2, 1, 1}};
  EXPECT_FALSE(llvm::cantFail(assumable(Kernels, Name, Known)).onlyAligned());
}

TEST(KernelText, parameterTypes_areThoseOfTheName) {
  EXPECT_EQ(parameterTypes("_ZN1a1kIfEEvPT_iS2_1Sy"),
            (Lines{"float*", "int", "float*", "S", "unsigned long long"}));
  EXPECT_EQ(parameterTypes("_Z1kv"), Lines());
  EXPECT_EQ(parameterTypes("k"), Lines());
  EXPECT_EQ(parameterTypes("_Zx"), Lines());
}

TEST(KernelText, parameterNamedAsADimension_hidesIt) {
  KnownLaunch Known{{}, {{64, 1, 1}}, {{2, 1, 1}}};
  KnownLaunch Written = writtenOf(GLOBAL " void k(int blockDim) {}", "_Z1ki", Known);
  EXPECT_FALSE(Written.Block);
  EXPECT_EQ(Written.Grid, Known.Grid);
}

TEST(KernelText, whatCouldBeMeantTwice_isRefused) {
  KnownLaunch Known;
  Known.Values = {{0, 4, 1}};
  const std::string Two = GLOBAL " void k(int n) {} " GLOBAL " void k(long n) {}";
  EXPECT_EQ(assumed(Two, "_Z1ki", Known), "unknown-text: 2 definitions of _Z1ki, expected one");
  // The number of parameters tells overloads apart.
  const std::string ByCount = GLOBAL " void k(int n) {} " GLOBAL " void k(int n, int m) {}";
  EXPECT_NE(assumed(ByCount, "_Z1kii", Known).find("int m) { __builtin_assume(n =="),
            std::string::npos);
  EXPECT_EQ(assumed(Two, "_Z1li", Known), "unknown-text: 0 definitions of _Z1li, expected one");
  EXPECT_EQ(assumed(GLOBAL " void k(S *n) {}", "_Z1kP1S", Known),
            "unknown-text: nothing that is known of _Z1kP1S can be assumed");
  // C has no types in its names, so those of the text count.
  EXPECT_NE(assumed(GLOBAL " void k(int n) {}", "k", Known).find("assume"), std::string::npos);
  EXPECT_NE(assumed(GLOBAL " void k(size n) {}", "k", Known).find("assume"), std::string::npos);
  Known.Values = {{0, 8, 0x7f0000001000}};
  EXPECT_EQ(assumed(GLOBAL " void k(floats p) {}", "k", Known),
            "unknown-text: nothing that is known of k can be assumed");
}

TEST(KernelText, overloads_areToldApartByTheirTemplateParameters) {
  KnownLaunch Known;
  Known.Values = {{0, 4, 1}};
  const std::string One = "template <class D> " GLOBAL " static void k(const D a)",
                    Three = "template <class D, unsigned T = (3 > 2), unsigned B = 1> " GLOBAL
                            " static void k(const D b)",
                    None = GLOBAL " void k(int c)",
                    Any = "template <class D, class... E> " GLOBAL " void k(D d)";
  auto Of = [&](const std::string &Text, const char *Name) { return assumed(Text, Name, Known); };
  for (const std::string &Text : {One + "{}" + Three + "{}", Three + "{}" + One + "{}"}) {
    EXPECT_NE(Of(Text, "_Z1kI1FEvT_").find("const D a){ {"), std::string::npos);
    EXPECT_NE(Of(Text, "_Z1kI1FLj256ELj1EEvT_").find("const D b){ {"), std::string::npos);
    EXPECT_NE(Of(Text, "_Z1kI1GIiLj3E1HIjfEELj256ELj1EEvT_").find("const D b){ {"),
              std::string::npos);
    EXPECT_EQ(Of(Text, "_Z1kI1FLj256EEvT_"),
              "unknown-text: 0 definitions of _Z1kI1FLj256EEvT_, expected one");
  }
  EXPECT_NE(Of(One + "{}" + None + "{}", "_Z1ki").find("int c){ _"), std::string::npos);
  EXPECT_NE(Of(One + "{}" + None + "{}", "_Z1kIiEvT_").find("const D a){ {"), std::string::npos);
  EXPECT_NE(Of(None + "{}" + Any + "{}", "_Z1kIiJfdEEvT_").find("D d){ {"), std::string::npos);
  EXPECT_NE(Of(None + "{}" + Any + "{}", "_Z1kIiJEEvT_").find("D d){ {"), std::string::npos);
  EXPECT_EQ(Of(One + "{}" + One + "{}", "_Z1kIiEvT_"),
            "unknown-text: 2 definitions of _Z1kIiEvT_, expected one");
}

TEST(KernelAssumptions, restrictPointers_areWrittenBeforeTheirNames) {
  auto Written = [](llvm::StringRef Text, llvm::StringRef Mangled, std::vector<unsigned> Numbers) {
    llvm::Expected<std::string> New = withRestrict(Text, Mangled, Numbers);
    return New ? *New : llvm::toString(New.takeError());
  };
  EXPECT_EQ(Written(GLOBAL " void k(float *a, int n, const float *const b = nullptr) { b; }",
                    "_Z1kPfiPKf", {0, 1, 2, 7}),
            GLOBAL " void k(float * __restrict__ a, int n, const float *const  __restrict__ b = "
                   "nullptr) { b; }");
  EXPECT_EQ(Written("namespace m { template <class T> " GLOBAL " void k(T **a, T *b) {} }",
                    "_ZN1m1kIfEEvPPT_PS1_", {0}),
            "namespace m { template <class T> " GLOBAL " void k(T ** __restrict__ a, T *b) {} }");
  // One is restrict already, others are no plain declarations of pointers.
  for (const char *Text : {GLOBAL " void k(float *__restrict a) {}", GLOBAL " void k(F a) {}",
                           GLOBAL " void k(float a[4]) {}", GLOBAL " void k(float *) {}",
                           GLOBAL " void k(volatile float *a) {}"})
    EXPECT_NE(Written(Text, "_Z1kPf", {0}).find("no parameter of _Z1kPf is declared as a pointer"),
              std::string::npos)
        << Text;
  EXPECT_NE(Written(GLOBAL " void k(float *a) { decltype(a) b = a; }", "_Z1kPf", {0})
                .find("asks for types"),
            std::string::npos);
  EXPECT_NE(Written(GLOBAL " void l(float *a) {}", "_Z1kPf", {0}).find("0 definitions"),
            std::string::npos);
}
