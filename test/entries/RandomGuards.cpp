#include "RandomGuards.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

using namespace carve;
using namespace carve::test;

using Random = std::mt19937;

static uint64_t threadsOf(const Dimensions &Block) {
  return uint64_t(Block[0]) * Block[1] * Block[2];
}

const std::vector<Dimensions> &carve::test::blocks() {
  static const std::vector<Dimensions> All = {
      {1, 1, 1},   {31, 1, 1},  {32, 1, 1},  {33, 1, 1},   {64, 1, 1},  {64, 2, 1},
      {2, 64, 1},  {16, 16, 1}, {8, 8, 2},   {128, 1, 1},  {255, 1, 1}, {256, 1, 1},
      {257, 1, 1}, {512, 1, 1}, {32, 32, 1}, {1024, 1, 1}, {1, 1, 64},  {4, 4, 4}};
  return All;
}

const std::vector<Dimensions> &carve::test::grids() {
  static const std::vector<Dimensions> All = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1},  {7, 1, 1},
                                              {2, 3, 1}, {1, 2, 2}, {16, 1, 1}, {64, 1, 1}};
  return All;
}

//===------------------------------------------------------------------------------------------===//
// What lets a launch through
//===------------------------------------------------------------------------------------------===//

std::vector<std::vector<uint8_t>> carve::test::argumentsOf(const RandomKernel &K,
                                                           const RandomLaunch &Launch) {
  std::vector<std::vector<uint8_t>> All;
  for (size_t I = 0; I < K.Parameters.size(); ++I)
    All.push_back(argumentBytes(K.Parameters[I], Launch.Values[I], Launch.Padding));
  return All;
}

/// The number of the input among those of \p L.
static uint64_t &inputOf(const RandomKernel &K, RandomLaunch &L) {
  PointerPlace Place = *K.input();
  std::vector<RandomNumber> Numbers = numbersOf(K.Parameters[Place.Parameter]);
  size_t I = 0;
  while (Numbers[I].Offset != Place.Offset)
    ++I;
  return L.Values[Place.Parameter][I];
}

PointerTarget carve::test::inputTarget(const RandomKernel &K, const RandomLaunch &Launch) {
  RandomLaunch L = Launch;
  return targetOf(inputOf(K, L));
}

/// Returns which allocation of cudaMalloc() the address at \p Place leads into, or nothing if it
/// leads elsewhere or if no address is there.
static std::optional<unsigned> allocationAt(const PointerPlace &Place, const RandomKernel &K,
                                            const RandomLaunch &Launch) {
  if (Place == PointerPlace{})
    return 0; // The output.
  if (Place != K.input() || inputTarget(K, Launch) == PointerTarget::Pinned)
    return std::nullopt;
  return inputTarget(K, Launch) == PointerTarget::Own;
}

/// Whether the addresses at \p Places lead into allocations that are all different.
static bool areApart(const std::vector<PointerPlace> &Places, const RandomKernel &K,
                     const RandomLaunch &Launch) {
  std::set<unsigned> Allocations;
  return llvm::all_of(Places, [&](const PointerPlace &P) {
    std::optional<unsigned> Own = allocationAt(P, K, Launch);
    return Own && Allocations.insert(*Own).second;
  });
}

bool carve::test::holds(const EntryGuard &Guard, const RandomKernel &K,
                        const RandomLaunch &Launch) {
  std::vector<std::vector<uint8_t>> Arguments = argumentsOf(K, Launch);
  return (!Guard.MaxThreads || threadsOf(Launch.Block) <= *Guard.MaxThreads) &&
         (!Guard.Block || *Guard.Block == Launch.Block) &&
         (!Guard.Grid || *Guard.Grid == Launch.Grid) &&
         llvm::all_of(Guard.Arguments,
                      [&](const ArgumentValue &V) {
                        return numberAt(Arguments[V.Parameter], V.Offset, V.Bytes) == V.Bits;
                      }) &&
         areApart(Guard.Apart, K, Launch);
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

//===------------------------------------------------------------------------------------------===//
// Entries
//===------------------------------------------------------------------------------------------===//

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
        V = {I, 1, 0, N.Offset}; // An address is only known to be a multiple of 256.
      // The other half is any launch's: of -1 it would make a loop of 4 billion iterations.
      else if (V.Bytes > 1 && N.Role == ParameterRole::Any && chance(R, 6))
        V = {I, V.Bytes / 2, V.Bits >> 4 * V.Bytes, N.Offset + V.Bytes / 2};
      All.push_back(V);
    }
  }
  return All;
}

/// Returns places of addresses that a guard asks about, or none. Mostly they are all that the
/// kernel has. A number that is no address is sometimes among them, so that the guard never holds.
static std::vector<PointerPlace> randomPlaces(const RandomKernel &K, Random &R) {
  std::optional<PointerPlace> Input = K.input();
  if (!Input || !chance(R, K.ReadsOwn ? 50 : 20))
    return {};
  std::vector<PointerPlace> Places = {{0, 0}, *Input};
  if (chance(R, 12))
    return {oneOf(R, Places)};
  std::vector<PointerPlace> Others;
  for (unsigned I = 0; I < K.Parameters.size(); ++I)
    for (const RandomNumber &N : numbersOf(K.Parameters[I]))
      if (N.Kind > ParameterKind::Input && bytesOf(N.Kind) == 8)
        Others.push_back({I, N.Offset});
  if (!Others.empty() && chance(R, 12))
    Places.push_back(oneOf(R, Others));
  llvm::sort(Places);
  return Places;
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
    Guard.Apart = randomPlaces(K, R);
  }
  return Guard;
}

