#include "Probe/Memory/DeviceMemory.h"

#include "Probe/Process/HostMemory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace carve::probe;

#define CALL(Name) CUPTI_DRIVER_TRACE_CBID_##Name

namespace {
class DeviceMemoryTest : public testing::Test {
protected:
  /// Makes a call as CUPTI shows it. \p Then is what the driver does between entry and exit.
  template <class Params, class Function>
  void call(CUpti_CallbackId Id, Params &P, Function Then, CUresult Result = CUDA_SUCCESS) {
    CUpti_CallbackData Call{};
    Call.functionParams = &P;
    Call.context = Context;
    Call.callbackSite = CUPTI_API_ENTER;
    Memory.note(Id, Call);
    Then();
    Call.callbackSite = CUPTI_API_EXIT;
    Call.functionReturnValue = &Result;
    Captures.note(Id, Call);
    Memory.note(Id, Call);
  }
  template <class Params> void call(CUpti_CallbackId Id, Params P, CUresult Result = CUDA_SUCCESS) {
    call(Id, P, [] {}, Result);
  }

  void alloc(CUdeviceptr Base, size_t Bytes, CUresult Result = CUDA_SUCCESS) {
    call(CALL(cuMemAlloc_v2), cuMemAlloc_v2_params{&Base, Bytes}, Result);
  }
  void free(CUdeviceptr Base) { call(CALL(cuMemFree_v2), cuMemFree_v2_params{Base}); }
  void create(PhysicalHandle Handle, CUmemLocationType Type, int Device) {
    CUmemAllocationProp Properties{};
    Properties.location.type = Type;
    Properties.location.id = Device;
    call(CALL(cuMemCreate), cuMemCreate_params{&Handle, 0, &Properties, 0});
  }
  void map(CUdeviceptr Base, size_t Bytes, PhysicalHandle Handle) {
    call(CALL(cuMemMap), cuMemMap_params{Base, Bytes, 0, Handle, 0});
  }
  void unmap(CUdeviceptr Base, size_t Bytes) {
    call(CALL(cuMemUnmap), cuMemUnmap_params{Base, Bytes});
  }
  static CUmemAccessDesc access(int Device,
                                CUmemAccess_flags Flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                                CUmemLocationType Type = CU_MEM_LOCATION_TYPE_DEVICE) {
    CUmemAccessDesc Access{};
    Access.location.type = Type;
    Access.location.id = Device;
    Access.flags = Flags;
    return Access;
  }
  void setAccess(CUdeviceptr Base, size_t Bytes, CUmemAccessDesc Access) {
    call(CALL(cuMemSetAccess), cuMemSetAccess_params{Base, Bytes, &Access, 1});
  }

  /// Returns `base+bytes kind` of every range.
  std::string ranges() const {
    static constexpr const char *Kinds[] = {"device",  "pool", "mapped",
                                            "managed", "host", "imported"};
    std::string Text;
    for (const MemoryRange &Range : Memory.ranges()) {
      char Line[64];
      std::snprintf(Line, sizeof Line, "%llx+%zx %s ", Range.Base, Range.Bytes,
                    Kinds[size_t(Range.Kind)]);
      Text += Line;
    }
    return Text;
  }

  StreamCaptures Captures;
  DeviceMemory Memory{Captures};
  CUcontext Context = reinterpret_cast<CUcontext>(0x10);
};
} // namespace

TEST_F(DeviceMemoryTest, memoryThatANetworkCardMayWrite_isImported) {
  alloc(0x1000, 0x100);
  alloc(0x2000, 0x100);
  call(CALL(cuPointerSetAttribute),
       cuPointerSetAttribute_params{nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0x2010});
  EXPECT_EQ(ranges(), "1000+100 device 2000+100 imported ");
}

TEST_F(DeviceMemoryTest, allocationAndFree_areFollowed) {
  alloc(0x1000, 0x100);
  alloc(0x2000, 0x80);
  EXPECT_EQ(ranges(), "1000+100 device 2000+80 device ");
  EXPECT_EQ(Memory.find(0x10ff)->Base, 0x1000u);
  EXPECT_EQ(Memory.find(0x10ff)->Context, Context);
  EXPECT_FALSE(Memory.find(0x1100));
  EXPECT_FALSE(Memory.find(0xfff));
  free(0x1000);
  EXPECT_EQ(ranges(), "2000+80 device ");
  // The address is not the beginning of an allocation, so the driver refuses the call.
  free(0x2040);
  free(0);
  EXPECT_EQ(ranges(), "2000+80 device ");
}

