#include "Nvcc/FrontEnd.h"

#include "Nvcc/Text/KernelAssumptions.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Returns the cicc of the toolkit \p T, never one that a record names.
static llvm::Expected<std::string> findCicc(const Toolchain &T) {
  std::string Places[] = {path::parent_path(T.BinDir).str() + "/nvvm/bin/cicc", T.tool("cicc")};
  for (const std::string &Place : Places)
    if (path::is_absolute(Place) && fs::can_execute(Place) && !fs::is_directory(Place))
      return Place;
  return unsupported("no-front-end",
                     "no cicc at " + llvm::join(llvm::ArrayRef<std::string>(Places), ", "));
}

/// Returns \p Argument with its file moved to \p Dir. The file is the whole argument or the part
/// after its `=`. If the file does not lie in \p KeepDir, the argument is returned unchanged.
static std::string moved(llvm::StringRef Argument, llvm::StringRef KeepDir, llvm::StringRef Dir) {
  llvm::StringRef File = Argument;
  if (!File.starts_with("/") && File.contains('='))
    File = File.split('=').second;
  llvm::StringRef Option = Argument.drop_back(File.size());
  if (!File.consume_front(KeepDir) || !File.starts_with("/"))
    return Argument.str();
  return (Option + Dir + File).str();
}

static Command ciccCommand(const FlavourRequest &Request, const std::string &Cicc,
                           const std::string &Dir) {
  Command C;
  C.Argv = {Cicc};
  for (const std::string &Argument : argumentsWith(Request.Setting.Knob, Request.Step.Arguments))
    C.Argv.push_back(moved(Argument, Request.Step.KeepDir, Dir));
  if (std::optional<unsigned> Cap = Request.Setting.Cap ? Request.Setting.Cap : Request.Step.Cap) {
    C.Argv.push_back("-maxreg");
    C.Argv.push_back(std::to_string(*Cap));
  }
  C.StdinPath = "/dev/null";
  C.Dir = fs::is_directory(Request.Directory) ? Request.Directory.str() : Dir;
  // If cicc fails, it leaves a file in TMPDIR.
  C.Environment = {"PWD=" + C.Dir, "TMPDIR=" + Dir};
  std::string Library = (path::parent_path(path::parent_path(Cicc)) + "/libdevice").str();
  if (fs::is_directory(Library))
    C.Environment.push_back("NVVMIR_LIBRARY_DIR=" + Library);
  return C;
}

/// Returns the part of PTX before its first declaration: the compiler's release and build, the
/// version of PTX, and the target.
static llvm::StringRef headOf(llvm::StringRef Ptx) {
  return Ptx.take_front(Ptx.find(".address_size"));
}

/// Returns \p Head without what depends on the LLVM that made the PTX: its release, and the target.
static std::string withoutLlvm(llvm::StringRef Head) {
  std::string Rest;
  for (llvm::StringRef Line : llvm::split(Head, '\n'))
    if (!Line.starts_with("// Based on ") && !Line.starts_with(".target "))
      (Rest += Line) += '\n';
  return Rest;
}

/// Gives \p Ptx, which \p Cicc made, the head of the PTX that the compile made.
static llvm::Expected<std::string> withOwnHead(llvm::StringRef Ptx, const FlavourRequest &Request,
                                               llvm::StringRef Cicc) {
  llvm::StringRef Own = headOf(Request.Original), Made = headOf(Ptx);
  bool Same =
      usesNewerLlvm(Request.Setting.Knob) ? withoutLlvm(Made) == withoutLlvm(Own) : Made == Own;
  if (!Same)
    return unsupported("other-front-end",
                       Cicc + " is not the cicc that made " + Request.Step.PtxName);
  return (Own + Ptx.substr(Made.size())).str();
}

