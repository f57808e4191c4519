/// \file
/// What one node found out about one shard: the decisions of its tuning and the report. It is one
/// file, `shard-N/NODE.json`, that is written once and never changed. Its name has the node, so
/// that no two nodes write the same file, and none needs a lock.
#pragma once

#include "Store/Profile.h"
#include "Tune/Outcome/TuningReport.h"

#include <map>

namespace carve {

/// The result of one shard on one node. The GPU and its driver are in Report.
struct ShardResult {
  std::string Plan; ///< FleetPlan::Digest of the plan that was carried out.
  unsigned Shard = 0;
  std::string Node;
  std::string Toolkit;                      ///< The version of the node's nvcc.
  std::map<std::string, Profile> Decisions; ///< By unit key.
  TuningReport Report;

  /// Returns the name of the file below the plan's folder: `shard-7/node1.json`.
  std::string name() const;
};

/// Returns the name of the file of \p Node in the folder of the shard.
std::string resultName(llvm::StringRef Node);

/// Returns the result as JSON; share/doc/formats.md describes it.
std::string printShardResult(const ShardResult &R);
/// Reads what printShardResult() wrote. Fails with a message that names \p Name and the member.
llvm::Expected<ShardResult> parseShardResult(llvm::StringRef Text, llvm::StringRef Name);

/// The results of a plan that can be read, and why others cannot.
struct ReadResults {
  std::vector<ShardResult> Results; ///< By shard, then by the name of the node.
  std::vector<std::string> Damaged; ///< One message for each file that cannot be read.
};

/// Reads the results of \p Shards shards in \p Folder. A shard without a folder has none.
ReadResults readShardResults(llvm::StringRef Folder, size_t Shards);

} // namespace carve
