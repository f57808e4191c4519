#include "Cubin/JoinKernels.h"
#include "Cubin/Cubin.h"
#include "Cubin/CubinElf.h"
#include "Cubin/CubinInfo.h"
#include "unit/Cubin/CubinTesting.h"
#include "unit/Ptx/PtxTesting.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <random>
#include <set>

using namespace carve;
using namespace llvm;

namespace {

std::map<std::string, CubinKernel> kernelsOf(StringRef Bytes) {
  std::map<std::string, CubinKernel> All;
  for (CubinKernel &K : cantFail(parseCubin(Bytes)).Kernels)
    All[K.Resources.Name] = K;
  return All;
}

/// What the module says in \p Elf about the functions of \p Kernel: attributes and values.
std::multiset<std::pair<int, uint32_t>> moduleInfoOf(const CubinElf &Elf, StringRef Kernel) {
  std::multiset<std::pair<int, uint32_t>> All;
  forEachInfo(Elf.section(".nv.info")->Bytes, [&](const CubinInfo &Info) {
    if (Info.Payload.size() == 8 && Elf.ownerOf(Elf.Symbols[Info.Symbol]) == Kernel)
      All.insert({Info.Attribute, Info.Value});
  });
  return All;
}

/// The kinds and sizes of the sections of \p Kernel.
std::multiset<std::pair<std::string, uint64_t>> sectionsOf(const CubinElf &Elf, StringRef Kernel) {
  std::multiset<std::pair<std::string, uint64_t>> All;
  for (const CubinSection &S : Elf.Sections)
    if (S.Kernel == Kernel)
      All.insert({S.prefix().str(), S.Header->sh_size});
  return All;
}

} // namespace

TEST(JoinKernels, nothingIsAdded_returnsTheImageByteForByte) {
  std::string Bytes = recordedCubin("sm_90");
  EXPECT_TRUE(cantFail(joinKernels(Bytes, {})) == Bytes);
}

TEST(JoinKernels, kernelsUnderOtherNames_areWhatTheyWereBesideAllOthers) {
  const std::string Base = recordedCubin("sm_90");
  const auto Before = kernelsOf(Base);
  std::vector<JoinedKernel> Added;
  std::map<std::string, std::string> Originals;
  for (const auto &[Name, Kernel] : Before)
    for (const char *Suffix : {"__carve_r40", "__carve_control"}) {
      Added.push_back({Base, Name, Name + Suffix});
      Originals[Name + Suffix] = Name;
    }
  auto Joined = joinKernels(Base, Added);
  ASSERT_TRUE(bool(Joined)) << toString(Joined.takeError());
  const auto After = kernelsOf(*Joined);
  EXPECT_EQ(After.size(), 3 * Before.size());
  auto Elf = cantFail(CubinElf::parse(*Joined)), Old = cantFail(CubinElf::parse(Base));
  for (const auto &[Name, Kernel] : After) {
    SCOPED_TRACE(Name);
    const std::string Original = Originals.count(Name) ? Originals[Name] : Name;
    const CubinKernel &Was = Before.at(Original);
    EXPECT_EQ(Kernel.CodeDigest, Was.CodeDigest);
    EXPECT_EQ(Kernel.Resources.RegsPerThread, Was.Resources.RegsPerThread);
    EXPECT_EQ(Kernel.Resources.StackBytes, Was.Resources.StackBytes);
    EXPECT_EQ(Kernel.Resources.StaticSmemBytes, Was.Resources.StaticSmemBytes);
    EXPECT_EQ(Kernel.Resources.Barriers, Was.Resources.Barriers);
    EXPECT_EQ(moduleInfoOf(Elf, Name), moduleInfoOf(Old, Original));
    EXPECT_EQ(sectionsOf(Elf, Name), sectionsOf(Old, Original));
  }
  // The functions of all kernels have names of their own, and every number leads somewhere.
  std::set<StringRef> Names;
  for (const CubinSymbol &S : Elf.Symbols)
    if (S.Entry->getType() == ELF::STT_FUNC && Elf.sectionOf(S)) {
      EXPECT_TRUE(Names.insert(S.Name).second) << S.Name.str();
    }
  for (const CubinSection &S : Elf.Sections) {
    if (S.prefix() == ".text.") {
      EXPECT_EQ(Elf.Symbols[S.Header->sh_info & 0xffffff].Name, S.Kernel);
    } else if (S.isRelocation() || (S.Header->sh_flags & ELF::SHF_INFO_LINK)) {
      EXPECT_EQ(Elf.Sections[S.Header->sh_info].Kernel, S.Kernel) << S.Name.str();
    }
    for (const CubinRelocation &R : S.relocations())
      if (StringRef Owner = Elf.ownerOf(Elf.Symbols[R.Symbol]);
          !Owner.empty() && !S.Kernel.empty()) {
        EXPECT_EQ(Owner, S.Kernel) << S.Name.str();
      }
  }
}

