/// \file
/// The record of one device link (-rdc=true) as nvcc made it: the image that a program loads is
/// nvlink's, and this leads from it to the units whose kernels are in it.
#pragma once

#include <string>
#include <vector>

namespace carve {

/// One object with relocatable device code that was linked.
struct LinkInput {
  std::string Path;                    ///< Of the object or archive, as nvlink was given it.
  std::string Member;                  ///< Of an archive; empty for an object.
  unsigned Index = 0;                  ///< Among the objects with device code in the archive.
  std::vector<std::string> Containers; ///< Digests of its containers; they lead to units.
};

/// The image of one architecture.
struct LinkedImage {
  std::string Arch;                       ///< `sm_90`.
  std::string CubinDigest;                ///< Blob: the cubin as nvlink made it.
  std::vector<std::string> NvlinkOptions; ///< Arguments, without inputs and outputs.
};

/// One device link by one command.
struct DeviceLink {
  std::string Key;                  ///< linkKey(); names the record.
  std::string Project;              ///< Root that the key is relative to.
  std::string Output;               ///< As in the command.
  std::string Directory;            ///< Where the command ran.
  std::vector<std::string> Command; ///< nvcc's arguments, argv[0] excluded.
  std::string Nvcc;                 ///< Path of the real nvcc.
  std::string NvccVersion;          ///< `13.0.88`.
  /// Digests of the containers that programs load for this link; of the last link with this output
  /// alone.
  std::vector<std::string> Containers;
  std::vector<LinkInput> Inputs; ///< In nvlink's order.
  std::vector<LinkedImage> Images;
};

} // namespace carve
