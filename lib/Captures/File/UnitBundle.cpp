#include "Captures/File/UnitBundle.h"

#include "Store/LinkJson.h"
#include "Store/UnitJson.h"
#include "Support/Error.h"
#include "Support/RegularFile.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace carve;

namespace {

/// Removes what is useful only beside the sources. It is neither put into a capture nor taken from
/// one, because somebody else may have made the capture; least of all may a command come from
/// there.
void keepWhatTravels(Unit &U) {
  U.Object.reset();
  U.Cue = RebuildCue::None;
  U.Command.clear();
}

class Bundle {
public:
  Bundle(const UnitStore &Store, CaptureWriter &W, Capture &C) : Store(Store), W(W), C(C) {}

  void addUnits(llvm::StringRef Container) {
    for (Unit &U : Store.unitsOfContainer(Container)) {
      if (!Keys.insert(U.Key).second)
        continue;
      keepWhatTravels(U);
      C.Units.push_back({U.Key, W.put(printUnit(U))});
      for (const UnitImage &I : U.Images) {
        addBlob(I.PtxDigest);
        addBlob(I.CubinDigest);
      }
      for (const EmbeddedPtx &E : U.Ptx)
        addBlob(E.PtxDigest);
      for (const UnitFrontEnd &F : U.FrontEnds)
        addBlob(F.InputDigest);
    }
  }

  void addLinks(llvm::StringRef Container) {
    for (DeviceLink &L : Store.linksOfContainer(Container)) {
      if (!Keys.insert(L.Key).second)
        continue;
      L.Command.clear();
      C.Links.push_back({L.Key, W.put(printLink(L))});
      for (const LinkedImage &I : L.Images)
        addBlob(I.CubinDigest);
      for (const LinkInput &I : L.Inputs)
        for (const std::string &Inner : I.Containers)
          addUnits(Inner);
    }
  }

private:
  void addBlob(const std::string &Digest) {
    if (Digest.empty() || !Keys.insert(Digest).second)
      return;
    if (llvm::Expected<std::string> Bytes = Store.blob(Digest))
      C.Blobs.push_back({Digest, W.put(*Bytes)});
    else
      llvm::consumeError(Bytes.takeError());
  }

  const UnitStore &Store;
  CaptureWriter &W;
  Capture &C;
  std::set<std::string> Keys;
};

llvm::Error builtAnew(const Capture &C, llvm::StringRef What) {
  return malformed(What + " was rebuilt after " + C.Kernel +
                   " was captured: capture it again, or tune with another CARVE_STORE");
}

/// True if \p Old and \p New come from the same compile, so that they have a container in common.
template <typename T> bool sameCompile(const T &Old, const T &New) {
  return llvm::any_of(New.Containers, [&](const std::string &Digest) {
    return llvm::is_contained(Old.Containers, Digest);
  });
}

llvm::Error putUnits(const CaptureReader &Reader, UnitStore &Store) {
  for (const CapturedRecord &R : Reader.capture().Units) {
    llvm::Expected<std::string> Json =
        Reader.all(R.Content, "the unit " + R.Name, FileLimit::Record);
    if (!Json)
      return Json.takeError();
    llvm::Expected<Unit> New = parseUnit(*Json, "unit " + R.Name);
    if (!New)
      return New.takeError();
    keepWhatTravels(*New);
    auto Old = Store.unit(New->Key);
    if (!Old)
      return Old.takeError();
    if (*Old && !sameCompile(**Old, *New))
      return builtAnew(Reader.capture(), New->Output);
    if (!*Old)
      if (llvm::Error E = Store.putUnit(*New))
        return E;
  }
  return llvm::Error::success();
}

llvm::Error putLinks(const CaptureReader &Reader, UnitStore &Store) {
  for (const CapturedRecord &R : Reader.capture().Links) {
    llvm::Expected<std::string> Json =
        Reader.all(R.Content, "the link " + R.Name, FileLimit::Record);
    if (!Json)
      return Json.takeError();
    llvm::Expected<DeviceLink> New = parseLink(*Json, "link " + R.Name);
    if (!New)
      return New.takeError();
    New->Command.clear();
    auto Old = Store.link(New->Key);
    if (!Old)
      return Old.takeError();
    if (*Old && !sameCompile(**Old, *New))
      return builtAnew(Reader.capture(), New->Output);
    if (!*Old)
      if (llvm::Error E = Store.putLink(*New))
        return E;
  }
  return llvm::Error::success();
}

} // namespace

void carve::bundleUnits(const UnitStore &Store, CaptureWriter &W, Capture &C) {
  bundleUnits(Store, {C.ContainerDigest}, W, C);
}

void carve::bundleUnits(const UnitStore &Store, llvm::ArrayRef<std::string> Containers,
                        CaptureWriter &W, Capture &C) {
  Bundle B(Store, W, C);
  for (const std::string &Container : Containers) {
    B.addUnits(Container);
    B.addLinks(Container);
  }
}

llvm::Error carve::unbundleUnits(const CaptureReader &Reader, UnitStore &Store) {
  // Blobs come first, because a unit without its blobs is useless.
  for (const CapturedRecord &R : Reader.capture().Blobs) {
    llvm::Expected<std::string> Bytes =
        Reader.all(R.Content, "the blob " + R.Name, FileLimit::Blob);
    if (!Bytes)
      return Bytes.takeError();
    llvm::Expected<std::string> Digest = Store.putBlob(*Bytes);
    if (!Digest)
      return Digest.takeError();
  }
  if (llvm::Error E = putUnits(Reader, Store))
    return E;
  return putLinks(Reader, Store);
}
