#include "Probe/Plan.h"

#include "Probe/Protocol.h"

#include <algorithm>
#include <charconv>
#include <fstream>

using namespace carve::probe;

namespace {

/// The tab-separated words of one line, taken in order; Good turns false at the first that is
/// absent or does not fit.
class Words {
public:
  explicit Words(std::string_view Line) : Rest(Line) {}

  std::string text() {
    if (Ended) {
      Good = false;
      return "";
    }
    size_t Tab = Rest.find('\t');
    std::string Word(Rest.substr(0, Tab));
    Ended = Tab == std::string_view::npos;
    Rest = Ended ? std::string_view() : Rest.substr(Tab + 1);
    Good &= !Word.empty();
    return Word;
  }
  template <class T> T number() {
    T Value{};
    std::string Word = text();
    auto [End, Error] = std::from_chars(Word.data(), Word.data() + Word.size(), Value);
    Good &= Error == std::errc() && End == Word.data() + Word.size();
    return Value;
  }
  std::array<uint32_t, 3> triple() {
    std::array<uint32_t, 3> Value{};
    std::string Word = text();
    const char *At = Word.data(), *Last = At + Word.size();
    for (size_t I = 0; I < 3; ++I) {
      auto [End, Error] = std::from_chars(At, Last, Value[I]);
      Good &= Error == std::errc() && (I == 2 ? End == Last : End != Last && *End == ',');
      if (!Good)
        return Value;
      At = End + 1;
    }
    return Value;
  }
  LaunchShape shape() {
    LaunchShape Shape;
    Shape.Grid = triple();
    Shape.Block = triple();
    Shape.DynamicSmemBytes = number<uint32_t>();
    Shape.Cluster = triple();
    return Shape;
  }
  bool more() const { return !Ended; }
  bool good() const { return Good; }
  bool whole() const { return Good && Ended; }

private:
  std::string_view Rest;
  bool Ended = false, Good = true;
};

} // namespace

static bool readMode(const std::string &Mode, const std::string &Fallback, PlannedKernel &Kernel) {
  if (Mode == "replay")
    Kernel.Mode = TimingMode::Replay;
  else if (Mode == "rotate")
    Kernel.Mode = TimingMode::Rotate;
  else if (Mode == "verify-rotate")
    Kernel.Mode = TimingMode::VerifyRotate;
  else
    return false;
  Kernel.MayRotate = Fallback == "rotate";
  return Kernel.MayRotate || Fallback == "none";
}

static bool readKernel(Words &Line, Plan &P) {
  std::string Name = Line.text(), Mode = Line.text(), Fallback = Line.text();
  PlannedKernel &Kernel = P.Kernels[Name];
  Kernel.Name = Name;
  while (Line.good() && Line.more())
    Kernel.Clones.push_back(Line.text());
  return Line.whole() && readMode(Mode, Fallback, Kernel);
}

static bool readLine(Words &Line, Plan &P) {
  std::string Tag = Line.text();
  if (Tag == "seed")
    P.Seed = Line.number<uint64_t>();
  else if (Tag == "replay-ms")
    P.ReplayMs = Line.number<uint64_t>();
  else if (Tag == "hang-ms")
    P.HangMs = Line.number<uint64_t>();
  else if (Tag == "kernel")
    return readKernel(Line, P);
  else if (Tag == "shape") {
    PlannedKernel &Kernel = P.Kernels[Line.text()];
    PlannedShape Shape;
    Shape.Shape = Line.shape();
    Shape.Launches = Line.number<uint64_t>();
    // Whole: the reading of fractions would need libm.
    Shape.MeanNs = double(Line.number<uint64_t>());
    Kernel.Shapes.push_back(Shape);
  } else if (Tag == "exclude") {
    PlannedKernel &Kernel = P.Kernels[Line.text()];
    Kernel.Excluded.insert(Line.number<size_t>());
  } else if (Tag == "measure") {
    PlannedKernel &Kernel = P.Kernels[Line.text()];
    Kernel.Measured.insert(Line.number<size_t>());
  } else {
    return false;
  }
  return Line.whole();
}

bool Plan::read(const char *File) {
  std::ifstream In(File);
  std::string Line;
  if (!std::getline(In, Line) || Line != "carve-plan\t" + std::to_string(PlanVersion))
    return false;
  while (std::getline(In, Line)) {
    Words W(Line);
    if (!readLine(W, *this))
      return false;
  }
  // A shape or an exclusion of a kernel without its own line leaves it without a name. What a
  // measured variant computes must never be the program's.
  for (const auto &[Name, Kernel] : Kernels)
    if (Kernel.Name.empty() || (!Kernel.Measured.empty() && Kernel.mayBecomeVariants()))
      return false;
  return In.eof();
}

const PlannedKernel *Plan::find(std::string_view Kernel) const {
  auto It = Kernels.find(std::string(Kernel));
  return It == Kernels.end() ? nullptr : &It->second;
}

const PlannedShape *PlannedKernel::find(const LaunchShape &Shape) const {
  for (const PlannedShape &S : Shapes)
    if (S.Shape == Shape)
      return &S;
  return nullptr;
}
