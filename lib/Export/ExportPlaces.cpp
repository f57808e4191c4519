// Finds where the tuned kernels are in the sources, and writes attributes there.
#include "Export/ExportPlaces.h"

#include "Export/Source/CudaTokens.h"
#include "Ptx/ProfileName.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

/// Returns the file and line of the first code of \p Entry, if the unit has line information.
std::optional<std::pair<std::string, unsigned>> firstLocation(const PtxModule &Ptx,
                                                              llvm::StringRef Entry) {
  llvm::StringRef Body = Ptx.definitionOf(Entry);
  size_t At = Body.find("\t.loc\t");
  if (At == llvm::StringRef::npos)
    return std::nullopt;
  unsigned File = 0, Line = 0;
  llvm::StringRef Rest = Body.drop_front(At + 6);
  if (Rest.consumeInteger(10, File) || Rest.ltrim().consumeInteger(10, Line))
    return std::nullopt;
  Rest = Rest.ltrim();
  if (Rest.consumeInteger(10, Line))
    return std::nullopt;
  std::string Wanted = "\t.file\t" + std::to_string(File) + " \"";
  llvm::StringRef Path = llvm::StringRef(Ptx.text()).split(Wanted).second.split('"').first;
  if (Path.empty())
    return std::nullopt;
  return std::pair(Path.str(), Line);
}

/// Among overloads whose types do not tell them apart, returns the one that contains the line of
/// the code.
const KernelPlace *byLocation(const KernelName &Name, const ExportUnit &U, const ExportImage &I,
                              llvm::StringRef Mangled) {
  auto Location = firstLocation(I.Ptx, Mangled);
  const KernelPlace *Best = nullptr;
  if (!Location)
    return nullptr;
  std::string File = normalisedPath(Location->first, U.Record.Directory);
  for (const KernelPlace &P : I.Preprocessed)
    if (P.IsDefinition && P.Name.back() == Name.Base && P.Line <= Location->second &&
        normalisedPath(P.File, U.Record.Directory) == File && (!Best || P.Line > Best->Line))
      Best = &P;
  return Best;
}

/// Returns the place of \p Found. Fails if its head contains preprocessor branches.
llvm::Expected<std::pair<SourceFile *, size_t>> placeIn(SourceFile &F, const KernelPlace *Found) {
  if (Found->Split)
    return malformed("the head of its definition at " + F.Relative + ":" +
                     llvm::Twine(Found->Line) + " contains preprocessor branches");
  return std::pair(&F, static_cast<size_t>(Found - F.Kernels.data()));
}

/// Returns the definition in the source file that the preprocessed text shows as \p Seen.
llvm::Expected<std::pair<SourceFile *, size_t>>
placeOf(ExportJob &Job, const ExportUnit &U, const KernelPlace &Seen, const KernelName &Name) {
  llvm::Expected<SourceFile *> F = sourceFile(Job, normalisedPath(Seen.File, U.Record.Directory));
  if (!F)
    return F.takeError();
  for (const KernelPlace &P : (*F)->Kernels)
    if (P.IsDefinition && P.Line == Seen.Line && P.Name.back() == Name.Base)
      return placeIn(**F, &P);
  // An edit further up may have moved the definition since the compile.
  bool Ambiguous = false;
  if (const KernelPlace *P = findDefinition(Name, (*F)->Kernels, Ambiguous))
    return placeIn(**F, P);
  return malformed("no definition of it is written at " + (*F)->Relative + ":" +
                   llvm::Twine(Seen.Line) +
                   ": a macro makes it, or the source has changed since it was compiled");
}

} // namespace

llvm::Expected<std::pair<SourceFile *, size_t>> carve::locateKernel(ExportJob &Job,
                                                                    const ExportUnit &U,
                                                                    const ExportImage &I,
                                                                    llvm::StringRef Mangled) {
  KernelName Name = parseKernelName(profileName(Mangled));
  bool Ambiguous = false;
  const KernelPlace *Seen = findDefinition(Name, I.Preprocessed, Ambiguous);
  if (!Seen && Ambiguous)
    Seen = byLocation(Name, U, I, Mangled);
  if (Seen)
    return placeOf(Job, U, *Seen, Name);
  if (Ambiguous)
    return malformed("several definitions of that name fit; -lineinfo would tell them apart");
  // If no preprocessed text was kept, only the source itself can be searched.
  llvm::Expected<SourceFile *> F = sourceFile(Job, U.Source);
  if (!F)
    return F.takeError();
  if (const KernelPlace *P = findDefinition(Name, (*F)->Kernels, Ambiguous))
    return placeIn(**F, P);
  return malformed((Ambiguous ? "several definitions of that name fit in "
                              : "no definition of it is found in ") +
                   (*F)->Relative);
}

