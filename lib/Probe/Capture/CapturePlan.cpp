#include "Probe/Capture/CapturePlan.h"

#include "Protocol/CaptureProtocol.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>

using namespace carve::probe;

static bool readWish(const std::string &Line, CapturePlan::Wish &W) {
  size_t Name = Line.find('\t'), Shape = Line.find('\t', Name + 1);
  if (Shape == std::string::npos)
    return false;
  W.Kernel = Line.substr(Name + 1, Shape - Name - 1);
  int Read = -1;
  LaunchShape &S = W.Shape;
  // NOLINTNEXTLINE(cert-err34-c): of our own making, and checked to its end.
  int Fields = std::sscanf(Line.c_str() + Shape,
                           "\t%" SCNu32 ",%" SCNu32 ",%" SCNu32 "\t%" SCNu32 ",%" SCNu32 ",%" SCNu32
                           "\t%" SCNu32 "\t%" SCNu32 ",%" SCNu32 ",%" SCNu32 "\t%" SCNu64 "%n",
                           &S.Grid[0], &S.Grid[1], &S.Grid[2], &S.Block[0], &S.Block[1],
                           &S.Block[2], &S.DynamicSmemBytes, &S.Cluster[0], &S.Cluster[1],
                           &S.Cluster[2], &W.Launch, &Read);
  return Fields == 11 && Shape + size_t(Read) == Line.size();
}

bool CapturePlan::read(const char *File) {
  std::ifstream In(File);
  std::string Line;
  if (!std::getline(In, Line) || Line != "carve-capture-plan\t" + std::to_string(CaptureVersion))
    return false;
  while (std::getline(In, Line)) {
    if (Line.rfind("directory\t", 0) == 0)
      Directory = Line.substr(Line.find('\t') + 1);
    else if (Line.rfind("capture\t", 0) != 0 || !readWish(Line, Wishes.emplace_back()))
      return false;
  }
  return In.eof() && !Directory.empty() && !Wishes.empty();
}
