/// \file
/// What is recorded of an image that the program is about to load, and which image it gets.
#pragma once

namespace carve::probe {

class ImageMap;
class RecordFile;

/// At the entry of the driver call \p Call with the image \p Pointer. Returns the pointer that the
/// driver shall read: \p Pointer itself unless \p Images names a replacement for it.
const void *onImageLoad(const ImageMap &Images, RecordFile &File, const void *Pointer,
                        const char *Call);

/// At the entry of a call that loads the file \p Path. Recorded only: the tuner's programs embed
/// their images, so no replacement is needed here.
void onFileLoad(RecordFile &File, const char *Path, const char *Call);

} // namespace carve::probe
