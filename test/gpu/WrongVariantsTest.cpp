// A replay finds variants that compute something else, and does not blame right ones. The test uses
// the probe directly: the program has the clones in its own module, and the plan is written here.
#include "GpuTesting.h"

#include "Protocol/Protocol.h"
#include "Protocol/ProtocolKind.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;
using namespace carve::test;

namespace {

const char *const Families[] = {"update", "sum", "append"};
const char *const Variants[] = {"control", "right", "wrong", "stray"};

class WrongVariants : public GpuTest {};

std::string planText() {
  std::string Text = headOf(PlanFile) + "\nseed\t3\nreplay-ms\t60000\nhang-ms\t10000\n";
  for (std::string Family : Families) {
    Text += "kernel\t" + Family + "Kernel\treplay\tnone";
    for (std::string Variant : Variants)
      Text += "\nvariant\t" + Family + "Kernel\t" + Variant + "\t" + Family + "Kernel__" + Variant +
              "\t0";
    // The program launches the kernel like this: 2^18 threads in blocks of 256, 20 times.
    Text += "\nshape\t" + Family + "Kernel\t1024,1,1\t256,1,1\t0\t1,1,1\t20\t100000\n";
  }
  return Text;
}

/// Returns the lines of all record files in \p Dir without their newlines.
Words recordLines(const std::string &Dir) {
  Words Lines;
  std::error_code Failed;
  for (llvm::sys::fs::directory_iterator I(Dir, Failed), E; I != E && !Failed;
       I.increment(Failed)) {
    if (!llvm::StringRef(I->path()).ends_with(probe::FileSuffix))
      continue;
    std::string Text = valueOf(readFile(I->path()));
    for (llvm::StringRef Line : llvm::split(Text, '\n'))
      Lines.push_back(Line.str());
  }
  return Lines;
}

/// Returns every verdict on each variant of each kernel, by `<kernel> <variant>`.
std::map<std::string, std::set<std::string>> verdicts(const Words &Lines) {
  std::map<std::string, std::set<std::string>> Found;
  for (const std::string &Line : Lines) {
    llvm::SmallVector<llvm::StringRef> Fields;
    llvm::StringRef(Line).split(Fields, '\t');
    // Fields: verified, kernel, four fields of the shape, launch, variant, verdict.
    if (Fields.size() >= 9 && Fields[0] == "verified")
      Found[(Fields[1] + " " + Fields[7]).str()].insert(Fields[8].str());
  }
  return Found;
}

} // namespace

TEST_F(WrongVariants, wrongVariants_areCaughtAndRightOnesAreNot) {
  std::string App = program("wrong_variants"), Dir = workDir() + "/wrong-records";
  ASSERT_FALSE(llvm::sys::fs::create_directories(Dir));
  ASSERT_FALSE(writeFileAtomically(Dir + "/plan", planText()));
  ASSERT_FALSE(writeFileAtomically(Dir + "/images", ""));
  CommandResult Plain = run({App});
  ASSERT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  auto Set = [](const char *Name, const std::string &Value) {
    return std::string(Name) + "=" + Value;
  };
  CommandResult Timed =
      run({App}, {Set(probe::DirVariable, Dir), Set(probe::PlanVariable, Dir + "/plan"),
                  Set(probe::ImagesVariable, Dir + "/images"),
                  Set(probe::CuptiVariable, machine().Probe.Cupti),
                  Set(probe::InjectionVariable, machine().Probe.Library)});
  EXPECT_EQ(Timed.ExitStatus, 0) << Timed.Stderr;
  EXPECT_EQ(Timed.Stdout, Plain.Stdout);
  Words Lines = recordLines(Dir);
  const std::string Log = llvm::join(Lines, "\n");
  EXPECT_NE(Log.find("\nend\n"), std::string::npos) << Log;
  auto Found = verdicts(Lines);
  for (std::string Family : Families) {
    SCOPED_TRACE(Family);
    std::string Kernel = Family + "Kernel ";
    for (const char *Right : {"control", "right"}) {
      EXPECT_FALSE(Found[Kernel + Right].empty()) << Log;
      for (const std::string &Verdict : Found[Kernel + Right])
        EXPECT_TRUE(Verdict == "equal" || (Family != "update" && Verdict == "within-spread"))
            << Right << " is " << Verdict << Log;
    }
    EXPECT_EQ(Found[Kernel + "wrong"], std::set<std::string>{"differs"}) << Log;
    EXPECT_EQ(Found[Kernel + "stray"], std::set<std::string>{"stray"}) << Log;
  }
}
