// A compiler takes `#include <a/b.h>` from the first folder that has it, and `#include "a/b.h"`
// first from the folder of the including file. The name by which a header was included is not
// known, but it is the header's path without one of the folders. No folder that was searched
// earlier has a file with that name. The order of the folders is not known; so all are tried, and
// existing files are left out.
#include "Nvcc/HeaderSearch.h"

#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace llvm;

namespace carve {

std::vector<std::string> headerFolders(ArrayRef<std::vector<std::string>> HostCommands) {
  std::vector<std::string> Folders;
  for (const std::vector<std::string> &Words : HostCommands)
    for (size_t I = 0; I < Words.size(); ++I)
      for (StringRef Option : {"-idirafter", "-iquote", "-isystem", "-I"}) {
        StringRef Folder = Words[I];
        if (!Folder.consume_front(Option))
          continue;
        if (Folder.empty() && I + 1 < Words.size())
          Folder = Words[++I];
        if (!Folder.empty() && !is_contained(Folders, Folder))
          Folders.push_back(Folder.str());
        break;
      }
  return Folders;
}

/// Returns the position of \p Query in \p Text at or after \p From. There are many headers, and
/// StringRef's own search is slower.
static size_t findFrom(StringRef Text, StringRef Query, size_t From) {
  StringRef Rest = Text.drop_front(std::min(From, Text.size()));
  const void *At = ::memmem(Rest.data(), Rest.size(), Query.data(), Query.size());
  return At ? static_cast<const char *>(At) - Text.data() : StringRef::npos;
}

/// Adds the names that \p Text asks for by \p Query, which is `__has_include` or a library's macro
/// for it.
static void addNames(StringRef Text, StringRef Query, std::set<std::string> &Names) {
  for (size_t At = 0; (At = findFrom(Text, Query, At)) != StringRef::npos;) {
    StringRef Rest = Text.drop_front(At += Query.size());
    Rest.consume_front("_next");
    Rest = Rest.ltrim();
    if (!Rest.consume_front("("))
      continue;
    Rest = Rest.ltrim();
    char End = Rest.starts_with("<") ? '>' : '"';
    if (!Rest.consume_front("<") && !Rest.consume_front("\""))
      continue; // This is the definition of a macro, which is used with a name elsewhere.
    size_t Length = Rest.find(End);
    if (Length != StringRef::npos && !Rest.take_front(Length).contains('\n'))
      Names.insert(Rest.take_front(Length).str());
  }
}

void readQueries(StringRef Text, HeaderQueries &Queries) {
  addNames(Text, "has_include", Queries.Names);
  addNames(Text, "HAS_INCLUDE", Queries.Names);
  for (size_t At = 0; (At = findFrom(Text, "embed", At)) != StringRef::npos; At += 5)
    Queries.Embeds |= Text.take_front(At).rtrim(" \t").ends_with("#");
}

/// Returns the folder of a compiler in which \p File was found and that no option names:
/// `/usr/lib/gcc/x86_64-linux-gnu/12/include`, `/usr/include/c++/12`, `/usr/include`. Returns an
/// empty text for other files.
static StringRef systemFolder(StringRef File) {
  constexpr StringLiteral Include = "/include/";
  size_t At = File.find(Include);
  if (At == StringRef::npos || !File.starts_with("/"))
    return "";
  size_t End = At + Include.size() - 1;
  auto Take = [&](function_ref<bool(StringRef)> Fits) {
    StringRef Part = File.drop_front(End + 1).split('/').first;
    bool Taken = End + 1 + Part.size() < File.size() && Fits(Part);
    if (Taken)
      End += 1 + Part.size();
    return Taken;
  };
  auto IsTriple = [](StringRef Part) { return Part.contains("-linux-"); };
  Take(IsTriple);
  if (Take([](StringRef Part) { return Part == "c++"; }) && Take([](StringRef) { return true; }))
    Take([&](StringRef Part) { return IsTriple(Part) || Part == "backward"; });
  return File.take_front(End);
}

static bool isMissing(StringRef Path, StringRef WorkDir) {
  sys::fs::file_status Status;
  (void)sys::fs::status(absolutePath(Path, WorkDir), Status, /*follow=*/false);
  return Status.type() == sys::fs::file_type::file_not_found;
}

/// Returns the first missing part of the missing path \p Path, starting after \p Folder.
static std::string firstMissing(StringRef Folder, StringRef Path, StringRef WorkDir) {
  for (size_t End = Folder.size(); End < Path.size();
       End = std::min(Path.find('/', End + 1), Path.size()))
    if (isMissing(Path.take_front(End), WorkDir))
      return Path.take_front(End).str();
  return Path.str();
}

/// Adds those of \p Names that are missing in \p Folder. Names of one library start with the same
/// folder and are sorted, so one missing folder usually settles them all.
static void addMissing(StringRef Folder, const std::set<std::string> &Names,
                       const HeaderNames &Headers, StringRef WorkDir,
                       std::set<std::string> &Missing) {
  std::string Last;
  for (StringRef Name : Names) {
    std::string Path = (Folder + "/" + Name).str();
    StringRef Rest = Path;
    if (!Last.empty() && Rest.consume_front(Last) && (Rest.empty() || Rest[0] == '/'))
      continue;
    if (Headers.Read.count(Path) || !isMissing(Path, WorkDir))
      continue;
    Last = firstMissing(Folder, Path, WorkDir);
    Missing.insert(Last);
  }
}

std::set<std::string> missingHeaders(const HeaderNames &Headers, ArrayRef<std::string> Folders,
                                     StringRef WorkDir) {
  std::set<std::string> Searched(Folders.begin(), Folders.end()), Quoting;
  Searched.insert("/usr/local/include"); // Every compiler knows this folder, and it is often empty.
  for (StringRef File : Headers.Read)
    if (StringRef System = systemFolder(File); !System.empty())
      Searched.insert(System.str());
  std::set<std::string> Names;
  auto Add = [&](StringRef Name) {
    if (!Name.empty() && !Name.starts_with("/"))
      Names.insert(Name.str());
  };
  for (StringRef File : Headers.Read) {
    for (StringRef Folder : Searched)
      if (StringRef Name = File; Name.consume_front(Folder) && Name.consume_front("/"))
        Add(Name);
    if (!Headers.IsOfSystem(File))
      Quoting.insert(File.contains('/') ? sys::path::parent_path(File).str() : ".");
  }
  for (StringRef Name : Headers.Queried)
    Add(Name);
  Searched.insert(Quoting.begin(), Quoting.end());
  std::set<std::string> Missing;
  for (StringRef Folder : Searched)
    addMissing(Folder, Names, Headers, WorkDir, Missing);
  return Missing;
}

} // namespace carve
