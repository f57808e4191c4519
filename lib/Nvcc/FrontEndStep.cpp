#include "Nvcc/FrontEndStep.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace path = llvm::sys::path;

/// Sets \p Name to the name of \p File. Returns false if \p Name is already set, or if the file
/// does not lie in the step's directory, which the first file defines.
static bool takeFile(llvm::StringRef File, FrontEndStep &S, std::string &Name) {
  llvm::StringRef Dir = path::parent_path(File);
  if (S.KeepDir.empty())
    S.KeepDir = Dir;
  if (!Name.empty() || Dir.empty() || Dir != S.KeepDir)
    return false;
  Name = path::filename(File);
  return !Name.empty();
}

std::optional<FrontEndStep> carve::readFrontEndStep(llvm::ArrayRef<std::string> Words) {
  FrontEndStep S;
  for (size_t I = 1; I < Words.size(); ++I) {
    llvm::StringRef Word = Words[I];
    llvm::StringRef Next = I + 1 == Words.size() ? "" : llvm::StringRef(Words[I + 1]);
    // cicc accepts the option in these two forms, and only once.
    bool Joined = Word.starts_with("-maxreg=");
    if (Joined || Word == "-maxreg") {
      unsigned Cap;
      if (S.Cap || (Joined ? Word.substr(8) : Next).getAsInteger(10, Cap))
        return std::nullopt;
      S.Cap = Cap;
      I += !Joined;
      continue;
    }
    if (Word == "-o" && !takeFile(Next, S, S.PtxName))
      return std::nullopt;
    if (Word == "--module_id_file_name" && !takeFile(Next, S, S.ModuleIdName))
      return std::nullopt;
    if (Word.ends_with(".ii") && !Word.starts_with("-") && !takeFile(Word, S, S.InputName))
      return std::nullopt;
    S.Arguments.push_back(Words[I]);
  }
  if (S.InputName.empty() || S.PtxName.empty())
    return std::nullopt;
  return S;
}
