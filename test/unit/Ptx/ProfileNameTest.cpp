#include "Ptx/ProfileName.h"
#include "PtxTesting.h"

using namespace carve;

TEST(ProfileName, plainName_isDemangled) {
  EXPECT_EQ(profileName("_Z5bulkyPdPKdi"), "bulky(double*, double const*, int)");
  EXPECT_EQ(profileName("add"), "add");
  EXPECT_EQ(profileName(""), "");
}

TEST(ProfileName, anonymousNamespace_losesItsTag) {
  EXPECT_EQ(profileName("_ZN35_GLOBAL__N__9e00893a_7_anon_cu_coef2pkEPd"),
            "(anonymous namespace)::pk(double*)");
  // The tag of a file without external symbols lacks the last part.
  EXPECT_EQ(profileName("_ZN31_GLOBAL__N__9e00893a_7_anon_cu_2pkEPd"),
            "(anonymous namespace)::pk(double*)");
  EXPECT_EQ(profileName("_ZN35_GLOBAL__N__9e00893a_7_anon_cu_coef2ptIfEEvPT_NS_2FnE"),
            "void (anonymous namespace)::pt<float>(float*, (anonymous namespace)::Fn)");
}

TEST(ProfileName, staticNameWithRdc_isTheSameAsWithout) {
  EXPECT_EQ(profileName("__nv_static_26__59c61027_6_ext_cu__Z3pubi__Z2stPi"),
            profileName("_Z2stPi"));
  EXPECT_EQ(
      profileName("__nv_static_24__9e00893a_7_anon_cu_coef__ZN35_GLOBAL__N__9e00893a_7_anon_cu_"
                  "coef2pkEPd"),
      "(anonymous namespace)::pk(double*)");
}

TEST(ProfileName, tag_afterANameThatEndsInADigit_isFound) {
  EXPECT_EQ(profileName("_ZN2D135_GLOBAL__N__9e00893a_7_anon_cu_coef2pkEPd"),
            "D1::(anonymous namespace)::pk(double*)");
}

TEST(ModuleTags, nameLikeATag_stays) {
  for (const char *Name : {"__nv_static_", "__nv_static_99_x", "__nv_static_99999999999_x",
                           "_GLOBAL__N__", "12_GLOBAL__N__zz", "9_INTERNAL",
                           "_ZN12_GLOBAL__N_12pkEPd", "99_GLOBAL__N__9e00893a_7_anon_cu_"})
    EXPECT_EQ(withoutModuleTags(Name), Name);
}

TEST(ModuleTags, parametersAndInternalFunctions_loseTheirTags) {
  EXPECT_EQ(
      withoutModuleTags("_ZN33_INTERNAL_9e00893a_7_anon_cu_coef35_GLOBAL__N__9e00893a_7_anon_cu_"
                        "coef6helperEf_param_0"),
      withoutModuleTags("_ZN33_INTERNAL_01234567_7_nona_cu_fooo35_GLOBAL__N__01234567_7_nona_cu_"
                        "fooo6helperEf_param_0"));
}