/// Whether \p Guard asks about all addresses that \p K has.
static bool asksAboutAll(const EntryGuard &Guard, const RandomKernel &K) {
  return llvm::is_contained(Guard.Apart, PointerPlace{}) &&
         llvm::is_contained(Guard.Apart, K.input());
}

static VariantSetting randomVariant(const EntryGuard &Guard, const RandomKernel &K, const Habits &H,
                                    Random &R) {
  VariantSetting V;
  bool AnythingKnown = Guard.Block || Guard.Grid || !Guard.Arguments.empty();
  if (AnythingKnown && chance(R, H.FrontEnd))
    V.FrontEnd = FrontEndKnob::KnownLaunch;
  else if (chance(R, H.OtherKnobs))
    V.FrontEnd = oneOf<FrontEndKnob>(R, {FrontEndKnob::UnrollMore, FrontEndKnob::UnrollByTwo,
                                         FrontEndKnob::NoRematerialization});
  // An object has no such entry if the guard asks about one of the addresses alone.
  if (!Guard.Apart.empty())
    V.Restrict = chance(R, asksAboutAll(Guard, K) ? H.Restrict : H.Restrict / 3);
  V.KnownPtx = AnythingKnown && chance(R, V.FrontEnd == FrontEndKnob::KnownLaunch ? 15 : 50);
  if (chance(R, V.isForKnownLaunches() ? 35 : 75))
    V.Cap = oneOf<unsigned>(R, {24, 32, 40, 48, 56, 64, 72, 96, 128});
  if (chance(R, 15))
    V.Loads = oneOf<LoadCaching>(R, {LoadCaching::L2Only, LoadCaching::EvictFirst});
  if (V.isDefault())
    V.Cap = 32;
  return V;
}

std::vector<FurtherEntry> carve::test::randomEntries(const RandomKernel &K, const Habits &H,
                                                     Random &R) {
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
    E.Variant = randomVariant(E.When, K, H, R);
    if (llvm::none_of(Entries, [&](const FurtherEntry &F) { return F.When == E.When; }))
      Entries.push_back(std::move(E));
  }
  return Entries;
}

//===------------------------------------------------------------------------------------------===//
// Launches at guards
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
    Values[I] = N.Kind <= ParameterKind::Input ? pointerNumber(targetOf(Values[I]), 0)
                                               : (Values[I] & ~Mask) | V.Bits << Shift;
  }
}

void carve::test::redirectInput(const RandomKernel &K, RandomLaunch &L, Random &R) {
  if (!K.input())
    return;
  uint64_t &Number = inputOf(K, L);
  PointerTarget Target =
      oneOf<PointerTarget>(R, {PointerTarget::BehindOutput, PointerTarget::Pinned});
  if (K.ReadsOwn && chance(R, 60))
    Number = pointerNumber(PointerTarget::Output, 0);
  else
    Number = pointerNumber(Target, wordsOf(Number));
}

void carve::test::satisfy(const EntryGuard &Guard, const RandomKernel &K, RandomLaunch &L,
                          Random &R) {
  if (Guard.Block)
    L.Block = *Guard.Block;
  if (Guard.Grid)
    L.Grid = *Guard.Grid;
  for (const ArgumentValue &V : Guard.Arguments)
    putValue(V, K.Parameters[V.Parameter], L.Values[V.Parameter]);
  if (!Guard.Apart.empty())
    inputOf(K, L) = pointerNumber(PointerTarget::Own, wordsOf(inputOf(K, L)));
  if (Guard.MaxThreads && threadsOf(L.Block) > *Guard.MaxThreads)
    L.Block = {std::max(1u, *Guard.MaxThreads - unsigned(R() % 2)), 1, 1};
}

/// Returns dimensions beside \p D.
static Dimensions dimensionsBeside(Dimensions D, Random &R) {
  unsigned What = R() % 3;
  if (What == 0 && D[0] != D[1])
    std::swap(D[0], D[1]);
  else if (What == 1 && D[0] > 1)
    --D[0];
  else
    ++D[R() % 2];
  return D;
}

void carve::test::miss(const EntryGuard &Guard, const RandomKernel &K, RandomLaunch &L, Random &R) {
  size_t Dimensioned = bool(Guard.MaxThreads) + bool(Guard.Block) + bool(Guard.Grid);
  bool Named = Dimensioned + Guard.Arguments.size() > 0;
  if (!Guard.Apart.empty() && (!Named || chance(R, 50)))
    return redirectInput(K, L, R);
  size_t What = R() % (Dimensioned + Guard.Arguments.size());
  if (What < Guard.Arguments.size()) {
    const ArgumentValue &V = Guard.Arguments[What];
    std::vector<RandomNumber> Numbers = numbersOf(K.Parameters[V.Parameter]);
    for (size_t I = 0; I < Numbers.size(); ++I)
      if (V.Offset >= Numbers[I].Offset && V.Offset < Numbers[I].Offset + bytesOf(Numbers[I].Kind))
        L.Values[V.Parameter][I] = neighbour(Numbers[I], L.Values[V.Parameter][I], R);
  } else if (Guard.Block && (!Guard.Grid || chance(R, 50))) {
    L.Block = dimensionsBeside(*Guard.Block, R);
  } else if (Guard.Grid) {
    L.Grid = dimensionsBeside(*Guard.Grid, R);
  } else {
    L.Block = {*Guard.MaxThreads + 1, 1, 1};
  }
}
