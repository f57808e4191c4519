// Random programs whose kernels have further entries, as nvcc compiles them and with a profile.
// They run with a stand-in for the CUDA runtime (entries/RecordingRuntime.cpp), which writes what
// each launch passes to it. So it is known without a GPU which entry each launch takes, and that
// nothing else of a launch is changed. What must be taken follows from the guards, which the
// generator made up, and not from the code that chooses. CARVE_ENTRY_PROGRAMS says how many sets of
// kernels and launches there are, and CARVE_ENTRY_SEED the seed of the first one.
#include "BuiltTools.h"

#include "EmittedEntries.h"
#include "EntryProgramText.h"
#include "WrongGuards.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdio>

using namespace carve;
using namespace carve::test;

namespace {

unsigned numberFrom(const char *Variable, unsigned Default) {
  std::optional<std::string> Text = llvm::sys::Process::GetEnv(Variable);
  unsigned Number;
  return Text && !llvm::StringRef(*Text).getAsInteger(10, Number) ? Number : Default;
}

/// Loads a program that is a library, runs it, and unloads it, twice.
constexpr const char *LibraryHost = R"(
#include <dlfcn.h>
#include <stdio.h>
int main(int Count, char **Words) {
  for (int Round = 0; Round < 2; ++Round) {
    void *Library = dlopen(Words[1], RTLD_NOW);
    if (!Library)
      return fprintf(stderr, "%s\n", dlerror()), 2;
    int Status = ((int (*)(void))dlsym(Library, "runProgram"))();
    dlclose(Library);
    if (Status || dlopen(Words[1], RTLD_NOW | RTLD_NOLOAD))
      return fprintf(stderr, "status %d, or the library stays\n", Status), 3;
  }
}
)";

/// The driver that RecordingRuntime.cpp loads.
constexpr const char *Driver = R"(
int recordedAttributes(unsigned, const int *, void **, unsigned long long);
int cuPointerGetAttributes(unsigned Count, int *Attributes, void **Answers, unsigned long long Of) {
  return recordedAttributes(Count, Attributes, Answers, Of);
}
)";

/// A line of a record.
struct RecordedLaunch {
  unsigned Step = 0, Part = 0, Round = 0;
  std::string How, Kernel;
  std::string Shape; ///< Grid, block and dynamic shared memory.
  std::vector<std::vector<uint8_t>> Arguments;
};

/// What a program did.
struct ProgramRun {
  std::string Stdout;
  std::vector<RecordedLaunch> Launches; ///< By step; those of threads in their order.
};

std::vector<RecordedLaunch> parseRecord(llvm::StringRef Text) {
  std::vector<RecordedLaunch> Launches;
  for (llvm::StringRef Line : llvm::split(Text.trim(), '\n')) {
    llvm::SmallVector<llvm::StringRef, 16> Words;
    Line.split(Words, ' ');
    RecordedLaunch &L = Launches.emplace_back();
    if (Words.size() < 9 || Words[0].getAsInteger(10, L.Step) ||
        Words[1].getAsInteger(10, L.Part) || Words[2].getAsInteger(10, L.Round)) {
      ADD_FAILURE() << "no launch: " << Line.str();
      return {};
    }
    L.How = Words[3];
    L.Kernel = Words[4];
    L.Shape = (Words[5] + " " + Words[6] + " " + Words[7]).str();
    for (llvm::StringRef Word : llvm::ArrayRef(Words).drop_front(8)) {
      std::string Bytes = llvm::fromHex(Word);
      L.Arguments.emplace_back(Bytes.begin(), Bytes.end());
    }
  }
  llvm::stable_sort(Launches, [](const RecordedLaunch &A, const RecordedLaunch &B) {
    return std::tie(A.Step, A.Part, A.Round) < std::tie(B.Step, B.Part, B.Round);
  });
  return Launches;
}

