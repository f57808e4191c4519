// The classifier reads every option in nvcc's help text, in every spelling, as nvcc reads it.
#include "RealNvcc.h"

#include "Nvcc/ArgumentList.h"
#include "Nvcc/OptionTable.h"
#include "Support/Error.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace carve;

namespace {

/// An option as `nvcc --help` describes it in the heading `--std {c++03|...}   (-std)`.
struct HelpOption {
  std::string Long, Placeholder, Short;
};

std::vector<HelpOption> helpOptions(llvm::StringRef Text) {
  // A few have only one spelling, which is there once or twice and without parentheses.
  llvm::Regex Heading("^(--[A-Za-z][A-Za-z0-9_-]*) *([^(]*[^( ])? *\\((-[A-Za-z0-9_-]+)\\) *$");
  llvm::Regex Alike("^(--[A-Za-z][A-Za-z0-9_-]*)( [<{][^ ]*)? +(--?[A-Za-z0-9_-]+)? *$");
  llvm::SmallVector<llvm::StringRef> Lines, Match;
  Text.split(Lines, '\n');
  std::vector<HelpOption> Options;
  for (llvm::StringRef Line : Lines)
    if (Heading.match(Line, &Match) || Alike.match(Line, &Match))
      Options.push_back({Match[1].str(), Match[2].trim().str(), Match[3].str()});
  return Options;
}

class EveryOption : public RealNvccTest {
protected:
  void SetUp() override {
    RealNvccTest::SetUp();
    if (IsSkipped())
      return;
    Options = helpOptions(nvcc({"--help"}).Stdout);
    ASSERT_GE(Options.size(), 130u) << "the help text has another shape";
  }

  /// Returns nvcc's complaint about \p Words: an unknown option, or a missing or unexpected value;
  /// empty if it accepts them.
  std::string complaint(Words Given) {
    Given.insert(Given.begin(), {"--dryrun", "-c", "main.cu"});
    std::string Said = nvcc(Given).Stderr;
    for (const char *Complaint :
         {"Unknown option", "no argument expected", "argument expected after"})
      if (Said.find(Complaint) != std::string::npos)
        return Complaint;
    return "";
  }

  /// Checks that \p Given is one option with its value and nothing else. \p Value is the value that
  /// must be read.
  void expectOneOption(const HelpOption &H, const Words &Given, const std::string &Value) {
    SCOPED_TRACE(testing::PrintToString(Given));
    std::vector<Argument> Read = splitArguments(Given);
    ASSERT_EQ(Read.size(), 1u);
    EXPECT_EQ(Read[0].Is, Argument::Kind::Option);
    ASSERT_NE(Read[0].Option, nullptr);
    EXPECT_EQ(Read[0].Option->Long, H.Long);
    EXPECT_EQ(Read[0].Value, Value);
    EXPECT_EQ(joinArguments(Read), Given);
    // The classifier as a whole gives an answer or a reason that can be counted, never another
    // error.
    Words Command = Given;
    Command.insert(Command.end(), {"-c", "main.cu"});
    llvm::Expected<CommandLine> C = parseCommandLine(Command, {"", "", Work.path()});
    if (C) {
      EXPECT_EQ(C->Argv, Command);
      return;
    }
    llvm::handleAllErrors(
        C.takeError(), [](const Unsupported &U) { EXPECT_NE(U.reason(), "unknown-option"); },
        [](const llvm::ErrorInfoBase &E) { ADD_FAILURE() << E.message(); });
  }

  std::vector<HelpOption> Options;
};

/// Returns a value of the kind that the placeholder of \p H asks for: `{true|false}` gives `true`.
std::string sampleValue(const HelpOption &H) {
  llvm::StringRef Placeholder = H.Placeholder;
  if (Placeholder.consume_front("{"))
    return Placeholder.take_until([](char C) { return C == '|' || C == '}'; }).str();
  return "value";
}

} // namespace

TEST_F(EveryOption, option_inEverySpelling_isRead) {
  for (const HelpOption &H : Options) {
    const OptionInfo *O = findOption(H.Long);
    ASSERT_NE(O, nullptr) << H.Long << " is new in this nvcc";
    for (const std::string &Name : {H.Long, H.Short}) {
      if (Name.empty())
        continue;
      if (O->Values == Arity::Flag) {
        expectOneOption(H, {Name}, "");
        continue;
      }
      std::string Value = sampleValue(H);
      expectOneOption(H, {Name, Value}, Value);
      expectOneOption(H, {Name + "=" + Value}, Value);
      if (Name == H.Short && O->Joins == Join::Text)
        expectOneOption(H, {Name + Value}, Value);
      if (Name == H.Short && O->Joins == Join::Number)
        expectOneOption(H, {Name + "2"}, "2");
    }
  }
}

// nvcc itself is asked for each spelling, so that a mistake in our table cannot hide by being made
// twice.
TEST_F(EveryOption, option_takesAValueIfNvccDoes) {
  for (const HelpOption &H : Options) {
    const OptionInfo *O = findOption(H.Long);
    ASSERT_NE(O, nullptr) << H.Long;
    // These print and end, whatever else the command has.
    if (O->Reason == "information")
      continue;
    for (const std::string &Name : {H.Long, H.Short}) {
      if (Name.empty())
        continue;
      bool IsFlag = O->Values == Arity::Flag;
      EXPECT_EQ(complaint({Name + "=" + sampleValue(H)}), IsFlag ? "no argument expected" : "")
          << Name;
      if (O->Values == Arity::Optional)
        continue;
      EXPECT_EQ(complaint({Name}), IsFlag ? "" : "argument expected after") << Name;
    }
  }
}

// An input comes after the option here, so it is taken either for an input or for the option's
// value.
TEST_F(EveryOption, option_leavesTheNextWordIfNvccDoes) {
  for (const HelpOption &H : Options) {
    const OptionInfo *O = findOption(H.Long);
    ASSERT_NE(O, nullptr) << H.Long;
    std::vector<Argument> Read = splitArguments({H.Long, "next.cu"});
    ASSERT_EQ(Read.size(), O->Values == Arity::Flag ? 2u : 1u) << H.Long;
    EXPECT_EQ(Read.back().Is == Argument::Kind::Input, O->Values == Arity::Flag) << H.Long;
  }
}
