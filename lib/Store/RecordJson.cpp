#include "Store/RecordJson.h"

#include "Nvcc/StepOptions.h"
#include "Store/StoreLayout.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;
namespace json = llvm::json;

bool carve::readValue(const json::Value &V, FileNameValue To, json::Path P) {
  if (!readValue(V, To.Text, P))
    return false;
  if (To.Text.empty() || isFileName(To.Text))
    return true;
  P.report("expected one component of a path");
  return false;
}

bool carve::readValue(const json::Value &V, EntryNameValues To, json::Path P) {
  if (!readValue(V, To.Texts, P))
    return false;
  auto Bad = llvm::find_if(To.Texts, [](llvm::StringRef Name) { return !isEntryName(Name); });
  if (Bad == To.Texts.end())
    return true;
  P.index(Bad - To.Texts.begin()).report("expected one component of a path");
  return false;
}

bool carve::readValue(const json::Value &V, ArchValue To, json::Path P) {
  if (!readValue(V, To.Text, P))
    return false;
  if (To.Text.empty() || isGpuArchitecture(To.Text))
    return true;
  P.report("expected an architecture such as sm_90");
  return false;
}

bool carve::readValue(const json::Value &V, PathValue To, json::Path P) {
  if (!readValue(V, To.Text, P))
    return false;
  if (!llvm::StringRef(To.Text).starts_with("-") && !llvm::StringRef(To.Text).starts_with("@"))
    return true;
  P.report("expected a path");
  return false;
}
