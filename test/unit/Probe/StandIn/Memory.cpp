/// \file
/// Memory of the stand-in: blocks of host memory, counted against the size of the device. New
/// memory holds a pattern, so that reading memory that was never written gives the same in every
/// run.

#include "unit/Probe/StandIn/Calls.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace carve::standin;

static constexpr size_t Alignment = 512;

static size_t rounded(size_t Bytes) { return (Bytes + Alignment - 1) / Alignment * Alignment; }

static bool onDevice(Kind What) { return What != Kind::Host; }

CUdeviceptr carve::standin::allocate(size_t Bytes, Kind What) {
  Driver &D = driver();
  std::lock_guard<std::mutex> Guard(D.Lock);
  if (Bytes == 0 || (onDevice(What) && rounded(Bytes) > D.TotalBytes - D.UsedBytes))
    return 0;
  // The block is exactly as large as requested, so that the address sanitizer sees what a kernel
  // writes beside it.
  void *Block = nullptr;
  if (::posix_memalign(&Block, Alignment, Bytes) != 0)
    return 0;
  std::memset(Block, 0xcd, Bytes);
  auto Base = reinterpret_cast<CUdeviceptr>(Block);
  D.Memory[Base] = {Bytes, What, currentContext(), 0};
  D.UsedBytes += onDevice(What) ? rounded(Bytes) : 0;
  return Base;
}

bool carve::standin::release(CUdeviceptr Base) {
  Driver &D = driver();
  std::lock_guard<std::mutex> Guard(D.Lock);
  auto It = D.Memory.find(Base);
  if (It == D.Memory.end() || It->second.What == Kind::Mapped)
    return false;
  D.UsedBytes -= onDevice(It->second.What) ? rounded(It->second.Bytes) : 0;
  D.Memory.erase(It);
  std::free(reinterpret_cast<void *>(Base)); // NOLINT(performance-no-int-to-ptr)
  return true;
}

