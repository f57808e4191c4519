#include "Workload/KernelArguments.h"

#include "Protocol/RecordWriter.h"

#include <algorithm>

using namespace carve;

void KernelArguments::Parameter::addByte(uint8_t Byte) {
  if (Bytes == 8 && Byte != uint8_t(First))
    OtherByte = Byte;
}

void KernelArguments::Parameter::addOther(uint64_t Bits) {
  addByte(uint8_t(Bits));
  if (Bits != First)
    Other = Bits;
}

/// Adds a value to \p To. Returns false if an earlier one had another size.
bool KernelArguments::add(const KernelArgument &Record, ByPlace &To) {
  Parameter &Its =
      To.try_emplace({Record.Parameter, Record.Offset}, Parameter{Record.Bytes, Record.Bits})
          .first->second;
  if (Its.Bytes == 8 && Record.Bytes == 1) {
    Its.addByte(uint8_t(Record.Bits));
    return true;
  }
  Its.addOther(Record.Bits);
  return Its.Bytes == Record.Bytes;
}

void KernelArguments::add(const ArgumentRecord &Record) {
  if (Record.Bytes == 0 || !add(Record, Parameters))
    Unknown = true;
}

void KernelArguments::add(const ShapeArgumentRecord &Record) {
  if (!add(Record, InShapes[{Record.Grid, Record.Block}]))
    Unknown = true;
}

void KernelArguments::add(const PointerRecord &Record) {
  Pointers.insert({Record.Parameter, Record.Offset});
}

void KernelArguments::add(const AliasRecord &Record) {
  Aliases.insert({{Record.Parameter, Record.Offset}, {Record.OtherParameter, Record.OtherOffset}});
}

bool KernelArguments::haveSameBytes(const ByPlace &A, const ByPlace &B) {
  return std::equal(A.begin(), A.end(), B.begin(), B.end(), [](const auto &A, const auto &B) {
    return A.first == B.first && A.second.Bytes == B.second.Bytes;
  });
}

/// Adds what another process says of the same parameters.
void KernelArguments::merge(ByPlace &To, const ByPlace &New) {
  for (const auto &[Place, Its] : New) {
    Parameter &Own = To.try_emplace(Place, Its).first->second;
    Own.addOther(Its.First);
    if (Its.Other)
      Own.addOther(*Its.Other);
    if (Its.OtherByte)
      Own.addByte(*Its.OtherByte);
  }
}

void KernelArguments::merge(const KernelArguments &Process) {
  Unknown |= Process.Unknown || !haveSameBytes(Parameters, Process.Parameters);
  if (Unknown)
    return;
  merge(Parameters, Process.Parameters);
  for (const auto &[Shape, Its] : Process.InShapes)
    merge(InShapes[Shape], Its);
  std::erase_if(Pointers, [&](const PointerPlace &P) { return !Process.Pointers.count(P); });
  Aliases.insert(Process.Aliases.begin(), Process.Aliases.end());
}

std::vector<ArgumentValue> KernelArguments::sameOf(const ByPlace &Parameters) {
  std::vector<ArgumentValue> Same;
  for (const auto &[Place, Its] : Parameters)
    if (!Its.Other)
      Same.push_back({Place.first, Its.Bytes, Its.First, Place.second});
    else if (Its.Bytes == 8 && !Its.OtherByte)
      Same.push_back({Place.first, 1, uint8_t(Its.First), 0});
  return Same;
}

std::vector<ArgumentValue> KernelArguments::same() const {
  return Unknown ? std::vector<ArgumentValue>() : sameOf(Parameters);
}

std::vector<ArgumentValue> KernelArguments::sameIn(const LaunchShape &Shape) const {
  auto Found = InShapes.find({Shape.Grid, Shape.Block});
  return Unknown || Found == InShapes.end() ? same() : sameOf(Found->second);
}

KernelArguments::Match KernelArguments::matchOf(const ArgumentValue &Value,
                                                const ByPlace &Parameters) {
  // The value may be a part of a recorded word, or consist of several.
  Match All = Match::Always;
  for (unsigned Done = 0; Done < Value.Bytes;) {
    auto After = Parameters.upper_bound({Value.Parameter, Value.Offset + Done});
    if (After == Parameters.begin())
      return Match::Never;
    const auto &[Place, Word] = *std::prev(After);
    const unsigned Behind = Value.Offset + Done - Place.second;
    if (Place.first != Value.Parameter || Behind >= Word.Bytes)
      return Match::Never;
    const unsigned Count = std::min(Word.Bytes - Behind, Value.Bytes - Done);
    const uint64_t Mask = Count == 8 ? UINT64_MAX : (uint64_t(1) << (8 * Count)) - 1;
    const bool IsLowestByte = Word.Bytes == 8 && Behind == 0 && Value.Bytes == 1;
    if (IsLowestByte ? Word.OtherByte.has_value() : Word.Other.has_value())
      All = Match::Sometimes;
    else if (((Word.First >> (8 * Behind)) & Mask) != ((Value.Bits >> (8 * Done)) & Mask))
      return Match::Never;
    Done += Count;
  }
  return All;
}

KernelArguments::Match KernelArguments::match(const ArgumentValue &Value,
                                              const LaunchShape &Shape) const {
  if (Unknown)
    return Match::Sometimes;
  auto Found = InShapes.find({Shape.Grid, Shape.Block});
  return matchOf(Value, Found == InShapes.end() ? Parameters : Found->second);
}

KernelArguments::Match KernelArguments::apart(llvm::ArrayRef<PointerPlace> Places) const {
  if (Places.empty())
    return Match::Always;
  if (Unknown)
    return Match::Sometimes;
  auto IsThere = [&](const PointerPlace &P) {
    return std::find(Places.begin(), Places.end(), P) != Places.end();
  };
  if (!std::all_of(Places.begin(), Places.end(),
                   [&](const PointerPlace &P) { return Pointers.count(P) > 0; }))
    return Match::Never;
  bool Alias = std::any_of(Aliases.begin(), Aliases.end(), [&](const auto &Pair) {
    return IsThere(Pair.first) && IsThere(Pair.second);
  });
  return Alias ? Match::Sometimes : Match::Always;
}

std::string KernelArguments::print(const std::string &Kernel) const {
  if (Unknown)
    return recordLine(ArgumentRecord{Kernel, 0, 0, 0, 0});
  std::string Text;
  auto Print = [&](const ByPlace &Parameters, auto LineOf) {
    for (const auto &[Place, Its] : Parameters) {
      Text += LineOf(KernelArgument{Kernel, Place.first, Its.Bytes, Its.First, Place.second});
      if (Its.Other)
        Text += LineOf(KernelArgument{Kernel, Place.first, Its.Bytes, *Its.Other, Place.second});
      if (Its.OtherByte)
        Text += LineOf(KernelArgument{Kernel, Place.first, 1, *Its.OtherByte, 0});
    }
  };
  Print(Parameters, [](KernelArgument A) { return recordLine(ArgumentRecord{std::move(A)}); });
  for (const auto &[Shape, Its] : InShapes)
    Print(Its, [&, &Shape = Shape](KernelArgument A) {
      return recordLine(ShapeArgumentRecord{std::move(A), Shape.first, Shape.second});
    });
  for (const PointerPlace &P : Pointers)
    Text += recordLine(PointerRecord{Kernel, P.Parameter, P.Offset});
  for (const auto &[A, B] : Aliases)
    Text += recordLine(AliasRecord{Kernel, A.Parameter, A.Offset, B.Parameter, B.Offset});
  return Text;
}
