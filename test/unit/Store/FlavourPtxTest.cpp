#include "Store/FlavourPtx.h"
#include "Store/StoreUpkeep.h"

#include "Store/FlavourJson.h"
#include "StoreTesting.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <fstream>

using namespace carve;
namespace stdfs = std::filesystem;

namespace {

constexpr char Head[] = ".version 9.0\n.address_size 64\n";

/// Takes the place of cicc. Its PTX holds the input that it got.
class StubCicc : public CommandRunner {
public:
  llvm::Expected<CommandResult> run(const Command &C) override {
    ++Runs;
    llvm::cantFail(writeFileAtomically(*(llvm::find(C.Argv, "-o") + 1),
                                       Head + llvm::cantFail(readFile(C.Argv[1])) + C.Argv.back()));
    return CommandResult();
  }
  unsigned Runs = 0;
};

class FlavourPtxTest : public StoreTest {
protected:
  void SetUp() override {
    StoreTest::SetUp();
    Store.emplace(Root);
    // The toolkit has an existing file as cicc; the runner below takes its place.
    Tools = {Dir->path() + "/bin/nvcc", Dir->path() + "/bin"};
    stdfs::create_directory(Tools.BinDir);
    stdfs::create_symlink("/bin/true", Tools.tool("cicc"));
    U = sampleUnit();
    U.RegisterCap.reset();
    U.Directory = Dir->path();
    Kept = valueOf(Store->putBlob(std::string(Head) + "kept"));
    U.Images[0].PtxDigest = Kept;
    U.Images[0].CubinDigest = valueOf(Store->putBlob("cubin"));
    UnitFrontEnd F;
    F.PtxDigest = Kept;
    F.Step = {"/keep", "k.ii", "k.module_id", "k.ptx", {"/keep/k.ii", "-o", "/keep/k.ptx"}, {}};
    F.InputDigest = valueOf(Store->putBlob("text"));
    F.ModuleId = "id";
    U.FrontEnds = {F};
    EXPECT_EQ(messageOf(Store->putUnit(U)), "");
  }

  llvm::Expected<std::string> flavour(unsigned Cap) {
    return flavourPtx(U, Kept, {Cap}, *Store, Tools, Runner);
  }
  std::string reason(unsigned Cap) {
    std::string Reason = "none";
    llvm::handleAllErrors(
        flavour(Cap).takeError(), [&](const Unsupported &E) { Reason = E.reason(); },
        [&](const llvm::ErrorInfoBase &E) { Reason = E.message(); });
    return Reason;
  }
  std::vector<std::string> flavourFiles() const {
    std::vector<std::string> Found;
    for (const std::string &Path : files())
      if (Path.find("/flavours/") != std::string::npos)
        Found.push_back(Path);
    return Found;
  }
  std::string blobFile(const std::string &Digest) const {
    return Root + "/blobs/" + Digest.substr(0, 2) + "/" + Digest;
  }

  std::optional<UnitStore> Store;
  Unit U;
  std::string Kept;
  Toolchain Tools;
  StubCicc Runner;
};

} // namespace

TEST_F(FlavourPtxTest, flavour_askedAgain_isMadeOnce) {
  EXPECT_EQ(valueOf(flavour(40)), std::string(Head) + "text40");
  EXPECT_EQ(valueOf(flavour(48)), std::string(Head) + "text48");
  EXPECT_EQ(valueOf(flavour(40)), std::string(Head) + "text40");
  EXPECT_EQ(Runner.Runs, 2u);
  EXPECT_EQ(flavourFiles().size(), 2u);
  EXPECT_TRUE(verifyStore(*Store, false).empty());
  // Another process asks after the preprocessed text has been evicted.
  UnitStore Later(Root);
  stdfs::remove(blobFile(U.FrontEnds[0].InputDigest));
  EXPECT_EQ(valueOf(flavourPtx(U, Kept, {48}, Later, Tools, Runner)), std::string(Head) + "text48");
  EXPECT_EQ(Runner.Runs, 2u);
}

TEST_F(FlavourPtxTest, flavour_eachSetting_isOneOfItsOwn) {
  const FrontEndSetting Settings[] = {{40},
                                      {{}, FrontEndKnob::UnrollMore},
                                      {{}, FrontEndKnob::UnrollByTwo},
                                      {40, FrontEndKnob::UnrollByTwo},
                                      {{}, FrontEndKnob::NoRematerialization}};
  for (unsigned Round : {1, 2})
    for (const FrontEndSetting &S : Settings) {
      llvm::Expected<std::string> Ptx = flavourPtx(U, Kept, S, *Store, Tools, Runner);
      std::string Last = S.Cap ? "40" : ciccArguments(S.Knob).back().str();
      EXPECT_EQ(valueOf(std::move(Ptx)), std::string(Head) + "text" + Last) << Round;
    }
  EXPECT_EQ(Runner.Runs, std::size(Settings)) << "in the second round none is made";
  EXPECT_EQ(flavourFiles().size(), std::size(Settings));
}

