#include "Probe/Trace/LaunchArguments.h"

#include "Probe/Driver/LaunchCall.h"
#include "Protocol/RecordWriter.h"
#include "Protocol/TraceRecords.h"

using namespace carve;
using namespace carve::probe;

void LaunchArguments::giveUp(Kernels::value_type &Known, std::string &Lines) {
  auto &[Name, Its] = Known;
  if (!std::exchange(Its.Unknown, true))
    Lines += recordLine(ArgumentRecord{Name, 0, 0, 0, 0});
}

void LaunchArguments::takeFirst(Kernels::value_type &Known, const void *const *Arguments,
                                std::string &Lines) {
  auto &[Name, Its] = Known;
  for (size_t I = 0; I < Its.Bytes.size(); ++I) {
    const size_t Bytes = Its.Bytes[I];
    for (size_t At = 0; Bytes <= ArgumentRecord::MostBytes && At < Bytes;) {
      Parameter P{unsigned(I), unsigned(ArgumentRecord::wordAt(At, Bytes)), 0, unsigned(At)};
      P.First = argumentBits(P.in(Arguments), P.Bytes);
      Lines += recordLine(ArgumentRecord{Name, P.Number, P.Bytes, P.First, P.Offset});
      Its.Same.push_back(P);
      At += P.Bytes;
    }
  }
}

void LaunchArguments::takeNext(Kernels::value_type &Known, const void *const *Arguments,
                               std::string &Lines) {
  auto &[Name, Its] = Known;
  for (size_t I = 0; I < Its.Same.size();) {
    Parameter &P = Its.Same[I];
    const uint64_t Bits = argumentBits(P.in(Arguments), P.Bytes);
    if (Bits == P.First) {
      ++I;
      continue;
    }
    Lines += recordLine(ArgumentRecord{Name, P.Number, P.Bytes, Bits, P.Offset});
    // Other addresses may have the same lowest byte, because all of them are aligned.
    if (P.Bytes == 8 && uint8_t(Bits) == uint8_t(P.First))
      P = {P.Number, 1, uint8_t(Bits), 0};
    else
      Its.Same.erase(Its.Same.begin() + I);
  }
}

bool LaunchArguments::compare(const void *Handle, const void *const *Arguments,
                              std::string &Lines) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Handles.find(Handle);
  if (It == Handles.end())
    return false;
  Kernels::value_type &Found = *It->second;
  if (!Arguments && !Found.second.Bytes.empty())
    giveUp(Found, Lines);
  else if (!Found.second.Unknown)
    takeNext(Found, Arguments, Lines);
  return true;
}

void LaunchArguments::add(const void *Handle, std::string_view Name,
                          std::optional<std::vector<size_t>> Bytes, const void *const *Arguments,
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
  else if (New)
    takeFirst(Found, Arguments, Lines);
  else if (!Its.Unknown)
    takeNext(Found, Arguments, Lines);
}

void LaunchArguments::forgetHandles() {
  std::lock_guard<std::mutex> Guard(Lock);
  Handles.clear();
}
