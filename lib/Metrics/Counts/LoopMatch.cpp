#include "Metrics/Counts/LoopMatch.h"

#include "Metrics/Counts/CountSum.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace carve;
using namespace llvm;

namespace {

/// A loop with those right inside of it.
struct Nest {
  size_t Loop = 0;
  std::vector<Nest> Inner;
};

/// The loops from \p At on that are \p Depth deep, up to one that is less so.
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

/// ptxas unrolls by powers of two.
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
  // A callee's loop that ptxas has inlined runs as often as its call, which is not known here.
  To.PerRun.reset();
  if (From.PerRun && From.OfEntry == To.OfEntry)
    To.PerRun = From.Trips > 0 ? *From.PerRun * Trips / From.Trips : 0;
}

unsigned Matcher::unrolled(const LoopCount &From, const LoopCount &To) const {
  // Machine code has fewer accesses where ptxas joins some, hardly more.
  if (From.OwnMemory)
    return powerOfTwo(double(To.OwnMemory) / From.OwnMemory);
  // An instruction of PTX may become two; four are rather those of other trips.
  double Factor = double(To.OwnInstructions) / std::max(From.OwnInstructions, 1u);
  return Factor < 2.8 ? 1 : powerOfTwo(Factor);
}

/// \p Found as at most \p Wanted groups: an unrolled loop and the smaller ones that do its rest.
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

/// How many trips of \p Source one of \p To does, which has \p Rest behind it for those left over.
unsigned Matcher::timesRest(const LoopCount &Source, const LoopCount &To,
                            const LoopCount &Rest) const {
  if (Source.OwnMemory)
    return powerOfTwo(double(To.OwnMemory) / Source.OwnMemory);
  return powerOfTwo(double(To.OwnInstructions) / std::max(Rest.OwnInstructions, 1u));
}

/// Divides the trips of \p Source among \p Group, each as many as go: all together do them all.
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

/// The loop of \p Wanted that has most likely vanished, as there are more than in \p Found: one of
/// few trips that are known, else the smallest that has no inner ones. The end where none has.
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

/// Takes out of \p Found the loops that ptxas makes of atomic operations: small ones that compare
/// and swap, where none of the PTX does.
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
