#include "Workload/KernelArguments.h"

#include "Protocol/RecordWriter.h"

#include <algorithm>

using namespace carve;

void KernelArguments::add(const ArgumentRecord &Record) {
  if (Record.Bytes == 0) {
    Unknown = true;
    return;
  }
  Parameter &Its =
      Parameters.try_emplace(Record.Parameter, Parameter{Record.Bytes, Record.Bits}).first->second;
  Unknown |= Its.Bytes != Record.Bytes;
  if (Its.First != Record.Bits)
    Its.Other = Record.Bits;
}

bool KernelArguments::hasParametersOf(const KernelArguments &Other) const {
  return std::equal(Parameters.begin(), Parameters.end(), Other.Parameters.begin(),
                    Other.Parameters.end(), [](const auto &A, const auto &B) {
                      return A.first == B.first && A.second.Bytes == B.second.Bytes;
                    });
}

void KernelArguments::merge(const KernelArguments &Process) {
  Unknown |= Process.Unknown || !hasParametersOf(Process);
  if (Unknown)
    return;
  for (const auto &[Number, New] : Process.Parameters) {
    Parameter &Its = Parameters.at(Number);
    if (New.First != Its.First)
      Its.Other = New.First;
    else if (New.Other)
      Its.Other = New.Other;
  }
}

std::vector<ArgumentValue> KernelArguments::same() const {
  std::vector<ArgumentValue> Same;
  for (const auto &[Number, Its] : Parameters)
    if (!Unknown && !Its.Other)
      Same.push_back({Number, Its.Bytes, Its.First});
  return Same;
}

KernelArguments::Match KernelArguments::match(const ArgumentValue &Value) const {
  if (Unknown)
    return Match::Sometimes;
  auto Found = Parameters.find(Value.Parameter);
  if (Found == Parameters.end() || Found->second.Bytes != Value.Bytes)
    return Match::Never;
  if (Found->second.Other)
    return Match::Sometimes;
  return Found->second.First == Value.Bits ? Match::Always : Match::Never;
}

std::string KernelArguments::print(const std::string &Kernel) const {
  if (Unknown)
    return recordLine(ArgumentRecord{Kernel, 0, 0, 0});
  std::string Text;
  for (const auto &[Number, Its] : Parameters) {
    Text += recordLine(ArgumentRecord{Kernel, Number, Its.Bytes, Its.First});
    if (Its.Other)
      Text += recordLine(ArgumentRecord{Kernel, Number, Its.Bytes, *Its.Other});
  }
  return Text;
}
