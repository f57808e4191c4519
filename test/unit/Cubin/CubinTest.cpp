#include "unit/Ptx/PtxTesting.h"

#include "Cubin/AllottedRegisters.h"
#include "Cubin/Cubin.h"
#include "Cubin/CubinElf.h"
#include "Cubin/CubinInfo.h"
#include "Cubin/ExchangeNames.h"

#include <memory>
#include <random>

using namespace carve;
using namespace llvm;
using Pairs = std::vector<std::pair<std::string, std::string>>;

static Cubin parsedCubin(StringRef Bytes) {
  auto C = parseCubin(Bytes);
  if (!C) {
    ADD_FAILURE() << toString(C.takeError());
    return Cubin();
  }
  return *C;
}

static CubinKernel kernel(const Cubin &C, StringRef Name) {
  for (const CubinKernel &K : C.Kernels)
    if (K.Resources.Name == Name)
      return K;
  ADD_FAILURE() << "no " << Name.str();
  return CubinKernel();
}

struct Expectation {
  const char *Arch;
  unsigned Sm, BulkyRegs, RecursiveRegs;
  bool StackUnknown; // Only the linker reports this.
};

class RecordedCubin : public testing::TestWithParam<Expectation> {};

TEST_P(RecordedCubin, parsed_hasWhatPtxasReported) {
  Cubin C = parsedCubin(recordedCubin(GetParam().Arch));
  EXPECT_EQ(C.SmVersion, GetParam().Sm);
  EXPECT_EQ(C.Relocatable, StringRef(GetParam().Arch).starts_with("rdc"));
  ASSERT_EQ(C.Kernels.size(), 5u);
  EXPECT_EQ(kernel(C, "_Z5bulkyPdi").Resources.RegsPerThread, GetParam().BulkyRegs);
  const KernelResources Recursive = kernel(C, "_Z9recursivePi").Resources;
  EXPECT_EQ(Recursive.RegsPerThread, GetParam().RecursiveRegs);
  EXPECT_EQ(Recursive.StackUnknown, GetParam().StackUnknown);
  const KernelResources Av = kernel(C, "_Z2avPf").Resources;
  EXPECT_EQ(Av.StaticSmemBytes, 512u);
  EXPECT_EQ(Av.Barriers, 1u);
  EXPECT_EQ(kernel(C, "init").Resources.StaticSmemBytes, 0u);
  EXPECT_EQ(kernel(C, "init").Resources.Barriers, 0u);
}

TEST_P(RecordedCubin, exchangeKernelNames_exchangesTheKernels) {
  std::string Bytes = recordedCubin(GetParam().Arch);
  Cubin Before = parsedCubin(Bytes);
  // The kernels differ in sections (shared memory, callees), and one name ends in the other.
  Pairs Swap = {{"_Z2avPf", "x_Z2avPf"}, {"init", "_Z5bulkyPdi"}};
  std::string Exchanged = cantFail(exchangeKernelNames(Bytes, Swap));
  Cubin After = parsedCubin(Exchanged);
  for (auto [First, Second] : Swap) {
    EXPECT_EQ(kernel(After, First).CodeDigest, kernel(Before, Second).CodeDigest);
    EXPECT_EQ(kernel(After, Second).CodeDigest, kernel(Before, First).CodeDigest);
    EXPECT_EQ(kernel(After, First).Resources.RegsPerThread,
              kernel(Before, Second).Resources.RegsPerThread);
    EXPECT_EQ(kernel(After, First).CodeBytes, kernel(Before, Second).CodeBytes);
  }
  EXPECT_EQ(kernel(After, "x_Z2avPf").Resources.StaticSmemBytes, 512u);
  EXPECT_EQ(kernel(After, "_Z9recursivePi").CodeDigest,
            kernel(Before, "_Z9recursivePi").CodeDigest);
  Cubin Back = parsedCubin(cantFail(exchangeKernelNames(Exchanged, Swap)));
  for (const CubinKernel &K : Before.Kernels)
    EXPECT_EQ(kernel(Back, K.Resources.Name).CodeDigest, K.CodeDigest);
}

