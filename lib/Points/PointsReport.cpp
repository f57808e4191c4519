#include "Points/PointsReport.h"

#include "Ptx/ProfileName.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

namespace {

bool hasLaunchBounds(const EntryDirectives &D) { return D.MaxNTid || D.ReqNTid || D.MinNCtaPerSm; }

void printLaunchBounds(json::OStream &J, const EntryDirectives &D) {
  if (!hasLaunchBounds(D)) {
    J.attribute("launch_bounds", nullptr);
    return;
  }
  J.attributeObject("launch_bounds", [&] {
    J.attribute("max_threads", D.maxThreadsPerBlock());
    J.attribute("min_blocks", D.MinNCtaPerSm ? json::Value(*D.MinNCtaPerSm) : json::Value(nullptr));
  });
}

void printShape(json::OStream &J, const ShapePoints &S) {
  J.object([&] {
    J.attributeArray("block", [&] {
      for (unsigned Extent : S.Block)
        J.value(Extent);
    });
    J.attribute("dynamic_smem_bytes", S.DynamicSmemBytes);
    J.attributeArray("critical_points", [&] {
      for (const CriticalPoint &P : S.Points)
        J.object([&] {
          J.attribute("regs", P.Regs);
          J.attribute("blocks_per_sm", P.BlocksPerSm);
          J.attribute("warps_per_sm", P.WarpsPerSm);
          J.attribute("occupancy", P.Occupancy);
        });
    });
  });
}

void printKernel(json::OStream &J, const KernelPoints &K) {
  J.object([&] {
    J.attribute("name", K.Region.Kernel);
    J.attribute("demangled", profileName(K.Region.Kernel));
    J.attribute("arch", K.Arch);
    J.attribute("default_regs", K.Region.Default.RegsPerThread);
    J.attribute("r_min", K.Region.rMin());
    J.attribute("r_max", K.Region.rMax());
    J.attribute("default_spill_bytes", K.Region.Default.spillBytes());
    J.attribute("r_min_spill_bytes", K.Region.AtMin.spillBytes());
    J.attribute("static_smem_bytes", K.Region.Default.StaticSmemBytes);
    printLaunchBounds(J, K.Directives);
    J.attribute("tunable", K.Reason ? json::Value(*K.Reason) : json::Value(true));
    J.attributeArray("shapes", [&] {
      for (const ShapePoints &S : K.Shapes)
        printShape(J, S);
    });
  });
}

void printKernel(llvm::raw_ostream &OS, const KernelPoints &K) {
  const RegisterRegion &R = K.Region;
  OS << "\n" << profileName(R.Kernel) << "  [" << K.Arch << "]\n";
  OS << "  registers: default " << R.Default.RegsPerThread << ", region " << R.rMin() << " to "
     << R.rMax() << "; spill bytes: default " << R.Default.spillBytes() << ", at " << R.rMin()
     << " registers " << R.AtMin.spillBytes() << "; static shared memory "
     << R.Default.StaticSmemBytes << " B\n";
  if (hasLaunchBounds(K.Directives)) {
    OS << "  launch bounds: at most " << K.Directives.maxThreadsPerBlock() << " threads";
    if (K.Directives.MinNCtaPerSm)
      OS << ", at least " << *K.Directives.MinNCtaPerSm << " blocks per SM";
    OS << "\n";
  }
  if (K.Reason)
    OS << "  not tunable: " << *K.Reason << "\n";
}

void printShape(llvm::raw_ostream &OS, const ShapePoints &S) {
  OS << "  block " << S.Block[0] << "x" << S.Block[1] << "x" << S.Block[2]
     << ", dynamic shared memory " << S.DynamicSmemBytes << " B\n";
  if (S.Points.empty()) {
    OS << "    cannot be launched\n";
    return;
  }
  OS << "    registers  blocks/SM  warps/SM  occupancy\n";
  for (const CriticalPoint &P : S.Points)
    OS << llvm::format("    %9u  %9u  %8u  %7.1f %%\n", P.Regs, P.BlocksPerSm, P.WarpsPerSm,
                       100 * P.Occupancy);
}

} // namespace

std::string carve::printPointsJson(const PointsReport &Report) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("nvcc", Report.NvccVersion);
    J.attributeArray("kernels", [&] {
      for (const KernelPoints &K : Report.Kernels)
        printKernel(J, K);
    });
  });
  OS << "\n";
  return Text;
}

std::string carve::printPointsText(const PointsReport &Report) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "nvcc " << Report.NvccVersion << "\n";
  if (Report.Kernels.empty())
    OS << "\nno kernels\n";
  for (const KernelPoints &K : Report.Kernels) {
    printKernel(OS, K);
    if (K.Reason)
      continue;
    for (const ShapePoints &S : K.Shapes)
      printShape(OS, S);
  }
  return Text;
}
