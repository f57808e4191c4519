#include "Store/ProfileReader.h"

#include "Support/NewerFormat.h"
#include "Support/YamlReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/YAMLParser.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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

class ProfileReader : YamlReader {
public:
  ProfileReader(llvm::StringRef Text, llvm::StringRef Name)
      : YamlReader(Text, Name, "a profile of carve-nvcc, which is YAML") {}

  llvm::Expected<Profile> read();

private:
  llvm::Error readFormat(yaml::Node &N);
  llvm::Error readArch(yaml::Node &N, std::string &Out);
  llvm::Error readVariant(yaml::Node &N, VariantSetting &Out);
  llvm::Error readGuard(yaml::Node &N, EntryGuard &Out);
  llvm::Error readArgument(yaml::Node &N, std::vector<ArgumentValue> &Out);
  llvm::Error readPointer(yaml::Node &N, std::vector<PointerPlace> &Out);
  llvm::Error checkRising(const PointerPlace &Last, const PointerPlace &Place);
  llvm::Error readHold(yaml::Node &N, GuardHold &Out);
  llvm::Error readEntry(yaml::Node &N, std::vector<FurtherEntry> &Out);
  llvm::Error readEvidence(yaml::Node &N, Evidence &Out);
  llvm::Error readDecision(yaml::Node &N);
  llvm::Error readProfile(yaml::Node &N);

  Profile Result;
  /// The line of each entry, by kernel, architecture and digest.
  std::map<std::tuple<std::string, std::string, std::optional<std::string>>, unsigned> LineOf;
};

} // namespace

llvm::Error ProfileReader::readFormat(yaml::Node &N) {
  unsigned Given;
  if (llvm::Error Failed = readNumber(N, Given, 1, AnyNumber))
    return Failed;
  if (Given == Format)
    return llvm::Error::success();
  return llvm::make_error<NewerFormat>(at() + "carve-profile: " + llvm::Twine(Given) +
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
       {RestrictName, [&](yaml::Node &V) { return Out.Restrict = true, readOnly(V, "true"); }},
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
  if (llvm::Error Failed = readMapping(
          N, "when",
          {{"threads",
            [&](yaml::Node &V) {
              return readNumber(V, Out.MaxThreads.emplace(), 1, MaxLaunchThreads);
            }},
           {"block", Dimensions(Out.Block)},
           {"grid", Dimensions(Out.Grid)},
           {"arguments",
            [&](yaml::Node &V) {
              return readList(V,
                              [&](yaml::Node &Item) { return readArgument(Item, Out.Arguments); });
            }},
           {"pointers-apart", [&](yaml::Node &V) {
              return readList(V, [&](yaml::Node &Item) { return readPointer(Item, Out.Apart); });
            }}}))
    return Failed;
  return Out == EntryGuard()
             ? fail("when: nothing, expected threads, block, grid, arguments or pointers-apart")
             : llvm::Error::success();
}

/// Fails unless \p Place, in the arguments, comes after \p Last.
llvm::Error ProfileReader::checkRising(const PointerPlace &Last, const PointerPlace &Place) {
  if (Last < Place)
    return llvm::Error::success();
  return fail("parameter: " + llvm::Twine(Place.Parameter) + ", offset " +
              llvm::Twine(Place.Offset) + ", expected a place after parameter " +
              llvm::Twine(Last.Parameter) + ", offset " + llvm::Twine(Last.Offset));
}

/// Reads the place of an address that is apart from others. They come by rising place.
llvm::Error ProfileReader::readPointer(yaml::Node &N, std::vector<PointerPlace> &Out) {
  PointerPlace Place;
  if (llvm::Error Failed = readMapping(
          N, "pointer",
          {{"parameter",
            [&](yaml::Node &V) { return readNumber(V, Place.Parameter, 0, MostParameters); }, true},
           {"offset", [&](yaml::Node &V) { return readNumber(V, Place.Offset, 0, MostOffset); }}}))
    return Failed;
  if (!Out.empty())
    if (llvm::Error Failed = checkRising(Out.back(), Place))
      return Failed;
  Out.push_back(Place);
  return llvm::Error::success();
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
  if (!Out.empty())
    if (llvm::Error Failed =
            checkRising({Out.back().Parameter, Out.back().Offset}, {Value.Parameter, Value.Offset}))
      return Failed;
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
  if (E.Variant.Restrict && E.When.Apart.empty())
    return fail("restrict when " + guardText(E.When) + ", expected a guard with pointers-apart");
  KnownLaunch Known = E.When.known();
  Known.Apart.clear();
  if ((E.Variant.KnownPtx || E.Variant.FrontEnd == FrontEndKnob::KnownLaunch) && Known.empty())
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
    return fail(llvm::Twine(D.Variant.Restrict   ? RestrictName.data()
                            : D.Variant.KnownPtx ? "known-ptx"
                                                 : "frontend-knob known") +
                " in the variant of a kernel, expected it only in entries");
  if (llvm::Error Bad = checkKernelPattern(D.Kernel))
    return fail(llvm::toString(std::move(Bad)));
  auto [First, New] = LineOf.try_emplace({D.Kernel, D.Arch, D.Digest}, line());
  if (!New)
    return fail("kernel '" + D.Kernel + "' for " +
                (D.Arch.empty() ? "any architecture" : llvm::StringRef(D.Arch)) +
                (D.Digest ? " with digest '" + *D.Digest + "'" : std::string()) +
                " given twice, expected once: first in line " + llvm::Twine(First->second));
  Result.Kernels.push_back(std::move(D));
  return llvm::Error::success();
}

llvm::Error ProfileReader::readProfile(yaml::Node &N) {
  return readMapping(
      N, "profile",
      {{"carve-profile", [&](yaml::Node &V) { return readFormat(V); }, true},
       {"file-cap",
        [&](yaml::Node &V) { return readNumber(V, Result.FileCap.emplace(), MinCap, MaxCap); }},
       {"kernels", [&](yaml::Node &V) {
          return readList(V, [&](yaml::Node &Item) { return readDecision(Item); });
        }}});
}

llvm::Expected<Profile> ProfileReader::read() {
  if (llvm::Error Failed =
          readDocument([&](yaml::Node &N) { return readProfile(N); }, "'carve-profile: 1'"))
    return Failed;
  return std::move(Result);
}

llvm::Expected<Profile> carve::parseProfile(llvm::StringRef Yaml, llvm::StringRef Name) {
  llvm::Expected<Profile> P = ProfileReader(Yaml, Name).read();
  if (P)
    P->Name = Name.str();
  return P;
}
