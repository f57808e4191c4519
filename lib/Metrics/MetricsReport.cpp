#include "Metrics/MetricsReport.h"

#include "Ptx/ProfileName.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

namespace {

double bytesOf(const KernelCounts &C) { return C.globalBytes() + C.localBytes(); }

double bytesPerInstruction(const KernelCounts &C) {
  return C.Instructions > 0 ? bytesOf(C) / C.Instructions : 0;
}

void printLoop(json::OStream &J, const LoopCount &L) {
  J.object([&] {
    J.attribute("loop", L.Number);
    J.attribute("function", L.Function);
    J.attribute("depth", L.Depth);
    J.attribute("line", L.Line ? json::Value(L.Line) : json::Value(nullptr));
    J.attribute("trips", L.Trips);
    J.attribute("source", tripSourceName(L.Source));
    J.attribute("own_instructions", L.OwnInstructions);
  });
}

void printCounts(json::OStream &J, const std::optional<CountedKernel> &K) {
  if (!K) {
    J.value(nullptr);
    return;
  }
  const KernelCounts &C = K->Counts;
  J.object([&] {
    J.attribute("instructions", C.Instructions);
    J.attribute("regions", C.Regions);
    J.attribute("global_loads", C.GlobalLoads);
    J.attribute("global_load_bytes", C.GlobalLoadBytes);
    J.attribute("global_stores", C.GlobalStores);
    J.attribute("global_store_bytes", C.GlobalStoreBytes);
    J.attribute("shared_accesses", C.SharedAccesses);
    J.attribute("local_load_bytes", C.LocalLoadBytes);
    J.attribute("local_store_bytes", C.LocalStoreBytes);
    J.attribute("deepest_local_access", C.DeepestLocalAccess);
    J.attributeArray("local_bytes_by_depth", [&] {
      for (double Bytes : K->LocalBytesByDepth)
        J.value(Bytes);
    });
    J.attribute("bytes_per_instruction", bytesPerInstruction(C));
    J.attribute("coalesced_share", C.CoalescedShare);
    J.attribute("stride_seen_share", K->StrideSeenShare);
    J.attribute("assumed_trips", C.AssumedTrips);
    J.attributeArray("loops", [&] {
      for (const LoopCount &L : K->Loops)
        printLoop(J, L);
    });
  });
}

void printTriple(json::OStream &J, llvm::StringRef Name, const std::array<unsigned, 3> &Triple) {
  J.attributeArray(Name, [&] {
    for (unsigned Extent : Triple)
      J.value(Extent);
  });
}

void printKernel(json::OStream &J, const KernelMetrics &K) {
  const StaticMetrics &M = K.Metrics;
  J.object([&] {
    J.attribute("name", K.Kernel);
    J.attribute("demangled", profileName(K.Kernel));
    J.attribute("arch", K.Arch);
    printTriple(J, "grid", K.Shape.Grid);
    printTriple(J, "block", K.Shape.Block);
    J.attribute("dynamic_smem_bytes", K.Shape.DynamicSmemBytes);
    J.attribute("regs", M.RegsPerThread);
    J.attribute("static_smem_bytes", M.StaticSmemBytes);
    J.attribute("spill_bytes", M.SpillBytes);
    J.attribute("blocks_per_sm", M.BlocksPerSm);
    J.attribute("warps_per_block", M.WarpsPerBlock);
    J.attribute("occupancy", M.Occupancy);
    if (K.CountedThreads)
      J.attribute("counted_threads", K.CountedThreads);
    J.attribute("efficiency", M.Efficiency);
    J.attribute("utilization", M.Utilization);
    J.attributeBegin("ptx");
    printCounts(J, K.Ptx);
    J.attributeEnd();
    J.attributeBegin("code");
    printCounts(J, K.Code);
    J.attributeEnd();
    J.attribute("code_reason", K.Code ? json::Value(nullptr) : json::Value(K.CodeReason));
  });
}

/// Writes what is known about the run that counted.
void printRun(json::OStream &J, const MetricsReport &Report) {
  J.attributeArray("left", [&] {
    for (const MetricsReport::LeftOut &L : Report.Left)
      J.object([&] {
        J.attribute("name", L.Kernel);
        J.attribute("demangled", profileName(L.Kernel));
        J.attribute("reason", L.Reason.text());
      });
  });
  J.attributeArray("warnings", [&] {
    for (const std::string &Warning : Report.Warnings)
      J.value(Warning);
  });
}

std::string number(double Value) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  // Branches make halves, so fractions get one digit.
  OS << llvm::format(Value == static_cast<int64_t>(Value) ? "%.0f" : "%.1f", Value);
  return Text;
}

void printRow(llvm::raw_ostream &OS, llvm::StringRef Name, llvm::StringRef Ptx,
              llvm::StringRef Code) {
  OS << "    " << llvm::left_justify(Name, 26) << " " << llvm::right_justify(Ptx, 14) << " "
     << llvm::right_justify(Code, 14) << "\n";
}

/// Prints a row of the table: the value of the PTX and that of the machine code.
void printRow(llvm::raw_ostream &OS, const KernelMetrics &K, llvm::StringRef Name,
              std::string (*Text)(const CountedKernel &)) {
  auto Of = [&](const std::optional<CountedKernel> &C) { return C ? Text(*C) : "-"; };
  printRow(OS, Name, Of(K.Ptx), Of(K.Code));
}

