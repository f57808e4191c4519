// The documentation has every record of the protocol with its fields, and no others.
#include "Protocol/RecordTable.h"

#include "Protocol/RecordReader.h"
#include "Protocol/RecordWriter.h"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

using namespace carve;

namespace {

/// What the documentation says of one record: how many times it may be in a file, and its fields,
/// separated by commas.
struct Row {
  std::string Times, Fields;
  auto operator<=>(const Row &) const = default;
};
/// The rows by `<word of the file>/<word of the record>`.
using Table = std::map<std::string, Row>;

std::string joined(const std::vector<std::string> &Fields) {
  std::string Text;
  for (const std::string &Field : Fields)
    Text += (Text.empty() ? "" : ", ") + Field;
  return Text;
}

template <class T> std::string keyOf(const T &) {
  return std::string(T::Kind.File.Head) + "/" + std::string(T::Kind.Word);
}

Table definedRecords() {
  Table Records;
  AllRecords::each([&](const auto &R) {
    Row Its{R.Kind.Times == Often::Once ? "once" : "many", joined(fieldNames(R))};
    EXPECT_TRUE(Records.emplace(keyOf(R), Its).second) << keyOf(R) << " is there twice";
  });
  return Records;
}

/// Returns the cells of a row of a table, without the spaces and the backquotes around them.
std::vector<std::string> cellsOf(const std::string &Line) {
  std::vector<std::string> Cells;
  std::istringstream In(Line.substr(1));
  for (std::string Cell; std::getline(In, Cell, '|');) {
    size_t Begin = Cell.find_first_not_of(" `"), End = Cell.find_last_not_of(" `");
    Cells.push_back(Begin == Cell.npos ? "" : Cell.substr(Begin, End - Begin + 1));
  }
  return Cells;
}

/// Reads the tables of formats.md whose header has the word of a file, `times`, `fields` and
/// `meaning`.
Table documentedRecords() {
  Table Records;
  std::ifstream In(CARVE_SOURCE_DIR "/share/doc/formats.md");
  std::string File;
  for (std::string Line; std::getline(In, Line);) {
    if (Line.empty() || Line.front() != '|') {
      File.clear();
      continue;
    }
    std::vector<std::string> Cells = cellsOf(Line);
    if (Cells.size() == 4 && Cells[1] == "times")
      File = Cells[0];
    else if (!File.empty() && Line.substr(0, 4) != "|---") {
      EXPECT_EQ(Cells.size(), 4u) << Line;
      Cells.resize(4);
      EXPECT_TRUE(Records.emplace(File + "/" + Cells[0], Row{Cells[1], Cells[2]}).second) << Line;
      EXPECT_FALSE(Cells[3].empty()) << Line;
    }
  }
  return Records;
}

} // namespace

TEST(RecordTable, everyRecord_isDocumentedWithItsFieldsAndNoOthers) {
  Table Defined = definedRecords(), Documented = documentedRecords();
  EXPECT_GT(Defined.size(), 40u);
  for (const auto &[Key, Its] : Defined) {
    auto Found = Documented.find(Key);
    ASSERT_NE(Found, Documented.end()) << "formats.md lacks " << Key;
    EXPECT_EQ(Found->second.Fields, Its.Fields) << Key;
    EXPECT_EQ(Found->second.Times, Its.Times) << Key;
  }
  for (const auto &[Key, Its] : Documented)
    EXPECT_TRUE(Defined.count(Key)) << "formats.md has " << Key << ", which is no record";
}

TEST(RecordTable, fieldsOfARecord_haveDistinctNames) {
  AllRecords::each([](const auto &R) {
    std::vector<std::string> Names = fieldNames(R);
    EXPECT_EQ(std::set<std::string>(Names.begin(), Names.end()).size(), Names.size()) << keyOf(R);
  });
}

/// An empty record has no names, so it is not read. All other text is read as it was written.
TEST(RecordTable, everyRecordWrittenAndRead_isTheSameLine) {
  AllRecords::each([](const auto &R) {
    using Record = std::decay_t<decltype(R)>;
    std::string Line = recordLine(R);
    ASSERT_EQ(Line.back(), '\n');
    Line.pop_back();
    RecordReader In(Line);
    EXPECT_EQ(In.kind(), Record::Kind.Word);
    Record Again = readRecord<Record>(In);
    if (In.bad())
      EXPECT_NE(In.bad()->find("is '', expected a name"), std::string::npos) << *In.bad();
    else
      EXPECT_EQ(recordLine(Again), Line + "\n");
    // One more field is too many, unless the record takes all fields that there are.
    std::string More = Line + "\tmore";
    RecordReader Longer(More);
    (void)readRecord<Record>(Longer);
    EXPECT_EQ(Longer.bad().has_value(), !(std::is_same_v<Record, RawAfter>)) << More;
  });
}