llvm::Error carve::checkFrontEndCap(const FrontEndStep &Step, std::optional<unsigned> Ceiling,
                                    std::optional<unsigned> Cap) {
  if (!Cap)
    return llvm::Error::success();
  if (*Cap < 1 || *Cap > 255)
    return unsupported("front-end-cap", llvm::Twine(*Cap) + ", expected 1..255");
  for (std::optional<unsigned> Most : {Ceiling, Step.Cap})
    if (Most && *Cap > *Most)
      return unsupported("above-register-cap", "front-end cap " + llvm::Twine(*Cap) +
                                                   ", the command's own is " + llvm::Twine(*Most));
  return llvm::Error::success();
}

/// Whether \p Setting has anything besides a cap, which every cicc takes.
static bool hasKnob(const FrontEndSetting &Setting) {
  return Setting.Knob != FrontEndKnob::None || Setting.Restrict;
}

static llvm::Error refusedKnob(const FrontEndSetting &Setting, llvm::StringRef StandardError) {
  if (Setting.Known)
    return unsupported("front-end-text",
                       "cicc does not take the changed text of a kernel: " + StandardError.trim());
  return unsupported("front-end-option", "cicc does not take " +
                                             llvm::join(ciccArguments(Setting.Knob), " ") + ": " +
                                             StandardError.trim());
}

/// Returns \p Failed, the failure of a cicc that was told \p Setting. No tuning depends on it, so
/// the failure becomes a reason.
static llvm::Error withoutKnob(llvm::Error Failed, const FrontEndSetting &Setting) {
  if (!hasKnob(Setting))
    return Failed;
  return llvm::handleErrors(std::move(Failed), [&](const ToolFailure &F) {
    return refusedKnob(Setting, F.standardError());
  });
}

/// The text that cicc reads.
static llvm::Expected<std::string> inputOf(const FlavourRequest &Request) {
  const FrontEndSetting &Setting = Request.Setting;
  llvm::Expected<std::string> Text = Request.Preprocessed.str();
  if (Setting.changesText() && !Setting.Known)
    return unsupported("front-end-text", "nothing is known of the launches of a kernel");
  if (Setting.Restrict)
    Text = withRestrict(*Text, Setting.Known->Kernel, Setting.Known->Restrict);
  if (Text && Setting.Knob == FrontEndKnob::KnownLaunch)
    Text = withAssumptions(*Text, Setting.Known->Kernel, Setting.Known->Launch);
  return Text;
}

llvm::Expected<std::string> carve::compileFlavour(const FlavourRequest &Request, const Toolchain &T,
                                                  CommandRunner &Runner) {
  const FrontEndStep &Step = Request.Step;
  if (!appliesTo(Request.Setting.Knob, Step.Arguments))
    return unsupported("front-end-option", nameOf(Request.Setting.Knob) +
                                               " does not apply to the command's architecture");
  if (Request.Setting.Restrict && !mayBeRestrict(Step.Arguments))
    return unsupported("front-end-option", "the command itself makes pointers restrict");
  llvm::Expected<std::string> Cicc = findCicc(T);
  if (!Cicc)
    return Cicc.takeError();
  llvm::Expected<std::string> Input = inputOf(Request);
  if (!Input)
    return Input.takeError();
  llvm::Expected<TempDir> Dir = TempDir::create("carve-cicc");
  if (!Dir)
    return Dir.takeError();
  if (llvm::Error E = writeFileAtomically(Dir->path() + "/" + Step.InputName, *Input))
    return E;
  if (!Step.ModuleIdName.empty())
    if (llvm::Error E =
            writeFileAtomically(Dir->path() + "/" + Step.ModuleIdName, Request.ModuleId))
      return E;
  llvm::Expected<CommandResult> Done = runChecked(Runner, ciccCommand(Request, *Cicc, Dir->path()));
  if (!Done)
    return withoutKnob(Done.takeError(), Request.Setting);
  // A cicc whose LLVM does not know an option says so and goes on without it.
  if (hasKnob(Request.Setting) && llvm::StringRef(Done->Stderr).contains("command line argument"))
    return refusedKnob(Request.Setting, Done->Stderr);
  llvm::Expected<std::string> Ptx = readFile(Dir->path() + "/" + Step.PtxName);
  return Ptx ? withOwnHead(*Ptx, Request, *Cicc) : std::move(Ptx);
}
