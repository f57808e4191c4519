#include "Probe/Driver/Hazards.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace carve::probe;

#define ID(Call) CUPTI_DRIVER_TRACE_CBID_##Call

/// Returns the kind as text; `-` for none.
static std::string kind(CUpti_CallbackId Id, const void *Params = nullptr) {
  std::optional<carve::HazardKind> Kind = hazardKind(Id, Params);
  return Kind ? std::string(carve::wordOf(*Kind)) : "-";
}

TEST(Hazards, callsWithAnyParameters_areHazards) {
  EXPECT_EQ(kind(ID(cuMemAllocManaged)), "managed");
  EXPECT_EQ(kind(ID(cuMemHostGetDevicePointer_v2)), "host-mapped");
  EXPECT_EQ(kind(ID(cuIpcOpenMemHandle_v2)), "ipc");
  EXPECT_EQ(kind(ID(cuMemPoolImportPointer)), "ipc");
  EXPECT_EQ(kind(ID(cuCtxEnablePeerAccess)), "peer");
  EXPECT_EQ(kind(ID(cuStreamBeginCapture_v2_ptsz)), "capture");
  EXPECT_EQ(kind(ID(cuMemAlloc_v2)), "-");
  EXPECT_EQ(kind(ID(cuLaunchKernel)), "-");
}

TEST(Hazards, pageLockedMemory_isAHazardOnlyIfMapped) {
  cuMemHostAlloc_params Alloc{nullptr, 64, CU_MEMHOSTALLOC_PORTABLE};
  EXPECT_EQ(kind(ID(cuMemHostAlloc), &Alloc), "-");
  Alloc.Flags |= CU_MEMHOSTALLOC_DEVICEMAP;
  EXPECT_EQ(kind(ID(cuMemHostAlloc), &Alloc), "host-mapped");
  cuMemHostRegister_v2_params Register{nullptr, 64, 0};
  EXPECT_EQ(kind(ID(cuMemHostRegister_v2), &Register), "-");
  Register.Flags = CU_MEMHOSTREGISTER_DEVICEMAP;
  EXPECT_EQ(kind(ID(cuMemHostRegister_v2), &Register), "host-mapped");
}

TEST(Hazards, mappedMemory_isJudgedByLocationAndUsers) {
  CUmemAllocationProp Properties{};
  Properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  cuMemCreate_params Create{nullptr, 64, &Properties, 0};
  EXPECT_EQ(kind(ID(cuMemCreate), &Create), "-");
  Properties.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  EXPECT_EQ(kind(ID(cuMemCreate), &Create), "host-mapped");
  CUmemAccessDesc Access[2] = {};
  cuMemSetAccess_params SetAccess{0, 64, Access, 1};
  EXPECT_EQ(kind(ID(cuMemSetAccess), &SetAccess), "-");
  SetAccess.count = 2;
  EXPECT_EQ(kind(ID(cuMemSetAccess), &SetAccess), "peer");
}

TEST(Hazards, memoryForNetworkCards_isAHazard) {
  cuPointerSetAttribute_params Set{nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 64};
  EXPECT_EQ(kind(ID(cuPointerSetAttribute), &Set), "ipc");
  Set.attribute = CU_POINTER_ATTRIBUTE_ACCESS_FLAGS;
  EXPECT_EQ(kind(ID(cuPointerSetAttribute), &Set), "-");
}

TEST(Hazards, pool_isJudgedByItsMemory) {
  CUmemPoolProps Properties{};
  Properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  Properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  cuMemPoolCreate_params Create{nullptr, &Properties};
  EXPECT_EQ(kind(ID(cuMemPoolCreate), &Create), "-");
  Properties.location.type = CU_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(kind(ID(cuMemPoolCreate), &Create), "host-mapped");
  Properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
  EXPECT_EQ(kind(ID(cuMemPoolCreate), &Create), "managed");
}

