#include "Nvcc/OptionTable.h"

#include "NvccTesting.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace carve;

namespace {

struct HelpLine {
  std::string Long, Placeholder, Short;
};

/// Reads the options of a list like that of `nvcc --help`: `--std {c++03|...}   (-std)`.
std::vector<HelpLine> helpLines(const std::string &Name) {
  std::string Text = recorded(Name);
  std::vector<HelpLine> Lines;
  llvm::SmallVector<llvm::StringRef> Rows;
  llvm::StringRef(Text).split(Rows, '\n', -1, false);
  for (llvm::StringRef Row : Rows) {
    HelpLine H;
    auto [Long, Rest] = Row.split(' ');
    // If the long and the short spelling are equal, the list shows only one, without parentheses.
    auto [Placeholder, Short] = Rest.contains("(-") ? Rest.split("(-") : Rest.rsplit(" -");
    H.Long = Long.str();
    H.Placeholder = Placeholder.trim().str();
    H.Short = Short.empty() ? "" : "-" + Short.rtrim(")").str();
    Lines.push_back(H);
  }
  return Lines;
}

std::string placeholderArity(const HelpLine &H) {
  // The help text does not say that these take a value.
  if (H.Long == "--dependency-output" || H.Long == "--qpp-config")
    return "value";
  if (H.Placeholder.empty())
    return "flag";
  return llvm::StringRef(H.Placeholder).ends_with(",...") ? "list" : "value";
}

std::string arityName(Arity A) {
  switch (A) {
  case Arity::Flag:
    return "flag";
  case Arity::List:
    return "list";
  case Arity::Value:
  case Arity::Optional:
    return "value";
  }
  return "";
}

TEST(OptionTable, table_longSpellings_areSortedAndUnique) {
  llvm::ArrayRef<OptionInfo> Table = optionTable();
  for (size_t I = 1; I < Table.size(); ++I)
    EXPECT_LT(Table[I - 1].Long, Table[I].Long);
  llvm::StringSet<> Shorts;
  for (const OptionInfo &O : Table)
    EXPECT_TRUE(O.Short.empty() || Shorts.insert(O.Short).second) << O.Short.str();
}

TEST(OptionTable, helpText_everyOption_isInTheTable) {
  std::vector<HelpLine> Lines = helpLines("help-options-13.0.88.txt");
  EXPECT_EQ(Lines.size(), 143u);
  for (const HelpLine &H : Lines) {
    const OptionInfo *Option = findOption(H.Long);
    ASSERT_NE(Option, nullptr) << H.Long;
    EXPECT_EQ(Option->Long, H.Long);
    EXPECT_EQ(Option->Short, H.Short);
    EXPECT_EQ(findOption(H.Short), Option) << H.Short;
    EXPECT_EQ(arityName(Option->Values), placeholderArity(H)) << H.Long;
  }
}

TEST(OptionTable, table_everyOption_isInHelpTextOrUndocumentedList) {
  llvm::StringSet<> Known;
  for (const char *Name : {"help-options-13.0.88.txt", "undocumented-options-13.0.88.txt"})
    for (const HelpLine &H : helpLines(Name))
      Known.insert(H.Long);
  EXPECT_EQ(Known.size(), optionTable().size());
  for (const OptionInfo &O : optionTable())
    EXPECT_TRUE(Known.contains(O.Long)) << O.Long.str();
}

TEST(OptionTable, tooHardOptions_inTheTable_haveAReason) {
  for (const OptionInfo &O : optionTable()) {
    bool IsTarget = O.Short == "-c" || O.Short == "-dc" || O.Short == "-dw" || O.Short == "-link" ||
                    O.Short == "-shared";
    bool NeedsReason = (O.Kind == Effect::TooHard || O.Kind == Effect::Phase) && !IsTarget;
    EXPECT_EQ(!O.Reason.empty(), NeedsReason) << O.Long.str();
  }
}

struct Spelling {
  const char *Argument, *Long;
  std::optional<llvm::StringRef> Value;
};

TEST(OptionTable, value_everySpelling_isRead) {
  const Spelling Spellings[] = {
      {"--maxrregcount=32", "--maxrregcount", "32"},
      {"-maxrregcount", "--maxrregcount", std::nullopt},
      {"-maxrregcount=", "--maxrregcount", ""},
      {"-gencode=arch=compute_90,code=sm_90", "--generate-code", "arch=compute_90,code=sm_90"},
      {"-O3", "--optimize", "3"},
      {"-O=3", "--optimize", "3"},
      {"-DX=1", "--define-macro", "X=1"},
      {"-D=X", "--define-macro", "X"},
      {"-Iinclude", "--include-path", "include"},
      {"-isystem", "--system-include", std::nullopt},
      {"-lineinfo", "--generate-line-info", std::nullopt},
      {"-lib", "--lib", std::nullopt},
      {"-libfoo", "--library", "ibfoo"},
      {"-t4", "--threads", "4"},
      {"-time", "--time", std::nullopt},
      {"-m64", "--m64", std::nullopt},
      {"-rdc=true", "--relocatable-device-code", "true"},
      {"-Xptxas=-v,-O3", "--ptxas-options", "-v,-O3"},
  };
  for (const Spelling &S : Spellings) {
    const OptionInfo *Option = findOption(S.Argument);
    ASSERT_NE(Option, nullptr) << S.Argument;
    EXPECT_EQ(Option->Long, S.Long);
    EXPECT_EQ(attachedValue(*Option, S.Argument), S.Value) << S.Argument;
  }
}

TEST(OptionTable, spelling_refusedByNvcc_isNotFound) {
  for (const char *Argument : {"-Wall",
                               "-fPIC",
                               "-ofoo",
                               "-Ofast",
                               "-tfast",
                               "--arch=sm_90",
                               "-gpu-architecture=sm_90",
                               "--O3",
                               "--DX",
                               "-xcu",
                               "-archsm_90",
                               "-c=true",
                               "--verbose=1",
                               "--",
                               "-",
                               "",
                               "=",
                               "-=x",
                               "k.cu",
                               "-maxrregcount32",
                               "-std17"})
    EXPECT_EQ(findOption(Argument), nullptr) << Argument;
}

} // namespace
