#include "Carve/LoopMatch.h"

#include "Carve/CountSum.h"

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
  void match(std::vector<Nest> Wanted, ArrayRef<Nest> Found);

private:
  std::vector<std::vector<Nest>> groups(ArrayRef<Nest> Found, size_t Wanted) const;
  void take(const Nest &From, ArrayRef<Nest> Group);
  unsigned unrolled(const LoopCount &From, const LoopCount &To) const;
  void set(LoopCount &To, const LoopCount &From, double Trips) const;

  const std::vector<LoopCount> &Ptx;
  std::vector<LoopCount> &Code;
};

void Matcher::set(LoopCount &To, const LoopCount &From, double Trips) const {
  To.Trips = Trips;
  To.Line = From.Line;
  To.Source = isAssumed(From.Source) ? From.Source : TripSource::Matched;
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

void Matcher::take(const Nest &From, ArrayRef<Nest> Group) {
  const LoopCount &Source = Ptx[From.Loop];
  double Left = Source.Trips;
  for (auto [Index, N] : enumerate(Group)) {
    LoopCount &To = Code[N.Loop];
    unsigned Factor = Group.size() == 1
                          ? unrolled(Source, To)
                          : powerOfTwo(double(To.OwnInstructions) /
                                       std::max(Code[Group.back().Loop].OwnInstructions, 1u));
    bool IsRest = Index + 1 == Group.size() && Group.size() > 1;
    double Trips = Left / Factor;
    if (!IsRest && !isAssumed(Source.Source))
      Trips = std::floor(Trips);
    set(To, Source, std::max(Trips, IsRest ? 0.0 : 1.0));
    if (!IsRest)
      Left = std::max(Left - Trips * Factor, 0.0);
  }
}

void Matcher::match(std::vector<Nest> Wanted, ArrayRef<Nest> Found) {
  // What ptxas has unrolled in full.
  while (Wanted.size() > Found.size()) {
    auto Least = Wanted.end();
    for (auto It = Wanted.begin(); It != Wanted.end(); ++It)
      if ((Ptx[It->Loop].Source == TripSource::Constant ||
           Ptx[It->Loop].Source == TripSource::Remainder) &&
          It->Inner.empty() &&
          (Least == Wanted.end() || Ptx[It->Loop].Trips < Ptx[Least->Loop].Trips))
        Least = It;
    if (Least == Wanted.end())
      return;
    Wanted.erase(Least);
  }
  std::vector<std::vector<Nest>> Groups = groups(Found, Wanted.size());
  if (Groups.size() != Wanted.size())
    return;
  for (auto [From, Group] : zip_equal(Wanted, Groups)) {
    take(From, Group);
    match(From.Inner, Group.front().Inner);
  }
}

} // namespace

void carve::matchLoops(const std::vector<LoopCount> &Ptx, std::vector<LoopCount> &Code) {
  size_t OfPtx = 0, OfCode = 0;
  std::vector<Nest> Wanted = nestsOf(Ptx, OfPtx, 1), Found = nestsOf(Code, OfCode, 1);
  if (!Wanted.empty() && !Found.empty())
    Matcher(Ptx, Code).match(std::move(Wanted), Found);
}
