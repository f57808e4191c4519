#include "Probe/Trace/LoadedImages.h"

#include "Probe/Entry/TracedProcess.h"

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
  // A wrapper of a device link (-rdc) also lists the fatbinaries that were linked. The driver reads
  // them only where the linked container has no image for the device, to link their PTX itself. The
  // replacement is an image for the device, handed over without its wrapper, and complete: nothing
  // is left to be linked.
  if (New->Reason) {
    P.recordOnce(recordLine({"unswapped", Digest, New->Reason}));
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
