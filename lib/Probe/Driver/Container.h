/// \file
/// What a program hands to the driver's load calls: finds the device container (a fatbinary or a
/// cubin) behind the pointer, its size and its digest. Pure: reads memory, calls nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace carve::probe {

struct Container {
  const void *Data = nullptr;
  size_t Bytes = 0;
  bool Fatbin = false; ///< Otherwise an ELF image (cubin).
};

/// The container that starts at \p Pointer, of which \p Available bytes can be read. Nothing for
/// PTX text, other intermediate code, and headers that point outside of \p Available. In a
/// program's memory nobody knows the length: SIZE_MAX, and the container's own header is believed.
std::optional<Container> findContainer(const void *Pointer, size_t Available);

/// As findContainer for a pointer that a program passes to the driver: also follows the wrapper
/// that nvcc's host code registers (`__fatBinC_Wrapper_t` of fatbinary_section.h).
std::optional<Container> findLoadedContainer(const void *Pointer);

/// XXH3-128 as 32 lower-case hexadecimal digits: the same as carve::digestOf.
std::string digestOfImage(const void *Data, size_t Bytes);

} // namespace carve::probe
