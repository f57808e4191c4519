#include "Evaluate/SweepTable.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <array>
#include <cmath>
#include <limits>

using namespace carve;

namespace {

enum Column {
  Program,
  Kernel,
  Grid,
  Block,
  StaticSmem,
  DynamicSmem,
  FrontEndCap,
  PtxasCap,
  Level,
  Dlcm,
  Regs,
  Launches,
  TotalNs,
  FirstOptional,
  SmemSpilling = FirstOptional,
  FrontEnd,
  Restrict,
  KnownPtx,
  OptimizationLevel,
  SpillBytes,
  Occupancy,
  Efficiency,
  Utilization,
  ColumnCount
};
constexpr std::array<llvm::StringLiteral, ColumnCount> ColumnNames{"program",
                                                                   "kernel",
                                                                   "grid",
                                                                   "block",
                                                                   "static_smem_bytes",
                                                                   "dynamic_smem_bytes",
                                                                   "frontend_cap",
                                                                   "ptxas_cap",
                                                                   "register_usage_level",
                                                                   "dlcm",
                                                                   "regs_per_thread",
                                                                   "launches",
                                                                   "total_ns",
                                                                   "smem_spilling",
                                                                   "front_end_knob",
                                                                   "restrict",
                                                                   "known_ptx",
                                                                   "optimization_level",
                                                                   "spill_bytes",
                                                                   "occupancy",
                                                                   "efficiency",
                                                                   "utilization"};

using Fields = llvm::SmallVector<llvm::StringRef, 20>;

/// The position of each column in a row; absent optional columns have none.
struct Header {
  std::array<std::optional<size_t>, ColumnCount> Places{};
  size_t Width = 0;
};

/// One line, with what an error message needs to name it.
class Line {
public:
  Line(llvm::StringRef File, size_t Number, const Header &H, Fields Texts)
      : File(File), Number(Number), H(H), Texts(std::move(Texts)) {}

  /// Returns the text of a column, or `-` if the table has no such column.
  llvm::StringRef text(Column C) const { return H.Places[C] ? Texts[*H.Places[C]] : "-"; }

  llvm::Error wrong(Column C, llvm::StringRef Expected) const {
    return malformed(File + ":" + llvm::Twine(Number) + ": column '" + ColumnNames[C] + "' is '" +
                     text(C) + "', expected " + Expected);
  }

  llvm::Error read(Column C, std::string &To) const {
    if (text(C).empty())
      return wrong(C, "a name");
    To = text(C).str();
    return llvm::Error::success();
  }

  template <typename Number> llvm::Error read(Column C, Number &To) const {
    if (!llvm::to_integer(text(C), To, 10))
      return wrong(C, "a whole number");
    return llvm::Error::success();
  }

  llvm::Error read(Column C, double &To) const {
    if (text(C).getAsDouble(To) || !std::isfinite(To) || To < 0)
      return wrong(C, "a time in nanoseconds");
    return llvm::Error::success();
  }

  llvm::Error read(Column C, std::optional<unsigned> &To) const {
    if (text(C) == "-")
      return llvm::Error::success();
    unsigned Cap = 0;
    if (!llvm::to_integer(text(C), Cap, 10) || Cap == 0)
      return wrong(C, "a number of registers, or '-'");
    To = Cap;
    return llvm::Error::success();
  }

  llvm::Error read(Column C, std::array<unsigned, 3> &To) const {
    llvm::SmallVector<llvm::StringRef, 3> Extents;
    text(C).split(Extents, ',');
    bool Fits = Extents.size() == To.size();
    for (size_t I = 0; Fits && I < To.size(); ++I)
      Fits = llvm::to_integer(Extents[I], To[I], 10) && To[I] > 0;
    return Fits ? llvm::Error::success() : wrong(C, "three extents such as 128,1,1");
  }

