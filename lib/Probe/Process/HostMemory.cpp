#include "Probe/Process/HostMemory.h"

#include "Probe/Process/EarlyFile.h"

#include <algorithm>
#include <charconv>
#include <string>

using namespace carve::probe;

static std::optional<size_t> parseNumber(std::string_view Text) {
  Text.remove_prefix(std::min(Text.find_first_not_of(" \t"), Text.size()));
  size_t Number = 0;
  auto [End, Error] = std::from_chars(Text.data(), Text.data() + Text.size(), Number);
  if (Error != std::errc() || End == Text.data())
    return std::nullopt;
  return Number;
}

std::optional<size_t> carve::probe::parseMemAvailable(std::string_view Text) {
  static constexpr std::string_view Key = "MemAvailable:";
  size_t At = Text.find(Key);
  if (At == Text.npos)
    return std::nullopt;
  std::optional<size_t> Kib = parseNumber(Text.substr(At + Key.size()));
  if (!Kib)
    return std::nullopt;
  return *Kib * 1024;
}

std::optional<size_t> carve::probe::parseGroupRoom(std::string_view Limit,
                                                   std::string_view Current) {
  std::optional<size_t> Most = parseNumber(Limit), Now = parseNumber(Current);
  if (!Most || !Now) // `max`: no limit.
    return std::nullopt;
  return *Most > *Now ? *Most - *Now : 0;
}

namespace {
struct MemoryTexts {
  EarlyFile System{"/proc/meminfo"};
  /// As a container sees its own group, in both versions of the interface.
  struct {
    EarlyFile Limit, Current;
  } Groups[2] = {
      {EarlyFile("/sys/fs/cgroup/memory.max"), EarlyFile("/sys/fs/cgroup/memory.current")},
      {EarlyFile("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
       EarlyFile("/sys/fs/cgroup/memory/memory.usage_in_bytes")}};
};
} // namespace

size_t carve::probe::availableHostBytes() {
  // Never destroyed: replays may go on while the program ends.
  static const auto &Texts = *new MemoryTexts;
  size_t Available = parseMemAvailable(Texts.System.read()).value_or(0);
  for (const auto &Group : Texts.Groups)
    if (std::optional<size_t> Room = parseGroupRoom(Group.Limit.read(), Group.Current.read()))
      Available = std::min(Available, *Room);
  return Available;
}