TEST_F(DeviceMemoryTest, failedCall_addsNothing) {
  alloc(0x1000, 0x100, CUDA_ERROR_OUT_OF_MEMORY);
  alloc(0x1000, 0);
  alloc(0, 0x100);
  EXPECT_EQ(ranges(), "");
}

TEST_F(DeviceMemoryTest, free_actsAtTheEntryAndAllocationAtTheExit) {
  alloc(0x1000, 0x100);
  cuMemFree_v2_params Free{0x1000};
  // Another thread gets the same memory before the free returns.
  call(CALL(cuMemFree_v2), Free, [&] {
    EXPECT_EQ(ranges(), "");
    alloc(0x1000, 0x80);
  });
  EXPECT_EQ(ranges(), "1000+80 device ");
  CUdeviceptr New = 0;
  cuMemAlloc_v2_params Alloc{&New, 0x40};
  call(CALL(cuMemAlloc_v2), Alloc, [&] {
    EXPECT_EQ(Memory.ranges().size(), 1u);
    New = 0x5000;
  });
  EXPECT_EQ(ranges(), "1000+80 device 5000+40 device ");
}

TEST_F(DeviceMemoryTest, everyKindOfAllocation_isKnown) {
  CUdeviceptr At = 0x1000;
  size_t Pitch = 0x200;
  call(CALL(cuMemAllocPitch_v2), cuMemAllocPitch_v2_params{&At, &Pitch, 0x180, 3, 4});
  At = 0x2000;
  call(CALL(cuMemAllocManaged), cuMemAllocManaged_params{&At, 0x10, 1});
  At = 0x3000;
  call(CALL(cuMemAllocAsync), cuMemAllocAsync_params{&At, 0x10, nullptr});
  At = 0x3100;
  call(CALL(cuMemAllocAsync_ptsz), cuMemAllocAsync_ptsz_params{&At, 0x10, nullptr});
  At = 0x3200;
  call(CALL(cuMemAllocFromPoolAsync), cuMemAllocFromPoolAsync_params{&At, 0x10, nullptr, nullptr});
  void *Host = reinterpret_cast<void *>(0x4000);
  call(CALL(cuMemHostAlloc), cuMemHostAlloc_params{&Host, 0x10, 0});
  Host = reinterpret_cast<void *>(0x4100);
  call(CALL(cuMemAllocHost_v2), cuMemAllocHost_v2_params{&Host, 0x10});
  call(CALL(cuMemHostRegister_v2),
       cuMemHostRegister_v2_params{reinterpret_cast<void *>(0x4201), 0x13, 0});
  EXPECT_EQ(ranges(), "1000+600 device 2000+10 managed 3000+10 pool 3100+10 pool 3200+10 pool "
                      "4000+10 host 4100+10 host 4201+13 host ");
  call(CALL(cuMemFreeAsync), cuMemFreeAsync_params{0x3000, nullptr});
  call(CALL(cuMemFreeAsync_ptsz), cuMemFreeAsync_ptsz_params{0x3100, nullptr});
  call(CALL(cuMemFree_v2), cuMemFree_v2_params{0x3200});
  call(CALL(cuMemFreeHost), cuMemFreeHost_params{reinterpret_cast<void *>(0x4000)});
  call(CALL(cuMemFreeHost), cuMemFreeHost_params{reinterpret_cast<void *>(0x4100)});
  call(CALL(cuMemHostUnregister), cuMemHostUnregister_params{reinterpret_cast<void *>(0x4201)});
  EXPECT_EQ(ranges(), "1000+600 device 2000+10 managed ");
}

TEST_F(DeviceMemoryTest, newRange_replacesWhatItCoversAndKeepsTheRest) {
  alloc(0x1000, 0x1000);
  alloc(0x1800, 0x100); // The free of the first allocation was missed.
  EXPECT_EQ(ranges(), "1000+800 device 1800+100 device 1900+700 device ");
}