TEST_P(RecordedCubin, exchangeKernelNames_renamesAllSectionsOfTheKernelsAndNoOthers) {
  std::string Bytes = recordedCubin(GetParam().Arch);
  std::string Exchanged = cantFail(exchangeKernelNames(Bytes, {{"init", "_Z2avPf"}}));
  CubinElf Before = cantFail(CubinElf::parse(Bytes));
  CubinElf After = cantFail(CubinElf::parse(Exchanged));
  ASSERT_EQ(Before.Sections.size(), After.Sections.size());
  for (size_t I = 0; I < Before.Sections.size(); ++I) {
    StringRef Old = Before.Sections[I].Kernel;
    StringRef New = Old == "init" ? "_Z2avPf" : Old == "_Z2avPf" ? "init" : Old;
    EXPECT_EQ(After.Sections[I].Kernel, New);
    EXPECT_EQ(After.Sections[I].prefix(), Before.Sections[I].prefix());
  }
  EXPECT_NE(After.section(".nv.shared.init"), nullptr);
  for (size_t I = 0; I < Before.Symbols.size(); ++I)
    EXPECT_EQ(kernelOfSection(After.Symbols[I].Name) == "init",
              kernelOfSection(Before.Symbols[I].Name) == "_Z2avPf");
}

TEST_P(RecordedCubin, truncated_fails) {
  std::string Bytes = recordedCubin(GetParam().Arch);
  for (size_t Size = 0; Size < Bytes.size(); Size += 64) {
    // Each copy is an allocation of its own, so that the sanitizer sees a read after its end.
    auto Copy = std::make_unique<char[]>(Size);
    std::copy_n(Bytes.data(), Size, Copy.get());
    EXPECT_NE(messageOf(parseCubin(StringRef(Copy.get(), Size))), "") << Size;
  }
}

TEST_P(RecordedCubin, damaged_neverCrashes) {
  std::string Bytes = recordedCubin(GetParam().Arch);
  std::mt19937 Random(1);
  for (unsigned Round = 0; Round < 300; ++Round) {
    std::string Damaged = Bytes;
    for (unsigned I = 0; I < 1 + Round % 16; ++I)
      // Most damage hits the headers at the end, which hold the structure.
      Damaged[Round % 2 ? Damaged.size() - 1 - Random() % 4000 : Random() % Damaged.size()] =
          static_cast<char>(Random());
    consumeError(parseCubin(Damaged).takeError());
    consumeError(exchangeKernelNames(Damaged, {{"init", "_Z2avPf"}}).takeError());
  }
}

INSTANTIATE_TEST_SUITE_P(, RecordedCubin,
                         testing::Values(Expectation{"sm_75", 75, 56, 27, false},
                                         Expectation{"sm_90", 90, 56, 27, false},
                                         Expectation{"sm_100", 100, 54, 26, false},
                                         Expectation{"rdc.sm_80", 80, 55, 24, false},
                                         Expectation{"linked.sm_80", 80, 55, 24, true}),
                         [](const auto &Info) {
                           std::string Name = Info.param.Arch;
                           std::replace(Name.begin(), Name.end(), '.', '_');
                           return Name;
                         });

TEST(Cubin, parseCubin_garbageOrOtherMachine_fails) {
  for (StringRef Bad : {"", "\x7f",
                        "\x7f"
                        "ELF",
                        "not a cubin",
                        "\x7f"
                        "ELF\x02\x01\x01"})
    EXPECT_NE(messageOf(parseCubin(Bad)), "");
  std::string OtherMachine = recordedCubin("sm_90");
  OtherMachine[18] = 62; // x86-64
  EXPECT_EQ(messageOf(parseCubin(OtherMachine)),
            "cubin: machine 62, expected 190, 64 bits, little-endian");
}

