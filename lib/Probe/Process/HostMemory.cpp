#include "Probe/Process/HostMemory.h"

#include "Probe/Process/EarlyFile.h"

#include <algorithm>
#include <charconv>
#include <string>

using namespace carve;
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

/// Returns the number in the line of \p Text that begins with \p Key and a space.
static std::optional<size_t> parseLine(std::string_view Text, std::string_view Key) {
  for (size_t At = Text.find(Key); At != Text.npos; At = Text.find(Key, At + 1))
    if ((At == 0 || Text[At - 1] == '\n') && Text.substr(At + Key.size()).starts_with(' '))
      return parseNumber(Text.substr(At + Key.size()));
  return std::nullopt;
}

std::optional<size_t> carve::probe::parseGroupRoom(std::string_view Limit, std::string_view Current,
                                                   std::string_view Stat) {
  std::optional<size_t> Most = parseNumber(Limit), Now = parseNumber(Current);
  if (!Most || !Now) // The text `max` means that there is no limit.
    return std::nullopt;
  // In version 1 of the interface this key has the sum over all groups below.
  std::optional<size_t> Files = parseLine(Stat, "total_inactive_file");
  if (!Files)
    Files = parseLine(Stat, "inactive_file");
  size_t Used = *Now - std::min(*Now, Files.value_or(0));
  return *Most - std::min(*Most, Used);
}

namespace {
struct MemoryTexts {
  EarlyFile System{"/proc/meminfo"};
  /// The files of the process's own group, as a container sees them, in both versions of the
  /// interface.
  struct {
    EarlyFile Limit, Current, Stat;
  } Groups[2] = {{EarlyFile("/sys/fs/cgroup/memory.max"),
                  EarlyFile("/sys/fs/cgroup/memory.current"),
                  EarlyFile("/sys/fs/cgroup/memory.stat")},
                 {EarlyFile("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
                  EarlyFile("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
                  EarlyFile("/sys/fs/cgroup/memory/memory.stat")}};
};
} // namespace

size_t carve::probe::availableHostBytes() {
  // The texts are never destroyed, because replays may go on while the program ends.
  static const auto &Texts = *new MemoryTexts;
  size_t Available = parseMemAvailable(Texts.System.read()).value_or(0);
  for (const auto &Group : Texts.Groups)
    if (std::optional<size_t> Room =
            parseGroupRoom(Group.Limit.read(), Group.Current.read(), Group.Stat.read()))
      Available = std::min(Available, *Room);
  return Available;
}
