#include "Nvcc/Depfile.h"

#include "Support/Error.h"

using namespace llvm;

namespace carve {

bool fitsDepfile(StringRef Path) {
  // A colon ends a target, a percent sign makes a pattern of it, and how a backslash is read hangs
  // on what follows.
  return Path.find_first_of(":%\\\n\r\t") == StringRef::npos;
}

/// As the preprocessor writes names for Make.
static std::string quoted(StringRef Path) {
  std::string Text;
  for (char C : Path) {
    if (C == ' ' || C == '#')
      Text += '\\';
    if (C == '$')
      Text += '$';
    Text += C;
  }
  return Text;
}

Expected<std::string> withPrerequisites(StringRef Depfile, ArrayRef<std::string> Paths) {
  // `k.o : k.cu \`; the target may hold colons of its own.
  size_t End = Depfile.find(" :");
  while (End != StringRef::npos && End + 2 < Depfile.size() && Depfile[End + 2] != ' ' &&
         Depfile[End + 2] != '\n')
    End = Depfile.find(" :", End + 2);
  if (End == StringRef::npos || End == 0)
    return unsupported("unknown-depfile", "no target in '" + Depfile.substr(0, 60) + "'");
  StringRef Target = Depfile.substr(0, End);
  std::string Text = Depfile.str();
  if (!Depfile.ends_with("\n"))
    Text += '\n';
  for (const std::string &Path : Paths)
    Text += Target.str() + " : " + quoted(Path) + "\n" + quoted(Path) + " :\n";
  return Text;
}

} // namespace carve
