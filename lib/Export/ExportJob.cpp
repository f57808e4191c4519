#include "Export/ExportJob.h"

#include "Support/Error.h"
#include "Support/Files.h"

using namespace carve;

void ExportItem::leave(std::string Reason) {
  Out.Reason = std::move(Reason);
  Out.Written.clear();
  Out.Lost.clear();
  Out.Code = {};
  Forms.clear();
}

std::string ExportJob::relative(llvm::StringRef Path) const {
  llvm::StringRef Root = Options.Root;
  if (!Path.consume_front(Root) || !(Root.ends_with("/") || Path.starts_with("/")))
    return "";
  return Path.ltrim('/').str();
}

llvm::Expected<SourceFile *> carve::sourceFile(ExportJob &Job, llvm::StringRef Path) {
  std::string Key = normalisedPath(Path, Job.Options.Root);
  auto &Slot = Job.Files[Key];
  if (Slot)
    return Slot.get();
  std::string Relative = Job.relative(Key);
  if (Relative.empty()) {
    Job.Files.erase(Key);
    return malformed("it is defined in " + Key + ", outside of the project " + Job.Options.Root);
  }
  llvm::Expected<std::string> Text = readFile(Key);
  if (!Text) {
    Job.Files.erase(Key);
    return malformed("its source cannot be read: " + llvm::toString(Text.takeError()));
  }
  Slot = std::make_unique<SourceFile>();
  Slot->Path = Key;
  Slot->Relative = std::move(Relative);
  Slot->Text = std::move(*Text);
  Slot->Kernels = findKernels(Slot->Text);
  return Slot.get();
}
