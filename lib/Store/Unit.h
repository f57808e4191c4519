/// \file
/// The record of one translation unit as nvcc compiled it: what the store keeps, and what tuning
/// and emission start from.
#pragma once

#include "Cubin/KernelResources.h"
#include "Nvcc/FrontEndStep.h"
#include "Support/CommandRunner.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One architecture's image of a unit. Digests name blobs of the store.
struct UnitImage {
  std::string Arch;        ///< `sm_90`.
  std::string PtxDigest;   ///< Blob: the PTX as cicc made it.
  std::string CubinDigest; ///< Blob: the cubin as ptxas made it; what the driver loads.
  std::vector<std::string> PtxasOptions; ///< As in DeviceImage.
  std::string PtxName;                   ///< File name that ptxas saw, e.g. `k.ptx`.
  std::string CubinName;                 ///< File name of the cubin beside it.
  std::vector<KernelResources> Kernels;  ///< From the cubin; spills unknown (0).
};

/// PTX that the object carries for the driver to compile on devices that it has no image for.
struct EmbeddedPtx {
  unsigned Compute = 0;  ///< 75 for compute_75.
  std::string PtxDigest; ///< Blob.
  std::string PtxName;
  std::vector<std::string> PtxasOptions; ///< Of a sibling image; `-arch` is the reader's to set.
};

/// How PTX of the unit was made, so that it can be made at another register cap (FlavourPtx.h).
/// Kept of PTX that has a kernel.
struct UnitFrontEnd {
  std::string PtxDigest; ///< Of an image or of embedded PTX.
  FrontEndStep Step;
  std::string InputDigest; ///< Blob: the preprocessed text.
  std::string ModuleId;    ///< Content of the module id file.
};

/// What is kept of a compile to an object, so that one whose decisions alone are other than then
/// can be made from it, without nvcc's front end.
struct ObjectRecord {
  std::string Command; ///< Digest of arguments, environment and toolkit.
  std::string Inputs;  ///< Blob: the files that were read, as printInputFiles() puts it.
  std::string SourceDigest;
  std::string KeepDir; ///< Where the intermediate files lay; its path is part of debug information.
  std::vector<std::string> FatbinaryArguments; ///< As in DeviceUnit.
  std::string FatbinName;                      ///< Of the container, within KeepDir.
  uint64_t FatbinBytes = 0;
  /// nvcc's own object, before anything was spliced into it, and its device section (see
  /// Emit/ObjectSplicer.h).
  std::string ObjectDigest;
  uint64_t ObjectBytes = 0, HeaderOffset = 0, SectionOffset = 0, SectionBytes = 0;
  std::string Depfile;        ///< Blob: as nvcc wrote it; empty where it wrote none.
  std::string Stdout, Stderr; ///< Blobs: what nvcc printed.
  StreamShape Streams;        ///< Where it printed to.
  std::string Decisions;      ///< Digest of what was emitted into the object.
};

/// How a build system learns that a unit has a new decision.
enum class RebuildCue {
  None,    ///< Not at all: `carve touch` touches the source.
  Depfile, ///< The decision file stands in the depfile.
  Cache,   ///< A compiler cache in front would not notice, so that it was not listed.
};

/// One device source compiled by one command.
struct Unit {
  std::string Key;                     ///< unitKey(); names the record.
  std::string Project;                 ///< Root that the key is relative to.
  std::string Source, Output;          ///< As in the command.
  std::string Directory;               ///< Where the command ran.
  std::vector<std::string> Command;    ///< nvcc's arguments, argv[0] excluded.
  std::string Nvcc;                    ///< Path of the real nvcc.
  std::string NvccVersion;             ///< `13.0.88`.
  bool Relocatable = false;            ///< -rdc=true.
  std::optional<unsigned> RegisterCap; ///< The user's own ceiling.
  /// Digests of the fatbinary containers that programs load for this unit: nvcc's own, and every
  /// tuned one emitted since. The probe recognises the unit by them.
  std::vector<std::string> Containers;
  std::vector<UnitImage> Images;
  std::vector<EmbeddedPtx> Ptx;
  std::vector<UnitFrontEnd> FrontEnds;
  std::string Choices; ///< Digest of choicesOf() the unit's decisions at its last compile.
  RebuildCue Cue = RebuildCue::None;
  /// The user's profile at its last compile: the absolute path, empty where none was read; and the
  /// digest of what it said of this unit, empty where that was nothing.
  std::string ProfilePath, ProfileChoices;
  bool ProfileByOption = false;       ///< `--carve-profile`, which is part of the command.
  std::optional<ObjectRecord> Object; ///< Where the output is an object.
};

} // namespace carve
