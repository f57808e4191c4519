#include "Probe/Trace/LaunchArguments.h"

#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/ScalarKey.h"
#include "Protocol/RecordWriter.h"
#include "Protocol/TraceRecords.h"

#include <cstring>

using namespace carve;
using namespace carve::probe;

void LaunchArguments::giveUp(Kernels::value_type &Known, std::string &Lines) {
  auto &[Name, Its] = Known;
  if (!std::exchange(Its.Unknown, true))
    Lines += recordLine(ArgumentRecord{Name, 0, 0, 0, 0});
}

bool LaunchArguments::isLikeLast(const Kernel &Its, const Dimensions &Shape,
                                 const void *const *Arguments) {
  if (Its.LastBytes.empty() || Shape != Its.LastShape)
    return false;
  const char *Last = Its.LastBytes.data();
  for (size_t I = 0; I < Its.Bytes.size(); ++I) {
    if (Its.Bytes[I] > ArgumentRecord::MostBytes)
      continue;
    if (std::memcmp(Last, Arguments[I], Its.Bytes[I]) != 0)
      return false;
    Last += Its.Bytes[I];
  }
  return true;
}

void LaunchArguments::keepAsLast(Kernel &Its, const Dimensions &Shape,
                                 const void *const *Arguments) {
  Its.LastShape = Shape;
  Its.LastKey = scalarKey(Its.Bytes, Arguments);
  Its.LastBytes.clear(); // Its memory stays, so that nothing is allocated.
  for (size_t I = 0; I < Its.Bytes.size(); ++I)
    if (auto *From = static_cast<const char *>(Arguments[I]);
        Its.Bytes[I] <= ArgumentRecord::MostBytes)
      Its.LastBytes.insert(Its.LastBytes.end(), From, From + Its.Bytes[I]);
}

/// Returns the parameters of a first launch, and the words of its structures, and calls \p Line for
/// each.
template <class Write>
std::vector<LaunchArguments::Parameter>
LaunchArguments::firstValues(const Kernel &Its, const void *const *Arguments, Write Line) {
  std::vector<Parameter> Values;
  for (size_t I = 0; I < Its.Bytes.size(); ++I) {
    const size_t Bytes = Its.Bytes[I];
    for (size_t At = 0; Bytes <= ArgumentRecord::MostBytes && At < Bytes;) {
      Parameter P{unsigned(I), unsigned(ArgumentRecord::wordAt(At, Bytes)), 0, unsigned(At)};
      P.First = argumentBits(P.in(Arguments), P.Bytes);
      Line(P);
      At += P.Bytes;
      Values.push_back(P);
    }
  }
  return Values;
}

/// Removes the values from \p Same that are now others, and calls \p Line for each with what it is
/// now. Other addresses may have the same lowest byte, because all of them are aligned: that byte
/// stays.
template <class Write>
void LaunchArguments::dropOtherValues(std::vector<Parameter> &Same, const void *const *Arguments,
                                      Write Line) {
  std::erase_if(Same, [&](Parameter &P) {
    const uint64_t Bits = argumentBits(P.in(Arguments), P.Bytes);
    if (Bits == P.First)
      return false;
    Line(Parameter{P.Number, P.Bytes, Bits, P.Offset});
    const bool LowestIsSame = P.Bytes == 8 && uint8_t(Bits) == uint8_t(P.First);
    if (LowestIsSame)
      P = {P.Number, 1, uint8_t(Bits), 0};
    return !LowestIsSame;
  });
}

/// Returns the words of 8 bytes in the parameters, which may be addresses.
std::vector<LaunchArguments::Pointer> LaunchArguments::wordsOf(const Kernel &Its) {
  std::vector<Pointer> Words;
  for (size_t I = 0; I < Its.Bytes.size(); ++I)
    for (size_t At = 0; Its.Bytes[I] <= ArgumentRecord::MostBytes && At + 8 <= Its.Bytes[I] &&
                        Words.size() < MostPointers;
         At += 8)
      Words.push_back({unsigned(I), unsigned(At)});
  return Words;
}