TEST(Cubin, exchangeKernelNames_unknownKernel_isNamed) {
  std::string Bytes = recordedCubin("sm_90");
  EXPECT_EQ(messageOf(exchangeKernelNames(Bytes, {{"init", "nosuch"}})),
            "cubin: no kernel named nosuch");
  EXPECT_EQ(messageOf(exchangeKernelNames(Bytes, {{"_Z6scaledfi", "init"}})),
            "cubin: no kernel named _Z6scaledfi");
  EXPECT_NE(messageOf(exchangeKernelNames(Bytes, {{"init", "_Z2avPf"}, {"init", "x_Z2avPf"}})), "");
  EXPECT_EQ(cantFail(exchangeKernelNames(Bytes, {})), Bytes);
  EXPECT_EQ(cantFail(exchangeKernelNames(Bytes, {{"init", "init"}})), Bytes);
}

TEST(Cubin, kernelOfSection_knownKindsOnly_nameTheKernel) {
  EXPECT_EQ(kernelOfSection(".text.k"), "k");
  EXPECT_EQ(kernelOfSection(".nv.constant2.k"), "k");
  EXPECT_EQ(kernelOfSection(".rela.nv.constant2.k"), "k");
  EXPECT_EQ(kernelOfSection(".nv.merc.rela.text.k"), "k");
  EXPECT_EQ(kernelOfSection(".nv.capmerc.text.k"), "k");
  for (StringRef Module : {".nv.global.init", ".nv.constant3", ".rela.nv.constant4", ".nv.info",
                           ".nv.shared.reserved.0", ".text.", "", "text.k"})
    EXPECT_EQ(kernelOfSection(Module), "") << Module.str();
}

TEST(CubinInfo, forEachInfo_truncatedPayload_stops) {
  unsigned Count = 0;
  // There is a value of 16 bits, followed by 4 bytes of a payload of 8.
  StringRef Bytes("\x03\x1b\xff\x00\x04\x2f\x08\x00\x01\x00\x00\x00", 12);
  forEachInfo(Bytes, [&](const CubinInfo &Info) {
    ++Count;
    EXPECT_EQ(Info.Attribute, 0x1b);
    EXPECT_EQ(Info.Value, 255u);
  });
  EXPECT_EQ(Count, 1u);
}

TEST_P(RecordedCubin, withRegistersAllotted_moreRegisters_codeStays) {
  std::string Bytes = recordedCubin(GetParam().Arch);
  Cubin Before = parsedCubin(Bytes);
  unsigned Own = kernel(Before, "_Z5bulkyPdi").Resources.RegsPerThread;
  auto More = withRegistersAllotted(Bytes, {{"init", 77}, {"_Z5bulkyPdi", Own - 1}});
  ASSERT_TRUE(bool(More)) << toString(More.takeError());
  EXPECT_EQ(More->size(), Bytes.size());
  Cubin After = parsedCubin(*More);
  EXPECT_EQ(kernel(After, "init").Resources.RegsPerThread, 77u);
  for (const CubinKernel &K : Before.Kernels) {
    CubinKernel Same = kernel(After, K.Resources.Name);
    EXPECT_EQ(Same.CodeDigest, K.CodeDigest);
    if (K.Resources.Name != "init") {
      EXPECT_EQ(Same.Resources.RegsPerThread, K.Resources.RegsPerThread) << "never fewer";
    }
  }
  auto Elf = CubinElf::parse(*More);
  ASSERT_TRUE(bool(Elf));
  if (GetParam().Sm < 90) {
    EXPECT_EQ(Elf->section(".text.init")->Header->sh_info >> 24, 77u);
  }
  EXPECT_EQ(messageOf(withRegistersAllotted(Bytes, {{"none", 5}})),
            "cubin: no register count for kernel none");
}
