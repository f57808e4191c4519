/// \file
/// Uses LLVM's YAML parser instead of its YAML I/O. People edit this file, so each mistake needs
/// one message that names line, actual and expected value. YAML I/O gives several messages for some
/// mistakes and none for others (a key given twice, a number out of range).
#include "Store/ProfileReader.h"

#include "Support/Error.h"
#include "Support/NewerFormat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

using namespace carve;
namespace yaml = llvm::yaml;

static constexpr unsigned Format = 1;
/// The register caps that ptxas accepts.
static constexpr unsigned MinCap = 1, MaxCap = 255;
/// The largest `--register-usage-level` that ptxas accepts.
static constexpr unsigned MaxLevel = 10;
static constexpr unsigned AnyNumber = 1u << 30;
/// More parameters than a kernel can have: they take 32,764 bytes at most.
static constexpr unsigned MostParameters = 1u << 15, MostOffset = 1u << 15;

namespace {

/// One key of a mapping, and the function that reads its value.
struct Member {
  llvm::StringLiteral Key;
  std::function<llvm::Error(yaml::Node &)> Read;
  bool Required = false;
};

class ProfileReader {
public:
  ProfileReader(llvm::StringRef Text, llvm::StringRef Name)
      : Name(Name), Stream(Text, Sources, /*ShowColors=*/false) {
    Sources.setDiagHandler(
        [](const llvm::SMDiagnostic &D, void *Reader) {
          static_cast<ProfileReader *>(Reader)->noteSyntax(D);
        },
        this);
  }

  llvm::Expected<Profile> read();

private:
  void noteSyntax(const llvm::SMDiagnostic &D);
  std::string at(llvm::SMLoc Where) const;
  llvm::Error fail(const llvm::Twine &Message);
  llvm::Error mismatch(yaml::Node &Actual, const llvm::Twine &Expected);

  llvm::Error readMapping(yaml::Node &N, llvm::StringRef What, llvm::ArrayRef<Member> Members);
  llvm::Error readList(yaml::Node &N, llvm::function_ref<llvm::Error(yaml::Node &)> Read);
  llvm::Error readText(yaml::Node &N, std::string &Out, bool MayBeEmpty = false);
  llvm::Error readNumber(yaml::Node &N, unsigned &Out, unsigned Min, unsigned Max);
  llvm::Error readOnly(yaml::Node &N, llvm::StringRef Expected);
  template <class Value>
  llvm::Error readNamed(yaml::Node &N, Value &Out, std::optional<Value> (*Named)(llvm::StringRef),
                        llvm::StringRef Expected);
  llvm::Error readRatio(yaml::Node &N, double &Out);
  llvm::Error readFormat(yaml::Node &N);
  llvm::Error readArch(yaml::Node &N, std::string &Out);
  llvm::Error readVariant(yaml::Node &N, VariantSetting &Out);
  llvm::Error readGuard(yaml::Node &N, EntryGuard &Out);
  llvm::Error readArgument(yaml::Node &N, std::vector<ArgumentValue> &Out);
  llvm::Error readHold(yaml::Node &N, GuardHold &Out);
  llvm::Error readEntry(yaml::Node &N, std::vector<FurtherEntry> &Out);
  llvm::Error readEvidence(yaml::Node &N, Evidence &Out);
  llvm::Error readDecision(yaml::Node &N);

  llvm::StringRef Name;
  llvm::SourceMgr Sources;
  yaml::Stream Stream;
  std::string Syntax;  ///< The first syntax error; later ones are its consequences.
  llvm::SMLoc Here;    ///< The place of the key or list item that is being read.
  llvm::StringRef Key; ///< The name of that key.
  Profile Result;
  /// The line of each entry, by kernel, architecture and digest.
  std::map<std::tuple<std::string, std::string, std::optional<std::string>>, unsigned> LineOf;
};

} // namespace

void ProfileReader::noteSyntax(const llvm::SMDiagnostic &D) {
  if (Syntax.empty())
    Syntax = (Name + ":" + llvm::Twine(D.getLineNo()) + ": " + D.getMessage() +
              "; expected a profile of carve-nvcc, which is YAML")
                 .str();
}

