/// \file
/// Finds the device container (a fatbinary or a cubin) in the memory that a program hands to the
/// driver's load calls, with its size and digest. The functions are pure: they read memory and call
/// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace carve::probe {

/// A device container in memory that it does not own.
struct Container {
  const void *Data = nullptr;
  size_t Bytes = 0;
  bool Fatbin = false; ///< False for an ELF image (cubin).
};

/// Returns the container that starts at \p Pointer, of which \p Available bytes can be read.
/// Returns nothing for PTX text, for other intermediate code, and for headers that point outside of
/// \p Available. If the length of the memory is unknown, as in a program's own memory, pass
/// SIZE_MAX; the sizes in the container's header are then trusted.
std::optional<Container> findContainer(const void *Pointer, size_t Available);

/// As findContainer, for a pointer that a program passes to the driver. It also follows the wrapper
/// that nvcc's host code registers (`__fatBinC_Wrapper_t` of fatbinary_section.h).
std::optional<Container> findLoadedContainer(const void *Pointer);

/// Returns the XXH3-128 of \p Bytes bytes as 32 lower-case hexadecimal digits, the same as
/// carve::digestOf.
std::string digestOfImage(const void *Data, size_t Bytes);

} // namespace carve::probe
