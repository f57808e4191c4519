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

bool carve::test::holds(const EntryGuard &Guard, const RandomLaunch &Launch) {
  return (!Guard.MaxThreads || threadsOf(Launch.Block) <= *Guard.MaxThreads) &&
         (!Guard.Block || *Guard.Block == Launch.Block) &&
         (!Guard.Grid || *Guard.Grid == Launch.Grid) &&
         llvm::all_of(Guard.Arguments,
                      [&](const ArgumentValue &V) { return Launch.Values[V.Parameter] == V.Bits; });
}

const ArgumentValue *carve::test::argumentOf(const EntryGuard &Guard, size_t Index) {
  auto Found =
      llvm::find_if(Guard.Arguments, [&](const ArgumentValue &V) { return V.Parameter == Index; });
  return Found == Guard.Arguments.end() ? nullptr : &*Found;
}

std::optional<size_t> carve::test::entryOf(const RandomKernel &K, LaunchWay Way,
                                           const RandomLaunch &Launch,
                                           const std::vector<bool> &Emitted, bool ByPointer) {
  bool Chooses = Way <= LaunchWay::Threads || (Way == LaunchWay::Pointer && ByPointer);
  if (!Chooses || Launch.SmemBytes > K.freeSmemBytes())
    return std::nullopt;
  for (size_t I = 0; I < K.Entries.size(); ++I)
    if (Emitted[I] && holds(K.Entries[I].When, Launch))
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

/// Returns a guard that names one or several things.
static EntryGuard randomGuard(const RandomKernel &K, Random &R) {
  EntryGuard Guard;
  while (Guard == EntryGuard()) {
    if (chance(R, 30))
      Guard.Block = oneOf(R, blocks());
    if (chance(R, 30))
      Guard.Grid = oneOf(R, grids());
    if (chance(R, 40)) {
      Guard.MaxThreads = oneOf<unsigned>(R, {1, 31, 32, 64, 128, 200, 256, 512, 1023, 1024});
      // Otherwise no launch would take the entry.
      if (Guard.Block && threadsOf(*Guard.Block) > *Guard.MaxThreads)
        Guard.MaxThreads = unsigned(threadsOf(*Guard.Block));
    }
    unsigned Percent = oneOf<unsigned>(R, {0, 25, 60});
    for (unsigned I = 0; I < K.Parameters.size(); ++I) {
      const RandomParameter &P = K.Parameters[I];
      unsigned Bytes = bytesOf(P.Kind);
      bool Rare = P.Kind == ParameterKind::Float || P.Kind == ParameterKind::Double;
      if (Bytes && chance(R, Rare ? Percent / 5 : Percent) && Guard.Arguments.size() < 4)
        Guard.Arguments.push_back({I, Bytes, someValue(P, K.freeSmemBytes() / 4, R)});
    }
  }
  return Guard;
}

static VariantSetting randomVariant(const EntryGuard &Guard, Random &R) {
  VariantSetting V;
  bool Known = !Guard.known().empty() && chance(R, 60);
  if (Known)
    V.FrontEnd = FrontEndKnob::KnownLaunch;
  else if (chance(R, 10))
    V.FrontEnd = oneOf<FrontEndKnob>(R, {FrontEndKnob::UnrollMore, FrontEndKnob::UnrollByTwo,
                                         FrontEndKnob::NoRematerialization});
  if (chance(R, Known ? 35 : 75))
    V.Cap = oneOf<unsigned>(R, {24, 32, 40, 48, 56, 64, 72, 96, 128});
  if (chance(R, 15))
    V.Loads = oneOf<LoadCaching>(R, {LoadCaching::L2Only, LoadCaching::EvictFirst});
  if (V.isDefault())
    V.Cap = 32;
  return V;
}

static std::vector<FurtherEntry> randomEntries(const RandomKernel &K, Random &R) {
  std::vector<FurtherEntry> Entries;
  for (unsigned N = chance(R, 10) ? 0 : 1 + R() % MostFurtherEntries; N > 0; --N) {
    FurtherEntry E;
    E.When = randomGuard(K, R);
    E.Variant = randomVariant(E.When, R);
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

static std::vector<RandomParameter> randomParameters(Random &R) {
  using enum ParameterKind;
  std::vector<RandomParameter> All;
  if (chance(R, 70))
    All.push_back({Input});
  for (unsigned N = 2 + R() % 5; N > 0; --N) {
    RandomParameter P;
    P.Kind = oneOf<ParameterKind>(R, {Int, Int, Int, Unsigned, Unsigned, LongLong, Size, Bool, Char,
                                      Short, ParameterKind::Mode, Level, Float, Double, Pair});
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

static RandomKernel randomKernel(size_t Index, Random &R) {
  RandomKernel K;
  K.Name = "kern" + std::to_string(Index);
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

/// Makes \p Guard let \p L through.
static void satisfy(const EntryGuard &Guard, RandomLaunch &L, Random &R) {
  if (Guard.Block)
    L.Block = *Guard.Block;
  if (Guard.Grid)
    L.Grid = *Guard.Grid;
  for (const ArgumentValue &V : Guard.Arguments)
    L.Values[V.Parameter] = V.Bits;
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
    unsigned I = Guard.Arguments[What].Parameter;
    L.Values[I] = neighbour(K.Parameters[I], L.Values[I], R);
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
      return unsigned(4 * L.Values[I]) + oneOf<unsigned>(R, {0, 0, 4, 96});
  unsigned Free = K.freeSmemBytes();
  return oneOf<unsigned>(R, {0, 0, 0, 0, 0, 16, Free, Free + 4, 60 << 10});
}

static RandomLaunch randomLaunch(const RandomKernel &K, Random &R) {
  RandomLaunch L;
  L.Grid = oneOf(R, grids());
  L.Block = oneOf(R, blocks());
  for (const RandomParameter &P : K.Parameters)
    L.Values.push_back(someValue(P, K.freeSmemBytes() / 4, R));
  if (!K.Entries.empty() && chance(R, 85)) {
    const EntryGuard &Guard = oneOf(R, K.Entries).When;
    satisfy(Guard, L, R);
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
      {Chevrons, 30}, {OwnStream, 12}, {PerThread, 8},   {Meanwhile, 4}, {Threads, 8},
      {Pointer, 8},   {Extended, 6},   {Cooperative, 6}, {Captured, 12}, {Node, 6}};
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
    if (Step.Way != Captured && Step.Way != Node && chance(R, 2))
      spoil(L, R);
  }
  return Step;
}

static std::vector<ProgramStep> randomSteps(const std::vector<RandomKernel> &Kernels, Random &R) {
  std::vector<ProgramStep> Steps;
  for (size_t I = 0; I < Kernels.size(); ++I) {
    for (unsigned N = 10 + R() % 11; N > 0; --N)
      Steps.push_back(randomLaunches(I, Kernels[I], R));
    for (auto What : {ProgramStep::Attributes, ProgramStep::Occupancy})
      Steps.push_back({.Does = What, .Kernel = I, .Launches = {randomLaunch(Kernels[I], R)}});
    if (chance(R, 60))
      Steps.push_back({.Does = ProgramStep::Permit, .Kernel = I});
  }
  for (unsigned N = 0; N < 3; ++N)
    Steps.push_back({.Does = ProgramStep::Salt, .Number = unsigned(R())});
  if (chance(R, 15))
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

RandomProgram carve::test::randomProgram(unsigned Seed) {
  Random R(Seed);
  RandomProgram P;
  P.Seed = Seed;
  for (size_t Index = 0, Number = 3 + R() % 3; Index < Number; ++Index) {
    RandomKernel K = randomKernel(Index, R);
    if (chance(R, 30))
      llvm::append_range(P.Kernels, instantiations(K, R));
    else
      P.Kernels.push_back(std::move(K));
  }
  for (RandomKernel &K : P.Kernels)
    K.Entries = randomEntries(K, R);
  P.Steps = randomSteps(P.Kernels, R);
  P.Options = oneOf<std::vector<std::string>>(
      R, {{}, {}, {"-default-stream=per-thread"}, {"-lineinfo"}, {"-Xcompiler=-O0"}, {"-g"}});
  return P;
}
