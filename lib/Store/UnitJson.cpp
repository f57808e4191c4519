#include "Store/UnitJson.h"

#include "Nvcc/StepOptions.h"
#include "Store/RecordJson.h"

using namespace carve;
namespace json = llvm::json;

/// The format rises when a record changes its meaning. Members that are only added do not raise it,
/// since readers pass over what they do not know.
static constexpr RecordKind UnitRecord = {"unit", "carve-unit", 1};

namespace carve {

static constexpr llvm::StringLiteral CueNames[] = {"none", "depfile", "cache"};

static json::Value toValue(RebuildCue Cue) { return CueNames[size_t(Cue)].str(); }

static bool readValue(const json::Value &V, RebuildCue &Out, json::Path P) {
  std::string Name;
  if (!readValue(V, Name, P))
    return false;
  auto Found = llvm::find(CueNames, Name);
  if (Found == std::end(CueNames)) {
    P.report("expected none, depfile or cache");
    return false;
  }
  Out = RebuildCue(Found - CueNames);
  return true;
}

template <class Fields> void describe(Fields &F, KernelResources &K) {
  F("name", K.Name);
  F("regs", K.RegsPerThread);
  F("static-smem-bytes", K.StaticSmemBytes);
  F("stack-bytes", K.StackBytes);
  F("spill-store-bytes", K.SpillStoreBytes);
  F("spill-load-bytes", K.SpillLoadBytes);
  F("barriers", K.Barriers);
  F("stack-unknown", K.StackUnknown);
}

template <class Fields> static void ptxasOptions(Fields &F, std::vector<std::string> &Options) {
  F("ptxas-options", Options);
  F.refuse(
      "ptxas-options", [&] { return refusedPtxasOption(Options); },
      "expected an option of ptxas that names no file");
}

template <class Fields> void describe(Fields &F, UnitImage &I) {
  F("arch", ArchValue{I.Arch});
  F("ptx", FileNameValue{I.PtxDigest});
  F("cubin", FileNameValue{I.CubinDigest});
  ptxasOptions(F, I.PtxasOptions);
  F("ptx-name", FileNameValue{I.PtxName});
  F("cubin-name", FileNameValue{I.CubinName});
  F("kernels", I.Kernels);
}

template <class Fields> void describe(Fields &F, EmbeddedPtx &E) {
  F("compute", E.Compute);
  F("ptx", FileNameValue{E.PtxDigest});
  F("ptx-name", FileNameValue{E.PtxName});
  ptxasOptions(F, E.PtxasOptions);
}

template <class Fields> void describe(Fields &F, UnitFrontEnd &E) {
  F("ptx", FileNameValue{E.PtxDigest});
  F("input", FileNameValue{E.InputDigest});
  F("module-id", E.ModuleId);
  F("keep-dir", PathValue{E.Step.KeepDir});
  F("input-name", FileNameValue{E.Step.InputName});
  F("module-id-name", FileNameValue{E.Step.ModuleIdName});
  F("ptx-name", FileNameValue{E.Step.PtxName});
  F("arguments", E.Step.Arguments);
  F.refuse(
      "arguments", [&] { return refusedFrontEndArgument(E.Step); },
      "expected an argument that nvcc gives cicc");
  F("cap", E.Step.Cap);
}

template <class Fields> void describe(Fields &F, ObjectRecord &O) {
  F("command", O.Command);
  F("inputs", FileNameValue{O.Inputs});
  F("source-digest", O.SourceDigest);
  F("keep-dir", PathValue{O.KeepDir});
  F("fatbinary-arguments", O.FatbinaryArguments);
  F.refuse(
      "fatbinary-arguments",
      [&] { return refusedFatbinaryOption(O.FatbinaryArguments, O.KeepDir); },
      "expected an option of fatbinary with files of the keep directory alone");
  F("fatbin-name", FileNameValue{O.FatbinName});
  F("fatbin-bytes", O.FatbinBytes);
  F("object-digest", O.ObjectDigest);
  F("object-bytes", O.ObjectBytes);
  F("header-offset", O.HeaderOffset);
  F("section-offset", O.SectionOffset);
  F("section-bytes", O.SectionBytes);
  F("depfile", FileNameValue{O.Depfile});
  F("stdout", FileNameValue{O.Stdout});
  F("stderr", FileNameValue{O.Stderr});
  F("streams-merged", O.Streams.Merged);
  F("stdout-terminal", O.Streams.OutTerminal);
  F("stderr-terminal", O.Streams.ErrTerminal);
  F("decisions", O.Decisions);
}

template <class Fields> void describe(Fields &F, Unit &U) {
  F("key", FileNameValue{U.Key});
  F("project", PathValue{U.Project});
  F("source", PathValue{U.Source});
  F("output", PathValue{U.Output});
  F("directory", PathValue{U.Directory});
  F("command", U.Command);
  F("nvcc", U.Nvcc);
  F("nvcc-version", U.NvccVersion);
  F("relocatable", U.Relocatable);
  F("register-cap", U.RegisterCap);
  F("containers", EntryNameValues{U.Containers});
  F("images", U.Images);
  F("embedded-ptx", U.Ptx);
  F("front-ends", U.FrontEnds);
  F("choices", U.Choices);
  F("rebuild-cue", U.Cue);
  F("profile", U.ProfilePath);
  F("profile-choices", U.ProfileChoices);
  F("profile-by-option", U.ProfileByOption);
  F("object", U.Object);
}

} // namespace carve

std::string carve::printUnit(const Unit &U) { return printRecord(U, UnitRecord); }

llvm::Expected<Unit> carve::parseUnit(llvm::StringRef Json, llvm::StringRef Name) {
  return parseRecord<Unit>(Json, Name, UnitRecord);
}
