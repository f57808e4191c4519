// `carve metrics` on what nvcc 13 makes of small kernels whose counts can be worked out by hand.

#include "RealNvcc.h"

#include "Metrics/MetricsPipeline.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

constexpr const char *Source = R"(
extern "C" {
__global__ void axpy(const float *X, float *Y, float A) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  Y[I] += A * X[I];
}
__global__ void columns(const float *X, float *Y, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  float Sum = 0;
#pragma unroll 1
  for (int J = 0; J < 100; ++J)
    Sum += X[I * 64 + J];
  Y[I] = Sum;
}
__global__ void tiles(const float *A, const float *B, float *C, int N) {
  __shared__ float S[16][16], T[16][16];
  int Row = blockIdx.y * 16 + threadIdx.y, Col = blockIdx.x * 16 + threadIdx.x;
  float Sum = 0;
#pragma unroll 1
  for (int K = 0; K < N; K += 16) {
    S[threadIdx.y][threadIdx.x] = A[Row * N + K + threadIdx.x];
    T[threadIdx.y][threadIdx.x] = B[(K + threadIdx.y) * N + Col];
    __syncthreads();
    for (int L = 0; L < 16; ++L)
      Sum += S[threadIdx.y][L] * T[L][threadIdx.x];
    __syncthreads();
  }
  C[Row * N + Col] = Sum;
}
__global__ void guarded(float *Y, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  Y[I] = 1;
}
__global__ void spills(double *P, int N) {
  double X[40];
#pragma unroll
  for (int I = 0; I < 40; ++I) X[I] = P[I * N + threadIdx.x];
  for (int K = 0; K < N; ++K) {
#pragma unroll
    for (int I = 0; I < 40; ++I) X[I] = X[I] * X[(I + 7) % 40] + P[K];
  }
#pragma unroll
  for (int I = 0; I < 40; ++I) P[I * N + threadIdx.x] = X[I];
}
}
)";

class Metrics : public RealNvccTest {
protected:
  MetricsReport report(std::vector<std::string> Words) {
    write("k.cu", Source);
    Words.insert(Words.begin(), path("k.cu"));
    MetricsOptions O = llvm::cantFail(parseMetricsOptions(Words));
    auto FindTools = [&]() -> llvm::Expected<Toolchain> { return Tools; };
    auto R = findMetrics(O, FindTools, Runner, CARVE_SOURCE_DIR "/share/carve-nvcc/devices");
    if (R)
      return std::move(*R);
    ADD_FAILURE() << llvm::toString(R.takeError());
    return {};
  }
  static const KernelMetrics &of(const MetricsReport &R, const std::string &Name) {
    auto It = llvm::find_if(R.Kernels, [&](const KernelMetrics &K) { return K.Kernel == Name; });
    static const KernelMetrics None;
    if (It != R.Kernels.end() && It->Ptx && It->Code)
      return *It;
    ADD_FAILURE() << Name << " is not counted";
    return None;
  }
};

} // namespace