/// Describes the first difference between the numbers of \p Actual and \p Expected, arguments of a
/// launch of \p K; an empty text if they are equal. What lies between fields may be anything. Of
/// addresses only the lowest byte is compared unless \p Addresses.
std::string differentArgument(const RandomKernel &K,
                              const std::vector<std::vector<uint8_t>> &Expected,
                              const std::vector<std::vector<uint8_t>> &Actual, bool Addresses) {
  if (Actual.size() != K.Parameters.size())
    return "there are " + std::to_string(Actual.size()) + " arguments";
  for (size_t I = 0; I < K.Parameters.size(); ++I) {
    if (Actual[I].size() != Expected[I].size())
      return "argument " + std::to_string(I) + " has " + std::to_string(Actual[I].size()) +
             " bytes";
    for (const RandomNumber &N : numbersOf(K.Parameters[I])) {
      unsigned Bytes = N.Kind <= ParameterKind::Input && !Addresses ? 1 : bytesOf(N.Kind);
      uint64_t Wanted = numberAt(Expected[I], N.Offset, Bytes),
               Found = numberAt(Actual[I], N.Offset, Bytes);
      if (Wanted != Found)
        return "argument " + std::to_string(I) + N.Access + " is " + std::to_string(Found) +
               ", expected " + std::to_string(Wanted);
    }
  }
  return "";
}

/// What a comparison of two runs says.
struct Comparison {
  std::string Difference; ///< The first one.
  uint64_t Different = 0, Launches = 0, Taken = 0;
  /// How often a guard asked about addresses, all else being as it wants, and was answered so.
  uint64_t Apart = 0, NotApart = 0;

  void countAddresses(const RandomKernel &K, const RandomLaunch &L,
                      const std::vector<bool> &Emitted, std::optional<size_t> Entry);
};

/// Counts what the guards of \p K ask about the addresses of \p L, which takes \p Entry.
void Comparison::countAddresses(const RandomKernel &K, const RandomLaunch &L,
                                const std::vector<bool> &Emitted, std::optional<size_t> Entry) {
  for (size_t I = 0; I < K.Entries.size() && I <= Entry.value_or(I); ++I) {
    EntryGuard Rest = K.Entries[I].When;
    Rest.Apart.clear();
    if (Emitted[I] && Rest != K.Entries[I].When && L.SmemBytes <= K.freeSmemBytes() &&
        holds(Rest, K, L))
      ++(Entry == I ? Apart : NotApart);
  }
}

/// Returns \p Emitted without the entries whose guards ask about addresses. A program takes no
/// others if it has loaded no driver that could answer.
EmittedEntries withoutDriver(const RandomProgram &P, EmittedEntries Emitted) {
  for (size_t K = 0; K < Emitted.size(); ++K)
    for (size_t I = 0; I < Emitted[K].size(); ++I)
      if (!P.Kernels[K].Entries[I].When.Apart.empty())
        Emitted[K][I] = false;
  return Emitted;
}

/// How many of the \p Emitted entries have restrict pointers. Their guards must ask about the
/// addresses of both the output and the input, as all kernels with an input use it.
unsigned restrictEntries(const RandomProgram &P, const EmittedEntries &Emitted) {
  unsigned Count = 0;
  for (size_t K = 0; K < Emitted.size(); ++K)
    for (size_t I = 0; I < Emitted[K].size(); ++I) {
      const FurtherEntry &E = P.Kernels[K].Entries[I];
      if (!Emitted[K][I] || !E.Variant.Restrict)
        continue;
      ++Count;
      EXPECT_TRUE(llvm::is_contained(E.When.Apart, PointerPlace{}) &&
                  llvm::is_contained(E.When.Apart, P.Kernels[K].input()))
          << P.Kernels[K].Name << " when " << guardText(E.When);
    }
  return Count;
}

