#include "Probe/Driver/Devices.h"

#include "Protocol/RecordWriter.h"
#include "Protocol/TraceRecords.h"

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace carve;
using namespace carve::probe;

void Devices::note(uint32_t Ordinal) {
  if (Ordinal < MaxDevices)
    Noted.fetch_or(uint64_t(1) << Ordinal, std::memory_order_relaxed);
}

static std::string uuidText(const CUuuid &Uuid) {
  std::string Text = "GPU";
  for (size_t I = 0; I < sizeof Uuid.bytes; ++I) {
    char Byte[3];
    std::snprintf(Byte, sizeof Byte, "%02x", static_cast<unsigned char>(Uuid.bytes[I]));
    // This is the form in which nvidia-smi prints it.
    if (I == 0 || I == 4 || I == 6 || I == 8 || I == 10)
      Text += '-';
    Text += Byte;
  }
  return Text;
}

/// Returns the attribute, or 0 if the driver does not tell it.
static unsigned attributeOf(const DriverApi &Driver, CUdevice Device,
                            CUdevice_attribute Attribute) {
  int Value = 0;
  if (Driver.DeviceGetAttribute(&Value, Attribute, Device) != CUDA_SUCCESS)
    return 0;
  return unsigned(Value);
}

static void readAttributes(const DriverApi &Driver, CUdevice Device, DeviceInfo &Info) {
  auto Read = [&](CUdevice_attribute Attribute) { return attributeOf(Driver, Device, Attribute); };
  Info.Major = Read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  Info.Minor = Read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  Info.Sms = Read(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  Info.RegsPerSm = Read(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  Info.RegsPerBlock = Read(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  Info.ThreadsPerSm = Read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  Info.BlocksPerSm = Read(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  Info.SmemPerSmBytes = Read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  Info.SmemPerBlockOptinBytes = Read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  Info.SmemPerBlockBytes = Read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  Info.ReservedSmemPerBlockBytes = Read(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  Info.ClockKHz = Read(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  Info.MemoryClockKHz = Read(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  Info.BusBits = Read(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  Info.L2Bytes = Read(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
}

static std::string describeDevice(const DriverApi &Driver, int Ordinal,
                                  const std::string &KernelDriver) {
  CUdevice Device;
  char Name[256] = "";
  CUuuid Uuid{};
  size_t MemoryBytes = 0;
  int Version = 0;
  if (Driver.DeviceGet(&Device, Ordinal) != CUDA_SUCCESS ||
      Driver.DeviceGetName(Name, sizeof Name, Device) != CUDA_SUCCESS ||
      Driver.DeviceGetUuid(&Uuid, Device) != CUDA_SUCCESS ||
      Driver.DeviceTotalMem(&MemoryBytes, Device) != CUDA_SUCCESS ||
      Driver.DriverGetVersion(&Version) != CUDA_SUCCESS)
    return "";
  DeviceInfo Info;
  Info.Ordinal = unsigned(Ordinal);
  Info.Name = Name;
  Info.Uuid = uuidText(Uuid);
  Info.MemoryBytes = MemoryBytes;
  Info.CudaVersion = unsigned(Version);
  Info.KernelDriver = KernelDriver;
  readAttributes(Driver, Device, Info);
  return recordLine(Info);
}

std::string Devices::describe(const DriverApi &Driver) {
  uint64_t Wanted = Noted.load(std::memory_order_relaxed);
  // Two threads may come here at once. The thread that sets a bit first describes that device.
  uint64_t New = Wanted & ~Described.fetch_or(Wanted, std::memory_order_relaxed);
  if (!New || !Driver.DeviceGet || !Driver.DeviceGetName || !Driver.DeviceGetUuid ||
      !Driver.DeviceTotalMem || !Driver.DeviceGetAttribute || !Driver.DriverGetVersion)
    return "";
  std::string Lines;
  for (uint32_t Ordinal = 0; Ordinal < MaxDevices; ++Ordinal)
    if (New >> Ordinal & 1)
      Lines += describeDevice(Driver, static_cast<int>(Ordinal), KernelDriver);
  return Lines;
}

std::string carve::probe::parseKernelDriverVersion(std::string_view Text) {
  static constexpr std::string_view Allowed = "0123456789.";
  for (size_t Begin = 0; Begin < Text.size();) {
    size_t End = std::min(Text.find_first_of(" \t\n", Begin), Text.size());
    std::string_view Word = Text.substr(Begin, End - Begin);
    size_t Dot = Word.find('.');
    if (Dot != Word.npos && Dot > 0 && Dot + 1 < Word.size() &&
        Word.find_first_not_of(Allowed) == Word.npos)
      return std::string(Word);
    Begin = End + 1;
  }
  return "-";
}

std::string carve::probe::kernelDriverVersion() {
  for (const char *Path : {"/sys/module/nvidia/version", "/proc/driver/nvidia/version"}) {
    std::ifstream In(Path);
    std::string Text((std::istreambuf_iterator<char>(In)), std::istreambuf_iterator<char>());
    std::string Version = parseKernelDriverVersion(Text);
    if (Version != "-")
      return Version;
  }
  return "-";
}
