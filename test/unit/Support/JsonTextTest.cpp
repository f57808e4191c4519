#include "Support/JsonText.h"

#include <gtest/gtest.h>

using namespace carve;

namespace {

std::string nested(unsigned Depth, const std::string &Open, const std::string &Close) {
  std::string Text;
  for (unsigned I = 0; I < Depth; ++I)
    Text += Open;
  Text += "1";
  for (unsigned I = 0; I < Depth; ++I)
    Text += Close;
  return Text;
}

std::string failure(llvm::StringRef Text) {
  llvm::Expected<llvm::json::Value> V = parseJsonText(Text);
  return V ? "" : llvm::toString(V.takeError());
}

} // namespace

TEST(JsonText, deepNesting_parsed_isRefused) {
  EXPECT_EQ(failure(nested(MostJsonDepth, "[", "]")), "");
  EXPECT_EQ(failure(nested(MostJsonDepth + 1, "[", "]")), "JSON nested 65 deep, expected up to 64");
  EXPECT_EQ(failure(nested(300000, "[", "")), "JSON nested 300000 deep, expected up to 64");
  EXPECT_EQ(failure(nested(40000, "{\"a\":[", "")), "JSON nested 80000 deep, expected up to 64");
}

TEST(JsonText, bracketsInStrings_parsed_areText) {
  std::string Brackets(1000, '[');
  llvm::Expected<llvm::json::Value> V = parseJsonText("[\"\\\"" + Brackets + "\", \"\\\\\"]");
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  EXPECT_EQ((*V->getAsArray())[0].getAsString(), "\"" + Brackets);
}

TEST(JsonText, invalidJson_parsed_parsersErrorIsReturned) {
  EXPECT_NE(failure("{\"a\": }").find("Invalid JSON value"), std::string::npos);
  EXPECT_NE(failure("]]][").find("Invalid JSON value"), std::string::npos);
}
