#include "Probe/HostMemory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
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

static std::string readText(const std::string &Path) {
  std::ifstream In(Path);
  return std::string(std::istreambuf_iterator<char>(In), std::istreambuf_iterator<char>());
}

size_t carve::probe::availableHostBytes() {
  size_t Available = parseMemAvailable(readText("/proc/meminfo")).value_or(0);
  // As a container sees its own group, in both versions of the interface.
  struct {
    const char *Limit, *Current;
  } Groups[] = {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
                {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                 "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto &Group : Groups)
    if (std::optional<size_t> Room = parseGroupRoom(readText(Group.Limit), readText(Group.Current)))
      Available = std::min(Available, *Room);
  return Available;
}