std::string ProfileReader::at(llvm::SMLoc Where) const {
  unsigned Line = Where.isValid() ? Sources.getLineAndColumn(Where).first : 1;
  return (Name + ":" + llvm::Twine(Line) + ": ").str();
}

llvm::Error ProfileReader::fail(const llvm::Twine &Message) {
  if (Stream.failed())
    return malformed(Syntax);
  return malformed(at(Here) + Message);
}

static std::string describeNode(yaml::Node &N) {
  if (auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N)) {
    llvm::SmallString<64> Storage;
    return ("'" + Scalar->getValue(Storage) + "'").str();
  }
  switch (N.getType()) {
  case yaml::Node::NK_Null:
    return "nothing";
  case yaml::Node::NK_Mapping:
    return "a mapping";
  case yaml::Node::NK_Sequence:
    return "a list";
  case yaml::Node::NK_Alias:
    return "an alias";
  default:
    return "a block of text";
  }
}

llvm::Error ProfileReader::mismatch(yaml::Node &Actual, const llvm::Twine &Expected) {
  return fail(Key + ": " + describeNode(Actual) + ", expected " + Expected);
}

llvm::Error ProfileReader::readMapping(yaml::Node &N, llvm::StringRef What,
                                       llvm::ArrayRef<Member> Members) {
  auto *Mapping = llvm::dyn_cast<yaml::MappingNode>(&N);
  if (!Mapping)
    return fail(What + ": " + describeNode(N) + ", expected a mapping");
  llvm::SMLoc Start = Here;
  std::set<llvm::StringRef> Seen;
  for (yaml::KeyValueNode &Pair : *Mapping) {
    auto *KeyNode = llvm::dyn_cast_or_null<yaml::ScalarNode>(Pair.getKey());
    if (!KeyNode)
      return fail(What + ": a key is not a text, expected a name");
    Here = KeyNode->getSourceRange().Start;
    llvm::SmallString<32> Storage;
    llvm::StringRef Given = KeyNode->getValue(Storage);
    const Member *Known = llvm::find_if(Members, [&](const Member &M) { return M.Key == Given; });
    if (Known == Members.end())
      return fail(
          "unknown key '" + Given + "' in " + What + ", expected " +
          llvm::join(llvm::map_range(Members, [](const Member &M) { return M.Key; }), ", "));
    if (!Seen.insert(Known->Key).second)
      return fail("key '" + Given + "' given twice in " + What + ", expected once");
    Key = Known->Key;
    yaml::Node *Value = Pair.getValue();
    if (!Value || Stream.failed())
      return fail("no value");
    if (llvm::Error Failed = Known->Read(*Value))
      return Failed;
  }
  Here = Start;
  for (const Member &M : Members)
    if (M.Required && !Seen.count(M.Key))
      return fail("no '" + M.Key + "' in " + What);
  return llvm::Error::success();
}

llvm::Error ProfileReader::readList(yaml::Node &N,
                                    llvm::function_ref<llvm::Error(yaml::Node &)> Read) {
  if (llvm::isa<yaml::NullNode>(N))
    return llvm::Error::success();
  auto *List = llvm::dyn_cast<yaml::SequenceNode>(&N);
  if (!List)
    return mismatch(N, "a list");
  for (yaml::Node &Item : *List) {
    Here = Item.getSourceRange().Start;
    if (llvm::Error Failed = Read(Item))
      return Failed;
  }
  return llvm::Error::success();
}

llvm::Error ProfileReader::readText(yaml::Node &N, std::string &Out, bool MayBeEmpty) {
  if (auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N)) {
    llvm::SmallString<128> Storage;
    Out = Scalar->getValue(Storage).str();
  } else if (auto *Block = llvm::dyn_cast<yaml::BlockScalarNode>(&N)) {
    Out = Block->getValue().str();
  } else {
    return mismatch(N, "a text");
  }
  if (Stream.failed() || (Out.empty() && !MayBeEmpty))
    return mismatch(N, "a text");
  return llvm::Error::success();
}

