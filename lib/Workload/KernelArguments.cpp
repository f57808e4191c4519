#include "Workload/KernelArguments.h"

#include "Protocol/RecordWriter.h"

#include <algorithm>

using namespace carve;

/// Adds a value to \p To. Returns false if an earlier one had another size.
bool KernelArguments::add(const KernelArgument &Record, ByNumber &To) {
  Parameter &Its =
      To.try_emplace(Record.Parameter, Parameter{Record.Bytes, Record.Bits}).first->second;
  if (Its.First != Record.Bits)
    Its.Other = Record.Bits;
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

bool KernelArguments::haveSameBytes(const ByNumber &A, const ByNumber &B) {
  return std::equal(A.begin(), A.end(), B.begin(), B.end(), [](const auto &A, const auto &B) {
    return A.first == B.first && A.second.Bytes == B.second.Bytes;
  });
}

/// Adds what another process says of the same parameters.
void KernelArguments::merge(ByNumber &To, const ByNumber &New) {
  for (const auto &[Number, Its] : New) {
    Parameter &Own = To.try_emplace(Number, Its).first->second;
    if (Its.First != Own.First)
      Own.Other = Its.First;
    else if (Its.Other)
      Own.Other = Its.Other;
  }
}

void KernelArguments::merge(const KernelArguments &Process) {
  Unknown |= Process.Unknown || !haveSameBytes(Parameters, Process.Parameters);
  if (Unknown)
    return;
  merge(Parameters, Process.Parameters);
  for (const auto &[Shape, Its] : Process.InShapes)
    merge(InShapes[Shape], Its);
}

std::vector<ArgumentValue> KernelArguments::sameOf(const ByNumber &Parameters) {
  std::vector<ArgumentValue> Same;
  for (const auto &[Number, Its] : Parameters)
    if (!Its.Other)
      Same.push_back({Number, Its.Bytes, Its.First});
  return Same;
}

std::vector<ArgumentValue> KernelArguments::same() const {
  return Unknown ? std::vector<ArgumentValue>() : sameOf(Parameters);
}

std::vector<ArgumentValue> KernelArguments::sameIn(const LaunchShape &Shape) const {
  auto Found = InShapes.find({Shape.Grid, Shape.Block});
  return Unknown || Found == InShapes.end() ? same() : sameOf(Found->second);
}

std::string KernelArguments::print(const std::string &Kernel) const {
  if (Unknown)
    return recordLine(ArgumentRecord{Kernel, 0, 0, 0});
  std::string Text;
  auto Print = [&](const ByNumber &Parameters, auto LineOf) {
    for (const auto &[Number, Its] : Parameters) {
      Text += LineOf(KernelArgument{Kernel, Number, Its.Bytes, Its.First});
      if (Its.Other)
        Text += LineOf(KernelArgument{Kernel, Number, Its.Bytes, *Its.Other});
    }
  };
  Print(Parameters, [](KernelArgument A) { return recordLine(ArgumentRecord{std::move(A)}); });
  for (const auto &[Shape, Its] : InShapes)
    Print(Its, [&, &Shape = Shape](KernelArgument A) {
      return recordLine(ShapeArgumentRecord{std::move(A), Shape.first, Shape.second});
    });
  return Text;
}