unsigned carve::defaultRegs(const ExportImage &I, llvm::StringRef Mangled) {
  for (const KernelResources &R : I.Record.Kernels)
    if (R.Name == Mangled && R.RegsPerThread)
      return R.RegsPerThread;
  return 255;
}

void carve::locateItems(ExportJob &Job) {
  for (ExportItem &Item : Job.Items) {
    if (!Item.Out.Reason.empty())
      continue;
    const ExportUnit &U = Job.Units[Item.Unit];
    auto Place = locateKernel(Job, U, U.Images[Item.Image], Item.Mangled);
    if (!Place) {
      Item.Out.Reason = llvm::toString(Place.takeError());
      continue;
    }
    std::tie(Item.File, Item.Place) = *Place;
    Item.Out.Source = Item.File->Relative;
    Item.Out.Line = Item.File->Kernels[Item.Place].Line;
  }
}

namespace {

/// Returns an expression that is true for this template argument only, or nothing if there is none.
std::optional<std::string> conditionOf(const TemplateParameter &P, llvm::StringRef Argument) {
  if (P.Name.empty() || P.IsPack)
    return std::nullopt;
  if (P.IsType) {
    if (Argument.contains("(anonymous") || Argument.contains('\'') || Argument.contains("lambda"))
      return std::nullopt;
    return "__is_same(" + P.Name + ", " + Argument.str() + ")";
  }
  // Demangled enumerators look like `(Mode)1`; other integers may have a suffix.
  if (Argument == "true" || Argument == "false")
    return (Argument == "true" ? "" : "!") + P.Name;
  llvm::StringRef Number = Argument.contains(')') ? Argument.rsplit(')').second : Argument;
  long long Value = 0;
  if (Number.rtrim("ulUL").getAsInteger(10, Value))
    return std::nullopt;
  return (Number.size() < Argument.size() ? "static_cast<long long>(" + P.Name + ")" : P.Name) +
         " == " + std::to_string(Value);
}

/// The instantiations of one template, each with the cap that it gets.
class TemplateCaps {
public:
  explicit TemplateCaps(const KernelPlace &Place) : Place(Place) {}
  void add(llvm::StringRef Kernel, unsigned Cap, bool Decided) {
    Caps.emplace(parseKernelName(Kernel).Arguments, Cap);
    Undecided |= !Decided;
  }
  /// Returns true if one cap is right for every instantiation.
  bool uniform() const {
    return !Undecided &&
           llvm::all_of(Caps, [&](const auto &C) { return C.second == Caps.begin()->second; });
  }
  /// Returns an expression such as `N == 4 ? 40 : N == 8 ? 32 : 255`.
  llvm::Expected<std::string> expression() const;
  /// Notes that the bounds of \p Entry are removed. No cap may then exceed what a block of their
  /// size can have.
  void bound(const PtxEntry &Entry, const DeviceModel &D) {
    const EntryDirectives &Own = Entry.Directives;
    if (Own.MaxNTid || Own.ReqNTid)
      Unseen = std::min(Unseen, capOfLaunchBounds(D, Own.maxThreadsPerBlock(), 1));
    if (boundsDepend())
      Unseen = std::min(Unseen, capOfLaunchBounds(D, D.MaxThreadsPerBlock, 1));
  }
  /// Fails if an instantiation that is not seen here could not be launched with the cap that it
  /// would get.
  llvm::Error check() const;

private:
  /// Returns true if the launch bounds in the source name a template parameter.
  bool boundsDepend() const;