llvm::Error ProfileReader::readNumber(yaml::Node &N, unsigned &Out, unsigned Min, unsigned Max) {
  auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N);
  // The raw value keeps its quotes, so a quoted number is a text.
  if (!Scalar || Scalar->getRawValue().getAsInteger(10, Out) || Out < Min || Out > Max)
    return mismatch(N, "a number in " + llvm::Twine(Min) + ".." + llvm::Twine(Max));
  return llvm::Error::success();
}

/// Reads a knob that has only one value besides the default.
llvm::Error ProfileReader::readOnly(yaml::Node &N, llvm::StringRef Expected) {
  auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N);
  if (!Scalar || Scalar->getRawValue() != Expected)
    return mismatch(N, Expected);
  return llvm::Error::success();
}

/// Reads a knob whose values have names. \p Named finds a value, and \p Expected lists the names.
template <class Value>
llvm::Error ProfileReader::readNamed(yaml::Node &N, Value &Out,
                                     std::optional<Value> (*Named)(llvm::StringRef),
                                     llvm::StringRef Expected) {
  auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N);
  std::optional<Value> Found = Scalar ? Named(Scalar->getRawValue()) : std::nullopt;
  if (!Found)
    return mismatch(N, Expected);
  Out = *Found;
  return llvm::Error::success();
}

llvm::Error ProfileReader::readRatio(yaml::Node &N, double &Out) {
  auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N);
  if (!Scalar || Scalar->getRawValue().getAsDouble(Out) || !std::isfinite(Out) || Out < 0)
    return mismatch(N, "a ratio such as 0.95");
  return llvm::Error::success();
}

llvm::Error ProfileReader::readFormat(yaml::Node &N) {
  unsigned Given;
  if (llvm::Error Failed = readNumber(N, Given, 1, AnyNumber))
    return Failed;
  if (Given == Format)
    return llvm::Error::success();
  return llvm::make_error<NewerFormat>(at(Here) + "carve-profile: " + llvm::Twine(Given) +
                                       ", expected " + llvm::Twine(Format));
}

llvm::Error ProfileReader::readArch(yaml::Node &N, std::string &Out) {
  if (llvm::Error Failed = readText(N, Out))
    return Failed;
  llvm::StringRef Rest = Out;
  unsigned Number;
  if (Rest.consume_front("sm_") && !Rest.consumeInteger(10, Number) &&
      (Rest.empty() || Rest == "a" || Rest == "f"))
    return llvm::Error::success();
  return mismatch(N, "an architecture such as sm_90");
}

/// Returns the knob other than None that is named \p Name and that a profile may have, or nothing.
/// What a variant with KnownShapes becomes are entries with KnownLaunch.
static std::optional<FrontEndKnob> storedKnobNamed(llvm::StringRef Name) {
  std::optional<FrontEndKnob> Knob = frontEndKnobNamed(Name);
  return Knob == FrontEndKnob::KnownShapes ? std::nullopt : Knob;
}

llvm::Error ProfileReader::readVariant(yaml::Node &N, VariantSetting &Out) {
  if (auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&N);
      Scalar && Scalar->getRawValue() == "default")
    return llvm::Error::success();
  if (!llvm::isa<yaml::MappingNode>(N))
    return mismatch(N, "'default' or a mapping such as {cap: 40}");
  auto Number = [this](std::optional<unsigned> &Field, unsigned Min, unsigned Max) {
    return [this, &Field, Min, Max](yaml::Node &V) {
      return readNumber(V, Field.emplace(), Min, Max);
    };
  };
  return readMapping(
      N, "variant",
      {{"cap", Number(Out.Cap, MinCap, MaxCap)},
       {"frontend-cap", Number(Out.FrontEndCap, MinCap, MaxCap)},
       {"frontend-knob",
        [&](yaml::Node &V) {
          return readNamed(V, Out.FrontEnd, storedKnobNamed,
                           "newllvm, newrolled, unroll, unroll2, noremat or known");
        }},
       {"known-ptx", [&](yaml::Node &V) { return Out.KnownPtx = true, readOnly(V, "true"); }},
       {"smem-spilling",
        [&](yaml::Node &V) { return Out.SmemSpilling = true, readOnly(V, "true"); }},
       {"load-cache",
        [&](yaml::Node &V) {
          return readNamed(V, Out.Loads, loadCachingNamed, "cg, cs or noalloc");
        }},
       {"register-usage-level", Number(Out.RegisterUsageLevel, 0, MaxLevel)},
       {"optimization-level", Number(Out.OptimizationLevel, 1, 1)}});
}

