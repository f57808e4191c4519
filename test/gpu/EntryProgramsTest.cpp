// Random programs whose kernels have further entries. They must do what nvcc's do, each launch must
// take the entry that its guard says, and if a guard were wrong, the programs would show it.
// CARVE_ENTRY_PROGRAMS says how many sets of kernels and launches they have together, and
// CARVE_ENTRY_SEED the seed of the first one. toolchain/RandomEntriesTest.cpp has the same programs
// without a GPU.
#include "GpuTesting.h"

#include "EmittedEntries.h"
#include "EntryProgramText.h"

#include "Emit/ObjectSplicer.h"
#include "Support/Parallel.h"
#include "Support/TempDir.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Process.h"

#include <cstdio>
#include <map>
#include <memory>
#include <set>

using namespace carve;
using namespace carve::test;

namespace {

/// So many programs run at once on the GPU: some start while others run.
constexpr unsigned RunsAtOnce = 4;
/// A program that takes longer hangs. Most take a second.
constexpr double MostSeconds = 120;
/// How many programs get wrong guards.
constexpr unsigned MutatedPrograms = 12;

unsigned numberFrom(const char *Variable, unsigned Default) {
  std::optional<std::string> Text = llvm::sys::Process::GetEnv(Variable);
  unsigned Number;
  return Text && !llvm::StringRef(*Text).getAsInteger(10, Number) ? Number : Default;
}

/// A random program in a directory of its own, beside what is compiled from it.
class BuiltProgram {
public:
  explicit BuiltProgram(RandomProgram Made)
      : Random(std::move(Made)), Place("entries-" + std::to_string(Random.Seed)) {
    EXPECT_FALSE(writeFileAtomically(path("p.cu"), programText(Random)));
    EXPECT_FALSE(writeFileAtomically(path("p.yaml"), printProfile(Random.profile())));
  }

  std::string path(const std::string &Name) const { return Place.path(Name); }
  /// What the last compile said of the entries.
  std::string log() const;
  /// Compiles the program with nvcc and with the profile. \p More are further options.
  void build(const std::string &Plain, const std::string &Tuned, const Words &More = {});
  /// Finds the entries that \p File has, an object or a program.
  void findEntries(const std::string &File);

  RandomProgram Random;
  EmittedEntries Emitted;
  std::set<std::string> Names; ///< The mangled names of the entries.

private:
  Project Place;
};

class EntryPrograms : public GpuTest {
protected:
  unsigned First = numberFrom("CARVE_ENTRY_SEED", 1);

