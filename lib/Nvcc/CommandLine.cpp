#include "Nvcc/CommandLine.h"

#include "Nvcc/ArgumentList.h"
#include "Nvcc/ToolArguments.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <climits>

using namespace llvm;

namespace carve {

char NoDeviceSource::ID = 0;

namespace {

/// The effect of the options of a command, collected in nvcc's order, because the last one counts.
struct Settings {
  bool MakesObject = false;
  bool Shared = false;
  bool Relocatable = false;
  bool WritesDepfile = false;
  bool ForwardsUnknown = false;
  std::string Output, Language, DepfilePath;
  std::string DriverCap; ///< The value of -maxrregcount.
};

} // namespace

static Error takePhase(const Argument &A, Settings &S) {
  StringRef Name = A.Option->Short;
  if (Name == "-c" || Name == "-dc" || Name == "-dw")
    S.MakesObject = true;
  else if (Name == "-shared")
    S.Shared = true;
  else if (Name == "-dlink")
    return make_error<NoDeviceSource>(A.Option->Reason.str(), A.Words[0]);
  else if (Name != "-link")
    return unsupported(A.Option->Reason, A.Words[0]);
  // -dw means -rdc=false, which is the default; nvcc refuses it together with -rdc=true.
  if (Name == "-dc")
    S.Relocatable = true;
  return Error::success();
}

/// Fails if \p Words name an output, because such files would not be redirected or would be
/// overwritten.
static Error checkHostWords(ArrayRef<std::string> Words) {
  for (const std::string &Word : Words)
    if (writesBesideOutput(Word))
      return unsupported("host-compiler-output", Word);
  return Error::success();
}

static Error takeHostWords(ArrayRef<std::string> Words, Settings &S) {
  S.Shared |= is_contained(Words, "-shared");
  return checkHostWords(Words);
}

static Error takeOption(const Argument &A, Settings &S) {
  switch (A.Option->Kind) {
  case Effect::TooHard:
    return unsupported(A.Option->Reason, A.Words[0]);
  case Effect::Phase:
    return takePhase(A, S);
  case Effect::Target:
    if (StringRef(A.Value).contains("lto_"))
      return unsupported("device-lto", A.Value);
    break;
  case Effect::ToolOptions:
    if (!isPtxasOptions(A))
      return takeHostWords(hostCompilerWords(A.Value), S);
    break;
  case Effect::Output:
    if (A.Value.empty())
      return unsupported("no-output-name", "-o with an empty name");
    S.Output = A.Value;
    break;
  case Effect::Language:
    S.Language = A.Value;
    break;
  case Effect::RegisterCap:
    S.DriverCap = A.Value;
    break;
  case Effect::Relocatable:
    S.Relocatable = A.Value == "true";
    break;
  case Effect::Dependency:
    S.WritesDepfile |= A.Option->Short == "-MD" || A.Option->Short == "-MMD";
    if (A.Option->Short == "-MF")
      S.DepfilePath = A.Value;
    break;
  case Effect::ForwardUnknown:
    S.ForwardsUnknown = true;
    break;
  case Effect::None:
  case Effect::Opaque:
  case Effect::OptionsFile:
    break;
  }
  return Error::success();
}

static Error takeOptions(ArrayRef<Argument> Arguments, Settings &S) {
  for (const Argument &A : Arguments) {
    if (A.Is != Argument::Kind::Option)
      continue;
    if (Error E = takeOption(A, S))
      return E;
    if (Error E = takeOptions(A.Nested, S))
      return E;
  }
  return Error::success();
}

/// Fails if a word is unknown. If unknown words are forwarded they belong to the host compiler, and
/// a word after one is an input.
static Error checkUnknown(ArrayRef<Argument> Arguments, const Settings &S) {
  for (const Argument &A : Arguments) {
    if (Error E = checkUnknown(A.Nested, S))
      return E;
    if (A.Is != Argument::Kind::Unknown)
      continue;
    // An option of nvcc without its value, or with a value too many, is not forwarded.
    bool IsNvccs = findOption(StringRef(A.Value).split('=').first) != nullptr;
    if (!S.ForwardsUnknown || IsNvccs)
      return unsupported("unknown-option", A.Value);
    if (Error E = checkHostWords(A.Words))
      return E;
  }
  return Error::success();
}

/// Fails if the shell would change \p Path. nvcc runs its steps through a shell, in double quotes,
/// so a name with certain characters is not the name of the file.
static Error checkName(StringRef Path) {
  if (Path.find_first_of("$`\"\\\n") != StringRef::npos)
    return unsupported("shell-name", Path);
  return Error::success();
}

static Expected<InputKind> inputKind(StringRef Path, StringRef Language) {
  if (Path == "-")
    return unsupported("stdin", "the source is standard input");
  // -x applies to every input, wherever it is written, even to objects.
  if (!Language.empty())
    return Language == "cu" ? InputKind::DeviceSource : InputKind::HostSource;
  StringRef Suffix = sys::path::extension(Path);
  if (is_contained({".ptx", ".cubin", ".fatbin", ".gpu", ".ltoir", ".optixir"}, Suffix))
    return unsupported("device-code-input", Path);
  using Kind = std::optional<InputKind>;
  Kind K = StringSwitch<Kind>(Suffix)
               .Case(".cu", InputKind::DeviceSource)
               .Cases(".c", ".cc", ".cpp", ".cxx", InputKind::HostSource)
               .Cases(".i", ".ii", ".s", ".S", InputKind::HostSource)
               .Cases(".o", ".obj", InputKind::Object)
               .Cases(".a", ".lib", ".so", ".res", InputKind::Library)
               .Default(std::nullopt);
  if (!K)
    return unsupported("unknown-input", Path);
  return *K;
}

static Error collectInputs(ArrayRef<Argument> Arguments, StringRef Language, CommandLine &C) {
  size_t Index = 0;
  for (const Argument &A : Arguments) {
    if (A.Is == Argument::Kind::Input) {
      Expected<InputKind> Kind = inputKind(A.Value, Language);
      if (!Kind)
        return Kind.takeError();
      if (Error E = checkName(A.Value))
        return E;
      C.Inputs.push_back({A.Value, *Kind, Index});
    }
    Index += A.Words.size();
  }
  return Error::success();
}

static bool isSource(const Input &I) {
  return I.Kind == InputKind::DeviceSource || I.Kind == InputKind::HostSource;
}

static Error checkInputs(const CommandLine &C) {
  if (C.Inputs.empty())
    return unsupported("no-input", "no input files");
  if (none_of(C.Inputs, [](const Input &I) { return I.Kind == InputKind::DeviceSource; }))
    return make_error<NoDeviceSource>("no-device-source", "only host sources and objects");
  if (C.makesSeveralObjects() && !all_of(C.Inputs, isSource))
    return unsupported("several-inputs", "objects beside sources with -c");
  // Intermediate files in one keep directory are named after the stem.
  StringSet<> Stems;
  for (const Input &I : make_filter_range(C.Inputs, isSource))
    if (!Stems.insert(sys::path::stem(I.Path)).second)
      return unsupported("same-stem", I.Path);
  // nvcc writes one depfile for each source and refuses -MF, so no output can be redirected.
  if (C.WritesDepfile && count_if(C.Inputs, isSource) > 1)
    return unsupported("several-depfiles", "-MD with several sources");
  return Error::success();
}

static Error checkOutput(StringRef Output, StringRef WorkDir) {
  if (Error E = checkName(Output))
    return E;
  sys::fs::file_status Status;
  if (!sys::fs::status(absolutePath(Output, WorkDir), Status) && !sys::fs::is_regular_file(Status))
    return unsupported("special-output", Output + " is not a regular file");
  return Error::success();
}

Error checkLinkedName(StringRef Output) {
  // nvcc appends `_dlink.sm_100a.cubin` or the like, and prepends a number of up to 40 characters.
  constexpr size_t MostBytes = NAME_MAX - 80;
  if (sys::path::filename(Output).size() > MostBytes)
    return unsupported("long-output-name", Output);
  return Error::success();
}

static Error checkOutputs(const CommandLine &C, const Settings &S, StringRef WorkDir) {
  // nvcc links device code for every program, relocatable or not.
  if (C.Makes != Product::Object)
    if (Error E = checkLinkedName(C.Output))
      return E;
  if (!C.makesSeveralObjects())
    return checkOutput(C.Output, WorkDir);
  if (!S.Output.empty())
    return unsupported("several-inputs", "-o " + S.Output + " with several inputs");
  for (const Input &I : C.Inputs)
    if (Error E = checkOutput(C.outputOf(I.Path), WorkDir))
      return E;
  return Error::success();
}

/// Parses \p Text as nvcc does, in decimal, octal or hexadecimal.
static Expected<std::optional<unsigned>> parseCap(StringRef Text) {
  Text = Text.trim();
  unsigned Cap = 0;
  if (!Text.empty() && Text.getAsInteger(0, Cap))
    return unsupported("register-cap", "maxrregcount '" + Text + "'");
  if (Cap == 0 || Cap > 255)
    return std::nullopt;
  return Cap;
}

static Error takeRegisterCap(ArrayRef<Argument> All, const Settings &S, CommandLine &C) {
  std::vector<std::string> Words = ptxasWords(All);
  if (Error E = checkPtxasWords(Words))
    return E;
  Expected<std::optional<unsigned>> Driver = parseCap(S.DriverCap);
  if (!Driver)
    return Driver.takeError();
  Expected<std::optional<unsigned>> Ptxas = parseCap(ptxasRegisterCap(Words).value_or(""));
  if (!Ptxas)
    return Ptxas.takeError();
  // nvcc passes its own cap after those of -Xptxas, and ptxas uses the last one.
  C.RegisterCap = *Driver ? *Driver : *Ptxas;
  return Error::success();
}

/// Returns NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS as arguments. Fails if they hold something that
/// a rewritten command would have to change, because carve cannot change it there.
static Expected<std::vector<Argument>> environmentArguments(StringRef Flags, StringRef WorkDir) {
  Expected<std::vector<std::string>> Words = splitWords(Flags, Quotes::Kept);
  if (!Words)
    return Words.takeError();
  Expected<std::vector<Argument>> Arguments = expandArguments(*Words, WorkDir);
  if (!Arguments)
    return Arguments.takeError();
  for (const Argument &A : *Arguments)
    if (A.Is == Argument::Kind::Input || A.is(Effect::Output) || A.is(Effect::Dependency) ||
        A.is(Effect::Language))
      return unsupported("environment-flags", A.Words[0]);
  return Arguments;
}

static Expected<std::vector<Argument>> allArguments(const std::vector<Argument> &User,
                                                    const NvccEnvironment &Env) {
  Expected<std::vector<Argument>> All = environmentArguments(Env.PrependFlags, Env.WorkDir);
  if (!All)
    return All;
  append_range(*All, User);
  Expected<std::vector<Argument>> Append = environmentArguments(Env.AppendFlags, Env.WorkDir);
  if (!Append)
    return Append;
  append_range(*All, *Append);
  return All;
}

static Error applySettings(const Settings &S, CommandLine &C) {
  C.Makes = S.MakesObject ? Product::Object
            : S.Shared    ? Product::SharedObject
                          : Product::Executable;
  C.Relocatable = S.Relocatable;
  C.WritesDepfile = S.WritesDepfile;
  return checkName(S.DepfilePath);
}

static unsigned countRegisterCaps(ArrayRef<Argument> Arguments) {
  unsigned Driver =
      count_if(Arguments, [](const Argument &A) { return A.is(Effect::RegisterCap); });
  for (const Argument &A : Arguments)
    Driver += countRegisterCaps(A.Nested);
  return Driver + ptxasRegisterCap(ptxasWords(Arguments)).has_value();
}

static std::string defaultObject(StringRef Source) {
  return (sys::path::stem(Source) + ".o").str();
}

/// Returns the depfile as nvcc derives it: from `-o` if it is given, otherwise from the source, in
/// the working directory and as if for an object.
static std::string depfileOf(const CommandLine &C, const Settings &S) {
  if (!C.WritesDepfile)
    return "";
  if (!S.DepfilePath.empty())
    return S.DepfilePath;
  std::string Target = S.Output;
  if (Target.empty())
    Target = defaultObject(
        find_if(C.Inputs, [](const Input &I) { return I.Kind == InputKind::DeviceSource; })->Path);
  // LLVM's replace_extension sees no extension in `.hid`; nvcc replaces it by `.d`.
  StringRef Name = sys::path::filename(Target);
  StringRef Dir = StringRef(Target).drop_back(Name.size());
  return (Dir + Name.substr(0, Name.rfind('.')) + ".d").str();
}

std::string CommandLine::outputOf(StringRef Source) const {
  return makesSeveralObjects() ? defaultObject(Source) : Output;
}

static void collectWords(ArrayRef<Argument> Arguments, std::vector<std::string> &Words) {
  for (const Argument &A : Arguments) {
    append_range(Words, A.Words);
    collectWords(A.Nested, Words);
  }
}

Expected<CommandLine> parseCommandLine(ArrayRef<std::string> Argv, const NvccEnvironment &Env) {
  Expected<std::vector<Argument>> User = expandArguments(Argv, Env.WorkDir);
  if (!User)
    return User.takeError();
  Expected<std::vector<Argument>> All = allArguments(*User, Env);
  if (!All)
    return All.takeError();

  CommandLine C;
  C.Argv.assign(Argv.begin(), Argv.end());
  C.Expanded = joinArguments(*User);
  collectWords(*All, C.AllWords);
  Settings S;
  if (Error E = takeOptions(*All, S))
    return E;
  if (Error E = checkUnknown(*All, S))
    return E;
  if (Error E = applySettings(S, C))
    return E;
  if (Error E = collectInputs(*User, S.Language, C))
    return E;
  if (Error E = checkInputs(C))
    return E;
  if (Error E = takeRegisterCap(*All, S, C))
    return E;
  C.CapFromEnvironment = countRegisterCaps(*All) > countRegisterCaps(*User);
  C.Output = S.Output;
  if (C.Output.empty())
    C.Output = C.Makes != Product::Object ? "a.out" : defaultObject(C.Inputs.front().Path);
  if (Error E = checkOutputs(C, S, Env.WorkDir))
    return E;
  C.Depfile = depfileOf(C, S);
  return C;
}

} // namespace carve
