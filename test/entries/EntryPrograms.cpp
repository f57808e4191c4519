#include "EntryPrograms.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace carve;
using namespace carve::test;

using Random = std::mt19937;

//===------------------------------------------------------------------------------------------===//
// Guards
//===------------------------------------------------------------------------------------------===//

static uint64_t threadsOf(const Dimensions &Block) {
  return uint64_t(Block[0]) * Block[1] * Block[2];
}

std::vector<std::vector<uint8_t>> carve::test::argumentsOf(const RandomKernel &K,
                                                           const RandomLaunch &Launch) {
  std::vector<std::vector<uint8_t>> All;
  for (size_t I = 0; I < K.Parameters.size(); ++I)
    All.push_back(argumentBytes(K.Parameters[I], Launch.Values[I], Launch.Padding));
  return All;
}

bool carve::test::holds(const EntryGuard &Guard, const RandomKernel &K,
                        const RandomLaunch &Launch) {
  std::vector<std::vector<uint8_t>> Arguments = argumentsOf(K, Launch);
  return (!Guard.MaxThreads || threadsOf(Launch.Block) <= *Guard.MaxThreads) &&
         (!Guard.Block || *Guard.Block == Launch.Block) &&
         (!Guard.Grid || *Guard.Grid == Launch.Grid) &&
         llvm::all_of(Guard.Arguments, [&](const ArgumentValue &V) {
           return numberAt(Arguments[V.Parameter], V.Offset, V.Bytes) == V.Bits;
         });
}

std::optional<size_t> carve::test::entryOf(const RandomKernel &K, LaunchWay Way,
                                           const RandomLaunch &Launch,
                                           const std::vector<bool> &Emitted, bool ByPointer) {
  bool Chooses = Way <= LaunchWay::Threads || (Way == LaunchWay::Pointer && ByPointer);
  if (!Chooses || Launch.SmemBytes > K.freeSmemBytes())
    return std::nullopt;
  for (size_t I = 0; I < K.Entries.size(); ++I)
    if (Emitted[I] && holds(K.Entries[I].When, K, Launch))
      return I;
  return std::nullopt;
}

static const std::vector<Dimensions> &blocks() {
  static const std::vector<Dimensions> All = {
      {1, 1, 1},   {31, 1, 1},  {32, 1, 1},  {33, 1, 1},   {64, 1, 1},  {64, 2, 1},
      {2, 64, 1},  {16, 16, 1}, {8, 8, 2},   {128, 1, 1},  {255, 1, 1}, {256, 1, 1},
      {257, 1, 1}, {512, 1, 1}, {32, 32, 1}, {1024, 1, 1}, {1, 1, 64},  {4, 4, 4}};
  return All;
}

static const std::vector<Dimensions> &grids() {
  static const std::vector<Dimensions> All = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1},  {7, 1, 1},
                                              {2, 3, 1}, {1, 2, 2}, {16, 1, 1}, {64, 1, 1}};
  return All;
}

/// What all kernels of a program may have.
namespace {
struct Habits {
  bool Floats = false;      ///< Guards may name floating-point numbers.
  unsigned FrontEnd = 0;    ///< Percentage of the entries that are compiled for their launches.
  unsigned OtherKnobs = 10; ///< Percentage of those that have another setting of the front end.
  unsigned Resets = 15;     ///< Percentage of the sets that reset the device.
};
} // namespace

/// Returns guards of arguments, by rising place. One of a number may name a part of it.
static std::vector<ArgumentValue> randomValues(const RandomKernel &K, const Habits &H, Random &R) {
  std::vector<ArgumentValue> All;
  unsigned Percent = oneOf<unsigned>(R, {0, 25, 60});
  for (unsigned I = 0; I < K.Parameters.size(); ++I) {
    std::vector<RandomNumber> Numbers = numbersOf(K.Parameters[I]);
    for (const RandomNumber &N : Numbers) {
      bool Rare = Numbers.size() > 1 || N.Kind <= ParameterKind::Input;
      unsigned Chance = isFloat(N.Kind) && !H.Floats ? Percent / 8 : Rare ? Percent / 2 : Percent;
      if (All.size() == 4 || !chance(R, Chance))
        continue;
      ArgumentValue V = {I, bytesOf(N.Kind), someValue(N, K.freeSmemBytes() / 4, R), N.Offset};
      if (N.Kind <= ParameterKind::Input)
        V = {I, 1, 0, 0}; // An address is only known to be a multiple of 256.
      // The other half is any launch's: of -1 it would make a loop of 4 billion iterations.
      else if (V.Bytes > 1 && N.Role == ParameterRole::Any && chance(R, 6))
        V = {I, V.Bytes / 2, V.Bits >> 4 * V.Bytes, N.Offset + V.Bytes / 2};
      All.push_back(V);
    }
  }
  return All;
}

