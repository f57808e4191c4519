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
      Parameters
          .try_emplace({Record.Parameter, Record.Offset}, Parameter{Record.Bytes, Record.Bits})
          .first->second;
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
  for (const auto &[Place, New] : Process.Parameters) {
    Parameter &Its = Parameters.at(Place);
    if (New.First != Its.First)
      Its.Other = New.First;
    else if (New.Other)
      Its.Other = New.Other;
  }
}

std::vector<ArgumentValue> KernelArguments::same() const {
  std::vector<ArgumentValue> Same;
  for (const auto &[Place, Its] : Parameters)
    if (!Unknown && !Its.Other)
      Same.push_back({Place.first, Its.Bytes, Its.First, Place.second});
  return Same;
}

std::string KernelArguments::print(const std::string &Kernel) const {
  if (Unknown)
    return recordLine(ArgumentRecord{Kernel, 0, 0, 0, 0});
  std::string Text;
  for (const auto &[Place, Its] : Parameters) {
    Text += recordLine(ArgumentRecord{Kernel, Place.first, Its.Bytes, Its.First, Place.second});
    if (Its.Other)
      Text += recordLine(ArgumentRecord{Kernel, Place.first, Its.Bytes, *Its.Other, Place.second});
  }
  return Text;
}