  /// Compiles \p Programs in parallel.
  static std::vector<std::unique_ptr<BuiltProgram>> built(std::vector<RandomProgram> Programs,
                                                          const std::string &Plain,
                                                          const std::string &Tuned,
                                                          const Words &More = {}) {
    std::vector<std::unique_ptr<BuiltProgram>> All(Programs.size());
    runInParallel(Programs.size(), [&](size_t I) {
      All[I] = std::make_unique<BuiltProgram>(std::move(Programs[I]));
      All[I]->build(Plain, Tuned, More);
    });
    return All;
  }
};

void BuiltProgram::build(const std::string &Plain, const std::string &Tuned, const Words &More) {
  Words Arguments = {"-O3", "-arch=" + TestArch, "-I" + machine().Sources + "/apps", path("p.cu")};
  llvm::append_range(Arguments, Random.Options);
  llvm::append_range(Arguments, More);
  Words Nvcc = Arguments;
  Nvcc.insert(Nvcc.begin(), machine().T.Nvcc);
  Nvcc.insert(Nvcc.end(), {"-o", path(Plain)});
  CommandResult Result = run(Nvcc);
  EXPECT_EQ(Result.ExitStatus, 0) << "seed " << Random.Seed << ": " << Result.Stderr;
  EXPECT_EQ(Result.Stdout + Result.Stderr, "") << "seed " << Random.Seed;
  llvm::append_range(Arguments, Random.CarveOptions);
  Arguments.insert(Arguments.end(), {"--carve-profile=" + path("p.yaml"), "-o", path(Tuned)});
  Place.compile(Arguments);
  findEntries(Tuned);
}

std::string BuiltProgram::log() const {
  std::string Text = Place.log(), Kept;
  for (llvm::StringRef Line : llvm::split(Text, '\n'))
    if (Line.contains(" when "))
      Kept += (Line + "\n").str();
  return Kept;
}

void BuiltProgram::findEntries(const std::string &File) {
  Names = entryNames(valueOf(readFile(path(File))));
  Emitted = emittedEntries(Random, Names);
}

/// Describes the first line in which two outputs differ; an empty text if they are equal.
std::string firstDifference(llvm::StringRef Expected, llvm::StringRef Actual) {
  for (unsigned Line = 1; !Expected.empty() || !Actual.empty(); ++Line) {
    auto [Wanted, MoreWanted] = Expected.split('\n');
    auto [Found, MoreFound] = Actual.split('\n');
    if (Wanted != Found)
      return ("line " + llvm::Twine(Line) + " is '" + Found + "', expected '" + Wanted + "'").str();
    Expected = MoreWanted;
    Actual = MoreFound;
  }
  return "";
}

/// A launch that the program made and that succeeded.
struct MadeLaunch {
  const ProgramStep *Step;
  const RandomLaunch *Launch;
};

/// Reads the launches from what the program \p P printed.
std::vector<MadeLaunch> launchesOf(const RandomProgram &P, llvm::StringRef Stdout) {
  std::vector<MadeLaunch> Made;
  for (llvm::StringRef Line : llvm::split(Stdout, '\n')) {
    llvm::SmallVector<llvm::StringRef, 4> Fields;
    Line.split(Fields, ' ');
    unsigned Step, Part;
    auto [Number, Of] = Fields[0].split('.');
    if (Fields.size() != 4 || Fields[2] != "cudaSuccess" || Number.getAsInteger(10, Step) ||
        Of.getAsInteger(10, Part) || Step >= P.Steps.size() || Part > 1)
      continue;
    Made.push_back({&P.Steps[Step], &P.Steps[Step].Launches[Part]});
  }
  return Made;
}

/// Whether objects choose at calls of cudaLaunchKernel, too (EntryDispatch.cpp).
bool choosesByPointer() {
  static const bool Old = [] {
    ProcessRunner Runner;
    unsigned Major = 0;
    std::string Version = valueOf(nvccVersion(machine().T, Runner));
    return !llvm::StringRef(Version).split('.').first.getAsInteger(10, Major) && Major < 13;
  }();
  return Old;
}

/// Launches by kernel and entry.
using EntryCounts = std::map<std::pair<size_t, size_t>, uint64_t>;

EntryCounts expectedCounts(const BuiltProgram &B, llvm::StringRef Stdout) {
  EntryCounts Counts;
  for (const MadeLaunch &M : launchesOf(B.Random, Stdout)) {
    size_t K = M.Step->Kernel;
    if (auto Entry =
            entryOf(B.Random.Kernels[K], M.Step->Way, *M.Launch, B.Emitted[K], choosesByPointer()))
      ++Counts[{K, *Entry}];
  }
  return Counts;
}

EntryCounts tracedCounts(const BuiltProgram &B) {
  // The probe itself turns further entries off.
  RunRecord Run = runProbed({"env", "CARVE_ENTRIES=on", B.path("tuned")});
  EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
  EXPECT_EQ(Run.Probe.whyIncomplete(), std::nullopt);
  EntryCounts Counts;
  for (const KernelLaunches &L : Run.Probe.Kernels)
    for (size_t K = 0; K < B.Random.Kernels.size(); ++K)
      for (size_t I = 0; I < B.Random.Kernels[K].Entries.size(); ++I)
        if (isEntry(L.Kernel, B.Random.Kernels[K], I))
          Counts[{K, I}] += L.Launches;
  return Counts;
}

} // namespace

TEST_F(EntryPrograms, outputs_areThoseOfNvcc) {
  const unsigned Sets = numberFrom("CARVE_ENTRY_PROGRAMS", 100);
  auto Programs = built(randomPrograms(First, Sets), "plain", "tuned");
  const size_t Count = Programs.size();
  std::vector<CommandResult> Plain(Count), Tuned(Count), Off(Count);
  std::vector<EntryCounts> Traced(Count);
  runInParallel(
      Count,
      [&](size_t I) {
        const BuiltProgram &B = *Programs[I];
        Plain[I] = run({B.path("plain")}, {}, MostSeconds);
        Tuned[I] = run({B.path("tuned")}, {}, MostSeconds);
        Off[I] = run({B.path("tuned")}, {"CARVE_ENTRIES=off"}, MostSeconds);
        if (!B.Random.resetsDevice()) // Otherwise the records of what ran before are lost.
          Traced[I] = tracedCounts(B);
      },
      RunsAtOnce);
  uint64_t Emitted = 0, Launches = 0, Taken = 0;
  for (size_t I = 0; I < Count; ++I) {
    const BuiltProgram &B = *Programs[I];
    SCOPED_TRACE("seed " + std::to_string(B.Random.Seed));
    EXPECT_EQ(Plain[I].ExitStatus, 0) << Plain[I].Stderr;
    for (const CommandResult *Other : {&Tuned[I], &Off[I]}) {
      EXPECT_EQ(Other->ExitStatus, 0) << Other->Stderr;
      EXPECT_EQ(firstDifference(Plain[I].Stdout, Other->Stdout), "") << B.log();
    }
    Emitted += B.Names.size();
    Launches += launchesOf(B.Random, Plain[I].Stdout).size();
    if (B.Random.resetsDevice())
      continue;
    EXPECT_EQ(Traced[I], expectedCounts(B, Plain[I].Stdout)) << B.log();
    for (const auto &[Entry, Times] : Traced[I])
      Taken += Times;
  }
  std::printf("%u sets of kernels and launches in %zu programs, with %llu entries; %llu of %llu "
              "launches took one\n",
              Sets, Count, (unsigned long long)Emitted, (unsigned long long)Taken,
              (unsigned long long)Launches);
  EXPECT_GT(Emitted, Sets);
  EXPECT_GT(Taken, Sets);
}