/// Takes note of the addresses in the arguments of a first launch, and later of those that lead
/// into one allocation, or into no plain device memory any more.
void LaunchArguments::lookAtPointers(Kernels::value_type &Known, const void *const *Arguments,
                                     std::string &Lines) const {
  auto &[Name, Its] = Known;
  const uint64_t Number = Its.Changes++;
  if (!AskDriver || (Number > MostLooks && (Number & (Number - 1)) != 0))
    return;
  const bool First = Number == 0;
  if (First)
    Its.Pointers = wordsOf(Its);
  auto Alias = [&, &Name = Name](const Pointer &A, const Pointer &B) {
    if (Its.Aliases.insert({A.place(), B.place()}).second)
      Lines += recordLine(AliasRecord{Name, A.Number, A.Offset, B.Number, B.Offset});
  };
  std::vector<std::pair<uint64_t, Allocation>> Led; // Where those of Pointers lead, in their order.
  std::erase_if(Its.Pointers, [&, &Name = Name](const Pointer &P) {
    uint64_t Address = argumentBits(static_cast<const char *>(Arguments[P.Number]) + P.Offset, 8);
    Allocation To = AskDriver(Address);
    if (To)
      Led.emplace_back(Address, To);
    if (To && First)
      Lines += recordLine(PointerRecord{Name, P.Number, P.Offset});
    if (!To && !First)
      Alias(P, P);
    return !To;
  });
  for (size_t I = 0; I < Led.size(); ++I)
    for (size_t J = I + 1; J < Led.size(); ++J)
      if (!areApart(Led[I].first, Led[I].second, Led[J].first, Led[J].second))
        Alias(Its.Pointers[I], Its.Pointers[J]);
}

/// Takes the arguments of a launch. \p First says that it is the kernel's first one.
void LaunchArguments::take(Kernels::value_type &Known, bool First, const LaunchShape &Shape,
                           const void *const *Arguments, std::string &Lines) const {
  auto &[Name, Its] = Known;
  auto Line = [&, &Name = Name](const Parameter &P) {
    Lines += recordLine(ArgumentRecord{Name, P.Number, P.Bytes, P.First, P.Offset});
  };
  auto ShapeLine = [&, &Name = Name](const Parameter &P) {
    Lines += recordLine(
        ShapeArgumentRecord{{Name, P.Number, P.Bytes, P.First, P.Offset}, Shape.Grid, Shape.Block});
  };
  Dimensions Key{Shape.Grid, Shape.Block};
  if (!First && isLikeLast(Its, Key, Arguments))
    return;
  if (First)
    Its.Same = firstValues(Its, Arguments, Line);
  else
    dropOtherValues(Its.Same, Arguments, Line);
  lookAtPointers(Known, Arguments, Lines);
  keepAsLast(Its, Key, Arguments);
  auto InShape = Its.SameInShape.find(Key);
  if (InShape != Its.SameInShape.end())
    dropOtherValues(InShape->second, Arguments, ShapeLine);
  else if (Its.SameInShape.size() < MostShapes && Its.ValuesInShapes < MostValuesInShapes)
    Its.ValuesInShapes +=
        Its.SameInShape.emplace(Key, firstValues(Its, Arguments, ShapeLine)).first->second.size();
}

/// Returns what the last launch of \p Known had.
LaunchScalars LaunchArguments::scalarsOf(const Kernels::value_type &Known) {
  const auto &[Name, Its] = Known;
  return {Name, Its.Unknown ? std::nullopt : std::optional(Its.LastKey)};
}

std::optional<LaunchScalars> LaunchArguments::compare(const void *Handle, const LaunchShape &Shape,
                                                      const void *const *Arguments,
                                                      std::string &Lines) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Handles.find(Handle);
  if (It == Handles.end())
    return std::nullopt;
  Kernels::value_type &Found = *It->second;
  if (!Arguments && !Found.second.Bytes.empty())
    giveUp(Found, Lines);
  else if (!Found.second.Unknown)
    take(Found, /*First=*/false, Shape, Arguments, Lines);
  return scalarsOf(Found);
}

LaunchScalars LaunchArguments::add(const void *Handle, std::string_view Name,
                                   std::optional<std::vector<size_t>> Bytes,
                                   const LaunchShape &Shape, const void *const *Arguments,
                                   std::string &Lines) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto [It, New] = Known.try_emplace(std::string(Name));
  Kernels::value_type &Found = *It;
  Kernel &Its = Found.second;
  Handles[Handle] = &Found;
  bool Readable = Bytes && (Arguments || Bytes->empty());
  if (New && Bytes)
    Its.Bytes = *Bytes;
  // Kernels of two modules may have one name and differ.
  if (!Readable || Its.Bytes != *Bytes)
    giveUp(Found, Lines);
  else if (!Its.Unknown)
    take(Found, New, Shape, Arguments, Lines);
  return scalarsOf(Found);
}

void LaunchArguments::forgetHandles() {
  std::lock_guard<std::mutex> Guard(Lock);
  Handles.clear();
}
