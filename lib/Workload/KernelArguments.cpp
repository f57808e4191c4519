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

void KernelArguments::add(const ArgumentRecord &Record) {
  if (Record.Bytes == 0) {
    Unknown = true;
    return;
  }
  Parameter &Its =
      Parameters
          .try_emplace({Record.Parameter, Record.Offset}, Parameter{Record.Bytes, Record.Bits})
          .first->second;
  if (Its.Bytes == 8 && Record.Bytes == 1)
    return Its.addByte(uint8_t(Record.Bits));
  Unknown |= Its.Bytes != Record.Bytes;
  Its.addOther(Record.Bits);
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
    Its.addOther(New.First);
    if (New.Other)
      Its.addOther(*New.Other);
    if (New.OtherByte)
      Its.addByte(*New.OtherByte);
  }
}

std::vector<ArgumentValue> KernelArguments::same() const {
  std::vector<ArgumentValue> Same;
  if (Unknown)
    return Same;
  for (const auto &[Place, Its] : Parameters)
    if (!Its.Other)
      Same.push_back({Place.first, Its.Bytes, Its.First, Place.second});
    else if (Its.Bytes == 8 && !Its.OtherByte)
      Same.push_back({Place.first, 1, uint8_t(Its.First), 0});
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
    if (Its.OtherByte)
      Text += recordLine(ArgumentRecord{Kernel, Place.first, 1, *Its.OtherByte, 0});
  }
  return Text;
}
