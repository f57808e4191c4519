#include "Store/KernelSpelling.h"

#include "Ptx/ProfileName.h"
#include "Store/Profile.h"
#include "Store/ProfileReader.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

/// Kernels by their mangled names, each with spellings that mean it.
struct Spelled {
  const char *Mangled;
  std::vector<const char *> Spellings;
};

void PrintTo(const Spelled &S, std::ostream *OS) { *OS << S.Mangled; }

const Spelled Kernels[] = {
    {"_Z5bulkyPdPKdi",
     {"bulky(double*, double const*, int)", "void bulky(double*, double const*, int)",
      "bulky(double *, const double *, int)", "bulky( double*,double const * ,int )",
      "__global__ void bulky(double *, const double *, int)", "_Z5bulkyPdPKdi", "/^bulky\\(/",
      "/5bulky/"}},
    // template <float (*F)(float)> __global__ void k(float *)
    {"_Z1kIXadL_Z1ffEEEvPf",
     {"void k<&f(float)>(float*)", "k<&f(float)>(float*)", "void k<&(f(float))>(float*)",
      "k< & f( float ) >( float * )"}},
    // template <class T, int N> __global__ void ns::scan(std::pair<T, unsigned> *, const long *)
    {"_ZN2ns4scanIfLi4EEEvPSt4pairIT_jEPKl",
     {"void ns::scan<float, 4>(std::pair<float, unsigned int>*, long const*)",
      "ns::scan<float,4>(std::pair<float, unsigned> *, const long *)",
      "ns::scan<float, 4>(std::pair<float, unsigned int> *, const long int *)",
      "/scan<float, 4>/"}},
    {"_ZN12_GLOBAL__N_16hiddenEPdy",
     {"(anonymous namespace)::hidden(double*, unsigned long long)",
      "void (anonymous namespace)::hidden(double *, unsigned long long int)"}},
    {"plain", {"plain", " plain "}},
    // Kernels of an extended lambda. The second spelling is c++filt's.
    {"_Z3runIZ4mainEUliE_EvT_",
     {"void run<main::'lambda'(int)>(main::'lambda'(int))",
      "void run<main::{lambda(int)#1}>(main::{lambda(int)#1})"}},
};

class SpelledKernels : public testing::TestWithParam<Spelled> {};

KernelIdentity identity(llvm::StringRef Mangled) { return {profileName(Mangled), Mangled.str()}; }

} // namespace

TEST_P(SpelledKernels, anySpelling_matched_namesItsKernelOnly) {
  for (const char *Spelling : GetParam().Spellings)
    for (const Spelled &Other : Kernels)
      EXPECT_EQ(matchPin(Spelling, identity(Other.Mangled)) != NameMatch::None,
                std::string(Other.Mangled) == GetParam().Mangled)
          << Spelling << " and " << profileName(Other.Mangled);
}

INSTANTIATE_TEST_SUITE_P(, SpelledKernels, testing::ValuesIn(Kernels));

TEST(KernelSpelling, otherTypesOrConst_matched_areOtherKernels) {
  const KernelIdentity K = identity("_Z5bulkyPdPKdi");
  for (const char *Other :
       {"bulky(double*, double*, int)", "bulky(double*, double* const, int)",
        "bulky(double*, double const*, unsigned int)", "ns::bulky(double*, double const*, int)",
        "bulky", "bulk(double*, int)", "/^ulky/", "/bulky"})
    EXPECT_EQ(matchPin(Other, K), NameMatch::None) << Other;
}

TEST(KernelSpelling, invalidPattern_inProfile_isRefused) {
  llvm::Expected<Profile> P = parseProfile(
      "carve-profile: 1\nkernels:\n  - kernel: \"/bulky(/\"\n    variant: {cap: 40}\n", "p.yaml");
  ASSERT_FALSE(P);
  std::string Message = llvm::toString(P.takeError());
  EXPECT_EQ(Message.find("p.yaml:3: pattern /bulky(/: missing "), 0u) << Message;
}

TEST(KernelSpelling, nameAndPattern_bothMatch_nameIsTriedFirst) {
  Profile P;
  P.Kernels = {{"/bulky/", "sm_90", {}, std::nullopt, std::nullopt},
               {"void bulky(double*, const double*, int)", "", {}, std::nullopt, std::nullopt}};
  P.Kernels[0].Variant.Cap = 40;
  P.Kernels[1].Variant.Cap = 48;
  auto Found = P.candidates("bulky(double*, double const*, int)", "_Z5bulkyPdPKdi", "sm_90");
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0]->Variant.Cap, 48u);
  EXPECT_EQ(Found[1]->Variant.Cap, 40u);
}

TEST(KernelSpelling, tunedEntry_otherSpelling_doesNotMatch) {
  Profile P;
  P.Kernels = {{"bulky(double *, double const *, int)", "", {}, "0123", std::nullopt}};
  EXPECT_TRUE(
      P.candidates("bulky(double*, double const*, int)", "_Z5bulkyPdPKdi", "sm_90").empty());
}

TEST(KernelSpelling, nearNames_noMatch_areListedLikeliestFirst) {
  const std::vector<std::string> Names = {
      "bulky(double*, double const*, int)", "bulky(float*, float const*, int)",
      "void scan<float, 4>(float*)", "steady(double*, double const*, int)"};
  EXPECT_EQ(nearestNames("bulky", Names), (std::vector{Names[1], Names[0]}));
  EXPECT_EQ(nearestNames("bulky(float*, float const*)", Names)[0], Names[1]);
  EXPECT_EQ(nearestNames("bulcky(double*, double const*, int)", Names)[0], Names[0]);
  EXPECT_EQ(nearestNames("scan<float, 8>(float*)", Names), std::vector{Names[2]});
  EXPECT_TRUE(nearestNames("transpose(float*)", Names).empty());
  EXPECT_TRUE(nearestNames("/bulcky/", Names).empty());
}