/// Sections of one kind follow each other, and one segment covers all of them.
TEST(JoinKernels, segments_coverWhatIsAdded) {
  const std::string Base = recordedCubin("sm_90");
  const std::string Joined = cantFail(
      joinKernels(Base, {{Base, "_Z5bulkyPdi", "a"}, {Base, "_Z2avPf", "b"}, {Base, "init", "c"}}));
  auto Elf = cantFail(CubinElf::parse(Joined));
  auto File = cantFail(object::ELFFile<object::ELF64LE>::create(Joined));
  auto Segments = cantFail(File.program_headers());
  for (const CubinSection &S : Elf.Sections) {
    const object::ELF64LE::Shdr &H = *S.Header;
    if (!(H.sh_flags & ELF::SHF_ALLOC) || S.Bytes.empty())
      continue;
    size_t Covering = count_if(Segments, [&](const object::ELF64LE::Phdr &P) {
      return P.p_offset <= H.sh_offset && H.sh_offset + H.sh_size <= P.p_offset + P.p_filesz &&
             bool(P.p_flags & ELF::PF_X) == bool(H.sh_flags & ELF::SHF_EXECINSTR) &&
             bool(P.p_flags & ELF::PF_W) == bool(H.sh_flags & ELF::SHF_WRITE);
    });
    EXPECT_EQ(Covering, 1u) << S.Name.str();
  }
}

TEST(JoinKernels, unfitImage_failsWithItsReason) {
  const std::string Ninety = recordedCubin("sm_90"), Older = recordedCubin("sm_75"),
                    Newer = recordedCubin("sm_100"), Relocatable = recordedCubin("rdc.sm_80"),
                    Linked = recordedCubin("linked.sm_80");
  EXPECT_EQ(reasonOf(joinKernels(Ninety, {{Older, "init", "a"}})), "other-module");
  for (const std::string *Base : {&Older, &Newer, &Relocatable, &Linked})
    EXPECT_EQ(reasonOf(joinKernels(*Base, {{*Base, "init", "a"}})), "elf-layout");
  EXPECT_EQ(reasonOf(joinKernels(Ninety, {{Ninety, "absent", "a"}})),
            "cubin: no kernel named absent");
  EXPECT_EQ(reasonOf(joinKernels(Ninety, {{Ninety, "init", "init"}})),
            "cubin: two kernels are named init");
  EXPECT_EQ(reasonOf(joinKernels(Ninety, {{Ninety, "init", "a"}, {Ninety, "_Z2avPf", "a"}})),
            "cubin: two kernels are named a");
}

TEST(JoinKernels, whatKernelsNeedOfTheHardware_isNotMoreThanTheImageSays) {
  const std::string Less = recordedCubin("sm_90");
  std::string More = Less;
  const size_t Record = More.find(std::string("\x02\x02\x01\x00\x02\x05", 6));
  ASSERT_NE(Record, std::string::npos) << "the second record of `.nv.compat`";
  More[Record + 2] = 2; // As with instructions of textures.
  EXPECT_EQ(reasonOf(joinKernels(More, {{Less, "init", "a"}})), "");
  EXPECT_EQ(reasonOf(joinKernels(Less, {{More, "init", "a"}})), "other-module");
}

TEST(JoinKernels, damagedImage_failsOrSucceedsWithoutReadingBeyondIt) {
  const std::string Whole = recordedCubin("sm_90");
  std::mt19937 Random(1);
  for (int I = 0; I < 2000; ++I) {
    std::string Damaged = Whole;
    for (int N = 0; N < 3; ++N)
      Damaged[Random() % Damaged.size()] = char(Random());
    for (bool IsBase : {true, false})
      if (auto Made = joinKernels(IsBase ? Damaged : Whole,
                                  {{IsBase ? Whole : Damaged, "_Z5bulkyPdi", "a"}});
          !Made)
        consumeError(Made.takeError());
  }
}