/// Returns a guard that names one or several things. With \p Shape, it names block and grid.
static EntryGuard randomGuard(const RandomKernel &K, const Habits &H, bool Shape, Random &R) {
  EntryGuard Guard;
  while (Guard == EntryGuard()) {
    if (Shape || chance(R, 30))
      Guard.Block = oneOf(R, blocks());
    if (Shape || chance(R, 30))
      Guard.Grid = oneOf(R, grids());
    if (!Shape && chance(R, 40)) {
      Guard.MaxThreads = oneOf<unsigned>(R, {1, 31, 32, 64, 128, 200, 256, 512, 1023, 1024});
      // Otherwise no launch would take the entry.
      if (Guard.Block && threadsOf(*Guard.Block) > *Guard.MaxThreads)
        Guard.MaxThreads = unsigned(threadsOf(*Guard.Block));
    }
    Guard.Arguments = randomValues(K, H, R);
  }
  return Guard;
}

static VariantSetting randomVariant(const EntryGuard &Guard, const Habits &H, Random &R) {
  VariantSetting V;
  bool AnythingKnown = !Guard.known().empty();
  if (AnythingKnown && chance(R, H.FrontEnd))
    V.FrontEnd = FrontEndKnob::KnownLaunch;
  else if (chance(R, H.OtherKnobs))
    V.FrontEnd = oneOf<FrontEndKnob>(R, {FrontEndKnob::UnrollMore, FrontEndKnob::UnrollByTwo,
                                         FrontEndKnob::NoRematerialization});
  V.KnownPtx = AnythingKnown && chance(R, V.FrontEnd == FrontEndKnob::KnownLaunch ? 15 : 50);
  if (chance(R, V.isForKnownLaunches() ? 35 : 75))
    V.Cap = oneOf<unsigned>(R, {24, 32, 40, 48, 56, 64, 72, 96, 128});
  if (chance(R, 15))
    V.Loads = oneOf<LoadCaching>(R, {LoadCaching::L2Only, LoadCaching::EvictFirst});
  if (V.isDefault())
    V.Cap = 32;
  return V;
}

static std::vector<FurtherEntry> randomEntries(const RandomKernel &K, const Habits &H, Random &R) {
  std::vector<FurtherEntry> Entries;
  // A tuning makes entries by shape that know the same arguments, and one for the rest.
  bool ByShape = chance(R, 20);
  std::vector<ArgumentValue> Same = ByShape ? randomValues(K, H, R) : std::vector<ArgumentValue>();
  unsigned Number = ByShape ? MostFurtherEntries : chance(R, 10) ? 0 : 1 + R() % MostFurtherEntries;
  for (unsigned I = 0; I < Number; ++I) {
    FurtherEntry E;
    E.When = randomGuard(K, H, ByShape && I + 1 < Number, R);
    if (ByShape && !Same.empty()) {
      E.When.Arguments = Same;
      if (I + 1 == Number)
        E.When.Block = E.When.Grid = std::nullopt;
    }
    E.Variant = randomVariant(E.When, H, R);
    if (llvm::none_of(Entries, [&](const FurtherEntry &F) { return F.When == E.When; }))
      Entries.push_back(std::move(E));
  }
  return Entries;
}

//===------------------------------------------------------------------------------------------===//
// Kernels
//===------------------------------------------------------------------------------------------===//

std::string RandomKernel::profileName() const {
  return Form == KernelForm::Extern ? Name : "/\\b" + Name + Arguments + "\\(/";
}

/// Returns a structure, often with bytes that belong to no field.
static RandomParameter randomStructure(Random &R) {
  using enum ParameterKind;
  RandomParameter P;
  P.Kind = Structure;
  for (unsigned N = 2 + R() % 4; N > 0; --N)
    P.Fields.push_back({oneOf<ParameterKind>(R, {Int, Int, Unsigned, LongLong, Size, Bool, Char,
                                                 Char, Short, Float, Float, Double}),
                        oneOf<unsigned>(R, {0, 0, 0, 3, 4})});
  return P;
}