namespace {

/// Returns the device section of the object \p Path.
std::string deviceSection(const std::string &Path) {
  std::string Object = valueOf(readFile(Path));
  auto Elf = llvm::object::ELF64LEFile::create(Object);
  if (!Elf) {
    ADD_FAILURE() << Path << ": " << llvm::toString(Elf.takeError());
    return "";
  }
  for (const auto &Section : llvm::cantFail(Elf->sections()))
    if (llvm::cantFail(Elf->getSectionName(Section)) == ".nv_fatbin")
      return llvm::toStringRef(llvm::cantFail(Elf->getSectionContents(Section))).str();
  ADD_FAILURE() << Path << " has no device section";
  return "";
}

/// An entry of a program: its kernel and its place.
using EntryPlace = std::pair<size_t, size_t>;

/// Returns \p When without what its code relies on.
EntryGuard unguarded(const EntryGuard &When) { return {.MaxThreads = When.MaxThreads}; }

/// Makes the program \p Name from the objects `plain.o` and `tuned.o`: nvcc's host code with the
/// entries, which are chosen by their guards, but that of \p Wrong without what it relies on.
bool linkWithGuards(const BuiltProgram &B, const std::string &Name,
                    std::optional<EntryPlace> Wrong) {
  RandomProgram Guards = B.Random;
  if (Wrong) {
    EntryGuard &When = Guards.Kernels[Wrong->first].Entries[Wrong->second].When;
    When = unguarded(When);
  }
  std::vector<DispatchedEntry> Entries = dispatchedEntries(Guards, B.Names);
  ProcessRunner Runner;
  TempDir Dir = llvm::cantFail(TempDir::create("carve-guards"));
  std::string Object =
      valueOf(spliceContainer(valueOf(readFile(B.path("plain.o"))),
                              deviceSection(B.path("plain.o")), deviceSection(B.path("tuned.o"))));
  Object = valueOf(withDispatch(Object, Entries, {"gcc"}, Runner, Dir.path()));
  EXPECT_FALSE(writeFileAtomically(B.path(Name + ".o"), Object));
  CommandResult Linked =
      run({machine().T.Nvcc, "-arch=" + TestArch, B.path(Name + ".o"), "-o", B.path(Name)});
  EXPECT_EQ(Linked.ExitStatus, 0) << Linked.Stderr;
  return Linked.succeeded();
}

/// Whether the program makes a launch that would take the entry \p Wrong only without its guard and
/// whose integer arguments or dimensions are others than those that the entry's code relies on, or
/// whose input is its output.
bool wouldBeWrong(const BuiltProgram &B, EntryPlace Wrong, llvm::StringRef Stdout) {
  RandomKernel Kernel = B.Random.Kernels[Wrong.first];
  const FurtherEntry Right = Kernel.Entries[Wrong.second];
  const bool ByValue = Right.Variant.FrontEnd == FrontEndKnob::KnownLaunch;
  EntryGuard Relied = Right.When;
  llvm::erase_if(Relied.Arguments, [&](const ArgumentValue &V) {
    for (const RandomNumber &N : numbersOf(Kernel.Parameters[V.Parameter]))
      if (N.Offset == V.Offset && bytesOf(N.Kind) == V.Bytes && isInteger(N.Kind))
        return N.Kind == ParameterKind::Bool || Kernel.Parameters[V.Parameter].Fields.size() > 0;
    return true;
  });
  Kernel.Entries[Wrong.second].When = unguarded(Relied);
  Relied.MaxThreads.reset();
  Relied.Apart.clear();
  return llvm::any_of(launchesOf(B.Random, Stdout), [&](const MadeLaunch &M) {
    return M.Step->Kernel == Wrong.first &&
           ((ByValue && !holds(Relied, Kernel, *M.Launch)) ||
            (Right.Variant.Restrict && inputTarget(Kernel, *M.Launch) == PointerTarget::Output)) &&
           entryOf(Kernel, M.Step->Way, *M.Launch, B.Emitted[Wrong.first], choosesByPointer()) ==
               Wrong.second;
  });
}

/// Returns the entries of \p B whose code relies on their guards.
std::vector<EntryPlace> reliantEntries(const BuiltProgram &B) {
  std::vector<EntryPlace> Found;
  for (size_t K = 0; K < B.Random.Kernels.size(); ++K)
    for (size_t I = 0; I < B.Random.Kernels[K].Entries.size(); ++I)
      if (const VariantSetting &V = B.Random.Kernels[K].Entries[I].Variant;
          B.Emitted[K][I] && (V.FrontEnd == FrontEndKnob::KnownLaunch || V.Restrict))
        Found.emplace_back(K, I);
  return Found;
}

/// What became of the wrong guards of one program.
struct Mutations {
  unsigned Tried = 0, Caught = 0;
  unsigned Restrict = 0; ///< Those of the tried ones whose entry has restrict pointers.
  std::string Missed;    ///< Those that changed nothing.
};

Mutations mutate(const BuiltProgram &B) {
  Mutations Result;
  if (B.Names.empty() || !linkWithGuards(B, "right", std::nullopt))
    return Result;
  CommandResult Right = run({B.path("right")}),
                Plain = run({B.path("right")}, {"CARVE_ENTRIES=off"});
  EXPECT_EQ(Plain.ExitStatus, 0) << Plain.Stderr;
  EXPECT_EQ(firstDifference(Plain.Stdout, Right.Stdout), "") << "seed " << B.Random.Seed;
  for (EntryPlace Wrong : reliantEntries(B)) {
    if (!wouldBeWrong(B, Wrong, Plain.Stdout) || !linkWithGuards(B, "wrong", Wrong))
      continue;
    CommandResult Run = run({B.path("wrong")});
    ++Result.Tried;
    Result.Restrict += B.Random.Kernels[Wrong.first].Entries[Wrong.second].Variant.Restrict;
    if (Run.ExitStatus != 0 || Run.Stdout != Plain.Stdout)
      ++Result.Caught;
    else
      Result.Missed += "seed " + std::to_string(B.Random.Seed) + ", " +
                       B.Random.Kernels[Wrong.first].Name + ", entry " +
                       std::to_string(Wrong.second + 1) + "\n";
  }
  return Result;
}

} // namespace

