#include "scale.h"

int hostValue() { return FACTOR; }

int main() {
  runScale();
  return hostValue() - FACTOR;
}
