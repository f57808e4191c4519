#include "Export/ExportCommand.h"

#include "Export/ExportPipeline.h"
#include "Export/ExportReport.h"
#include "Report/NamedReport.h"
#include "Store/ProfileReader.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"
#include "Support/Log.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

enum Format { Text, Json, CMake, Make };

/// The words of the command line.
struct ExportWords {
  unsigned As = ~0u; ///< An ExportForm; outside of these where none was given.
  unsigned Format = Text;
  std::string Output, Profile, Report, Dir = ".";
  bool Verify = false, NoVerify = false;
  ExportOptions Options;
};

Flags exportFlags(ExportWords &W) {
  Flags F("carve export");
  F.form("--as=FORM [options] [KERNEL...]",
         "the decisions without carve-nvcc: as a patch, or as options for nvcc");
  F.arguments("KERNEL...", W.Options.Kernels, "only these kernels");
  F.choice("--as", {"launch-bounds", "maxnreg", "patch", "flags"}, W.As,
           "attributes in the source, the better one for each kernel, or options of nvcc");
  F.text("-o", "FILE", W.Output, "write to this file, and print a summary");
  F.choice("--format", {"text", "json", "cmake", "make"}, W.Format,
           "how it is printed; cmake and make are for --as=flags");
  F.text("--profile", "FILE", W.Profile, "use the decisions of this file, not the store's");
  F.text("--report", "FILE|latest", W.Report, "the report whose times show what is lost").Default =
      "latest, if there is one";
  F.text("--dir", "PROJECT", W.Dir, "a folder of the project");
  F.text("--arch", "ARCH", W.Options.Arch, "only the decisions for this architecture");
  F.number("--max-threads", "N", W.Options.MaxThreads, 1, 1024,
           "threads of the largest block, if no launch is known");
  F.flag("--verify", W.Verify, "compile the patched project; an error if there is no nvcc");
  F.flag("--no-verify", W.NoVerify, "do not compile the patched project");
  return F;
}

} // namespace

static llvm::Expected<ExportWords> readWords(llvm::ArrayRef<std::string> Args) {
  ExportWords W;
  if (llvm::Error E = exportFlags(W).parse(Args))
    return E;
  if (W.As == ~0u)
    return usageError(
        "carve export: --as is missing, expected --as=launch-bounds, maxnreg, patch or flags");
  W.Options.As = static_cast<ExportForm>(W.As);
  if (W.Format >= CMake && W.Options.As != ExportForm::Flags)
    return usageError(
        "carve export: --format=" + llvm::Twine(W.Format == CMake ? "cmake" : "make") +
        " is for --as=flags, expected text or json");
  if (W.Verify && W.NoVerify)
    return usageError("carve export: --verify and --no-verify, expected one of them");
  W.Options.Verify = !W.NoVerify;
  return W;
}

/// Returns the report that the user named. Without a name it is the latest report, if there is one.
static llvm::Expected<std::optional<TuningReport>> readReport(const std::string &File, GetEnv Env) {
  llvm::Expected<TuningReport> R = namedReport(File.empty() ? "latest" : File, Env);
  if (R)
    return std::optional<TuningReport>(std::move(*R));
  if (!File.empty())
    return R.takeError();
  logLine(llvm::toString(R.takeError()));
  return std::nullopt;
}

/// Returns the root of the project in \p Dir as its units spell it. The shell and the build may
/// have reached the directory in different ways, one of them through a symbolic link.
static std::string projectOf(llvm::StringRef Dir, const UnitStore &Store) {
  std::string Root = projectRoot(normalisedPath(Dir)), Spelled = Root;
  const std::string Real = resolveTarget(Root);
  for (const Unit &U : Store.units()) {
    std::string Source = normalisedPath(U.Source, U.Directory);
    if (llvm::StringRef(Source).starts_with(Root + "/"))
      return Root;
    std::string RealSource = resolveTarget(Source);
    llvm::StringRef Below = RealSource, Start = Source;
    if (Below.consume_front(Real) && Below.starts_with("/") && Start.consume_back(Below) &&
        !Start.empty() && resolveTarget(Start) == Real)
      Spelled = Start.str();
  }
  return Spelled;
}

static std::string printed(const ExportOutcome &Outcome, unsigned Format) {
  switch (Format) {
  case Json:
    return printExportJson(Outcome);
  case CMake:
    return printExportCMake(Outcome);
  case Make:
    return printExportMake(Outcome);
  default:
    return printExportText(Outcome);
  }
}

/// Fails if \p Output, which would be written, is a source of the export or of any unit.
static llvm::Error refuseSource(const std::string &Output, std::vector<std::string> Sources,
                                const UnitStore &Store) {
  for (const Unit &U : Store.units())
    Sources.push_back(normalisedPath(U.Source, U.Directory));
  for (const std::string &Source : Sources)
    if (normalisedPath(Output) == Source || llvm::sys::fs::equivalent(Output, Source))
      return usageError("carve export: -o " + Output + " is the source " + Source +
                        ", expected another file: sources are never changed");
  return llvm::Error::success();
}

/// Prints the result. Fails if nothing was exported.
static llvm::Error deliver(const ExportOutcome &Outcome, const ExportWords &W,
                           const UnitStore &Store) {
  if (Outcome.Kernels.empty()) {
    std::string Notes;
    for (const std::string &Note : Outcome.Notes)
      Notes += "\n  " + Note;
    return usageError("carve export: no kernel below " + Outcome.Project +
                      " is tuned: every decision is the default, or does not hold" + Notes);
  }
  if (!Outcome.exported()) {
    llvm::errs() << printExportSummary(Outcome);
    return usageError("carve export: none of the " + llvm::Twine(Outcome.Kernels.size()) +
                      " tuned kernel(s) can be exported in this form");
  }
  std::string Text = printed(Outcome, W.Format);
  if (W.Output.empty()) {
    llvm::outs() << Text;
    return llvm::Error::success();
  }
  if (llvm::Error E = refuseSource(W.Output, Outcome.Sources, Store))
    return E;
  if (llvm::Error E = writeFileAtomically(W.Output, Text))
    return E;
  llvm::outs() << printExportSummary(Outcome);
  return llvm::Error::success();
}

llvm::Error carve::runExport(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  llvm::Expected<ExportWords> W = readWords(Args);
  if (!W)
    return W.takeError();
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  UnitStore Store = storeAt(*Root, Context.Env);
  W->Options.Root = projectOf(W->Dir, Store);
  Profile User;
  if (!W->Profile.empty()) {
    llvm::Expected<std::string> Text = readFileOrPipe(W->Profile, FileLimit::Record);
    llvm::Expected<Profile> P = Text ? parseProfile(*Text, W->Profile) : Text.takeError();
    if (!P)
      return P.takeError();
    User = std::move(*P);
    User.Name = W->Profile;
    W->Options.User = &User;
  }
  llvm::Expected<std::optional<TuningReport>> Report = readReport(W->Report, Context.Env);
  if (!Report)
    return Report.takeError();
  if (*Report)
    W->Options.Report = &**Report;
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  std::string WhyNoTools;
  if (!T) {
    if (W->Verify)
      return T.takeError();
    WhyNoTools = llvm::toString(T.takeError());
  }
  ProcessRunner Runner;
  llvm::Expected<ExportOutcome> Outcome = exportDecisions(
      W->Options, Store, T ? &*T : nullptr, WhyNoTools, Runner, Context.Install.DevicesDir);
  return Outcome ? deliver(*Outcome, *W, Store) : Outcome.takeError();
}
