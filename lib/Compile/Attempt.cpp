#include "Compile/Attempt.h"

#include "Store/UserProfile.h"
#include "Support/JsonText.h"
#include "Support/Log.h"

#include "llvm/Support/JSON.h"

#include <algorithm>

using namespace carve;
namespace json = llvm::json;

static std::string modeName(const TuningOptions &Options) {
  return std::string(Options.Scope == TuningScope::File ? "file" : "kernel") + " " +
         nameOf(Options.Domain).str();
}

bool carve::alreadyAttempted(const Unit &U, llvm::StringRef Workload, const TuningOptions &Options,
                             const UnitStore &Store) {
  auto Text = Store.attempt(U.Key);
  if (!Text) {
    llvm::consumeError(Text.takeError());
    return false;
  }
  if (!*Text)
    return false;
  llvm::Expected<json::Value> Value = parseJsonText(**Text);
  if (!Value) {
    llvm::consumeError(Value.takeError());
    return false;
  }
  const json::Object *O = Value->getAsObject();
  if (!O || O->getInteger("attempt") != 1 || O->getString("workload") != Workload ||
      O->getString("mode") != modeName(Options) ||
      O->getInteger("effort").value_or(0) < Options.Effort)
    return false;
  std::vector<std::string> Seen;
  json::Path::Root Root;
  if (const json::Value *List = O->get("kernels"); !List || !json::fromJSON(*List, Seen, Root))
    return false;
  llvm::Expected<std::vector<std::string>> Now = kernelDigests(U, Store);
  if (!Now) {
    logLine(llvm::toString(Now.takeError()));
    return false;
  }
  return std::includes(Seen.begin(), Seen.end(), Now->begin(), Now->end());
}

void carve::rememberAttempt(const Unit &U, llvm::StringRef Workload, const TuningOptions &Options,
                            llvm::StringRef Note, UnitStore &Store) {
  llvm::Expected<std::vector<std::string>> Digests = kernelDigests(U, Store);
  if (!Digests) {
    logLine(llvm::toString(Digests.takeError()));
    return;
  }
  json::Object O{{"attempt", 1},
                 {"workload", json::fixUTF8(Workload)},
                 {"mode", modeName(Options)},
                 {"effort", Options.Effort},
                 {"note", json::fixUTF8(Note)},
                 {"kernels", json::Array(*Digests)}};
  std::string Text;
  llvm::raw_string_ostream(Text) << json::Value(std::move(O)) << "\n";
  if (llvm::Error E = Store.putAttempt(U.Key, Text))
    logLine(llvm::toString(std::move(E)));
}
