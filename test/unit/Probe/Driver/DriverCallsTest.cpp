// Every driver call that CUDA's headers name is in lib/Probe/Driver/DriverCalls.def, or in the list
// of those that mean nothing.
#include "Probe/Driver/DriverCalls.h"
#include "Probe/Driver/Hazards.h"
#include "Support/Files.h"

#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace carve;
using namespace carve::probe;

#define ID(Call) CUPTI_DRIVER_TRACE_CBID_##Call

using Numbers = std::map<std::string, CUpti_CallbackId>;

/// The calls that DriverCalls.def names by the header's enumerators, with all their forms.
static Numbers namedCalls() {
  return {
// The macros only paste and quote names, because cuda.h defines macros with many of them.
#define CARVE_CALL(Name, Means) {#Name, CUPTI_DRIVER_TRACE_CBID_##Name},
#define CARVE_CALL_PTSZ(Name, Means)                                                               \
  {#Name, CUPTI_DRIVER_TRACE_CBID_##Name}, {#Name "_ptsz", CUPTI_DRIVER_TRACE_CBID_##Name##_ptsz},
#define CARVE_CALL_PTDS(Name, Means)                                                               \
  {#Name, CUPTI_DRIVER_TRACE_CBID_##Name}, {#Name "_ptds", CUPTI_DRIVER_TRACE_CBID_##Name##_ptds},
#define CARVE_CALL_NUMBER(Number, Name, Means)
#define CARVE_CALL_ALSO(Number, Name, Plain)
#include "Probe/Driver/DriverCalls.def"
#undef CARVE_CALL_ALSO
#undef CARVE_CALL_NUMBER
#undef CARVE_CALL_PTDS
#undef CARVE_CALL_PTSZ
#undef CARVE_CALL
  };
}

/// The calls that DriverCalls.def names by a number.
static Numbers numberedCalls() {
  return {
#define CARVE_CALL(Name, Means)
#define CARVE_CALL_PTSZ(Name, Means)
#define CARVE_CALL_PTDS(Name, Means)
#define CARVE_CALL_NUMBER(Number, Name, Means) {#Name, Number},
#define CARVE_CALL_ALSO(Number, Name, Plain) {#Name, Number},
#include "Probe/Driver/DriverCalls.def"
#undef CARVE_CALL_ALSO
#undef CARVE_CALL_NUMBER
#undef CARVE_CALL_PTDS
#undef CARVE_CALL_PTSZ
#undef CARVE_CALL
  };
}

/// Calls \p Visit(match) for every line of \p File that has \p Word and fits \p Pattern.
template <class F>
static void forEachLine(const char *File, llvm::StringRef Word, const char *Pattern, F Visit) {
  std::istringstream Lines(llvm::cantFail(readFile(File)));
  std::regex Wanted(Pattern);
  std::smatch Match;
  for (std::string Line; std::getline(Lines, Line);)
    if (llvm::StringRef(Line).contains(Word) && std::regex_search(Line, Match, Wanted))
      Visit(Match);
}

/// All calls that CUPTI's header has. A number without a name (`cuda25`) has no call.
static Numbers callsOfCupti() {
  Numbers Calls;
  forEachLine(CARVE_TEST_CALL_HEADER, "CBID_cu", "CBID_(cu[A-Z6]\\w+)\\s*=\\s*([0-9]+)",
              [&](const std::smatch &M) { Calls[M[1]] = CUpti_CallbackId(std::stoul(M[2])); });
  return Calls;
}

/// All calls that cuda.h declares, and the names that its macros give them.
static std::set<std::string> callsOfCuda() {
  std::set<std::string> Calls;
  auto Add = [&](const std::smatch &M) { Calls.insert(M[1]); };
  forEachLine(CARVE_TEST_CUDA_HEADER, "CUDAAPI", "CUresult\\s+CUDAAPI\\s+(cu\\w+)\\s*\\(", Add);
  forEachLine(CARVE_TEST_CUDA_HEADER, "define", "#\\s*define\\s+cu[A-Z]\\w+\\s+(cu[A-Z]\\w+)", Add);
  forEachLine(CARVE_TEST_CUDA_HEADER, "__CUDA_API_PT",
              "#\\s*define\\s+cu[A-Z]\\w+\\s+__CUDA_API_PT(DS|SZ)\\((cu\\w+)\\)",
              [&](const std::smatch &M) {
                Calls.insert(M[2]);
                Calls.insert(M[2].str() + (M[1] == "DS" ? "_ptds" : "_ptsz"));
              });
  return Calls;
}

namespace {
/// The content of CallsWithoutRole.txt.
class CallsWithoutRole {
public:
  CallsWithoutRole() {
    std::istringstream Lines(llvm::cantFail(readFile(CARVE_TEST_CALLS_WITHOUT_ROLE)));
    for (std::string Line, Name; std::getline(Lines, Line);)
      for (std::istringstream Words(Line); Line.front() != '#' && Words >> Name;)
        EXPECT_TRUE(Names.insert(Name).second) << Name << " is named twice";
  }
  bool has(llvm::StringRef Call) const {
    if (Call.ends_with("_ptsz") || Call.ends_with("_ptds"))
      Call = Call.drop_back(5);
    return Names.count(Call.str()) || llvm::any_of(Names, [&](llvm::StringRef Name) {
             return Name.consume_back("*") && Call.starts_with(Name);
           });
  }

private:
  std::set<std::string> Names;
};
} // namespace

TEST(DriverCalls, callsOfTheHeaders_areInTheTableOrMeanNothing) {
  CallsWithoutRole Without;
  Numbers Named = namedCalls(), Numbered = numberedCalls(), OfCupti = callsOfCupti();
  std::set<std::string> All = callsOfCuda();
  EXPECT_GT(All.size(), 500u);
  EXPECT_GT(OfCupti.size(), 700u);
  for (const auto &[Name, Id] : OfCupti)
    All.insert(Name);
  for (const std::string &Name : All) {
    bool InTable = Named.count(Name) || Numbered.count(Name);
    EXPECT_TRUE(InTable || Without.has(Name))
        << Name << " is new: what does it mean to gate, memory, captures and the rest?";
    EXPECT_FALSE(InTable && Without.has(Name)) << Name << " has roles and means nothing";
  }
}

TEST(DriverCalls, callsOfCuda_areShownByCupti) {
  CallsWithoutRole Without;
  Numbers OfCupti = callsOfCupti();
  for (const std::string &Name : callsOfCuda())
    EXPECT_TRUE(OfCupti.count(Name) || Without.has(Name))
        << Name << " cannot be seen, so it must mean nothing";
}

TEST(DriverCalls, numbers_areThoseOfTheHeader) {
  CallsWithoutRole Without;
  Numbers OfCupti = callsOfCupti();
  std::map<CUpti_CallbackId, std::string> ByNumber;
  for (const auto &[Name, Id] : OfCupti)
    ByNumber[Id] = Name;
  for (const auto &[Name, Id] : numberedCalls()) {
    if (OfCupti.count(Name)) {
      EXPECT_EQ(OfCupti[Name], Id) << Name;
    }
    // In another version of the header the number may have another name, or none.
    std::string Other = ByNumber.count(Id) ? ByNumber[Id] : Name;
    EXPECT_TRUE(Other == Name || Without.has(Other)) << Other << " has the number of " << Name;
  }
}

TEST(DriverCalls, everyCallOfTheTable_hasARole) {
  Numbers All = namedCalls();
  All.merge(numberedCalls());
  for (const auto &[Name, Id] : All)
    EXPECT_FALSE(rolesOf(Id).empty()) << Name;
  EXPECT_TRUE(rolesOf(ID(cuInit)).empty());
  EXPECT_TRUE(rolesOf(DriverCallLimit).empty());
  EXPECT_TRUE(rolesOf(UINT32_MAX).empty());
}

TEST(DriverCalls, formForTheThreadsOwnStream_hasThePlainFormsRolesAndParameters) {
  Numbers Named = namedCalls();
  unsigned Forms = 0;
  for (const auto &[Name, Id] : Named) {
    llvm::StringRef Plain = Name;
    if (!Plain.consume_back("_ptsz") && !Plain.consume_back("_ptds")) {
      EXPECT_EQ(plainForm(Id), Id) << Name;
      continue;
    }
    EXPECT_EQ(plainForm(Id), Named.at(Plain.str())) << Name;
    ++Forms;
  }
  EXPECT_GT(Forms, 60u);
  EXPECT_EQ(plainForm(ID(cuInit)), CUpti_CallbackId(ID(cuInit)));
  for (Role R : {Role::Gated, Role::Memory, Role::Launch, Role::BeginsCapture})
    for (CUpti_CallbackId Id : callsWith(R))
      EXPECT_TRUE(rolesOf(plainForm(Id)).any(R)) << Id;
}

TEST(DriverCalls, callThatSubmitsOrFrees_waitsForReplays) {
  for (CUpti_CallbackId Id :
       {ID(cuLaunchKernel), ID(cuGraphLaunch_ptsz), ID(cuMemcpyDtoH_v2), ID(cuMemFreeAsync),
        ID(cuMemUnmap), ID(cuStreamBeginCapture_v2), ID(cuLaunchHostFunc), ID(cuMemGetInfo_v2)})
    EXPECT_TRUE(rolesOf(Id).any(Role::Gated)) << Id;
  EXPECT_FALSE(rolesOf(ID(cuCtxSynchronize)).any(Role::Gated))
      << "it would keep the gate open for as long as the device works";
  for (Role R : {Role::StartsKernels, Role::BeginsCapture, Role::LoadsImage, Role::LoadsFile,
                 Role::Unloads, Role::EndsContext, Role::NeedsMemory, Role::Unfollowed})
    for (CUpti_CallbackId Id : callsWith(R))
      EXPECT_TRUE(rolesOf(Id).any(Role::Gated)) << Id;
}

TEST(DriverCalls, callThatAllocatesLoadsOrMakesContexts_needsMemory) {
  for (CUpti_CallbackId Id :
       {ID(cuMemAlloc_v2), ID(cuMemAllocAsync_ptsz), ID(cuMemCreate), ID(cuMemGetInfo_v2),
        ID(cuArray3DCreate_v2), ID(cuCtxCreate_v4), ID(cuDevicePrimaryCtxRetain),
        ID(cuCtxDestroy_v2), ID(cuLibraryLoadData), ID(cuGraphInstantiateWithFlags)})
    EXPECT_TRUE(rolesOf(Id).any(Role::NeedsMemory)) << Id;
  for (Role R : {Role::LoadsImage, Role::LoadsFile, Role::EndsContext})
    for (CUpti_CallbackId Id : callsWith(R))
      EXPECT_TRUE(rolesOf(Id).any(Role::NeedsMemory)) << Id;
  for (CUpti_CallbackId Id : {ID(cuMemFree_v2), ID(cuLaunchKernel), ID(cuMemcpyHtoD_v2)})
    EXPECT_FALSE(rolesOf(Id).any(Role::NeedsMemory)) << Id;
}

TEST(DriverCalls, launches_startKernels) {
  for (CUpti_CallbackId Id : callsWith(Role::Launch | Role::LaunchAttributes))
    EXPECT_TRUE(rolesOf(Id).any(Role::StartsKernels) && rolesOf(Id).any(Role::Launch)) << Id;
  for (CUpti_CallbackId Id : {ID(cuGraphLaunch), ID(cuLaunchGridAsync)})
    EXPECT_TRUE(rolesOf(Id).any(Role::StartsKernels) && !rolesOf(Id).any(Role::Launch)) << Id;
}
