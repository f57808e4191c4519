#include "Support/JsonRecord.h"

#include "Support/NewerFormat.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

struct Wheel {
  unsigned Spokes = 0;
  std::optional<double> Pressure;
};
template <class Fields> void describe(Fields &F, Wheel &W) {
  F("spokes", W.Spokes);
  F("pressure", W.Pressure);
  F.require([&] { return W.Spokes != 13; }, "expected another number than 13");
}

struct Cart {
  std::string Name, Note, Shown;
  bool Sold = false;
  uint64_t Number = 0;
  std::array<unsigned, 3> Size = {};
  std::vector<Wheel> Wheels;
  std::map<std::string, uint64_t> Prices;
  std::vector<std::string> Words;
};
template <class Fields> void describe(Fields &F, Cart &C) {
  F("name", C.Name);
  F.ifSet("note", C.Note);
  F("shown", Readable{C.Shown});
  F("sold", C.Sold);
  F("number", C.Number);
  F("size", C.Size);
  F("wheels", C.Wheels);
  F("prices", C.Prices);
  F("words", C.Words);
  F.refuse(
      "words",
      [&]() -> std::optional<size_t> {
        for (size_t I = 0; I < C.Words.size(); ++I)
          if (C.Words[I] == "rm")
            return I;
        return std::nullopt;
      },
      "expected a harmless word");
}

constexpr RecordKind CartRecord = {"cart", "carve-cart", 3};

Cart sampleCart() {
  return {"caf\xe9",           "",           "caf\xe9", true, UINT64_MAX, {1, 2, 3},
          {{8, 2.5}, {9, {}}}, {{"eur", 7}}, {"a", "b"}};
}

std::string cartFailure(llvm::StringRef Text) {
  llvm::Expected<Cart> C = parseRecord<Cart>(Text, "c.json", CartRecord);
  return C ? "" : llvm::toString(C.takeError());
}

/// The sample's text with \p To in the place of \p From.
std::string changed(const std::string &From, const std::string &To) {
  std::string Text = printRecord(sampleCart(), CartRecord);
  size_t At = Text.find(From);
  EXPECT_NE(At, std::string::npos) << From << " in " << Text;
  return Text.replace(At, From.size(), To);
}

} // namespace

TEST(JsonRecord, record_writtenAndRead_isTheSame) {
  Cart Before = sampleCart();
  std::string Text = printRecord(Before, CartRecord);
  llvm::Expected<Cart> After = parseRecord<Cart>(Text, "c.json", CartRecord);
  ASSERT_TRUE(bool(After)) << llvm::toString(After.takeError());
  EXPECT_EQ(After->Name, Before.Name) << "bytes that are no UTF-8 survive";
  EXPECT_NE(After->Shown, Before.Shown) << "but not in text for people";
  EXPECT_EQ(After->Number, UINT64_MAX);
  EXPECT_EQ(After->Size, Before.Size);
  ASSERT_EQ(After->Wheels.size(), 2u);
  EXPECT_EQ(After->Wheels[0].Pressure, 2.5);
  EXPECT_FALSE(After->Wheels[1].Pressure);
  EXPECT_EQ(After->Prices, Before.Prices);
  EXPECT_EQ(printRecord(*After, CartRecord).find("note"), std::string::npos);
}

TEST(JsonRecord, wrongMember_isNamedWithWhatWasExpected) {
  EXPECT_EQ(cartFailure(changed("\"sold\": true", "\"sold\": 1")),
            "c.json: expected boolean at cart.sold");
  EXPECT_EQ(cartFailure(changed("\"spokes\": 9", "\"spokes\": -9")),
            "c.json: expected integer in 0..4294967295 at cart.wheels[1].spokes");
  EXPECT_EQ(cartFailure(changed("\"spokes\": 9", "\"spokes\": 13")),
            "c.json: expected another number than 13 at cart.wheels[1]");
  EXPECT_EQ(cartFailure(changed("\"prices\"", "\"price\"")),
            "c.json: missing value at cart.prices");
  EXPECT_EQ(cartFailure(changed("\"b\"", "\"rm\"")),
            "c.json: expected a harmless word at cart.words[1]");
  EXPECT_EQ(cartFailure(changed("\"a\"", "\"a\\u0000\"")),
            "c.json: expected string without a null character at cart.words[0]");
}

TEST(JsonRecord, otherText_isRefused) {
  EXPECT_EQ(cartFailure("[]"),
            "c.json: not a cart record: expected an object with 'carve-cart': 3");
  EXPECT_TRUE(llvm::StringRef(cartFailure("{")).starts_with("c.json: not JSON: "));
  llvm::Error E = parseRecord<Cart>("{\"carve-cart\": 4}", "c.json", CartRecord).takeError();
  EXPECT_TRUE(E.isA<NewerFormat>());
  EXPECT_EQ(llvm::toString(std::move(E)), "c.json: cart record of format 4, expected 3");
}