/// Without this test, programs that show nothing would pass the one before.
TEST_F(EntryPrograms, wrongGuards_areCaught) {
  std::vector<RandomProgram> Random;
  for (unsigned I = 0; I < MutatedPrograms; ++I)
    Random.push_back(randomProgram(First + I));
  auto Programs = built(std::move(Random), "plain.o", "tuned.o", {"-c"});
  std::vector<Mutations> Results(Programs.size());
  runInParallel(Programs.size(), [&](size_t I) { Results[I] = mutate(*Programs[I]); }, RunsAtOnce);
  Mutations All;
  for (const Mutations &M : Results) {
    All.Tried += M.Tried;
    All.Caught += M.Caught;
    All.Restrict += M.Restrict;
    All.Missed += M.Missed;
  }
  std::printf("%u of %u wrong guards were caught; %u are those of restrict pointers\n", All.Caught,
              All.Tried, All.Restrict);
  EXPECT_GE(All.Tried, MutatedPrograms / 2);
  // cicc need not make use of everything that it may assume.
  EXPECT_GE(All.Caught * 10, All.Tried * 9) << All.Missed;
}

/// An entry that is launched for the first time while another kernel waits for it, although the
/// program has launched the kernel before, so that CUDA need not load it.
TEST_F(EntryPrograms, entryBesideAWaitingKernel_starts) {
  Project P("entry-waiting");
  const std::string Source = machine().Sources + "/apps/entry_waiting.cu";
  ASSERT_FALSE(writeFileAtomically(P.path("p.yaml"),
                                   "carve-profile: 1\nkernels:\n  - kernel: awaited\n"
                                   "    variant: default\n    entries:\n"
                                   "      - when: {threads: 64}\n        variant: {cap: 32}\n"));
  P.compile({"-O3", "-arch=" + TestArch, Source, "--carve-profile=" + P.path("p.yaml"), "-o",
             P.path("app")});
  ASSERT_EQ(entryNames(valueOf(readFile(P.path("app")))),
            std::set<std::string>{"awaited__carve_e1"})
      << P.log();
  CommandResult Off = run({P.path("app")}, {"CARVE_ENTRIES=off"}), On = run({P.path("app")});
  ASSERT_EQ(Off.ExitStatus, 0) << Off.Stderr;
  EXPECT_EQ(On.Stdout, Off.Stdout);
}
