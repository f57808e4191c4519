#include "EntryPrograms.h"

#include "RandomGuards.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace carve;
using namespace carve::test;

using Random = std::mt19937;

//===------------------------------------------------------------------------------------------===//
// Kernels
//===------------------------------------------------------------------------------------------===//

std::string RandomKernel::profileName() const {
  return Form == KernelForm::Extern ? Name : "/\\b" + Name + Arguments + "\\(/";
}

std::optional<PointerPlace> RandomKernel::input() const {
  for (unsigned I = 0; I < Parameters.size(); ++I)
    for (const RandomNumber &N : numbersOf(Parameters[I]))
      if (N.Kind == ParameterKind::Input)
        return PointerPlace{I, N.Offset};
  return std::nullopt;
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
  if (chance(R, 50)) {
    All.push_back({Input});
  } else if (chance(R, 40)) {
    All.push_back(randomStructure(R));
    std::vector<RandomField> &Fields = All.back().Fields;
    Fields.insert(Fields.begin() + 1 + R() % Fields.size(), {Input});
  }
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
  K.ReadsOwn = K.input() && chance(R, 50);
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
  if (chance(R, 20))
    redirectInput(K, L, R);
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
  H.Restrict = Sets == 1 ? 60 : 20;
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