static std::vector<RandomParameter> randomParameters(Random &R) {
  using enum ParameterKind;
  std::vector<RandomParameter> All;
  if (chance(R, 70))
    All.push_back({Input});
  for (unsigned N = 2 + R() % 5; N > 0; --N) {
    RandomParameter P;
    P.Kind = oneOf<ParameterKind>(R, {Int, Int, Int, Unsigned, Unsigned, LongLong, Size, Bool, Char,
                                      Short, ParameterKind::Mode, Level, Float, Float, Double,
                                      Structure, Structure});
    if (P.Kind == Structure)
      P = randomStructure(R);
    if (isInteger(P.Kind) && P.Kind != Bool)
      P.Role = oneOf<ParameterRole>(
          R, {ParameterRole::Any, ParameterRole::Count, ParameterRole::Divisor});
    P.Const = chance(R, 20);
    All.push_back(P);
  }
  if (chance(R, 45))
    All.push_back({oneOf<ParameterKind>(R, {Int, Unsigned, Size, LongLong}), ParameterRole::Words});
  std::shuffle(All.begin(), All.end(), R);
  All.insert(All.begin(), {Output});
  return All;
}

static RandomKernel randomKernel(const std::string &Name, Random &R) {
  RandomKernel K;
  K.Name = Name;
  K.Form = KernelForm(R() % 5); // Instantiations are made from others.
  K.Parameters = randomParameters(R);
  if (chance(R, 35))
    K.Pressure = oneOf<unsigned>(R, {24, 32, 40});
  if (chance(R, 30))
    K.Bound = oneOf<unsigned>(R, {256, 512, 1000, 1024});
  K.StaticWords = oneOf<unsigned>(R, {0, 0, 1024, 2048, 10240});
  return K;
}

/// Returns two instantiations of a template that is made from \p K.
static std::vector<RandomKernel> instantiations(RandomKernel K, Random &R) {
  using enum ParameterKind;
  struct Type {
    ParameterKind Kind;
    const char *Name, *Mangled;
  };
  const std::vector<Type> Types = {
      {Int, "int", "i"}, {Unsigned, "unsigned int", "j"}, {LongLong, "long long", "x"}};
  K.Form = KernelForm::Template;
  auto OfType = llvm::find_if(K.Parameters, [](const RandomParameter &P) {
    return P.Role != ParameterRole::Words && (P.Kind == Int || P.Kind == Unsigned);
  });
  if (OfType == K.Parameters.end())
    OfType = K.Parameters.insert(K.Parameters.end(), RandomParameter());
  OfType->Template = true;
  std::vector<RandomKernel> Both;
  int Numbers[2] = {int(R() % 5), -int(1 + R() % 5)};
  for (int Number : Numbers) {
    const Type &T = oneOf(R, Types);
    OfType->Kind = T.Kind;
    K.Arguments = "<" + std::string(T.Name) + ", " + std::to_string(Number) + ">";
    K.MangledArguments = "I" + std::string(T.Mangled) + "Li" + (Number < 0 ? "n" : "") +
                         std::to_string(std::abs(Number)) + "EE";
    K.SameText = !Both.empty();
    Both.push_back(K);
  }
  return Both;
}

//===------------------------------------------------------------------------------------------===//
// Launches
//===------------------------------------------------------------------------------------------===//

/// Puts the bits of \p V into the number of \p Values that has them.
static void putValue(const ArgumentValue &V, const RandomParameter &P,
                     std::vector<uint64_t> &Values) {
  std::vector<RandomNumber> Numbers = numbersOf(P);
  for (size_t I = 0; I < Numbers.size(); ++I) {
    const RandomNumber &N = Numbers[I];
    if (V.Offset < N.Offset || V.Offset >= N.Offset + bytesOf(N.Kind))
      continue;
    unsigned Shift = 8 * (V.Offset - N.Offset);
    uint64_t Mask = (V.Bytes == 8 ? ~0ull : (1ull << 8 * V.Bytes) - 1) << Shift;
    Values[I] = N.Kind <= ParameterKind::Input ? 0 : (Values[I] & ~Mask) | V.Bits << Shift;
  }
}

/// Makes \p Guard let \p L through.
static void satisfy(const EntryGuard &Guard, const RandomKernel &K, RandomLaunch &L, Random &R) {
  if (Guard.Block)
    L.Block = *Guard.Block;
  if (Guard.Grid)
    L.Grid = *Guard.Grid;
  for (const ArgumentValue &V : Guard.Arguments)
    putValue(V, K.Parameters[V.Parameter], L.Values[V.Parameter]);
  if (Guard.MaxThreads && threadsOf(L.Block) > *Guard.MaxThreads)
    L.Block = {std::max(1u, *Guard.MaxThreads - unsigned(R() % 2)), 1, 1};
}

