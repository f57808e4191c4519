// Prints where the tools would find the probe and the devices.
#include "Command/Installation.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

int main(int, char **Argv) {
  carve::InstallTree Tree =
      carve::findInstallTree(llvm::sys::fs::getMainExecutable(Argv[0], nullptr));
  llvm::outs() << Tree.Probe << "\n" << Tree.DevicesDir << "\n";
  return llvm::sys::fs::exists(Tree.Probe) && llvm::sys::fs::exists(Tree.DevicesDir) ? 0 : 1;
}