  const KernelPlace &Place;
  std::map<std::vector<std::string>, unsigned> Caps; ///< By template arguments.
  bool Undecided = false;
  unsigned Unseen = 255; ///< The cap for all other instantiations.
};

bool TemplateCaps::boundsDepend() const {
  for (const KernelAttribute &A : Place.Attributes)
    for (const std::string &Argument : A.Arguments) {
      CudaTokens Cut = tokenizeCuda(Argument);
      for (const CudaToken &T : Cut.Tokens)
        for (const TemplateParameter &P : Place.Template)
          if (A.IsLaunchBounds && T.is(P.Name))
            return true;
    }
  return false;
}

llvm::Error TemplateCaps::check() const {
  if (!boundsDepend() || (uniform() && Caps.begin()->second <= Unseen))
    return llvm::Error::success();
  return malformed("its launch bounds depend on template parameters: an instantiation with the "
                   "largest block cannot launch with more than " +
                   llvm::Twine(Unseen) + " registers, and __maxnreg__ would remove the bounds");
}

llvm::Expected<std::string> TemplateCaps::expression() const {
  const size_t Count = Place.Template.size();
  std::string Text;
  for (const auto &[Arguments, Cap] : Caps) {
    if (Arguments.size() != Count)
      return malformed("its instantiations are decided differently, and a parameter pack or an "
                       "outer template prevents an expression that tells them apart");
    std::string Condition;
    for (size_t I = 0; I < Count; ++I) {
      // An argument that is equal in all instantiations need not be tested.
      if (llvm::all_of(Caps, [&](const auto &C) { return C.first[I] == Arguments[I]; }))
        continue;
      std::optional<std::string> One = conditionOf(Place.Template[I], Arguments[I]);
      if (!One)
        return malformed("its instantiations are decided differently, and no expression tells the "
                         "argument '" +
                         Arguments[I] + "' apart");
      Condition += (Condition.empty() ? "" : " && ") + *One;
    }
    Text += Condition + " ? " + std::to_string(Cap) + " : ";
  }
  return Text + std::to_string(Unseen);
}

/// Returns the attribute as written for a kernel that is not a template.
std::string plainText(const AttributeForm &F, const KernelPlace &Place) {
  if (!F.IsLaunchBounds)
    return "__maxnreg__(" + std::to_string(F.Cap) + ")";
  std::vector<std::string> Arguments;
  for (const KernelAttribute &A : Place.Attributes)
    if (A.IsLaunchBounds)
      Arguments = A.Arguments;
  if (Arguments.empty())
    Arguments.push_back(std::to_string(F.MaxThreads));
  // The third argument, if there is one, bounds the blocks of a cluster.
  Arguments.resize(std::max<size_t>(Arguments.size(), 2));
  Arguments[1] = std::to_string(F.MinBlocks);
  return "__launch_bounds__(" + llvm::join(Arguments, ", ") + ")";
}

/// Returns the cap with which an instantiation without a decision keeps its code and can be
/// launched.
unsigned capOfUndecided(ExportJob &Job, const ExportImage &I, const PtxEntry &Entry) {
  unsigned Default = defaultRegs(I, Entry.Name);
  unsigned Cap = Job.CapLikeDefault ? Job.CapLikeDefault(I, Entry.Name) : Default;
  const EntryDirectives &D = Entry.Directives;
  llvm::Expected<DeviceModel> Model = loadDeviceModel(Job.DevicesDir, I.Record.Arch);
  if (!Model) {
    llvm::consumeError(Model.takeError());
    return Default;
  }
  bool Bounded = D.MaxNTid || D.ReqNTid;
  return Bounded && Cap > capOfLaunchBounds(*Model, D.maxThreadsPerBlock(), 1) ? Default : Cap;
}

/// Returns the caps of all instantiations of the definition that the project's units have.
llvm::Expected<TemplateCaps> templateCaps(ExportJob &Job, const ExportGroup &G) {
  const KernelPlace &Place = G.File->Kernels[G.Place];
  TemplateCaps Caps(Place);
  std::set<std::string> Decided;
  for (size_t Index : G.Items) {
    const ExportItem &Item = Job.Items[Index];
    if (Item.Forms[G.Form].IsLaunchBounds !=
        Job.Items[G.Items.front()].Forms[G.Form].IsLaunchBounds)
      return malformed("its instantiations need different attributes");
    const ExportImage &Image = Job.Units[Item.Unit].Images[Item.Image];
    llvm::Expected<DeviceModel> D = loadDeviceModel(Job.DevicesDir, Image.Record.Arch);
    if (!D)
      return D.takeError();
    Caps.bound(*Image.Ptx.find(Item.Mangled), *D);
    Caps.add(Item.Out.Kernel, Item.Forms[G.Form].Cap, /*Decided=*/true);
    Decided.insert(Item.Out.Kernel);
  }
  for (const ExportUnit &U : Job.Units)
    for (const ExportImage &I : U.Images)
      for (const PtxEntry &Entry : I.Ptx.entries()) {
        std::string Name = profileName(Entry.Name);
        if (Decided.count(Name) || parseKernelName(Name).Base != Place.Name.back())
          continue;
        auto Own = locateKernel(Job, U, I, Entry.Name);
        if (!Own)
          llvm::consumeError(Own.takeError());
        else if (Own->first == G.File && Own->second == G.Place)
          Caps.add(Name, capOfUndecided(Job, I, Entry), /*Decided=*/false);
      }
  return Caps;
}

} // namespace