/// Returns dimensions beside \p D.
static Dimensions neighbour(Dimensions D, Random &R) {
  unsigned What = R() % 3;
  if (What == 0 && D[0] != D[1])
    std::swap(D[0], D[1]);
  else if (What == 1 && D[0] > 1)
    --D[0];
  else
    ++D[R() % 2];
  return D;
}

/// Changes one of the things that \p Guard names.
static void miss(const EntryGuard &Guard, const RandomKernel &K, RandomLaunch &L, Random &R) {
  size_t Dimensioned = bool(Guard.MaxThreads) + bool(Guard.Block) + bool(Guard.Grid);
  size_t What = R() % (Dimensioned + Guard.Arguments.size());
  if (What < Guard.Arguments.size()) {
    const ArgumentValue &V = Guard.Arguments[What];
    std::vector<RandomNumber> Numbers = numbersOf(K.Parameters[V.Parameter]);
    for (size_t I = 0; I < Numbers.size(); ++I)
      if (V.Offset >= Numbers[I].Offset && V.Offset < Numbers[I].Offset + bytesOf(Numbers[I].Kind))
        L.Values[V.Parameter][I] = neighbour(Numbers[I], L.Values[V.Parameter][I], R);
  } else if (Guard.Block && (!Guard.Grid || chance(R, 50))) {
    L.Block = neighbour(*Guard.Block, R);
  } else if (Guard.Grid) {
    L.Grid = neighbour(*Guard.Grid, R);
  } else {
    L.Block = {*Guard.MaxThreads + 1, 1, 1};
  }
}

/// Returns dynamic shared memory for \p L, whose words may be an argument.
static unsigned smemFor(const RandomKernel &K, const RandomLaunch &L, Random &R) {
  for (size_t I = 0; I < K.Parameters.size(); ++I)
    if (K.Parameters[I].Role == ParameterRole::Words)
      return unsigned(4 * L.Values[I].front()) + oneOf<unsigned>(R, {0, 0, 4, 96});
  unsigned Free = K.freeSmemBytes();
  return oneOf<unsigned>(R, {0, 0, 0, 0, 0, 16, Free, Free + 4, 60 << 10});
}

static RandomLaunch randomLaunch(const RandomKernel &K, Random &R) {
  RandomLaunch L;
  L.Grid = oneOf(R, grids());
  L.Block = oneOf(R, blocks());
  L.Padding = uint8_t(R());
  for (const RandomParameter &P : K.Parameters) {
    std::vector<uint64_t> &Values = L.Values.emplace_back();
    for (const RandomNumber &N : numbersOf(P))
      Values.push_back(someValue(N, K.freeSmemBytes() / 4, R));
  }
  if (!K.Entries.empty() && chance(R, 85)) {
    const EntryGuard &Guard = oneOf(R, K.Entries).When;
    satisfy(Guard, K, L, R);
    if (chance(R, 45))
      miss(Guard, K, L, R);
  }
  L.SmemBytes = smemFor(K, L, R);
  return L;
}

/// Makes the launch one that CUDA refuses.
static void spoil(RandomLaunch &L, Random &R) {
  if (chance(R, 60))
    L.Block = oneOf<Dimensions>(R, {{0, 1, 1}, {1025, 1, 1}, {1, 1, 65}, {64, 32, 1}});
  else
    L.Grid = oneOf<Dimensions>(R, {{0, 1, 1}, {1, 65536, 1}});
}

static ProgramStep randomLaunches(size_t Index, const RandomKernel &K, Random &R) {
  using enum LaunchWay;
  static const std::vector<std::pair<LaunchWay, unsigned>> Weights = {
      {Chevrons, 30}, {OwnStream, 12},        {PerThread, 8}, {Meanwhile, 4},
      {Threads, 8},   {Pointer, 8},           {Extended, 6},  {Cooperative, 6},
      {Captured, 8},  {CapturedPerThread, 4}, {Node, 6}};
  ProgramStep Step;
  Step.Kernel = Index;
  unsigned Place = R() % 100;
  for (const auto &[Way, Weight] : Weights) {
    Step.Way = Way;
    if (Place < Weight)
      break;
    Place -= Weight;
  }
  for (RandomLaunch &L : Step.Launches) {
    L = randomLaunch(K, R);
    if (Step.Way < Captured && chance(R, 2))
      spoil(L, R);
  }
  return Step;
}

