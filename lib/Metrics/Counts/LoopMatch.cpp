#include "Metrics/Counts/LoopMatch.h"

#include "Metrics/Counts/CountSum.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace carve;
using namespace llvm;

namespace {

/// A loop and the loops directly inside of it.
struct Nest {
  size_t Loop = 0;
  std::vector<Nest> Inner;
};

/// Returns the loops from index \p At on that have at least depth \p Depth, up to the first that
/// has less.
std::vector<Nest> nestsOf(const std::vector<LoopCount> &Loops, size_t &At, unsigned Depth) {
  std::vector<Nest> Result;
  while (At < Loops.size() && Loops[At].Depth >= Depth) {
    Nest N;
    N.Loop = At++;
    N.Inner = nestsOf(Loops, At, Depth + 1);
    Result.push_back(std::move(N));
  }
  return Result;
}

/// Rounds a factor to a power of two, because ptxas unrolls by these.
unsigned powerOfTwo(double Factor) {
  return Factor < 1 ? 1 : 1u << static_cast<unsigned>(std::lround(std::log2(Factor)));
}

class Matcher {
public:
  Matcher(const std::vector<LoopCount> &Ptx, std::vector<LoopCount> &Code) : Ptx(Ptx), Code(Code) {}
  void match(std::vector<Nest> Wanted, std::vector<Nest> Found);

private:
  void dropRetries(ArrayRef<Nest> Wanted, std::vector<Nest> &Found);
  std::vector<Nest>::iterator vanished(std::vector<Nest> &Wanted, ArrayRef<Nest> Found);
  std::vector<std::vector<Nest>> groups(ArrayRef<Nest> Found, size_t Wanted) const;
  void take(const LoopCount &Source, ArrayRef<Nest> Group);
  unsigned timesRest(const LoopCount &Source, const LoopCount &To, const LoopCount &Rest) const;
  unsigned unrolled(const LoopCount &From, const LoopCount &To) const;
  void set(LoopCount &To, const LoopCount &From, double Trips) const;