  /// Reads a number from 0 to \p Most that may be missing.
  llvm::Error readMetric(Column C, double Most, llvm::StringRef Expected,
                         std::optional<double> &To) const {
    if (text(C) == "-")
      return llvm::Error::success();
    double Number = 0;
    if (text(C).getAsDouble(Number) || !std::isfinite(Number) || Number < 0 || Number > Most)
      return wrong(C, Expected);
    To = Number;
    return llvm::Error::success();
  }

private:
  llvm::StringRef File;
  size_t Number;
  const Header &H;
  Fields Texts;
};

llvm::Expected<Header> readHeader(llvm::StringRef Text, llvm::StringRef Name) {
  Fields Names;
  Text.split(Names, '\t');
  Header H;
  H.Width = Names.size();
  for (size_t C = 0; C < ColumnCount; ++C) {
    auto Times = llvm::count(Names, ColumnNames[C]);
    bool Optional = C >= FirstOptional;
    if (Times > 1 || (Times == 0 && !Optional))
      return malformed(Name + ":1: column '" + ColumnNames[C] + "' occurs " + llvm::Twine(Times) +
                       " times in the header, expected " + (Optional ? "at most " : "") + "once");
    if (Times == 1)
      H.Places[C] = llvm::find(Names, ColumnNames[C]) - Names.begin();
  }
  return H;
}

llvm::Error readSetting(const Line &L, SweepSetting &To) {
  if (llvm::Error E = L.read(FrontEndCap, To.FrontEndCap))
    return E;
  if (llvm::Error E = L.read(PtxasCap, To.PtxasCap))
    return E;
  if (L.text(Level) != "-")
    if (llvm::Error E = L.read(Level, To.RegisterUsageLevel))
      return E;
  if (L.text(Dlcm) != "-")
    if (llvm::Error E = L.read(Dlcm, To.Dlcm))
      return E;
  for (auto [C, Switch] : {std::pair(SmemSpilling, &To.SmemSpilling),
                           {Restrict, &To.Restrict},
                           {KnownPtx, &To.KnownPtx}}) {
    llvm::StringRef Text = L.text(C);
    if (Text != "0" && Text != "1" && Text != "-")
      return L.wrong(C, "0 or 1");
    *Switch = Text == "1";
  }
  if (llvm::StringRef Level = L.text(OptimizationLevel); Level == "1")
    To.OptimizationLevel = 1;
  else if (Level != "-")
    return L.wrong(OptimizationLevel, "1 or '-'");
  if (L.text(FrontEnd) == "-")
    return llvm::Error::success();
  std::optional<FrontEndKnob> Knob = frontEndKnobNamed(L.text(FrontEnd));
  if (!Knob)
    return L.wrong(FrontEnd, (FrontEndKnobNames + ", or '-'").str());
  To.FrontEnd = *Knob;
  return llvm::Error::success();
}

llvm::Error readMetrics(const Line &L, SweepMetrics &To) {
  if (L.text(SpillBytes) != "-")
    if (llvm::Error E = L.read(SpillBytes, To.SpillBytes.emplace()))
      return E;
  if (llvm::Error E = L.readMetric(Occupancy, 1, "a share from 0 to 1, or '-'", To.Occupancy))
    return E;
  constexpr double Any = std::numeric_limits<double>::max();
  for (auto [C, Metric] : {std::pair(Efficiency, &To.Efficiency), {Utilization, &To.Utilization}}) {
    if (llvm::Error E = L.readMetric(C, Any, "a number from 0, or '-'", *Metric))
      return E;
    if (*Metric == 0.0)
      *Metric = std::nullopt;
  }
  return llvm::Error::success();
}

llvm::Expected<SweepRow> readRow(const Line &L) {
  SweepRow R;
  if (llvm::Error E = L.read(Program, R.Program))
    return E;
  if (llvm::Error E = L.read(Kernel, R.Kernel))
    return E;
  if (llvm::Error E = L.read(Grid, R.Shape.Grid))
    return E;
  if (llvm::Error E = L.read(Block, R.Shape.Block))
    return E;
  if (llvm::Error E = L.read(StaticSmem, R.StaticSmemBytes))
    return E;
  if (llvm::Error E = L.read(DynamicSmem, R.Shape.DynamicSmemBytes))
    return E;
  if (llvm::Error E = readSetting(L, R.Setting))
    return E;
  if (llvm::Error E = L.read(Regs, R.RegsPerThread))
    return E;
  // The largest register count is 255. Some drivers round it up to a multiple of 8.
  constexpr unsigned MostRegs = 256;
  if (R.RegsPerThread > MostRegs)
    return L.wrong(Regs, "at most 256 registers");
  if (llvm::Error E = L.read(Launches, R.Launches))
    return E;
  if (llvm::Error E = L.read(TotalNs, R.TotalNs))
    return E;
  if (llvm::Error E = readMetrics(L, R.Metrics))
    return E;
  return R;
}

} // namespace

llvm::Expected<std::vector<SweepRow>> carve::parseSweepTable(llvm::StringRef Text,
                                                             llvm::StringRef Name) {
  Text.consume_front("\xEF\xBB\xBF");
  std::optional<Header> H;
  std::vector<SweepRow> Rows;
  for (size_t Number = 1; !Text.empty(); ++Number) {
    llvm::StringRef Content;
    std::tie(Content, Text) = Text.split('\n');
    Content.consume_back("\r");
    if (!H) {
      llvm::Expected<Header> Read = readHeader(Content, Name);
      if (!Read)
        return Read.takeError();
      H = *Read;
      continue;
    }
    if (Content.empty())
      continue;
    Fields Texts;
    Content.split(Texts, '\t');
    if (Texts.size() != H->Width)
      return malformed(Name + ":" + llvm::Twine(Number) + ": " + llvm::Twine(Texts.size()) +
                       " columns, expected " + llvm::Twine(H->Width) + " as in the header");
    llvm::Expected<SweepRow> Row = readRow(Line(Name, Number, *H, std::move(Texts)));
    if (!Row)
      return Row.takeError();
    Rows.push_back(std::move(*Row));
  }
  if (!H)
    return malformed(Name + ": the file is empty, expected a table with a header");
  if (Rows.empty())
    return malformed(Name + ": no rows under the header, expected at least one");
  return Rows;
}