TEST(Hazards, array_isAHazardIfKernelsCanWriteIt) {
  CUDA_ARRAY3D_DESCRIPTOR Array{};
  cuArray3DCreate_v2_params Create{nullptr, &Array};
  cuMipmappedArrayCreate_params Mipmapped{nullptr, &Array, 2};
  EXPECT_EQ(kind(ID(cuArray3DCreate_v2), &Create), "-");
  EXPECT_EQ(kind(ID(cuMipmappedArrayCreate), &Mipmapped), "-");
  Array.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  EXPECT_EQ(kind(ID(cuArray3DCreate_v2), &Create), "array");
  EXPECT_EQ(kind(ID(cuMipmappedArrayCreate), &Mipmapped), "array");
}

TEST(Hazards, absentDescription_isNoHazard) {
  cuMemCreate_params Create{};
  cuMemPoolCreate_params Pool{};
  cuMemSetAccess_params Access{0, 64, nullptr, 3};
  cuArray3DCreate_v2_params Array{};
  EXPECT_EQ(kind(ID(cuMemCreate), &Create), "-");
  EXPECT_EQ(kind(ID(cuMemPoolCreate), &Pool), "-");
  EXPECT_EQ(kind(ID(cuMemSetAccess), &Access), "-");
  EXPECT_EQ(kind(ID(cuArray3DCreate_v2), &Array), "-");
}

TEST(Hazards, launchCalls_areNoHazards) {
  for (CUpti_CallbackId Id :
       {ID(cuLaunchKernel), ID(cuLaunchKernelEx), ID(cuGraphLaunch), ID(cuMemcpyHtoDAsync_v2),
        ID(cuEventRecord), ID(cuStreamSynchronize), ID(cuMemAllocAsync), ID(cuMemFreeAsync)})
    EXPECT_FALSE(rolesOf(Id).any(HazardCalls));
}

namespace {
struct Launch {
  std::vector<CUlaunchAttribute> Attributes;
  CUlaunchConfig Config{};
  cuLaunchKernelEx_params Params{};
  int Kernel = 0; // The address of this member is the handle.

  void add(CUlaunchAttributeID Id, int Value = 0) {
    CUlaunchAttribute A{};
    A.id = Id;
    A.value.programmaticStreamSerializationAllowed = Value;
    Attributes.push_back(A);
  }
  bool isProgrammatic(CUpti_CallbackId Id = ID(cuLaunchKernelEx)) {
    Config.attrs = Attributes.data();
    Config.numAttrs = unsigned(Attributes.size());
    Params.config = &Config;
    Params.f = reinterpret_cast<CUfunction>(&Kernel);
    const void *Handle = programmaticKernel(Id, &Params);
    EXPECT_TRUE(!Handle || Handle == &Kernel);
    return Handle;
  }
};
} // namespace

TEST(Hazards, programmaticLaunch_givesItsKernel) {
  Launch L;
  EXPECT_FALSE(L.isProgrammatic());
  L.add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  L.add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
  L.add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 0);
  EXPECT_FALSE(L.isProgrammatic());
  L.add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1);
  EXPECT_TRUE(L.isProgrammatic());
  EXPECT_TRUE(L.isProgrammatic(ID(cuLaunchKernelEx_ptsz)));
  EXPECT_FALSE(L.isProgrammatic(ID(cuLaunchKernel)));
  for (CUlaunchAttributeID Event :
       {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT}) {
    Launch Other;
    Other.add(Event);
    EXPECT_TRUE(Other.isProgrammatic());
  }
  cuLaunchKernelEx_params Empty{};
  EXPECT_EQ(programmaticKernel(ID(cuLaunchKernelEx), &Empty), nullptr);
}

TEST(Hazards, handle_isNewOnceUntilAModuleIsLoaded) {
  SeenHandles Seen;
  int Kernels[2] = {};
  EXPECT_TRUE(Seen.first(&Kernels[0]));
  EXPECT_FALSE(Seen.first(&Kernels[0]));
  Seen.clear();
  EXPECT_TRUE(Seen.first(&Kernels[0]));
}
