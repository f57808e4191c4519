// A dryrun is a list of `#$ ` lines: first the variables that nvcc sets, then the commands of its
// steps. A unit is pieced together by following the files that the steps pass on:
//
//   cudafe++  source -> host code          gcc -c     host code -> object
//   cicc      source -> PTX                ptxas      PTX -> cubin
//   fatbinary PTX, cubins -> container
//
//   nvlink    objects -> cubin             fatbinary -link   cubins -> container of the program
//
// Each container leads to its source through its PTX, and the source leads to its object through
// the host code. The order of the lines, which --threads changes, does not matter. The last row is
// the device link of -rdc=true, which does not belong to any source.
#include "Nvcc/BuildPlan.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace carve {

namespace {

/// Splits one command into words.
class ShellWords {
public:
  ShellWords(StringRef Line, ArrayRef<std::string> Environment)
      : Rest(Line), Environment(Environment) {}
  Expected<std::vector<std::string>> split();

private:
  Error quoted(char Quote);
  void expand();
  void finishWord();

  StringRef Rest;
  ArrayRef<std::string> Environment;
  std::vector<std::string> Words;
  std::string Word;
  bool InWord = false, IsTarget = false; // IsTarget: the word is the file of a redirection.
};

/// The steps of a dryrun that matter for plans, by the file that each passes on.
struct Steps {
  std::vector<std::string> Environment;
  StringMap<DeviceImage> ImageOfCubin;
  StringMap<std::string> SourceOfPtx, HostCodeOfSource, ObjectOfHostCode;
  StringMap<FrontEndStep> FrontEndOfPtx;
  std::vector<std::vector<std::string>> Containers;
  StringMap<PlannedLinkImage> LinkedImages; ///< By cubin.
  std::vector<std::string> LinkContainer;
  std::vector<std::vector<std::string>> HostCommands;
};

} // namespace

void ShellWords::finishWord() {
  if (InWord && !IsTarget)
    Words.push_back(Word);
  if (InWord)
    IsTarget = false;
  Word.clear();
  InWord = false;
}

/// Replaces `$NAME` at the front of Rest. A name that nvcc did not set stays. Only the user's own
/// text holds such names, in commands that are not read.
void ShellWords::expand() {
  StringRef Name = Rest.drop_front().take_while([](char C) { return isAlnum(C) || C == '_'; });
  // nvcc sets some names twice.
  auto Assignments = reverse(Environment);
  auto Found = find_if(Assignments, [&](StringRef Variable) {
    return !Name.empty() && Variable.split('=').first == Name;
  });
  if (Found == Assignments.end()) {
    Word += '$';
    Rest = Rest.drop_front();
    return;
  }
  Word += StringRef(*Found).split('=').second;
  Rest = Rest.drop_front(1 + Name.size());
}

/// Reads up to the closing \p Quote. The opening quote has been consumed already.
Error ShellWords::quoted(char Quote) {
  while (!Rest.empty() && Rest[0] != Quote) {
    bool Escapes = Quote == '"' && Rest[0] == '\\' && Rest.size() > 1 &&
                   StringRef("$`\"\\\n").contains(Rest[1]);
    if (Quote == '"' && Rest[0] == '$') {
      expand();
      continue;
    }
    Word += Rest[Escapes];
    Rest = Rest.drop_front(1 + Escapes);
  }
  if (!Rest.consume_front(StringRef(&Quote, 1)))
    return unsupported("unknown-plan", Twine("unterminated quote ") + Twine(Quote));
  return Error::success();
}

Expected<std::vector<std::string>> ShellWords::split() {
  while (!Rest.empty()) {
    char C = Rest[0];
    if (C == '$') {
      InWord = true;
      expand();
      continue;
    }
    Rest = Rest.drop_front();
    if (isSpace(C)) {
      finishWord();
      continue;
    }
    // With --threads nvcc redirects the output of its steps: ` > out 2>err`.
    if (C == '>') {
      InWord &= Word != "1" && Word != "2";
      finishWord();
      IsTarget = true;
      continue;
    }
    InWord = true;
    if (C == '"' || C == '\'') {
      if (Error E = quoted(C))
        return E;
      continue;
    }
    if (C == '\\' && !Rest.empty()) {
      C = Rest[0];
      Rest = Rest.drop_front();
    }
    Word += C;
  }
  finishWord();
  return std::move(Words);
}

Expected<std::vector<std::string>> splitCommand(StringRef Line, ArrayRef<std::string> Environment) {
  return ShellWords(Line, Environment).split();
}

/// Returns the word after \p Name, or an empty text if there is none.
static StringRef valueOf(ArrayRef<std::string> Words, StringRef Name) {
  const std::string *At = find(Words, Name);
  return At == Words.end() || At + 1 == Words.end() ? StringRef() : StringRef(At[1]);
}

