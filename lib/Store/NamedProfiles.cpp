#include "Store/NamedProfiles.h"

#include "Support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

llvm::Expected<CurrentProfiles> carve::currentProfiles(std::string Given, GetEnv Env) {
  if (!Given.empty() && !llvm::sys::fs::exists(Given))
    return usageError("there is no profile " + Given);
  if (Given.empty())
    Given = Env("CARVE_PROFILE").value_or("");
  llvm::SmallString<256> WorkDir;
  (void)llvm::sys::fs::current_path(WorkDir);
  llvm::Expected<CurrentProfiles> Profiles = CurrentProfiles::read(Given, WorkDir);
  if (Profiles && !Profiles->warning().empty())
    llvm::errs() << "carve: warning: " << Profiles->warning() << "\n";
  return Profiles;
}
