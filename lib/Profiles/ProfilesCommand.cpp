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

llvm::Error carve::runMerge(llvm::ArrayRef<std::string> Args, const CommandContext &) {
  std::string Output;
  Flags F("carve merge");
  F.text("-o", Output);
  std::vector<std::string> Paths, Rest;
  if (llvm::Error E = F.parse(Args, Paths, Rest))
    return E;
  Paths.insert(Paths.end(), Rest.begin(), Rest.end());
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

llvm::Error carve::runDiff(llvm::ArrayRef<std::string> Args, const CommandContext &) {
  unsigned Format = 0;
  bool ExitCode = false;
  Flags F("carve diff");
  F.choice("--format", {"text", "json"}, Format);
  F.flag("--exit-code", ExitCode);
  std::vector<std::string> Paths, Rest;
  if (llvm::Error E = F.parse(Args, Paths, Rest))
    return E;
  Paths.insert(Paths.end(), Rest.begin(), Rest.end());
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
  llvm::outs() << (Format ? printDiffJson(Diff) : printDiffText(Diff));
  if (ExitCode && !Diff.empty())
    return llvm::make_error<Differs>();
  return llvm::Error::success();
}
