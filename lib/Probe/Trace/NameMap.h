/// \file
/// A map by the names of kernels. Looking a name up makes no string of it, because it is done for
/// every launch and every kernel record.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace carve::probe {

struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view Name) const { return std::hash<std::string_view>()(Name); }
};

template <class T> using NameMap = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;

/// Returns the entry of \p Name in \p Map, which is added if it is missing. Entries do not move.
template <class T>
typename NameMap<T>::value_type &entryOf(NameMap<T> &Map, std::string_view Name) {
  auto It = Map.find(Name);
  if (It == Map.end())
    It = Map.try_emplace(std::string(Name)).first;
  return *It;
}

} // namespace carve::probe
