/// \file
/// Records an image that the program is about to load, and chooses the image that the driver gets.
#pragma once

namespace carve::probe {

class ImageMap;
class RecordFile;

/// Called at the entry of the driver call \p Call with the image \p Pointer. Returns the pointer
/// that the driver is to read: \p Pointer itself unless \p Images has a replacement for it.
const void *onImageLoad(const ImageMap &Images, RecordFile &File, const void *Pointer,
                        const char *Call);

/// Called at the entry of a call that loads the file \p Path. The load is only recorded: the
/// programs that the tuner builds embed their images, so files need no replacement.
void onFileLoad(RecordFile &File, const char *Path, const char *Call);

} // namespace carve::probe