TEST_F(FlavourPtxTest, flavour_inputChanged_isMadeAgain) {
  EXPECT_EQ(messageOf(flavour(40)), "");
  unsigned Runs = 1;
  auto IsAnother = [&](const char *What) {
    EXPECT_EQ(messageOf(flavour(40)), "") << What;
    EXPECT_EQ(Runner.Runs, ++Runs) << What;
  };
  U.FrontEnds[0].ModuleId = "other";
  IsAnother("module id");
  U.FrontEnds[0].InputDigest = valueOf(Store->putBlob("edited"));
  IsAnother("text");
  U.FrontEnds[0].Step.Arguments.push_back("-g");
  IsAnother("arguments");
  U.Directory = "/usr";
  IsAnother("directory");
  U.Directory = "/no/such/place";
  IsAnother("no directory");
  U.Directory = "/none/either";
  EXPECT_EQ(messageOf(flavour(40)), "");
  EXPECT_EQ(Runner.Runs, Runs) << "every missing directory counts the same";
}

TEST_F(FlavourPtxTest, flavour_cannotBeMade_reasonIsGiven) {
  U.RegisterCap = 64;
  EXPECT_EQ(reason(72), "above-register-cap");
  EXPECT_EQ(reason(0), "front-end-cap");
  EXPECT_EQ(reason(64), "none");
  stdfs::remove(Tools.tool("cicc"));
  EXPECT_EQ(reason(64), "none") << "known already";
  EXPECT_EQ(reason(40), "no-front-end");
  U.FrontEnds.clear();
  EXPECT_EQ(reason(64), "no-front-end");
  EXPECT_EQ(flavourFiles().size(), 1u);
}

TEST_F(FlavourPtxTest, flavour_entryDamaged_isMadeAgain) {
  EXPECT_EQ(messageOf(flavour(40)), "");
  for (const char *Text : {"", "{}", "{\"carve-flavour\": 2}",
                           "{\"carve-flavour\": 1, \"ptx\": \"0123456789abcdef0123456789abcdef\"}",
                           "{\"carve-flavour\": 1, \"ptx\": \"../../x\"}"}) {
    std::ofstream(flavourFiles().at(0)) << Text;
    EXPECT_FALSE(verifyStore(*Store, false).empty()) << Text;
    unsigned Before = Runner.Runs;
    EXPECT_EQ(valueOf(flavour(40)), std::string(Head) + "text40") << Text;
    EXPECT_EQ(Runner.Runs, Before + 1) << Text;
    EXPECT_TRUE(verifyStore(*Store, false).empty()) << Text;
  }
  std::string Digest = valueOf(parseFlavour(valueOf(readFile(flavourFiles().at(0))), "f"));
  std::ofstream(blobFile(Digest)) << "x";
  EXPECT_EQ(valueOf(flavour(40)), std::string(Head) + "text40");
  EXPECT_TRUE(verifyStore(*Store, false).empty());
}

TEST_F(FlavourPtxTest, entry_ofNewerFormat_stays) {
  EXPECT_EQ(messageOf(flavour(40)), "");
  std::ofstream(flavourFiles().at(0)) << "{\"carve-flavour\": 2}";
  EXPECT_EQ(verifyStore(*Store, true).size(), 1u);
  EXPECT_EQ(flavourFiles().size(), 1u);
}

TEST_F(FlavourPtxTest, blob_pruned_flavourAndUnitGo) {
  EXPECT_EQ(messageOf(flavour(40)), "");
  std::string Digest = valueOf(parseFlavour(valueOf(readFile(flavourFiles().at(0))), "f"));
  for (const std::string &Path : files())
    setAge(Path, 10);
  setAge(blobFile(Digest), 3000);
  EXPECT_EQ(messageOf(pruneStore(*Store, storeStats(*Store).Bytes - 1)), "");
  EXPECT_TRUE(flavourFiles().empty());
  EXPECT_EQ(Store->units().size(), 1u);
  EXPECT_TRUE(verifyStore(*Store, false).empty());

  setAge(blobFile(U.FrontEnds[0].InputDigest), 3000);
  EXPECT_EQ(messageOf(pruneStore(*Store, storeStats(*Store).Bytes - 1)), "");
  EXPECT_TRUE(Store->units().empty()) << "without its text it is not whole";
  EXPECT_TRUE(verifyStore(*Store, false).empty());
  EXPECT_EQ(messageOf(clearStore(*Store)), "");
  EXPECT_FALSE(stdfs::exists(Root));
}

TEST_F(FlavourPtxTest, flavour_used_ageIsRenewed) {
  EXPECT_EQ(messageOf(flavour(40)), "");
  std::string Digest = valueOf(parseFlavour(valueOf(readFile(flavourFiles().at(0))), "f"));
  for (const std::string &Path : files())
    setAge(Path, 3000);
  EXPECT_EQ(messageOf(flavour(40)), "");
  EXPECT_LT(ageOf(flavourFiles().at(0)), 100);
  EXPECT_LT(ageOf(blobFile(Digest)), 100);
}

TEST_F(FlavourPtxTest, store_notWritable_flavourIsMadeEachTime) {
  std::ofstream(Root + "/flavours") << ""; // No directory can be created there.
  EXPECT_EQ(valueOf(flavour(40)), std::string(Head) + "text40");
  EXPECT_EQ(valueOf(flavour(40)), std::string(Head) + "text40");
  EXPECT_EQ(Runner.Runs, 2u);
}