/// \p Kernels are those of the program from number \p First on.
static std::vector<ProgramStep> randomSteps(size_t First, const std::vector<RandomKernel> &Kernels,
                                            const Habits &H, Random &R) {
  std::vector<ProgramStep> Steps;
  for (size_t I = 0; I < Kernels.size(); ++I) {
    for (unsigned N = 10 + R() % 11; N > 0; --N)
      Steps.push_back(randomLaunches(First + I, Kernels[I], R));
    for (auto What : {ProgramStep::Attributes, ProgramStep::Occupancy})
      Steps.push_back(
          {.Does = What, .Kernel = First + I, .Launches = {randomLaunch(Kernels[I], R)}});
    if (chance(R, 60))
      Steps.push_back({.Does = ProgramStep::Permit, .Kernel = First + I});
  }
  for (unsigned N = 0; N < 3; ++N)
    Steps.push_back({.Does = ProgramStep::Salt, .Number = unsigned(R())});
  for (unsigned N = chance(R, 20) ? 2 : 0; N > 0; --N)
    Steps.push_back({.Does = ProgramStep::Device, .Number = N - 1});
  if (chance(R, H.Resets))
    Steps.push_back({.Does = ProgramStep::Reset});
  std::shuffle(Steps.begin(), Steps.end(), R);
  return Steps;
}

//===------------------------------------------------------------------------------------------===//
// Programs
//===------------------------------------------------------------------------------------------===//

bool RandomProgram::resetsDevice() const {
  return llvm::any_of(Steps, [](const ProgramStep &S) { return S.Does == ProgramStep::Reset; });
}

carve::Profile RandomProgram::profile() const {
  carve::Profile P;
  for (const RandomKernel &K : Kernels)
    P.Kernels.push_back(
        {.Kernel = K.profileName(), .Arch = "", .Variant = {}, .Entries = K.Entries});
  return P;
}

/// Returns the kernels and steps of the set \p Seed. \p First is the number of its first kernel.
static std::pair<std::vector<RandomKernel>, std::vector<ProgramStep>>
randomSet(unsigned Seed, size_t First, const Habits &H) {
  Random R(Seed);
  std::vector<RandomKernel> Kernels;
  for (size_t Index = 0, Number = 2 + R() % 3; Index < Number; ++Index) {
    RandomKernel K = randomKernel("s" + std::to_string(Seed) + "k" + std::to_string(Index), R);
    if (chance(R, 30))
      llvm::append_range(Kernels, instantiations(K, R));
    else
      Kernels.push_back(std::move(K));
  }
  for (RandomKernel &K : Kernels)
    K.Entries = randomEntries(K, H, R);
  return {Kernels, randomSteps(First, Kernels, H, R)};
}

RandomProgram carve::test::randomProgram(unsigned Seed, unsigned Sets) {
  Random R(Seed);
  RandomProgram P;
  P.Seed = Seed;
  P.Sets = Sets;
  Habits H;
  H.Floats = chance(R, 60);
  H.FrontEnd = Sets == 1 ? 60 : 1;
  H.OtherKnobs = Sets == 1 ? 10 : 0;
  H.Resets = Sets == 1 ? 15 : 1; // A record of launches ends where the device is reset.
  if (H.Floats)
    P.CarveOptions = {"--carve-entries=floats"};
  for (unsigned I = 0; I < Sets; ++I) {
    auto [Kernels, Steps] = randomSet(Seed + I, P.Kernels.size(), H);
    llvm::append_range(P.Kernels, Kernels);
    llvm::append_range(P.Steps, Steps);
  }
  P.Options = oneOf<std::vector<std::string>>(
      R, {{}, {}, {"-default-stream=per-thread"}, {"-lineinfo"}, {"-Xcompiler=-O0"}, {"-g"}});
  return P;
}

std::vector<RandomProgram> carve::test::randomPrograms(unsigned Seed, unsigned Sets) {
  std::vector<RandomProgram> Programs;
  for (unsigned Made = 0; Made < Sets;) {
    unsigned Own = Made % 20 ? std::min(19u, Sets - Made) : 1;
    Programs.push_back(randomProgram(Seed + Made, Own));
    Made += Own;
  }
  return Programs;
}
