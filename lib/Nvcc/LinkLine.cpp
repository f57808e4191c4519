#include "Nvcc/LinkLine.h"

#include "Nvcc/ArgumentList.h"
#include "Nvcc/RelocatableCode.h"
#include "Nvcc/ToolArguments.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace carve {

namespace {

/// The effect of the arguments, in nvcc's order.
struct LinkSettings {
  bool DeviceOnly = false; ///< -dlink is given.
  bool ForwardsUnknown = false;
  std::string Output;
  std::vector<std::string> LibraryDirs, Libraries, Inputs, Unknown;
};

} // namespace

static Error takeOption(const Argument &A, LinkSettings &S) {
  StringRef Name = A.Option->Short;
  switch (A.Option->Kind) {
  case Effect::TooHard:
    return unsupported(A.Option->Reason, A.Words[0]);
  case Effect::Phase:
    if (Name == "-dlink")
      S.DeviceOnly = true;
    else if (Name != "-link" && Name != "-shared")
      return unsupported(A.Option->Reason.empty() ? "no-device-source" : A.Option->Reason,
                         A.Words[0]);
    break;
  case Effect::Target:
    if (StringRef(A.Value).contains("lto_"))
      return unsupported("device-lto", A.Value);
    break;
  case Effect::ToolOptions:
    for (const std::string &Word :
         isPtxasOptions(A) ? std::vector<std::string>() : hostCompilerWords(A.Value))
      if (writesBesideOutput(Word))
        return unsupported("host-compiler-output", Word);
    break;
  case Effect::Language: // It makes every input a source.
    return unsupported("unknown-input", A.Words[0]);
  case Effect::Output:
    if (A.Value.empty())
      return unsupported("no-output-name", "-o with an empty name");
    S.Output = A.Value;
    break;
  case Effect::ForwardUnknown:
    S.ForwardsUnknown = true;
    break;
  default:
    if (Name == "-L")
      append_range(S.LibraryDirs, splitList(A.Value));
    else if (Name == "-l")
      append_range(S.Libraries, splitList(A.Value));
    break;
  }
  return Error::success();
}

static Error takeArguments(ArrayRef<Argument> Arguments, LinkSettings &S) {
  for (const Argument &A : Arguments) {
    if (A.Is == Argument::Kind::Input)
      S.Inputs.push_back(A.Value);
    else if (A.Is == Argument::Kind::Unknown)
      S.Unknown.push_back(A.Value);
    else if (Error E = takeOption(A, S))
      return E;
    if (Error E = takeArguments(A.Nested, S))
      return E;
  }
  return Error::success();
}

static Error takeWords(ArrayRef<std::string> Words, StringRef WorkDir, LinkSettings &S) {
  Expected<std::vector<Argument>> Arguments = expandArguments(Words, WorkDir);
  return Arguments ? takeArguments(*Arguments, S) : Arguments.takeError();
}

/// Applies the flags of NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS to \p S.
static Error takeFlags(StringRef Flags, StringRef WorkDir, LinkSettings &S) {
  Expected<std::vector<std::string>> Words = splitWords(Flags, Quotes::Kept);
  return Words ? takeWords(*Words, WorkDir, S) : Words.takeError();
}

/// Sorts the inputs by kind. Fails if a link cannot have an input of that kind.
static Error takeInputs(const LinkSettings &S, LinkLine &L) {
  StringSet<> Stems;
  for (StringRef Path : S.Inputs) {
    StringRef Suffix = sys::path::extension(Path);
    if (Path.find_first_of("$`\"\\\n") != StringRef::npos)
      return unsupported("shell-name", Path);
    if (is_contained({".o", ".obj", ".a", ".lib"}, Suffix))
      L.Files.push_back(Path.str());
    else if (is_contained({".c", ".cc", ".cpp", ".cxx", ".i", ".ii", ".s", ".S"}, Suffix)) {
      // Intermediate files in one keep directory are named after the stem.
      if (!Stems.insert(sys::path::stem(Path)).second)
        return unsupported("same-stem", Path);
    } else if (Suffix != ".so" && Suffix != ".res")
      return unsupported("unknown-input", Path);
  }
  return Error::success();
}

Expected<LinkLine> parseLinkLine(ArrayRef<std::string> Argv, const NvccEnvironment &Env) {
  LinkSettings S;
  if (Error E = takeFlags(Env.PrependFlags, Env.WorkDir, S))
    return E;
  if (Error E = takeWords(Argv, Env.WorkDir, S))
    return E;
  if (Error E = takeFlags(Env.AppendFlags, Env.WorkDir, S))
    return E;
  for (StringRef Word : S.Unknown) // An option of nvcc that lacks its value is not forwarded.
    if (!S.ForwardsUnknown || findOption(Word.split('=').first))
      return unsupported("unknown-option", Word);
    else if (writesBesideOutput(Word))
      return unsupported("host-compiler-output", Word);

  LinkLine L;
  L.Argv.assign(Argv.begin(), Argv.end());
  if (Error E = takeInputs(S, L))
    return E;
  for (const std::string &Name : S.Libraries)
    if (std::string Path = findArchive(Name, S.LibraryDirs, Env.WorkDir); !Path.empty())
      L.Files.push_back(std::move(Path));
  L.Output = S.Output;
  if (L.Output.empty())
    L.Output = S.DeviceOnly ? "a_dlink.o" : "a.out";
  if (Error E = checkLinkedName(L.Output))
    return E;
  return L;
}

} // namespace carve
