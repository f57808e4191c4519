/// \file
/// The record of one translation unit as nvcc compiled it. UnitRecorder writes it, the store keeps
/// it, and tuning and emission start from it.
#pragma once

#include "Cubin/KernelResources.h"
#include "Nvcc/FrontEndStep.h"
#include "Support/CommandRunner.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The image of a unit for one architecture. Its digests name blobs of the store.
struct UnitImage {
  std::string Arch;                      ///< `sm_90`.
  std::string PtxDigest;                 ///< Blob: the PTX that cicc made.
  std::string CubinDigest;               ///< Blob: the cubin that ptxas made and the driver loads.
  std::vector<std::string> PtxasOptions; ///< As in DeviceImage.
  std::string PtxName;                   ///< The file name that ptxas saw, e.g. `k.ptx`.
  std::string CubinName;                 ///< The file name of the cubin beside it.
  std::vector<KernelResources> Kernels;  ///< Read from the cubin; spills are unknown (0).
};

/// PTX in the object that the driver compiles for devices for which the object has no image.
struct EmbeddedPtx {
  unsigned Compute = 0;  ///< 75 for compute_75.
  std::string PtxDigest; ///< Blob.
  std::string PtxName;
  /// The options of a sibling image; the reader sets `-arch`.
  std::vector<std::string> PtxasOptions;
};

/// How PTX of the unit was made. With this it can be made with another setting (FlavourPtx.h).
/// It is kept only for PTX that has a kernel.
struct UnitFrontEnd {
  std::string PtxDigest; ///< Digest of the PTX of an image or of embedded PTX.
  FrontEndStep Step;
  std::string InputDigest; ///< Blob: the preprocessed text.
  std::string ModuleId;    ///< Content of the module id file.
};

/// What is kept about a compile to an object. If only the decisions change, the object can be made
/// from this record without nvcc's front end (StoredCompile.h).
struct ObjectRecord {
  std::string Command; ///< Digest of arguments, environment and toolkit.
  std::string Inputs;  ///< Blob: the files that were read, as printInputFiles() writes them.
  std::string SourceDigest;
  /// The folder of the intermediate files. Its path is part of the debug information.
  std::string KeepDir;
  std::vector<std::string> FatbinaryArguments; ///< As in DeviceUnit.
  std::string FatbinName;                      ///< The file name of the container in KeepDir.
  uint64_t FatbinBytes = 0;
  /// nvcc's own object, before anything was spliced into it, and the place of its device section
  /// (Emit/ObjectSplicer.h).
  std::string ObjectDigest;
  uint64_t ObjectBytes = 0, HeaderOffset = 0, SectionOffset = 0, SectionBytes = 0;
  std::string Depfile;        ///< Blob: the depfile that nvcc wrote; empty if it wrote none.
  std::string Stdout, Stderr; ///< Blobs: what nvcc printed.
  StreamShape Streams;        ///< Where nvcc printed to.
  std::string Decisions;      ///< Digest of what was emitted into the object.
};

/// How a build system learns that a unit has a new decision.
enum class RebuildCue {
  None,    ///< It does not learn it; `carve touch` touches the source.
  Depfile, ///< The depfile lists the decision file.
  Cache,   ///< A compiler cache is in front and would not notice, so the file is not listed.
};

/// One device source compiled by one command.
struct Unit {
  std::string Key;                     ///< unitKey(); names the record.
  std::string Project;                 ///< The root that the key is relative to.
  std::string Source, Output;          ///< As in the command.
  std::string Directory;               ///< The directory in which the command ran.
  std::vector<std::string> Command;    ///< nvcc's arguments, argv[0] excluded.
  std::string Nvcc;                    ///< Path of the real nvcc.
  std::string NvccVersion;             ///< `13.0.88`.
  bool Relocatable = false;            ///< -rdc=true.
  std::optional<unsigned> RegisterCap; ///< The user's own register cap.
  /// Digests of the fatbinary containers that programs load for this unit: nvcc's own, and every
  /// tuned one that was emitted since. The probe recognises the unit by them.
  std::vector<std::string> Containers;
  std::vector<UnitImage> Images;
  std::vector<EmbeddedPtx> Ptx;
  std::vector<UnitFrontEnd> FrontEnds;
  std::string Choices; ///< Digest of choicesOf() for the unit's decisions at its last compile.
  RebuildCue Cue = RebuildCue::None;
  /// The user's profile at the last compile: its absolute path, empty if none was read, and the
  /// digest of what it said about this unit, empty if it said nothing.
  std::string ProfilePath, ProfileChoices;
  bool ProfileByOption = false;       ///< `--carve-profile` named it, which is part of the command.
  std::optional<ObjectRecord> Object; ///< Present if the output is an object.
};

} // namespace carve