llvm::Expected<std::string> carve::attributeText(ExportJob &Job, const ExportGroup &G) {
  const KernelPlace &Place = G.File->Kernels[G.Place];
  const ExportItem &First = Job.Items[G.Items.front()];
  const AttributeForm &Form = First.Forms[G.Form];
  std::string Text = plainText(Form, Place);
  // One kernel on several architectures or in several units has only one attribute.
  for (size_t Index : G.Items) {
    const ExportItem &Other = Job.Items[Index];
    if (Other.Out.Kernel == First.Out.Kernel && plainText(Other.Forms[G.Form], Place) != Text)
      return malformed("decided differently: " + settingText(First.Out.Decided) + " on " +
                       First.Out.Arch + ", " + settingText(Other.Out.Decided) + " on " +
                       Other.Out.Arch + "; --arch=" + First.Out.Arch + " exports one");
  }
  if (!Place.IsTemplate || !Place.Specialisation.empty())
    return Text;
  llvm::Expected<TemplateCaps> Caps = templateCaps(Job, G);
  if (!Caps)
    return Caps.takeError();
  // One minBlocks can serve several instantiations only if their blocks have one size.
  for (size_t Index : G.Items)
    if (plainText(Job.Items[Index].Forms[G.Form], Place) != Text && Form.IsLaunchBounds)
      return malformed("its instantiations need different minBlocks");
  if (!Form.IsLaunchBounds)
    if (llvm::Error E = Caps->check())
      return E;
  if (Caps->uniform())
    return Text;
  if (Form.IsLaunchBounds) {
    if (llvm::Error E = Caps->check())
      return E;
    return malformed("its instantiations are decided differently: --as=maxnreg can express it");
  }
  llvm::Expected<std::string> Expression = Caps->expression();
  if (!Expression)
    return Expression.takeError();
  return "__maxnreg__(" + *Expression + ")";
}

/// Puts \p Text in place of the attributes of \p P, or, if it has none, before its name.
static void editPlace(const KernelPlace &P, llvm::StringRef Text, llvm::StringRef Source,
                      std::vector<SourceEdit> &Edits) {
  bool Written = false;
  for (const KernelAttribute &A : P.Attributes) {
    // Only the first attribute is replaced. Another one is removed, with one blank after it.
    size_t End = A.End + (Written && Source.substr(A.End).starts_with(" "));
    Edits.push_back({A.Begin, End - A.Begin, Written ? "" : Text.str()});
    Written = true;
  }
  if (!Written)
    Edits.push_back({P.InsertAt, 0, Text.str() + " "});
}

std::map<SourceFile *, std::vector<SourceEdit>>
carve::attributeEdits(ExportJob &Job, const ExportGroup &G, llvm::StringRef Text) {
  std::map<SourceFile *, std::vector<SourceEdit>> Edits;
  const KernelPlace &Definition = G.File->Kernels[G.Place];
  editPlace(Definition, Text, G.File->Text, Edits[G.File]);
  // nvcc merges the attributes of all declarations. A declaration without attributes can stay. One
  // with a bound would take precedence, or would be an error beside __maxnreg__.
  std::set<SourceFile *> Seen = {G.File};
  const ExportItem &First = Job.Items[G.Items.front()];
  const ExportUnit &U = Job.Units[First.Unit];
  for (const KernelPlace &P : U.Images[First.Image].Preprocessed) {
    if (P.Name.back() != Definition.Name.back() || P.IsDefinition)
      continue;
    llvm::Expected<SourceFile *> F = sourceFile(Job, normalisedPath(P.File, U.Record.Directory));
    if (F)
      Seen.insert(*F);
    else
      llvm::consumeError(F.takeError());
  }
  for (SourceFile *F : Seen)
    for (const KernelPlace &P : F->Kernels)
      if (!P.Attributes.empty() && declaresSame(P, Definition))
        editPlace(P, Text, F->Text, Edits[F]);
  return Edits;
}
