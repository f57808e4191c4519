#include "Probe/Trace/LoadedImages.h"

#include "Probe/Driver/Container.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Trace/ImageMap.h"

using namespace carve;
using namespace carve::probe;

static std::string recordContainer(RecordFile &To, const Container &Found, const char *Call) {
  std::string Digest = digestOfImage(Found.Data, Found.Bytes);
  To.addOnce(ContainerRecord{Digest, Found.Bytes, Call});
  return Digest;
}

const void *carve::probe::onImageLoad(const ImageMap &Images, RecordFile &File, const void *Pointer,
                                      const char *Call) {
  auto Found = findLoadedContainer(Pointer);
  if (!Found)
    return Pointer;
  std::string Digest = recordContainer(File, *Found, Call);
  const ImageMap::Image *New = Images.find(Digest);
  if (!New)
    return Pointer;
  // The wrapper of a device link (-rdc) also lists the fatbinaries that were linked. The driver
  // reads them only if the linked container has no image for the device, to link their PTX itself.
  // The replacement is a complete image for the device and is passed without a wrapper, so nothing
  // is left to link.
  if (New->Reason) {
    File.addOnce(UnswappedRecord{Digest, New->Reason});
    return Pointer;
  }
  File.addOnce(SwappedRecord{Digest, New->Path});
  return New->Data;
}

void carve::probe::onFileLoad(RecordFile &File, const char *Path, const char *Call) {
  auto Loaded = loadFile(Path);
  if (!Loaded)
    return;
  if (auto Found = findContainer(Loaded->Data, Loaded->Bytes))
    recordContainer(File, *Found, Call);
  unloadFile(*Loaded);
}