llvm::Error ProfileReader::readEvidence(yaml::Node &N, Evidence &Out) {
  auto Text = [this](std::string &Field) {
    return [this, &Field](yaml::Node &V) { return readText(V, Field, /*MayBeEmpty=*/true); };
  };
  auto Count = [this](unsigned &Field) {
    return [this, &Field](yaml::Node &V) { return readNumber(V, Field, 0, AnyNumber); };
  };
  auto Ratio = [this](double &Field) {
    return [this, &Field](yaml::Node &V) { return readRatio(V, Field); };
  };
  auto Measure = [this](std::optional<double> &Field) {
    return [this, &Field](yaml::Node &V) { return readRatio(V, Field.emplace()); };
  };
  auto Spill = [this](std::optional<unsigned> &Field) {
    return [this, &Field](yaml::Node &V) { return readNumber(V, Field.emplace(), 0, AnyNumber); };
  };
  auto Texts = [this](std::vector<std::string> &Field) {
    return [this, &Field](yaml::Node &V) {
      return readList(V, [&](yaml::Node &Item) { return readText(Item, Field.emplace_back()); });
    };
  };
  return readMapping(N, "evidence",
                     {{"device", Text(Out.Device)},
                      {"driver", Text(Out.Driver)},
                      {"toolkit", Text(Out.Toolkit)},
                      {"options", Texts(Out.Options)},
                      {"source", Text(Out.Source)},
                      {"date", Text(Out.Date)},
                      {"workload", Text(Out.Workload)},
                      {"shapes", Texts(Out.Shapes)},
                      {"ratio", Ratio(Out.Ratio)},
                      {"ratio-low", Ratio(Out.RatioLow)},
                      {"ratio-high", Ratio(Out.RatioHigh)},
                      {"pairs", Count(Out.Pairs)},
                      {"default-regs", Count(Out.DefaultRegs)},
                      {"tuned-regs", Count(Out.TunedRegs)},
                      {"default-spill-bytes", Spill(Out.DefaultSpillBytes)},
                      {"tuned-spill-bytes", Spill(Out.TunedSpillBytes)},
                      {"default-occupancy", Measure(Out.DefaultOccupancy)},
                      {"tuned-occupancy", Measure(Out.TunedOccupancy)},
                      {"launch-ns", Measure(Out.LaunchNs)},
                      {"smem-spilling-threads", Count(Out.SmemSpillingThreads)},
                      {"mode", Text(Out.Mode)},
                      {"mode-reason", Text(Out.ModeReason)},
                      {"verified", Text(Out.Verified)},
                      {"rounds", Count(Out.Rounds)},
                      {"in-run-ratio", Ratio(Out.InRunRatio)},
                      {"in-run-ratio-low", Ratio(Out.InRunRatioLow)},
                      {"in-run-ratio-high", Ratio(Out.InRunRatioHigh)},
                      {"code-digest", Text(Out.CodeDigest)},
                      {"reason", Text(Out.Reason)}});
}