/// Compares what \p P did with its \p Emitted entries with what nvcc's program did.
Comparison compare(const RandomProgram &P, const EmittedEntries &Emitted, bool ByPointer,
                   const ProgramRun &Plain, const ProgramRun &Tuned) {
  Comparison Result;
  auto Differ = [&](const std::string &What) {
    if (Result.Different++ == 0)
      Result.Difference = What;
  };
  if (Plain.Stdout != Tuned.Stdout)
    Differ("the output is another one");
  if (Plain.Launches.size() != Tuned.Launches.size()) {
    Differ(std::to_string(Tuned.Launches.size()) + " launches, expected " +
           std::to_string(Plain.Launches.size()));
    return Result;
  }
  for (size_t I = 0; I < Plain.Launches.size(); ++I) {
    const RecordedLaunch &A = Plain.Launches[I], &B = Tuned.Launches[I];
    const ProgramStep &Step = P.Steps.at(A.Step);
    const RandomKernel &K = P.Kernels[Step.Kernel];
    const RandomLaunch &L = Step.Launches[A.Part];
    auto DifferAt = [&](const std::string &What) {
      Differ("step " + std::to_string(A.Step) + "." + std::to_string(A.Part) + " (" + A.How +
             " of " + A.Kernel + "): " + What);
    };
    // The launches by which a program makes or changes a graph are those of its node.
    const bool Chooses = A.How == "stub" || (ByPointer && A.How == "pointer");
    std::optional<size_t> Entry =
        Chooses ? entryOf(K, Step.Way, L, Emitted[Step.Kernel], ByPointer) : std::nullopt;
    std::string Wanted = A.Kernel + (Entry ? "__carve_e" + std::to_string(*Entry + 1) : "");
    if (std::tie(A.Step, A.Part, A.Round, A.How, A.Shape) !=
        std::tie(B.Step, B.Part, B.Round, B.How, B.Shape))
      DifferAt("launched as " + B.How + " with " + B.Shape + ", expected " + A.Shape);
    else if (!llvm::StringRef(A.Kernel).contains(K.mangledPart()))
      DifferAt("it is a launch of " + K.mangledPart());
    else if (B.Kernel != Wanted)
      DifferAt("it takes " + B.Kernel + ", expected " + Wanted);
    else if (std::string What = differentArgument(K, A.Arguments, B.Arguments, true); !What.empty())
      DifferAt(What);
    else if (What = differentArgument(K, argumentsOf(K, L), A.Arguments, false);
             A.How != "graph" && !What.empty())
      DifferAt("the generator has another argument: " + What);
    ++Result.Launches;
    Result.Taken += Entry.has_value();
    if (Chooses && Step.Way <= LaunchWay::Pointer)
      Result.countAddresses(K, L, Emitted[Step.Kernel], Entry);
  }
  return Result;
}

class RandomEntries : public BuiltToolsTest {
protected:
  unsigned First = numberFrom("CARVE_ENTRY_SEED", 1);

  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    const std::string Entries = CARVE_SOURCE_DIR "/test/entries";
    expectSuccess(run({"c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-pthread",
                       "-I" + Tools.BinDir + "/../include", Entries + "/RecordingRuntime.cpp",
                       "-Wl,-rpath," + Work.path(), "-ldl", "-o", "libruntime.so"}));
    write("driver.c", Driver);
    expectSuccess(run(
        {"cc", "-fPIC", "-shared", "driver.c", "-Wl,-soname,libcuda.so.1", "-o", "libcuda.so.1"}));
    write("host.c", LibraryHost);
    expectSuccess(run({"cc", "host.c", "-L.", "-Wl,--no-as-needed", "-lruntime",
                       "-Wl,-rpath," + Work.path(), "-ldl", "-o", "host"}));
  }

  static void expectSuccess(const CommandResult &R) {
    EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr;
  }

  /// Returns the words for a compile of \p P, whose source is `p.cu`.
  Words words(const RandomProgram &P, bool Library, const std::string &Object) {
    Words All = {"-O3", "-arch=sm_90", "-I" CARVE_SOURCE_DIR "/test/gpu/apps", "-c", "p.cu"};
    llvm::append_range(All, P.Options);
    if (Library) // A variable that is unique in the process would keep the library loaded.
      llvm::append_range(All, Words{"-DLIBRARY", "-Xcompiler=-fPIC,-fno-gnu-unique"});
    llvm::append_range(All, Words{"-o", Object});
    return All;
  }
  void writeProgram(const RandomProgram &P) {
    write("p.cu", programText(P));
    write("p.yaml", printProfile(P.profile()));
  }

  /// Links \p Objects and runs the program.
  ProgramRun ran(const Words &Objects, bool Library, const Words &Environment = {}) {
    Words Link = {"c++"};
    llvm::append_range(Link, Objects);
    llvm::append_range(
        Link, Words{"-L.", "-lruntime", "-Wl,-rpath," + Work.path(), "-pthread", "-o", "program"});
    if (Library)
      Link.push_back("-shared");
    expectSuccess(run(Link));
    Words Environments = Environment;
    Environments.push_back("CARVE_ENTRY_RECORD=" + path("record"));
    CommandResult R =
        run(Library ? Words{path("host"), path("program")} : Words{path("program")}, Environments);
    expectSuccess(R);
    return {R.Stdout, parseRecord(read("record"))};
  }

  static bool choosesByPointer(llvm::ArrayRef<std::string> Calls) {
    return !llvm::is_contained(Calls, HandleCall);
  }
};

} // namespace

