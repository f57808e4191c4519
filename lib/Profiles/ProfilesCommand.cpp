#include "Profiles/ProfilesCommand.h"

#include "Profiles/DiffReport.h"
#include "Profiles/ProfileMerge.h"
#include "Store/ProfileReader.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/Support/raw_ostream.h"

using namespace carve;

static llvm::Expected<Profile> readProfileFile(const std::string &Path) {
  llvm::Expected<std::string> Text = readFileOrPipe(Path, FileLimit::Record);
  return Text ? parseProfile(*Text, Path) : Text.takeError();
}

static Flags mergeFlags(std::vector<std::string> &Paths, std::string &Output) {
  Flags F("carve merge");
  F.form("[options] FILE...", "merge several profiles into one, for a team");
  F.arguments("FILE...", Paths, "the profiles");
  F.text("-o", "FILE", Output, "write to this file, which may be one of the profiles");
  return F;
}

llvm::Error carve::runMerge(llvm::ArrayRef<std::string> Args, const CommandContext &) {
  std::string Output;
  std::vector<std::string> Paths;
  if (llvm::Error E = mergeFlags(Paths, Output).parse(Args))
    return E;
  if (Paths.empty())
    return usageError("carve merge: no profile, expected: carve merge FILE... [-o FILE]");
  std::vector<Profile> Profiles;
  for (const std::string &Path : Paths) {
    llvm::Expected<Profile> P = readProfileFile(Path);
    if (!P)
      return P.takeError();
    Profiles.push_back(std::move(*P));
  }
  llvm::Expected<Profile> Merged = mergeProfiles(Profiles);
  if (!Merged)
    return Merged.takeError();
  if (!Output.empty())
    return writeFileAtomically(Output, printProfile(*Merged));
  llvm::outs() << printProfile(*Merged);
  return llvm::Error::success();
}

static Flags diffFlags(std::vector<std::string> &Paths, bool &Json, bool &ExitCode) {
  Flags F("carve diff");
  F.form("[options] BEFORE AFTER", "what differs between two profiles");
  F.arguments("BEFORE AFTER", Paths, "the profiles");
  F.choice("--format", {"text", "json"}, Json, "how the differences are printed");
  F.flag("--exit-code", ExitCode, "end with status 1 if anything differs");
  return F;
}

llvm::Error carve::runDiff(llvm::ArrayRef<std::string> Args, const CommandContext &) {
  bool Json = false, ExitCode = false;
  std::vector<std::string> Paths;
  if (llvm::Error E = diffFlags(Paths, Json, ExitCode).parse(Args))
    return E;
  if (Paths.size() != 2)
    return usageError("carve diff: " + llvm::Twine(Paths.size()) +
                      " profile(s), expected: carve diff BEFORE AFTER");
  llvm::Expected<Profile> Before = readProfileFile(Paths[0]);
  if (!Before)
    return Before.takeError();
  llvm::Expected<Profile> After = readProfileFile(Paths[1]);
  if (!After)
    return After.takeError();
  ProfileDiff Diff = diffProfiles(*Before, *After);
  llvm::outs() << (Json ? printDiffJson(Diff) : printDiffText(Diff));
  if (ExitCode && !Diff.empty())
    return llvm::make_error<Differs>();
  return llvm::Error::success();
}