llvm::Error ProfileReader::readGuard(yaml::Node &N, EntryGuard &Out) {
  auto Dimensions = [this](std::optional<std::array<unsigned, 3>> &Field) {
    return [this, &Field](yaml::Node &V) {
      auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&V);
      Field = Scalar ? parseDimensions(Scalar->getRawValue()) : std::nullopt;
      return Field ? llvm::Error::success() : mismatch(V, "dimensions such as 16x16x1");
    };
  };
  if (llvm::Error Failed = readMapping(N, "when",
                                       {{"threads",
                                         [&](yaml::Node &V) {
                                           return readNumber(V, Out.MaxThreads.emplace(), 1,
                                                             MaxLaunchThreads);
                                         }},
                                        {"block", Dimensions(Out.Block)},
                                        {"grid", Dimensions(Out.Grid)},
                                        {"arguments", [&](yaml::Node &V) {
                                           return readList(V, [&](yaml::Node &Item) {
                                             return readArgument(Item, Out.Arguments);
                                           });
                                         }}}))
    return Failed;
  return Out == EntryGuard() ? fail("when: nothing, expected threads, block, grid or arguments")
                             : llvm::Error::success();
}

/// Reads a value that an argument must have. They come by rising parameter.
llvm::Error ProfileReader::readArgument(yaml::Node &N, std::vector<ArgumentValue> &Out) {
  ArgumentValue Value;
  auto ReadBits = [&](yaml::Node &V) {
    auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&V);
    bool Bad = !Scalar || Scalar->getRawValue().getAsInteger(10, Value.Bits);
    return Bad ? mismatch(V, "a whole number from 0 on") : llvm::Error::success();
  };
  if (llvm::Error Failed = readMapping(
          N, "argument",
          {{"parameter",
            [&](yaml::Node &V) { return readNumber(V, Value.Parameter, 0, MostParameters); }, true},
           {"offset", [&](yaml::Node &V) { return readNumber(V, Value.Offset, 0, MostOffset); }},
           {"bytes", [&](yaml::Node &V) { return readNumber(V, Value.Bytes, 1, 8); }, true},
           {"value", ReadBits, true}}))
    return Failed;
  if (!llvm::isPowerOf2_32(Value.Bytes))
    return fail("bytes: " + llvm::Twine(Value.Bytes) + ", expected 1, 2, 4 or 8");
  if (Value.Bytes < 8 && Value.Bits >> 8 * Value.Bytes)
    return fail("value: " + llvm::Twine(Value.Bits) + ", expected one that " +
                llvm::Twine(Value.Bytes) + " bytes hold");
  if (!Out.empty() && Out.back().place() >= Value.place())
    return fail("parameter: " + llvm::Twine(Value.Parameter) + ", offset " +
                llvm::Twine(Value.Offset) + ", expected a place after parameter " +
                llvm::Twine(Out.back().Parameter) + ", offset " + llvm::Twine(Out.back().Offset));
  Out.push_back(Value);
  return llvm::Error::success();
}

/// Reads in how much of a run the guard of an entry held.
llvm::Error ProfileReader::readHold(yaml::Node &N, GuardHold &Out) {
  auto Count = [this](uint64_t &Field) {
    return [this, &Field](yaml::Node &V) {
      auto *Scalar = llvm::dyn_cast<yaml::ScalarNode>(&V);
      bool Bad = !Scalar || Scalar->getRawValue().getAsInteger(10, Field);
      return Bad ? mismatch(V, "a whole number from 0 on") : llvm::Error::success();
    };
  };
  if (llvm::Error Failed = readMapping(
          N, "held",
          {{"launches", Count(Out.Held), true},
           {"of", Count(Out.Launches), true},
           {"share", [&](yaml::Node &V) { return readRatio(V, Out.Share); }, true},
           {"at-most", [&](yaml::Node &V) { return Out.AtMost = true, readOnly(V, "true"); }}}))
    return Failed;
  if (Out.Held > Out.Launches)
    return fail("launches: " + llvm::Twine(Out.Held) + ", expected at most " +
                llvm::Twine(Out.Launches));
  return Out.Share <= 1 ? llvm::Error::success() : fail("share: more than 1, expected at most 1");
}

