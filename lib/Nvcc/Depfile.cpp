#include "Nvcc/Depfile.h"

#include "Support/Error.h"

using namespace llvm;

namespace carve {

bool fitsDepfile(StringRef Path) {
  // A colon ends a target, a percent sign makes it a pattern, and the meaning of a backslash
  // depends on what follows.
  return Path.find_first_of(":%\\\n\r\t") == StringRef::npos;
}

/// Returns \p Path quoted as the preprocessor writes names for Make.
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
  // The form is `k.o : k.cu \`; the target may contain colons.
  size_t End = Depfile.find(" :");
  while (End != StringRef::npos && End + 2 < Depfile.size() && Depfile[End + 2] != ' ' &&
         Depfile[End + 2] != '\n')
    End = Depfile.find(" :", End + 2);
  if (End == StringRef::npos || End == 0)
    return unsupported("unknown-depfile", "no target in '" + Depfile.substr(0, 60) + "'");
  // The makefiles that CMake generates read the first rule alone. So the paths get lines of their
  // own in it, behind the line with the source, which has to stay first.
  StringRef FirstLine = Depfile.take_until([](char C) { return C == '\n'; });
  StringRef Rest = Depfile.drop_front(FirstLine.size());
  Rest.consume_front("\n");
  const bool GoesOn = FirstLine.consume_back("\\");
  std::string Text = FirstLine.rtrim(' ').str();
  for (const std::string &Path : Paths)
    Text += " \\\n    " + quoted(Path);
  Text += GoesOn ? " \\\n" : "\n";
  Text += Rest;
  if (!StringRef(Text).ends_with("\n"))
    Text += '\n';
  for (const std::string &Path : Paths)
    Text += quoted(Path) + " :\n";
  return Text;
}

} // namespace carve
