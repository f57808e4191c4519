/// \file
/// Reads the lines of the files in which the tuner tells the probe what it wants (Protocol.h).
#pragma once

#include "Probe/Driver/Plan.h"

#include <charconv>
#include <string>
#include <string_view>

namespace carve::probe {

/// The tab-separated words of one line, taken in order; Good turns false at the first that is
/// absent or does not fit.
class PlanWords {
public:
  explicit PlanWords(std::string_view Line) : Rest(Line) {}

  std::string text() {
    if (Ended) {
      Good = false;
      return "";
    }
    size_t Tab = Rest.find('\t');
    std::string Word(Rest.substr(0, Tab));
    Ended = Tab == std::string_view::npos;
    Rest = Ended ? std::string_view() : Rest.substr(Tab + 1);
    Good &= !Word.empty();
    return Word;
  }
  template <class T> T number() {
    T Value{};
    std::string Word = text();
    auto [End, Error] = std::from_chars(Word.data(), Word.data() + Word.size(), Value);
    Good &= Error == std::errc() && End == Word.data() + Word.size();
    return Value;
  }
  std::array<uint32_t, 3> triple() {
    std::array<uint32_t, 3> Value{};
    std::string Word = text();
    const char *At = Word.data(), *Last = At + Word.size();
    for (size_t I = 0; I < 3; ++I) {
      auto [End, Error] = std::from_chars(At, Last, Value[I]);
      Good &= Error == std::errc() && (I == 2 ? End == Last : End != Last && *End == ',');
      if (!Good)
        return Value;
      At = End + 1;
    }
    return Value;
  }
  LaunchShape shape() {
    LaunchShape Shape;
    Shape.Grid = triple();
    Shape.Block = triple();
    Shape.DynamicSmemBytes = number<uint32_t>();
    Shape.Cluster = triple();
    return Shape;
  }
  bool more() const { return !Ended; }
  bool good() const { return Good; }
  bool whole() const { return Good && Ended; }

private:
  std::string_view Rest;
  bool Ended = false, Good = true;
};

} // namespace carve::probe
