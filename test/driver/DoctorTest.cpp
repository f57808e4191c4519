// `carve doctor` on a machine whose nvcc is a script: what is there, and what is taken away.
#include "DriverTier.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <algorithm>

using namespace carve;
namespace fs = std::filesystem;

namespace {

class DoctorTest : public DriverTierTest {
protected:
  /// The line of the text on \p Subject; empty if there is none.
  static std::string lineOn(const std::string &Text, const std::string &Subject) {
    for (llvm::StringRef Line : llvm::split(llvm::StringRef(Text), '\n'))
      if (Line.size() > 6 && Line.drop_front(6).starts_with(Subject + ": "))
        return Line.str();
    return "";
  }
  void expectLine(const Ended &E, const std::string &Subject, const std::string &Beginning) {
    EXPECT_EQ(lineOn(E.Stdout, Subject).rfind(Beginning, 0), 0u) << E.Stdout << E.Stderr;
  }
};

} // namespace

TEST_F(DoctorTest, doctor_everythingThere_findsNoFault) {
  Ended E = carve({"doctor"});
  EXPECT_EQ(E.Status, 0) << E.Stdout;
  EXPECT_EQ(E.Stderr, "");
  EXPECT_EQ(E.Stdout.find("FAULT"), std::string::npos) << E.Stdout;
  expectLine(E, "nvcc", "ok    nvcc: " + path("cuda/bin/nvcc") + ", 13.0.88, a script");
  expectLine(E, "GPU", "note  GPU: ");
  expectLine(E, "probe", "ok    probe: ");
  expectLine(E, "store", "ok    store: " + path("store") + ", made by the first compile");
  expectLine(E, "carve-nvcc", "note  carve-nvcc: ");
  EXPECT_FALSE(exists("store")) << "the doctor changes nothing";
}

TEST_F(DoctorTest, doctor_withoutNvcc_isAFaultAndStatusOne) {
  Env["CARVE_NVCC"] = path("none");
  Ended E = carve({"doctor"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_EQ(E.Stderr, "");
  expectLine(E, "nvcc", "FAULT nvcc: CARVE_NVCC is '" + path("none") + "'");
}

TEST_F(DoctorTest, doctor_nvccThatFails_isAFaultOfTheHostCompiler) {
  write("cuda/bin/status", "2");
  write("cuda/bin/stderr", "error: unsupported GNU version\n");
  Ended E = carve({"doctor"});
  EXPECT_EQ(E.Status, 1);
  expectLine(E, "host compiler", "FAULT host compiler: ");
  EXPECT_NE(lineOn(E.Stdout, "host compiler").find("unsupported GNU version"), std::string::npos)
      << E.Stdout;
}

TEST_F(DoctorTest, doctor_storeThatOthersCanWrite_isAFault) {
  fs::create_directories(path("store"));
  fs::permissions(path("store"), fs::perms(0777));
  Ended E = carve({"doctor"});
  EXPECT_EQ(E.Status, 1);
  expectLine(E, "store", "FAULT store: " + path("store") + " is not used: ");
}

TEST_F(DoctorTest, doctor_variables_areJudged) {
  Env["CARVE_RUN"] = "none";
  Env["CARVE_PROFIL"] = "tuned.yaml";
  Ended E = carve({"doctor"});
  EXPECT_EQ(E.Status, 0);
  expectLine(E, "CARVE_RUN", "note  CARVE_RUN: is 'none'");
  expectLine(E, "CARVE_PROFIL", "note  CARVE_PROFIL: is 'tuned.yaml'");
  Env["CARVE_EFFORT"] = "9";
  E = carve({"doctor"});
  EXPECT_EQ(E.Status, 1);
  expectLine(E, "variables", "FAULT variables: ");
}

TEST_F(DoctorTest, doctor_installationWithoutProbe_isAFault) {
  fs::create_directories(path("tree/bin"));
  for (const char *Tool : {CARVE_TOOL, CARVE_NVCC_TOOL, CARVE_LAUNCH_TOOL})
    fs::copy_file(Tool, path("tree/bin/") + fs::path(Tool).filename().string());
  Ended E = run({path("tree/bin/carve"), "doctor"});
  EXPECT_EQ(E.Status, 1);
  expectLine(E, "probe", "FAULT probe: ");
  expectLine(E, "devices", "FAULT devices: ");
}

TEST_F(DoctorTest, doctor_asJson_hasTheSameFindings) {
  Ended Text = carve({"doctor"}), Json = carve({"doctor", "--format=json"});
  EXPECT_EQ(Json.Status, 0);
  llvm::Expected<llvm::json::Value> Value = llvm::json::parse(Json.Stdout);
  ASSERT_TRUE(bool(Value)) << Json.Stdout;
  const llvm::json::Object *O = Value->getAsObject();
  ASSERT_TRUE(O);
  EXPECT_EQ(O->getBoolean("works"), true);
  const llvm::json::Array *Findings = O->getArray("findings");
  ASSERT_TRUE(Findings);
  EXPECT_EQ(Findings->size(), size_t(std::count(Text.Stdout.begin(), Text.Stdout.end(), '\n')));
}

TEST_F(DoctorTest, doctor_wordsItDoesNotKnow_areAnError) {
  expectError({"doctor", "all"}, "carve doctor: unexpected 'all', expected only options");
}