/// Returns the only word with \p Suffix that is not an option, or an empty text if there is none or
/// more than one.
static StringRef onlyFile(ArrayRef<std::string> Words, StringRef Suffix) {
  StringRef Found;
  for (StringRef Word : Words) {
    if (Word.starts_with("-") || !Word.ends_with(Suffix))
      continue;
    if (!Found.empty())
      return {};
    Found = Word;
  }
  return Found;
}

static Error readPtxas(ArrayRef<std::string> Words, Steps &S) {
  DeviceImage Image;
  Image.CubinPath = valueOf(Words, "-o");
  // For a virtual architecture ptxas only checks the PTX.
  if (Image.CubinPath.empty())
    return Error::success();
  Image.PtxPath = onlyFile(Words, ".ptx");
  for (size_t I = 1; I != Words.size(); ++I) {
    StringRef Word = Words[I];
    if (Word == "-o")
      ++I;
    else if (Word != Image.PtxPath)
      Image.PtxasOptions.push_back(Words[I]);
    if (Word.consume_front("-arch=") || Word.consume_front("--gpu-name="))
      Image.Arch = Word;
  }
  if (Image.PtxPath.empty() || Image.Arch.empty())
    return unsupported("unknown-plan", "ptxas: " + join(Words, " "));
  S.ImageOfCubin[Image.CubinPath] = std::move(Image);
  return Error::success();
}

static Error readFrontEnd(ArrayRef<std::string> Words, StringRef Made,
                          StringMap<std::string> &Records, bool BySource) {
  StringRef Source = valueOf(Words, "--orig_src_file_name");
  if (Source.empty() || Made.empty())
    return unsupported("unknown-plan", "front end: " + join(Words, " "));
  Records[BySource ? Source : Made] = (BySource ? Made : Source).str();
  return Error::success();
}

static void readNvlink(ArrayRef<std::string> Words, Steps &S) {
  PlannedLinkImage Image;
  for (size_t I = 1; I != Words.size(); ++I) {
    StringRef Word = Words[I];
    if (Word == "-o" && I + 1 != Words.size())
      Image.CubinPath = Words[++I];
    else if (!Word.starts_with("--register-link-binaries="))
      Image.NvlinkArguments.push_back(Words[I]);
    if (Word.consume_front("-arch=") || Word.consume_front("--arch="))
      Image.Arch = Word;
  }
  S.LinkedImages[Image.CubinPath] = std::move(Image);
}

static Error readStep(std::vector<std::string> Words, Steps &S) {
  StringRef Tool = sys::path::filename(Words[0]);
  if (Tool == "ptxas")
    return readPtxas(Words, S);
  if (Tool == "cicc") {
    if (std::optional<FrontEndStep> Step = readFrontEndStep(Words))
      S.FrontEndOfPtx[Step->ptxPath()] = *Step;
    return readFrontEnd(Words, valueOf(Words, "-o"), S.SourceOfPtx, /*BySource=*/false);
  }
  if (Tool == "cudafe++")
    return readFrontEnd(Words, valueOf(Words, "--gen_c_file_name"), S.HostCodeOfSource,
                        /*BySource=*/true);
  if (Tool == "nvlink") {
    readNvlink(Words, S);
    return Error::success();
  }
  if (Tool == "fatbinary") {
    if (is_contained(Words, "-link"))
      S.LinkContainer = std::move(Words);
    else
      S.Containers.push_back(std::move(Words));
    return Error::success();
  }
  // The host compiler may have any name.
  StringRef HostCode = onlyFile(Words, ".cudafe1.cpp");
  if (is_contained(Words, "-c") && !HostCode.empty())
    S.ObjectOfHostCode[HostCode] = valueOf(Words, "-o").str();
  S.HostCommands.push_back(std::move(Words));
  return Error::success();
}

/// Returns true if \p Line sets a variable: `NAME=value`.
static bool isAssignment(StringRef Line) {
  StringRef Name = Line.take_while([](char C) { return isAlnum(C) || C == '_'; });
  return !Name.empty() && Line.substr(Name.size()).starts_with("=");
}

std::vector<std::string> dryrunVariables(StringRef Text) {
  std::vector<std::string> Variables;
  for (StringRef Line : split(Text, '\n'))
    // With these two nvcc only reports that it uses the flags of the environment.
    if (Line.consume_front("#$ ") && isAssignment(Line) &&
        !Line.starts_with("NVCC_PREPEND_FLAGS=") && !Line.starts_with("NVCC_APPEND_FLAGS="))
      Variables.push_back(Line.str());
  return Variables;
}

static Error readLine(StringRef Line, Steps &S) {
  // Warnings may appear between the lines of the plan.
  if (!Line.consume_front("#$ "))
    return Error::success();
  if (isAssignment(Line))
    return Error::success();
  // nvcc itself performs `-- Filter Dependencies --`.
  if (Line.starts_with("-- "))
    return Error::success();
  Expected<std::vector<std::string>> Words = splitCommand(Line, S.Environment);
  if (!Words)
    return Words.takeError();
  if (Words->empty())
    return Error::success();
  return readStep(std::move(*Words), S);
}