TEST_F(RandomEntries, launches_takeTheEntriesOfTheirGuardsAndAreNvccsOtherwise) {
  const unsigned Sets = numberFrom("CARVE_ENTRY_PROGRAMS", 40);
  uint64_t Launches = 0, Taken = 0, Made = 0, Emitted = 0, Apart = 0, NotApart = 0;
  unsigned Libraries = 0, Restrict = 0;
  std::vector<RandomProgram> Programs = randomPrograms(First, Sets);
  for (const RandomProgram &P : Programs) {
    SCOPED_TRACE("seed " + std::to_string(P.Seed) + ", " + std::to_string(P.Sets) + " sets");
    const bool Library = P.Seed % 3 == 0;
    Libraries += Library;
    writeProgram(P);
    buildPlain(words(P, Library, "plain.o"));
    Words Tuned = words(P, Library, "tuned.o");
    llvm::append_range(Tuned, P.CarveOptions);
    build(Tuned, {"CARVE_PROFILE=p.yaml"});
    std::set<std::string> Names = entryNames(read("tuned.o"));
    llvm::Expected<std::vector<std::string>> Calls = dispatchedCalls(read("plain.o"));
    ASSERT_TRUE(bool(Calls)) << llvm::toString(Calls.takeError());

    ProgramRun Plain = ran({"plain.o"}, Library);
    Comparison On = compare(P, emittedEntries(P, Names), choosesByPointer(*Calls), Plain,
                            ran({"tuned.o"}, Library));
    EXPECT_EQ(On.Difference, "") << On.Different << " differences\n" << log();
    Comparison Off = compare(P, emittedEntries(P, {}), choosesByPointer(*Calls), Plain,
                             ran({"tuned.o"}, Library, {"CARVE_ENTRIES=off"}));
    EXPECT_EQ(Off.Difference, "") << Off.Different << " differences\n" << log();
    Comparison Alone =
        compare(P, withoutDriver(P, emittedEntries(P, Names)), choosesByPointer(*Calls), Plain,
                ran({"tuned.o"}, Library, {"CARVE_ENTRY_DRIVER=off"}));
    EXPECT_EQ(Alone.Difference, "") << Alone.Different << " differences\n" << log();
    Apart += On.Apart;
    NotApart += On.NotApart;
    Restrict += restrictEntries(P, emittedEntries(P, Names));
    Launches += On.Launches;
    Taken += On.Taken;
    Emitted += Names.size();
    for (const RandomKernel &K : P.Kernels)
      Made += K.Entries.size();
  }
  std::printf(
      "%u sets of kernels and launches in %zu sources, %u of them libraries that are loaded "
      "twice; %llu of %llu entries emitted, %u with restrict pointers; %llu of %llu launches took "
      "one; addresses were apart in %llu of %llu\n",
      Sets, Programs.size(), Libraries, (unsigned long long)Emitted, (unsigned long long)Made,
      Restrict, (unsigned long long)Taken, (unsigned long long)Launches, (unsigned long long)Apart,
      (unsigned long long)(Apart + NotApart));
  EXPECT_GE(Emitted * 2, Made) << "programs without entries show nothing";
  EXPECT_GE(Taken * 20, Launches);
  EXPECT_GE(Restrict * 20, Sets);
  EXPECT_GE(Apart * 4, Sets);
  EXPECT_GE(NotApart * 4, Sets);
}

