#include "Fleet/JobScript.h"

#include "Support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace carve;

/// Fails if \p Path would have to be quoted, in the shell or in a line for sbatch. There `%` begins
/// a pattern as well.
static llvm::Error checkPlain(llvm::StringRef Path) {
  size_t At = Path.find_if([](char C) {
    return !llvm::isAlnum(C) && llvm::StringRef("/._-+,:=~").find(C) == llvm::StringRef::npos;
  });
  if (At == llvm::StringRef::npos)
    return llvm::Error::success();
  return usageError("carve fleet plan: the path " + Path + " has '" + Path.substr(At, 1) +
                    "', expected one that job scripts can name: letters, digits and /._-+,:=~");
}

/// Returns the command of a task.
static std::string runText(const FleetPlan &Plan, llvm::StringRef Folder, llvm::StringRef Carve) {
  std::string Run = (Carve + " fleet run " + Folder + "/shard-").str();
  if (Plan.ProgramNodes)
    return llvm::formatv("{0}$((SLURM_ARRAY_TASK_ID % {1}))", Run, Plan.Shards.size()).str();
  return llvm::formatv("srun --nodes={0} --ntasks={0} --ntasks-per-node=1 --wait=0 {1}"
                       "\"$SLURM_ARRAY_TASK_ID\"",
                       Plan.Agree, Run)
      .str();
}

llvm::Expected<std::string> carve::jobScript(llvm::StringRef Template, llvm::StringRef Name,
                                             const FleetPlan &Plan, llvm::StringRef Folder,
                                             llvm::StringRef Carve) {
  for (llvm::StringRef Path : {Folder, Carve})
    if (llvm::Error E = checkPlain(Path))
      return E;
  size_t Tasks = Plan.Shards.size() * (Plan.ProgramNodes ? Plan.Agree : 1);
  std::string Script;
  // Two `@` on one line enclose a place. A single one is text, as in an address for mail.
  for (llvm::StringRef Line : llvm::split(Template, '\n')) {
    for (size_t Begin; (Begin = Line.find('@')) != llvm::StringRef::npos;) {
      size_t End = Line.find('@', Begin + 1);
      if (End == llvm::StringRef::npos)
        break;
      llvm::StringRef Place = Line.slice(Begin + 1, End);
      std::string Filled =
          llvm::StringSwitch<std::string>(Place)
              .Case("ARRAY", "0-" + std::to_string(Tasks - 1))
              .Case("NODES", std::to_string(Plan.ProgramNodes ? Plan.ProgramNodes : Plan.Agree))
              .Case("FOLDER", Folder.str())
              .Case("RUN", runText(Plan, Folder, Carve))
              .Default("");
      if (Filled.empty())
        return usageError("carve fleet plan: " + Name + " has @" + Place +
                          "@, expected @ARRAY@, @NODES@, @FOLDER@ or @RUN@");
      Script += (Line.take_front(Begin) + Filled).str();
      Line = Line.drop_front(End + 1);
    }
    Script += (Line + "\n").str();
  }
  // The last line feed of the template was read as the begin of an empty line.
  if (Template.ends_with("\n"))
    Script.pop_back();
  return Script;
}