TEST_F(Metrics, metrics_ofNvccsCode_areThoseByHand) {
  for (const char *Arch : {"sm_75", "sm_90", "sm_120"}) {
    SCOPED_TRACE(Arch);
    MetricsReport R = report(
        {std::string("--arch=") + Arch, "--block=16x16", "--trips=tiles:1=64", "--", "-lineinfo"});
    ASSERT_EQ(R.Kernels.size(), 5u);
    for (const auto &Counted : {of(R, "axpy").Ptx, of(R, "axpy").Code}) {
      EXPECT_EQ(Counted->Counts.GlobalLoadBytes, 8);
      EXPECT_EQ(Counted->Counts.GlobalStoreBytes, 4);
      EXPECT_EQ(Counted->Counts.Regions, 2);
    }
    EXPECT_EQ(of(R, "axpy").Ptx->Counts.CoalescedShare, 1.0);

    // There are a hundred loads, and in each one every thread reads a row of its own.
    const CountedKernel &Columns = *of(R, "columns").Ptx;
    ASSERT_EQ(Columns.Loops.size(), 1u);
    EXPECT_EQ(Columns.Loops[0].Trips, 100);
    EXPECT_EQ(Columns.Loops[0].Source, TripSource::Constant);
    EXPECT_EQ(Columns.Loops[0].Line, 11u);
    EXPECT_EQ(Columns.Counts.GlobalLoads, 100);
    EXPECT_NEAR(Columns.Counts.CoalescedShare.value(), 1 / 101.0, 1e-9);
    EXPECT_EQ(of(R, "columns").Code->Counts.GlobalLoads, 100) << "unrolled or not";

    const KernelMetrics &Tiles = of(R, "tiles");
    for (const auto &Counted : {Tiles.Ptx, Tiles.Code}) {
      EXPECT_EQ(Counted->Counts.GlobalLoads, 128);
      EXPECT_EQ(Counted->Counts.AssumedTrips, 0u);
    }
    // Each tile has two barriers, and a wait for each load. ptxas waits for both loads at once.
    EXPECT_EQ(Tiles.Ptx->Counts.Regions, 64 * 4 + 1);
    EXPECT_EQ(Tiles.Code->Counts.Regions, 64 * 3 + 1);
    // ptxas joins four loads of S, whose elements are adjacent.
    EXPECT_EQ(Tiles.Ptx->Counts.SharedAccesses, 64 * (2 + 32));
    EXPECT_EQ(Tiles.Code->Counts.SharedAccesses, 64 * (2 + 16 + 4));
    EXPECT_EQ(Tiles.Ptx->Counts.CoalescedShare, 1.0);
    EXPECT_EQ(Tiles.Code->Loops.at(0).Source, TripSource::Matched);

    // The guard does not reduce the weight of the code after it.
    EXPECT_EQ(of(R, "guarded").Ptx->Counts.GlobalStores, 1);
    EXPECT_EQ(of(R, "guarded").Code->Counts.GlobalStores, 1);
  }
}

TEST_F(Metrics, spills_areCountedByDepth) {
  MetricsReport Plain = report({"--arch=sm_90"});
  EXPECT_EQ(of(Plain, "spills").Code->Counts.LocalStoreBytes, 0);
  MetricsReport Pressed = report({"--arch=sm_90", "--", "-Xptxas", "-maxrregcount=40"});
  const KernelMetrics &K = of(Pressed, "spills");
  EXPECT_GT(K.Metrics.SpillBytes, 0u);
  EXPECT_EQ(K.Code->Counts.DeepestLocalAccess, 1u);
  ASSERT_EQ(K.Code->LocalBytesByDepth.size(), 2u);
  EXPECT_GT(K.Code->LocalBytesByDepth[1], K.Code->LocalBytesByDepth[0]);
  EXPECT_EQ(K.Ptx->Counts.LocalLoadBytes, 0);
  EXPECT_GT(K.Metrics.BlocksPerSm, of(Plain, "spills").Metrics.BlocksPerSm);
  EXPECT_LT(K.Metrics.Efficiency.value(), of(Plain, "spills").Metrics.Efficiency.value());
}

TEST_F(Metrics, metrics_ofPtxAndOfItsSource_areTheSame) {
  MetricsReport FromSource = report({"--arch=sm_80"});
  compile({"-arch=sm_80", "-ptx", "k.cu", "-o", "k.ptx"});
  MetricsOptions O = llvm::cantFail(parseMetricsOptions({"--arch=sm_80", path("k.ptx")}));
  auto FindTools = [&]() -> llvm::Expected<Toolchain> { return Tools; };
  MetricsReport FromPtx = llvm::cantFail(
      findMetrics(O, FindTools, Runner, CARVE_SOURCE_DIR "/share/carve-nvcc/devices"));
  EXPECT_EQ(printMetricsJson(FromPtx), printMetricsJson(FromSource));
}
