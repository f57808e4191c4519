#include "Version/Version.h"

#include "Commit.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Config/llvm-config.h"

using namespace carve;

const char carve::ProjectVersion[] = CARVE_VERSION;

std::string carve::versionText(llvm::StringRef Program) {
  return versionText(Program, CARVE_COMMIT);
}

std::string carve::versionText(llvm::StringRef Program, llvm::StringRef Commit) {
  std::string Text = (Program + " " + ProjectVersion + "\n").str();
  if (!Commit.empty())
    Text += ("commit    " + Commit + "\n").str();
  return Text + "LLVM      " LLVM_VERSION_STRING "\ntoolkits  CUDA " + OldestToolkit + " to " +
         NewestToolkit + "\n";
}
