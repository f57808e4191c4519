#include "Probe/Memory/HelperImage.h"

// The build passes the path of the image, and compiles this file again when the image changes.
asm(".section .rodata\n"
    ".balign 64\n"
    ".hidden carve_probe_helper_image\n"
    ".global carve_probe_helper_image\n"
    "carve_probe_helper_image:\n"
    ".incbin \"" CARVE_HELPER_IMAGE "\"\n"
    ".previous\n");

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("hidden"))) const char carve_probe_helper_image[];

const void *carve::probe::helperImage() { return carve_probe_helper_image; }
