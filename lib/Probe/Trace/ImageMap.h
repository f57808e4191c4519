/// \file
/// Which device containers are to be replaced in this run, and by what: the tuner's file that
/// CARVE_PROBE_IMAGES names. The load callback asks it.
#pragma once

#include "Probe/Driver/Container.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace carve::probe {

class ImageMap {
public:
  /// What stands in place of a container. Data is null where it could not be read; Reason says why.
  struct Image {
    std::string Path;
    const void *Data = nullptr;
    const char *Reason = nullptr;
  };

  /// Reads the lines `<digest>\t<path>` of \p File, and the images that they name. False where the
  /// file cannot be read or holds anything else; an image that cannot be read has a reason. All are
  /// read here, because the program may open no file later, into memory that is never freed, as the
  /// driver may read a lazily loaded image at any later time; a copy, so that nobody can truncate
  /// it below us.
  bool read(const char *File);

  /// The image for the container \p Digest, or null.
  const Image *find(std::string_view Digest) const;

private:
  std::unordered_map<std::string, Image> Images;
};

/// All bytes of the regular file \p Path in private memory, page-aligned and never freed.
struct LoadedFile {
  const void *Data = nullptr;
  size_t Bytes = 0;
};
std::optional<LoadedFile> loadFile(const char *Path);
/// Gives back what loadFile returned, where no one kept the address.
void unloadFile(const LoadedFile &File);

} // namespace carve::probe