  const std::vector<LoopCount> &Ptx;
  std::vector<LoopCount> &Code;
};

void Matcher::set(LoopCount &To, const LoopCount &From, double Trips) const {
  To.Trips = Trips;
  To.Line = From.Line;
  To.Source = isAssumed(From.Source) ? From.Source : TripSource::Matched;
  // A callee's loop that ptxas inlined runs as often as the call, and this number is not known
  // here.
  To.PerRun.reset();
  if (From.PerRun && From.OfEntry == To.OfEntry)
    To.PerRun = From.Trips > 0 ? *From.PerRun * Trips / From.Trips : 0;
}

unsigned Matcher::unrolled(const LoopCount &From, const LoopCount &To) const {
  // Machine code has fewer accesses if ptxas joins some of them, but hardly ever more.
  if (From.OwnMemory)
    return powerOfTwo(double(To.OwnMemory) / From.OwnMemory);
  // One instruction of PTX may become two. Four instructions are more likely those of other trips.
  double Factor = double(To.OwnInstructions) / std::max(From.OwnInstructions, 1u);
  return Factor < 2.8 ? 1 : powerOfTwo(Factor);
}

/// Divides \p Found into at most \p Wanted groups. A group is an unrolled loop and the smaller
/// loops after it that do what it leaves over.
std::vector<std::vector<Nest>> Matcher::groups(ArrayRef<Nest> Found, size_t Wanted) const {
  std::vector<std::vector<Nest>> Groups;
  size_t Surplus = Found.size() - Wanted;
  for (const Nest &N : Found) {
    bool IsRest =
        Surplus && !Groups.empty() && N.Inner.empty() && Groups.back().back().Inner.empty() &&
        2 * Code[Groups.back().back().Loop].OwnInstructions >= 3 * Code[N.Loop].OwnInstructions;
    if (IsRest) {
      Groups.back().push_back(N);
      --Surplus;
    } else {
      Groups.push_back({N});
    }
  }
  return Groups;
}

/// Returns how many trips of \p Source one trip of \p To does. \p Rest is the loop after it that
/// does the trips left over.
unsigned Matcher::timesRest(const LoopCount &Source, const LoopCount &To,
                            const LoopCount &Rest) const {
  if (Source.OwnMemory)
    return powerOfTwo(double(To.OwnMemory) / Source.OwnMemory);
  return powerOfTwo(double(To.OwnInstructions) / std::max(Rest.OwnInstructions, 1u));
}

/// Divides the trips of \p Source among \p Group. Each loop does as many as fit, and all together
/// do all of them.
void Matcher::take(const LoopCount &Source, ArrayRef<Nest> Group) {
  const LoopCount &Rest = Code[Group.back().Loop];
  double Left = Source.Trips;
  for (const Nest &N : drop_end(Group)) {
    LoopCount &To = Code[N.Loop];
    unsigned Factor = timesRest(Source, To, Rest);
    double Trips = isAssumed(Source.Source) ? Left / Factor : std::floor(Left / Factor);
    set(To, Source, Trips);
    Left = std::max(Left - Trips * Factor, 0.0);
  }
  unsigned Factor = Group.size() == 1 ? unrolled(Source, Rest) : timesRest(Source, Rest, Rest);
  set(Code[Group.back().Loop], Source, Left / Factor);
}

/// Returns the loop of \p Wanted that most likely vanished, if it has more loops than \p Found: one
/// with few known trips, or else the smallest without inner loops. Returns the end if none
/// qualifies.
std::vector<Nest>::iterator Matcher::vanished(std::vector<Nest> &Wanted, ArrayRef<Nest> Found) {
  auto IsLeaf = [](const Nest &N) { return N.Inner.empty(); };
  auto IsShort = [&](const Nest &N) {
    TripSource S = Ptx[N.Loop].Source;
    return S == TripSource::Constant || S == TripSource::FromThread || S == TripSource::Remainder;
  };
  bool LeafTooMany = count_if(Wanted, IsLeaf) > count_if(Found, IsLeaf);
  auto Rank = [&](const Nest &N) {
    const LoopCount &L = Ptx[N.Loop];
    return IsShort(N) ? std::pair(0, L.Trips) : std::pair(1, double(L.OwnInstructions));
  };
  auto Least = Wanted.end();
  for (auto It = Wanted.begin(); It != Wanted.end(); ++It)
    if (IsLeaf(*It) && (IsShort(*It) || LeafTooMany) &&
        (Least == Wanted.end() || Rank(*It) < Rank(*Least)))
      Least = It;
  return Least;
}

/// Removes from \p Found the loops that ptxas makes of atomic operations: small loops with a
/// compare-and-swap, if no loop of the PTX has one.
void Matcher::dropRetries(ArrayRef<Nest> Wanted, std::vector<Nest> &Found) {
  constexpr unsigned MostInstructions = 16;
  if (any_of(Wanted, [&](const Nest &N) { return Ptx[N.Loop].Swaps; }))
    return;
  erase_if(Found, [&](const Nest &N) {
    LoopCount &L = Code[N.Loop];
    bool Retries = L.Swaps && N.Inner.empty() && L.OwnInstructions <= MostInstructions;
    if (Retries)
      L.Trips = 1;
    return Retries;
  });
}

void Matcher::match(std::vector<Nest> Wanted, std::vector<Nest> Found) {
  dropRetries(Wanted, Found);
  while (Wanted.size() > Found.size()) {
    auto Gone = vanished(Wanted, Found);
    if (Gone == Wanted.end())
      return;
    Wanted.erase(Gone);
  }
  std::vector<std::vector<Nest>> Groups = groups(Found, Wanted.size());
  if (Groups.size() != Wanted.size())
    return;
  for (auto [From, Group] : zip_equal(Wanted, Groups)) {
    take(Ptx[From.Loop], Group);
    match(From.Inner, Group.front().Inner);
  }
}

} // namespace

void carve::matchLoops(const std::vector<LoopCount> &Ptx, std::vector<LoopCount> &Code) {
  size_t OfPtx = 0, OfCode = 0;
  std::vector<Nest> Wanted = nestsOf(Ptx, OfPtx, 1), Found = nestsOf(Code, OfCode, 1);
  if (!Ptx.empty() && !Found.empty())
    Matcher(Ptx, Code).match(std::move(Wanted), Found);
}
