#include "Probe/LoadedImages.h"

#include "Probe/TracedProcess.h"

using namespace carve::probe;

static std::string recordContainer(TracedProcess &P, const Container &Found, const char *Call) {
  std::string Digest = digestOfImage(Found.Data, Found.Bytes);
  P.recordOnce(recordLine({"container", Digest, std::to_string(Found.Bytes), Call}));
  return Digest;
}

const void *carve::probe::onImageLoad(TracedProcess &P, const void *Pointer, const char *Call) {
  auto Found = findLoadedContainer(Pointer);
  if (!Found)
    return Pointer;
  std::string Digest = recordContainer(P, *Found, Call);
  const ImageMap::Image *New = P.Tracing ? nullptr : P.Images.find(Digest);
  if (!New)
    return Pointer;
  // The driver may link the listed fatbinaries again, for another architecture or with an object
  // loaded later; the replacement knows nothing of them.
  const char *Reason = Found->Prelinked ? "prelinked" : New->Reason;
  if (Reason) {
    P.recordOnce(recordLine({"unswapped", Digest, Reason}));
    return Pointer;
  }
  P.recordOnce(recordLine({"swapped", Digest, New->Path}));
  return New->Data;
}

void carve::probe::onFileLoad(TracedProcess &P, const char *Path, const char *Call) {
  auto File = loadFile(Path);
  if (!File)
    return;
  if (auto Found = findContainer(File->Data, File->Bytes))
    recordContainer(P, *Found, Call);
  unloadFile(*File);
}
