#include "Fleet/ShardResult.h"

#include "Fleet/FleetPlan.h"
#include "Report/JsonReport.h"
#include "Store/ProfileReader.h"
#include "Support/Files.h"
#include "Support/JsonRecord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace fs = llvm::sys::fs;
namespace json = llvm::json;

static constexpr RecordKind ResultRecord = {"result", "carve-fleet-result", 1};

namespace carve {

/// A profile is in the record as its own text.
static json::Value toValue(const Profile &P) { return toValue(printProfile(P)); }
static bool readValue(const json::Value &V, Profile &Out, json::Path P) {
  std::string Text;
  if (!readValue(V, Text, P))
    return false;
  llvm::Expected<Profile> Read = parseProfile(Text, "decisions");
  if (!Read) {
    llvm::consumeError(Read.takeError());
    P.report("expected a profile");
    return false;
  }
  Out = std::move(*Read);
  return true;
}

/// The report is in the record as the object that printJsonReport() prints.
static json::Value toValue(const TuningReport &R) {
  return llvm::cantFail(json::parse(printJsonReport(R)));
}
static bool readValue(const json::Value &V, TuningReport &Out, json::Path P) {
  llvm::Expected<TuningReport> Read = parseJsonReport(llvm::formatv("{0}", V).str(), "report");
  if (!Read) {
    llvm::consumeError(Read.takeError());
    P.report("expected a report");
    return false;
  }
  Out = std::move(*Read);
  return true;
}

template <class Fields> static void describe(Fields &F, ShardResult &R) {
  F("plan", R.Plan);
  F("shard", R.Shard);
  F("node", R.Node);
  F("toolkit", R.Toolkit);
  F("decisions", R.Decisions);
  F("report", R.Report);
}

} // namespace carve

std::string carve::resultName(llvm::StringRef Node) { return (Node + ".json").str(); }

std::string ShardResult::name() const {
  return "shard-" + std::to_string(Shard) + "/" + resultName(Node);
}

std::string carve::printShardResult(const ShardResult &R) { return printRecord(R, ResultRecord); }

llvm::Expected<ShardResult> carve::parseShardResult(llvm::StringRef Text, llvm::StringRef Name) {
  return parseRecord<ShardResult>(Text, Name, ResultRecord);
}

/// Returns the names of the results in the folder \p Shard, sorted.
static std::vector<std::string> resultNames(const std::string &Shard) {
  std::vector<std::string> Names;
  std::error_code Code;
  for (fs::directory_iterator I(Shard, Code), End; !Code && I != End; I.increment(Code)) {
    llvm::StringRef Name = llvm::sys::path::filename(I->path());
    // Temporaries have other names.
    if (Name.ends_with(".json") && !Name.starts_with("."))
      Names.push_back(Name.str());
  }
  llvm::sort(Names);
  return Names;
}

ReadResults carve::readShardResults(llvm::StringRef Folder, size_t Shards) {
  ReadResults Read;
  for (size_t Shard = 0; Shard < Shards; ++Shard)
    for (const std::string &Name : resultNames(shardFolder(Folder, Shard))) {
      std::string Path = shardFolder(Folder, Shard) + "/" + Name;
      llvm::Expected<std::string> Text = readFile(Path, FileLimit::Record);
      llvm::Expected<ShardResult> Result = Text ? parseShardResult(*Text, Path) : Text.takeError();
      if (!Result)
        Read.Damaged.push_back(llvm::toString(Result.takeError()));
      else if (Result->Shard != Shard || resultName(Result->Node) != Name)
        Read.Damaged.push_back(Path + ": the result is " + Result->name() +
                               ", expected that of the file's name");
      else
        Read.Results.push_back(std::move(*Result));
    }
  return Read;
}
