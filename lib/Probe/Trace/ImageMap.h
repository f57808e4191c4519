/// \file
/// Says which device containers are replaced in this run, and by which images. It reads that from
/// the file that CARVE_PROBE_IMAGES names, and LoadedImages asks it.
#pragma once

#include "Probe/Driver/Container.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace carve::probe {

/// The replacements of a run, by the digest of the container.
class ImageMap {
public:
  /// The image that replaces a container. Data is null if the image could not be read; Reason then
  /// says why.
  struct Image {
    std::string Path;
    const void *Data = nullptr;
    const char *Reason = nullptr;
  };

  /// Reads the lines `<digest>\t<path>` of \p File, and the images that they name. Returns false if
  /// the file cannot be read or has any other line. An image that cannot be read only gets a
  /// reason. All images are read here, because the program may be unable to open files later. Their
  /// memory is never freed, because the driver may read a lazily loaded image at any later time.
  /// They are copied rather than mapped, so that nobody can truncate them while they are in use.
  bool read(const char *File);

  /// Returns the image that replaces the container \p Digest, or null.
  const Image *find(std::string_view Digest) const;

private:
  std::unordered_map<std::string, Image> Images;
};

/// All bytes of a file in private, page-aligned memory.
struct LoadedFile {
  const void *Data = nullptr;
  size_t Bytes = 0;
};
std::optional<LoadedFile> loadFile(const char *Path);
/// Frees what loadFile() returned. Nobody may keep its address.
void unloadFile(const LoadedFile &File);

} // namespace carve::probe
