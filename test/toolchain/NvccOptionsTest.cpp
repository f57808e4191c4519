#include "RealNvcc.h"

#include "Nvcc/OptionTable.h"

using namespace carve;

namespace {

class NvccOptions : public RealNvccTest {
protected:
  /// Returns what nvcc prints about the option \p Argument after a compile.
  std::string answer(const std::string &Argument) {
    CommandResult R = nvcc({"--dryrun", "-c", "main.cu", Argument});
    llvm::StringRef Rest = R.Stderr;
    std::string Said;
    while (!Rest.empty()) {
      auto [Line, Tail] = Rest.split('\n');
      Rest = Tail;
      if (!Line.starts_with("#$"))
        Said += Line.str() + "\n";
    }
    return Said;
  }
};

TEST_F(NvccOptions, optionTable_everySpelling_isKnownToNvcc) {
  llvm::Expected<std::string> Version = nvccVersion(Tools, Runner);
  ASSERT_TRUE(bool(Version));
  if (*Version != "13.0.88")
    GTEST_SKIP() << "the table is that of nvcc 13.0.88, this is " << *Version;
  for (const OptionInfo &O : optionTable())
    for (llvm::StringRef Name : {O.Long, O.Short}) {
      if (Name.empty())
        continue;
      std::string Said = answer(Name.str());
      EXPECT_EQ(Said.find("Unknown option"), std::string::npos) << Said;
      bool NeedsValue = O.Values == Arity::Value || O.Values == Arity::List;
      EXPECT_EQ(Said.find("argument expected after '" + Name.str() + "'") != std::string::npos,
                NeedsValue)
          << Name.str() << ": " << Said;
    }
}

TEST_F(NvccOptions, flag_withAValue_isRefusedByNvcc) {
  for (const OptionInfo &O : optionTable())
    if (O.Values == Arity::Flag) {
      std::string Said = answer(O.Long.str() + "=1");
      EXPECT_NE(Said.find("no argument expected"), std::string::npos) << O.Long.str() << Said;
    }
}

TEST_F(NvccOptions, toolchain_versionAndToolsAreFound) {
  llvm::Expected<std::string> Version = nvccVersion(Tools, Runner);
  ASSERT_TRUE(bool(Version));
  EXPECT_EQ(nvcc({"--version"}).Stdout.find("V" + *Version) == std::string::npos, false);
  EXPECT_EQ(Tools.Nvcc.front(), '/');
  for (const char *Tool : {"ptxas", "fatbinary", "nvlink"})
    EXPECT_TRUE(llvm::sys::fs::can_execute(Tools.tool(Tool))) << Tool;
}

} // namespace