static CUresult allocateInto(CUdeviceptr *Out, size_t Bytes, Kind What) {
  if (CUresult Status = contextStatus())
    return Status;
  *Out = allocate(Bytes, What);
  return *Out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

STANDIN_API cuMemAlloc(CUdeviceptr *Out, size_t Bytes) {
  return traced(CALL(cuMemAlloc_v2){Out, Bytes}, [](auto &P, unsigned) -> CUresult {
    if (CUresult Status = forbiddenInCapture())
      return Status;
    return allocateInto(P.dptr, P.bytesize, Kind::Device);
  });
}

STANDIN_API cuMemAllocPitch(CUdeviceptr *Out, size_t *Pitch, size_t Width, size_t Height,
                            unsigned ElementBytes) {
  return traced(CALL(cuMemAllocPitch_v2){Out, Pitch, Width, Height, ElementBytes},
                [](auto &P, unsigned) {
                  *P.pPitch = rounded(P.WidthInBytes);
                  return allocateInto(P.dptr, *P.pPitch * P.Height, Kind::Device);
                });
}

STANDIN_API cuMemAllocManaged(CUdeviceptr *Out, size_t Bytes, unsigned Flags) {
  return traced(CALL(cuMemAllocManaged){Out, Bytes, Flags},
                [](auto &P, unsigned) { return allocateInto(P.dptr, P.bytesize, Kind::Managed); });
}

STANDIN_API cuMemFree(CUdeviceptr Base) {
  return traced(CALL(cuMemFree_v2){Base}, [](auto &P, unsigned) -> CUresult {
    if (!P.dptr)
      return CUDA_SUCCESS;
    if (CUresult Status = forbiddenInCapture())
      return Status;
    if (CUresult Status = contextStatus())
      return Status;
    synchronize(currentContext());
    return release(P.dptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

STANDIN_API cuMemAllocAsync(CUdeviceptr *Out, size_t Bytes, CUstream Stream) {
  return traced(CALL(cuMemAllocAsync){Out, Bytes, Stream},
                [](auto &P, unsigned) { return allocateInto(P.dptr, P.bytesize, Kind::Device); });
}

STANDIN_API cuMemFreeAsync(CUdeviceptr Base, CUstream Handle) {
  return traced(CALL(cuMemFreeAsync){Base, Handle}, [](auto &P, unsigned) -> CUresult {
    auto Stream = streamOf(P.hStream);
    if (!Stream)
      return CUDA_ERROR_INVALID_HANDLE;
    submit(Stream, [Base = P.dptr](StreamState &) { release(Base); });
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuMemAllocHost(void **Out, size_t Bytes) {
  return traced(CALL(cuMemAllocHost_v2){Out, Bytes}, [](auto &P, unsigned) {
    return allocateInto(reinterpret_cast<CUdeviceptr *>(P.pp), P.bytesize, Kind::Host);
  });
}

STANDIN_API cuMemHostAlloc(void **Out, size_t Bytes, unsigned Flags) {
  return traced(CALL(cuMemHostAlloc){Out, Bytes, Flags}, [](auto &P, unsigned) {
    return allocateInto(reinterpret_cast<CUdeviceptr *>(P.pp), P.bytesize, Kind::Host);
  });
}

STANDIN_API cuMemFreeHost(void *Base) {
  return traced(CALL(cuMemFreeHost){Base}, [](auto &P, unsigned) -> CUresult {
    if (CUresult Status = contextStatus())
      return Status;
    synchronize(currentContext());
    return release(reinterpret_cast<CUdeviceptr>(P.p)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

STANDIN_API cuMemHostGetDevicePointer(CUdeviceptr *Out, void *Host, unsigned Flags) {
  return traced(CALL(cuMemHostGetDevicePointer_v2){Out, Host, Flags}, [](auto &P, unsigned) {
    *P.pdptr = reinterpret_cast<CUdeviceptr>(P.p);
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuMemHostGetFlags(unsigned *Flags, void *) {
  *Flags = CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

STANDIN_API cuMemGetInfo(size_t *Free, size_t *Total) {
  return traced(CALL(cuMemGetInfo_v2){Free, Total}, [](auto &P, unsigned) {
    Driver &D = driver();
    std::lock_guard<std::mutex> Guard(D.Lock);
    *P.free = D.TotalBytes - D.UsedBytes;
    *P.total = D.TotalBytes;
    return CUDA_SUCCESS;
  });
}

void carve::standin::callUnheardOf() {
  struct {
    int Nothing = 0;
  } Parameters;
  traced(UnheardOfId, "cuMemUnheardOf", Parameters, [](auto &, unsigned) { return CUDA_SUCCESS; });
}

/// Returns the allocation that contains \p Address. The caller holds the driver's lock.
static std::map<CUdeviceptr, Allocation>::iterator find(CUdeviceptr Address) {
  auto &Memory = driver().Memory;
  auto It = Memory.upper_bound(Address);
  if (It == Memory.begin())
    return Memory.end();
  --It;
  return Address - It->first < It->second.Bytes ? It : Memory.end();
}

STANDIN_API cuMemGetAddressRange(CUdeviceptr *Base, size_t *Bytes, CUdeviceptr Address) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  auto It = find(Address);
  if (It == driver().Memory.end())
    return CUDA_ERROR_NOT_FOUND;
  if (Base)
    *Base = It->first;
  if (Bytes)
    *Bytes = It->second.Bytes;
  return CUDA_SUCCESS;
}

STANDIN_API cuPointerGetAttribute(void *Out, CUpointer_attribute Attribute, CUdeviceptr Address) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  auto It = find(Address);
  if (It == driver().Memory.end())
    return CUDA_ERROR_INVALID_VALUE;
  const Allocation &A = It->second;
  switch (Attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    *static_cast<CUcontext *>(Out) = reinterpret_cast<CUcontext>(A.Owner);
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *static_cast<CUmemorytype *>(Out) =
        A.What == Kind::Host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    *static_cast<unsigned *>(Out) = A.What == Kind::Managed;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    *static_cast<int *>(Out) = 0;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    *static_cast<CUdeviceptr *>(Out) = It->first;
    return CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    *static_cast<size_t *>(Out) = A.Bytes;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

STANDIN_API cuPointerGetAttributes(unsigned Count, CUpointer_attribute *Which, void **Out,
                                   CUdeviceptr Address) {
  for (unsigned I = 0; I < Count; ++I)
    (void)cuPointerGetAttribute(Out[I], Which[I], Address);
  return CUDA_SUCCESS;
}

// Physical memory is a file in memory, which is mapped.

STANDIN_API cuMemGetAllocationGranularity(size_t *Bytes, const CUmemAllocationProp *,
                                          CUmemAllocationGranularity_flags) {
  *Bytes = size_t(64) << 10;
  return CUDA_SUCCESS;
}

STANDIN_API cuMemAddressReserve(CUdeviceptr *Out, size_t Bytes, size_t, CUdeviceptr,
                                unsigned long long) {
  void *Range = ::mmap(nullptr, Bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *Out = reinterpret_cast<CUdeviceptr>(Range);
  return Range == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

STANDIN_API cuMemAddressFree(CUdeviceptr Base, size_t Bytes) {
  ::munmap(reinterpret_cast<void *>(Base), Bytes); // NOLINT(performance-no-int-to-ptr)
  return CUDA_SUCCESS;
}

static CUresult create(CUmemGenericAllocationHandle *Out, size_t Bytes) {
  Driver &D = driver();
  std::lock_guard<std::mutex> Guard(D.Lock);
  if (Bytes > D.TotalBytes - D.UsedBytes)
    return CUDA_ERROR_OUT_OF_MEMORY;
  int File = ::memfd_create("device", MFD_CLOEXEC);
  if (File < 0 || ::ftruncate(File, off_t(Bytes)) != 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  D.UsedBytes += Bytes;
  *Out = CUmemGenericAllocationHandle(File);
  D.Physicals[*Out] = {Bytes, 1};
  return CUDA_SUCCESS;
}

/// Frees the memory with its last user. The caller holds the driver's lock.
static void leave(CUmemGenericAllocationHandle Handle) {
  Driver &D = driver();
  auto It = D.Physicals.find(Handle);
  if (It == D.Physicals.end() || --It->second.Users > 0)
    return;
  D.UsedBytes -= It->second.Bytes;
  D.Physicals.erase(It);
  ::close(int(Handle));
}

STANDIN_API cuMemCreate(CUmemGenericAllocationHandle *Out, size_t Bytes,
                        const CUmemAllocationProp *Properties, unsigned long long Flags) {
  return traced(CALL(cuMemCreate){Out, Bytes, Properties, Flags},
                [](auto &P, unsigned) { return create(P.handle, P.size); });
}

STANDIN_API cuMemRelease(CUmemGenericAllocationHandle Handle) {
  return traced(CALL(cuMemRelease){Handle}, [](auto &P, unsigned) {
    std::lock_guard<std::mutex> Guard(driver().Lock);
    leave(P.handle);
    return CUDA_SUCCESS;
  });
}

static CUresult map(CUdeviceptr Base, size_t Bytes, size_t Offset,
                    CUmemGenericAllocationHandle Handle) {
  void *At = reinterpret_cast<void *>(Base); // NOLINT(performance-no-int-to-ptr)
  std::lock_guard<std::mutex> Guard(driver().Lock);
  if (::mmap(At, Bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, int(Handle),
             off_t(Offset)) == MAP_FAILED)
    return CUDA_ERROR_INVALID_VALUE;
  ++driver().Physicals[Handle].Users;
  driver().Memory[Base] = {Bytes, Kind::Mapped, currentContext(), Handle};
  return CUDA_SUCCESS;
}

STANDIN_API cuMemMap(CUdeviceptr Base, size_t Bytes, size_t Offset,
                     CUmemGenericAllocationHandle Handle, unsigned long long Flags) {
  return traced(CALL(cuMemMap){Base, Bytes, Offset, Handle, Flags},
                [](auto &P, unsigned) { return map(P.ptr, P.size, P.offset, P.handle); });
}

STANDIN_API cuMemSetAccess(CUdeviceptr Base, size_t Bytes, const CUmemAccessDesc *Access,
                           size_t Count) {
  return traced(CALL(cuMemSetAccess){Base, Bytes, Access, Count},
                [](auto &, unsigned) { return CUDA_SUCCESS; });
}

STANDIN_API cuMemUnmap(CUdeviceptr Base, size_t Bytes) {
  return traced(CALL(cuMemUnmap){Base, Bytes}, [](auto &P, unsigned) -> CUresult {
    {
      std::lock_guard<std::mutex> Guard(driver().Lock);
      auto It = driver().Memory.find(P.ptr);
      if (It == driver().Memory.end() || It->second.What != Kind::Mapped)
        return CUDA_ERROR_INVALID_VALUE;
      leave(It->second.Handle);
      driver().Memory.erase(It);
    }
    void *At = reinterpret_cast<void *>(P.ptr); // NOLINT(performance-no-int-to-ptr)
    ::mmap(At, P.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return CUDA_SUCCESS;
  });
}