/// Without this test, programs that show nothing would pass the one before.
TEST_F(RandomEntries, wrongGuards_areSeen) {
  constexpr unsigned Sets = 12;
  constexpr size_t MostGuards = 40;
  RandomProgram P = randomProgram(First, Sets);
  P.Options.clear(); // The old default stream is one of the things that can be wrong.
  writeProgram(P);
  buildPlain(words(P, false, "plain.o"));
  std::string Object = read("plain.o");
  std::vector<std::string> Calls = llvm::cantFail(dispatchedCalls(Object));
  const bool ByPointer = choosesByPointer(Calls);
  ProgramRun Plain = ran({"plain.o"}, false);

  // The device code does not matter here, so all entries of the profile are there.
  std::set<std::string> Names;
  for (const RecordedLaunch &L : Plain.Launches)
    for (size_t I = 0; I < P.Kernels[P.Steps.at(L.Step).Kernel].Entries.size(); ++I)
      Names.insert(furtherEntryName(L.Kernel, I));
  const EmittedEntries All = emittedEntries(P, Names);
  write("renamed.o", llvm::cantFail(withRenamedCalls(Object, Calls, "tag")));
  auto RunWith = [&](const RandomProgram &Guards, const WrongText &Change) {
    std::string Text = dispatchSource(dispatchedEntries(Guards, Names), Calls, "tag");
    for (const auto &[From, To] : Change.Changes) {
      size_t At = Text.find(From);
      EXPECT_NE(At, std::string::npos) << "no '" << From << "' for: " << Change.What;
      for (; At != std::string::npos; At = Text.find(From, At + To.size()))
        Text.replace(At, From.size(), To);
    }
    write("dispatch.c", "static float floatOf(unsigned Bits) { return *(float *)&Bits; }\n" + Text);
    expectSuccess(run({"cc", "-std=gnu99", "-fno-strict-aliasing", "-w", "-c", "dispatch.c", "-o",
                       "dispatch.o"}));
    return compare(P, All, ByPointer, Plain, ran({"renamed.o", "dispatch.o"}, false));
  };
  Comparison Right = RunWith(P, {});
  EXPECT_EQ(Right.Difference, "");
  EXPECT_GT(Right.Taken, 0u);

  unsigned Seen = 0;
  for (const WrongText &Change : wrongTexts(P)) {
    Comparison Wrong = RunWith(P, Change);
    EXPECT_NE(Wrong.Difference, "") << Change.What;
    std::printf("%s: %llu launches differ\n", Change.What.c_str(),
                (unsigned long long)Wrong.Different);
    ++Seen;
  }
  // Of the guards those are tried with which some launch must take another entry.
  std::map<std::string, unsigned> Tried;
  for (size_t K = 0; K < P.Kernels.size() && Seen < MostGuards; ++K)
    for (size_t I = 0; I < P.Kernels[K].Entries.size() && Seen < MostGuards; ++I)
      for (const WrongGuard &Guard : wrongGuards(P, K, I)) {
        RandomProgram Changed = P;
        Changed.Kernels[K].Entries[I].When = Guard.When;
        bool Matters = llvm::any_of(Plain.Launches, [&](const RecordedLaunch &L) {
          const ProgramStep &Step = P.Steps.at(L.Step);
          return Step.Kernel == K && L.How == "stub" &&
                 entryOf(P.Kernels[K], Step.Way, Step.Launches[L.Part], All[K], ByPointer) !=
                     entryOf(Changed.Kernels[K], Step.Way, Step.Launches[L.Part], All[K],
                             ByPointer);
        });
        if (!Matters || Tried[Guard.What]++ >= 2)
          continue;
        EXPECT_NE(RunWith(Changed, {}).Difference, "")
            << Guard.What << ": " << furtherEntryName(P.Kernels[K].Name, I) << " when "
            << guardText(P.Kernels[K].Entries[I].When);
        ++Seen;
      }
  for (const auto &[What, Number] : Tried)
    std::printf("%s: %u guards\n", What.c_str(), std::min(Number, 2u));
  std::printf("%u wrong ways of choosing\n", Seen);
  EXPECT_GE(Tried.size(), 5u);
  EXPECT_TRUE(Tried.contains("addresses not compared"));
  EXPECT_TRUE(Tried.contains("one address not compared"));
}
