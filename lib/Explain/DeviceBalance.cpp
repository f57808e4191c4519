#include "Explain/DeviceBalance.h"

using namespace carve;

/// The latency if the device file has none. All latencies that have been measured are of this
/// order, 466 to 541 cycles.
static constexpr unsigned UsualDramLatencyCycles = 500;

DeviceBalance carve::balanceOf(const DeviceModel &Model, const DeviceRates &Rates) {
  DeviceBalance B;
  B.Name = Rates.Name;
  B.Model = Model;
  B.Sms = Rates.Sms;
  B.ClockHz = Rates.ClockKHz * 1e3;
  constexpr double TransfersPerClock = 2, BitsPerByte = 8;
  B.DramBytes = TransfersPerClock * Rates.MemoryClockKHz * 1e3 * Rates.BusBits / BitsPerByte;
  B.L2Bytes = Model.L2BytesPerClock * B.ClockHz;
  unsigned Cycles = Model.DramLatencyCycles ? Model.DramLatencyCycles : UsualDramLatencyCycles;
  if (B.ClockHz > 0)
    B.DramLatencyNs = Cycles / B.ClockHz * 1e9;
  return B;
}
