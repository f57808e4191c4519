/// \file
/// The record of one device link (-rdc=true) as nvcc made it. The image that a program loads is
/// made by nvlink; this record leads from that image to the units whose kernels are in it.
/// LinkRecorder writes it, and tuning and emission read it.
#pragma once

#include <string>
#include <vector>

namespace carve {

/// One object with relocatable device code that was linked.
struct LinkInput {
  std::string Path;   ///< The path of the object or archive that nvlink got.
  std::string Member; ///< The member of an archive; empty for an object.
  unsigned Index = 0; ///< Its number among the objects with device code in the archive.
  std::vector<std::string> Containers; ///< Digests of its containers, which lead to units.
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
