#include "Probe/Driver/Plan.h"

#include "Probe/Driver/PlanWords.h"
#include "Protocol/Protocol.h"

#include <fstream>

using namespace carve::probe;

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

static bool readKernel(PlanWords &Line, Plan &P) {
  std::string Name = Line.text(), Mode = Line.text(), Fallback = Line.text();
  PlannedKernel &Kernel = P.Kernels[Name];
  Kernel.Name = Name;
  while (Line.good() && Line.more())
    Kernel.Clones.push_back(Line.text());
  return Line.whole() && readMode(Mode, Fallback, Kernel);
}

static bool readLine(PlanWords &Line, Plan &P) {
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
    PlanWords W(Line);
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
