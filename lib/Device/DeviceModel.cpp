#include "Device/DeviceModel.h"

#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/JsonText.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace json = llvm::json;
namespace path = llvm::sys::path;

namespace {

struct Field {
  llvm::StringLiteral Key;
  unsigned DeviceModel::*Value;
  bool MayBeZero;
};

// The numbers are from "Technical Specifications per Compute Capability" in the CUDA programming
// guide. The keys follow the names of cudaDeviceProp.
constexpr Field Fields[] = {
    {"warp_size", &DeviceModel::WarpSize, false},
    {"max_threads_per_block", &DeviceModel::MaxThreadsPerBlock, false},
    {"max_threads_per_sm", &DeviceModel::MaxThreadsPerSm, false},
    {"max_blocks_per_sm", &DeviceModel::MaxBlocksPerSm, false},
    {"registers_per_sm", &DeviceModel::RegsPerSm, false},
    {"registers_per_block", &DeviceModel::RegsPerBlock, false},
    {"shared_memory_per_sm_bytes", &DeviceModel::SmemPerSmBytes, false},
    {"shared_memory_per_block_bytes", &DeviceModel::SmemPerBlockBytes, false},
    {"shared_memory_per_block_optin_bytes", &DeviceModel::SmemPerBlockOptinBytes, false},
    // Turing reserves no shared memory.
    {"reserved_shared_memory_per_block_bytes", &DeviceModel::ReservedSmemPerBlockBytes, true},
};

// Throughputs are from "Throughput of Native Arithmetic Instructions" in the guide. Latencies are
// those that Luo et al. measured for A100, RTX 4090 and H100 in "Dissecting the NVIDIA Hopper
// Architecture through Microbenchmarking" (arXiv 2501.12084). The bytes per clock of the L2 cache
// are from the A100's whitepaper, and the H100 has as many slices. Occupancy does not depend on
// these numbers, and unknown ones are absent.
constexpr Field OptionalFields[] = {
    {"fp32_per_clock", &DeviceModel::Fp32PerClock, false},
    {"integer_multiply_per_clock", &DeviceModel::IntegerMultiplyPerClock, false},
    {"integer_per_clock", &DeviceModel::IntegerPerClock, false},
    {"fp64_per_clock", &DeviceModel::Fp64PerClock, false},
    {"special_per_clock", &DeviceModel::SpecialPerClock, false},
    {"l2_bytes_per_clock", &DeviceModel::L2BytesPerClock, false},
    {"dram_latency_cycles", &DeviceModel::DramLatencyCycles, false},
};

/// Returns 90 for `sm_90a`; nothing if \p Arch does not name a real architecture.
std::optional<unsigned> smNumber(llvm::StringRef Arch) {
  if (!Arch.consume_front("sm_"))
    return std::nullopt;
  // `a` and `f` add instructions and change no limit.
  if (!Arch.consume_back("a"))
    Arch.consume_back("f");
  unsigned Number = 0;
  if (Arch.empty() || !llvm::all_of(Arch, [](char C) { return llvm::isDigit(C); }) ||
      Arch.getAsInteger(10, Number) || Number < 10)
    return std::nullopt;
  return Number;
}

llvm::Error expectKeys(const json::Object &O, llvm::StringRef Path) {
  for (const auto &Entry : O) {
    llvm::StringRef Key = Entry.first;
    auto IsKey = [&](const Field &F) { return F.Key == Key; };
    bool Known = Key == "arch" || Key == "compute_capability" || llvm::any_of(Fields, IsKey) ||
                 llvm::any_of(OptionalFields, IsKey);
    if (!Known)
      return malformed(Path + ": unknown key `" + Key + "`");
  }
  return llvm::Error::success();
}

llvm::Error expectText(const json::Object &O, llvm::StringRef Path, llvm::StringRef Key,
                       llvm::StringRef Expected) {
  std::optional<llvm::StringRef> Actual = O.getString(Key);
  if (!Actual || *Actual != Expected)
    return malformed(Path + ": `" + Key + "` is " +
                     (Actual ? "`" + Actual->str() + "`" : "no text") + ", expected `" + Expected +
                     "`");
  return llvm::Error::success();
}

llvm::Error readField(const json::Object &O, llvm::StringRef Path, const Field &F, DeviceModel &D) {
  std::optional<int64_t> Actual = O.getInteger(F.Key);
  int64_t Least = F.MayBeZero ? 0 : 1;
  if (!Actual || *Actual < Least || *Actual > INT32_MAX)
    return malformed(Path + ": `" + F.Key + "` is " +
                     (Actual ? std::to_string(*Actual) : "no integer") +
                     ", expected an integer of at least " + std::to_string(Least));
  D.*F.Value = static_cast<unsigned>(*Actual);
  return llvm::Error::success();
}

llvm::Expected<DeviceModel> parseDeviceModel(llvm::StringRef Text, llvm::StringRef Path,
                                             unsigned Number) {
  llvm::Expected<json::Value> Value = parseJsonText(Text);
  if (!Value)
    return malformed(Path + ": " + llvm::toString(Value.takeError()));
  const json::Object *O = Value->getAsObject();
  if (!O)
    return malformed(Path + ": expected a JSON object");
  if (llvm::Error E = expectKeys(*O, Path))
    return E;

  DeviceModel D;
  D.Arch = "sm_" + std::to_string(Number);
  D.Major = Number / 10;
  D.Minor = Number % 10;
  if (llvm::Error E = expectText(*O, Path, "arch", D.Arch))
    return E;
  std::string Capability = std::to_string(D.Major) + "." + std::to_string(D.Minor);
  if (llvm::Error E = expectText(*O, Path, "compute_capability", Capability))
    return E;
  for (const Field &F : Fields)
    if (llvm::Error E = readField(*O, Path, F, D))
      return E;
  for (const Field &F : OptionalFields)
    if (O->get(F.Key))
      if (llvm::Error E = readField(*O, Path, F, D))
        return E;
  return D;
}

} // namespace

std::vector<std::string> carve::knownArchitectures(llvm::StringRef DevicesDir) {
  std::vector<unsigned> Numbers;
  std::error_code EC;
  for (fs::directory_iterator It(DevicesDir, EC), End; It != End && !EC; It.increment(EC)) {
    llvm::StringRef Name = path::filename(It->path());
    if (!Name.consume_back(".json"))
      continue;
    std::optional<unsigned> Number = smNumber(Name);
    if (Number && Name == "sm_" + std::to_string(*Number))
      Numbers.push_back(*Number);
  }
  std::sort(Numbers.begin(), Numbers.end());
  std::vector<std::string> Names;
  for (unsigned Number : Numbers)
    Names.push_back("sm_" + std::to_string(Number));
  return Names;
}

llvm::Expected<DeviceModel> carve::loadDeviceModel(llvm::StringRef DevicesDir,
                                                   llvm::StringRef Arch) {
  std::optional<unsigned> Number = smNumber(Arch);
  llvm::SmallString<128> Path(DevicesDir);
  if (Number)
    path::append(Path, "sm_" + std::to_string(*Number) + ".json");
  if (!Number || !fs::exists(Path)) {
    std::vector<std::string> Known = knownArchitectures(DevicesDir);
    return unsupported("unknown-architecture",
                       "`" + Arch + "`, expected one of " +
                           (Known.empty() ? "none (no device files in " + DevicesDir.str() + ")"
                                          : llvm::join(Known, ", ")));
  }
  llvm::Expected<std::string> Text = readFile(Path, FileLimit::Record);
  if (!Text)
    return Text.takeError();
  return parseDeviceModel(*Text, Path, *Number);
}
