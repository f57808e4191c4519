/// \file
/// Copies and fills of the stand-in. Copies from and to memory that is not page-locked are staged,
/// or done when the call returns, as the driver's are.

#include "unit/Probe/StandIn/Calls.h"

#include <algorithm>

using namespace carve::standin;

// Device addresses are the host's own.
static char *at(CUdeviceptr Address) {
  return reinterpret_cast<char *>(Address); // NOLINT(performance-no-int-to-ptr)
}

static bool known(const void *Address) {
  CUdeviceptr Base = 0;
  return cuMemGetAddressRange(&Base, nullptr, reinterpret_cast<CUdeviceptr>(Address)) ==
         CUDA_SUCCESS;
}

namespace {
enum class Wait { No, Yes };
} // namespace

static CUresult queue(CUstream Handle, Wait Waiting, std::function<void(StreamState &)> Run) {
  if (CUresult Status = contextStatus())
    return Status;
  auto Stream = streamOf(Handle);
  if (!Stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (Waiting == Wait::Yes || Stream->Legacy)
    if (CUresult Status = forbiddenInCapture())
      return Status;
  CompletionPtr Done = submit(Stream, [Run = std::move(Run)](StreamState &S) {
    // Nothing runs any more after a fault.
    std::unique_lock<std::mutex> Guard(driver().Lock);
    bool Broken = S.Owner->Broken != CUDA_SUCCESS;
    Guard.unlock();
    if (!Broken)
      Run(S);
  });
  if (!Done || Waiting == Wait::No)
    return CUDA_SUCCESS;
  Done->wait();
  return contextStatus();
}

static CUresult copy(char *To, const char *From, size_t Bytes, CUstream Handle, Wait Waiting) {
  bool Staged = Waiting == Wait::No && !known(From);
  if (!known(To))
    Waiting = Wait::Yes;
  if (!Staged || Waiting == Wait::Yes)
    return queue(Handle, Waiting, [=](StreamState &) { std::memmove(To, From, Bytes); });
  auto Copied = std::make_shared<std::vector<char>>(From, From + Bytes);
  return queue(Handle, Waiting,
               [=](StreamState &) { std::copy(Copied->begin(), Copied->end(), To); });
}

STANDIN_API cuMemcpyHtoD(CUdeviceptr To, const void *From, size_t Bytes) {
  return traced(CALL(cuMemcpyHtoD_v2){To, From, Bytes}, [](auto &P, unsigned) {
    return copy(at(P.dstDevice), static_cast<const char *>(P.srcHost), P.ByteCount, nullptr,
                Wait::Yes);
  });
}

STANDIN_API cuMemcpyDtoH(void *To, CUdeviceptr From, size_t Bytes) {
  return traced(CALL(cuMemcpyDtoH_v2){To, From, Bytes}, [](auto &P, unsigned) {
    return copy(static_cast<char *>(P.dstHost), at(P.srcDevice), P.ByteCount, nullptr, Wait::Yes);
  });
}

STANDIN_API cuMemcpyDtoD(CUdeviceptr To, CUdeviceptr From, size_t Bytes) {
  return traced(CALL(cuMemcpyDtoD_v2){To, From, Bytes}, [](auto &P, unsigned) {
    return copy(at(P.dstDevice), at(P.srcDevice), P.ByteCount, nullptr, Wait::No);
  });
}

STANDIN_API cuMemcpy(CUdeviceptr To, CUdeviceptr From, size_t Bytes) {
  return traced(CALL(cuMemcpy){To, From, Bytes}, [](auto &P, unsigned) {
    return copy(at(P.dst), at(P.src), P.ByteCount, nullptr, Wait::Yes);
  });
}

STANDIN_API cuMemcpyHtoDAsync(CUdeviceptr To, const void *From, size_t Bytes, CUstream Stream) {
  return traced(CALL(cuMemcpyHtoDAsync_v2){To, From, Bytes, Stream}, [](auto &P, unsigned) {
    return copy(at(P.dstDevice), static_cast<const char *>(P.srcHost), P.ByteCount, P.hStream,
                Wait::No);
  });
}

STANDIN_API cuMemcpyDtoHAsync(void *To, CUdeviceptr From, size_t Bytes, CUstream Stream) {
  return traced(CALL(cuMemcpyDtoHAsync_v2){To, From, Bytes, Stream}, [](auto &P, unsigned) {
    return copy(static_cast<char *>(P.dstHost), at(P.srcDevice), P.ByteCount, P.hStream, Wait::No);
  });
}

STANDIN_API cuMemcpyDtoDAsync(CUdeviceptr To, CUdeviceptr From, size_t Bytes, CUstream Stream) {
  return traced(CALL(cuMemcpyDtoDAsync_v2){To, From, Bytes, Stream}, [](auto &P, unsigned) {
    return copy(at(P.dstDevice), at(P.srcDevice), P.ByteCount, P.hStream, Wait::No);
  });
}

STANDIN_API cuMemcpyAsync(CUdeviceptr To, CUdeviceptr From, size_t Bytes, CUstream Stream) {
  return traced(CALL(cuMemcpyAsync){To, From, Bytes, Stream}, [](auto &P, unsigned) {
    return copy(at(P.dst), at(P.src), P.ByteCount, P.hStream, Wait::No);
  });
}

template <class T> static CUresult fill(CUdeviceptr To, T Value, size_t Count, CUstream Handle) {
  return queue(Handle, Wait::No, [=](StreamState &) {
    // Only the probe fills so much that nothing else is left in L2.
    if (Count * sizeof(T) == 2 * L2Bytes)
      noteProbeWork(ProbeWork::Fill);
    std::fill_n(reinterpret_cast<T *>(at(To)), Count, Value);
  });
}

static char *at(CUmemorytype Type, const void *Host, CUdeviceptr Device) {
  return Type == CU_MEMORYTYPE_HOST ? static_cast<char *>(const_cast<void *>(Host)) : at(Device);
}

std::function<void(StreamState &)> carve::standin::copyOf(const CUDA_MEMCPY3D &C) {
  return [C](StreamState &) {
    char *To = at(C.dstMemoryType, C.dstHost, C.dstDevice) + C.dstXInBytes;
    const char *From = at(C.srcMemoryType, C.srcHost, C.srcDevice) + C.srcXInBytes;
    for (size_t Z = 0; Z < C.Depth; ++Z)
      for (size_t Y = 0; Y < C.Height; ++Y)
        std::memmove(To + ((Z + C.dstZ) * C.dstHeight + Y + C.dstY) * C.dstPitch,
                     From + ((Z + C.srcZ) * C.srcHeight + Y + C.srcY) * C.srcPitch, C.WidthInBytes);
  };
}

/// The largest pitch of a call. A node may have a larger one.
static constexpr size_t MostPitchBytes = (size_t(1) << 31) - 1;

STANDIN_API cuMemcpy3DAsync(const CUDA_MEMCPY3D *Copy, CUstream Stream) {
  return traced(CALL(cuMemcpy3DAsync_v2){Copy, Stream}, [](auto &P, unsigned) -> CUresult {
    if (std::max(P.pCopy->srcPitch, P.pCopy->dstPitch) > MostPitchBytes)
      return CUDA_ERROR_INVALID_VALUE;
    return queue(P.hStream, Wait::No, copyOf(*P.pCopy));
  });
}

std::function<void(StreamState &)> carve::standin::fillOf(const CUDA_MEMSET_NODE_PARAMS &F) {
  return [F](StreamState &) {
    for (size_t Row = 0; Row < F.height; ++Row)
      for (size_t I = 0; I < F.width; ++I)
        std::memcpy(at(F.dst) + Row * F.pitch + I * F.elementSize, &F.value, F.elementSize);
  };
}

static CUresult fillRows(CUdeviceptr To, size_t Pitch, unsigned Value, unsigned ElementBytes,
                         size_t Width, size_t Height, CUstream Stream) {
  return queue(Stream, Wait::No, fillOf({To, Pitch, Value, ElementBytes, Width, Height}));
}

#define ROWS(Name, Type, Value, Bytes)                                                             \
  STANDIN_API Name(CUdeviceptr To, size_t Pitch, Type Fill, size_t Width, size_t Height,           \
                   CUstream Stream) {                                                              \
    return traced(CALL(Name){To, Pitch, Fill, Width, Height, Stream}, [](auto &P, unsigned) {      \
      return fillRows(P.dstDevice, P.dstPitch, P.Value, Bytes, P.Width, P.Height, P.hStream);      \
    });                                                                                            \
  }
ROWS(cuMemsetD2D8Async, unsigned char, uc, 1)
ROWS(cuMemsetD2D16Async, unsigned short, us, 2)
ROWS(cuMemsetD2D32Async, unsigned, ui, 4)

STANDIN_API cuMemsetD16Async(CUdeviceptr To, unsigned short Value, size_t Count, CUstream Stream) {
  return traced(CALL(cuMemsetD16Async){To, Value, Count, Stream},
                [](auto &P, unsigned) { return fill(P.dstDevice, P.us, P.N, P.hStream); });
}

STANDIN_API cuMemsetD8(CUdeviceptr To, unsigned char Value, size_t Count) {
  return traced(CALL(cuMemsetD8_v2){To, Value, Count},
                [](auto &P, unsigned) { return fill(P.dstDevice, P.uc, P.N, nullptr); });
}

STANDIN_API cuMemsetD32(CUdeviceptr To, unsigned Value, size_t Count) {
  return traced(CALL(cuMemsetD32_v2){To, Value, Count},
                [](auto &P, unsigned) { return fill(P.dstDevice, P.ui, P.N, nullptr); });
}

STANDIN_API cuMemsetD8Async(CUdeviceptr To, unsigned char Value, size_t Count, CUstream Stream) {
  return traced(CALL(cuMemsetD8Async){To, Value, Count, Stream},
                [](auto &P, unsigned) { return fill(P.dstDevice, P.uc, P.N, P.hStream); });
}

STANDIN_API cuMemsetD32Async(CUdeviceptr To, unsigned Value, size_t Count, CUstream Stream) {
  return traced(CALL(cuMemsetD32Async){To, Value, Count, Stream},
                [](auto &P, unsigned) { return fill(P.dstDevice, P.ui, P.N, P.hStream); });
}