TEST_F(DeviceMemoryTest, mappingsAndTheirParts_areFollowed) {
  create(7, CU_MEM_LOCATION_TYPE_DEVICE, 0);
  map(0x10000, 0x4000, 7);
  EXPECT_EQ(ranges(), "") << "nothing may reach it yet";
  EXPECT_FALSE(Memory.find(0x10000));
  setAccess(0x10000, 0x4000, access(0));
  EXPECT_EQ(ranges(), "10000+4000 mapped ");
  EXPECT_EQ(Memory.find(0x10000)->Context, nullptr);
  unmap(0x11000, 0x1000);
  EXPECT_EQ(ranges(), "10000+1000 mapped 12000+2000 mapped ");
  setAccess(0x12000, 0x1000, access(0, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_EQ(ranges(), "10000+1000 mapped 13000+1000 mapped ");
  unmap(0x10000, 0x4000);
  EXPECT_EQ(ranges(), "");
  EXPECT_FALSE(Memory.peers());
}

TEST_F(DeviceMemoryTest, severalMappings_areUnmappedAtOnce) {
  for (int I = 0; I < 4; ++I)
    map(0x10000 + I * 0x1000u, 0x1000, 7);
  setAccess(0x10000, 0x4000, access(0));
  EXPECT_EQ(Memory.ranges().size(), 4u);
  unmap(0x10000, 0x3000);
  EXPECT_EQ(ranges(), "13000+1000 mapped ");
}

TEST_F(DeviceMemoryTest, mappedMemory_hasItsDevice) {
  create(1, CU_MEM_LOCATION_TYPE_HOST_NUMA, 0);
  map(0x10000, 0x1000, 1);
  setAccess(0x10000, 0x1000, access(0));
  EXPECT_EQ(ranges(), "10000+1000 host ");
  EXPECT_FALSE(Memory.peers());
  create(2, CU_MEM_LOCATION_TYPE_DEVICE, 1);
  map(0x20000, 0x1000, 2);
  // As in most programs, the handle is released after it is mapped.
  call(CALL(cuMemRelease), cuMemRelease_params{2});
  setAccess(0x20000, 0x1000, access(1));
  EXPECT_FALSE(Memory.peers());
  setAccess(0x20000, 0x1000, access(0));
  EXPECT_TRUE(Memory.peers());
  setAccess(0x20000, 0x1000,
            access(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_MEM_LOCATION_TYPE_HOST));
  EXPECT_EQ(ranges(), "10000+1000 host 20000+1000 imported ");
}

TEST_F(DeviceMemoryTest, sharedMemory_isImported) {
  PhysicalHandle Imported = 5, Multicast = 6;
  call(CALL(cuMemImportFromShareableHandle),
       cuMemImportFromShareableHandle_params{&Imported, nullptr,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR});
  map(0x10000, 0x1000, 5);
  call(CALL(cuMulticastCreate), cuMulticastCreate_params{&Multicast, nullptr});
  map(0x20000, 0x1000, 6);
  create(7, CU_MEM_LOCATION_TYPE_DEVICE, 0);
  map(0x30000, 0x1000, 7);
  setAccess(0x10000, 0x30000, access(0));
  EXPECT_EQ(ranges(), "10000+1000 imported 20000+1000 imported 30000+1000 mapped ");
  EXPECT_TRUE(Memory.peers());
  call(CALL(cuMemRelease), cuMemRelease_params{7});
  PhysicalHandle Retained = 77;
  call(CALL(cuMemRetainAllocationHandle),
       cuMemRetainAllocationHandle_params{&Retained, reinterpret_cast<void *>(0x30800)});
  call(CALL(cuMemExportToShareableHandle),
       cuMemExportToShareableHandle_params{nullptr, 77, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                           0});
  EXPECT_EQ(ranges(), "10000+1000 imported 20000+1000 imported 30000+1000 imported ");
  alloc(0x1000, 0x100);
  call(CALL(cuIpcGetMemHandle), cuIpcGetMemHandle_params{nullptr, 0x1010});
  EXPECT_EQ(Memory.find(0x1000)->Kind, MemoryKind::Imported);
}

TEST_F(DeviceMemoryTest, importedMemory_hasTheSizeThatTheDriverTells) {
  DriverApi Driver;
  Driver.MemGetAddressRange = [](CUdeviceptr *Base, size_t *Bytes, CUdeviceptr) {
    *Base = 0x1000, *Bytes = 0x500;
    return CUDA_SUCCESS;
  };
  DeviceMemory Asking(Captures, &Driver);
  CUdeviceptr At = 0x1100;
  cuIpcOpenMemHandle_v2_params Open{&At, {}, 0};
  CUpti_CallbackData Call{};
  CUresult Result = CUDA_SUCCESS;
  Call.callbackSite = CUPTI_API_EXIT, Call.functionParams = &Open;
  Call.functionReturnValue = &Result;
  Asking.note(CALL(cuIpcOpenMemHandle_v2), Call);
  ASSERT_EQ(Asking.ranges().size(), 1u);
  EXPECT_EQ(Asking.ranges()[0].Bytes, 0x400u);
  EXPECT_EQ(Asking.ranges()[0].Kind, MemoryKind::Imported);
  // Without a driver it is known only that some memory is there.
  call(CALL(cuIpcOpenMemHandle_v2), Open);
  EXPECT_EQ(ranges(), "1100+1 imported ");
  call(CALL(cuIpcCloseMemHandle), cuIpcCloseMemHandle_params{0x1100});
  EXPECT_EQ(ranges(), "");
}

TEST_F(DeviceMemoryTest, memoryOfOtherInterfaces_isImported) {
  CUdeviceptr At = 0x1000;
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC Buffer{};
  Buffer.size = 0x200;
  call(CALL(cuExternalMemoryGetMappedBuffer),
       cuExternalMemoryGetMappedBuffer_params{&At, nullptr, &Buffer});
  CUdeviceptr Mapped = 0x2000;
  size_t Bytes = 0x300;
  auto Resource = reinterpret_cast<CUgraphicsResource>(0x77);
  call(CALL(cuGraphicsResourceGetMappedPointer_v2),
       cuGraphicsResourceGetMappedPointer_v2_params{&Mapped, &Bytes, Resource});
  EXPECT_EQ(ranges(), "1000+200 imported 2000+300 imported ");
  call(CALL(cuGraphicsUnmapResources), cuGraphicsUnmapResources_params{1, &Resource, nullptr});
  free(0x1000);
  EXPECT_EQ(ranges(), "");
}

TEST_F(DeviceMemoryTest, memoryOfPools_isKnown) {
  CUmemPoolProps Properties{};
  Properties.location.type = CU_MEM_LOCATION_TYPE_HOST;
  auto Pool = reinterpret_cast<CUmemoryPool>(0x1), Other = reinterpret_cast<CUmemoryPool>(0x2);
  call(CALL(cuMemPoolCreate), cuMemPoolCreate_params{&Pool, &Properties});
  call(CALL(cuMemPoolImportFromShareableHandle),
       cuMemPoolImportFromShareableHandle_params{&Other, nullptr, CU_MEM_HANDLE_TYPE_NONE, 0});
  CUdeviceptr At = 0x1000;
  call(CALL(cuMemAllocFromPoolAsync), cuMemAllocFromPoolAsync_params{&At, 0x10, Pool, nullptr});
  At = 0x2000;
  call(CALL(cuMemAllocFromPoolAsync_ptsz),
       cuMemAllocFromPoolAsync_ptsz_params{&At, 0x10, Other, nullptr});
  EXPECT_EQ(ranges(), "1000+10 host 2000+10 imported ");
  call(CALL(cuMemPoolDestroy), cuMemPoolDestroy_params{Pool});
  At = 0x1000;
  call(CALL(cuMemAllocFromPoolAsync), cuMemAllocFromPoolAsync_params{&At, 0x10, Pool, nullptr});
  EXPECT_EQ(ranges(), "1000+10 pool 2000+10 imported ");
}

TEST_F(DeviceMemoryTest, poolThatOtherDevicesReach_isImported) {
  auto Pool = reinterpret_cast<CUmemoryPool>(0x1);
  CUmemAccessDesc Access = access(1);
  call(CALL(cuDeviceGetDefaultMemPool), cuDeviceGetDefaultMemPool_params{&Pool, 1});
  call(CALL(cuMemPoolSetAccess), cuMemPoolSetAccess_params{Pool, &Access, 1});
  EXPECT_FALSE(Memory.peers());
  Access = access(0, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  call(CALL(cuMemPoolSetAccess), cuMemPoolSetAccess_params{Pool, &Access, 1});
  EXPECT_FALSE(Memory.peers());
  Access = access(0);
  call(CALL(cuMemPoolSetAccess), cuMemPoolSetAccess_params{Pool, &Access, 1});
  EXPECT_TRUE(Memory.peers());
}

TEST_F(DeviceMemoryTest, peers_areKnown) {
  call(CALL(cuCtxEnablePeerAccess), cuCtxEnablePeerAccess_params{nullptr, 0},
       CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_FALSE(Memory.peers());
  call(CALL(cuCtxEnablePeerAccess), cuCtxEnablePeerAccess_params{nullptr, 0});
  EXPECT_TRUE(Memory.peers());
}

TEST_F(DeviceMemoryTest, surfaces_areKnownWhileTheyExist) {
  CUsurfObject Surface = 9;
  EXPECT_FALSE(Memory.surfaces());
  call(CALL(cuSurfObjectCreate), cuSurfObjectCreate_params{&Surface, nullptr});
  EXPECT_TRUE(Memory.surfaces());
  call(CALL(cuSurfObjectDestroy), cuSurfObjectDestroy_params{9});
  EXPECT_FALSE(Memory.surfaces());
}

TEST_F(DeviceMemoryTest, memoryOfAGraph_isImported) {
  auto Stream = reinterpret_cast<CUstream>(0x5);
  CUdeviceptr At = 0x1000;
  call(CALL(cuStreamBeginCapture_v2),
       cuStreamBeginCapture_v2_params{Stream, CU_STREAM_CAPTURE_MODE_GLOBAL});
  call(CALL(cuMemAllocAsync), cuMemAllocAsync_params{&At, 0x10, Stream});
  call(CALL(cuStreamEndCapture), cuStreamEndCapture_params{Stream, nullptr},
       CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  At = 0x2000;
  call(CALL(cuMemAllocAsync), cuMemAllocAsync_params{&At, 0x10, Stream});
  CUDA_MEM_ALLOC_NODE_PARAMS Node{};
  Node.dptr = 0x3000, Node.bytesize = 0x20;
  call(CALL(cuGraphAddMemAllocNode),
       cuGraphAddMemAllocNode_params{nullptr, nullptr, nullptr, 0, &Node});
  CUgraphNodeParams Any{};
  Any.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  Any.alloc.dptr = 0x4000, Any.alloc.bytesize = 0x30;
  cuGraphAddNode_params Add{};
  Add.nodeParams = &Any;
  call(CALL(cuGraphAddNode), Add);
  EXPECT_EQ(ranges(), "1000+10 imported 2000+10 pool 3000+20 imported 4000+30 imported ");
}

TEST_F(DeviceMemoryTest, endedContext_dropsItsMemory) {
  auto First = Context, Second = reinterpret_cast<CUcontext>(0x20);
  alloc(0x1000, 0x10);
  map(0x10000, 0x1000, 1);
  setAccess(0x10000, 0x1000, access(0));
  Context = Second;
  alloc(0x2000, 0x10);
  call(CALL(cuCtxDestroy_v2), cuCtxDestroy_v2_params{First});
  EXPECT_EQ(ranges(), "2000+10 device 10000+1000 mapped ");
  Memory.dropContext(nullptr);
  EXPECT_EQ(Memory.ranges().size(), 2u);
  Memory.dropContext(Second);
  EXPECT_EQ(ranges(), "10000+1000 mapped ");
}

TEST_F(DeviceMemoryTest, deviceReset_dropsItsMemory) {
  alloc(0x1000, 0x10);
  call(CALL(cuDevicePrimaryCtxReset_v2), cuDevicePrimaryCtxReset_v2_params{0});
  EXPECT_EQ(Memory.ranges().size(), 1u) << "of which context is not known";
  call(CALL(cuDevicePrimaryCtxRetain), cuDevicePrimaryCtxRetain_params{&Context, 0});
  call(CALL(cuDevicePrimaryCtxReset_v2), cuDevicePrimaryCtxReset_v2_params{0});
  EXPECT_EQ(ranges(), "");
}

TEST_F(DeviceMemoryTest, otherCall_isIgnored) {
  CUpti_CallbackData Call{};
  for (CUpti_CallbackId Id = 1; Id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++Id)
    Memory.note(Id, Call);
  EXPECT_EQ(ranges(), "");
}

TEST(HostMemory, pagesOfFilesThatFillTheGroup_areFree) {
  EXPECT_EQ(parseGroupRoom("1000\n", "1000\n", "anon 100\nfile 900\ninactive_file 700\n"), 700u);
  EXPECT_EQ(parseGroupRoom("1000\n", "1000\n", "active_file 700\nworkingset_inactive_file 9\n"), 0u)
      << "those in use are not";
  EXPECT_EQ(parseGroupRoom("1000\n", "900\n", "inactive_file 1\ntotal_inactive_file 300\n"), 400u)
      << "with those of groups below";
  EXPECT_EQ(parseGroupRoom("1000\n", "100\n", "inactive_file 200\n"), 1000u)
      << "the texts are of two moments";
}

TEST(HostMemory, availableMemory_isReadFromTheKernelsTexts) {
  EXPECT_EQ(parseMemAvailable("MemTotal:  9 kB\nMemAvailable:    1234 kB\n"), 1234u * 1024);
  EXPECT_FALSE(parseMemAvailable("MemTotal: 9 kB\n"));
  EXPECT_FALSE(parseMemAvailable("MemAvailable: none\n"));
  EXPECT_EQ(parseGroupRoom("1000\n", "400\n", ""), 600u);
  EXPECT_EQ(parseGroupRoom("400\n", "1000\n", ""), 0u);
  EXPECT_FALSE(parseGroupRoom("max\n", "1000\n", ""));
  EXPECT_FALSE(parseGroupRoom("", "", ""));
  EXPECT_GT(availableHostBytes(), 0u);
}
