#include "Support/Clock.h"

#include <ctime>

double carve::secondsSince(std::chrono::steady_clock::time_point Start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
}

std::string carve::utcNow() {
  std::time_t Now = std::time(nullptr);
  std::tm Parts;
  gmtime_r(&Now, &Parts);
  char Text[32];
  std::strftime(Text, sizeof(Text), "%Y-%m-%dT%H:%M:%SZ", &Parts);
  return Text;
}
