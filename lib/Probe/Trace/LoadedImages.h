/// \file
/// What is recorded of an image that the program is about to load, and which image it gets.
#pragma once

namespace carve::probe {

struct TracedProcess;

/// At the entry of the driver call \p Call with the image \p Pointer. Returns the pointer that the
/// driver shall read: \p Pointer itself unless the tuner has named a replacement for it.
const void *onImageLoad(TracedProcess &P, const void *Pointer, const char *Call);

/// At the entry of a call that loads the file \p Path. Recorded only: the tuner's programs embed
/// their images, so no replacement is needed here.
void onFileLoad(TracedProcess &P, const char *Path, const char *Call);

} // namespace carve::probe