/// Returns the PTX that belongs to \p Spec, `kind=elf,sm=90,file=x.cubin` or
/// `kind=ptx,sm=90,file=x.ptx`. For a cubin, its image is added to \p Unit. Fails if the kind is
/// unknown or no ptxas made the cubin.
static Expected<StringRef> readImage(StringRef Spec, const Steps &S, DeviceUnit &Unit) {
  SmallVector<StringRef> Fields;
  Spec.split(Fields, ',', /*MaxSplit=*/2);
  StringRef File = Fields.back();
  if (!File.consume_front("file="))
    return unsupported("unknown-plan", "fatbinary image " + Spec);
  if (Fields[0] == "kind=ptx")
    return File;
  auto Image = S.ImageOfCubin.find(File);
  if (Fields[0] != "kind=elf" || Image == S.ImageOfCubin.end())
    return unsupported("unknown-plan", "fatbinary image " + Spec);
  Unit.Images.push_back(Image->second);
  return StringRef(Image->second.PtxPath);
}

/// Fills in the files of \p Unit to which its \p Ptx leads.
static Error findFiles(StringRef Ptx, const Steps &S, DeviceUnit &Unit) {
  Unit.Source = S.SourceOfPtx.lookup(Ptx);
  Unit.ObjectPath = S.ObjectOfHostCode.lookup(S.HostCodeOfSource.lookup(Unit.Source));
  if (Unit.Source.empty() || Unit.ObjectPath.empty() || Unit.FatbinPath.empty())
    return unsupported("unknown-plan", "no source, object or container for " + Ptx);
  for (const std::vector<std::string> &Words : S.HostCommands)
    if (is_contained(Words, "-c") && valueOf(Words, "-o") == Unit.ObjectPath)
      Unit.HostCommand = Words;
  return Error::success();
}

static Expected<DeviceUnit> readContainer(ArrayRef<std::string> Words, const Steps &S) {
  DeviceUnit Unit;
  StringRef Ptx;
  for (StringRef Word : Words.drop_front()) {
    if (Word.starts_with("--embedded-fatbin="))
      continue;
    Unit.FatbinaryArguments.push_back(Word.str());
    if (Word.consume_front("--create="))
      Unit.FatbinPath = Word;
    if (!Word.consume_front("--image3=") && !Word.consume_front("--image="))
      continue;
    Expected<StringRef> ImagePtx = readImage(Word, S, Unit);
    if (!ImagePtx)
      return ImagePtx.takeError();
    Ptx = *ImagePtx;
    auto Step = S.FrontEndOfPtx.find(Ptx);
    if (Step != S.FrontEndOfPtx.end() && !is_contained(Unit.FrontEnds, Step->second))
      Unit.FrontEnds.push_back(Step->second);
  }
  if (Error E = findFiles(Ptx, S, Unit))
    return E;
  return Unit;
}

/// Returns the device link, or nothing if there is none or its container holds images that nvlink
/// did not make.
static std::optional<PlannedLink> readLink(const Steps &S) {
  if (S.LinkContainer.empty())
    return std::nullopt;
  PlannedLink Link;
  for (StringRef Word : ArrayRef(S.LinkContainer).drop_front()) {
    if (Word.starts_with("--embedded-fatbin="))
      continue;
    Link.FatbinaryArguments.push_back(Word.str());
    if (Word.consume_front("--create="))
      Link.FatbinPath = Word;
    if (!Word.consume_front("--image3=") && !Word.consume_front("--image="))
      continue;
    auto Image = S.LinkedImages.find(Word.split("file=").second);
    if (!Word.starts_with("kind=elf,") || Image == S.LinkedImages.end() ||
        Image->second.Arch.empty())
      return std::nullopt;
    Link.Images.push_back(Image->second);
  }
  if (Link.FatbinPath.empty() || Link.Images.empty())
    return std::nullopt;
  return Link;
}

Expected<BuildPlan> parseDryrun(StringRef Text) {
  Steps S;
  S.Environment = dryrunVariables(Text);
  SmallVector<StringRef> Lines;
  Text.split(Lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef Line : Lines)
    if (Error E = readLine(Line, S))
      return E;
  BuildPlan Plan;
  for (const std::vector<std::string> &Container : S.Containers) {
    Expected<DeviceUnit> Unit = readContainer(Container, S);
    if (!Unit)
      return Unit.takeError();
    Plan.Units.push_back(std::move(*Unit));
  }
  Plan.Link = readLink(S);
  if (Plan.Units.empty() && !Plan.Link)
    return unsupported("unknown-plan", "no fatbinary step");
  Plan.HostCommands = std::move(S.HostCommands);
  Plan.Environment = std::move(S.Environment);
  return Plan;
}

} // namespace carve
