#include "Probe/Driver/ShapeRecord.h"

#include "Probe/Process/RecordFile.h"

using namespace carve::probe;

std::string carve::probe::extentsText(const std::array<uint32_t, 3> &Extents) {
  return std::to_string(Extents[0]) + "," + std::to_string(Extents[1]) + "," +
         std::to_string(Extents[2]);
}

/// \p Fields as recordLine cleans them, without the line's end.
static std::string clean(std::initializer_list<std::string_view> Fields) {
  std::string Line = recordLine(Fields);
  Line.pop_back();
  return Line;
}

std::string carve::probe::shapeText(const LaunchShape &Shape) {
  return extentsText(Shape.Grid) + "\t" + extentsText(Shape.Block) + "\t" +
         std::to_string(Shape.DynamicSmemBytes) + "\t" + extentsText(Shape.Cluster);
}

std::string carve::probe::shapeRecord(std::string_view Kind, std::string_view Kernel,
                                      const LaunchShape &Shape,
                                      std::initializer_list<std::string> Rest) {
  std::string Line = clean({Kind, Kernel}) + "\t" + shapeText(Shape);
  for (const std::string &Field : Rest)
    Line += "\t" + clean({Field});
  return Line + "\n";
}

std::string carve::probe::launchRecord(std::string_view Kind, std::string_view Kernel,
                                       const LaunchShape &Shape, uint64_t Index,
                                       std::initializer_list<std::string> Rest) {
  std::string Line = clean({Kind, Kernel}) + "\t" + shapeText(Shape) + "\t" + std::to_string(Index);
  for (const std::string &Field : Rest)
    Line += "\t" + clean({Field});
  return Line + "\n";
}