llvm::Error ProfileReader::readEntry(yaml::Node &N, std::vector<FurtherEntry> &Out) {
  FurtherEntry E;
  if (llvm::Error Failed =
          readMapping(N, "further entry",
                      {{"when", [&](yaml::Node &V) { return readGuard(V, E.When); }, true},
                       {"variant", [&](yaml::Node &V) { return readVariant(V, E.Variant); }, true},
                       {"code-digest", [&](yaml::Node &V) { return readText(V, E.CodeDigest); }},
                       {"held", [&](yaml::Node &V) { return readHold(V, E.Held.emplace()); }}}))
    return Failed;
  if (llvm::any_of(Out, [&](const FurtherEntry &Other) { return Other.When == E.When; }))
    return fail("two further entries when " + guardText(E.When) + ", expected one");
  if (E.Variant.isForKnownLaunches() && E.When.known().empty())
    return fail(llvm::Twine(E.Variant.KnownPtx ? "known-ptx" : "frontend-knob known") + " when " +
                guardText(E.When) + ", expected a guard with block, grid or arguments");
  if (Out.size() == MostFurtherEntries)
    return fail("more than " + llvm::Twine(MostFurtherEntries) + " further entries of a kernel");
  Out.push_back(E);
  return llvm::Error::success();
}

llvm::Error ProfileReader::readDecision(yaml::Node &N) {
  Decision D;
  llvm::Error Failed = readMapping(
      N, "kernel entry",
      {{"kernel", [&](yaml::Node &V) { return readText(V, D.Kernel); }, true},
       {"arch", [&](yaml::Node &V) { return readArch(V, D.Arch); }},
       {"variant", [&](yaml::Node &V) { return readVariant(V, D.Variant); }, true},
       {"entries",
        [&](yaml::Node &V) {
          return readList(V, [&](yaml::Node &Item) { return readEntry(Item, D.Entries); });
        }},
       {"digest", [&](yaml::Node &V) { return readText(V, D.Digest.emplace()); }},
       {"evidence", [&](yaml::Node &V) { return readEvidence(V, D.Basis.emplace()); }}});
  if (Failed)
    return Failed;
  if (D.Variant.isForKnownLaunches())
    return fail(llvm::Twine(D.Variant.KnownPtx ? "known-ptx" : "frontend-knob known") +
                " in the variant of a kernel, expected it only in entries");
  if (llvm::Error Bad = checkKernelPattern(D.Kernel))
    return fail(llvm::toString(std::move(Bad)));
  unsigned Line = Sources.getLineAndColumn(Here).first;
  auto [First, New] = LineOf.try_emplace({D.Kernel, D.Arch, D.Digest}, Line);
  if (!New)
    return fail("kernel '" + D.Kernel + "' for " +
                (D.Arch.empty() ? "any architecture" : llvm::StringRef(D.Arch)) +
                (D.Digest ? " with digest '" + *D.Digest + "'" : std::string()) +
                " given twice, expected once: first in line " + llvm::Twine(First->second));
  Result.Kernels.push_back(std::move(D));
  return llvm::Error::success();
}

llvm::Expected<Profile> ProfileReader::read() {
  yaml::document_iterator Document = Stream.begin();
  yaml::Node *Root = Document == Stream.end() ? nullptr : Document->getRoot();
  if (!Root || Stream.failed() || llvm::isa<yaml::NullNode>(Root))
    return fail("nothing, expected 'carve-profile: 1'");
  Here = Root->getSourceRange().Start;
  llvm::Error Failed = readMapping(
      *Root, "profile",
      {{"carve-profile", [&](yaml::Node &V) { return readFormat(V); }, true},
       {"file-cap",
        [&](yaml::Node &V) { return readNumber(V, Result.FileCap.emplace(), MinCap, MaxCap); }},
       {"kernels", [&](yaml::Node &V) {
          return readList(V, [&](yaml::Node &Item) { return readDecision(Item); });
        }}});
  if (Failed)
    return Failed;
  if (Stream.failed() || ++Document != Stream.end())
    return fail("a second document, expected one");
  if (Stream.failed())
    return fail("");
  return std::move(Result);
}

llvm::Expected<Profile> carve::parseProfile(llvm::StringRef Yaml, llvm::StringRef Name) {
  llvm::Expected<Profile> P = ProfileReader(Yaml, Name).read();
  if (P)
    P->Name = Name.str();
  return P;
}