void printTable(llvm::raw_ostream &OS, const KernelMetrics &K) {
  using C = CountedKernel;
  printRow(OS, "per thread", "PTX", "machine code");
  printRow(OS, K, "instructions", [](const C &C) { return number(C.Counts.Instructions); });
  printRow(OS, K, "regions", [](const C &C) { return number(C.Counts.Regions); });
  printRow(OS, K, "global loads", [](const C &C) { return number(C.Counts.GlobalLoads); });
  printRow(OS, K, "  bytes", [](const C &C) { return number(C.Counts.GlobalLoadBytes); });
  printRow(OS, K, "global stores", [](const C &C) { return number(C.Counts.GlobalStores); });
  printRow(OS, K, "  bytes", [](const C &C) { return number(C.Counts.GlobalStoreBytes); });
  printRow(OS, K, "shared accesses", [](const C &C) { return number(C.Counts.SharedAccesses); });
  printRow(OS, K, "local bytes, in no loop", [](const C &C) {
    return number(C.LocalBytesByDepth.empty() ? 0 : C.LocalBytesByDepth[0]);
  });
  for (size_t Depth = 1; Depth < 8; ++Depth) {
    auto Of = [&](const std::optional<CountedKernel> &C) {
      return C && C->LocalBytesByDepth.size() > Depth ? C->LocalBytesByDepth[Depth] : 0;
    };
    if (Of(K.Ptx) + Of(K.Code) > 0)
      printRow(OS, "local bytes, loop depth " + std::to_string(Depth), number(Of(K.Ptx)),
               number(Of(K.Code)));
  }
  printRow(OS, K, "bytes per instruction", [](const C &C) {
    std::string Text;
    llvm::raw_string_ostream(Text) << llvm::format("%.3f", bytesPerInstruction(C.Counts));
    return Text;
  });
  printRow(OS, K, "accesses of known stride", [](const C &C) {
    return C.StrideSeenShare > 0 ? number(100 * C.StrideSeenShare) + " %" : std::string("-");
  });
  printRow(OS, K, "of these coalesced", [](const C &C) {
    return C.Counts.CoalescedShare ? number(100 * *C.Counts.CoalescedShare) + " %" : "-";
  });
}

void printLoops(llvm::raw_ostream &OS, llvm::StringRef Of, const KernelMetrics &K,
                const std::optional<CountedKernel> &C) {
  if (!C || C->Loops.empty())
    return;
  OS << "    loops of the " << Of << "\n";
  for (const LoopCount &L : C->Loops) {
    OS << llvm::format("      %3u  depth %u  trips %s, %s", L.Number, L.Depth,
                       number(L.Trips).c_str(), tripSourceName(L.Source).str().c_str());
    if (L.Line)
      OS << ", line " << L.Line;
    if (L.Function != K.Kernel)
      OS << ", in " << profileName(L.Function);
    OS << "\n";
  }
}

void printKernel(llvm::raw_ostream &OS, const KernelMetrics &K) {
  const StaticMetrics &M = K.Metrics;
  OS << "\n" << profileName(K.Kernel) << "  [" << K.Arch << "]\n";
  OS << "  registers " << M.RegsPerThread << ", spill bytes " << M.SpillBytes
     << ", static shared memory " << M.StaticSmemBytes << " B\n";
  OS << "  grid " << extentsText(K.Shape.Grid, "x") << ", block " << extentsText(K.Shape.Block, "x")
     << ", dynamic shared memory " << K.Shape.DynamicSmemBytes << " B: " << M.BlocksPerSm
     << " blocks/SM of " << M.WarpsPerBlock << " warps, occupancy "
     << llvm::format("%.1f %%\n", 100 * M.Occupancy);
  if (M.Efficiency)
    OS << "  efficiency " << llvm::format("%.3g", *M.Efficiency);
  if (M.Utilization)
    OS << ", utilization " << llvm::format("%.1f", *M.Utilization);
  if (K.CountedThreads)
    OS << " (of the PTX, as counted over " << K.CountedThreads << " threads)\n";
  else if (M.Efficiency)
    OS << (K.Code ? " (of the machine code)\n" : " (of the PTX)\n");
  if (!K.Code)
    OS << "  machine code not counted: " << K.CodeReason << "\n";
  printTable(OS, K);
  printLoops(OS, "PTX", K, K.Ptx);
  printLoops(OS, "machine code", K, K.Code);
}

} // namespace

std::string carve::printMetricsJson(const MetricsReport &Report) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("nvcc", Report.NvccVersion.empty() ? json::Value(nullptr)
                                                   : json::Value(Report.NvccVersion));
    J.attributeArray("kernels", [&] {
      for (const KernelMetrics &K : Report.Kernels)
        printKernel(J, K);
    });
    if (Report.Counted)
      printRun(J, Report);
  });
  OS << "\n";
  return Text;
}

std::string carve::printMetricsText(const MetricsReport &Report) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  if (!Report.NvccVersion.empty())
    OS << "nvcc " << Report.NvccVersion << "\n";
  if (Report.Kernels.empty())
    OS << "\nno kernels\n";
  for (const KernelMetrics &K : Report.Kernels)
    printKernel(OS, K);
  for (const MetricsReport::LeftOut &L : Report.Left)
    OS << "\nnot counted: " << profileName(L.Kernel) << ": " << L.Reason.text();
  for (const std::string &Warning : Report.Warnings)
    OS << "\nwarning: " << Warning;
  if (!Report.Left.empty() || !Report.Warnings.empty())
    OS << "\n";
  return Text;
}
